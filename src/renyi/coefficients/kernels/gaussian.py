"""Gaussian kernels: their width by the median heuristic, and short factors of their matrices."""

import numpy as np
from scipy.spatial.distance import cdist, pdist

from renyi.compute.arrays import Array, Index

# Rows whose distances are all looked at: beyond, so many of them, evenly spaced in their order.
_MOST_SCALARS, _MOST_VECTORS = 10_000, 1_000
# Rows so many widths apart have a kernel of exp(−800), which is 0 to a float.
_NO_KERNEL = 40.0
# Squares of so much are no infinities.
_FAR = 1e150
# What a factor may leave of the trace of the centred matrix.
_LEFT_OVER = 1e-13


def gaussian(squared: Array, /) -> Array:
    """exp(−d²/2) from squared distances in units of the width, in place."""
    squared *= -0.5
    return np.exp(squared, out=squared)


def gaussian_less_1(squared: Array, /) -> Array:
    """The kernel less 1, in place, which keeps its digits where all rows are close."""
    squared *= -0.5
    return np.expm1(squared, out=squared)


def drawn_together(points: Array, width: float, /) -> Array:
    """Rows (n, d) in units of the width, every gap of a coordinate of more than 40 widths being drawn together to 40.

    No entry of the kernel matrix changes: it is 0 across such a gap, before and after. What is left are numbers whose
    squares are in range, and whose differences have all their digits.
    """
    order = np.argsort(points, axis=0)
    ordered = np.take_along_axis(points, order, axis=0)
    with np.errstate(over="ignore"):
        gaps = np.diff(ordered, axis=0) / width
    if not (gaps > _NO_KERNEL).any():
        return np.asarray(points / width)
    positions = np.zeros_like(points)
    np.cumsum(np.minimum(gaps, _NO_KERNEL), axis=0, out=positions[1:])
    drawn = np.empty_like(points)
    np.put_along_axis(drawn, order, positions - positions[len(points) // 2], axis=0)
    return drawn


def median_distance(points: Array, /) -> float:
    """The median of the distances between rows i < j; where half of them or more are 0, of the others."""
    n, n_coordinates = points.shape
    if n_coordinates == 1:
        return _median_gap(_thinned(np.sort(points[:, 0]), _MOST_SCALARS))
    # In an order that the rows do not come in: the width does not depend on theirs.
    rows = _thinned(points[np.lexsort(points.T)], _MOST_VECTORS) if n > _MOST_VECTORS else points
    # In units in which squares of ordinary numbers are in range, and those of the largest are far.
    sizes = np.abs(rows)
    unit = float(np.median(sizes[sizes > 0.0]))
    with np.errstate(over="ignore"):
        distances = pdist(np.clip(rows / unit, -_FAR, _FAR))
    positive = distances[distances > 0.0]
    return unit * float(np.median(positive if 2 * len(positive) <= len(distances) else distances))


def _thinned(rows: Array, most: int) -> Array:
    """Rows evenly spaced from the first to the last."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def _median_gap(ordered: Array) -> float:
    """The median of all differences of sorted numbers: halve an interval that holds it until few are left in it."""
    n = len(ordered)
    own = np.arange(1, n + 1)
    low, high = 0.0, float(ordered[-1] - ordered[0])
    # Up to which place the differences to each number are at most so large.
    below = np.searchsorted(ordered, ordered, side="right")
    above = np.full(n, n)
    n_zeros, n_pairs = int((below - own).sum()), n * (n - 1) // 2
    first, last = (n_pairs - 1) // 2, n_pairs // 2
    if n_zeros > first:
        first, last = (n_pairs + n_zeros - 1) // 2, (n_pairs + n_zeros) // 2
    while (above - below).sum() > 4 * n:
        middle = (low + high) / 2.0
        if not low < middle < high:
            # Neighbouring numbers, and many differences between them: these are equal but for rounding.
            return high
        places = np.maximum(np.searchsorted(ordered, ordered + middle, side="right"), own)
        n_within = int((places - own).sum())
        if n_within <= first:
            low, below = middle, places
        elif n_within > last:
            high, above = middle, places
        else:
            # The two in the middle are on either side.
            return (_largest(ordered, below, places) + _smallest(ordered, places, above)) / 2.0
    gaps = np.sort(_gaps(ordered, below, above))
    n_before = int((below - own).sum())
    return float(gaps[first - n_before] + gaps[last - n_before]) / 2.0


def _gaps(ordered: Array, start: Index, stop: Index) -> Array:
    """Differences of each number to those at places from `start` to before `stop`."""
    counts = stop - start
    shifts = np.repeat(start - (np.cumsum(counts) - counts), counts)
    return np.asarray(ordered[np.arange(len(shifts)) + shifts] - np.repeat(ordered, counts))


def _largest(ordered: Array, start: Index, stop: Index) -> float:
    has = stop > start
    return float((ordered[stop[has] - 1] - ordered[has]).max())


def _smallest(ordered: Array, start: Index, stop: Index) -> float:
    has = stop > start
    return float((ordered[start[has]] - ordered[has]).min())


def short_factor(points: Array, most: int, /) -> Array | None:
    """F (n, r) such that F Fᵀ is the kernel matrix of `points` to 13 digits; None where r would exceed `most`.

    A Cholesky factor with pivots, one column at a time, until nothing is left of the diagonal (Fine and Scheinberg,
    2001, https://www.jmlr.org/papers/v2/fine01a.html). Kernels of scalars are so smooth that 15 to 60 columns do.
    """
    n, n_coordinates = points.shape
    left, trace = np.ones(n), 0.0
    factor = np.empty((0, n))
    for k in range(most):
        if k == len(factor):
            factor = np.concatenate((factor, np.empty((min(16 + k, most - k), n))))
        pivot = int(np.argmax(left))
        column = gaussian(cdist(points, points[pivot : pivot + 1], "sqeuclidean")[:, 0])
        column -= factor[:k, pivot] @ factor[:k]
        column /= np.sqrt(left[pivot])
        factor[k] = column
        left -= column * column
        left[pivot] = 0.0
        np.maximum(left, 0.0, out=left)
        trace += float(column @ column) - n * float(column.mean()) ** 2
        remains = float(left.sum()) / max(trace, np.finfo(float).eps * n)
        if remains <= _LEFT_OVER:
            return np.ascontiguousarray(factor[: k + 1].T)
        # What is left of the kernel of vectors falls ever more slowly: a quarter of the way must have done so much.
        if n_coordinates > 1 and 4 * (k + 1) == most and remains > _LEFT_OVER**0.25:
            return None
    return None
