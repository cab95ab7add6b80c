"""How a table is described: in plain Python, so that any library can hold it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import compress
from math import isinf
from typing import Any
from zlib import crc32

import numpy as np

TABLES: dict[str, "Table"] = {}


@dataclass(frozen=True)
class Column:
    """Cells of one kind: number, single (float32), whole, flag, label, spelled, ordered, moment, nanosecond, span.

    Moments are dates with a time, as whole numbers where they have nanoseconds; spans are durations; spelled cells are
    text that means something else, for one who reads it. A missing cell is None.
    """

    kind: str
    cells: list[Any]
    levels: tuple[str, ...] = ()
    meaning: Any = None

    @property
    def has_gaps(self) -> bool:
        return any(cell is None for cell in self.cells)


@dataclass(frozen=True)
class Table:
    """Columns by their names, and options of `renyi.matrix`."""

    name: str
    columns: dict[str, Column]
    options: dict[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    is_about_reading: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def n_rows(self) -> int:
        return max((len(column.cells) for column in self.columns.values()), default=0)

    @property
    def cells(self) -> list[list[Any]]:
        return [column.cells for column in self.columns.values()]

    @property
    def kinds(self) -> set[str]:
        return {column.kind for column in self.columns.values()}

    @cached_property
    def needs(self) -> frozenset[str]:
        """What a door must be able to hold and to do for this table: kinds of columns, options, and some of `NEEDS`."""
        options = {f"{name}={value}" if isinstance(value, str) else name for name, value in self.options.items()}
        return frozenset(self.kinds | options | {name for name, is_needed in NEEDS.items() if is_needed(self)})

    def with_gaps(self, *kinds: str) -> list[Column]:
        """Columns of these kinds, of all where none is named, that lack cells."""
        return [c for c in self.columns.values() if c.has_gaps and (not kinds or c.kind in kinds)]

    def only(self, *names: str) -> "Table":
        """Some of the columns, in the order given."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def rows(self, start: int, stop: int) -> "Table":
        """Some of the rows."""
        return replace(self, columns={name: replace(c, cells=c.cells[start:stop]) for name, c in self.columns.items()})

    def complete(self) -> "Table":
        """The rows that lack nothing."""
        whole = [None not in row for row in zip(*self.cells, strict=True)]
        return replace(
            self,
            columns={name: replace(c, cells=list(compress(c.cells, whole))) for name, c in self.columns.items()},
        )


def _lies_apart(column: Column) -> bool:
    """Whether no shift makes floats of whole numbers."""
    known = [cell for cell in column.cells if cell is not None]
    return column.kind == "whole" and max(known) - min(known) > 2**53


NEEDS: dict[str, Callable[[Table], bool]] = {
    "gaps": lambda table: bool(table.with_gaps()) and table.options.get("missing") != "listwise",
    "gaps in whole numbers": lambda table: bool(table.with_gaps("whole", "flag")),
    "gaps in labels": lambda table: bool(table.with_gaps("label", "spelled")),
    "an empty row": lambda table: any(set(row) == {None} for row in zip(*table.cells, strict=False)),
    "infinities": lambda table: any(isinstance(cell, float) and isinf(cell) for cells in table.cells for cell in cells),
    "several kinds": lambda table: len(table.kinds) > 1,
    "wide numbers beside floats": lambda table: len(table.kinds) > 1 and any(map(_lies_apart, table.columns.values())),
}


def table(
    *, name: str = "", slow: bool = False, reading: bool = False, **options: Any
) -> Callable[[Callable[..., dict[str, Any]]], Callable[..., Any]]:
    """Enter a table into `TABLES`; its columns are `Column`s, or arrays that say themselves what they are."""

    def enter(make: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        known = name or make.__name__
        columns = make(np.random.default_rng(crc32(known.encode())))
        described = {key: cells if isinstance(cells, Column) else column(cells) for key, cells in columns.items()}
        TABLES[known] = Table(known, described, options, slow, reading)
        return make

    return enter


_KINDS = {"f": "number", "i": "whole", "u": "whole", "b": "flag", "U": "label", "M": "moment", "m": "span"}


def column(cells: Any) -> Column:
    """A column from an array or a list, with NaN and NaT as missing cells."""
    array = np.asarray(cells)
    kind = "single" if array.dtype == np.float32 else _KINDS[array.dtype.kind]
    if array.dtype.kind in "Mm":
        array = array.astype(f"{array.dtype.kind}8[us]")
    values = array.tolist()
    return Column(kind, [None if value != value else value for value in values])  # noqa: PLR0124


def with_gaps(cells: Any, rng: np.random.Generator, share: float = 0.2) -> Column:
    """A column some of whose cells are missing."""
    whole = column(cells)
    gone = rng.random(len(whole.cells)) < share
    return Column(whole.kind, [None if out else cell for cell, out in zip(whole.cells, gone, strict=True)])


def numbers(rng: np.random.Generator, n: int = 240) -> dict[str, Any]:
    """Numbers without ties: dependent in several ways, one nearly a copy, and noise."""
    x = rng.standard_normal(n)
    return {
        "x": x,
        "parabola": x**2 + 0.5 * rng.standard_normal(n),
        "copy": np.exp(x),
        "wave": np.sin(4 * x) + rng.standard_normal(n),
        "noise": rng.standard_normal(n),
    }


def labels(rng: np.random.Generator, shares: list[float], n: int) -> Any:
    """Labels a, b, … with these shares of the rows."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))[: len(shares)]
    return letters[rng.choice(len(shares), n, p=np.array(shares) / sum(shares))]


def of_pandas(series: Any) -> Column:
    cells = series.astype(object).where(series.notna(), None).tolist()
    kinds = {float: "number", bool: "flag", str: "label", datetime: "moment", timedelta: "span"}
    first = next(cell for cell in cells if cell is not None)
    kind = next(kind for type_, kind in kinds.items() if isinstance(first, type_))
    return Column(kind, [cell.to_pydatetime() if kind == "moment" and cell is not None else cell for cell in cells])
