"""How people write dates and times of the day, and which ways fit all cells of a column."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Mask

# The usual ways by their names. COMPACT is what numbers look like, too: it is read only if it is asked for.
COMPACT, CLOCK, ISO = "yyyymmdd", "hour:minute", ("year-month-day", "year-month-day with zones", "hour:minute")
# Numbers of four digits that are no years, as those at the end of codes, are mostly beyond these.
_YEAR, _SHORT_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d{2})", r"(?P<year>\d{2})"
# Nothing else is written as ISO dates are, whatever the year.
_ISO_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d{2}|(?!0000)\d{4}(?=-\d{2}-\d{2}))"
_MONTH, _DAY = r"(?P<month>0?[1-9]|1[0-2])", r"(?P<day>0?[1-9]|[12]\d|3[01])"
_TWO_DIGITS = {_MONTH: r"(?P<month>0[1-9]|1[0-2])", _DAY: r"(?P<day>0[1-9]|[12]\d|3[01])"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[ap])\.?m\.?)?"
)
_ZONE = r"\s?(?P<zone>z|[+-]\d{2}(?::?\d{2})?)"
# Two digits of a year from here on are of the last century, as in POSIX.
_PIVOT = 69


def _patterns() -> dict[str, str]:
    """A pattern for every name, without times."""
    found = {}
    for mark in "/.-":
        between = re.escape(mark)
        orders: dict[str, tuple[str, ...]] = {
            "year month day": (_YEAR, _MONTH, _DAY),
            "month day year": (_MONTH, _DAY, _YEAR),
            "day month year": (_DAY, _MONTH, _YEAR),
            "month day yy": (_MONTH, _DAY, _SHORT_YEAR),
            "day month yy": (_DAY, _MONTH, _SHORT_YEAR),
            "yy month day": (_SHORT_YEAR, _MONTH, _DAY),
        }
        for name, parts in orders.items():
            # Versions such as 1.2.10, and codes such as 3-1-20, have fewer digits.
            is_strict = "yy" in name and mark != "/"
            found[name.replace(" ", mark)] = between.join(
                _TWO_DIGITS.get(part, part) if is_strict else part for part in parts
            )
    found["year-month-day"] = f"{_ISO_YEAR}-{_MONTH}-{_DAY}"
    gap = r"[\s-]?"
    found["day month-name year"] = rf"{_DAY}{gap}{_NAME}{gap},?\s?(?:{_YEAR}|(?P<yy>\d{{2}}))"
    found["month-name day year"] = rf"{_NAME}{gap}{_DAY}(?:,?\s|-){_YEAR}"
    found["month-name year"] = rf"{_NAME}{gap}{_YEAR}"
    found["year-month"] = rf"{_YEAR}[-/]{_TWO_DIGITS[_MONTH]}"
    found[COMPACT] = rf"{_YEAR}{_TWO_DIGITS[_MONTH]}{_TWO_DIGITS[_DAY]}"
    return found


_PATTERNS = _patterns()
_NAMES = (*_PATTERNS, "year-month-day with zones", CLOCK)


@cache
def _compiled(name: str) -> re.Pattern[str]:
    if name == CLOCK:
        pattern = _TIME
    elif name == "year-month-day with zones":
        pattern = rf"{_PATTERNS['year-month-day']}(?:t|\s){_TIME}{_ZONE}"
    elif name in ("year-month", "month-name year", COMPACT):
        pattern = _PATTERNS[name]
    else:
        pattern = rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s)?{_PATTERNS[name]}(?:(?:t|,?\s){_TIME})?"
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


def dates(cells: Sequence[str], name: str, /) -> tuple[NDArray[Any], Mask]:
    """The dates, or for CLOCK nanoseconds since midnight, of cells that are written in a way, and which cells are."""
    pattern = _compiled(name)
    found = [pattern.fullmatch(cell.strip()) for cell in cells]
    is_read = np.array([match is not None for match in found], dtype=bool)
    parts = [match.groupdict() for match in found if match is not None]

    def numbers(field: str, otherwise: int) -> NDArray[np.int64]:
        return np.array([int(part.get(field) or otherwise) for part in parts], dtype=np.int64)

    times, is_time = _nanoseconds(parts, numbers)
    if name == CLOCK:
        values: NDArray[Any] = times
        is_valid = is_time
    else:
        spelled_years = [part.get("year") or part["yy"] for part in parts]
        years = np.array([int(year) for year in spelled_years], dtype=np.int64)
        is_short = np.array([len(year) == 2 for year in spelled_years], dtype=bool)
        years += np.where(is_short, np.where(years >= _PIVOT, 1900, 2000), 0)
        if "name" in name:
            spelled = np.array([_MONTHS.index(part["month"][:3].lower()) + 1 for part in parts], dtype=np.int64)
        else:
            spelled = numbers("month", 1)
        months = ((years - 1970) * 12 + spelled - 1).astype("M8[M]")
        days = months.astype("M8[D]") + (numbers("day", 1) - 1)
        is_valid = is_time & (days.astype("M8[M]") == months)
        # Nanoseconds would not reach all years, and batches need one unit.
        values = days.astype("M8[us]") + (times // 1000).astype("m8[us]")
    spread = np.zeros(len(cells), dtype=values.dtype)
    spread[is_read] = values
    is_read[is_read] = is_valid
    return spread, is_read


def _nanoseconds(parts: Sequence[dict[str, Any]], numbers: Any) -> tuple[NDArray[np.int64], Mask]:
    """Times of the day, in UTC where they have a zone, and which there are."""
    hours = numbers("hour", 0)
    has_half = np.array([bool(part.get("half")) for part in parts], dtype=bool)
    is_late = np.array([(part.get("half") or "").lower() == "p" for part in parts], dtype=bool)
    is_time = np.where(has_half, (hours >= 1) & (hours <= 12), hours <= 23)
    hours = np.where(has_half, hours % 12 + 12 * is_late, hours)
    fractions = np.array([int((part.get("fraction") or "0").ljust(9, "0")) for part in parts], dtype=np.int64)
    offsets = np.array([_offset(part.get("zone")) for part in parts], dtype=np.int64)
    minutes = 60 * hours + numbers("minute", 0) - offsets
    return (60 * minutes + numbers("second", 0)) * 1_000_000_000 + fractions, is_time


def _offset(zone: str | None) -> int:
    """Minutes that a zone is before UTC."""
    if not zone or zone in "zZ":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[3:].lstrip(":") or 0)
    return -minutes if zone[0] == "-" else minutes


def fitting(cells: Sequence[str], /, names: Iterable[str] = (), *, compact: bool = False) -> tuple[str, ...]:
    """The ways in which all cells are written, among some or all of them."""
    # Most columns are no dates, as their first cell shows.
    tried = [
        name
        for name in (names or _NAMES if cells else ())
        if (compact or name != COMPACT) and _compiled(name).fullmatch(cells[0].strip()) is not None
    ]
    return tuple(name for name in tried if dates(cells, name)[1].all() and not _are_seasons(cells, name))


def _are_seasons(cells: Sequence[str], name: str) -> bool:
    """Whether years with the next one, such as 2001-02 and 2002-03, look like months."""
    return name == "year-month" and all((int(cell.strip()[:4]) + 1) % 100 == int(cell.strip()[-2:]) for cell in cells)


def chosen(cells: Sequence[str], fits: Sequence[str], /, *, wanted: bool = False) -> tuple[str, bool]:
    """Of all ways that fit the one to read by, none where that is open, and whether a convention had to decide.

    Where a day is above 12 somewhere, one order fits alone. The order of rows is not asked: batches may come in any.
    """
    full = [name for name in fits if "yy" not in name or name == COMPACT]
    short = [name for name in fits if name not in full]
    if full or not short:
        left = full
    elif len(short) == 1 or wanted or all("." in name for name in short):
        left = [name for name in short if not name.startswith("yy")] or short
    else:
        # Two digits of a year may be those of a day, unless one of them is above 31.
        left = [] if any(name.startswith("yy") for name in short) else short
    if len(left) < 2:
        return (left[0] if left else ""), False
    first = [name for name in left if name.startswith("month")]
    day_first = [name for name in left if name.startswith("day")]
    if not first or not day_first:
        return left[0], False
    # Nobody writes the month first between dots; and a day that is always 1 stands for a month.
    if "." in first[0] or (_is_always_one(cells, 0) and not _is_always_one(cells, 1)):
        return day_first[0], True
    return first[0], True


def _is_always_one(cells: Sequence[str], place: int) -> bool:
    return all(int(re.findall(r"\d+", cell)[place]) == 1 for cell in cells)
