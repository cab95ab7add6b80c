"""Tables whose rows are not independent: p-values by shifts of series, or by permutations that respect groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable
from renyi.allpairs.compare import PERMUTATIONS, FoundPairs
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import Measure
from renyi.compute.arrays import Array, Index
from renyi.compute.progress import watched
from renyi.compute.threads import stream
from renyi.data.align import Missing, check_indexes, common_rows, group_codes
from renyi.data.seasons import NOTHING, Adjustment
from renyi.data.table import Table, check_known, checked_types, parts_of
from renyi.data.time import Timeline, timeline
from renyi.errors import InputError, check_choice, must_be
from renyi.inference.debias import lower_end, plain_rows, strengths
from renyi.inference.multiscale import block_roots
from renyi.inference.permutation import Exchange, Groups
from renyi.inference.serial import check_order
from renyi.inference.shifts import Shifts
from renyi.pair import series
from renyi.pair.independence import on_every_scale
from renyi.pair.prepare import together

Order = Literal["check"] | None

_PAIRS_AT_ONCE = 16
# Columns of x whose functions are multiplied with those of all columns of y at once.
_COLUMNS_AT_ONCE = 32


@dataclass(frozen=True)
class Design:
    """How rows depend on one another, as it was asked for; checked. `time` and `groups` may name columns."""

    time: Any = None
    groups: Any = None
    exchange: Exchange = "within"
    adjustment: Adjustment = NOTHING
    order: Order = "check"

    def __post_init__(self) -> None:
        check_choice(self.exchange, Exchange, "exchange")
        check_order(self.order)
        if self.time is False:
            raise must_be("time", "True for rows in order, the name of a column, or a stamp for each row", self.time)
        if self.adjustment and self.time is None:
            raise InputError("detrend and period are for series: pass time=True, or a stamp for each row, too")
        if self.exchange != "within":
            if self.time is not None:
                raise InputError(
                    "exchange='whole' is for groups without time: with time each group is a series of its own"
                )
            if self.groups is None:
                raise InputError(
                    f"exchange={self.exchange!r} says how groups change places, and there are none: pass groups"
                )

    def __bool__(self) -> bool:
        return self.time is not None or self.groups is not None

    def check(self, by: Measure[Any], missing: Missing, /) -> None:
        """Refuse what has no p-value for such rows."""
        if not self:
            return
        if by.features is None:
            raise InputError(
                f"measure={by.name!r} has p-values for independent rows alone: leave measure out, or time and groups"
            )
        if missing == "listwise":
            raise InputError(
                "missing='listwise' would drop rows out of series and groups: pass 'pairwise', which leaves cells out"
            )

    def refuse(self, where: str, remedy: str, /) -> None:
        """Refuse rows that are not all at hand in their order."""
        if self:
            raise InputError(f"time and groups need all rows in memory, and this table is {where}: {remedy}")

    def columns_of(self, table: Any, types: Any, /) -> "tuple[Design, Any, dict[str, str]]":
        """The same with the cells of columns that were named; what columns are, and why those are left out."""
        named = {role: name for role in ("time", "groups") if isinstance(name := getattr(self, role), str)}
        if not named:
            if self:
                check_indexes(table, *(part for part in (self.time, self.groups) if part is not True))
            return self, types, {}
        parts, _ = parts_of(table)
        for role, name in named.items():
            check_known(name, parts, "the table", role)
        why = {"time": "rows are in the order of it", "groups": "it says which rows belong together"}
        found = replace(self, **{role: parts[name] for role, name in named.items()})
        return (
            found,
            {**checked_types(types), **dict.fromkeys(named.values(), "skip")},
            {n: why[r] for r, n in named.items()},
        )


@dataclass(frozen=True, eq=False)
class RowsTogether:
    """Rows of a table as they depend on one another: series in time, or groups that are permuted."""

    line: Timeline | None = None
    groups: Groups | None = None

    def __bool__(self) -> bool:
        return self.line is not None or self.groups is not None

    def edges(self, edges: Edges, /, *, progress: bool) -> Edges:
        """Pairs with p-values for such rows."""
        if self.line is not None:
            return SeriesEdges.of_pairs(edges, self.line, progress=progress)
        return edges if self.groups is None else _permuted(edges, self.groups, progress=progress)


def rows_together(design: Design, tables: Sequence[Table], /) -> tuple[list[Table], RowsTogether]:
    """One table, or two over the same rows, without trend and season where that is asked for; and its rows."""
    n_rows = tables[0].n_rows
    if design.time is None:
        if design.groups is None:
            return list(tables), RowsTogether()
        groups = Groups(np.unique(group_codes(design.groups, n_rows), return_inverse=True)[1], design.exchange)
        if design.exchange == "whole" and any(c.missing is not None for table in tables for c in table.columns):
            raise InputError(
                "groups that change places as a whole must be complete, and rows are missing: leave out such groups"
            )
        how = "within groups" if design.exchange == "within" else "as whole groups"
        n_groups = len(np.unique(groups.codes))
        tables[0].notes.say(f"p-values come from permutations of rows {how}, {n_groups:,} in all")
        return list(tables), RowsTogether(groups=groups)
    line = timeline(design.time, design.groups, n_rows)
    what = "a series" if len(line.lengths) == 1 else f"{len(line.lengths):,} series"
    tables[0].notes.say(f"the rows are {what} in time: p-values come from shifts of one column against the other")
    made = [design.adjustment(table.columns, line) for table in tables]
    left = [
        replace(
            table,
            columns=own.columns,
            types={name: kind for name, kind in table.types.items() if name not in own.left_out},
            skipped={**table.skipped, **own.left_out},
            n_rows=own.line.n_rows,
        )
        for table, own in zip(tables, made, strict=True)
    ]
    for note in dict.fromkeys(note for own in made for note in own.notes):
        tables[0].notes.say(note)
    return left, RowsTogether(line=made[0].line)


class _OfPair(NamedTuple):
    """The logarithm of a p-value, and how many independent rows two series are worth."""

    log_pvalue: float
    n_effective: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesEdges(Edges):
    """Pairs of series, each with how many independent rows the two are worth."""

    line: Timeline
    n_effective: Array

    @classmethod
    def of_pairs(cls, edges: Edges, line: Timeline, /, *, progress: bool) -> "SeriesEdges":
        """The same pairs with p-values by shifts; Fourier coefficients of every column are found once."""
        own = {id(v): series.spectra(v.column, v.prepared, line) for v in (*edges.x, *edges.y)}
        found = edges.found

        def one(k: int) -> _OfPair:
            shifts = Shifts(own[id(edges.x[int(found.i[k])])], own[id(edges.y[int(found.j[k])])])
            return _OfPair(shifts.at(0)[0], min(shifts.n_effective, float(found.n[k])))

        known = np.flatnonzero(np.isfinite(found.coefficient))
        made = stream(one, known.tolist(), at_once=_PAIRS_AT_ONCE)
        results = list(watched(made, len(known), "Shifting pairs", shown=progress))
        log_pvalue, n_effective = np.full((2, len(edges)), np.nan)
        log_pvalue[known] = [result.log_pvalue for result in results]
        n_effective[known] = [result.n_effective for result in results]
        whole = replace(FoundPairs.of(found), log_pvalue=log_pvalue, is_permuted=np.zeros(len(edges), dtype=bool))
        return cls(edges.x, edges.y, whole, line=line, n_effective=n_effective)

    def take(self, which: NDArray[Any], /) -> "SeriesEdges":
        """Some of the pairs, in the order given."""
        return replace(
            self,
            found=FoundPairs.of(self.found, which),
            known=self.debiased[which],
            rows=None if self.rows is None else self.rows[which],
            n_effective=self.n_effective[which],
        )

    @cached_property
    def strength(self) -> Array:
        """How strong the dependence is: never below 0, and above it for whatever the test finds."""
        most = np.where(np.isnan(self.found.coefficient), 0.0, self.found.coefficient)
        return strengths(self.debiased, self.log_pvalues, self.found.n, most=most)

    @property
    def lower(self) -> Array:
        """What pairs are ranked by: the lower end of the strength, for the rows that the two are worth."""
        rows = np.minimum(np.abs(self.rows_carrying), plain_rows(self.found.n))
        return np.round(lower_end(self.strength, np.fmin(rows, self.n_effective)), 6)

    def _levels(self) -> Array:
        """The median of the squared coefficient over shifts of one side."""
        levels = np.full(len(self), np.nan)
        x, y = ({id(v): _functions(v, self.line) for v in side} for side in (self.x, self.y))
        known = np.isfinite(self.found.coefficient)
        for start in range(0, len(self.x), _COLUMNS_AT_ONCE):
            here = np.flatnonzero(known & (self.found.i >= start) & (self.found.i < start + _COLUMNS_AT_ONCE))
            if len(here):
                levels[here] = self._levels_of(here, x, y)
        return levels

    def _levels_of(self, which: Index, x: dict[int, Array], y: dict[int, Array]) -> Array:
        """Those of some pairs, whose products at one shift are one product of matrices."""
        rows_x, rows_y = np.unique(self.found.i[which]), np.unique(self.found.j[which])
        left, starts_x = _beside([x[id(self.x[i])] for i in rows_x.tolist()])
        right, starts_y = _beside([y[id(self.y[j])] for j in rows_y.tolist()])
        at_x, at_y = (
            np.searchsorted(own, index[which]) for own, index in ((rows_x, self.found.i), (rows_y, self.found.j))
        )
        shapes = np.stack((np.diff(starts_x)[at_x], np.diff(starts_y)[at_y]), axis=1)
        of_shifts = np.empty((len(series.SHIFTS), len(which)))
        for k, rows in enumerate(series.shifted_rows(self.line)):
            products = left.T @ right[rows]
            for shape in np.unique(shapes, axis=0):
                alike = np.flatnonzero((shapes == shape).all(axis=1))
                a, b = shape.tolist()
                cross = np.stack(
                    [
                        products[starts_x[p] : starts_x[p] + a, starts_y[q] : starts_y[q] + b] / n
                        for p, q, n in zip(at_x[alike], at_y[alike], self.found.n[which[alike]], strict=True)
                    ]
                )
                of_shifts[k, alike] = block_roots(cross, [(a, b)])[:, 0]
        return np.minimum(np.median(of_shifts, axis=0), 1.0)


def _functions(variable: Variable, line: Timeline) -> Array:
    """Functions of the coefficient in order of time."""
    return series.over_rows(variable.prepared.basis, variable.column.missing)[line.order]


def _beside(parts: Sequence[Array]) -> tuple[Array, Index]:
    """Functions of some columns side by side, and where each column begins."""
    starts = np.concatenate(([0], np.cumsum([part.shape[1] for part in parts])))
    return np.concatenate(parts, axis=1), starts


def _permuted(edges: Edges, groups: Groups, /, *, progress: bool) -> Edges:
    """Pairs with p-values by permutations that respect groups, each as it is by itself."""
    found = edges.found

    def one(k: int) -> float:
        x, y = edges.x[int(found.i[k])], edges.y[int(found.j[k])]
        rows = common_rows(x.column, y.column)
        codes = groups.codes if rows is None else groups.codes[rows]
        own = Groups(np.unique(codes, return_inverse=True)[1], groups.exchange)
        pair = together((x.column, y.column), (x.prepared, y.prepared))
        return on_every_scale(*pair, replace(PERMUTATIONS, groups=own)).log_pvalue

    known = np.flatnonzero(np.isfinite(found.coefficient))
    made = stream(one, known.tolist(), at_once=_PAIRS_AT_ONCE)
    log_pvalue = np.full(len(edges), np.nan)
    log_pvalue[known] = list(watched(made, len(known), "Permuting pairs", shown=progress))
    whole = replace(FoundPairs.of(found), log_pvalue=log_pvalue, is_permuted=np.isfinite(log_pvalue))
    return Edges(edges.x, edges.y, whole)


def note_on_order(variables: Sequence[Variable], /, *, are_prepared: bool) -> str:
    """What is said where columns resemble their own previous row beyond chance; empty where they do not."""
    distinct = list({id(variable): variable for variable in variables}.values())
    return series.note_on_order(
        [variable.column for variable in distinct],
        [variable.prepared.scales if are_prepared else None for variable in distinct],
    )
