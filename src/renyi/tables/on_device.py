"""A table on a torch device: what can be compared there, and what is refused."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from renyi.allpairs.device.compare import compared, compared_in_tiles
from renyi.allpairs.device.ranking import Ranked, ranked
from renyi.allpairs.device.reading import OnDevice, has_tensors, read_table, uploaded
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.data.align import Missing
from renyi.data.table import Table, names_of, observed
from renyi.errors import InputError
from renyi.pair.settings import Settings
from renyi.tables.arguments import (
    Types,
    Vectors,
    column_named,
    comparable,
    holds_values,
    listed,
    name_beside,
    named_target,
    side_by_side,
    with_target,
)

__all__ = ["TableOnDevice"]


@dataclass(frozen=True)
class TableOnDevice:
    """How a table is compared on a device."""

    place: Any
    by: Measure[Any]
    types: Types
    vectors: Vectors
    max_levels: int
    missing: Missing
    sample: int = 0

    def matrix(self, table: Any, other: Any, /, *, progress: bool) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two."""
        if other is None:
            x = self._ranked(self._whole(table), at_least=2)
            return x.table, None, compared(x, progress=progress)
        read = partial(self._read, missing="pairwise" if self.missing == "listwise" else self.missing)
        sides = side_by_side(table, other, self.types, self.vectors, self.missing, read=read)
        x, y = (self._ranked(side, at_least=1) for side in sides)
        return x.table, y.table, compared(x, y, progress=progress)

    def tiles(self, table: Any, /, *, progress: bool) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time."""
        x = self._ranked(self._whole(table), at_least=2)
        return x.table, compared_in_tiles(x, progress=progress)

    def screen(self, table: Any, target: Any, given: Any, /, *, progress: bool) -> tuple[str, Table, Edges]:
        """Every column against one: its name, the other columns, and what was found."""
        if given is not None and listed(given, ()):
            raise InputError("given is not for a device: leave it out, or pass NumPy arrays and device=None")
        whole, goal = self._with_target(table, target)
        place = [column.name for column in whole.table.columns].index(column_named(whole.table, goal, "target").name)
        y = self._ranked(whole.take([place]), at_least=0)
        if not y.variables:
            raise InputError(f"target {goal!r} cannot be measured, it was left out: {y.table.skipped[goal]}")
        x = self._ranked(whole.take([k for k in range(len(whole.table.columns)) if k != place]), at_least=1)
        return goal, x.table, compared(x, y, progress=progress)

    def _whole(self, table: Any) -> OnDevice:
        return self._read(table, types=self.types, vectors=self.vectors, missing=self.missing)

    def _with_target(self, table: Any, target: Any) -> tuple[OnDevice, str]:
        """A table with its target, which is a column of it, several as a vector, or values; and what that is called."""
        if not has_tensors(table):
            whole, goal = with_target(table, target, (), self.types, self.vectors, max_levels=self.max_levels)
            return uploaded(observed(whole, missing=self.missing), self.place), goal
        known = names_of(table)
        asked: dict[str, Any] = {"types": self.types, "vectors": self.vectors, "missing": self.missing}
        if holds_values(target, known):
            goal = name_beside(target, known)
            parts = table if isinstance(table, Mapping) else dict(zip(known, table.T, strict=True))
            return self._read({**parts, goal: target}, **asked), goal
        goal, asked["vectors"] = named_target(target, known, (), self.vectors)
        return self._read(table, **asked), goal

    def _read(self, data: Any, argument: str = "the table", **asked: Any) -> OnDevice:
        """The columns of a table on the device."""
        return read_table(data, self.place, argument, **asked, max_levels=self.max_levels)

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        if not isinstance(self.by, Rdc):
            raise InputError(f"measure={self.by.name!r} is not for a device: leave device out, or measure")
        settings = Settings(self.by.k, self.by.s, self.by.frequencies)
        found = ranked(columns, settings, sample=self.sample)
        if at_least:
            comparable(found.table, self.by, at_least=at_least)
        return found
