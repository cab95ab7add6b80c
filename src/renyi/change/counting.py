"""Tables that are not in memory to counts of their columns over all rows, as two of them are put beside one another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.streaming.column_stats import ColumnStats
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY, RankSketch
from renyi.change.marginals import Marginal
from renyi.data.column import Column
from renyi.data.labels import in_order
from renyi.data.notes import Notes
from renyi.data.table import checked_types, parts_of
from renyi.data.types import SkipError, pool_levels
from renyi.errors import InputError, difference
from renyi.tables.budget import BYTES_OF_PART, bytes_of, capacity


@dataclass(eq=False)
class Counts:
    """What all rows of a table so far say of every column by itself."""

    types: Mapping[Any, Any] | None
    memory: str | int
    n_rows: int = 0
    columns: dict[str, ColumnStats] = field(default_factory=dict)

    def empty(self) -> "Counts":
        """One that has seen nothing."""
        return replace(self, n_rows=0, columns={})

    def update(self, batch: Any, /) -> None:
        """Count some more rows."""
        parts, _ = parts_of(batch, "the batch")
        if not self.columns:
            # Half of it is for the other table; the least that one can count by is there in any case.
            room = max(bytes_of(self.memory) // 2, 2 * BYTES_OF_PART * LEAST_CAPACITY * len(parts))
            overrides, parts_of_column = checked_types(self.types), capacity(room, len(parts))
            self.columns = {name: ColumnStats(name, overrides.get(name), parts_of_column) for name in parts}
        self._check(parts)
        self.n_rows += len(next(iter(parts.values()))) if parts else 0
        for name, cells in parts.items():
            self.columns[name].update(cells)

    def merge(self, other: "Counts", /) -> None:
        """Add what was counted of other rows."""
        if not other.columns:
            return
        if not self.columns:
            self.n_rows, self.columns = other.n_rows, other._copied()
            return
        self._check(other.columns)
        self.n_rows += other.n_rows
        for name, stats in self.columns.items():
            stats.merge(other.columns[name])

    def copy(self) -> "Counts":
        """One that has seen the same; neither changes the other."""
        return replace(self, columns=self._copied())

    def _copied(self) -> dict[str, ColumnStats]:
        return {name: stats.copy() for name, stats in self.columns.items()}

    def _check(self, names: Iterable[str]) -> None:
        if said := difference(list(names), list(self.columns)):
            raise InputError(f"a batch {said}: give all batches the same columns")


def seen(counts: Counts, tables: Iterable[Any], /) -> Counts:
    """What counts that have seen nothing become by some tables."""
    own = counts.empty()
    for rows in tables:
        own.update(rows)
    return own


def merged(some: Counts, more: Counts, /) -> Counts:
    """Both; tasks may be done again, so what they were given stays as it is."""
    total = some.copy()
    total.merge(more)
    return total


@dataclass(frozen=True, eq=False)
class _Counted:
    """One column of one table: a summary of its numbers, or the rows of its levels."""

    stats: ColumnStats
    n_rows: int

    @cached_property
    def _decided(self) -> tuple[str, RankSketch | None, Mapping[Any, int]]:
        self.stats.check(self.stats.n_observed, Notes())
        if self.stats.text is None:
            return str(self.stats.type), self.stats.sketch, self.stats.rows
        spelling, sketch = self.stats.text.decided(self.stats.name, Notes())
        return ("category", None, self.stats.text.rows) if spelling is None else (spelling.kind, sketch, {})

    @property
    def kind(self) -> str:
        return self._decided[0]

    @property
    def sketch(self) -> RankSketch | None:
        return self._decided[1]

    @property
    def levels(self) -> Mapping[Any, int]:
        return self._decided[2]


def counted(column: Column, kind: str, sides: tuple[Counts, Counts], max_levels: int, /) -> Marginal | None:
    """A column of two tables by the counts of all of their rows; None where these do not say what a sample says of it.

    So it is where all rows refuse the column, or read text as another type, for whole numbers that no float equals, and
    where one table has no value.
    """
    first, second = (_Counted(side.columns[column.name], side.n_rows) for side in sides)
    try:
        if (first.kind, second.kind) != (kind, kind):
            return None
        make = _of_levels if column.is_category else _of_numbers
        return make(column, first, second, max_levels)
    except SkipError:
        return None


def _of_numbers(column: Column, first: _Counted, second: _Counted, _: int) -> Marginal | None:
    if (first.stats.unit, first.stats.levels) != (second.stats.unit, second.stats.levels):
        return None
    own = [side.sketch for side in (first, second) if side.sketch is not None and side.sketch.n_values]
    if len(own) < 2:
        return None
    total = own[0].copy()
    total.merge(own[1])
    if total.tails is not None:
        return None
    values: NDArray[Any] = total.cells(None)[1]
    counts = np.stack([_on(total, sketch) for sketch in own])
    is_time = column.values.dtype.kind in "Mm"
    if is_time:
        values = values.astype(np.int64).view(f"{column.values.dtype.kind}8[{first.stats.unit or 'us'}]")
    return Marginal(column.name, "number", values, counts, _missing((first, second), counts), column.levels, is_time)


def _on(total: RankSketch, own: RankSketch) -> NDArray[np.int64]:
    """The rows of a summary in the parts of one that it was merged into."""
    found = total.copy()
    found.counts = np.zeros_like(found.counts)
    found.merge(own)
    return found.counts


def _of_levels(column: Column, first: _Counted, second: _Counted, max_levels: int) -> Marginal | None:
    if not first.levels or not second.levels:
        return None
    names = tuple(in_order(list({**first.levels, **second.levels})))
    rows = np.array([[own.levels.get(name, 0) for name in names] for own in (first, second)], dtype=np.int64)
    requested = first.stats.override is not None
    moved, levels, _ = pool_levels(names, rows.sum(axis=0), requested=requested, max_levels=max_levels)
    counts = np.array([np.bincount(moved, own, minlength=len(levels)) for own in rows], dtype=np.int64)
    return Marginal(column.name, "category", np.arange(len(levels)), counts, _missing((first, second), counts), levels)


def _missing(both: tuple[_Counted, _Counted], counts: NDArray[np.int64]) -> tuple[int, int]:
    before, after = (own.n_rows - int(rows.sum()) for own, rows in zip(both, counts, strict=True))
    return before, after
