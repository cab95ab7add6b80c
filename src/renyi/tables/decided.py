"""What the counts of the first pass say: which columns are compared, what they are, and why others are left out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from renyi.allpairs.streaming.column_stats import ColumnStats, Counted
from renyi.allpairs.streaming.vectors import CountedVector, VectorStats
from renyi.data.align import Missing
from renyi.data.notes import Notes
from renyi.data.table import Table, refuse_missing, too_few_columns
from renyi.data.types import SkipError
from renyi.errors import InputError
from renyi.tables.budget import check_ranks
from renyi.tables.roles import Roles

Columns: TypeAlias = tuple[Counted | CountedVector, ...]


@dataclass(frozen=True, eq=False)
class Decided:
    """Columns that are compared, their partners if there are any, and what is said of them.

    There is a second table of the partners, unless they are a target.
    """

    tables: tuple[Table, Table | None]
    counted: Columns
    partners: Columns

    @classmethod
    def of(
        cls,
        columns: Mapping[str, ColumnStats | VectorStats],
        roles: Roles,
        goal: str | None,
        table: Table,
        grid: Callable[[int], int | None],
        /,
    ) -> "Decided":
        """From counts, into a table that has nothing but its rows yet."""
        other = (
            replace(table, types={}, skipped={}, pooled={}, notes=Notes()) if roles.partners and goal is None else None
        )
        kept: tuple[list[Counted | CountedVector], list[Counted | CountedVector]] = [], []
        for key, stats in columns.items():
            is_partner = key in roles.partners
            said = other if is_partner and other is not None else table
            name = roles.names[key]
            try:
                counted = replace(stats.decided(grid, said.notes), keys=roles.columns[key])
            except SkipError as error:
                said.skipped[name] = str(error)
                continue
            kept[is_partner].append(counted)
            said.types[name] = counted.type
            if counted.n_pooled:
                said.pooled[name] = counted.n_pooled
        if goal is not None and goal in table.skipped:
            raise InputError(f"target {goal!r} cannot be measured, it was left out: {table.skipped[goal]}")
        own, partners = (tuple(column.column for column in side) for side in kept)
        tables = replace(table, columns=own), None if other is None else replace(other, columns=partners)
        return cls(tables, tuple(kept[0]), tuple(kept[1]))

    def check(self, missing: Missing, memory: int, n_columns: int, /) -> None:
        """Refuse gaps that are not allowed, ranks that are too far off, and too few columns to compare."""
        table, other = self.tables
        together = ((*self.counted, *self.partners),) if other is None else (self.counted, self.partners)
        for side in together:
            holes = [(column.name, column.n_missing, None) for column in side if column.n_missing]
            if holes and missing == "raise":
                refuse_missing(holes, "missing='pairwise'")
        for _, number in self.numbers():
            check_ranks(number, memory, n_columns)
        for part in (table, other):
            at_least = 1 if self.partners or other is not None else 2
            if part is not None and len(part.columns) < at_least:
                raise too_few_columns(part, at_least)

    def numbers(self) -> Iterator[tuple[str, Counted]]:
        """All numbers and coordinates of vectors, by where a batch has them."""
        for column in (*self.counted, *self.partners):
            if column.numbers:
                yield from zip(column.keys, column.numbers, strict=True)

    @property
    def vectors(self) -> tuple[CountedVector, ...]:
        """Those whose functions take a pass of their own."""
        return tuple(column for column in (*self.counted, *self.partners) if isinstance(column, CountedVector))

    def with_functions(self, vectors: Mapping[str, CountedVector], /) -> "Decided":
        """The same, where vectors have their functions."""
        counted, partners = (
            tuple(vectors.get(column.keys[0], column) for column in side) for side in (self.counted, self.partners)
        )
        return replace(self, counted=counted, partners=partners)
