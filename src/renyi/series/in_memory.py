"""Columns in order of time to their dependence at every lag."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri_exp

from renyi.basis.random_features import FIXED_DRAW
from renyi.compute.arrays import Array
from renyi.compute.progress import watched
from renyi.compute.threads import stream
from renyi.data.column import Column
from renyi.errors import some
from renyi.inference.debias import debias_all, strengths
from renyi.inference.false_discovery import Correction
from renyi.inference.lags import Window, around
from renyi.inference.shifts import Shifts, Spectra
from renyi.pair.prepare import Prepared, prepare
from renyi.pair.series import restless, spectra
from renyi.series.coefficients import Coefficients, Functions, coefficients
from renyi.series.reading import Series
from renyi.series.result import LaggedPairs, Lags

_SEED = 0
# Largest coefficients are further out than those of a normal distribution by so much.
_SKEWED = 1.4


class _Tested(NamedTuple):
    window: Window
    n_effective: float


def lagged(series: Series, max_lag: int, correction: Correction, /, *, progress: bool) -> Lags:
    """The dependence of all pairs at all lags."""
    prepared = list(stream(lambda column: prepare(column, FIXED_DRAW), series.columns))
    transformed = [spectra(column, own, series.line) for column, own in zip(series.columns, prepared, strict=True)]
    tested = _tested(transformed, series.pairs, max_lag, progress=progress)
    found = coefficients(Functions.of(series.columns, prepared, series.line), series.pairs, max_lag)
    return Lags(
        names=tuple(column.name for column in series.columns),
        target=series.target,
        max_lag=max_lag,
        of_pairs=_pairs(series, prepared, tested, found),
        types=MappingProxyType(dict(series.types)),
        skipped=MappingProxyType(dict(series.skipped)),
        notes=(*series.notes, *restless(series.columns, prepared, series.line), *_note_on_bounds(series, tested)),
        n_rows=series.n_rows,
        n_series=len(series.line.lengths),
        correction=correction,
        new_frame=series.new_frame,
    )


def _tested(
    transformed: Sequence[Spectra], pairs: Sequence[tuple[int, int]], max_lag: int, *, progress: bool
) -> list[_Tested]:
    """P-values of all pairs, each from the same draws of phases."""

    def test(pair: tuple[int, int]) -> _Tested:
        shifts = Shifts(transformed[pair[0]], transformed[pair[1]])
        return _Tested(around(shifts, max_lag, np.random.default_rng(_SEED)), shifts.n_effective)

    return list(watched(stream(test, pairs, at_once=4), len(pairs), "pairs", shown=progress))


def _note_on_bounds(series: Series, tested: Sequence[_Tested]) -> tuple[str, ...]:
    """What is said of pairs in which single rows weigh too much."""
    pairs = [pair for pair, one in zip(series.pairs, tested, strict=True) if one.window.is_bound]
    if not pairs:
        return ()
    whose = some(f"{series.columns[i].name} and {series.columns[j].name}" for i, j in pairs)
    return (
        f"single rows weigh too much for the p-value of {whose}: it is an upper bound, from the share of shifts that "
        "show as much, and needs many more rows than lags to be small",
    )


def _pairs(series: Series, prepared: Sequence[Prepared], tested: Sequence[_Tested], found: Coefficients) -> LaggedPairs:
    i, j = np.array(series.pairs, dtype=np.intp).T
    log_p = np.stack([one.window.log_pvalues for one in tested])
    most_rows = np.array([_rows(series.columns[a], series.columns[b]) for a, b in series.pairs], dtype=np.float64)
    n_effective = np.minimum(np.array([one.n_effective for one in tested]), most_rows)
    # As of a single pair in time: the median of ρ₁² over shifts is what chance shows, of fewer rows more.
    chance = np.median(found.chance**2, axis=1)[:, np.newaxis] * (most_rows[:, np.newaxis] / np.maximum(found.n, 1))
    debiased = debias_all(found.values, np.minimum(chance, 1.0))
    n = np.repeat(n_effective[:, np.newaxis], log_p.shape[1], axis=1)
    strength = strengths(debiased.ravel(), log_p.ravel(), n.ravel(), most=found.values.ravel()).reshape(log_p.shape)
    return LaggedPairs(
        i=i,
        j=j,
        coefficient=found.values,
        strength=strength,
        log_pvalues=log_p,
        n=found.n,
        lag=np.array([one.window.strongest for one in tested], dtype=np.intp),
        log_pvalue=np.array([one.window.log_pvalue for one in tested]),
        n_effective=n_effective,
        band=_band(found, tested, n_effective, most_rows),
    )


def _rows(x: Column, y: Column) -> int:
    return int(np.count_nonzero(~(x.gaps | y.gaps)))


def _band(found: Coefficients, tested: Sequence[_Tested], n_effective: Array, n: Array) -> Array:
    """The strength that hardly any lag of two series without relation has, by the test or as it is."""
    critical = np.array([one.window.log_critical for one in tested])
    by_test = strengths(np.zeros(len(tested)), critical, n_effective)
    # Lags at the ends of the window have the fewest rows.
    more = n / np.maximum(found.n.min(axis=1), 1)
    mean, deviation = found.chance.mean(axis=1), found.chance.std(axis=1, ddof=1)
    highest = np.sqrt(more) * (mean - _SKEWED * ndtri_exp(critical) * deviation)
    level = np.minimum(more * np.median(found.chance**2, axis=1), 1.0)
    return np.asarray(np.maximum(by_test, debias_all(np.clip(highest, 0.0, 1.0), level)))
