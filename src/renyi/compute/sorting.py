"""The order that sorts a column, by radix where that is faster."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Index, Mask, in_memory, is_tensor

Sorted: TypeAlias = tuple[Index, NDArray[Any]]

_SHORT_COLUMN, _LONG_COLUMN = 2**11, 2**17
_QUARTILES, _KEYS, _KEYS_PER_ROW = 64, 2**32, 16
_BINS = 2**16
_SAMPLE = 4096
_RUN = 2**15


def order_and_ties(values: Any, order: Index | None = None) -> tuple[Index, Mask]:
    """The order that sorts a column, an array or a tensor, if it is not known, and where groups of equal values end."""
    if order is not None:
        return order, ends_of_ties(values[order])
    if is_tensor(values):
        ordered, order = values.sort()
        return in_memory(order), np.append(in_memory(ordered[1:] != ordered[:-1]), True)
    order, ordered = sorted_values(values.view(np.int64) if values.dtype.kind in "Mm" else values)
    return order, ends_of_ties(ordered)


def orders(columns: Sequence[NDArray[Any]]) -> Index:
    """The orders (columns, rows) that sort columns of one length and type, found together: one call, not hundreds."""
    return np.argsort(np.stack(columns), axis=1)


def inverse(orders: Index, /) -> Index:
    """The place of every row in an order, or in each of several (…, n)."""
    places = np.empty_like(orders)
    if orders.ndim == 1:
        places[orders] = np.arange(len(orders))
    else:
        np.put_along_axis(places, orders, np.broadcast_to(np.arange(orders.shape[-1]), orders.shape), axis=-1)
    return places


def ends_of_ties(ordered: NDArray[Any]) -> Mask:
    """Where a group of equal values ends; the last one always does."""
    differs = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=differs[:-1])
    return differs


def sorted_values(values: NDArray[Any]) -> Sorted:
    """The order that sorts `values`, and the sorted ones.

    NumPy sorts 16-bit integers by radix. Two such passes over a monotone map to 32 bits take a third of the time of
    `np.argsort` at ten thousand rows; for a million and more a pass before them makes runs that fit into the cache. The
    order is exact whatever the map.
    """
    found = _by_runs(values) if len(values) >= _LONG_COLUMN else _by_two_passes(values)
    return _taken(values, np.argsort(values)) if found is None else found


def _taken(values: NDArray[Any], order: Index) -> Sorted:
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


def _coarse_bins(values: NDArray[Any]) -> tuple[NDArray[np.uint16], Index] | None:
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
