"""A table on a torch device: what can be compared there, and what is refused."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from renyi.allpairs.device.compare import compared, compared_in_tiles
from renyi.allpairs.device.ranking import Ranked, ranked
from renyi.allpairs.device.reading import OnDevice, read_table
from renyi.allpairs.edges import Edges
from renyi.data.align import check_indexes, unequal_rows
from renyi.data.table import Table
from renyi.errors import InputError
from renyi.tables.arguments import Question, column_named, comparable, listed, names_in

__all__ = ["TableOnDevice"]


class TableOnDevice:
    """How a table is compared on a device."""

    def __init__(self, place: Any, asked: Question, /) -> None:
        self._place, self._asked = place, asked

    def matrix(self, table: Any, other: Any, /) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two, or of some columns with all the others."""
        progress = self._asked.progress
        if other is None:
            x = self._ranked(self._read(table), at_least=2)
            return x.table, None, compared(x, progress=progress)
        names = names_in(other)
        if names is not None:
            sides = self._split(self._read(table), names)
        else:
            check_indexes(table, other)
            if self._asked.missing == "listwise":
                raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
            sides = self._read(table), self._read(other, "other")
            if sides[0].table.n_rows != sides[1].table.n_rows:
                raise unequal_rows(sides[0].table.n_rows, sides[1].table.n_rows)
        x, y = (self._ranked(side, at_least=1) for side in sides)
        return x.table, y.table, compared(x, y, progress=progress)

    def tiles(self, table: Any, /) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time."""
        x = self._ranked(self._read(table), at_least=2)
        return x.table, compared_in_tiles(x, progress=self._asked.progress)

    def screen(self, table: Any, target: Any, given: Any, /) -> tuple[str, tuple[str, ...], Table, Edges]:
        """Every column against one: its name, what is held fixed, the other columns, and what was found."""
        if given is not None and listed(given, ()):
            raise InputError("given is not for a device: leave it out, or pass NumPy arrays and device=None")
        names = listed(target, ())
        if not names:
            raise InputError("target names no column: pass one")
        goal = " & ".join(names)
        whole = self._read(table, vectors={} if len(names) == 1 else {goal: names})
        x_side, y_side = self._split(whole, [column_named(whole.table, goal, "target").name])
        x_side = replace(x_side, table=replace(x_side.table, types=whole.table.types))
        y = self._ranked(y_side, at_least=0)
        if not y.variables:
            raise InputError(f"target {goal!r} cannot be measured, it was left out: {y.table.skipped[goal]}")
        x = self._ranked(x_side, at_least=1)
        return goal, (), x.table, compared(x, y, progress=self._asked.progress)

    def _read(self, data: Any, argument: str = "the table", vectors: Any = None) -> OnDevice:
        """The columns of a table on the device."""
        asked = self._asked
        return read_table(
            data,
            self._place,
            argument,
            types=asked.types,
            vectors={**(asked.vectors or {}), **vectors} if vectors else asked.vectors,
            max_levels=asked.max_levels,
            missing=asked.missing,
        )

    def _split(self, whole: OnDevice, names: list[str]) -> tuple[OnDevice, OnDevice]:
        """A table without some of its columns, and these."""
        wanted = {column_named(whole.table, name, "other").name for name in names}
        columns = whole.table.columns
        left, right = (
            whole.take([k for k, column in enumerate(columns) if (column.name in wanted) == is_wanted])
            for is_wanted in (False, True)
        )
        types = [{c.name: whole.table.types[c.name] for c in side.table.columns} for side in (left, right)]
        of_left = replace(left.table, types=types[0])
        of_right = replace(right.table, types=types[1], skipped={}, pooled={}, notes=type(whole.table.notes)())
        return replace(left, table=of_left), replace(right, table=of_right)

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        by = self._asked.by
        if by.features is None or not by.on_device:
            raise InputError(f"measure={by.name!r} is not for a device: leave device out, or measure")
        found = ranked(columns, by.features, sample=self._asked.sample)
        if at_least:
            comparable(found.table, by, at_least=at_least)
        return found
