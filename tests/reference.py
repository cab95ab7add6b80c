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
