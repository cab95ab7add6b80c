"""What is asked of a file: its name, how it is to be read, and the names of its columns."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from renyi.data.dates import dates, fitting
from renyi.data.files.text_types import type_columns
from renyi.data.names import each_once
from renyi.data.notes import Notes
from renyi.data.spelled import spells
from renyi.errors import InputError, count, difference, some

# A name, a cast and a cleaning for each column: beyond this a header is a mistake, or a table on its side.
_MOST_COLUMNS = 100_000
BINARY = frozenset({".parquet", ".pq", ".arrow", ".feather", ".ipc"})
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


@dataclass(frozen=True)
class Request:
    """What the user asked for, and how messages name it."""

    name: str
    suffixes: tuple[str, ...]
    separator: str | None
    null_values: tuple[str, ...]
    encoding: str | None
    notes: Notes = field(default_factory=Notes)
    # Columns that stay text whatever their cells look like.
    as_text: frozenset[str] = frozenset()
    # Whether a comma may be decimal; by default where it does not part cells.
    decimal_comma: bool = True
    has_names: bool = True

    @classmethod
    def of(
        cls,
        path: str | Path | None,
        separator: str | None = None,
        null_values: Sequence[str] = (),
        encoding: str | None = None,
        has_names: bool = True,
    ) -> "Request":
        """For a file, or for standard input where that is None."""
        return cls(
            "standard input" if path is None else str(path),
            () if path is None else tuple(suffix.lower() for suffix in Path(path).suffixes),
            check_separator(separator),
            tuple(null_values),
            encoding,
            has_names=has_names,
        )

    def refuse(self, why: str) -> InputError:
        return InputError(f"{self.name} {why}")


def check_separator(separator: str | None) -> str | None:
    """The character that is meant, by itself or by its name; None where it is to be found."""
    if separator is None:
        return None
    known = {"\\t": "\t"} | {name: character for character, name in SEPARATORS.items()}
    separator = known.get(separator, separator)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise InputError(
            f"the separator {separator!r} cannot separate cells: pass one ASCII character, such as ',' ';' '|' or 'tab'"
        )
    return separator


def renamed(frame: Any, request: Request) -> tuple[Any, list[str]]:
    """A frame whose columns are called by their numbers, and the names that they had."""
    names = check_names(frame.columns, request)
    frame.columns = [str(i) for i in range(len(names))]
    return frame, names


def check_names(spelled: Sequence[str], request: Request) -> list[str]:
    """The names without white space around them, each once."""
    if len(spelled) > _MOST_COLUMNS:
        raise request.refuse(
            f"has {len(spelled):,} columns, and more than {_MOST_COLUMNS:,} are not read: check the separator, or turn "
            "the table on its side"
        )
    names = [name.strip() or f"column {i}" for i, name in enumerate(spelled, 1)]
    unnamed = [name for name, before in zip(names, spelled, strict=True) if not before.strip()]
    if unnamed:
        request.notes.say(f"{count(len(unnamed), 'column')} without a name: called {some(unnamed)}")
    return each_once(names, request.notes)


def check_columns(file: Path, names: Collection[str], first: Path, known: Collection[str]) -> None:
    """Refuse a file that has other columns than the first."""
    differs = difference(names, known)
    if differs:
        raise InputError(f"{file} has other columns than {first}, it {differs}: give all files the same columns")


def looks_like_a_row(names: Sequence[str]) -> bool:
    """Whether names look like cells: all are numbers, one has a fraction, or numbers or dates come in no order."""
    spelled = [name.strip() for name in names]
    if all(spells(float, name) for name in spelled):
        return True
    numbers = [number for number in (float(name) for name in spelled if spells(float, name)) if math.isfinite(number)]
    if any(not value.is_integer() or value < 0 for value in numbers):
        return True
    # Columns of years, of places or of days come one after the other.
    is_year = all(1500 <= value < 2200 for value in numbers)
    steps = {later - sooner for sooner, later in pairwise(numbers)}
    has_order = all(step > 0 for step in steps) if is_year else len(steps) <= 1
    return not has_order or _are_days_of_a_row(spelled)


def _are_days_of_a_row(names: Sequence[str]) -> bool:
    """Whether dates among names are too few, or not in the order, to be those of columns."""
    days = [name for name in names if fitting([name])]
    if len(days) < 2:
        return bool(days)
    return not any((np.diff(dates(days, way)[0].astype(np.int64)) > 0).all() for way in fitting(days))


def typed(pl: Any, frame: Any, names: list[str], request: Request, *, decimal_comma: bool) -> Any:
    """Cells of text in the types that they spell."""
    kept = frozenset(str(i) for i, name in enumerate(names) if name in request.as_text)
    return type_columns(
        pl, frame, names, request.notes, decimal_comma=decimal_comma and request.decimal_comma, as_text=kept
    )
