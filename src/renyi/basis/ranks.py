"""Columns to ranks in (0, 1] by the empirical cdf; ties share the rank of their last member."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.sorting import order_and_ties

_TURNED = 16
# On many rows equal values that are there by chance, as in float32, move coefficients by 10⁻⁶ at most: up to so many in
# a row, and up to this share of all pairs of rows, a column is taken as one without ties, and shares their functions.
# Its equal values still have one cell, that of the last of them. Normal numbers in float32 have 7·10⁻⁹.
ROWS_OF_CHANCE_TIES, LONGEST_RUN, MOST_MOVED = 4096, 5, 5e-8


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of equal rank of a column, and how many rows each has.

    Without a grid every distinct value is a cell of its own and nothing is lost. With one, neighbouring ranks share a
    cell that stands for their mean. `n_cells` is the size of the grid that was asked for.
    """

    ranks: Array
    counts: Index
    has_ties: bool
    n_cells: int | None

    @property
    def n_samples(self) -> int:
        """Rows of the column."""
        return int(self.counts.sum())

    @property
    def middles(self) -> Array:
        """Middle of every cell in [0, 1]: the mean rank of its rows, ties sharing the mean rather than the last."""
        return middles(self.counts)


@dataclass(frozen=True, eq=False)
class Copula(Cells):
    """The same with its rows: row i has the rank `ranks[codes[i]]`."""

    codes: NDArray[np.unsignedinteger[Any]]


def middles(counts: Index, /) -> Array:
    """Middles of cells that hold so many rows each, as shares of all rows."""
    return np.asarray((np.cumsum(counts) - counts / 2) / counts.sum())


def quantise(
    values: NDArray[Any], /, *, n_cells: int | None = None, may_share: bool = False, order: Index | None = None
) -> Copula:
    """Rank one column: P_n(x) = #{x_i <= x}/n, on at most `n_cells` cells (None: one per distinct value).

    With `may_share` a column with few ties by chance shares the cells of those without. The `order` that sorts it may
    be known.
    """
    n = len(values)
    order, ends_group = order_and_ties(values, order)
    tied = np.flatnonzero(~ends_group)
    shares = may_share and len(tied) > 0 and _are_by_chance(tied, n)
    has_ties = len(tied) > 0 and not shares
    if has_ties:
        ranks, counts = tied_cells(np.flatnonzero(ends_group), n_cells)
    else:
        ranks, counts = tie_free_cells(n, n_cells)
    codes = np.empty(n, dtype=np.min_scalar_type(len(ranks) - 1))
    cells = np.arange(len(ranks), dtype=codes.dtype)
    cells = cells if len(cells) == n else np.repeat(cells, counts)
    if shares:
        ends = np.flatnonzero(ends_group)
        cells[tied] = cells[ends[np.searchsorted(ends, tied)]]
    codes[order] = cells
    return Copula(ranks, counts, has_ties, n_cells, codes)


def _are_by_chance(tied: NDArray[np.intp], n: int) -> bool:
    """Whether so few values, at these sorted positions, equal the next one that they move nothing that matters."""
    if n < ROWS_OF_CHANCE_TIES or len(tied) > MOST_MOVED * n**2:
        return False
    lengths = np.diff(np.flatnonzero(np.diff(tied, prepend=-2, append=n + 1) > 1)) + 1
    return bool(lengths.max() <= LONGEST_RUN and np.sum(lengths * (lengths - 1)) <= 2 * MOST_MOVED * n**2)


@lru_cache(maxsize=8)
def tie_free_cells(n: int, n_cells: int | None, /) -> tuple[Array, Index]:
    """Cells of any column of n distinct values: they depend on n alone."""
    if n_cells is None or n <= n_cells:
        return np.arange(1, n + 1) / n, np.ones(n, dtype=np.intp)
    starts = _starts(_edges(n, n_cells), n)
    counts = np.diff(starts, append=n)
    return (starts + (counts + 1) / 2) / n, counts


def tied_cells(last: Index, n_cells: int | None) -> tuple[Array, Index]:
    """Cells of groups of equal values, given the sorted position of the last member of each; no group is split."""
    members = np.diff(last, prepend=-1)
    ranks, counts, _ = _cells_of_groups(members, last, np.asarray(last + 1.0, dtype=np.float64), n_cells)
    return ranks, counts


def _cells_of_groups(members: Index, last: Index, ranks: Array, n_cells: int | None) -> tuple[Array, Index, Index]:
    """Ranks and rows of cells of whole groups, and the first group of each; `ranks` are those of groups, times n."""
    n = int(last[-1]) + 1
    if n_cells is None or len(last) <= n_cells:
        return ranks / n, members, np.arange(len(last))
    # A group belongs to the cell of its last member, whose rank it has; a cell stands for the mean of its ranks.
    starts = _starts(np.searchsorted(last, _edges(n, n_cells)), len(last))
    counts = np.add.reduceat(members, starts)
    return np.add.reduceat(ranks * members, starts) / (counts * float(n)), counts, starts


def cells_of_groups(members: Index, is_mixed: Mask, /, *, n_cells: int | None) -> tuple[Cells, Index]:
    """The cells of a column whose rows are counted in groups, in the order of their values; the first group of each.

    The values of a mixed group are taken to differ: it has the mean of their ranks.
    """
    n = int(members.sum())
    if len(members) == n:
        ranks, counts = tie_free_cells(n, n_cells)
        return Cells(ranks, counts, False, n_cells), np.cumsum(counts) - counts
    last = np.cumsum(members) - 1
    of_groups = np.where(is_mixed, last + 1.0 - (members - 1) / 2, last + 1.0)
    ranks, counts, starts = _cells_of_groups(members, last, of_groups, n_cells)
    return Cells(ranks, counts, True, n_cells), starts


def _edges(n: int, n_cells: int) -> Index:
    """Sorted positions at which a new cell begins.

    Functions of low degree change fastest near 0 and 1, so the cells are finest there: equal steps of the angle φ in
    u = sin²φ.
    """
    return np.asarray(np.rint(n * _shares_of_edges(n_cells)), dtype=np.intp)


@lru_cache(maxsize=8)
def _shares_of_edges(n_cells: int) -> Array:
    """The same as shares of the rows."""
    angles = np.pi * np.arange(1, n_cells) / (2 * n_cells)
    return np.asarray(np.sin(angles) ** 2)


def _starts(positions: Index, stop: int) -> Index:
    """Where cells begin, the first at 0, leaving out empty ones."""
    starts = np.concatenate(([0], positions[(positions > 0) & (positions < stop)]))
    return np.asarray(starts[np.diff(starts, prepend=-1) > 0], dtype=np.intp)


def joint_ranks(values: NDArray[Any], /) -> Array:
    """Rank each coordinate of a vector column (n, d) on its own, always dividing by n."""
    ranks = np.empty(values.shape)
    # Blocks of columns are turned so that each lies together in memory.
    for start in range(0, values.shape[1], _TURNED):
        block = slice(start, start + _TURNED)
        turned = np.ascontiguousarray(values[:, block].T)
        copulas = (quantise(column) for column in turned)
        ranks[:, block] = np.stack([np.take(copula.ranks, copula.codes) for copula in copulas], axis=1)
    return ranks


def mean_ranks(values: NDArray[Any], /) -> Array:
    """Ranks in (0, 1) of one column, ties sharing their mean."""
    copula = quantise(values)
    return np.take(copula.middles, copula.codes)


def empirical_cdf(ordered: NDArray[Any], values: NDArray[Any], /) -> Array:
    """P_n at new values, given the sorted sample; values below the sample are treated as its smallest."""
    if values.dtype.kind + ordered.dtype.kind in ("iu", "ui") and np.result_type(values, ordered).kind == "f":
        # As floats, large whole numbers could not be told apart.
        ordered, values = ordered.astype(object), values.astype(object)
    smallest = np.searchsorted(ordered, ordered[0], side="right")
    return np.asarray(np.maximum(np.searchsorted(ordered, values, side="right"), smallest) / len(ordered))
