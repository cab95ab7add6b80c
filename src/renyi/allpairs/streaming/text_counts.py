"""The cells of a text column whose rows come in batches: counted one by one, or by what they spell if they are many."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from renyi.allpairs.streaming.rank_sketch import RankSketch
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.dates import CLOCK, fitting
from renyi.data.exact import RoundingError, Tails, is_wide, split
from renyi.data.labels import in_order
from renyi.data.notes import Notes
from renyi.data.sentinels import Extremes
from renyi.data.spelled import (
    NUMBERS,
    Spelling,
    are_few_words,
    date_spelling,
    has_digit,
    is_infinite,
    note_strays,
    spelling_of,
    told_infinite,
    wanted_dates,
)
from renyi.data.types import SkipError

# Cells that are counted one by one: with more, text names its rows, or spells dates or numbers.
MOST_LEVELS = 2**17
# Characters of such cells that there is room for whatever the budget.
LEAST_ROOM = 2**22
_ROWS_AT_ONCE = 2**20


@dataclass(eq=False)
class TextCounts:
    """Rows of every different cell, or once these are too many, of the values in every way that they may be read.

    `words` are cells without a digit, `others` those with one that spell no number; `example` is the first of the
    cells with a digit in their order, and `extremes` has those of the numbers.
    """

    capacity: int
    wants_dates: bool
    rows: dict[Hashable, int] = field(default_factory=dict)
    sketches: dict[Spelling, RankSketch] | None = None
    words: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    example: str = ""
    extremes: Extremes = field(default_factory=Extremes)
    # Characters of cells that are counted one by one, at most and so far.
    room: int = LEAST_ROOM
    n_characters: int = 0

    def copy(self) -> "TextCounts":
        """One that has seen the same; neither changes the other."""
        sketches = None if self.sketches is None else {key: sketch.copy() for key, sketch in self.sketches.items()}
        return replace(
            self,
            rows=dict(self.rows),
            sketches=sketches,
            words=dict(self.words),
            others=dict(self.others),
            extremes=self.extremes.copy(),
        )

    @property
    def n_rows(self) -> int:
        """Rows that have a cell; words beside numbers are none."""
        if self.sketches is None:
            return sum(self.rows.values())
        return max(sketch.n_values for sketch in self.sketches.values())

    def update(self, levels: Sequence[Hashable], times: Index, /) -> None:
        """Count some more cells; refused by a SkipError once they are too many and spell nothing."""
        if self.sketches is not None:
            self._count(levels, times)
            return
        for level, n in zip(levels, times.tolist(), strict=True):
            if n:
                before = self.rows.get(level, 0)
                self.rows[level] = before + n
                self.n_characters += 0 if before else len(str(level))
        if len(self.rows) > MOST_LEVELS or self.n_characters > self.room:
            self._spill()

    def merge(self, other: "TextCounts", /) -> None:
        """Add what other batches hold."""
        if other.sketches is None:
            self.update(list(other.rows), np.array(list(other.rows.values()), dtype=np.intp))
            return
        if self.sketches is None and not self.rows:
            self.__dict__.update(other.copy().__dict__)
            return
        self.n_characters = max(self.n_characters, other.n_characters)
        if self.sketches is None:
            self._spill()
        _add_up(self.words, other.words)
        _add_up(self.others, other.others)
        self.example = min(filter(None, (self.example, other.example)), default="")
        self.extremes.merge(other.extremes)
        self._keep(other.sketches)
        for key, sketch in (self.sketches or {}).items():
            sketch.merge(other.sketches[key])

    def _spill(self) -> None:
        """From here on count what cells spell, in every way that fits those so far."""
        ways = fitting(list(filter(has_digit, map(str, self.rows))), compact=self.wants_dates)
        keys = [Spelling("time" if way == CLOCK else "date", way) for way in ways]
        keys += [] if self.wants_dates else [NUMBERS]
        self.sketches = {key: RankSketch.beginning(self.capacity, None) for key in keys}
        rows, self.rows = self.rows, {}
        self._count(list(rows), np.array(list(rows.values()), dtype=np.intp))

    def _count(self, levels: Sequence[Hashable], times: Index) -> None:
        known = {level: n for level, n in zip(levels, times.tolist(), strict=True) if n}
        told = {level: n for level, n in known.items() if has_digit(str(level))}
        _add_up(self.words, {str(level): n for level, n in known.items() if level not in told})
        self.example = min([*filter(None, [self.example]), *map(str, told)], default="")
        cells, times = list(told), np.array(list(told.values()), dtype=np.intp)
        fits = []
        for key, sketch in (self.sketches or {}).items():
            try:
                floats, tails, is_read = _found(key, cells)
            except RoundingError:
                continue
            if key == NUMBERS:
                _add_up(self.others, {str(cells[k]): int(times[k]) for k in np.flatnonzero(~is_read)})
            # Of numbers beyond 2⁵³ those of other batches may have been rounded.
            if is_read.all() if key != NUMBERS else tails is None and not is_wide(floats):
                _add(sketch, floats, tails, times[is_read])
                fits.append(key)
                if key == NUMBERS:
                    self.extremes.update(floats, times[is_read])
        self._keep(fits)

    def words_beside(self, spelling: Spelling, /) -> dict[str, int]:
        """Cells that are missing where the column is read so, once it is counted by what it spells."""
        return self.words | self.others if spelling == NUMBERS else self.words

    def _keep(self, keys: Iterable[Spelling]) -> None:
        kept = {key for key in keys if self.wants_dates or are_few_words(self.words_beside(key))}
        self.sketches = {key: sketch for key, sketch in (self.sketches or {}).items() if key in kept}
        self.others = self.others if NUMBERS in self.sketches else {}
        if not self.sketches:
            raise self._refused("an identifier or free text")

    def _refused(self, guess: str) -> SkipError:
        if self.n_characters > self.room:
            return SkipError(f"distinct values of more than {self.room:,} characters: {guess}, or pass more memory")
        return SkipError(f"more than {MOST_LEVELS:,} distinct values: {guess}")

    def decided(self, name: str, notes: Notes, /) -> tuple[Spelling | None, RankSketch | None]:
        """What the column spells, and its values counted; None where it is a category."""
        if self.sketches is not None:
            return self._chosen(name, notes)
        levels = in_order(list(self.rows))
        times = np.array([self.rows[level] for level in levels], dtype=np.intp)
        if self.wants_dates:
            spelling: Spelling | None = wanted_dates(name, levels, times, notes)
        else:
            spelling = spelling_of(name, levels, times, notes)
        if spelling is None:
            return None, None
        if spelling == NUMBERS:
            _refuse_infinite(self.rows)
        try:
            floats, tails, is_read = _found(spelling, levels)
        except RoundingError as error:
            raise SkipError(str(error)) from error
        sketch = RankSketch.beginning(self.capacity, None)
        _add(sketch, floats, tails, times[is_read])
        if spelling == NUMBERS:
            extremes = Extremes()
            extremes.update(floats, times[is_read])
            extremes.tell(name, notes)
        return spelling, sketch

    def _chosen(self, name: str, notes: Notes) -> tuple[Spelling, RankSketch]:
        sketches = self.sketches or {}
        ways = [key.way for key in sketches if key != NUMBERS]
        beside = self.words_beside(NUMBERS) if not ways else self.words
        words = beside if ways else {word: n for word, n in beside.items() if not is_infinite(word)}
        spelling = None
        if not self.wants_dates and not are_few_words(words, self.n_rows):
            raise self._refused("an identifier or free text")
        if ways:
            spelling = date_spelling(name, (), ways, notes, words=words, wanted=self.wants_dates, example=self.example)
        elif words:
            # Text that spells numbers alone was made text by somebody.
            spelling = NUMBERS
            _refuse_infinite(beside)
            note_strays(name, words, notes)
            self.extremes.tell(name, notes)
        if spelling is None:
            guess = "dates in an order that is open" if ways else "numbers as text, which types can say"
            raise self._refused(guess)
        return spelling, sketches[spelling]


def _refuse_infinite(cells: Mapping[Any, int]) -> None:
    n_rows = sum(n for cell, n in cells.items() if is_infinite(cell))
    if n_rows:
        raise SkipError(told_infinite(n_rows))


def _found(spelling: Spelling, cells: Sequence[Hashable]) -> tuple[Array, Tails | None, Mask]:
    """What cells spell, as floats and their tails, and which cells spell something."""
    values, is_read, is_rounded = spelling.values(cells)
    if is_rounded:
        raise RoundingError
    return *split(values[is_read]), is_read


def _add_up(total: dict[str, int], more: Mapping[str, int]) -> None:
    for cell, n in more.items():
        total[cell] = total.get(cell, 0) + n


def _add(sketch: RankSketch, floats: Array, tails: Tails | None, times: Index) -> None:
    for which in _repeated(times):
        sketch.update(floats[which], None if tails is None else tails[which])


def _repeated(times: Index) -> Iterator[Index]:
    """Every place as many times as it is counted, not too many at once."""
    ends = np.cumsum(times)
    for start in range(0, int(ends[-1]) if len(ends) else 0, _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, int(ends[-1])))
        yield np.searchsorted(ends, rows, side="right")
