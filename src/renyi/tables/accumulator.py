"""Rows that come in batches to dependence, by two passes over them: `Accumulator`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from renyi.allpairs.compare import SHUFFLES
from renyi.allpairs.edges import Edges
from renyi.allpairs.row_sample import SAMPLE, check_sample
from renyi.allpairs.streaming.column_stats import ColumnStats, Counted
from renyi.allpairs.streaming.plan import BatchSums, Plan
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY, Layout
from renyi.basis.basis import grid_cells
from renyi.basis.random_features import FIXED_DRAW
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.coefficients.registry import measure as named
from renyi.compute.threads import available_cores, in_threads, stream
from renyi.data.align import Missing
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.table import Table, check_known, checked_types, parts_of, refuse_missing, too_few_columns, too_few_rows
from renyi.data.types import MAX_LEVELS, Override, SkipError, check_max_levels
from renyi.errors import InputError, brief, check_choice, count, difference
from renyi.inference.false_discovery import Correction
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.screening import Screening

__all__ = ["DEFAULT_MEMORY", "Accumulator", "bytes_of", "measure_of"]


DEFAULT_MEMORY = "1GB"
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# What a summary takes for every part of it, with what waits to be counted, and how many parts are enough.
_BYTES_OF_PART = 128
_LARGEST_CAPACITY = 2**17
# Sums of all rows as they are and will be next, of a batch, and products that are still to be added to these.
_COPIES = 4
# Of several passes each has sums of this share of the memory, so that four threads have batches under way: 600 columns
# take two thirds of the time that they do with a quarter, where one thread works, though they are read four times.
_SHARES = 8
_ROWS_AT_ONCE = 2**17
# A rank may be off by this much at most, which moves coefficients by 5·10⁻⁵ or so.
_LARGEST_ERROR = 2e-3


def bytes_of(memory: Any, /) -> int:
    """A budget such as "2GB" in bytes."""
    found = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?)i?B?\s*", str(memory), re.IGNORECASE)
    try:
        size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    except ValueError:
        size = 0
    if size < 1 or isinstance(memory, bool):
        raise InputError(f"memory={brief(memory)} is no amount of memory: pass bytes, or text such as '2GB' or '500MB'")
    return size


def measure_of(measure: Any, /) -> Measure[Any]:
    """The measure that is meant, if tables can have it."""
    by: Measure[Any] = measure if isinstance(measure, Measure) else named(measure)
    if isinstance(by, Rdc) and (by.repeats != 1 or by.debias):
        raise InputError(
            "tables have the coefficient of one draw, and .debiased beside it: leave repeats and debias out"
        )
    return by


def _pieces(parts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """So many rows at a time that what is made of them stays in the caches: twice as fast for a million rows."""
    n_rows = len(next(iter(parts.values()))) if parts else 0
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(start, min(start + _ROWS_AT_ONCE, n_rows))
        if rows.stop - rows.start == n_rows:
            yield parts
        else:
            mask = np.zeros(n_rows, dtype=bool)
            mask[rows] = True
            yield {name: data.take(mask) if isinstance(data, Column) else data[rows] for name, data in parts.items()}


class Accumulator:
    """Dependence of all columns of a table whose rows come in batches, from wherever they are.

    Two passes over the rows: the first counts values, from which types and grids are decided; the second adds up
    products on these grids. Neither keeps rows, but for a small sample, and memory does not grow with them.
    Accumulators of different rows merge, in any order, and can be pickled, so that any engine can drive them.

    Parameters
    ----------
    target : str, optional
        A column that all others are compared with; by default all are compared with one another.
    measure, missing, types, max_levels, correction, sample
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
        target: str | None = None,
        measure: str | Measure[Any] = "rdc",
        missing: Missing = "pairwise",
        types: Mapping[Any, Override] | None = None,
        max_levels: int = MAX_LEVELS,
        correction: Correction = "bh",
        memory: str | int = DEFAULT_MEMORY,
        sample: int = SAMPLE,
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
        self._target, self._missing, self._correction = target, missing, correction
        self._overrides = checked_types(types)
        self._max_levels = check_max_levels(max_levels)
        self._memory, self._sample = bytes_of(memory), check_sample(sample)
        self._n_rows = 0
        # In the second pass names alone: the plan has what was counted.
        self._columns: dict[str, Any] | None = None
        self._layouts: dict[str, Layout] = {}
        self._new_frame: Any = None
        self._notes = Notes()
        self._plan: Plan | None = None
        self._table: Table | None = None
        self._folded: BatchSums | None = None

    def __repr__(self) -> str:
        passed = "first" if self._plan is None else "second"
        n_columns = len(self._columns or ())
        return f"<Accumulator, {passed} pass: {count(n_columns, 'column')}, {count(self.n_rows, 'row')}>"

    @property
    def n_rows(self) -> int:
        """Rows that were seen in this pass."""
        if self._plan is None:
            return self._n_rows
        return 0 if self._folded is None else self._folded.n_rows

    @property
    def rank_errors(self) -> dict[str, float]:
        """For every number by how much its ranks may be off, 0 where they are exact."""
        if self._plan is not None:
            columns = (*self._plan.counted, *self._plan.targets)
            return {column.name: column.rank_error for column in columns if column.kind == "number"}
        seen = (self._columns or {}).items()
        return {name: column.sketch.rank_error for name, column in seen if column.sketch is not None}

    def update(self, batch: Any, /) -> None:
        """Take some more rows, in any form that `renyi.matrix` takes.

        Parameters
        ----------
        batch : frame, dict of columns, or array of shape (n, d)
            All batches have the same columns; one without rows says nothing.
        """
        parts, new_frame = parts_of(batch, "the batch", self._notes)
        if self._columns is None:
            self._begin(list(parts), new_frame)
        self._check_names(list(parts))
        for piece in _pieces(parts):
            self._take(piece)

    def _take(self, parts: Mapping[str, Any]) -> None:
        """Take some rows of all columns."""
        if self._plan is not None:
            folded = self._plan.fold(parts)
            self._folded = folded if self._folded is None else self._folded + folded
            return
        self._n_rows += len(next(iter(parts.values())))
        # Columns are independent of one another.
        in_threads(lambda stats: stats.update(parts[stats.name]), (self._columns or {}).values())

    def folded(self, batches: Iterable[Any], /) -> Iterator[Any]:
        """Update the second pass with batches in several threads; they come back as they are done."""
        plan = self._plan
        if plan is None:
            raise InputError("batches are folded in the second pass: call second_pass() first")

        def fold(batch: Any) -> tuple[Any, BatchSums | None]:
            parts, _ = parts_of(batch, "the batch")
            self._check_names(list(parts))
            return batch, plan.fold(parts) if len(next(iter(parts.values()), ())) else None

        # Beside the total, and what it will be next, there are sums under way, with their products in half the bytes.
        room = (self._memory - 2 * plan.n_bytes) // (3 * plan.n_bytes // 2 + 1)
        for batch, folded in stream(fold, batches, most=max(1, min(room, 2 * available_cores() + 1))):
            if folded is not None:
                # In the order of the batches, so that sums are rounded alike in every run.
                self._folded = folded if self._folded is None else self._folded + folded
            yield batch

    def _begin(self, names: list[str], new_frame: Any) -> None:
        for name in self._overrides:
            check_known(name, names, "the batch", "types")
        if self._target is not None:
            check_known(self._target, names, "the batch", "target")
        self._new_frame = new_frame
        capacity = self._capacity(len(names))
        self._columns = {
            name: ColumnStats(name, self._overrides.get(name), capacity, self._layouts.get(name), self._max_levels)
            for name in names
        }

    def _capacity(self, n_columns: int) -> int:
        """Parts of every summary, a power of two, so that small changes of the budget change nothing."""
        room = self._memory // (2 * _BYTES_OF_PART * max(n_columns, 1))
        if room < LEAST_CAPACITY:
            enough = 2 * _BYTES_OF_PART * n_columns * LEAST_CAPACITY
            raise InputError(
                f"memory={self._memory:,} bytes are too few to count the values of {n_columns:,} columns: pass "
                f"{-(-enough // 2**20):,}MB or more, or fewer columns at a time"
            )
        return min(_LARGEST_CAPACITY, 1 << (room.bit_length() - 1))

    def _check_names(self, names: list[str]) -> None:
        known = list(self._columns or ())
        if names != known:
            said = difference(names, known) or "has its columns in another order"
            raise InputError(f"a batch {said}: give all batches the same columns")

    def merge(self, other: "Accumulator", /) -> None:
        """Add what another accumulator of other rows of the same table has seen, in the same pass."""
        if (self._plan is None) != (other._plan is None):
            raise InputError("one accumulator is in its first pass and the other in its second: merge like with like")
        if other._columns is None:
            return
        if self._columns is None:
            self._begin(list(other._columns), other._new_frame)
        self._check_names(list(other._columns))
        if self._new_frame is None:
            self._new_frame = other._new_frame
        if self._plan is not None and other._plan is not None:
            if self._plan.shape != other._plan.shape:
                raise InputError(
                    "the second passes are for other pairs, or were planned from other rows or with another budget: "
                    "merge copies of one that second_pass() or second_passes() gave"
                )
            if other._folded is not None:
                self._folded = other._folded if self._folded is None else self._folded + other._folded
            return
        self._n_rows += other._n_rows
        self._notes.absorb(other._notes)
        for name, stats in (self._columns or {}).items():
            stats.merge(other._columns[name])

    def empty(self) -> "Accumulator":
        """One that has seen nothing yet, in the same pass over the same table."""
        other = Accumulator.__new__(Accumulator)
        other.__dict__.update(self.__dict__)
        other._folded = None
        if self._plan is None:
            other._n_rows, other._columns, other._notes = 0, None, Notes()
        return other

    def begun(self) -> "Accumulator":
        """One that has seen nothing yet, and counts other rows of the same table faster for what this one has seen.

        In the end it has to be merged with one that has seen the rows of this one too.
        """
        other = self.empty()
        seen = {} if self._plan is not None else self._columns or {}
        layouts = {name: stats.sketch.layout for name, stats in seen.items() if stats.sketch is not None}
        other._layouts = {name: layout for name, layout in layouts.items() if layout is not None}
        return other

    def copy(self) -> "Accumulator":
        """One that has seen the same rows; neither changes the other."""
        other = self.empty()
        other._folded = self._folded
        if self._plan is None and self._columns is not None:
            other._n_rows = self._n_rows
            other._notes.absorb(self._notes)
            other._columns = {name: stats.copy() for name, stats in self._columns.items()}
        return other

    def second_pass(self) -> "Accumulator":
        """An accumulator for the second pass over the same rows; copies of it may share the work, and merge.

        Returns
        -------
        Accumulator
        """
        if self._plan is not None:
            raise InputError("this is the second pass already: update it with all rows, and ask for the result")
        table, plan = self._decided()
        needed = _COPIES * plan.n_bytes
        if needed > self._memory:
            raise InputError(
                f"memory={self._memory:,} bytes are too few for the sums of {len(plan.counted):,} columns at once: "
                f"pass {-(-needed // 2**20):,}MB or more, or take several passes by second_passes()"
            )
        return self._second(table, plan)

    def second_passes(self) -> "tuple[Accumulator, ...]":
        """As many accumulators as the sums of all pairs do not fit into memory at once, each for some of the pairs.

        All of them are updated with all rows, one after the other or elsewhere; `result` of one of them takes the
        others.

        Returns
        -------
        tuple of Accumulator
        """
        if self._plan is not None:
            raise InputError("this is the second pass already: update it with all rows, and ask for the result")
        table, plan = self._decided()
        rounds = plan.rounds()
        largest = _COPIES * max(part.n_bytes for part in rounds)
        if largest > self._memory:
            raise InputError(
                f"memory={self._memory:,} bytes are too few for the sums of one pair of columns: pass "
                f"{-(-largest // 2**20):,}MB or more"
            )
        return tuple(self._second(table, part) for part in rounds)

    def _second(self, table: Table, plan: Plan) -> "Accumulator":
        second = Accumulator.__new__(Accumulator)
        second.__dict__.update(self.__dict__)
        second._table, second._plan = table, plan
        second._columns = dict.fromkeys(self._columns or ())
        return second

    def _decided(self) -> tuple[Table, Plan]:
        columns = self._columns or {}
        if self._n_rows < 2:
            raise too_few_rows(self._n_rows)
        table = Table((), {}, {}, {}, self._n_rows, self._new_frame, Notes(self._notes.sentences()))
        kept: list[Counted] = []
        for name, stats in columns.items():
            try:
                counted = stats.decided(self._grid, table.notes)
            except SkipError as error:
                table.skipped[name] = str(error)
                continue
            kept.append(counted)
            table.types[name] = counted.type
            if counted.n_pooled:
                table.pooled[name] = counted.n_pooled
        self._check(kept, table)
        targets = tuple(column for column in kept if column.name == self._target)
        others = tuple(column for column in kept if column.name != self._target)
        at_least = 2 if self._target is None else 1
        stubs = tuple(Column(column.name, column.kind, np.empty(0)) for column in others)
        table = replace(table, columns=stubs)
        if len(others) < at_least:
            raise too_few_columns(table, at_least)
        return table, Plan(others, targets, self._settings, self._n_rows, self._memory // _SHARES, sample=self._sample)

    def _grid(self, n: int) -> int | None:
        return grid_cells(n, self._settings.scalar_projection(n, FIXED_DRAW).roughest)

    def _check(self, kept: Sequence[Counted], table: Table) -> None:
        if self._target is not None and self._target in table.skipped:
            raise InputError(
                f"target {self._target!r} cannot be measured, it was left out: {table.skipped[self._target]}"
            )
        holes = [column for column in kept if column.n_missing]
        if holes and self._missing == "raise":
            refuse_missing([(column.name, column.n_missing, None) for column in holes], "missing='pairwise'")
        for column in kept:
            if column.rank_error > _LARGEST_ERROR:
                raise InputError(
                    f"ranks of {column.name!r} would be off by {column.rank_error:.4f}, since its values are counted "
                    f"in {self._capacity(len(self._columns or ())):,} parts: {self._way_out(column.rank_error)}"
                )

    def _way_out(self, rank_error: float) -> str:
        """What helps against ranks that are off by so much: of twice the parts each has half of the rows, mostly."""
        n_columns = len(self._columns or ())
        if self._capacity(n_columns) == _LARGEST_CAPACITY:
            return "pass ranks in place of values, many of which lie so closely together and others so far apart"
        needed = self._memory * 2 ** int(np.ceil(np.log2(rank_error / _LARGEST_ERROR)))
        needed = min(needed, 2 * _BYTES_OF_PART * n_columns * _LARGEST_CAPACITY)
        return f"pass memory='{-(-needed // 2**20)}MB' or more, or fewer columns at a time"

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
        if self._plan is None or self._table is None:
            raise InputError(
                "products are added up in a second pass over the rows: call second_pass() and update what it returns "
                "with all batches again"
            )
        parts = (self, *others)
        if {k for part in parts for k in part._blocks} != set(range(self._plan.n_tiles)):
            raise InputError("the passes over some pairs are lacking: pass the others that second_passes() gave")
        edges = Edges.joined([part._edges() for part in parts])
        if self._target is None:
            return DependenceMatrix.of(self._table, None, edges, correction=self._correction)
        return Screening.of(self._table, self._target, (), edges, correction=self._correction)

    @property
    def _blocks(self) -> tuple[int, ...]:
        """Blocks of pairs that this pass is for."""
        if self._plan is None:
            raise InputError("a first pass has no result: pass those that second_passes() gave")
        return self._plan.which if self._plan.which is not None else tuple(range(self._plan.n_tiles))

    def _edges(self) -> Edges:
        if self._plan is None or self._folded is None:
            raise InputError("the second pass has seen no rows: update it with all batches again")
        return self._plan.edges(self._folded, SHUFFLES)
