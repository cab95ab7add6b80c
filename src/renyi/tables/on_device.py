"""A table on a torch device: what can be compared there, and what is refused."""

from dataclasses import dataclass
from typing import Any

from renyi.allpairs.device.compare import compared
from renyi.allpairs.device.ranking import (
    OnDevice,
    Ranked,
    has_tensors,
    ranked,
    read_tensors,
    upload,
    without_gaps,
)
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.data.align import Missing, check_indexes
from renyi.data.table import Table, as_table, observed
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
    missing: Missing
    sample: int = 0

    def matrix(self, table: Any, other: Any, /, *, progress: bool) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two."""
        check_indexes(table, other)
        sides = [self._read(table, "the table"), *([] if other is None else [self._read(other, "other")])]
        n_rows = [int(side.numbers.shape[1]) for side in sides]
        if n_rows[0] != n_rows[-1]:
            raise InputError(f"the table has {n_rows[0]:,} rows and other has {n_rows[1]:,}: pass as many")
        if len(sides) > 1 and self.missing == "listwise":
            raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
        x, *rest = (self._ranked(side, at_least=3 - len(sides)) for side in sides)
        y = rest[0] if rest else None
        return x.table, None if y is None else y.table, compared(x, y, progress=progress)

    def screen(self, table: Any, target: Any, given: Any, /, *, progress: bool) -> tuple[str, Table, Edges]:
        """Every column against one: its name, the other columns, and what was found."""
        if given is not None and listed(given, ()):
            raise InputError("given is not for a device yet: leave it out, or pass NumPy arrays and device=None")
        whole = self._read(table, "the table")
        names = listed(target, [column.name for column in whole.table.columns])
        if not names:
            raise InputError("target names no column: pass one")
        if len(names) != 1:
            raise InputError("a target of several columns is a vector, which is not for a device yet: name one column")
        # Both sides lose the same rows.
        whole = without_gaps(whole, self.missing)
        place = [column.name for column in whole.table.columns].index(
            column_named(whole.table, names[0], "target").name
        )
        y = self._ranked(whole.take([place]), at_least=0)
        if not y.variables:
            raise InputError(f"target {names[0]!r} cannot be measured, it was left out: {y.table.skipped[names[0]]}")
        x = self._ranked(whole.take([k for k in range(len(whole.table.columns)) if k != place]), at_least=1)
        return names[0], x.table, compared(x, y, progress=progress)

    def _read(self, data: Any, argument: str) -> OnDevice:
        """The columns of a table on the device."""
        if not has_tensors(data):
            return upload(
                observed(as_table(data, argument, types=self.types, vectors=self.vectors), missing=self.missing),
                self.place,
            )
        if self.types or self.vectors:
            raise InputError("types and vectors are for columns that have types, and tensors have none: leave them out")
        return read_tensors(data, self.place, argument)

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        if not isinstance(self.by, Rdc):
            raise InputError(f"measure={self.by.name!r} is not for a device: leave device out, or measure")
        settings = Settings(self.by.k, self.by.s, self.by.frequencies)
        found = ranked(columns, settings, missing=self.missing, sample=self.sample)
        if at_least:
            comparable(found.table, self.by, at_least=at_least)
        return found
