"""Rows in time: their order by stamps, series within groups, and trends and seasons taken out of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.data.align import group_codes
from renyi.data.column import Column
from renyi.data.table import as_table
from renyi.errors import InputError, brief, is_integer

Detrend = Literal["difference", "linear"] | None

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

    def check_lag(self, max_lag: Any, /) -> int:
        """A largest lag, if the shortest series has four times as many rows."""
        most = min(self.lengths) // 4
        if not is_integer(max_lag) or not 1 <= max_lag <= most:
            raise InputError(
                f"max_lag={brief(max_lag)} makes no sense for {min(self.lengths):,} rows: pass a whole number from 1 "
                f"to {most:,}, a quarter of them"
            )
        return int(max_lag)


def timeline(time: Any, groups: Any, n_rows: int, /) -> Timeline:
    """The order of rows by `time` (True: as they are, or a stamp for each), within the groups if there are some."""
    codes = np.zeros(n_rows, dtype=np.intp) if groups is None else group_codes(groups, n_rows)
    if time is True:
        order = np.argsort(codes, kind="stable")
    elif time is None or time is False or isinstance(time, (str, bytes)):
        raise InputError(
            f"time={brief(time)} makes no sense here: pass True for rows in order, or a stamp for each row"
        )
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


def _check_steps(stamps: Any, order: Index, codes: Index) -> None:
    """Refuse stamps that come twice or in unequal steps, and name the place."""
    within = codes[order][1:] == codes[order][:-1]
    in_order = stamps[order]
    steps = np.diff(in_order)[within]
    if not len(steps):
        return
    places = np.flatnonzero(within)
    zero = steps * 0
    again = np.flatnonzero(steps == zero)
    if len(again):
        first, second = order[places[again[0]]], order[places[again[0]] + 1]
        raise InputError(
            f"rows {first:,} and {second:,} have the same stamp, {stamps[first]} ({len(again):,} repeated in all): "
            "pass groups= if the table holds several series, or take the mean of such rows first"
        )
    if steps.max() > _LARGEST_STEP * steps.min():
        usual = np.sort(steps)[len(steps) // 2]
        odd = int(np.argmax(np.abs((steps - usual) / usual)))
        first, second = order[places[odd]], order[places[odd] + 1]
        raise InputError(
            f"stamps are irregular: rows {first:,} and {second:,} ({stamps[first]} and {stamps[second]}) are "
            f"{steps[odd]} apart, and most are {usual}: fill in the rows between (resample), or pass time=True to take rows as "
            "equally far apart"
        )


def periods_of(period: Any, /) -> tuple[int, ...]:
    """Periods of seasons, as whole numbers of rows."""
    periods = () if period is None else tuple(period) if isinstance(period, (list, tuple)) else (period,)
    for one in periods:
        if not is_integer(one) or one < 2:
            raise InputError(f"period={brief(one)} makes no sense: pass a whole number of rows, 2 or more, or several")
    return tuple(int(one) for one in periods)


def without_trend(column: Column, line: Timeline, detrend: Detrend, periods: Sequence[int], /) -> Column:
    """A number in order of time, without its trend and its seasons.

    Categories stay as they are. The first row of a difference is missing.
    """
    if not (detrend or periods) or not column.is_number:
        return column
    values = _floats(column)
    parts = np.split(values[line.order], np.cumsum(line.lengths)[:-1])
    left = np.concatenate([_part_without(part, detrend, periods, column) for part in parts])
    found = np.empty_like(values)
    found[line.order] = left
    missing = np.isnan(found)
    if np.nanstd(found) <= 1e-9 * (np.nanstd(values) or 1.0):
        raise InputError(
            f"nothing is left of {column.label} without its {'season' if periods else 'trend'}: leave "
            f"{'period' if periods else 'detrend'} out, or leave out the column"
        )
    return replace(column, values=np.where(missing, 0.0, found), missing=missing if missing.any() else None)


def _floats(column: Column) -> Array:
    values = column.values
    if values.dtype.kind in "mM":
        values = values.astype(np.int64)
    found = values.astype(np.float64)
    return found if column.missing is None else np.where(column.missing, np.nan, found)


def _part_without(values: Array, detrend: Detrend, periods: Sequence[int], column: Column) -> Array:
    if detrend == "difference":
        values = np.concatenate(([np.nan], np.diff(values)))
    elif detrend == "linear":
        known = np.flatnonzero(~np.isnan(values))
        if len(known) > 2:
            values = values - np.polyval(np.polyfit(known, values[known], 1), np.arange(len(values)))
    for period in periods:
        if 2 * period > len(values):
            raise InputError(
                f"period={period:,} is more than half of the {len(values):,} rows of {column.label}: pass a shorter one"
            )
        phase = np.arange(len(values)) % period
        known = ~np.isnan(values)
        sums = np.bincount(phase[known], values[known], minlength=period)
        counts = np.bincount(phase[known], minlength=period)
        values = values - np.divide(sums, counts, out=np.zeros(period), where=counts > 0)[phase]
    return values
