"""The cells of a text column whose rows come in batches: counted one by one, or by what they spell if they are many."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.streaming.rank_sketch import RankSketch
from renyi.data.dates import CLOCK, fitting
from renyi.data.exact import RoundingError, Tails, is_wide, split
from renyi.data.labels import in_order
from renyi.data.notes import Notes
from renyi.data.spelled import NUMBERS, Spelling, are_few_words, date_spelling, note_strays, spelling_of, wanted_dates
from renyi.data.types import SkipError

__all__ = ["MOST_LEVELS", "TextCounts"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]

# Cells that are counted one by one: with more, text names its rows, or spells dates or numbers.
MOST_LEVELS = 2**17
_ROWS_AT_ONCE = 2**20


@dataclass(eq=False)
class TextCounts:
    """Rows of every different cell, or once these are too many, of the values in every way that they may be read.

    `words` are cells beside numbers that spell none, and `example` is the first cell of all in their order.
    """

    capacity: int
    wants_dates: bool
    rows: dict[Hashable, int] = field(default_factory=dict)
    sketches: dict[Spelling, RankSketch] | None = None
    words: dict[str, int] = field(default_factory=dict)
    example: str = ""

    def copy(self) -> "TextCounts":
        """One that has seen the same; neither changes the other."""
        sketches = None if self.sketches is None else {key: sketch.copy() for key, sketch in self.sketches.items()}
        return replace(self, rows=dict(self.rows), sketches=sketches, words=dict(self.words))

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
                self.rows[level] = self.rows.get(level, 0) + n
        if len(self.rows) > MOST_LEVELS:
            self._spill()

    def merge(self, other: "TextCounts", /) -> None:
        """Add what other batches hold."""
        if other.sketches is None:
            self.update(list(other.rows), np.array(list(other.rows.values()), dtype=np.intp))
            return
        if self.sketches is None and not self.rows:
            self.__dict__.update(other.copy().__dict__)
            return
        if self.sketches is None:
            self._spill()
        for word, n in other.words.items():
            self.words[word] = self.words.get(word, 0) + n
        self.example = min(filter(None, (self.example, other.example)), default="")
        self._keep(other.sketches)
        for key, sketch in (self.sketches or {}).items():
            sketch.merge(other.sketches[key])

    def _spill(self) -> None:
        """From here on count what cells spell, in every way that fits those so far."""
        ways = fitting([str(level) for level in self.rows], compact=self.wants_dates)
        keys = [Spelling("time" if way == CLOCK else "date", way) for way in ways]
        keys += [] if self.wants_dates else [NUMBERS]
        self.sketches = {key: RankSketch.beginning(self.capacity, None) for key in keys}
        rows, self.rows = self.rows, {}
        self._count(list(rows), np.array(list(rows.values()), dtype=np.intp))

    def _count(self, levels: Sequence[Hashable], times: Index) -> None:
        cells, times = [level for level, n in zip(levels, times.tolist(), strict=True) if n], times[times > 0]
        self.example = min([*filter(None, [self.example]), *map(str, cells)], default="")
        fits = []
        for key, sketch in (self.sketches or {}).items():
            try:
                found = _found(key, cells)
            except RoundingError:
                continue
            floats, tails, is_read = found
            if key == NUMBERS:
                for k in np.flatnonzero(~is_read).tolist():
                    self.words[str(cells[k])] = self.words.get(str(cells[k]), 0) + int(times[k])
            # Of numbers beyond 2⁵³ those of other batches may have been rounded.
            if is_read.all() if key != NUMBERS else tails is None and not is_wide(floats):
                _add(sketch, floats, tails, times[is_read])
                fits.append(key)
        self._keep(fits)

    def _keep(self, keys: Iterable[Spelling]) -> None:
        kept = {key for key in keys if key != NUMBERS or are_few_words(self.words)}
        self.sketches = {key: sketch for key, sketch in (self.sketches or {}).items() if key in kept}
        self.words = self.words if NUMBERS in self.sketches else {}
        if not self.sketches:
            raise SkipError(f"more than {MOST_LEVELS:,} distinct values: an identifier or free text")

    def decided(self, name: str, notes: Notes, /) -> tuple[Spelling | None, RankSketch | None]:
        """What the column spells, and its values counted; None where it is a category."""
        if self.sketches is not None:
            return self._chosen(name, notes)
        levels = in_order(list(self.rows))
        times = np.array([self.rows[level] for level in levels], dtype=np.intp)
        if self.wants_dates:
            spelling: Spelling | None = wanted_dates(name, levels, notes)
        else:
            spelling = spelling_of(name, levels, times, notes)
        if spelling is None:
            return None, None
        try:
            floats, tails, is_read = _found(spelling, levels)
        except RoundingError as error:
            raise SkipError(str(error)) from error
        sketch = RankSketch.beginning(self.capacity, None)
        _add(sketch, floats, tails, times[is_read])
        return spelling, sketch

    def _chosen(self, name: str, notes: Notes) -> tuple[Spelling, RankSketch]:
        sketches = self.sketches or {}
        ways = {key.way: key for key in sketches if key != NUMBERS}
        if ways:
            spelling = date_spelling(name, (), list(ways), notes, wanted=self.wants_dates, example=self.example)
        else:
            # Text that spells numbers alone was made text by somebody.
            spelling = NUMBERS if self.words and are_few_words(self.words, sketches[NUMBERS].n_values) else None
            note_strays(name, self.words if spelling else {}, notes)
        if spelling is None:
            guess = "dates in an order that is open" if ways else "numbers as text, which types can say"
            raise SkipError(f"more than {MOST_LEVELS:,} distinct values: {guess}")
        return spelling, sketches[spelling]


def _found(spelling: Spelling, cells: Sequence[Hashable]) -> tuple[Array, Tails | None, NDArray[np.bool_]]:
    """What cells spell, as floats and their tails, and which cells spell something."""
    values, is_read, is_rounded = spelling.values(cells)
    if is_rounded:
        raise RoundingError
    return *split(values[is_read]), is_read


def _add(sketch: RankSketch, floats: Array, tails: Tails | None, times: Index) -> None:
    for which in _repeated(times):
        sketch.update(floats[which], None if tails is None else tails[which])


def _repeated(times: Index) -> Iterator[Index]:
    """Every place as many times as it is counted, not too many at once."""
    ends = np.cumsum(times)
    for start in range(0, int(ends[-1]) if len(ends) else 0, _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, int(ends[-1])))
        yield np.searchsorted(ends, rows, side="right")
