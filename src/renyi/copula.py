"""Columns to ranks in (0, 1] by the empirical cdf; ties share the rank of their last member."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.execution.arrays import is_tensor

__all__ = [
    "Cells",
    "Copula",
    "cells_of_groups",
    "empirical_cdf",
    "joint_ranks",
    "middles",
    "quantise",
    "tie_free_cells",
    "tied_cells",
]

Sorted: TypeAlias = tuple[NDArray[np.intp], NDArray[Any]]

_SHORT_COLUMN, _LONG_COLUMN = 2**11, 2**17
_QUARTILES, _KEYS, _KEYS_PER_ROW = 64, 2**32, 16
_BINS = 2**16
_SAMPLE = 4096
_RUN = 2**15
_TURNED = 16


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of equal rank of a column, and how many rows each has.

    Without a grid every distinct value is a cell of its own and nothing is lost. With one, neighbouring ranks share a
    cell that stands for their mean. `n_cells` is the size of the grid that was asked for.
    """

    ranks: NDArray[np.float64]
    counts: NDArray[np.intp]
    has_ties: bool
    n_cells: int | None

    @property
    def n_samples(self) -> int:
        """Rows of the column."""
        return int(self.counts.sum())

    @property
    def middles(self) -> NDArray[np.float64]:
        """Middle of every cell in [0, 1]: the mean rank of its rows, ties sharing the mean rather than the last."""
        return middles(self.counts)


@dataclass(frozen=True, eq=False)
class Copula(Cells):
    """The same with its rows: row i has the rank `ranks[codes[i]]`."""

    codes: NDArray[np.unsignedinteger[Any]]


def middles(counts: NDArray[np.intp], /) -> NDArray[np.float64]:
    """Middles of cells that hold so many rows each, as shares of all rows."""
    return np.asarray((np.cumsum(counts) - counts / 2) / counts.sum())


def quantise(values: NDArray[Any], /, *, n_cells: int | None = None) -> Copula:
    """Rank one column: P_n(x) = #{x_i <= x}/n, on at most `n_cells` cells (None: one per distinct value)."""
    n = len(values)
    if is_tensor(values):
        order, ends_group = _sorted_on_device(values)
    else:
        if values.dtype.kind in "Mm":
            values = values.view(np.int64)
        order, ordered = _sorted(values)
        ends_group = _differs_from_next(ordered)
    has_ties = not ends_group.all()
    if has_ties:
        ranks, counts = tied_cells(np.flatnonzero(ends_group), n_cells)
    else:
        ranks, counts = tie_free_cells(n, n_cells)
    codes = np.empty(n, dtype=np.min_scalar_type(len(ranks) - 1))
    cells = np.arange(len(ranks), dtype=codes.dtype)
    codes[order] = cells if len(cells) == n else np.repeat(cells, counts)
    return Copula(ranks, counts, has_ties, n_cells, codes)


def _sorted_on_device(values: Any) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The order that sorts a tensor, and where groups of equal values end."""
    ordered, order = values.sort()
    differs = (ordered[1:] != ordered[:-1]).cpu().numpy()
    return order.cpu().numpy(), np.append(differs, True)


def _differs_from_next(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a group of equal values ends; the last one always does."""
    differs = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=differs[:-1])
    return differs


def _sorted(values: NDArray[Any]) -> Sorted:
    """The order that sorts `values`, and the sorted ones.

    NumPy sorts 16-bit integers by radix. Two such passes over a monotone map to 32 bits take a third of the time of
    `np.argsort` at ten thousand rows; for a million and more a pass before them makes runs that fit into the cache. The
    order is exact whatever the map.
    """
    found = _by_runs(values) if len(values) >= _LONG_COLUMN else _by_two_passes(values)
    return _taken(values, np.argsort(values)) if found is None else found


def _taken(values: NDArray[Any], order: NDArray[np.intp]) -> Sorted:
    return order, values[order]


def _by_two_passes(values: NDArray[Any]) -> Sorted | None:
    """By the lower half of a key and then by the upper one.

    None for a short column, and if the range of the values defeats a linear map.
    """
    if len(values) < _SHORT_COLUMN:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        low = values.min()
        span = np.float64(values.max()) - np.float64(low)
        sample = np.sort(values[:: max(1, len(values) // _QUARTILES)].astype(np.float64))
        scale = (_KEYS - 1) / span if span > 0.0 else 0.0
        # Far outliers leave too few keys for the rest; values of which half are equal need few.
        keys_of_half = (sample[-1 - len(sample) // 4] - sample[len(sample) // 4]) * scale
        if not 0.0 < scale < np.inf or 0.0 < keys_of_half < _KEYS_PER_ROW * len(values):
            return None
        position: NDArray[np.float64] = np.subtract(values, low, dtype=np.float64)
        position *= scale
    keys = position.astype(np.uint32)
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    order = order[np.argsort((keys >> 16).astype(np.uint16)[order], kind="stable")]
    ordered = values[order]
    if not _is_ordered(ordered):
        # Few values share a key with a different one.
        again = np.argsort(ordered, kind="stable")
        return order[again], ordered[again]
    return order, ordered


def _is_ordered(values: NDArray[Any]) -> bool:
    return not np.any(values[1:] < values[:-1])


def _by_runs(values: NDArray[Any]) -> Sorted | None:
    """By 16-bit bins and then within runs of whole bins; None if the range of the values defeats a linear map."""
    found = _coarse_bins(values)
    if found is None:
        return None
    bins, counts = found
    order, ordered = np.argsort(bins, kind="stable"), np.empty_like(values)
    ends = np.cumsum(counts)
    start = 0
    while start < len(values):
        stop = ends[np.searchsorted(ends, min(start + _RUN, len(values)))]
        run = order[start:stop]
        of_run = values[run]
        if not _is_ordered(of_run):
            # A stable sort runs through equal values.
            within, of_run = _by_two_passes(of_run) or _taken(of_run, np.argsort(of_run, kind="stable"))
            order[start:stop] = run[within]
        ordered[start:stop] = of_run
        start = stop
    return order, ordered


def _coarse_bins(values: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[np.intp]] | None:
    """A 16-bit bin for every value, in the order of the values, and how many each bin has.

    None if the range of the values defeats a linear map.
    """
    bins, counts = np.empty(len(values), dtype=np.uint16), np.zeros(_BINS, dtype=np.intp)
    # Overflow makes infinities, which the clip puts into the last bin and the check of the scale refuses.
    with np.errstate(over="ignore", invalid="ignore"):
        sample = np.sort(values[:: max(1, len(values) // _SAMPLE)].astype(np.float64))
        low, high = sample[len(sample) // 200], sample[-1 - len(sample) // 200]
        scale = (_BINS - 1) / (high - low) if high > low else 0.0
        if not 0.0 < scale < np.inf:
            return None
        # What lies between values and bins stays in the cache.
        for start in range(0, len(values), _LONG_COLUMN):
            block = slice(start, start + _LONG_COLUMN)
            position: NDArray[np.float64] = np.subtract(values[block], low, dtype=np.float64)
            position *= scale
            bins[block] = np.clip(position, 0, _BINS - 1, out=position)
            counts += np.bincount(bins[block], minlength=_BINS)
    return bins, counts


@lru_cache(maxsize=8)
def tie_free_cells(n: int, n_cells: int | None, /) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Cells of any column of n distinct values: they depend on n alone."""
    if n_cells is None or n <= n_cells:
        return np.arange(1, n + 1) / n, np.ones(n, dtype=np.intp)
    starts = _starts(_edges(n, n_cells), n)
    counts = np.diff(starts, append=n)
    return (starts + (counts + 1) / 2) / n, counts


def tied_cells(last: NDArray[np.intp], n_cells: int | None) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Cells of groups of equal values, given the sorted position of the last member of each; no group is split."""
    members = np.diff(last, prepend=-1)
    ranks, counts, _ = _cells_of_groups(members, last, np.asarray(last + 1.0, dtype=np.float64), n_cells)
    return ranks, counts


def _cells_of_groups(
    members: NDArray[np.intp], last: NDArray[np.intp], ranks: NDArray[np.float64], n_cells: int | None
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Ranks and rows of cells of whole groups, and the first group of each; `ranks` are those of groups, times n."""
    n = int(last[-1]) + 1
    if n_cells is None or len(last) <= n_cells:
        return ranks / n, members, np.arange(len(last))
    # A group belongs to the cell of its last member, whose rank it has; a cell stands for the mean of its ranks.
    starts = _starts(np.searchsorted(last, _edges(n, n_cells)), len(last))
    counts = np.add.reduceat(members, starts)
    return np.add.reduceat(ranks * members, starts) / (counts * float(n)), counts, starts


def cells_of_groups(
    members: NDArray[np.intp], is_mixed: NDArray[np.bool_], /, *, n_cells: int | None
) -> tuple[Cells, NDArray[np.intp]]:
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


def _edges(n: int, n_cells: int) -> NDArray[np.intp]:
    """Sorted positions at which a new cell begins.

    Functions of low degree change fastest near 0 and 1, so the cells are finest there: equal steps of the angle φ in
    u = sin²φ.
    """
    angles = np.pi * np.arange(1, n_cells) / (2 * n_cells)
    return np.asarray(np.rint(n * np.sin(angles) ** 2), dtype=np.intp)


def _starts(positions: NDArray[np.intp], stop: int) -> NDArray[np.intp]:
    """Where cells begin, the first at 0, leaving out empty ones."""
    return np.unique(np.append(positions[positions < stop], 0))


def joint_ranks(values: NDArray[Any], /) -> NDArray[np.float64]:
    """Rank each coordinate of a vector column (n, d) on its own, always dividing by n."""
    ranks = np.empty(values.shape)
    # Blocks of columns are turned so that each lies together in memory.
    for start in range(0, values.shape[1], _TURNED):
        block = slice(start, start + _TURNED)
        turned = np.ascontiguousarray(values[:, block].T)
        ranks[:, block] = np.stack([_row_ranks(column) for column in turned], axis=1)
    return ranks


def _row_ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    copula = quantise(values)
    return np.take(copula.ranks, copula.codes)


def empirical_cdf(ordered: NDArray[Any], values: NDArray[Any], /) -> NDArray[np.float64]:
    """P_n at new values, given the sorted sample; values below the sample are treated as its smallest."""
    if values.dtype.kind + ordered.dtype.kind in ("iu", "ui") and np.result_type(values, ordered).kind == "f":
        # As floats, large whole numbers could not be told apart.
        ordered, values = ordered.astype(object), values.astype(object)
    smallest = np.searchsorted(ordered, ordered[0], side="right")
    return np.asarray(np.maximum(np.searchsorted(ordered, values, side="right"), smallest) / len(ordered))
