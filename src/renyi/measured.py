"""Every pair of columns by a measure other than the RDC, on the rows that both columns have."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from renyi.peers.correlations import Pearson, Spearman
from renyi.peers.protocol import SHUFFLES, Measure
from renyi.tiles import Found

__all__ = ["MeasuredEdges", "measured"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Variables: TypeAlias = tuple[Sequence[Variable], Sequence[Variable]]
Sides: TypeAlias = tuple[list[Any], list[Any]]

_PAIRS_AT_ONCE = 64
_N_RESAMPLES = 999
# What a column has with itself is 1 for most measures, but for rounding.
_ROUNDING = 1e-12


# Rows, coefficient, log p and whether it was shuffled, of a pair; and why it has none.
_Outcome: TypeAlias = tuple[float, float, float, float, str]


class _Tested(NamedTuple):
    """Logarithms of p-values, NaN where there are none, and which come from shuffles."""

    log_pvalues: Array
    is_shuffled: Mask


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEdges(Edges):
    """Pairs by another measure: nothing is known of its bias, and pairs are ranked by the size of the coefficient.

    `itself` is what every column of a square table has with itself, and `reasons` say for each pair why it has no
    coefficient; they are empty where it has one.
    """

    by: Measure[Any]
    test: Callable[[], _Tested]
    itself: Array
    reasons: NDArray[np.object_]

    def __getstate__(self) -> dict[str, Any]:
        # Tests that are still to be made would take all prepared columns with them, as would those of trends.
        state = {name: value for name, value in self.__dict__.items() if name != "_trends"}
        return state | {"test": partial(_Tested, *self._tested)}

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
        return _Beside(Pearson(), self.x, self.y).of(self.found)

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation of the same pairs on the same rows, NaN where one of the two has no order."""
        return self._trends.of(self.found)

    @cached_property
    def _trends(self) -> "_Beside":
        return _Beside(Spearman(), self.x, self.y)

    @property
    def has_law(self) -> bool:
        """Whether p-values come with the measure."""
        return self.by.statement.law != SHUFFLES

    @property
    def smallest_shuffled(self) -> float:
        """The smallest p-value that shuffles can show."""
        return 1.0 / (1 + _N_RESAMPLES)

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
        """Whether two columns are nearly the same: numbers of a strength above 0.99 that also rise or fall together.

        A measure of non-linear dependence is 1 for a parabola, and yet x says more than its square.
        """
        x, y = self.x[self.found.i[edge]], self.y[self.found.j[edge]]
        if self.largest != 1.0 or not self.strength[edge] > ALIAS or {x.column.kind, y.column.kind} != {"number"}:
            return False
        return abs(self._trends.one(int(self.found.i[edge]), int(self.found.j[edge]))) > ALIAS

    def reason(self, edge: int, /) -> str:
        """Why a pair has no coefficient: what the measure said of it."""
        return self.reasons[edge] or super().reason(edge)

    def take(self, which: NDArray[Any], /) -> "MeasuredEdges":
        """Some of the pairs, in the order given."""
        return MeasuredEdges(
            self.x,
            self.y,
            self._found_at(which),
            by=self.by,
            test=lambda: _Tested(*(t[which] for t in self._tested)),
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
    if all(column.missing is None for variables in (x, others) for column in (v.column for v in variables)):
        values = measure.every_pair(*sides)
        if values is not None:
            n = np.full(len(i), len(x[0].column))
            found = _found(i, j, n, values[i, j])
            test = partial(_by_law, measure, sides, found)
            itself = _whole(np.diag(values)) if y is None else np.empty(0)
            return MeasuredEdges(x, others, found, by=measure, test=test, itself=itself, reasons=_no_reasons(len(i)))
    itself = np.empty(0) if y is not None else _with_themselves(measure, x, prepared, progress)
    pairs = _one_by_one(measure, (x, others), sides, list(zip(i.tolist(), j.tolist(), strict=True)))
    outcomes = list(watched(pairs, len(i), "Comparing pairs", shown=progress))
    rows = np.array([numbers for *numbers, _ in outcomes]).reshape(-1, 4)
    n, coefficient, log_pvalue, is_shuffled = rows.T
    tested, found = _Tested(log_pvalue, is_shuffled > 0), _found(i, j, n.astype(np.intp), coefficient)
    reasons = _no_reasons(len(i))
    reasons[:] = [reason for *_, reason in outcomes]
    return MeasuredEdges(x, others, found, by=measure, test=lambda: tested, itself=itself, reasons=reasons)


def _no_reasons(n_pairs: int) -> NDArray[np.object_]:
    return np.full(n_pairs, "", dtype=object)


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

    def prepare(variable: Variable) -> Any:
        column = variable.column
        return None if column.missing is not None else measure.prepare(measure.numbers_of(column))

    return list(watched(stream(prepare, variables), len(variables), "Preparing columns", shown=progress))


def _with_themselves(
    measure: Measure[Any], variables: Sequence[Variable], prepared: list[Any], progress: bool
) -> Array:
    """The coefficient of every column with itself, on its own rows."""

    def own(place: int) -> float:
        keep_going()
        try:
            side = prepared[place]
            if side is None:
                side = measure.prepare(measure.numbers_of(variables[place].column.complete()))
            return measure.combine(side, side)
        except InputError:  # as where a category has a level for every row
            return np.nan

    places = range(len(variables))
    values = watched(stream(own, places), len(places), "Comparing columns with themselves", shown=progress)
    return _whole(np.array(list(values)))


def _whole(values: Array) -> Array:
    """Values, of which those that are 1 but for rounding are 1."""
    return np.where(np.abs(values - 1.0) <= _ROUNDING, 1.0, values)


class _Beside:
    """A correlation of the same pairs on the same rows, NaN where it is not defined; columns are prepared once."""

    def __init__(self, measure: Measure[Any], x: Sequence[Variable], y: Sequence[Variable]) -> None:
        self._measure = measure
        self._variables = x, y
        self._sides: tuple[dict[int, Any], dict[int, Any]] = ({}, {})
        if y is x:
            self._sides = self._sides[0], self._sides[0]

    def of(self, found: Found) -> Array:
        """The correlations of all pairs that were found."""
        pairs = zip(found.i.tolist(), found.j.tolist(), strict=True)
        return np.array([self.one(a, b) for a, b in pairs], dtype=np.float64)

    def one(self, a: int, b: int) -> float:
        """The correlation of two columns by their positions."""
        x, y = self._variables[0][a].column, self._variables[1][b].column
        if self._measure.refusal(x) or self._measure.refusal(y):
            return np.nan
        try:
            if common_rows(x, y) is None:
                return self._measure.combine(self._side(0, a), self._side(1, b))
            return self._measure.combine(*_on_common_rows(self._measure, x, y))
        except InputError:
            return np.nan

    def _side(self, which: int, place: int) -> Any:
        known = self._sides[which]
        if place not in known:
            known[place] = self._measure.prepare(self._measure.numbers_of(self._variables[which][place].column))
        return known[place]


def _by_law(measure: Measure[Any], sides: Sides, found: Found) -> _Tested:
    """Tests of pairs whose coefficients are known: all by their law at once, and what is left one by one."""
    log_pvalues = measure.every_law(*sides, (found.i, found.j), found.coefficient)
    if log_pvalues is None:
        log_pvalues = np.full(len(found.n), np.nan)
    left = np.flatnonzero(np.isnan(log_pvalues) & ~np.isnan(found.coefficient))
    is_shuffled = np.zeros(len(found.n), dtype=bool)

    def test(pairs: Index) -> list[tuple[float, float]]:
        outcomes = []
        for k in pairs.tolist():
            keep_going()
            pair = sides[0][found.i[k]], sides[1][found.j[k]]
            outcomes.append(_test(measure, *pair, float(found.coefficient[k]), int(found.n[k])))
        return outcomes

    chunks = [left[k : k + _PAIRS_AT_ONCE] for k in range(0, len(left), _PAIRS_AT_ONCE)]
    for pairs, outcomes in zip(chunks, stream(test, chunks), strict=True):
        log_pvalues[pairs], is_shuffled[pairs] = np.array(outcomes).T
    return _Tested(log_pvalues, is_shuffled)


def _one_by_one(
    measure: Measure[Any], variables: Variables, sides: Sides, pairs: list[tuple[int, int]]
) -> Iterator[_Outcome]:
    """Every pair in turn."""

    def compare(some: list[tuple[int, int]]) -> list[_Outcome]:
        return [one(a, b) for a, b in some]

    def one(a: int, b: int) -> _Outcome:
        keep_going()
        x, y = variables[0][a].column, variables[1][b].column
        rows = common_rows(x, y)
        n = len(x) if rows is None else int(np.count_nonzero(rows))
        try:
            x_side, y_side = (sides[0][a], sides[1][b]) if rows is None else _on_common_rows(measure, x, y)
            value = measure.combine(x_side, y_side)
        except InputError as error:  # too few rows, or none that differ, or what else the measure needs
            # What to do about it is told for a pair, not for a table.
            return n, np.nan, np.nan, 0.0, str(error).rpartition(": ")[0] or str(error)
        return n, value, *_test(measure, x_side, y_side, value, n), ""

    chunks = [pairs[k : k + _PAIRS_AT_ONCE] for k in range(0, len(pairs), _PAIRS_AT_ONCE)]
    for found in stream(compare, chunks):
        yield from found


def _on_common_rows(measure: Measure[Any], x: Column, y: Column) -> tuple[Any, Any]:
    """Both sides on the rows that both have."""
    x_side, y_side = (measure.prepare(measure.numbers_of(part)) for part in as_pair(x, y, missing="listwise"))
    return x_side, y_side


def _test(measure: Measure[Any], x: Any, y: Any, value: float, n: int) -> tuple[float, float]:
    """Logarithm of the p-value and whether it was shuffled; NaN for a measure that has no law, which takes too long."""
    law = measure.law(x, y, value)
    if law is not None:
        return law.log_pvalue, 0.0
    if measure.statement.law == SHUFFLES:
        return np.nan, 0.0
    return float(np.log(measure.by_shuffles(x, y, value, n=n, n_resamples=_N_RESAMPLES).pvalue)), 1.0
