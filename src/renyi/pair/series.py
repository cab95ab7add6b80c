"""Columns in time: their Fourier coefficients, what chance shows of two, and what is said of rows in order."""

from collections.abc import Iterator, Sequence

import numpy as np

from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_correlations, cross_products, largest_correlation
from renyi.basis.nested import Scales
from renyi.basis.orthonormal import standardised
from renyi.basis.random_features import Seed
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.align import common_rows
from renyi.data.column import Column, as_floats
from renyi.data.seasons import Adjustment
from renyi.data.time import Timeline
from renyi.errors import count, some
from renyi.inference.serial import (
    FEWEST_ROWS,
    Memory,
    has_trend,
    in_order,
    is_sorted,
    may_be_random_walk,
    memory,
    memory_of_sums,
)
from renyi.inference.shifts import MOST_FUNCTIONS, Shifts, Spectra
from renyi.pair.prepare import Prepared, prepare, together
from renyi.pair.result import TestResult

# Shifts whose median says what chance shows of a coefficient, as shares of the length of a series.
SHIFTS = tuple(0.1 + 0.8 * k / 23 for k in range(24))
# Said of two columns whose p-value is the share of shifts.
NOTE_ON_SHIFTS = (
    "single rows weigh too much for a null distribution: the p-value is the share of all shifts that show as much, and "
    "not below one over their number"
)
# Functions of a column by which the table is sorted that may explain why others resemble their previous row.
_OF_SORTED = 20


def over_rows(basis: Basis, missing: Mask | None, most: int | None = None, /) -> Array:
    """Functions (rows, functions) at all rows of a column, 0 where it is missing."""
    table = basis.table[:, :most]
    found = table if basis.codes is None else np.take(table, basis.codes, axis=0)
    if missing is None:
        return found
    whole = np.zeros((len(missing), found.shape[1]))
    whole[~missing] = found
    return whole


def tested(pair: tuple[Column, Column], line: Timeline, adjustment: Adjustment, seed: Seed, /) -> TestResult:
    """The test of two columns in time, by the distribution of shifts, without trend and season."""
    adjusted = adjustment(pair, line).refused()
    pair, line = (adjusted.columns[0], adjusted.columns[1]), adjusted.line
    sides = [prepare(column, seed) for column in pair]
    x, y = together(pair, sides)
    coefficient = largest_correlation(cross_products(x.basis, y.basis))
    shifts = Shifts(*(spectra(column, side, line) for column, side in zip(pair, sides, strict=True)))
    log_pvalue, scale = shifts.at(0)
    n = x.basis.n_samples
    functions = [over_rows(side.basis, column.missing) for column, side in zip(pair, sides, strict=True)]
    result = TestResult(
        statistic=-log_pvalue,
        pvalue=1.0,
        log_pvalue=0.0,
        method="auto",
        coefficient=coefficient,
        n_samples=n,
        bases=(x.basis, y.basis),
        scale=scale,
        n_effective=min(shifts.n_effective, float(n)),
        chance=chance_level(functions[0], functions[1], line, n),
        common=common_rows(*pair),
        places=pair[0].places,
        notes=(*adjusted.notes, *restless(pair, sides, line), *([] if shifts.is_light() else [NOTE_ON_SHIFTS])),
    )
    return result.by_theory(log_pvalue)


def spectra(column: Column, prepared: Prepared, line: Timeline, /) -> Spectra:
    """Fourier coefficients of a column's leading functions over time."""
    functions = over_rows(prepared.scales.basis, column.missing, MOST_FUNCTIONS)
    return Spectra.of(functions[line.order], line.lengths, has_levels=prepared.scales.has_levels)


def chance_level(x: Array, y: Array, line: Timeline, n: int, /) -> float:
    """The median of ρ₁² over shifts of one side, from functions of two coefficients at all rows."""
    x, y = x[line.order], y[line.order]
    levels = [float(canonical_correlations(x.T @ y[rows] / n)[0]) ** 2 for rows in shifted_rows(line)]
    return min(float(np.median(levels)), 1.0)


def shifted_rows(line: Timeline, /) -> Iterator[Index]:
    """Rows in order of time, shifted in a circle within every series."""
    starts = np.concatenate(([0], np.cumsum(line.lengths)[:-1]))
    for share in SHIFTS:
        yield np.concatenate(
            [start + (np.arange(m) + round(share * m)) % m for start, m in zip(starts, line.lengths, strict=True)]
        )


def restless(columns: Sequence[Column], prepared: Sequence[Prepared], line: Timeline, /) -> tuple[str, ...]:
    """What is said of numbers that have no level to return to, if there are two: they wander, or have a trend."""
    walks, trends = wandering(columns, prepared, line)
    if len(walks) + len(trends) < 2:
        return ()
    names = [[columns[k].name for k in found] for found in (walks, trends)]
    return (*([_note_on_walks(names[0])] if walks else []), *([_note_on_trends(names[1])] if trends else []))


def wandering(
    columns: Sequence[Column], prepared: Sequence[Prepared], line: Timeline, /
) -> tuple[list[int], list[int]]:
    """Places of numbers that cannot be told from random walks, and of others that have a trend."""
    walks, trends = [], []
    for k, (column, own) in enumerate(zip(columns, prepared, strict=True)):
        if not column.is_number:
            continue
        first, known = _first_in_time(column, own, line)
        if may_be_random_walk(memory(first, known).correlation, line.n_rows):
            walks.append(k)
        elif has_trend(line.series(first if known is None else np.where(known, first, np.nan))):
            trends.append(k)
    return walks, trends


def _first_in_time(column: Column, own: Prepared, line: Timeline) -> tuple[Array, Mask | None]:
    """The first function of a column at the rows in order of time, and which of them are known."""
    first = over_rows(own.scales.basis, column.missing, 1)[line.order, 0]
    return first, None if column.missing is None else ~column.missing[line.order]


def _note_on_walks(names: Sequence[str]) -> str:
    whose = f"{some(names)} wanders" if len(names) == 1 else f"{count(len(names), 'column')} ({some(names)}) wander"
    return (
        f"{whose} as random walks do, for which p-values of two such columns are too small, 0.14 at a level of 0.05: "
        "pass detrend='difference'"
    )


def _note_on_trends(names: Sequence[str]) -> str:
    whose = f"{some(names)} has" if len(names) == 1 else f"{count(len(names), 'column')} ({some(names)}) have"
    return f"{whose} a trend, and two columns with trends look dependent: pass detrend='linear' or 'difference'"


def note_on_order(columns: Sequence[Column], scales: Sequence[Scales | None], /) -> str:
    """What is said where columns resemble their own previous row beyond chance; empty where they do not."""
    places, dates = serial_columns(columns, scales)
    return said_of_order([columns[k].name for k in places], len(columns), dates[0] if len(dates) == 1 else "")


def serial_columns(columns: Sequence[Column], scales: Sequence[Scales | None], /) -> tuple[list[int], list[str]]:
    """Places of columns that resemble their own previous row beyond chance, and dates by which rows are sorted.

    A column by which rows are sorted does not count, and what it explains of others is taken out of them first, unless
    it is a date. Columns without `scales` are looked at by their values rather than their ranks.
    """
    if not columns or len(columns[0]) < FEWEST_ROWS:
        return [], []
    serial = [k for k in range(len(columns)) if _memory(columns[k], scales[k]).is_serial]
    keys = [k for k in serial if _is_key(columns[k], scales[k])]
    left = [k for k in serial if k not in keys]
    explaining = [k for k in keys if columns[k].values.dtype.kind not in "mM"]
    if left and explaining:
        known = [
            over_rows((scales[k] or prepare(columns[k]).scales).basis, columns[k].missing, _OF_SORTED)
            for k in explaining
        ]
        q = np.linalg.qr(np.concatenate(known, axis=1))[0]
        left = [k for k in left if _memory(columns[k], scales[k], q).is_serial]
    return left, [columns[k].name for k in keys if k not in explaining]


def note_of_sums(columns: Sequence[tuple[str, bool, Array]], n_columns: int, /) -> str:
    """The same from sums over neighbours of columns: their names, whether they are dates, and the sums.

    Where rows are sorted by a column, unless that is a date, others resemble rows far before them, too.
    """
    keys = {name: is_date for name, is_date, sums in columns if memory_of_sums(sums).is_serial and is_sorted(sums)}
    dates = [name for name, is_date in keys.items() if is_date]
    beyond_far = len(dates) < len(keys)
    left = [
        name for name, _, sums in columns if name not in keys and memory_of_sums(sums, beyond_far=beyond_far).is_serial
    ]
    return said_of_order(left, n_columns, dates[0] if len(dates) == 1 else "")


def said_of_order(names: Sequence[str], n_columns: int, /, date: str = "", remedy: str = "") -> str:
    """The remark on so many columns of a table that resemble their own previous row; empty where there are none.

    The table may be in the order of a `date`. Without another `remedy` it is to pass `time` or `groups`.
    """
    if not names:
        return ""
    who = f"{len(names):,} of {n_columns:,} columns ({some(names)})" if n_columns > 2 else some(names)
    verb, whose = ("resemble", "their") if len(names) > 1 else ("resembles", "its")
    remedy = remedy or f"pass {f'time={date!r}' if date else 'time='} or groups="
    return (
        f"{who} {verb} {whose} own previous row, and p-values take rows as independent: {remedy}, or "
        "order=None if the order of rows means nothing"
    )


def _memory(column: Column, scales: Scales | None, explained: Array | None = None) -> Memory:
    first = _standardised(column) if scales is None else over_rows(scales.basis, column.missing, 1)[:, 0]
    if explained is not None:
        first = first - explained @ (explained.T @ first)
    return memory(first, None if column.missing is None else ~column.missing)


def _standardised(column: Column) -> Array:
    """A column by its values: of vectors the first coordinate, of categories whether it is the most frequent level."""
    values = column.values[:, 0] if column.is_vector else column.values
    known = ~column.gaps
    if column.is_category:
        numbers = np.asarray(values == np.bincount(values[known]).argmax(), dtype=np.float64)
    else:
        numbers = as_floats(values)
    found, own = np.zeros(len(numbers)), numbers[known]
    if np.isfinite(own).all() and (own != own[0]).any():
        found[known] = standardised(own) * np.sqrt(len(own))
    return found


def _is_key(column: Column, scales: Scales | None) -> bool:
    codes = column.known if scales is None else scales.basis.codes
    return codes is not None and codes.ndim == 1 and in_order(codes, is_category=column.is_category)
