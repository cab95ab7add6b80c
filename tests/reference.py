"""An obvious, slow oracle: loops straight from the formulas, no chunks, tables, grids or caches."""

import math

import numpy as np
from scipy.special import digamma

CUT = 1e-6


def empirical_ranks(values):
    """P_n(x_i) = #{x_j <= x_i}/n, for every coordinate."""
    values = np.asarray(values)
    columns = values.reshape(len(values), -1)
    n, d = columns.shape
    ranks = np.empty((n, d))
    for j in range(d):
        for i in range(n):
            ranks[i, j] = sum(columns[:, j] <= columns[i, j]) / n
    return ranks


def features(ranks, weights, phases):
    """A sine and a cosine of every projection, row by row. `weights` is (d, k)."""
    rows = []
    for u in ranks:
        row = []
        for j in range(weights.shape[1]):
            angle = math.fsum(u * weights[:, j]) + phases[j]
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return np.array(rows)


def indicators(labels):
    """One column for every level, the most frequent first."""
    levels = sorted(set(labels), key=lambda level: (-list(labels).count(level), level))
    return np.array([[float(label == level) for level in levels] for label in labels])


def basis(columns, cut=CUT):
    """Centre, then keep the principal directions whose root mean square is above `cut`."""
    n = len(columns)
    centred = columns - np.mean(columns, axis=0)
    directions, sizes, _ = np.linalg.svd(centred / np.sqrt(n), full_matrices=False)
    return directions[:, sizes > cut] * np.sqrt(n)


def canonical_correlations(qx, qy):
    """Square roots of the eigenvalues of C Cᵀ, largest first."""
    cross = qx.T @ qy / len(qx)
    small = cross if cross.shape[0] <= cross.shape[1] else cross.T
    return np.sqrt(np.clip(np.linalg.eigvalsh(small @ small.T)[::-1], 0, 1))


def rdc(x, y, projection_x, projection_y):
    """The coefficient of two numeric columns under given frequencies."""
    bases = [
        basis(features(empirical_ranks(data), projection.weights, projection.phases))
        for data, projection in ((x, projection_x), (y, projection_y))
    ]
    return canonical_correlations(*bases)[0]


SPANS = (0.05, 0.2, 0.5)


def running_lines(x, z, span, least):
    """Lines in windows around every place of sorted x, and how much the residual of a point left out is larger."""
    n = len(x)
    half = max(math.floor(0.5 * span * n + 0.5), 2)
    width = min(2 * half + 1, n)
    fit, inflation = np.empty(n), np.empty(n)
    for j in range(n):
        start = min(max(j - half, 0), n - width)
        window = slice(start, start + width)
        distances = x[window] - np.mean(x[window])
        squares = np.sum(distances**2)
        slope = np.sum(distances * z[window]) / squares if squares > least else 0.0
        leverage = 1 / width + (distances[j - start] ** 2 / squares if squares > least else 0.0)
        fit[j] = np.mean(z[window]) + slope * distances[j - start]
        inflation[j] = 1 / (1 - leverage) if leverage < 1 - 1e-12 else np.nan
    return fit, inflation


def tie_means(x, values):
    """The mean of the values at equal x, at each of them."""
    _, levels, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.bincount(levels, values) / counts)[levels]


def with_neighbours(residuals):
    """A line through its own point tells nothing of it: the one before stands in."""
    residuals = residuals.copy()
    for j in np.flatnonzero(np.isnan(residuals)):
        residuals[j] = residuals[j - 1] if j else 0.0
    return residuals


def fits_and_residuals(x, z, span, least):
    """Lines and sizes of residuals, the same for all orders of ties: each counts as their mean."""
    fit, inflation = (tie_means(x, found) for found in running_lines(x, tie_means(x, z), span, least))
    return fit, with_neighbours(tie_means(x, np.abs(z - fit) * inflation))


def fits_and_residuals_in_order(x, z, span, least):
    """Lines and sizes of residuals by Friedman's program, which takes ties as they come."""
    fit, inflation = running_lines(x, z, span, least)
    return tie_means(x, fit), with_neighbours(np.abs(z - fit) * inflation)


def super_smooth(x, z, bass, fitted=fits_and_residuals):
    """Friedman's super smoother over sorted x."""
    n = len(x)
    low, high = max(n // 4, 1), max(3 * (n // 4), 1)
    while x[high - 1] == x[low - 1]:
        low, high = max(low - 1, 1), min(high + 1, n)
    least = (1e-3 * (x[high - 1] - x[low - 1])) ** 2
    fits, residuals = zip(*(fitted(x, z, span, least) for span in SPANS), strict=True)
    residuals = [fitted(x, residual, SPANS[1], least)[0] for residual in residuals]
    spans = np.empty(n)
    for j in range(n):
        at_j = [residual[j] if abs(residual[j]) >= 1e-12 else 0.0 for residual in residuals]
        smallest = min(at_j)
        spans[j] = SPANS[at_j.index(smallest)]
        if bass > 0 and smallest < at_j[2]:
            ratio = smallest / at_j[2] if at_j[2] else 0.0
            spans[j] += (SPANS[2] - spans[j]) * min(max(ratio, 1e-7), 1e3) ** (10 - bass)
    spans, _ = fitted(x, spans, SPANS[1], least)
    mixed = np.array([np.interp(spans[j], SPANS, [fit[j] for fit in fits]) for j in range(n)])
    return fitted(x, mixed, SPANS[0], least)[0]


def ace(x, y, orders=None, *, tolerance=0.01, max_iterations=20, bass=5.0):
    """R² of transformations of x and y that are fitted in turn; `orders` sort both sides and take ties as they come."""
    by_x, by_y = orders or (np.argsort(x), np.argsort(y))
    fitted = fits_and_residuals_in_order if orders else fits_and_residuals
    response = (y - np.mean(y)) / np.std(y)
    centred = x - np.mean(x)
    fit = centred * np.mean(centred * response) / np.mean(centred**2)
    smooth, shares = np.empty(len(x)), [0.0]
    for _ in range(max_iterations):
        smooth[by_x] = super_smooth(x[by_x], response[by_x], bass, fitted)
        smooth -= np.mean(smooth)
        if 1 - np.mean((response - smooth) ** 2) > shares[-1]:
            fit = smooth.copy()
        smooth[by_y] = super_smooth(y[by_y], fit[by_y], bass, fitted)
        smooth -= np.mean(smooth)
        if np.std(smooth) <= 1e-10 * np.std(fit):
            return 0.0
        response = smooth / np.std(smooth)
        shares.append(1 - np.mean((response - fit) ** 2))
        if len(shares) > 3 and np.ptp(shares[-3:]) <= tolerance:
            break
    return shares[-1]


def equal_rows(values, n_rows):
    """A row for every value, in turn from the smallest: tied ones together, each row as near to its share as can be."""
    n, row, filled, placed = len(values), 0, 0, 0
    share = n / n_rows
    rows = {}
    for value in sorted(set(values)):
        tied = list(values).count(value)
        if filled and abs(filled + tied - share) >= abs(filled - share):
            row, filled = row + 1, 0
            share = (n - placed) / (n_rows - row)
        rows[value] = row
        filled, placed = filled + tied, placed + tied
    return [rows[value] for value in values]


def clumps(x, rows, most):
    """Runs of points, along x, that lie in one row; equal x together; at most so many, by joining neighbours."""
    labels = {}
    for value in sorted(set(x)):
        within = {row for other, row in zip(x, rows, strict=True) if other == value}
        labels[value] = within.pop() if len(within) == 1 else ("mixed", value)
    numbers, last, number = {}, None, -1
    for value, label in labels.items():
        number += label != last
        numbers[value], last = number, label
    of_points = [numbers[value] for value in x]
    return of_points if number + 1 <= most else equal_rows(of_points, most)


def best_informations(of_clumps, rows, n_columns):
    """Largest mutual information (nats) of rows with 2, ..., n_columns columns made of clumps: dynamic programme."""
    n, n_clumps = len(rows), max(of_clumps) + 1

    def loss(first, last):
        inside = [row for clump, row in zip(of_clumps, rows, strict=True) if first <= clump < last]
        shares = [inside.count(row) / len(inside) for row in set(inside)]
        return -len(inside) * math.fsum(share * math.log(share) for share in shares)

    entropy = loss(0, n_clumps) / n
    best = {t: loss(0, t) for t in range(1, n_clumps + 1)}
    found = []
    for _ in range(2, n_columns + 1):
        best = {t: min([best[t]] + [best[s] + loss(s, t) for s in range(1, t)]) for t in best}
        found.append(entropy - best[n_clumps] / n)
    return found


def characteristic_entries(x, y, alpha=0.6, c=15, estimator="mic_approx"):
    """Entries of the characteristic matrix by (columns of x, rows of y), a list of one or two: x, then y optimised."""
    limit = int(max(len(x) ** alpha, 4))
    entries = {}
    for swapped, (along, across) in enumerate(((x, y), (y, x))):
        for n_rows in range(2, limit // 2 + 1):
            most_columns = limit // n_rows
            rows = equal_rows(across, n_rows)
            of_clumps = clumps(along, rows, int(c * most_columns))
            n_columns = min(most_columns, n_rows) if estimator == "mic_e" else most_columns
            for k, information in enumerate(best_informations(of_clumps, rows, n_columns), start=2):
                place = (n_rows, k) if swapped else (k, n_rows)
                entries.setdefault(place, []).append(information / math.log(min(k, len(set(rows)))))
    return entries


def mic(x, y, **settings):
    """The largest entry."""
    return max(max(values) for values in characteristic_entries(x, y, **settings).values())


def tic(x, y, estimator="mic_approx", **settings):
    """The mean of all entries: the better of two for the estimator of 2011, both orders' mean for that of 2016."""
    entries = characteristic_entries(x, y, estimator=estimator, **settings)
    return np.mean([max(values) if estimator == "mic_approx" else np.mean(values) for values in entries.values()])


def pairwise_distances(values):
    """|x_i − x_j| for all pairs of rows, each by itself."""
    rows = np.asarray(values, dtype=float).reshape(len(values), -1)
    return np.array([[math.hypot(*(a - b)) for b in rows] for a in rows])


def double_centred(matrix):
    """Every entry less the mean of its row and of its column, plus the mean of all."""
    return matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()


def u_centred(matrix):
    """The same with divisors n − 2 and (n − 1)(n − 2), and 0 on the diagonal (Székely and Rizzo 2014)."""
    n = len(matrix)
    matrix = matrix - np.diag(np.diag(matrix))
    centred = matrix - (matrix.sum(axis=0) + matrix.sum(axis=1)[:, None]) / (n - 2)
    centred += matrix.sum() / ((n - 1) * (n - 2))
    return centred - np.diag(np.diag(centred))


def alignment(a, b):
    """The cosine of two matrices."""
    return math.fsum((a * b).ravel()) / math.sqrt(math.fsum((a * a).ravel()) * math.fsum((b * b).ravel()))


def dcor(x, y, exponent=1.0):
    """Distance correlation (Székely, Rizzo and Bakirov 2007, definition 5)."""
    squared = alignment(*(double_centred(pairwise_distances(side) ** exponent) for side in (x, y)))
    return math.sqrt(max(squared, 0.0))


def gaussian_kernel(values, width=None):
    """exp(−d²/2w²), w the median distance of pairs i < j; where half or more are 0, of the others."""
    distances = pairwise_distances(values)
    if width is None:
        listed = [distances[i, j] for i in range(len(distances)) for j in range(i)]
        positive = [distance for distance in listed if distance > 0]
        width = np.median(positive if 2 * len(positive) <= len(listed) else listed)
    return np.exp(-((distances / width) ** 2) / 2)


def hsic(x, y, width=None):
    """The normalised criterion: tr(KHLH)/√(tr(KHKH)·tr(LHLH))."""
    return alignment(*(double_centred(gaussian_kernel(side, width)) for side in (x, y)))


def kernel_correlation(x, y, regularisation, width=None):
    """Largest singular value of K(K + nεI)⁻¹ L(L + nεI)⁻¹, with dense centred Gaussian kernels."""
    operators = []
    for values in (x, y):
        rows = np.asarray(values, dtype=float).reshape(len(values), -1)
        n = len(rows)
        distances = np.array([[math.dist(a, b) for b in rows] for a in rows])
        positive = [distances[i, j] for i in range(n) for j in range(i) if distances[i, j] > 0]
        kernel = np.exp(-((distances / (width or np.median(positive))) ** 2) / 2)
        centre = np.eye(n) - 1 / n
        kernel = centre @ kernel @ centre
        operators.append(kernel @ np.linalg.inv(kernel + n * regularisation * np.eye(n)))
    return np.linalg.norm(operators[0] @ operators[1], 2)


def xi(x, y):
    """Chatterjee's coefficient of y given x, where x has no ties."""
    n = len(x)
    along = [y[i] for i in sorted(range(n), key=lambda i: x[i])]
    r = [sum(b <= a for b in along) for a in along]
    l = [sum(b >= a for b in along) for a in along]  # noqa: E741 - the letter of the paper
    return 1 - n * sum(abs(r[i + 1] - r[i]) for i in range(n - 1)) / (2 * sum(a * (n - a) for a in l))


def mutual_information(x, y, k):
    """The first estimator of Kraskov and others on sides of variance 1, for values and distances that all differ."""
    n = len(x)
    x, y = x / np.std(x), y / np.std(y)
    total = 0.0
    for i in range(n):
        radius = sorted(max(abs(x[i] - x[j]), abs(y[i] - y[j])) for j in range(n) if j != i)[k - 1]
        for values in (x, y):
            total += digamma(1 + sum(abs(values[i] - values[j]) < radius for j in range(n) if j != i))
    return max(0.0, digamma(n) + digamma(k) - total / n)
