"""One column of a table to what it is: its type, its levels, or the reason to leave it out."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Index, Mask
from renyi.data.column import Column
from renyi.data.exact import EXACT, RoundingError, exact_array
from renyi.data.frames import period_starts, read_categories, read_cells, with_gaps
from renyi.data.labels import encode, encode_array, encode_series, is_missing, tidy
from renyi.data.notes import Notes
from renyi.data.reader import ROUNDED, as_column, as_one, measurable, no_coordinate
from renyi.data.spelled import (
    NUMBERS,
    Spelling,
    is_infinite,
    may_spell,
    spelling_of,
    spells,
    told_infinite,
    wanted_dates,
    wanted_numbers,
)
from renyi.errors import InputError, RenyiError, count, is_integer

Type = Literal["number", "category", "boolean", "ordered", "date", "time", "duration", "vector"]
# What a column may be said to be; what tables say in `.types` can be passed back.
Stated = Literal["number", "category", "date", "skip", "boolean", "ordered", "time", "duration", "vector"]
# Or its labels in their order, the lowest first.
Override: TypeAlias = Stated | tuple[Hashable, ...]
# Types that a column has or has not: nothing is made into them.
_AS_THEY_ARE = ("boolean", "ordered", "time", "duration", "vector")
Typed: TypeAlias = tuple[Column, Type]
# Text is a category until all of its cells have shown what they spell.
Raw: TypeAlias = tuple[Column, Type | Literal["text"]]

# A row in a level of m rows has the leverage 1/m, and the null distributions of the tests fail where leverage is high.
# A limit of 20 would cost more than it brings: 2,000 levels of 10 rows that explain 0.96 would be one, and show 0.20,
# while 1,200 levels of 8 rows that explain nothing take 0.02 from a strength of 0.2; benchmarks/studies/many_levels.py.
_FEWEST_ROWS = 5
# Two categories of so many levels each have a table of 32 MB.
MAX_LEVELS = 2000
# Text with a larger share of distinct values names its rows, or is prose.
_LARGEST_DISTINCT = 0.5
# Most columns show that they vary in their first rows.
_FIRST_ROWS = 64
_OTHER = "(other)"
_KINDS: dict[str, Type] = {"M": "date", "m": "duration", "b": "boolean"}
_NAMED = {"boolean": "a boolean", "ordered": "an ordered category", "vector": "a vector"}
_HELD = {"category": "labels", "boolean": "booleans", "ordered": "ordered labels", "text": "text"}
_NUMBERS = (int, float, np.bool_, np.integer, np.floating, Decimal)


class Ordered(str):
    """The type "ordered" of labels that the user has put in order: passed back as `types=`, it has that order again."""

    labels: tuple[Hashable, ...]

    def __new__(cls, labels: tuple[Hashable, ...]) -> "Ordered":
        self = super().__new__(cls, "ordered")
        self.labels = labels
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.labels,)


class Cause(Enum):
    """Why a column is left out, for programs that decide by it."""

    ASKED, UNREADABLE, INFINITE, CONSTANT, IDENTIFIER, RARE = range(6)


class SkipError(RenyiError):
    """Why a column is left out, in words that follow its name, and by its cause."""

    def __init__(self, words: str, cause: Cause = Cause.UNREADABLE) -> None:
        super().__init__(words)
        self.cause = cause


# Reading: the cells of a column as they are.


def read(data: Any, name: str, override: Override | Spelling | None) -> Raw:
    """A column from an array, a Column or a narwhals Series, in the type that its cells have; text as levels."""
    import narwhals.stable.v2 as nw

    if override == "skip":
        raise SkipError("left out by types", Cause.ASKED)
    if isinstance(data, Column):
        kind: Type | Literal["text"] = "ordered" if data.is_number and data.levels else data.kind
        return replace(data, name=name, argument=""), kind
    if isinstance(data, np.ndarray):
        masked = isinstance(data, np.ma.MaskedArray)
        return _from_cells(np.asarray(data), np.ma.getmaskarray(data) if masked else None, name)
    dtype = data.dtype
    try:
        if isinstance(dtype, nw.String):
            if override is None:
                # Before they are encoded, which takes long for as many levels as rows.
                known = data.filter(~data.is_null())
                levels = known.unique(maintain_order=True).to_list()
                if not may_spell(levels):
                    _refuse_identifier(levels, len(known))
            return _category(*encode_series(data), name), "text"
        if isinstance(dtype, (nw.Categorical, nw.Enum)):
            encoded, ordered = read_categories(data)
            if not ordered:
                return _category(*tidy(*encoded), name), "category"
            return replace(_category(*encoded, name), kind="number"), "ordered"
        if isinstance(dtype, (nw.List, nw.Struct)):
            raise SkipError(f"holds values of the type {dtype}, which are neither numbers nor labels")
        cells, missing, is_rounded = read_cells(data)
        # What pandas hands out is the caller's to change; other libraries never change a column.
        column, kind = _from_cells(cells.copy() if data.implementation.is_pandas() else cells, missing, name)
        column = replace(column, is_rounded=column.is_rounded or is_rounded)
    except RoundingError as error:
        raise SkipError(str(error)) from error
    except (InputError, SkipError):
        raise
    except Exception as error:
        raise SkipError(f"has the type {dtype}, which cannot be read ({error})") from error
    return column, "time" if isinstance(dtype, nw.Time) else kind


def _category(codes: Index, missing: Mask, levels: tuple[Hashable, ...], name: str) -> Column:
    return Column(name, "category", codes, missing if missing.any() else None, levels)


def _from_cells(array: NDArray[Any], missing: Mask | None, name: str) -> Raw:
    """Cells, with the places where they are known to be missing, by the type of their array."""
    if array.ndim > 1:
        return _from_rows(array, missing, name)
    column = measurable(np.ascontiguousarray(array), () if missing is None else (missing,), name, _infinite)
    if column is not None:
        return column, _KINDS.get(array.dtype.kind, "number")
    match array.dtype.kind:
        case "U" | "T":
            gaps = np.zeros(len(array), dtype=bool) if missing is None else missing
            observed, _, levels = encode_array(array[~gaps])
            return _category(with_gaps(observed, gaps), gaps, levels, name), "text"
        case "O":
            return _from_objects(array, missing, name)
    why = {"S": "holds bytes: decode them to text", "c": "holds complex numbers, which have no order: pass their parts"}
    raise SkipError(why.get(array.dtype.kind, f"has the type {array.dtype}, which is neither numbers nor labels"))


def _from_rows(array: NDArray[Any], missing: Mask | None, name: str) -> Typed:
    try:
        column = as_column(array if missing is None else np.ma.array(array, mask=missing), name)
    except InputError as error:
        raise SkipError(f"cannot be read: {error}") from error
    return column, "vector" if column.is_vector else _KINDS.get(column.values.dtype.kind, "number")


def _infinite(infinite: Mask) -> "SkipError":
    told = told_infinite(int(infinite.sum()), f" (first in row {infinite.argmax():,})")
    return SkipError(told, Cause.INFINITE)


def _from_objects(array: NDArray[Any], missing: Mask | None, name: str) -> Raw:
    """Python objects: numbers, booleans, dates, times and durations by themselves, text also among numbers."""
    gaps = np.fromiter(map(is_missing, array), dtype=bool, count=len(array))
    gaps = gaps if missing is None else gaps | missing
    cells = array[~gaps].tolist()
    kinds = Counter(map(type, cells))

    def only(*classes: type) -> bool:
        # NumPy has its durations among whole numbers.
        return all(issubclass(kind, classes) and (kind is not np.timedelta64 or kind in classes) for kind in kinds)

    is_rounded = False
    if only(bool, np.bool_) and kinds:
        found: NDArray[Any] = np.array(cells, dtype=bool)
    elif only(*_NUMBERS):
        found, is_rounded = _kept_apart(cells)
    elif only(str, *_NUMBERS):
        codes, _, levels = encode(cells)
        return _category(with_gaps(codes, gaps), gaps, levels, name), "text"
    elif all(kind.__name__ == "Period" for kind in kinds):
        found = period_starts(cells)
    elif only(date):
        exact = any(issubclass(kind, datetime) for kind in kinds)
        found = np.array(_without_zone(cells), dtype="M8[us]" if exact else "M8[D]")
    elif only(timedelta):
        found = np.array(cells, dtype="m8[us]")
    elif only(np.datetime64) or only(np.timedelta64):
        found = _of_units(cells)
    elif only(time):
        found = np.array([_nanoseconds(cell) for cell in cells], dtype=np.int64)
    else:
        said = ", ".join(f"{kind.__name__} ({times:,})" for kind, times in kinds.most_common(3))
        raise SkipError(f"holds objects that are neither numbers nor labels: {said}")
    column, kind = _from_cells(with_gaps(found, gaps), gaps, name)
    return replace(column, is_rounded=is_rounded), "time" if kinds and only(time) else kind


def _kept_apart(cells: list[Any]) -> tuple[NDArray[Any], bool]:
    try:
        return exact_array(cells)
    except RoundingError as error:
        raise SkipError(str(error)) from error


def _of_units(cells: list[Any]) -> NDArray[Any]:
    """Dates or durations of NumPy in the finest of their units."""
    found = np.array(cells)
    if found.dtype.kind == "O":
        raise SkipError("mixes durations in months or years with others: give them one unit")
    return found


def _without_zone(cells: list[Any]) -> list[Any]:
    zoned = sum(getattr(cell, "tzinfo", None) is not None for cell in cells)
    if zoned not in (0, len(cells)):
        raise SkipError(f"mixes {zoned:,} dates with a time zone and {len(cells) - zoned:,} without: give all the same")
    try:
        return [cell.astimezone(UTC).replace(tzinfo=None) for cell in cells] if zoned else cells
    except OverflowError as error:
        raise SkipError(
            "holds dates that are in a year which Python does not have in UTC: leave out the zone"
        ) from error


def _nanoseconds(cell: time) -> int:
    return (((cell.hour * 60 + cell.minute) * 60 + cell.second) * 1_000_000 + cell.microsecond) * 1000


# What the user wants instead.


def convert(
    column: Column, kind: Type | Literal["text"], override: Override | Spelling | None, notes: Notes | None = None
) -> Typed:
    """The column as the user wants it, or as it is; notes take what had to be decided about text."""
    notes = Notes() if notes is None else notes
    if isinstance(override, tuple):
        return _in_order(column, kind, override), cast(Type, Ordered(override))
    if override in _AS_THEY_ARE and kind != override:
        raise InputError(
            f"types says that {column.name!r} is {_NAMED.get(str(override), override)}, and it holds "
            f"{_HELD.get(kind, f'{kind}s')}: leave it out of types, or convert the column"
        )
    if kind == "text":
        return _from_text(column, override, notes)
    if override is None or kind == override:
        return column, kind
    if kind == "vector":
        raise InputError(
            f"types asks for a {override} and {column.name!r} holds vectors: leave it as it is, or skip it"
        )
    if override == "category":
        return (column, kind) if kind == "boolean" else (_as_category(column, kind), override)
    if override == "date":
        return _as_dates(column, kind, notes), "date"
    return _parsed(column) if kind in ("category", "boolean", "ordered") else column, "number"


def _in_order(column: Column, kind: Type | Literal["text"], order: tuple[Hashable, ...]) -> Column:
    """Labels as ranks in an order that the user gives, the lowest first."""
    if kind in ("date", "time", "duration", "vector"):
        raise InputError(f"types orders labels of {column.name!r}, which holds {_HELD.get(kind, kind)}: leave it out")
    labels = column if column.is_category or kind == "text" else _as_category(column, kind)
    place = {label: code for code, label in enumerate(order)}
    moved = np.array([place.get(level, -1) for level in labels.levels], dtype=np.intp)
    codes = moved[labels.values] if len(moved) else labels.values
    unknown = (codes < 0) & ~labels.gaps
    if unknown.any():
        row = int(unknown.argmax())
        raise InputError(
            f"types orders {column.name!r} by {len(order):,} labels, and row {row:,} holds "
            f"{labels.levels[labels.values[row]]!r}: add it to the list, or make such cells missing"
        )
    return replace(labels, kind="number", values=np.maximum(codes, 0), levels=order)


def _as_category(column: Column, kind: Type) -> Column:
    missing = column.gaps
    if kind == "ordered":
        try:
            return _category(*tidy(column.values, missing, column.levels), column.name)
        except TypeError as error:  # records of Arrow
            raise InputError(f"types asks for a category in {column.name!r}, whose levels are no labels") from error
    codes, _, levels = encode_array(_plain(column.values[~missing]))
    return _category(with_gaps(codes, missing), missing, levels, column.name)


def _from_text(column: Column, override: Override | Spelling | None, notes: Notes) -> Typed:
    """Text as what it spells, by the rules or as the user wants it."""
    spelling = override if isinstance(override, Spelling) else None
    if override == "number":
        spelling = wanted_numbers(column.name, words_of(column), len(column) - int(column.gaps.sum()), notes)
    elif override == "date":
        return _as_dates(column, "text", notes), "date"
    elif override is None and column.levels:
        rows = np.bincount(column.values[~column.gaps], minlength=len(column.levels))
        spelling = spelling_of(column.name, column.levels, rows, notes)
    return (column, "category") if spelling is None else (as_spelled(column, spelling), spelling.kind)


def as_spelled(column: Column, spelling: Spelling) -> Column:
    """What the levels of a category spell; levels that spell nothing are missing."""
    if not column.levels:
        return replace(column, kind="number")
    try:
        values, is_read, is_rounded = spelling.values(column.levels)
    except RoundingError as error:
        raise SkipError(str(error)) from error
    if spelling == NUMBERS and (infinite := infinite_rows(column)).any():
        raise _infinite(infinite)
    missing = column.gaps | ~is_read[column.values]
    gaps = missing if missing.any() else None
    return Column(column.name, "number", values[column.values], gaps, is_rounded=is_rounded)


def infinite_rows(column: Column) -> Mask:
    """Rows of levels that spell an infinite number."""
    infinite: Mask = np.array([is_infinite(level) for level in column.levels], dtype=bool)[column.values]
    return infinite & ~column.gaps


def words_of(column: Column) -> dict[str, int]:
    """Levels that spell no number, with their rows."""
    rows = np.bincount(column.values[~column.gaps], minlength=len(column.levels)).tolist()
    return {str(cell): n for cell, n in zip(column.levels, rows, strict=True) if n and not spells(float, cell)}


def _as_dates(column: Column, kind: str, notes: Notes) -> Column:
    """Dates that text spells, or whole numbers such as 20240229."""
    values, missing = column.values, column.gaps
    levels, codes = column.levels, values
    if kind == "number" and not levels and not missing.all():
        known, within = np.unique(values[~missing], return_inverse=True)
        levels, codes = tuple(f"{value:.0f}" for value in known.tolist()), with_gaps(within, missing)
    if kind in ("boolean", "duration", "time"):
        raise InputError(f"types asks for dates in {column.name!r}, which is a {kind}: leave it as it is, or skip it")
    labels = Column(column.name, "category", codes, column.missing, levels)
    if not levels:
        return replace(labels, kind="number")
    rows = np.bincount(codes[~missing], minlength=len(levels))
    return as_spelled(labels, wanted_dates(column.name, levels, rows, notes))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers where floats are all whole, as they are in pandas beside missing ones; dates to microseconds."""
    if values.dtype.kind == "f" and (np.abs(values) < np.float64(EXACT)).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    # Finer ones would come out of `tolist` as bare numbers.
    return values.astype(f"{values.dtype.kind}8[us]") if values.dtype.kind in "Mm" else values


def _parsed(column: Column) -> Column:
    """The numbers that the labels of a category spell."""
    if column.levels:
        bad = ~np.array([spells(float, level) for level in column.levels])[column.values] & ~column.gaps
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"types asks for numbers in {column.name!r}, and row {row:,} holds "
                f"{column.levels[column.values[row]]!r}: make such cells missing, or leave the column as a category"
            )
    return as_spelled(column, NUMBERS)


def as_vector(
    name: str, parts: Mapping[str, Any], overrides: Mapping[str, Override], notes: Notes | None = None
) -> Typed:
    """Several columns of numbers as one of vectors; a row that lacks one is missing."""
    columns = []
    for part, data in parts.items():
        try:
            column, kind = convert(*read(data, part, overrides.get(part)), overrides.get(part), notes)
        except SkipError as error:
            raise SkipError(f"its part {part!r}: {error}") from error
        if kind != "number":
            raise no_coordinate(name, part, kind)
        columns.append(column)
    vector, rounded = as_one(name, columns)
    if rounded is not None:
        raise SkipError(f"its part {rounded.name!r}: {ROUNDED}")
    return vector, "vector"


# What remains to be measured.


def check_varies(column: Column) -> None:
    """Leave out what has fewer than two different values."""
    known = column.known
    if len(known) < 2:
        raise SkipError("no observed value" if not len(known) else "a single observed value", Cause.CONSTANT)
    if not (known[:_FIRST_ROWS] == known[0]).all():
        return
    if (known == known[0]).all():
        raise SkipError(f"constant (always {shown(column, known[0])})", Cause.CONSTANT)


def shown(column: Column, value: Any) -> str:
    """One of the values of a column, as messages show it."""
    value = column.levels[int(value)] if column.levels else value
    if column.is_vector or (isinstance(value, np.generic) and value.dtype.kind in "Mm"):
        return str(value)
    return repr(value.item() if isinstance(value, np.generic) else value)


def check_max_levels(max_levels: Any, /) -> int:
    """How many levels a category may have at most, if that is a number of them."""
    if is_integer(max_levels) and 2 <= max_levels <= MAX_LEVELS:
        return int(max_levels)
    raise InputError(f"max_levels must be an integer from 2 to {MAX_LEVELS:,}, got {max_levels!r}")


def pool(column: Column, *, requested: bool, max_levels: int = MAX_LEVELS) -> tuple[Column, int]:
    """A category whose rare levels are one, and how many these were.

    Each level then has at least 5 rows, unless there are only two. What the user wants to be a category may have as
    many distinct values as rows.
    """
    missing = column.gaps
    codes, _, levels = tidy(column.values, missing, column.levels)
    rows = np.bincount(codes[~missing], minlength=len(levels))
    moved, pooled, n_pooled = pool_levels(levels, rows, requested=requested, max_levels=max_levels)
    return replace(column, values=moved[codes], levels=pooled), n_pooled


def pool_levels(
    levels: tuple[Hashable, ...], rows: Index, /, *, requested: bool, max_levels: int = MAX_LEVELS
) -> tuple[Index, tuple[Hashable, ...], int]:
    """Where every level goes, given the rows that each has; the levels that are then left, and how many were pooled."""
    if not requested:
        _refuse_identifier(levels, int(rows.sum()))
    # A level that is called so already is where the others belong.
    other = np.array([level == _OTHER for level in levels])
    rare = _rare(rows, other, max_levels)
    if rare.all():
        beside = f" beside {_OTHER!r}" if other.any() else ""
        most = count(int(rows[~other].max()), "row")
        raise SkipError(f"its {np.count_nonzero(~other):,} levels{beside} have at most {most} each", Cause.RARE)
    kept = tuple(level for level, out in zip(levels, rare, strict=True) if not out)
    moved = np.where(rare, len(kept), np.cumsum(~rare) - 1)
    pooled = (*kept, _OTHER) if rare.any() else kept
    return moved, pooled, int(np.count_nonzero(rare & ~other))


def _rare(rows: Index, other: Mask, max_levels: int) -> Mask:
    """The levels to pool, by their rows alone; levels as frequent as each other in their order."""
    if len(rows) <= 2:
        return other
    by_rows = np.argsort(-rows, kind="stable")
    rare = (rows < _FEWEST_ROWS) | other
    rare[by_rows[max_levels:]] = True
    if rare.any() and rows[rare].sum() < _FEWEST_ROWS and np.count_nonzero(~rare) > 1:
        rare[by_rows[~rare[by_rows]][-1]] = True
    # One frequent level alone would only lose its name.
    return other if np.count_nonzero(rare) == 1 and rows[rare].sum() >= _FEWEST_ROWS else rare


def _refuse_identifier(levels: Sequence[Any], n_observed: int) -> None:
    if len(levels) <= max(2, _LARGEST_DISTINCT * n_observed):
        return
    # By all of them, since doors have them in different orders.
    guess = "an identifier or free text"
    if all(spells(float, cell) for cell in levels):
        guess = "numbers as text, which types can say"
    elif all(spells(datetime.fromisoformat, cell) for cell in levels):
        guess = "dates as text, not all written in one usual way"
    raise SkipError(f"{len(levels):,} of its {n_observed:,} values are distinct: {guess}", Cause.IDENTIFIER)
