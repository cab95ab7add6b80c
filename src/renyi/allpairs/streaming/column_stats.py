"""The first look at rows that come in batches: what every column is, its values counted, and no row kept.

Types, levels and grids are decided from all batches together, so that neither their borders nor their order matter.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.streaming import text_counts
from renyi.allpairs.streaming.rank_sketch import Layout, RankSketch
from renyi.allpairs.streaming.text_counts import TextCounts
from renyi.basis.ranks import Cells
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column, Kind
from renyi.data.exact import RoundingError, Tails, is_wide, split
from renyi.data.labels import in_order
from renyi.data.notes import Notes
from renyi.data.sentinels import Extremes
from renyi.data.spelled import NUMBERS, Spelling, told_infinite, wanted_numbers
from renyi.data.types import (
    MAX_LEVELS,
    Override,
    SkipError,
    Type,
    convert,
    infinite_rows,
    pool_levels,
    read,
    shown,
    words_of,
)
from renyi.errors import InputError


@dataclass(frozen=True, eq=False)
class Part:
    """A column of one batch: floats or codes of levels, and which rows lack a value.

    Numbers that no float equals have tails beyond the nearest one. Times are counted in a unit. Text is levels until
    all batches have shown what it spells; `words` are cells of text that spell no number where numbers are wanted.
    """

    kind: Kind
    type: Type | Literal["text"]
    values: NDArray[Any]
    missing: Mask | None
    levels: tuple[Hashable, ...] = ()
    n_infinite: int = 0
    tails: Tails | None = None
    unit: str = ""
    # Some value, as messages show it.
    example: str = ""
    words: Mapping[str, int] = field(default_factory=dict)
    # The type of numbers before they became floats.
    dtype: np.dtype[Any] | None = None

    @property
    def has_large_floats(self) -> bool:
        """Whether these are floats of which some may have been whole numbers of more digits."""
        return self.dtype is not None and self.dtype.kind == "f" and self.tails is None and is_wide(self.values)

    @property
    def observed(self) -> NDArray[Any]:
        """Values that are there."""
        return self.values if self.missing is None else self.values[~self.missing]

    @property
    def observed_tails(self) -> Tails | None:
        """Tails of values that are there."""
        return self.tails if self.tails is None or self.missing is None else self.tails[~self.missing]


def part_of(data: Any, name: str, override: Override | Spelling | None, /) -> Part:
    """Some rows of a column: an array, a Column or a narwhals Series."""
    data, n_infinite = _without_infinities(data)
    # Whether text names its rows, and what it spells, is decided from all of them.
    column, kind = read(data, name, override or "category")
    if kind in ("category", "ordered") and (override == "date" or isinstance(override, Spelling)):
        # How dates are written is decided from all batches for labels, too.
        column, kind = replace(column, kind="category"), "text"
    if column.levels and override == "number":
        column, n_infinite = _without_infinite_levels(column)
    words = words_of(column) if kind == "text" and override == "number" else {}
    if kind == "text" and override in (None, "date"):
        return Part(column.kind, kind, column.values, column.missing, column.levels, example=_example(column))
    column, kind = convert(column, kind, NUMBERS if kind == "text" and override == "number" else override)
    if column.is_vector:
        raise InputError(
            f"{name!r} has several numbers in a row, and batches have a column for each: pass these, and "
            f"vectors={{{name!r}: [...]}} with their names"
        )
    if not column.is_number:
        return Part(
            column.kind, kind, column.values, column.missing, column.levels, n_infinite, example=_example(column)
        )
    try:
        if column.is_rounded:  # none of them became the same here, but may have with those of another batch
            raise RoundingError
        values, tails = split(column.values)
    except RoundingError as error:
        raise SkipError(str(error)) from error
    dtype = column.values.dtype
    return Part(
        *(column.kind, kind, values, column.missing, column.levels, n_infinite, tails),
        example=_example(column),
        words=words,
        unit=dtype.str[4:-1] if dtype.kind in "Mm" else "",
        dtype=dtype,
    )


def _called(kind: str | None) -> str:
    return "category" if kind == "text" else str(kind)


def _example(column: Column) -> str:
    """The first value that is there, as messages show it."""
    known = column.values if column.missing is None else column.values[~column.missing]
    return shown(column, known[0]) if len(known) else ""


def _without_infinities(data: Any) -> tuple[Any, int]:
    """Floats with NaN in place of infinities, and how many those were."""
    array = data
    if not isinstance(data, (np.ndarray, Column)):
        if not data.dtype.is_float():
            return data, 0
        array = data.to_numpy()
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.ndim != 1:
        return data, 0
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return data, 0
    infinite = np.isinf(array)
    n_infinite = int(np.count_nonzero(infinite))
    return (np.where(infinite, np.nan, array), n_infinite) if n_infinite else (data, 0)


def _without_infinite_levels(column: Column) -> tuple[Column, int]:
    """Labels without those that spell infinities, and how many rows those had."""
    infinite = infinite_rows(column)
    gaps = infinite if column.missing is None else infinite | column.missing
    return replace(column, missing=gaps if gaps.any() else None), int(np.count_nonzero(infinite))


@dataclass(eq=False)
class ColumnStats:
    """What all batches so far say of one column; batches without an observed value say nothing of its type."""

    name: str
    override: Override | None
    capacity: int
    layout: Layout | None = None
    max_levels: int = MAX_LEVELS
    room: int = text_counts.LEAST_ROOM
    n_missing: int = 0
    n_infinite: int = 0
    kind: Kind | None = None
    type: Type | Literal["text"] | None = None
    levels: tuple[Hashable, ...] = ()
    unit: str = ""
    has_large_floats: bool = False
    has_tails: bool = False
    reason: str = ""
    example: str = ""
    sketch: RankSketch | None = None
    rows: dict[Hashable, int] = field(default_factory=dict)
    text: TextCounts | None = None
    words: dict[str, int] = field(default_factory=dict)
    extremes: Extremes = field(default_factory=Extremes)

    @property
    def numbers(self) -> tuple["ColumnStats", ...]:
        """What is counted as a number: this one, if it is, or the coordinates of a vector."""
        return (self,)

    def update(self, data: Any, /) -> None:
        """Look at some more rows."""
        part = self.read(data)
        if part is not None:
            self.take(part)

    def read(self, data: Any, /) -> Part | None:
        """Some more rows, if they can be read, and those before them could."""
        if self.reason:
            return None
        try:
            return part_of(data, self.name, self.override)
        except SkipError as error:
            self.reason = str(error)
            return None

    def take(self, part: Part, gaps: Mask | None = None, /) -> None:
        """Count some more rows; of numbers those alone that a vector has, where they are a coordinate of one."""
        n_missing = 0 if part.missing is None else int(np.count_nonzero(part.missing))
        self.n_missing += n_missing
        self.n_infinite += part.n_infinite
        self._add_words(part.words)
        if n_missing == len(part.values):
            return
        self.example = self.example or part.example
        self._agree(part.kind, part.type, part.levels if part.type == "ordered" else (), part.unit)
        if self.sketch is not None:
            part = part if gaps is None else replace(part, missing=gaps)
            tails = part.observed_tails
            self.sketch.update(part.observed, tails)
            self._note_large(part.has_large_floats, has_tails=tails is not None and bool(tails.any()))
            if part.type == "number" and self.override is None and gaps is None:
                self.extremes.update(part.observed)
            return
        times = np.bincount(part.observed, minlength=len(part.levels))
        if self.text is not None:
            self._count_text(self.text.update, part.levels, times)
            return
        for level, n in zip(part.levels, times.tolist(), strict=True):
            if n:
                self.rows[level] = self.rows.get(level, 0) + n
        self._limit_levels()

    def _count_text(self, count_some: Callable[..., None], *cells: Any) -> None:
        try:
            count_some(*cells)
        except SkipError as error:
            self.reason, self.text = str(error), None

    def _add_words(self, words: Mapping[str, int]) -> None:
        for word, n in words.items():
            self.words[word] = self.words.get(word, 0) + n
        if len(self.words) > text_counts.MOST_LEVELS:
            wanted_numbers(self.name, self.words, 0, Notes())

    def _agree(self, kind: Kind, type_: Type | Literal["text"], levels: tuple[Hashable, ...], unit: str) -> None:
        if self.kind is None:
            self.kind, self.type, self.levels, self.unit = kind, type_, levels, unit
            self.sketch = RankSketch.beginning(self.capacity, self.layout) if kind == "number" else None
            self.text = TextCounts(self.capacity, self.override == "date", room=self.room) if type_ == "text" else None
        elif (kind, type_) != (self.kind, self.type):
            # Words among the numbers of some batches make these text.
            wanted = "'number'} or 'category'" if {type_, self.type} == {"number", "text"} else "'category'}"
            raise InputError(
                f"{self.name!r} is a {_called(self.type)} in one batch and a {_called(type_)} in another: give it one "
                f"type, or say what it is by types={{{self.name!r}: {wanted}"
            )
        elif levels != self.levels:
            raise InputError(
                f"{self.name!r} has ordered levels that differ between batches: give all of them the same levels"
            )
        elif unit != self.unit:
            raise InputError(
                f"{self.name!r} is counted in {self.unit} in one batch and in {unit} in another: give it one unit"
            )

    def _note_large(self, has_large_floats: bool, *, has_tails: bool) -> None:
        """Leave out large whole numbers of some batches beside floats of others, which may have been such numbers."""
        self.has_large_floats |= has_large_floats
        self.has_tails |= has_tails
        if self.has_large_floats and self.has_tails:
            self.reason = (
                "has whole numbers beyond 2⁵³ in one batch and floats as large in another, which may have rounded "
                "them: give it one type in all batches"
            )
            self.sketch = None

    def _limit_levels(self) -> None:
        if len(self.rows) > text_counts.MOST_LEVELS:
            self.reason = f"more than {text_counts.MOST_LEVELS:,} distinct values: an identifier or free text"
            self.rows = {}

    def copy(self) -> "ColumnStats":
        """One that has seen the same; neither changes the other."""
        return replace(
            self,
            rows=dict(self.rows),
            sketch=None if self.sketch is None else self.sketch.copy(),
            text=None if self.text is None else self.text.copy(),
            words=dict(self.words),
            extremes=self.extremes.copy(),
        )

    def merge(self, other: "ColumnStats", /) -> None:
        """Add what other batches say."""
        self.reason = min(filter(None, (self.reason, other.reason)), default="")
        if self.reason:
            self.rows, self.sketch, self.text = {}, None, None
            return
        self.n_missing += other.n_missing
        self.n_infinite += other.n_infinite
        self._add_words(other.words)
        if other.kind is None or other.type is None:
            return
        self.example = self.example or other.example
        self._agree(other.kind, other.type, other.levels, other.unit)
        if self.sketch is not None and other.sketch is not None:
            self.sketch.merge(other.sketch)
            self._note_large(other.has_large_floats, has_tails=other.has_tails)
            self.extremes.merge(other.extremes)
        if self.text is not None:
            self._count_text(self.text.merge, other.text)
        for level, n in other.rows.items():
            self.rows[level] = self.rows.get(level, 0) + n
        self._limit_levels()

    @property
    def n_observed(self) -> int:
        """Rows that have a value."""
        if self.text is not None:
            return self.text.n_rows
        return sum(self.rows.values()) if self.sketch is None else self.sketch.n_values

    def check(self, n_observed: int, notes: Notes, /) -> None:
        """Refuse, by a SkipError, what could not be read, given how many rows have a value."""
        if self.reason:
            raise SkipError(self.reason)
        if self.n_infinite:
            raise SkipError(told_infinite(self.n_infinite))
        if self.words:
            wanted_numbers(self.name, self.words, n_observed + sum(self.words.values()), notes)

    def decided(self, grid: Callable[[int], int | None], notes: Notes | None = None, /) -> "Counted":
        """What the column is, on a grid for its rows; refused by a SkipError where it cannot be measured."""
        notes = Notes() if notes is None else notes
        self.check(self.n_observed, notes)
        if self.text is not None:
            return self._from_text(self.text, grid, notes)
        is_constant = len(self.rows) == 1 if self.sketch is None else self.sketch.is_constant
        self._check_varies(self.n_observed, is_constant)
        if self.type is None or self.type == "text":
            raise ValueError("observed values have a type")
        if self.sketch is None:
            return self._category(self.type, self.rows)
        self.extremes.tell(self.name, notes)
        return self._number(self.type, self.sketch, self.n_missing, self.override, grid)

    def coordinate(self) -> "Counted":
        """A number as the coordinate of a vector: every distinct value has its rank."""
        if self.sketch is None:
            raise ValueError("a coordinate has numbers")
        return self._number("number", self.sketch, self.n_missing, self.override, lambda _: None)

    def _check_varies(self, n_observed: int, is_constant: bool) -> None:
        if n_observed < 2:
            raise SkipError("no observed value" if not n_observed else "a single observed value")
        if is_constant:
            raise SkipError(f"constant (always {self.example})")

    def _from_text(self, text: TextCounts, grid: Callable[[int], int | None], notes: Notes) -> "Counted":
        self._check_varies(self.n_observed, len(text.rows) == 1)
        spelling, sketch = text.decided(self.name, notes)
        if spelling is None or sketch is None:
            return self._category("category", text.rows)
        n_words = text.n_rows - sketch.n_values
        if text.sketches is not None:
            n_words = sum(text.words_beside(spelling).values())
        self._check_varies(sketch.n_values, sketch.is_constant)
        return self._number(spelling.kind, sketch, self.n_missing + n_words, spelling, grid)

    def _number(
        self,
        kind: Type,
        sketch: RankSketch,
        n_missing: int,
        override: Override | Spelling | None,
        grid: Callable[[int], int | None],
    ) -> "Counted":
        cells, smallest, tails = sketch.cells(grid(sketch.n_values))
        return Counted(
            *(self.name, kind, n_missing, override, cells.counts),
            location_and_scale=sketch.location_and_scale(),
            rank_error=sketch.rank_error,
            cells=cells,
            smallest=smallest,
            tails=tails,
            origin=sketch.origin,
            levels=self.levels,
            keys=(self.name,),
        )

    def _category(self, kind: Type, times: Mapping[Hashable, int]) -> "Counted":
        levels = in_order(list(times))
        pooled: tuple[Hashable, ...]
        rows = np.array([times[level] for level in levels], dtype=np.intp)
        if kind == "boolean":
            levels, pooled, n_pooled = [False, True], (False, True), 0
            rows, moved = np.array([times[False], times[True]]), np.arange(2)
        else:
            requested = self.override is not None
            moved, pooled, n_pooled = pool_levels(tuple(levels), rows, requested=requested, max_levels=self.max_levels)
        counts = np.bincount(moved, rows, minlength=len(pooled)).astype(np.intp)
        places = dict(zip(levels, moved.tolist(), strict=True))
        return Counted(
            *(self.name, kind, self.n_missing, self.override, counts),
            location_and_scale=(0.5, 0.5) if len(pooled) == 2 else (np.nan, 1.0),
            levels=pooled,
            places=places,
            n_pooled=n_pooled,
            keys=(self.name,),
        )


@dataclass(frozen=True, eq=False)
class Counted:
    """A column whose values were counted, with what is needed to tell the cell of every row of a batch.

    A number has cells and the smallest value of each, and its levels if it is ordered; a category its levels after
    pooling, and the place among them of every level that occurs. Location and scale standardise the values less their
    origin, nearly; NaN where these have no order.
    """

    name: str
    type: Type
    n_missing: int
    override: Override | Spelling | None
    counts: Index
    location_and_scale: tuple[float, float]
    rank_error: float = 0.0
    cells: Cells | None = None
    smallest: Array | None = None
    tails: Tails | None = None
    origin: tuple[float, float] = (0.0, 0.0)
    levels: tuple[Hashable, ...] = ()
    places: Mapping[Hashable, int] = field(default_factory=dict)
    n_pooled: int = 0
    # Where a batch has it.
    keys: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Number or category."""
        return "category" if self.cells is None else "number"

    @property
    def column(self) -> Column:
        """The column without its rows."""
        return Column(self.name, self.kind, np.empty(0), None, self.levels)

    @property
    def numbers(self) -> tuple["Counted", ...]:
        """What was counted as a number: this one, if it is."""
        return () if self.cells is None else (self,)

    @property
    def n_observed(self) -> int:
        """Rows that have a value."""
        return int(self.counts.sum())
