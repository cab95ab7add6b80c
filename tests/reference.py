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
