"""The test of two series given others: by random phases of what these leave of both."""

from collections.abc import Sequence

import numpy as np

from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_correlations
from renyi.compute.arrays import Array, Mask
from renyi.data.align import common_rows
from renyi.data.column import Column
from renyi.data.seasons import Adjustment
from renyi.data.time import Timeline
from renyi.inference.shifts import MOST_FUNCTIONS, Shifts, Spectra
from renyi.pair import showing
from renyi.pair.conditioning import Explained, Fixed, Target
from renyi.pair.residuals import Left, measured, relative_errors, residuals
from renyi.pair.result import TestResult
from renyi.pair.series import NOTE_ON_SHIFTS, chance_level


def tested(
    pair: tuple[Column, Column], given: Sequence[Column], line: Timeline, adjustment: Adjustment, /
) -> TestResult:
    """The test of two columns in time given others, all without trend and season."""
    adjusted = adjustment((*pair, *given), line).refused()
    columns, line = adjusted.columns, adjusted.line
    rows = common_rows(*columns)
    known: Mask = np.ones(line.n_rows, dtype=bool) if rows is None else rows
    x, y, *fixed = (column.take(known).complete() for column in columns)
    x_left, y_left, explained = residuals((Target(x), Target(y)), Fixed([*fixed, *_levels(line, known)]))
    shifts = _shifts((x, y), (x_left, y_left), explained, line, known)
    log_pvalue, scale = shifts.at(0)
    n = len(x)
    a, b = measured(x_left, y_left, n - explained.freedom + 1)
    bases = x_left.basis[:, :a], y_left.basis[:, :b]
    # Shifts are free of what z takes: by chance products are so much larger without one.
    over_time = [_over_time(basis, line, known) for basis in bases]
    chance = chance_level(over_time[0], over_time[1], line, n) * n / (n - explained.freedom)
    result = TestResult(
        statistic=-log_pvalue,
        pvalue=1.0,
        log_pvalue=0.0,
        method="auto",
        coefficient=float(canonical_correlations(bases[0].T @ bases[1] / n)[0]),
        n_samples=n,
        bases=(Basis(bases[0], None, None), Basis(bases[1], None, None)),
        scale=scale,
        n_explained=explained.freedom - 1,
        n_effective=min(shifts.n_effective, float(n - explained.freedom)),
        chance=min(chance, 1.0),
        notes=(*adjusted.notes, *([] if shifts.is_light() else [NOTE_ON_SHIFTS])),
        columns=showing.kept(pair),
        given=tuple(column.name for column in given),
    )
    return result.by_theory(log_pvalue)


def _levels(line: Timeline, known: Mask) -> list[Column]:
    """What sets the series of a panel apart, as one more column to hold fixed."""
    if len(line.lengths) == 1:
        return []
    of_series = np.empty(line.n_rows, dtype=np.intp)
    of_series[line.order] = np.repeat(np.arange(len(line.lengths)), line.lengths)
    codes = np.unique(of_series[known], return_inverse=True)[1]
    return [Column("groups", "category", codes, None, tuple(map(str, range(int(codes.max()) + 1))))]


def _shifts(
    pair: tuple[Column, Column], left: tuple[Left, Left], explained: Explained, line: Timeline, known: Mask
) -> Shifts:
    """What is left of both over time, beside the span that is not."""
    x, y = (part.basis[:, :MOST_FUNCTIONS] for part in left)
    # Where noise varies with z products vary more, or less, than noise of the same size everywhere has it.
    errors = relative_errors(x, y, explained)
    sides = (
        Spectra.of(_over_time(part, line, known)[line.order], line.lengths, has_levels=column.is_category)
        for part, column in zip((x, y), pair, strict=True)
    )
    span = Spectra.of(_over_time(explained.span, line, known)[line.order], line.lengths)
    return Shifts(*sides, span=span, errors=errors)


def _over_time(functions: Array, line: Timeline, known: Mask) -> Array:
    """Functions at all rows, 0 where something is missing."""
    whole = np.zeros((line.n_rows, functions.shape[1]))
    whole[known] = functions
    return whole
