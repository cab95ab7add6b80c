"""Rows that come in batches to dependence, by two passes over them: `Accumulator`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np

from renyi.allpairs.compare import PERMUTATIONS
from renyi.allpairs.edges import Edges
from renyi.allpairs.row_sample import SAMPLE, check_sample
from renyi.allpairs.streaming.column_stats import ColumnStats
from renyi.allpairs.streaming.plan import Plan
from renyi.allpairs.streaming.rank_sketch import Layout
from renyi.allpairs.streaming.vectors import VectorPlan, VectorStats
from renyi.basis.basis import grid_cells
from renyi.basis.random_features import FIXED_DRAW
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.coefficients.registry import measure as named
from renyi.compute.threads import ahead, available_cores, in_threads, stream
from renyi.data.align import Missing
from renyi.data.notes import Notes
from renyi.data.table import Table, too_few_rows
from renyi.data.types import MAX_LEVELS, check_max_levels
from renyi.errors import InputError, are_several, check_choice, count, must_be
from renyi.inference.false_discovery import Correction
from renyi.inference.serial import check_order
from renyi.tables.budget import DEFAULT_MEMORY, bytes_of, capacity, room_for_text
from renyi.tables.decided import Decided
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.roles import Asked, Roles
from renyi.tables.rows import Rows
from renyi.tables.screening import Screening

# Sums of all rows as they are and will be next, of a batch, and products that are still to be added to these.
_COPIES = 4
# Of several passes each has sums of this share of the memory, so that four threads have batches under way: 600 columns
# take two thirds of the time that they do with a quarter, where one thread works, though they are read four times.
_SHARES = 8


def measure_of(measure: Any, /) -> Measure[Any]:
    """The measure that is meant, if tables can have it."""
    by: Measure[Any] = measure if isinstance(measure, Measure) else named(measure)
    if isinstance(by, Rdc) and (by.repeats != 1 or by.debias):
        raise InputError(
            "tables have the coefficient of one draw, and .debiased beside it: leave repeats and debias out"
        )
    return by


# Other values than those of the first pass may be beyond all bounds; the counts tell of them in the end.
_unbounded = np.errstate(over="ignore", invalid="ignore")


@_unbounded
def _folded(plan: VectorPlan | Plan, rows: Rows) -> Any:
    """What a plan makes of a batch, a piece at a time."""
    return reduce(add, (plan.fold(piece.parts) for piece in rows.pieces(plan.rows_at_once)))


class Accumulator:
    """Dependence of all columns of a table whose rows are fed in batches, from any source.

    Two passes over the rows: the first counts values, from which types and grids are decided; the second adds up
    products on these grids. Where there are vectors one more pass between these finds their functions: what
    `second_pass` gives is updated and asked for its own `second_pass` until it `is_last`. None of them keeps rows, but
    for a small sample, and memory does not grow with them. Accumulators of different rows merge, in any order, and can
    be pickled, so that any engine can drive them.

    Parameters
    ----------
    order : {"check", None}, default "check"
        Whether to look if columns resemble their own previous rows, those of the same batch, which `notes` then say.
    target : str or list of str, optional
        A column that all others are compared with, several of numbers as one vector; by default all columns are
        compared with one another.
    others : list of str, optional
        Columns, or vectors, that all the other columns are compared with; the result is a matrix.
    measure, missing, types, vectors, max_levels, correction, sample
        As in `renyi.matrix`. The measure is the RDC, with a scale s that is a number; missing is "pairwise" or
        "raise".
    memory : str or int, default "1GB"
        What the counts and sums may take, in bytes or as text.

    Notes
    -----
    A column with no more distinct values than its summary has room for (131,072, less where the budget is small) has
    the same grid as in `renyi.matrix`, and its coefficients agree to 10⁻⁶. Of others the leading bits are counted:
    their ranks are off by at most `rank_errors`, and which bits those are depends on all values together. How the rows
    are cut into batches, the order of these, and the order of merging change nothing beyond the rounding of sums.

    Rows of a vector cannot be permuted, since none is kept: where a pair needs that, on few or very unequal rows, its
    p-value is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> batches = [{"x": part, "y": part**2} for part in np.array_split(x, 3)]
    >>> first = renyi.Accumulator()
    >>> for batch in batches:
    ...     first.update(batch)
    >>> second = first.second_pass()
    >>> for batch in batches:
    ...     second.update(batch)
    >>> second.result().values.round(2)[0, 1]
    np.float64(1.0)
    """

    def __init__(
        self,
        *,
        target: str | Sequence[str] | None = None,
        others: Sequence[str] | None = None,
        measure: str | Measure[Any] = "rdc",
        missing: Missing = "pairwise",
        types: Mapping[Any, Any] | None = None,
        vectors: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int = MAX_LEVELS,
        correction: Correction = "bh",
        memory: str | int = DEFAULT_MEMORY,
        sample: int = SAMPLE,
        order: Literal["check"] | None = "check",
    ) -> None:
        check_choice(correction, Correction, "correction")
        check_choice(missing, Missing, "missing")
        if missing == "listwise":
            raise InputError(
                "missing='listwise' needs whole rows before they are ranked, and these come in batches: drop rows with "
                "missing cells first, or pass 'pairwise'"
            )
        by = measure_of(measure)
        if by.features is None or not by.in_batches:
            raise InputError(f"measure={measure!s} is not taken over batches, only the RDC is: load the table for it")
        self._settings = by.features
        self._settings.scalar_projection(2, FIXED_DRAW)
        check_order(order)
        self._missing, self._correction, self._looks_at_order = missing, correction, order is not None
        self._asked = Asked.of(target, others, types, vectors)
        self._max_levels = check_max_levels(max_levels)
        self._memory, self._sample = bytes_of(memory), check_sample(sample)
        self._n_rows = 0
        # What is compared, once the first batch has shown its columns, and what the first pass counts of it.
        self._roles: Roles | None = None
        self._columns: dict[str, ColumnStats | VectorStats] = {}
        self._layouts: dict[str, Layout] = {}
        self._new_frame: Any = None
        self._notes = Notes()
        # What was decided after the first pass, and what the passes after it make of a batch.
        self._decided: Decided | None = None
        self._plan: VectorPlan | Plan | None = None
        self._folded: Any = None

    def __repr__(self) -> str:
        passed = "first pass" if self._plan is None else "second pass" if self.is_last else "pass for vectors"
        n_columns = 0 if self._roles is None else len(self._roles.keys)
        return f"<Accumulator, {passed}: {count(n_columns, 'column')}, {count(self.n_rows, 'row')}>"

    @property
    def is_last(self) -> bool:
        """Whether this pass has a result once it has seen all rows; if not, another one follows."""
        return isinstance(self._plan, Plan)

    @property
    def n_rows(self) -> int:
        """Rows that were seen in this pass."""
        if self._plan is None:
            return self._n_rows
        return 0 if self._folded is None else int(self._folded.n_rows)

    @property
    def rank_errors(self) -> dict[str, float]:
        """For every number, and coordinate of a vector, by how much its ranks may be off, 0 where they are exact."""
        if self._decided is not None:
            return {key: number.rank_error for key, number in self._decided.numbers()}
        return {key: stats.sketch.rank_error for key, stats in self._numbers() if stats.sketch is not None}

    def _numbers(self) -> Iterator[tuple[str, ColumnStats]]:
        """What is counted of every column of a batch, by its key."""
        if self._roles is not None:
            for column, stats in self._columns.items():
                yield from zip(self._roles.columns[column], stats.numbers, strict=True)

    def update(self, batch: Any, /, other: Any = None) -> None:
        """Take some more rows, in any form that `renyi.matrix` takes.

        Parameters
        ----------
        batch : frame, dict of columns, or array of shape (n, d)
            All batches have the same columns; one without rows says nothing.
        other : the same, optional
            The same rows of a second table, whose columns those of the first are compared with.
        """
        rows = Rows.of(batch) if other is None else Rows.of(batch).beside(Rows.of(other))
        self._notes.absorb(rows.notes)
        roles = self._checked(rows)
        if self._plan is not None and len(rows):
            self._add(_folded(self._plan, rows))
        for piece in rows.pieces() if self._plan is None else ():
            self._n_rows += len(piece)
            # Columns are independent of one another.
            in_threads(lambda key: self._columns[key].update(*roles.of(piece, key)), list(self._columns))  # noqa: B023

    def _checked(self, rows: Rows) -> Roles:
        """Who is who among the columns of a batch, which are those of the first one."""
        if self._roles is None:
            self._begin(self._asked.roles(rows), rows.new_frame)
        if self._roles is None:
            raise ValueError("a batch has columns")
        self._roles.check(rows.parts)
        return self._roles

    @_unbounded
    def _add(self, folded: Any) -> None:
        self._folded = folded if self._folded is None else self._folded + folded

    def folded(self, batches: Iterable[Any], /) -> Iterator[Any]:
        """Update with batches, in several threads after the first pass; they come back as they are done."""
        if not are_several(batches):
            raise must_be("batches", "several batches of rows", batches)
        plan = self._plan
        if plan is None:
            for batch in ahead(iter(batches)):
                self.update(batch)
                yield batch
            return

        def fold(batch: Any) -> tuple[Any, Any]:
            rows = Rows.of(batch)
            self._checked(rows)
            return batch, _folded(plan, rows) if len(rows) else None

        # Beside the total, and what it will be next, there are sums under way, with their products in half the bytes.
        room = (self._memory - 2 * plan.n_bytes) // (3 * plan.n_bytes // 2 + 1)
        for batch, folded in stream(fold, batches, most=max(1, min(room, 2 * available_cores() + 1))):
            if folded is not None:
                # In the order of the batches, so that sums are rounded alike in every run.
                self._add(folded)
            yield batch

    def _begin(self, roles: Roles, new_frame: Any) -> None:
        self._roles, self._new_frame = roles, new_frame
        parts, room = capacity(self._memory, len(roles.keys)), room_for_text(self._memory, len(roles.keys))

        def stats(key: str, name: str) -> ColumnStats:
            asked = self._asked.types.get(name), parts, self._layouts.get(key), self._max_levels, room
            return ColumnStats(name, *asked)

        for column, keys in roles.columns.items():
            if len(keys) == 1:
                self._columns[column] = stats(*keys, roles.names[column])
            else:
                coordinates = tuple(stats(key, roles.called(key)) for key in keys)
                self._columns[column] = VectorStats(roles.names[column], coordinates)

    def merge(self, other: "Accumulator", /) -> None:
        """Add what another accumulator of other rows of the same table has seen, in the same pass."""
        self._check_alike(other)
        if other is self:
            raise InputError("an accumulator cannot be merged with itself: its rows would count twice")
        if type(self._plan) is not type(other._plan):
            raise InputError("one accumulator is in its first pass and the other in its second: merge like with like")
        if other._roles is None:
            return
        if self._roles is None:
            self._begin(other._roles, other._new_frame)
        if self._roles is not None:
            self._roles.check(other._roles.keys)
        if self._new_frame is None:
            self._new_frame = other._new_frame
        if self._plan is not None and other._plan is not None:
            if self._plan.shape != other._plan.shape:
                raise InputError(
                    "the second passes are for other pairs, or were planned from other rows or with another budget: "
                    "merge copies of one that second_pass() or second_passes() gave"
                )
            if other._folded is not None:
                self._add(other._folded)
            return
        self._n_rows += other._n_rows
        self._notes.absorb(other._notes)
        for key, stats in self._columns.items():
            stats.merge(other._columns[key])  # type: ignore[arg-type]  # of the same kind

    def _check_alike(self, other: Any) -> None:
        """Refuse what is no accumulator, and one that was asked for something else."""
        if not isinstance(other, Accumulator):
            raise must_be("other", "an Accumulator", other)
        asked, of_other = ((one._asked, one._settings, one._missing, one._max_levels) for one in (self, other))
        if asked != of_other:
            raise InputError(
                "the accumulators were made with other settings (target, others, types, vectors, measure, missing or "
                "max_levels): make all of them alike"
            )

    def empty(self) -> "Accumulator":
        """One that has seen nothing yet, in the same pass over the same table."""
        other = copy(self)
        other._folded = None
        if self._plan is None:
            other._n_rows, other._roles, other._columns, other._notes = 0, None, {}, Notes()
        return other

    def begun(self) -> "Accumulator":
        """One that has seen nothing yet, and counts other rows of the same table faster for what this one has seen.

        In the end it has to be merged with one that has seen the rows of this one too.
        """
        other = self.empty()
        layouts = {key: stats.sketch.layout for key, stats in self._numbers() if stats.sketch is not None}
        other._layouts = {key: layout for key, layout in layouts.items() if layout is not None}
        return other

    def copy(self) -> "Accumulator":
        """One that has seen the same rows; neither changes the other."""
        other = self.empty()
        other._folded = self._folded
        if self._plan is None:
            other._n_rows, other._roles = self._n_rows, self._roles
            other._notes.absorb(self._notes)
            other._columns = {key: stats.copy() for key, stats in self._columns.items()}
        return other

    def second_pass(self) -> "Accumulator":
        """An accumulator for the next pass over the same rows; copies of it may share the work, and merge.

        That is the last one, unless there are vectors and this is the first.

        Returns
        -------
        Accumulator
        """
        decided, plan = self._next()
        needed = _COPIES * plan.n_bytes
        if needed > self._memory:
            raise InputError(
                f"memory={self._memory:,} bytes are too few for the sums of {len(decided.counted):,} columns at once: "
                f"pass {-(-needed // 2**20):,}MB or more, or take several passes by second_passes()"
            )
        return self._after(decided, plan)

    def second_passes(self) -> "tuple[Accumulator, ...]":
        """As many accumulators as the sums of all pairs do not fit into memory at once, each for some of the pairs.

        All of them are updated with all rows, one after the other or elsewhere; `result` of one of them takes the
        others. Where the next pass is not the last, as with vectors, it is one.

        Returns
        -------
        tuple of Accumulator
        """
        decided, plan = self._next()
        rounds = plan.rounds()
        largest = _COPIES * max(part.n_bytes for part in rounds)
        if largest > self._memory:
            raise InputError(
                f"memory={self._memory:,} bytes are too few for the sums of one pair of columns: pass "
                f"{-(-largest // 2**20):,}MB or more"
            )
        return tuple(self._after(decided, part) for part in rounds)

    def _next(self) -> tuple[Decided, VectorPlan | Plan]:
        """What is decided after this pass, and the plan of the next."""
        if self.is_last:
            raise InputError("this is the second pass already: update it with all rows, and ask for the result")
        if self._decided is None or not isinstance(self._plan, VectorPlan):
            if self._n_rows < 2 or self._roles is None:
                raise too_few_rows(self._n_rows)
            table = Table((), {}, {}, {}, self._n_rows, self._new_frame, Notes(self._notes.sentences()))
            decided = Decided.of(self._columns, self._roles, self._asked.goal, table, self._grid)
            decided.check(self._missing, self._memory, len(self._roles.keys))
            if decided.vectors:
                return decided, VectorPlan(decided.vectors, self._settings, self._n_rows)
        else:
            if self._folded is None:
                raise InputError("the pass for vectors has seen no rows: update it with all batches again")
            decided = self._decided.with_functions(self._plan.found(self._folded))
        share, n_rows = self._memory // _SHARES, self._n_rows
        return decided, Plan(decided.counted, decided.partners, self._settings, n_rows, share, sample=self._sample)

    def _after(self, decided: Decided, plan: VectorPlan | Plan) -> "Accumulator":
        after = copy(self)
        after._decided, after._plan, after._folded, after._columns = decided, plan, None, {}
        return after

    def _grid(self, n: int) -> int | None:
        return grid_cells(n, self._settings.scalar_projection(n, FIXED_DRAW).roughest)

    def result(self, *others: "Accumulator") -> DependenceMatrix | Screening:
        """What was found, after the second pass over all rows.

        Parameters
        ----------
        *others : Accumulator
            Those of the other pairs, where `second_passes` gave several.

        Returns
        -------
        DependenceMatrix or Screening
            A Screening where there is a target.
        """
        if not isinstance(self._plan, Plan) or self._decided is None:
            raise InputError(
                "products are added up in a second pass over the rows: call second_pass() and update what it returns "
                "with all batches again"
            )
        parts = (self, *others)
        for part in others:
            self._check_alike(part)
        blocks = sorted(k for part in parts for k in part._blocks)
        if blocks != list(range(self._plan.n_tiles)):
            raise InputError(
                "the passes over some pairs are lacking, or come twice: pass the others that second_passes() gave, "
                "each once"
            )
        edges = Edges.joined([part.edges() for part in parts])
        table, other = self.tables
        table = replace(table, notes=Notes((*table.notes.sentences(), *self.notes_on_order(*others))))
        if self._asked.goal is None:
            return DependenceMatrix.of(table, other, edges, correction=self._correction)
        return Screening.of(table, self._asked.goal, (), edges, correction=self._correction)

    def notes_on_order(self, *others: "Accumulator") -> tuple[str, ...]:
        """What is said where columns resemble their own previous row, after the last pass over all rows."""
        if not self._looks_at_order or not isinstance(self._plan, Plan):
            return ()
        neighbours = {key: sums for part in (self, *others) for key, sums in part._folded.neighbours.items()}
        note = self._plan.note_on_order(neighbours)
        return (note,) if note else ()

    @property
    def tables(self) -> tuple[Table, Table | None]:
        """What was decided of the columns, and of those that they are compared with, if these are a table."""
        if self._decided is None:
            raise InputError("what columns are is decided after the first pass: call second_pass()")
        return self._decided.tables

    @property
    def _blocks(self) -> tuple[int, ...]:
        """Blocks of pairs that this pass is for."""
        if not isinstance(self._plan, Plan):
            raise InputError("a first pass has no result: pass those that second_passes() gave")
        return self._plan.which if self._plan.which is not None else tuple(range(self._plan.n_tiles))

    def edges(self) -> Edges:
        """The pairs that this pass is for, once it has seen all rows."""
        if not isinstance(self._plan, Plan) or self._folded is None:
            raise InputError("the second pass has seen no rows: update it with all batches again")
        return self._plan.edges(self._folded, PERMUTATIONS)
