"""Two bases to their canonical correlations (paper, section 3.3)."""

from typing import Any

import numpy as np

from renyi.basis.basis import Basis
from renyi.compute.arrays import Array
from renyi.compute.linalg import is_large, largest_square, svd

# Rows gathered at a time: both chunks stay in cache. A constant, so that sums are taken in one order everywhere.
_CHUNK_ROWS = 4096
_CHUNK_ROWS_ON_DEVICE = 2**20
# A contingency table with more cells for every row is sparse.
_CELLS_PER_ROW = 4


def cross_products(x: Basis, y: Basis, /, *, device: Any = None) -> Array:
    """Correlations C between the columns of two bases over the same rows; products on a device of torch, if given.

    Many functions on few cells are summed up by cell, in memory, where their codes are.
    """
    if x.is_wide:
        return np.asarray(x.table.T @ cell_sums(x, y) / x.n_samples)
    if y.is_wide:
        return cross_products(y, x).T
    if device is not None:
        return _cross_products_on(device, x, y)
    n = x.n_samples
    total = np.zeros((x.dimension, y.dimension))
    for start in range(0, n, _CHUNK_ROWS):
        stop = min(start + _CHUNK_ROWS, n)
        total += x.rows(start, stop).T @ y.rows(start, stop)
    return total / n


def cell_sums(x: Basis, y: Basis, /) -> Array:
    """Sums (cells of x, functions of y) over the rows of every cell: its group means, times its rows."""
    from scipy.sparse import coo_array, csc_array

    if x.codes is None:
        raise ValueError("a row without cells is its own")
    n, ones = len(x.codes), np.ones(len(x.codes))
    if y.codes is None:
        starts = np.arange(n + 1, dtype=np.int32)
        cells = csc_array((ones, x.codes.astype(np.int32), starts), shape=(len(x.table), n))
        return np.asarray(cells @ y.table)
    shape = len(x.table), len(y.table)
    if shape[0] * shape[1] <= _CELLS_PER_ROW * n:
        places = x.codes.astype(np.intp) * shape[1] + y.codes
        counts = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
        return np.asarray(counts.astype(np.float64) @ y.table)
    # A sparse table has no more entries than there are rows.
    return np.asarray(coo_array((ones, (x.codes, y.codes)), shape=shape).tocsr() @ y.table)


def _cross_products_on(device: Any, x: Basis, y: Basis) -> Array:
    import torch

    n, total = x.n_samples, np.zeros((x.dimension, y.dimension))
    tables = [torch.as_tensor(basis.table, device=device) for basis in (x, y)]
    for start in range(0, n, _CHUNK_ROWS_ON_DEVICE):
        rows = slice(start, start + _CHUNK_ROWS_ON_DEVICE)
        left, right = (
            table[rows]
            if basis.codes is None
            else table[torch.as_tensor(basis.codes[rows].astype(np.int64), device=device)]
            for basis, table in zip((x, y), tables, strict=True)
        )
        total += (left.T @ right).cpu().numpy()
    return total / n


def corner_and_edges(x: Basis, y: Basis, /, *, corner: int) -> Array:
    """Correlations between the leading columns of two bases, and of the first column of either with all of the other.

    The rest is left at 0. An edge needs no gathering: its rows are summed up by cell first.
    """
    cross = np.zeros((x.dimension, y.dimension))
    cross[:corner, :corner] = cross_products(x.leading(corner), y.leading(corner))
    if x.dimension > corner:
        cross[corner:, 0] = x.project(y.column(0))[corner:]
    if y.dimension > corner:
        cross[0, corner:] = y.project(x.column(0))[corner:]
    return cross


def largest_correlation(cross: Array, /) -> float:
    """The largest canonical correlation of two whitened bases."""
    if not is_large(cross.shape):
        return float(canonical_correlations(cross)[0])
    return float(np.sqrt(min(largest_square(cross), 1.0)))


def canonical_correlations(cross: Array, /) -> Array:
    """Canonical correlations of two whitened bases, largest first."""
    return canonical_directions(cross)[1]


def canonical_directions(cross: Array, /) -> tuple[Array, Array, Array]:
    """Canonical correlations with the directions in either basis, as columns, that attain them."""
    # Orthonormal bases turn the generalised eigenproblem into a plain SVD; rounding can push a value above 1.
    left, values, right = svd(cross)
    return left, np.clip(values, 0.0, 1.0), right.T
