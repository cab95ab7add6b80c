"""What the cells of a text column spell, decided from all of them: dates, times, or numbers beside a few words."""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Index, Mask
from renyi.data.dates import CLOCK, COMPACT, ISO, chosen, dates, fitting
from renyi.data.exact import exact_array, is_wide
from renyi.data.notes import Notes
from renyi.errors import InputError, count, cut, some

# What people write for "missing" among numbers.
MISSING_NUMBER = frozenset(
    ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "?", "-", "--", "–", "—", ".", "*")
)
# Stray words are read as missing up to this share of the cells, and no more different ones than somebody types by hand.
# Without a twentieth of the rows, were they those of its largest values, a strength of 0.96 moves by 0.03 at most, with
# a tenth by 0.04, while the text as a category has 0.0 to 0.8 (benchmarks/results/stray_words.json).
_MOST_STRAY, _MOST_WORDS = 0.05, 20
# Of fewer different numbers beside words all are levels of one category, such as 1, 2, 3 and "more".
_FEWEST_NUMBERS = 10
# Cells that show whether text may spell numbers or dates. So few levels are all looked at, since rows decide whether
# words are few; of more levels the words that are allowed are hardly any.
_SAMPLE, _FEW_LEVELS = 20, 1000


@dataclass(frozen=True)
class Spelling:
    """How the cells of a text column are read: as what, and for dates in which way they are written."""

    kind: Literal["number", "date", "time"]
    way: str = ""

    def values(self, cells: Sequence[Hashable], /) -> tuple[NDArray[Any], Mask, bool]:
        """What cells spell, which cells spell something, and whether numbers are rounded."""
        if self.kind != "number":
            return *dates([str(cell) for cell in cells], self.way), False
        # Infinities are refused by whoever counts rows.
        is_read = np.array([spells(_finite, cell) for cell in cells], dtype=bool)
        known = [cell for cell, is_one in zip(cells, is_read, strict=True) if is_one]
        numbers: NDArray[Any] = np.array([float(cell) for cell in known], dtype=np.float64)  # type: ignore[arg-type]
        is_rounded = False
        if is_wide(numbers):
            # Text with a point or an exponent spells a float, all other numbers of many digits are whole.
            numbers, is_rounded = exact_array(list(map(_exactly, known)))
        spread = np.full(len(cells), np.nan) if numbers.dtype.kind == "f" else np.zeros(len(cells), numbers.dtype)
        spread[is_read] = numbers
        return spread, is_read, is_rounded


NUMBERS = Spelling("number")


def _exactly(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    return int(cell) if spells(int, cell) else float(cell)


def _finite(cell: Any) -> float | None:
    return number if math.isfinite(number := float(cell)) else None


def spells(kind: Callable[[Any], Any], cell: Any, /) -> bool:
    """Whether a cell can be read as this kind."""
    if isinstance(cell, np.complexfloating):  # of which `float` takes the real part
        return False
    try:
        # Python reads '1_0' as 10, and nobody else does.
        return kind(cell) is not None and "_" not in str(cell)
    except (TypeError, ValueError, OverflowError):  # the last where a whole number or a fraction is no float
        return False


def is_infinite(cell: Any, /) -> bool:
    """Whether a cell spells a number that is not finite, and not NaN either."""
    return spells(float, cell) and math.isinf(float(cell))


def told_infinite(n_rows: int, where: str = "", /) -> str:
    """Why a column with infinities is left out, in words that follow its name."""
    return f"has {count(n_rows, 'infinite value')}{where}: replace by numbers or by NaN"


def may_spell(levels: Sequence[Any], /) -> bool:
    """Whether the different cells of a column are few, or some of them look like dates, or mostly like numbers."""
    if len(levels) <= _FEW_LEVELS:
        return True
    texts = [str(cell) for cell in _spread_sample(levels)]
    told = list(filter(has_digit, texts))
    return 2 * sum(map(_is_number, texts)) >= len(texts) or (2 * len(told) >= len(texts) > 0 and bool(fitting(told)))


def _is_number(cell: str) -> bool:
    return cell.strip().lower() not in MISSING_NUMBER and spells(float, cell) and not math.isnan(float(cell))


def spelling_of(name: str, levels: Sequence[Hashable], rows: Index, notes: Notes, /) -> Spelling | None:
    """What a text column spells, given its different cells and the rows of each; None where it is a category."""
    spelling = None
    if len(levels) > 1 and may_spell(levels):
        cells = [str(level) for level in levels]
        said = {cell: int(n) for cell, n in zip(cells, rows.tolist(), strict=True) if not has_digit(cell)}
        told = list(filter(has_digit, cells))
        ways = fitting(_spread_sample(told))
        fits = fitting(told, ways) if ways else ()
        if fits and are_few_words(said, int(rows.sum()) - sum(said.values())):
            return date_spelling(name, told, fits, notes, words=said)
        spelling = _numbers(name, levels, cells, rows, notes)
    if spelling is None and "?" in levels:
        notes.hold(name, "'?' among text", "kept as a level, make it missing if it is", int(rows[levels.index("?")]))
    return spelling


def _spread_sample(levels: Sequence[Any]) -> Sequence[Any]:
    return levels[:: max(-(-len(levels) // _SAMPLE), 1)]


def has_digit(cell: str, /) -> bool:
    """Whether a cell may be a date: words without a digit are none, and no date in another order either."""
    return any(map(str.isdigit, cell))


def date_spelling(
    name: str,
    cells: Sequence[str],
    fits: Sequence[str],
    notes: Notes,
    /,
    *,
    words: Mapping[str, int],
    wanted: bool = False,
    example: str = "",
) -> Spelling | None:
    """Dates that are written in one of these ways beside words, and what had to be decided about that."""
    way, is_assumed = chosen(cells, fits, wanted=wanted)
    what = f"dates such as {cut(example or min(cells))}"
    if not way:
        notes.hold(name, what, "kept as text, since their order of day, month and year is open: types can say 'date'")
        return None
    if is_assumed:
        fate = f"read as {way}, which no day above 12 decides: convert it if that is wrong"
        notes.hold(name, what, fate)
    elif len(fits) > 1 if wanted else way not in ISO:
        notes.hold(name, what, f"read as {way}")
    note_strays(name, words, notes, kind="times" if way == CLOCK else "dates")
    return Spelling("time" if way == CLOCK else "date", way)


def _numbers(name: str, levels: Sequence[Hashable], cells: Sequence[str], rows: Index, notes: Notes) -> Spelling | None:
    """Numbers, if all but a few cells spell some; text that spells numbers alone was made text by somebody."""
    numbers = [cell for cell in cells if _is_number(cell)]
    words = [k for k, cell in enumerate(cells) if not _is_number(cell)]
    is_declared = not words and all(isinstance(level, str) for level in levels)
    if is_declared or not numbers or _are_codes(numbers):
        return None
    said = {cells[k]: int(rows[k]) for k in words}
    strays, n_other = _strays(said), int(rows.sum()) - sum(said.values())
    if not strays or (
        are_few_words(said, n_other) and len(numbers) > _FEWEST_NUMBERS and not _are_part_of_codes(strays, numbers)
    ):
        note_strays(name, said, notes)
        return NUMBERS
    if n_other > 9 * sum(strays.values()):
        often = sorted(strays, key=lambda cell: (-strays[cell], cell))
        notes.hold(name, f"numbers and text such as {some(often[:3])}", "kept as text, types can say 'number'")
    return None


def _strays(words: Mapping[str, int]) -> dict[str, int]:
    """Words that do not mean "missing" by themselves."""
    return {cell: n for cell, n in words.items() if cell.strip().lower() not in MISSING_NUMBER}


def are_few_words(words: Mapping[str, int], n_numbers: int | None = None, /) -> bool:
    """Whether words, with their rows, are few enough beside numbers; beside numbers to come, if their rows are open."""
    strays = _strays(words)
    n_stray = sum(strays.values())
    is_small = n_numbers is None or n_stray <= _MOST_STRAY * (n_stray + n_numbers)
    return is_small and len(strays) <= _MOST_WORDS


def note_strays(name: str, words: Mapping[str, int], notes: Notes, /, *, kind: str = "numbers") -> None:
    """Say which words, with their rows, are read as missing among cells of a kind."""
    blank = sum(times for word, times in words.items() if not word.strip())
    if blank:
        notes.hold(name, f"{kind} and blank cells", f"read as {kind}, blank as missing", blank)
    spelled = sorted((word for word in words if word.strip()), key=lambda word: (-words[word], word))
    if spelled:
        cells = some(spelled, " or ")
        times = sum(words[word] for word in spelled)
        notes.hold(name, f"{kind} and {cells}", f"read as {kind}, {cells} as missing", times)


def _are_codes(numbers: Sequence[str]) -> bool:
    """Digits of one width with leading zeros, such as 01, 02, 10."""
    return len(set(map(len, numbers))) == 1 and any(re.match(r"0\d", cell) for cell in numbers)


def _are_part_of_codes(words: Iterable[str], numbers: Sequence[str]) -> bool:
    """Digits with letters, such as 2A, beside whole numbers."""
    is_whole = not any("." in cell for cell in numbers)
    return is_whole and any(word.isalnum() and any(map(str.isdigit, word)) for word in words)


def wanted_numbers(name: str, words: Mapping[str, int], n_cells: int, notes: Notes, /) -> Spelling:
    """Numbers that the user asks for, beside words with their rows; refused where most cells are words."""
    if 2 * sum(words.values()) > n_cells:
        raise InputError(
            f"types asks for numbers in {name!r}, and most of its cells, such as {cut(min(words))}, spell none: leave "
            "it as a category"
        )
    note_strays(name, words, notes)
    return NUMBERS


def wanted_dates(name: str, levels: Sequence[Hashable], rows: Index, notes: Notes) -> Spelling:
    """How dates are written that the user asks for, beside words with their rows."""
    cells = [str(level) for level in levels]
    words = {cell: int(n) for cell, n in zip(cells, rows.tolist(), strict=True) if not has_digit(cell)}
    told = list(filter(has_digit, cells))
    fits = fitting(told, compact=True) if 2 * sum(words.values()) <= rows.sum() else ()
    spelling = date_spelling(name, told or cells, fits, notes, words=words, wanted=True)
    if spelling is None or spelling.kind != "date":
        wrong = next((cell for cell in cells if not fitting([cell], compact=True)), cells[0])
        raise InputError(
            f"types asks for dates in {name!r}, and {cut(wrong)} is none, or is written in another way than others: "
            f"write all as 2024-02-29, as {COMPACT} or in another usual way"
        )
    return spelling
