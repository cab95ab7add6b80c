"""A table on a torch device: what can be compared there, and what is refused."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from renyi.allpairs.device.compare import compared, compared_in_tiles
from renyi.allpairs.device.ranking import Ranked, ranked
from renyi.allpairs.device.reading import OnDevice, read_table
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.data.align import Missing, check_indexes
from renyi.data.table import Table
from renyi.errors import InputError
from renyi.pair.settings import Settings
from renyi.tables.arguments import Types, Vectors, column_named, comparable, listed

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
            x = self._ranked(self._read(table), at_least=2)
            return x.table, None, compared(x, progress=progress)
        check_indexes(table, other)
        if self.missing == "listwise":
            raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
        sides = [self._read(part, name) for part, name in ((table, "the table"), (other, "other"))]
        n_rows = [side.table.n_rows for side in sides]
        if n_rows[0] != n_rows[1]:
            raise InputError(f"the table has {n_rows[0]:,} rows and other has {n_rows[1]:,}: pass as many")
        x, y = (self._ranked(side, at_least=1) for side in sides)
        return x.table, y.table, compared(x, y, progress=progress)

    def tiles(self, table: Any, /, *, progress: bool) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time."""
        x = self._ranked(self._read(table), at_least=2)
        return x.table, compared_in_tiles(x, progress=progress)

    def screen(self, table: Any, target: Any, given: Any, /, *, progress: bool) -> tuple[str, Table, Edges]:
        """Every column against one: its name, the other columns, and what was found."""
        if given is not None and listed(given, ()):
            raise InputError("given is not for a device: leave it out, or pass NumPy arrays and device=None")
        names = listed(target, ())
        if not names:
            raise InputError("target names no column: pass one")
        goal = " & ".join(names)
        own = self if len(names) == 1 else replace(self, vectors={**(self.vectors or {}), goal: names})
        whole = own._read(table)
        place = [column.name for column in whole.table.columns].index(column_named(whole.table, goal, "target").name)
        y = self._ranked(whole.take([place]), at_least=0)
        if not y.variables:
            raise InputError(f"target {goal!r} cannot be measured, it was left out: {y.table.skipped[goal]}")
        x = self._ranked(whole.take([k for k in range(len(whole.table.columns)) if k != place]), at_least=1)
        return goal, x.table, compared(x, y, progress=progress)

    def _read(self, data: Any, argument: str = "the table") -> OnDevice:
        """The columns of a table on the device."""
        asked: dict[str, Any] = {"types": self.types, "vectors": self.vectors, "max_levels": self.max_levels}
        return read_table(data, self.place, argument, **asked, missing=self.missing)

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        if not isinstance(self.by, Rdc):
            raise InputError(f"measure={self.by.name!r} is not for a device: leave device out, or measure")
        settings = Settings(self.by.k, self.by.s, self.by.frequencies)
        found = ranked(columns, settings, sample=self.sample)
        if at_least:
            comparable(found.table, self.by, at_least=at_least)
        return found
