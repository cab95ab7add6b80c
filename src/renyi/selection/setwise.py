"""The chosen columns together as a vector against the target, by any measure of vectors (paper, section 4.2)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from renyi.coefficients.base import Measure
from renyi.compute.arrays import Array, Index
from renyi.compute.threads import map_in_threads
from renyi.data.column import Column
from renyi.data.frames import with_gaps
from renyi.errors import InputError
from renyi.inference.permutation import until_above
from renyi.selection.forward import Proposal

# With fewer the smallest p-value would be above the default error rate.
_N_RESAMPLES = 199


class Setwise:
    """What a measure says of the chosen columns and a candidate as one vector.

    The p-value of the best candidate comes from permuting the rows of all candidates together, the chosen and the
    target being left as they are, and taking the best candidate anew: being the best of many is accounted for.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        target: Column,
        measure: Measure[Any],
        /,
        *,
        is_tested: bool,
        seed: int,
        n_threads: int = 1,
    ) -> None:
        self._parts = [_spread(measure, column) for column in columns]
        self._observed = [None if column.missing is None else ~column.missing for column in columns]
        self._measure, self._is_tested, self._seed, self._n_threads = measure, is_tested, seed, n_threads
        self._values = measure.numbers_of(target)
        self._target = measure.prepare(self._values)
        self._chosen: list[int] = []

    @property
    def dependence(self) -> float:
        """The coefficient of the chosen."""
        return self._coefficient(self._chosen, None)

    def best(self, which: Sequence[int], /, *, room: int, alpha: float) -> Proposal:
        """The candidate with which the chosen depend most on the target."""
        strengths = self._strengths(which, None)
        first = int(np.argmax(strengths))
        log_pvalue = np.log(self._pvalue(which, first, strengths, alpha)) if self._is_tested else np.nan
        return Proposal((which[first],), log_pvalue, -strengths)

    def add(self, which: int, /) -> None:
        """Choose a column."""
        self._chosen.append(which)

    def _pvalue(self, which: Sequence[int], best: int, strengths: Array, alpha: float) -> float:
        """Share of permutations whose best candidate is as good; no more of them than it takes to exceed alpha."""
        observed = float(strengths[best])
        rounding = self._rounding([*self._chosen, which[best]], observed)
        rng = np.random.default_rng([self._seed, len(self._chosen), len(self._values)])
        orders = (rng.permutation(len(self._values)) for _ in range(_N_RESAMPLES))
        best_of_each = (self._strengths(which, order).max(keepdims=True) for order in orders)
        return until_above(best_of_each, observed, level=alpha, n_resamples=_N_RESAMPLES, rounding=rounding)

    def _strengths(self, which: Sequence[int], order: Index | None) -> Array:
        return np.array(
            map_in_threads(lambda j: self._strength([*self._chosen, j], order), which, n_threads=self._n_threads)
        )

    def _strength(self, members: list[int], order: Index | None) -> float:
        try:
            return float(self._measure.strength(self._coefficient(members, order)))
        except InputError:  # too few rows that all of them have, or none that differ
            return -np.inf

    def _rounding(self, members: list[int], observed: float) -> float:
        """What rounding may change the observed strength by."""
        return self._measure.rounding(*self._sides(members, None), observed) if np.isfinite(observed) else 0.0

    def _coefficient(self, members: list[int], order: Index | None) -> float:
        return self._measure.combine(*self._sides(members, order))

    def _sides(self, members: list[int], order: Index | None) -> tuple[Any, Any]:
        """The members as one vector, the last one with its rows in another order, and the target, on rows all have."""
        parts = [self._parts[j] for j in members]
        masks = [self._observed[j] for j in members]
        if order is not None:
            parts[-1] = parts[-1][order]
            masks[-1] = None if masks[-1] is None else masks[-1][order]
        values = np.concatenate(parts, axis=1)
        gaps = [mask for mask in masks if mask is not None]
        if gaps:
            rows = np.logical_and.reduce(gaps)
            values, target = values[rows], self._values[rows]
            if len(values) < 3 or not np.ptp(target, axis=0).any():
                raise InputError("too few rows have all columns: leave out those with most missing cells")
            side = self._measure.prepare(target)
        else:
            side = self._target
        if not np.ptp(values, axis=0).any():
            raise InputError("the columns are constant on the rows that all of them have: leave them out")
        return self._measure.prepare(values[:, 0] if values.shape[1] == 1 else values), side


def _spread(measure: Measure[Any], column: Column) -> Array:
    """The numbers of a column (rows, coordinates), 0 where it is missing."""
    observed = measure.numbers_of(column.complete())
    observed = observed.reshape(len(observed), -1)
    return observed if column.missing is None else with_gaps(observed, column.missing)
