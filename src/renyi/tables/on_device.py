"""A table on a torch device: what can be compared there, and what is refused."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from renyi.allpairs.device.compare import compared, compared_in_tiles
from renyi.allpairs.device.ranking import Ranked, note_on_order, ranked
from renyi.allpairs.device.reading import OnDevice, has_tensors, read_table, uploaded
from renyi.allpairs.edges import Edges
from renyi.data.table import Table, names_of, observed
from renyi.errors import InputError
from renyi.tables.arguments import (
    Question,
    column_named,
    comparable,
    holds_values,
    listed,
    name_beside,
    named_target,
    names_in,
    side_by_side,
    split,
    with_target,
)


class TableOnDevice:
    """How a table is compared on a device."""

    def __init__(self, place: Any, asked: Question, /) -> None:
        self._place, self._asked = place, asked

    def matrix(self, table: Any, other: Any, /) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two, or of some columns with all the others."""
        progress = self._asked.progress
        if other is None:
            x = self._ranked(self._whole(table), at_least=2)
            self._look_at_order(x)
            return x.table, None, compared(x, progress=progress)
        asked, names = self._asked, names_in(other)
        if names is not None:
            sides = self._split(self._whole(table), names)
        else:
            read = partial(self._read, missing="pairwise" if asked.missing == "listwise" else asked.missing)
            sides = side_by_side(table, other, asked.types, asked.vectors, asked.missing, read=read)
        x, y = (self._ranked(side, at_least=1) for side in sides)
        self._look_at_order(x, y)
        return x.table, y.table, compared(x, y, progress=progress)

    def tiles(self, table: Any, /, *, at_most: float) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time, those with a p-value above `at_most` as well."""
        x = self._ranked(self._whole(table), at_least=2)
        self._look_at_order(x)
        return x.table, compared_in_tiles(x, progress=self._asked.progress)

    def screen(self, table: Any, target: Any, given: Any, /) -> tuple[str, tuple[str, ...], Table, Edges]:
        """Every column against one: its name, what is held fixed, the other columns, and what was found."""
        if given is not None and listed(given, ()):
            raise InputError("given is not for a device: leave it out, or pass NumPy arrays and device=None")
        whole, goal = self._with_target(table, target)
        x_side, y_side = self._split(whole, [column_named(whole.table, goal, "target").name])
        x_side = replace(x_side, table=replace(x_side.table, types=whole.table.types))
        y = self._ranked(y_side, at_least=0)
        if not y.variables:
            raise InputError(f"target {goal!r} cannot be measured, it was left out: {y.table.skipped[goal]}")
        x = self._ranked(x_side, at_least=1)
        self._look_at_order(x, y)
        types, pooled = {**x.table.types, **y.table.types}, {**x.table.pooled, **y.table.pooled}
        told = replace(x.table, types=types, pooled=pooled)
        return goal, (), told, compared(x, y, progress=self._asked.progress)

    def _look_at_order(self, *sides: Ranked) -> None:
        """Say where columns resemble their own previous row; vectors are not looked at."""
        if self._asked.looks_at_order and (note := note_on_order(*sides)):
            sides[0].table.notes.caution(note)

    def _with_target(self, table: Any, target: Any) -> tuple[OnDevice, str]:
        """A table with its target, which is a column of it, several as a vector, or values; and what that is called."""
        asked, known = self._asked, names_of(table)
        if not has_tensors(table):
            whole, goal = with_target(table, target, (), asked.types, asked.vectors, max_levels=asked.max_levels)
            return uploaded(observed(whole, missing=asked.missing), self._place), goal
        if holds_values(target, known):
            goal = name_beside(target, known)
            parts = table if isinstance(table, Mapping) else dict(zip(known, table.T, strict=True))
            return self._whole({**parts, goal: target}), goal
        goal, vectors = named_target(target, known, (), asked.vectors)
        return self._read(table, types=asked.types, vectors=vectors, missing=asked.missing), goal

    def _whole(self, table: Any) -> OnDevice:
        asked = self._asked
        return self._read(table, types=asked.types, vectors=asked.vectors, missing=asked.missing)

    def _read(self, data: Any, argument: str = "the table", **settings: Any) -> OnDevice:
        """The columns of a table on the device."""
        return read_table(data, self._place, argument, **settings, max_levels=self._asked.max_levels)

    def _split(self, whole: OnDevice, names: list[str]) -> tuple[OnDevice, OnDevice]:
        """A table without some of its columns, and these."""
        place = {column.name: k for k, column in enumerate(whole.table.columns)}
        left, right = (
            replace(whole.take([place[column.name] for column in part.columns]), table=part)
            for part in split(whole.table, names)
        )
        return left, right

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        by = self._asked.by
        if by.features is None or not by.on_device:
            raise InputError(f"measure={by.name!r} is not for a device: leave device out, or measure")
        found = ranked(columns, by.features, sample=self._asked.sample)
        if at_least:
            comparable(found.table, by, at_least=at_least)
        return found
