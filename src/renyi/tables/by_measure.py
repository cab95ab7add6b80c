"""Every pair of columns by a measure other than the RDC, on the rows that both columns have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable
from renyi.allpairs.compare import FoundPairs
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import N_RESAMPLES, Measure, Side
from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.progress import watched
from renyi.compute.threads import stream
from renyi.data.align import as_pair, common_rows
from renyi.data.column import Column
from renyi.errors import InputError

Reasons: TypeAlias = NDArray[np.object_]

_PAIRS_AT_ONCE = 64
_NO_REASON = np.array("", dtype=object)
# A single finding at 5 % has a p-value of at most 0.05 over the number of tests: so many permutations for each show
# half of that. All pairs together may take a hundred seconds, but for the permutations that every pair has.
_PERMUTATIONS_PER_TEST = 40
_MOST_NANOSECONDS = 10**11
_MOST_PERMUTATIONS = 10**6 - 1
# What a column has with itself is 1 for most measures, but for rounding.
_ROUNDING = 1e-12


class _Tested(NamedTuple):
    """Logarithms of p-values, NaN where there are none; which come from permutations, and how many of these at most."""

    log_pvalues: Array
    is_permuted: Mask
    n_resamples: int

    def take(self, which: NDArray[Any], /) -> "_Tested":
        """Those of some pairs."""
        return _Tested(self.log_pvalues[which], self.is_permuted[which], self.n_resamples)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEdges(Edges):
    """Pairs by another measure: nothing is known of its bias, and pairs are ranked by the size of the coefficient.

    `itself` is what every column of a square table has with itself, and `reasons` say for each pair why it has no
    coefficient; they are empty where it has one. `whole` has all coefficients as a matrix, where they came as one.
    """

    by: Measure[Any]
    test: Callable[[], _Tested]
    itself: Array
    reasons: Reasons
    whole: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Tests that are still to be made would take all prepared columns with them.
        tested = partial(_Tested, *self._tested)
        return self.__dict__ | {"test": tested, "whole": None}

    def spread(self, name: str, /) -> Array | None:
        """All coefficients as they came, and on the diagonal what columns have with themselves."""
        if name != "coefficient" or self.whole is None:
            return None
        spread = self.whole.copy()
        if self.y is self.x:
            np.fill_diagonal(spread, self.own)
        return spread

    @property
    def measure(self) -> str:
        """What the coefficient is called."""
        return str(self.by)

    @property
    def largest(self) -> float:
        """The largest value that the measure can have, NaN where there is no upper end."""
        return 1.0 if self.by.statement.range[1] == 1.0 else np.nan

    @property
    def own(self) -> Array:
        """What every column of a square table has with itself, NaN where that is not defined."""
        return self.itself

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation of the same pairs on the same rows, NaN where one of the two has no order."""
        return _beside(Pearson(), self)

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation of the same pairs on the same rows, NaN where one of the two has no order."""
        return _beside(Spearman(), self)

    @property
    def has_null(self) -> bool:
        """Whether p-values come with the measure."""
        return self.by.has_null

    @property
    def smallest_permuted(self) -> float:
        """The smallest p-value that permutations can show."""
        return 1.0 / (1 + self._tested.n_resamples)

    @cached_property
    def _tested(self) -> _Tested:
        return self.test()

    @property
    def log_pvalues(self) -> Array:
        """Logarithms of the p-values."""
        return self._tested.log_pvalues

    @property
    def is_permuted(self) -> Mask:
        """Which p-values come from permutations."""
        return self._tested.is_permuted

    @cached_property
    def debiased(self) -> Array:
        """Nothing that is known."""
        return np.full(len(self), np.nan)

    @property
    def strength(self) -> Array:
        """Size of the coefficient."""
        return np.asarray(self.by.strength(self.found.coefficient))

    @property
    def lower(self) -> Array:
        """The same: how far it may be off is not known."""
        return self.strength

    def look_at(self, which: Index, /) -> None:
        """Nothing is found out by that."""

    def remark(self, edge: int, /) -> str:
        """Nothing that is known."""
        return ""

    @property
    def trend(self) -> Array:
        """The coefficient where it has a sign."""
        has_sign = self.by.statement.has_sign
        return self.found.coefficient if has_sign else np.full(len(self), np.nan)

    @cached_property
    def is_nonlinear(self) -> Mask:
        """Not told: what is linear in one measure is not comparable with another."""
        return np.zeros(len(self), dtype=bool)

    def _closeness(self, which: NDArray[Any]) -> Array:
        """Not known: nothing is left out before levels are compared."""
        return np.ones(len(which))

    def reason(self, edge: int, /) -> str:
        """Why a pair has no coefficient: what the measure said of it."""
        return self.reasons[edge] or super().reason(edge)

    def take(self, which: NDArray[Any], /) -> "MeasuredEdges":
        """Some of the pairs, in the order given."""
        return MeasuredEdges(
            self.x,
            self.y,
            FoundPairs.of(self.found, which),
            by=self.by,
            test=lambda: self._tested.take(which),
            itself=self.itself,
            reasons=self.reasons[which],
        )

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
            test, reasons = partial(pairs.tested, found, progress), np.broadcast_to(_NO_REASON, i.shape)
            itself = _whole(np.diag(values)) if y is None else np.empty(0)
            return MeasuredEdges(x, others, found, by=measure, test=test, itself=itself, reasons=reasons, whole=values)
    itself = np.empty(0) if y is not None else _with_themselves(measure, x, prepared, progress)
    n, coefficient, log_pvalues, reasons = pairs.measured(progress)
    found = _found(i, j, n, coefficient)
    tested = pairs.permuted(found, log_pvalues, progress)
    return MeasuredEdges(x, others, found, by=measure, test=lambda: tested, itself=itself, reasons=reasons)


def _found(i: Index, j: Index, n: Index, coefficient: Array) -> FoundPairs:
    unknown = np.full(len(i), np.nan)
    return FoundPairs(
        i=i,
        j=j,
        n=n,
        dimensions=np.zeros((len(i), 2), dtype=np.int32),
        coefficient=coefficient,
        log_pvalue=unknown,
        pearson=unknown,
        spearman=unknown,
        is_permuted=np.zeros(len(i), dtype=bool),
    )


def _prepared(measure: Measure[Any], variables: Sequence[Variable], progress: bool) -> list[Any]:
    """Complete columns as the measure wants them; those with gaps are prepared for every pair anew."""

    def prepare(variable: Variable) -> Side[Any] | None:
        return None if variable.column.missing is not None else measure.side(variable.column)

    at_once = 1 + measure.cells_at_once // len(variables[0].column)
    made = stream(prepare, variables, at_once=at_once)
    return list(watched(made, len(variables), "Preparing columns", shown=progress))


def _with_themselves(
    measure: Measure[Any], variables: Sequence[Variable], prepared: list[Any], progress: bool
) -> Array:
    """The coefficient of every column with itself, on its own rows."""

    def own(place: int) -> float:
        try:
            side = prepared[place] or measure.side(variables[place].column.complete())
            return measure.combine(side.prepared, side.prepared)
        except InputError:  # as where a category has a level for every row
            return np.nan

    places = range(len(variables))
    values = watched(stream(own, places), len(places), "Comparing columns with themselves", shown=progress)
    return _whole(np.array(list(values)))


def _whole(values: Array) -> Array:
    """Values, of which those that are 1 but for rounding are 1."""
    return np.where(np.abs(values - 1.0) <= _ROUNDING, 1.0, values)


def _beside(measure: Pearson, edges: Edges) -> Array:
    """A correlation of the same pairs on the same rows, NaN where it is not defined; columns are prepared once."""
    prepared: dict[Variable, Any] = {}

    def side(variable: Variable) -> Any:
        if variable not in prepared:
            prepared[variable] = measure.prepare(measure.numbers_of(variable.column))
        return prepared[variable]

    def one(x: Variable, y: Variable) -> float:
        pair = x.column, y.column
        if common_rows(*pair) is not None or any(map(measure.refusal, pair)):
            return correlation_of(measure, *pair)
        return measure.combine(side(x), side(y))

    found, columns = edges.found, [variable.column for variable in (*edges.x, *edges.y)]
    if all(column.missing is None and not measure.refusal(column) for column in columns):
        x, y = (list(map(side, variables)) for variables in (edges.x, edges.y))
        return np.asarray(measure.every_pair(x, y)[found.i, found.j])
    pairs = zip(found.i.tolist(), found.j.tolist(), strict=True)
    return np.array([one(edges.x[a], edges.y[b]) for a, b in pairs], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of columns, by their positions, each on the rows that both have."""

    measure: Measure[Any]
    variables: tuple[Sequence[Variable], Sequence[Variable]]
    prepared: tuple[list[Any], list[Any]]
    index: tuple[Index, Index]

    def measured(self, progress: bool) -> tuple[Index, Array, Array, Reasons]:
        """Rows, coefficient, and logarithm of the p-value by theory, NaN where there is no answer; and why not."""
        reasons = np.full(len(self.index[0]), "", dtype=object)

        def one(pair: int) -> tuple[float, float, float]:
            columns = self._columns(pair)
            rows = common_rows(*columns)
            n = len(columns[0]) if rows is None else int(np.count_nonzero(rows))
            try:
                x, y = self._sides(pair)
                value = self.measure.combine(x.prepared, y.prepared)
            except InputError as error:  # too few rows, or none that differ, or what else the measure needs
                # What to do about it is told for a pair, not for a table.
                reasons[pair] = str(error).rpartition(": ")[0] or str(error)
                return n, np.nan, np.nan
            return n, value, self._by_theory(x, y, value)

        n, coefficient, log_pvalues = self._each(one, np.arange(len(self.index[0])), "Comparing pairs", progress).T
        return n.astype(np.intp), coefficient, log_pvalues, reasons

    def tested(self, found: FoundPairs, progress: bool) -> _Tested:
        """P-values where the coefficients are known already."""

        def one(pair: int) -> tuple[float]:
            return (self._by_theory(*self._sides(pair), float(found.coefficient[pair])),)

        log_pvalues = self.measure.null_tails(*self.prepared, self.index, found.coefficient)
        if log_pvalues is None:
            log_pvalues = np.full(len(found.n), np.nan)
        left = np.flatnonzero(np.isnan(log_pvalues))
        log_pvalues[left] = self._each(one, left, "Testing pairs", progress)[:, 0]
        return self.permuted(found, log_pvalues, progress)

    def permuted(self, found: FoundPairs, log_pvalues: Array, progress: bool) -> _Tested:
        """P-values by permutation where theory has none; none of a measure without any, which takes too long."""
        is_known = np.isfinite(found.coefficient)
        is_permuted = is_known & np.isnan(log_pvalues) & self.measure.has_null
        left = np.flatnonzero(is_permuted)
        # What the columns hold decides how many are permuted, not how they are paired: p-values stay valid.
        nanoseconds = self.measure.nanoseconds_per_row * int(found.n[left].sum())
        n_resamples = _n_resamples(int(np.count_nonzero(is_known)), nanoseconds)

        def one(pair: int) -> tuple[float]:
            value = float(found.coefficient[pair])
            permuted = self.measure.by_permutation(*self._sides(pair), value, n_resamples=n_resamples)
            return (float(np.log(permuted.pvalue)),)

        log_pvalues = log_pvalues.copy()
        log_pvalues[left] = self._each(one, left, "Permuting pairs", progress)[:, 0]
        return _Tested(log_pvalues, is_permuted, n_resamples)

    def _by_theory(self, x: Side[Any], y: Side[Any], value: float) -> float:
        tail = self.measure.by_theory(x, y, value)
        return np.nan if tail is None else tail.log_pvalue

    def _each(self, work: Callable[[int], tuple[float, ...]], pairs: Index, what: str, progress: bool) -> Array:
        """The numbers (pairs, …) that each of some pairs gives, many pairs at a time."""
        results = stream(work, pairs.tolist(), at_once=_PAIRS_AT_ONCE)
        rows = np.array(list(watched(results, len(pairs), what, shown=progress)))
        return rows if len(pairs) else np.empty((0, 3))

    def _columns(self, pair: int) -> tuple[Column, Column]:
        a, b = (int(index[pair]) for index in self.index)
        return self.variables[0][a].column, self.variables[1][b].column

    def _sides(self, pair: int) -> tuple[Side[Any], Side[Any]]:
        """Both sides on the rows that both have."""
        a, b = (int(index[pair]) for index in self.index)
        x, y = self._columns(pair)
        if common_rows(x, y) is None:
            return self.prepared[0][a], self.prepared[1][b]
        left, right = as_pair(x, y, missing="listwise")
        return self.measure.side(left), self.measure.side(right)


def _n_resamples(n_tests: int, nanoseconds: int) -> int:
    """Permutations of a pair at most, by the tests that are made and what one permutation of every pair takes."""
    affordable = _MOST_NANOSECONDS // max(nanoseconds, 1)
    return max(N_RESAMPLES, min(_PERMUTATIONS_PER_TEST * n_tests, affordable, _MOST_PERMUTATIONS))
