"""A table in memory: its columns to what was found on their pairs, in threads, a tile at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from renyi.allpairs.column_group import ColumnGroup, Variable, ready
from renyi.allpairs.compare import PERMUTATIONS, FoundPairs, InMemory, compare
from renyi.allpairs.edges import Edges
from renyi.allpairs.few_rows import FewRows
from renyi.allpairs.masked_moments import distinct_masks
from renyi.allpairs.tiles import groups, shared_tiles
from renyi.coefficients.rdc import Rdc
from renyi.compute.arrays import Index
from renyi.compute.progress import watched
from renyi.compute.sorting import orders
from renyi.compute.threads import in_turn, stream
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.seasons import NOTHING
from renyi.data.table import Table, as_table, names_of, observed
from renyi.data.time import Timeline
from renyi.errors import InputError, cut
from renyi.inference.debias import plain_rows
from renyi.pair import conditional_series
from renyi.pair.bases import check_basis
from renyi.pair.conditional import conditional_test
from renyi.pair.prepare import DEFAULT_SETTINGS, prepare
from renyi.pair.result import TestResult
from renyi.pair.series import restless
from renyi.tables.arguments import (
    Question,
    column_named,
    comparable,
    listed,
    names_in,
    side_by_side,
    split,
    with_target,
)
from renyi.tables.by_measure import measured
from renyi.tables.dependent_rows import RowsTogether, note_on_order, rows_together

# Short columns are prepared one after the other, since threads would wait for the interpreter, and for one another, all
# but for the sorting; those with gaps take longer, as they have functions of their own.
_SHORT_COLUMN, _SHORT_WITH_GAPS, _ROWS_AT_ONCE = 2**14, 2**11, 2**17
# 300 columns of 10,000 rows with gaps take 0.77 s in 4 threads and 0.92 in 16.
_SHORT_ABREAST = 6
# Tiles that are worked on at the same time, with the help of all other threads.
_TILES_ABREAST = 4


class TableInMemory:
    """How a table in memory is compared."""

    def __init__(self, asked: Question, /) -> None:
        self._asked = asked

    def matrix(self, table: Any, other: Any, /) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two, or of some columns with all the others."""
        names = names_in(other)
        if other is None:
            (rows,), together = self._read(table)
            rows = comparable(rows, self._asked.by, at_least=2)
            return rows, None, self._every_pair(rows, None, together)
        if names is not None:
            (whole,), together = self._read(table)
            parts: Sequence[Table] = split(whole, names)
        else:
            parts, together = self._read(table, other)
        rows, columns = (comparable(part, self._asked.by, at_least=1) for part in parts)
        return rows, columns, self._every_pair(rows, columns.columns, together)

    def tiles(self, table: Any, /, *, at_most: float) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time; of those with a p-value above `at_most` nothing else may be known."""
        (rows,), together = self._read(table)
        rows = comparable(rows, self._asked.by, at_least=2)
        if self._asked.by.features is None or together:
            return rows, iter([self._every_pair(rows, None, together)])
        variables = self._prepared(rows.columns)
        self._look_at_order(rows, variables)
        found = self._in_tiles(variables, None, at_most=at_most)
        return rows, (Edges(variables, variables, part) for part in found)

    def screen(self, table: Any, target: Any, given: Any, /) -> tuple[str, tuple[str, ...], Table, Edges]:
        """Every column against one: its name, what is held fixed, the other columns, and what was found."""
        asked = self._asked
        design, types, reasons = asked.design.columns_of(table, asked.types)
        held = listed(() if given is None else given, names_of(table))
        if held and design and design.time is None:
            raise InputError("given is for independent rows or series: leave it or groups out, or pass time, too")
        rows, goal = with_target(table, target, held, types, asked.vectors, max_levels=asked.max_levels)
        rows.skipped.update(reasons)
        (rows,), together = rows_together(design, [observed(rows, missing=asked.missing)])
        targets = [column_named(rows, goal, "target")]
        fixed = [column_named(rows, name, "given") for name in held]
        left_out = {goal, *held}
        candidates = replace(rows, columns=tuple(c for c in rows.columns if c.name not in left_out))
        candidates = comparable(candidates, asked.by, at_least=1)
        if asked.by.refusal(targets[0]):
            raise InputError(f"target {goal!r} is {asked.by.refusal(targets[0])}")
        if not fixed:
            return goal, (), candidates, self._every_pair(candidates, targets, together)
        if asked.by != Rdc():
            raise InputError("given is for the conditional test, which has a statistic of its own: leave measure out")
        x, y = (self._prepared(side) for side in (candidates.columns, targets))
        self._look_at_order(candidates, [*x, *y], together.line)
        edges, reasons = given_others(x, y, fixed, candidates.notes, together.line, progress=asked.progress)
        candidates = replace(candidates, skipped={**candidates.skipped, **reasons})
        return goal, tuple(held), candidates, edges

    def _read(self, table: Any, other: Any = None) -> tuple[list[Table], RowsTogether]:
        """One table, or two over the same rows, and how their rows depend on one another."""
        asked = self._asked
        design, types, reasons = asked.design.columns_of(table, asked.types)
        read = partial(as_table, max_levels=asked.max_levels)
        if other is None:
            tables: Sequence[Table] = [read(table, types=types, vectors=asked.vectors)]
        else:
            tables = side_by_side(table, other, types, asked.vectors, asked.missing, read=read)
        tables[0].skipped.update(reasons)
        return rows_together(design, [observed(part, missing=asked.missing) for part in tables])

    def _every_pair(self, rows: Table, others: Sequence[Column] | None, together: RowsTogether) -> Edges:
        """All pairs of the columns with one another, or with others."""
        if self._asked.by.features is not None:
            x = self._prepared(rows.columns)
            y = None if others is None else self._prepared(others)
            look = partial(self._look_at_order, rows, x if y is None else [*x, *y], together.line)
            edges = Edges.of(x, x if y is None else y, list(self._in_tiles(x, y, beside=look)))
            return together.edges(edges, progress=self._asked.progress)
        own = [Variable(column, prepare) for column in rows.columns]
        partners = None if others is None else [Variable(column, prepare) for column in others]
        self._look_at_order(rows, own if partners is None else [*own, *partners])
        return measured(self._asked.by, own, partners, progress=self._asked.progress)

    def _look_at_order(self, rows: Table, variables: Sequence[Variable], line: Timeline | None = None) -> None:
        """Say where columns resemble their own previous row, or have no level to return to if rows are in time."""
        if line is not None:
            prepared = [variable.prepared for variable in variables]
            for note in restless([variable.column for variable in variables], prepared, line):
                rows.notes.caution(note)
        elif self._asked.looks_at_order and (
            note := note_on_order(variables, are_prepared=self._asked.by.features is not None)
        ):
            rows.notes.caution(note)

    def _prepared(self, columns: Sequence[Column]) -> list[Variable]:
        """Columns, prepared for the RDC with its settings."""
        settings = self._asked.by.features or DEFAULT_SETTINGS

        def variable(column: Column, order: Index | None = None) -> Variable:
            found = prepare(column, settings=settings, order=order)
            check_basis(column, found.basis)
            return Variable(column, ready(found), settings=settings)

        # Columns without ties and with as many rows share their functions, of which few are kept: one after the other.
        order = sorted(
            range(len(columns)), key=lambda k: 0 if (gaps := columns[k].missing) is None else int(gaps.sum())
        )
        n_rows, has_gaps = len(columns[0]), any(column.missing is not None for column in columns)
        are_short = n_rows < (_SHORT_WITH_GAPS if has_gaps else _SHORT_COLUMN)
        at_once, shown = max(1, _ROWS_AT_ONCE // n_rows), self._asked.progress
        ordered = [columns[k] for k in order]
        made = (
            in_turn(variable, ordered, _orders(ordered, at_once))
            if are_short
            else stream(variable, ordered, at_once=at_once, abreast=_SHORT_ABREAST if n_rows < _SHORT_COLUMN else None)
        )
        found = dict(zip(order, watched(made, len(columns), "Preparing columns", shown=shown), strict=True))
        return [found[k] for k in range(len(columns))]

    def _in_tiles(
        self,
        x: Sequence[Variable],
        y: Sequence[Variable] | None,
        *,
        at_most: float = 1.0,
        beside: Callable[[], None] | None = None,
    ) -> Iterator[FoundPairs]:
        """All pairs, a tile at a time, or some of those with gaps on few rows; what is done `beside` begins first."""
        few = FewRows.of(x, x if y is None else y)
        own = groups(x, by_gaps=few is not None)
        others = None if y is None else groups(y, by_gaps=few is not None)
        missing = [variable.column.missing for variable in x]
        masks = None
        if y is None and few is None and any(gaps is not None for gaps in missing):
            masks = distinct_masks(missing, x[0].n_rows)
        tiles = shared_tiles([group.averaged(masks) for group in own], others)
        if few is not None:
            yield from self._on_few_rows(few, tiles)
            tiles = [tile for tile in tiles if not few.has(*tile)]
        work: list[Callable[[], FoundPairs | None]] = [
            partial(compare, *tile, InMemory(), PERMUTATIONS, at_most=at_most) for tile in tiles
        ]
        if beside is not None and len(work) > 1:
            work.insert(0, beside)
        elif beside is not None:
            beside()  # no threads are begun for it alone
        yield from self._watched(work, "Comparing pairs", abreast=_TILES_ABREAST)

    def _on_few_rows(self, few: FewRows, tiles: Sequence[tuple[ColumnGroup, ColumnGroup]]) -> Iterator[FoundPairs]:
        """Pairs of numbers with gaps, those without a null distribution last: alike ones are permuted together."""
        left = []
        for found in self._watched([partial(few.compare, *some) for some in few.batches(tiles)], "Comparing pairs"):
            is_waiting = few.waiting(found)
            left.append(FoundPairs.of(found, is_waiting))
            yield FoundPairs.of(found, ~is_waiting)
        if left:
            work = [partial(few.permute, some, PERMUTATIONS) for some in few.alike(FoundPairs.joined(left))]
            yield from self._watched(work, "Permuting pairs")

    def _watched(
        self, work: Sequence[Callable[[], FoundPairs | None]], title: str, *, abreast: int | None = None
    ) -> Iterator[FoundPairs]:
        found = watched(stream(_done, work, abreast=abreast), len(work), title, shown=self._asked.progress)
        return (part for part in found if part is not None)


def _orders(columns: Sequence[Column], at_once: int) -> Iterator[Index | None]:
    """What sorts each of the columns; those that are alike are sorted some at once, in threads that need no turns."""

    def is_plain(column: Column) -> bool:
        return column.is_number and column.missing is None and column.values.dtype.kind not in "Mm"

    def found(some: Sequence[Column]) -> Sequence[Index | None]:
        return list(orders([column.values for column in some])) if is_plain(some[0]) else [None] * len(some)

    alike = [list(some) for _, some in groupby(columns, lambda column: is_plain(column) and column.values.dtype)]
    work = [some[k : k + at_once] for some in alike for k in range(0, len(some), at_once)]
    for part in stream(found, work, at_once=len(work) if len(columns) * len(columns[0]) < _ROWS_AT_ONCE else 1):
        yield from part


def _done(work: Callable[[], FoundPairs | None]) -> FoundPairs | None:
    return work()


def given_others(
    x: Sequence[Variable],
    y: Sequence[Variable],
    fixed: Sequence[Column],
    notes: Notes,
    line: Timeline | None = None,
    /,
    *,
    progress: bool,
) -> tuple[Edges, dict[str, str]]:
    """Every column against the target, given those that are held fixed, and why some could not be tested."""

    def test(variable: Variable) -> TestResult | InputError:
        try:
            if line is not None:  # trend and season are out of the columns already
                return conditional_series.tested((variable.column, y[0].column), fixed, line, NOTHING)
            return conditional_test(variable.column, y[0].column, list(fixed), missing="listwise")
        except InputError as error:
            return error

    outcomes = list(zip(x, watched(stream(test, x), len(x), "Testing columns", shown=progress), strict=True))
    tested = {v: outcome for v, outcome in outcomes if isinstance(outcome, TestResult)}
    reasons = {v.column.name: str(outcome) for v, outcome in outcomes if v not in tested}
    if not tested:
        raise InputError(
            f"no column can be tested given {', '.join(c.name for c in fixed)}: {next(iter(reasons.values()))}"
        )
    for variable, result in tested.items():
        if result.left_out:
            rows = " and ".join(f"{row:,}" for row in result.left_out)
            which = f"{'row' if len(result.left_out) == 1 else 'rows'} {rows}"
            notes.say(f"{cut(variable.column.name)} was tested without {which}, which would decide alone")
    results = list(tested.values())
    unknown = np.full(len(results), np.nan)
    found = FoundPairs(
        i=np.arange(len(results)),
        j=np.zeros(len(results), dtype=np.intp),
        n=np.array([result.n_samples for result in results], dtype=np.intp),
        dimensions=np.array([result.dimensions for result in results], dtype=np.int32),
        coefficient=np.array([result.coefficient for result in results]),
        log_pvalue=np.array([result.log_pvalue for result in results]),
        pearson=unknown,
        spearman=unknown,
        is_permuted=np.zeros(len(results), dtype=bool),
    )
    known = np.array([result.debiased for result in results])
    # What z leaves of the columns has no cells to look at.
    return Edges(list(tested), y, found, known=known, rows=plain_rows(found.n)), reasons
