"""Every pair of columns by a measure other than the RDC, on the rows that both columns have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.alignment import as_pair, common_rows
from renyi.alike import Variable
from renyi.columns import Column
from renyi.edges import ALIAS, Edges
from renyi.errors import InputError
from renyi.execution.progress import watched
from renyi.execution.threads import keep_going, stream
from renyi.peers.protocol import N_RESAMPLES, Measure, Side
from renyi.tiles import Found

__all__ = ["MeasuredEdges", "measured"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

_PAIRS_AT_ONCE = 64
# A single finding at 5 % has a p-value of at most 0.05 over the number of tests: so many shuffles for each show half of
# that. All pairs together may take a hundred seconds, but for the shuffles that every pair has.
_SHUFFLES_PER_TEST = 40
_MOST_NANOSECONDS = 10**11
_MOST_SHUFFLES = 10**6 - 1


class _Tested(NamedTuple):
    """Logarithms of p-values, NaN where there are none; which come from shuffles, and how many of these at most."""

    log_pvalues: Array
    is_shuffled: Mask
    n_resamples: int

    def take(self, which: NDArray[Any], /) -> "_Tested":
        """Those of some pairs."""
        return _Tested(self.log_pvalues[which], self.is_shuffled[which], self.n_resamples)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEdges(Edges):
    """Pairs by another measure: nothing is known of its bias, and pairs are ranked by the size of the coefficient."""

    by: Measure[Any]
    test: Callable[[], _Tested]

    @property
    def measure(self) -> str:
        """What the coefficient is called."""
        return str(self.by)

    @property
    def largest(self) -> float:
        """What a column has with itself, NaN where the measure has no upper end."""
        return 1.0 if self.by.statement.range[1] == 1.0 else np.nan

    @property
    def has_law(self) -> bool:
        """Whether p-values come with the measure."""
        return self.by.has_law

    @property
    def smallest_shuffled(self) -> float:
        """The smallest p-value that shuffles can show."""
        return 1.0 / (1 + self._tested.n_resamples)

    @cached_property
    def _tested(self) -> _Tested:
        return self.test()

    @property
    def log_pvalues(self) -> Array:
        """Logarithms of the p-values."""
        return self._tested.log_pvalues

    @property
    def is_shuffled(self) -> Mask:
        """Which p-values come from shuffles."""
        return self._tested.is_shuffled

    @cached_property
    def debiased(self) -> Array:
        """Nothing that is known."""
        return np.full(len(self), np.nan)

    @property
    def strength(self) -> Array:
        """Size of the coefficient."""
        return np.asarray(self.by.strength(self.found.coefficient))

    @property
    def trend(self) -> Array:
        """The coefficient where it has a sign."""
        has_sign = self.by.statement.has_sign
        return self.found.coefficient if has_sign else np.full(len(self), np.nan)

    @cached_property
    def is_nonlinear(self) -> Mask:
        """Not told: what is linear in one measure is not comparable with another."""
        return np.zeros(len(self), dtype=bool)

    def is_alias(self, edge: int, /) -> bool:
        """Whether two columns are nearly the same by this measure; categories and vectors are not told as one."""
        x, y = self.x[self.found.i[edge]], self.y[self.found.j[edge]]
        return bool(self.strength[edge] > ALIAS) and x.column.kind == y.column.kind == "number" and self.largest == 1.0

    def take(self, which: NDArray[Any], /) -> "MeasuredEdges":
        """Some of the pairs, in the order given."""
        return MeasuredEdges(self.x, self.y, self._found_at(which), by=self.by, test=lambda: self._tested.take(which))

    def columns(self, qvalues: Array, /) -> dict[str, Any]:
        """What a frame of the pairs has."""
        told = super().columns(qvalues)
        return {name: told[name] for name in ("x", "y", "coefficient", "p", "q", "n")}


def measured(
    measure: Measure[Any], x: Sequence[Variable], y: Sequence[Variable] | None, /, *, progress: bool
) -> MeasuredEdges:
    """All pairs of x with one another, or of x with y."""
    measure = measure.undirected()
    others = x if y is None else y
    every = np.triu_indices(len(x), 1) if y is None else np.indices((len(x), len(others))).reshape(2, -1)
    i, j = (np.asarray(index, dtype=np.intp) for index in every)
    prepared = _prepared(measure, x, progress)
    sides = prepared, prepared if y is None else _prepared(measure, y, progress)
    pairs = _Pairs(measure, (x, others), sides, (i, j))
    if all(column.missing is None for variables in (x, others) for column in (v.column for v in variables)):
        left = [side.prepared for side in prepared]
        values = measure.every_pair(left, left if y is None else [side.prepared for side in sides[1]])
        if values is not None:
            found = _found(i, j, np.full(len(i), len(x[0].column)), values[i, j])
            return MeasuredEdges(x, others, found, by=measure, test=lambda: pairs.tested(found, progress))
    n, coefficient, log_pvalues = pairs.measured(progress)
    found = _found(i, j, n, coefficient)
    tested = pairs.shuffled(found, log_pvalues, progress)
    return MeasuredEdges(x, others, found, by=measure, test=lambda: tested)


def _found(i: Index, j: Index, n: Index, coefficient: Array) -> Found:
    unknown = np.full(len(i), np.nan)
    return Found(
        i=i,
        j=j,
        n=n,
        ranks=np.zeros((len(i), 2), dtype=np.int32),
        coefficient=coefficient,
        log_pvalue=unknown,
        pearson=unknown,
        spearman=unknown,
        is_shuffled=np.zeros(len(i), dtype=bool),
    )


def _prepared(measure: Measure[Any], variables: Sequence[Variable], progress: bool) -> list[Any]:
    """Complete columns as the measure wants them; those with gaps are prepared for every pair anew."""

    def prepare(variable: Variable) -> Side[Any] | None:
        return None if variable.column.missing is not None else measure.side(variable.column)

    return list(watched(stream(prepare, variables), len(variables), "Preparing columns", shown=progress))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of columns, by their positions, each on the rows that both have."""

    measure: Measure[Any]
    variables: tuple[Sequence[Variable], Sequence[Variable]]
    prepared: tuple[list[Any], list[Any]]
    index: tuple[Index, Index]

    def measured(self, progress: bool) -> tuple[Index, Array, Array]:
        """Rows, coefficient, and logarithm of the p-value by theory; NaN where there is no answer."""

        def one(pair: int) -> tuple[float, float, float]:
            columns = self._columns(pair)
            rows = common_rows(*columns)
            n = len(columns[0]) if rows is None else int(np.count_nonzero(rows))
            try:
                x, y = self._sides(pair)
                value = self.measure.combine(x.prepared, y.prepared)
            except InputError:  # too few rows, or none that differ
                return n, np.nan, np.nan
            return n, value, self._by_theory(x, y, value)

        n, coefficient, log_pvalues = self._each(one, np.arange(len(self.index[0])), "Comparing pairs", progress).T
        return n.astype(np.intp), coefficient, log_pvalues

    def tested(self, found: Found, progress: bool) -> _Tested:
        """P-values where the coefficients are known already."""

        def one(pair: int) -> tuple[float]:
            return (self._by_theory(*self._sides(pair), float(found.coefficient[pair])),)

        every = np.arange(len(found.n))
        return self.shuffled(found, self._each(one, every, "Testing pairs", progress)[:, 0], progress)

    def shuffled(self, found: Found, log_pvalues: Array, progress: bool) -> _Tested:
        """P-values by shuffles where theory has none; of a measure without a law none, which would take too long."""
        is_known = np.isfinite(found.coefficient)
        is_shuffled = is_known & np.isnan(log_pvalues) & self.measure.has_law
        left = np.flatnonzero(is_shuffled)
        # What the columns hold decides how many are shuffled, not how they are paired: p-values stay valid.
        nanoseconds = self.measure.nanoseconds_per_row * int(found.n[left].sum())
        n_resamples = _n_resamples(int(np.count_nonzero(is_known)), nanoseconds)

        def one(pair: int) -> tuple[float]:
            value = float(found.coefficient[pair])
            shuffled = self.measure.by_shuffles(*self._sides(pair), value, n_resamples=n_resamples)
            return (float(np.log(shuffled.pvalue)),)

        log_pvalues = log_pvalues.copy()
        log_pvalues[left] = self._each(one, left, "Shuffling pairs", progress)[:, 0]
        return _Tested(log_pvalues, is_shuffled, n_resamples)

    def _by_theory(self, x: Side[Any], y: Side[Any], value: float) -> float:
        law = self.measure.by_theory(x, y, value)
        return np.nan if law is None else law.log_pvalue

    def _each(self, work: Callable[[int], tuple[float, ...]], pairs: Index, what: str, progress: bool) -> Array:
        """The numbers (pairs, …) that each of some pairs gives, many pairs at a time."""

        def some(chunk: list[int]) -> list[tuple[float, ...]]:
            found = []
            for pair in chunk:
                keep_going()
                found.append(work(pair))
            return found

        every = pairs.tolist()
        chunks = [every[k : k + _PAIRS_AT_ONCE] for k in range(0, len(every), _PAIRS_AT_ONCE)]
        results = (result for found in stream(some, chunks) for result in found)
        rows = np.array(list(watched(results, len(every), what, shown=progress)))
        return rows if len(every) else np.empty((0, 3))

    def _columns(self, pair: int) -> tuple[Column, Column]:
        a, b = (int(index[pair]) for index in self.index)
        return self.variables[0][a].column, self.variables[1][b].column

    def _sides(self, pair: int) -> tuple[Side[Any], Side[Any]]:
        """Both sides on the rows that both have."""
        a, b = (int(index[pair]) for index in self.index)
        x, y = self._columns(pair)
        rows = common_rows(x, y)
        if rows is None:
            return self.prepared[0][a], self.prepared[1][b]
        left, right = as_pair(x.take(rows).complete(), y.take(rows).complete(), missing="raise")
        return self.measure.side(left), self.measure.side(right)


def _n_resamples(n_tests: int, nanoseconds: int) -> int:
    """Shuffles of a pair at most, by the tests that are made and what one shuffle of every pair takes."""
    affordable = _MOST_NANOSECONDS // max(nanoseconds, 1)
    return max(N_RESAMPLES, min(_SHUFFLES_PER_TEST * n_tests, affordable, _MOST_SHUFFLES))
