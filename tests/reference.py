"""An obvious, slow oracle: loops straight from the formulas, no chunks, tables, grids or caches."""

import math

import numpy as np

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
