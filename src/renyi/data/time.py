"""Rows in time: their order by stamps, and series within groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.data.align import group_codes
from renyi.data.column import Column
from renyi.data.table import as_table
from renyi.errors import InputError, must_be

# On fewer rows a series says too little of its own memory.
FEWEST_ROWS = 50
# Months are 28 to 31 days apart, and count as regular.
_LARGEST_STEP = 1.25


@dataclass(frozen=True, eq=False)
class Timeline:
    """Rows in order of time, one series after the other, and how many rows each series has."""

    order: Index
    lengths: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Rows of all series."""
        return len(self.order)

    def series(self, values: Array, /) -> list[Array]:
        """Values in order of time, one series after the other."""
        return np.split(values, np.cumsum(self.lengths)[:-1])


def timeline(time: Any, groups: Any, n_rows: int, /) -> Timeline:
    """The order of rows by `time` (True: as they are, or a stamp for each), within the groups if there are some."""
    codes = np.zeros(n_rows, dtype=np.intp) if groups is None else group_codes(groups, n_rows)
    if time is True:
        order = np.argsort(codes, kind="stable")
    elif time is None or time is False or isinstance(time, (str, bytes)):
        raise must_be("time", "True for rows in order, or a stamp for each row", time)
    else:
        stamps = _stamps(time, n_rows)
        order = np.lexsort((stamps.values, codes))
        _check_steps(stamps.values, order, codes)
    lengths = np.bincount(codes)
    lengths = lengths[lengths > 0]
    if lengths.min() < FEWEST_ROWS and (groups is None or lengths.sum() < FEWEST_ROWS or lengths.min() < 8):
        whose = "the series" if groups is None else "the shortest group"
        fewest = FEWEST_ROWS if groups is None else 8
        raise InputError(
            f"{whose} has {lengths.min():,} rows, too few to see what it remembers: pass at least {fewest}, or leave "
            f"{'time out' if groups is None else 'such groups out'}"
        )
    return Timeline(order, tuple(lengths.tolist()))


def _stamps(time: Any, n_rows: int) -> Column:
    """Stamps as a column of numbers or dates, one for every row."""
    if isinstance(time, Column):
        column = time
    else:
        table = as_table({"time": time}, "time")
        if not table.columns:
            raise InputError(f"time cannot be read: {next(iter(table.skipped.values()))}; pass dates or numbers")
        column = table.columns[0]
    if len(column) != n_rows:
        raise InputError(f"time has {len(column):,} stamps for {n_rows:,} rows: pass one for each")
    if not column.is_number:
        raise InputError(f"time is {column!r}, and stamps are dates or numbers: convert it, or pass time=True")
    if column.missing is not None:
        raise InputError(
            f"time lacks {int(column.missing.sum()):,} stamps (first in row {int(column.missing.argmax()):,}): drop "
            "such rows, or fill the stamps in"
        )
    return column


@np.errstate(over="ignore")  # of stamps at both ends of what floats reach
def _check_steps(stamps: Any, order: Index, codes: Index) -> None:
    """Refuse stamps that come twice or in unequal steps, and name the place."""
    within = codes[order][1:] == codes[order][:-1]
    in_order = stamps[order]
    steps = _steps(in_order)[within]
    if not len(steps):
        return
    places = np.flatnonzero(within)
    again = np.flatnonzero(steps == 0.0)
    if len(again):
        first, second = order[places[again[0]]], order[places[again[0]] + 1]
        raise InputError(
            f"rows {first:,} and {second:,} have the same stamp, {_told(stamps[first])} ({len(again):,} repeated in "
            "all): pass groups= if the table holds several series, or take the mean of such rows first"
        )
    if steps.max() > _LARGEST_STEP * steps.min():
        usual = np.sort(steps)[len(steps) // 2]
        odd = int(np.argmax(np.abs((steps - usual) / usual)))
        middle = int(np.argmax(steps == usual))
        first, second = order[places[odd]], order[places[odd] + 1]
        apart = [_apart(in_order[place], in_order[place + 1]) for place in places[[odd, middle]]]
        raise InputError(
            f"stamps are irregular: rows {first:,} and {second:,} ({_told(stamps[first])} and {_told(stamps[second])}) "
            f"are {_told(apart[0])} apart, and most are {_told(apart[1])}: fill in the rows between (resample), or "
            "take rows as equally far apart by time=True (--in-order, for lags no --time)"
        )


def _steps(in_order: Any) -> Any:
    """How far each of ascending stamps is from the next, as floats: of whole numbers and dates without overflow."""
    if in_order.dtype.kind == "f":
        return np.minimum(np.diff(in_order), np.finfo(in_order.dtype).max)
    whole = in_order if in_order.dtype.kind == "u" else in_order.astype(np.int64)
    # Modulo 2^64 a difference of at most that is what it is.
    return np.diff(whole.astype(np.uint64)).astype(np.float64)


def _apart(sooner: Any, later: Any) -> Any:
    """How far two stamps are apart: of whole numbers as Python has them, which have no end."""
    return int(later) - int(sooner) if sooner.dtype.kind in "iu" else later - sooner


def _told(stamp: Any) -> str:
    """A stamp or a step as people write it, without fractions that are 0."""
    if isinstance(stamp, np.datetime64):
        return str(stamp.astype("M8[us]").astype(object)).removesuffix(" 00:00:00")
    if isinstance(stamp, np.timedelta64):
        return str(stamp.astype("m8[us]").astype(object)).removesuffix(", 0:00:00")
    return str(stamp)
