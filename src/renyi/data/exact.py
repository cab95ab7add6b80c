"""Numbers with more digits than 64-bit floats have: kept apart exactly, or refused.

Whole numbers and times of 64 bits stay as they are. Wider ones, such as Python's whole numbers, Decimals and 128-bit
integers, become whole numbers of 64 bits or floats, if no two different ones become the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, is_integer

Tails: TypeAlias = NDArray[np.int16]

# Whole numbers up to here are exact as floats, and so are decimal numbers of this many digits as texts of floats.
EXACT = 2**53
_DIGITS = 15
# A tail is counted in this many steps from one float to the next: as many as whole numbers of 64 bits, and floats of
# 80 bits, have at most on either side of the nearest float.
TAIL_STEPS = 2**12
# A nearest float is off by half of the distance to the next one at most, either way; bits of tails from there on.
SMALLEST_TAIL, TAIL_BITS = -TAIL_STEPS // 2, TAIL_STEPS.bit_length()
_REASON = (
    "has numbers with more digits than 64-bit floats keep apart: subtract the smallest from all of them, or convert "
    "them to floats if rounding is meant"
)
TOO_LARGE = "holds numbers that are too large for floats: rescale them"


class RoundingError(InputError):
    """Why numbers cannot be kept apart, in words that follow their column's name."""

    def __init__(self, reason: str = _REASON) -> None:
        super().__init__(reason)


def is_wide(floats: Array, scale: int | None = 0, /) -> bool:
    """Whether numbers of so many decimal places, given as the nearest floats, may have more digits than these."""
    if scale is None:
        return True
    largest = float(np.nanmax(np.abs(floats), initial=0.0))
    return largest > EXACT if scale <= 0 else largest >= 10.0 ** (_DIGITS - scale)


def is_rounded_by_floats(value: Any, /) -> bool:
    """Whether this is, or a row has, a whole number of more digits than floats have."""
    if isinstance(value, (list, tuple)):
        return any(map(is_rounded_by_floats, value))
    return is_integer(value) and abs(int(value)) > EXACT


def exact_array(cells: Sequence[Any], /) -> tuple[NDArray[Any], bool]:
    """Python's numbers in an array of 64 bits that keeps different ones apart, and whether some of them are rounded.

    What is rounded is apart from all others here; beside those of another batch it may not be.
    """
    try:
        with np.errstate(over="raise"):
            floats = np.array(cells, dtype=np.float64)
    except (OverflowError, FloatingPointError) as error:
        raise RoundingError(TOO_LARGE) from error
    if all(isinstance(cell, (float, np.float32, np.float16)) for cell in cells):
        return floats, False
    finite = np.isfinite(floats)
    known = [cell for cell, is_one in zip(cells, finite, strict=True) if is_one]
    whole = _whole(cells) if len(known) == len(cells) else None
    if whole is not None and (is_wide(floats) or all(isinstance(cell, (int, np.integer)) for cell in cells)):
        for dtype in (np.int64, np.uint64):
            try:
                return np.array(whole, dtype=dtype), False
            except OverflowError:
                continue
    known_floats = floats[finite]
    if len(_distinct(known)) > len(np.unique(known_floats)):
        raise RoundingError
    return floats, not all(map(_is_spelled, known, known_floats.tolist()))


def _whole(cells: Sequence[Any]) -> list[int] | None:
    """The numbers as Python's integers, None where one of them has a fraction."""
    whole = list(map(int, cells))
    return whole if all(number == cell for number, cell in zip(whole, cells, strict=True)) else None


def _distinct(cells: Sequence[Any]) -> set[Any]:
    """Different numbers; a float beside Decimals is the one that it spells."""
    if not any(isinstance(cell, Decimal) for cell in cells):
        return set(cells)
    return {Decimal(repr(float(cell))) if isinstance(cell, (float, np.floating)) else cell for cell in cells}


def _is_spelled(cell: Any, nearest: float) -> bool:
    """Whether a number can be told from its nearest float alone: it equals it, or, as a Decimal, what it spells."""
    return bool(Decimal(repr(nearest)) == cell) if isinstance(cell, Decimal) else bool(cell == nearest)


def is_told_by_float(text: str, /) -> bool:
    """Whether the nearest float tells the number that a text spells: it equals it, or its digits are the same."""
    number = Decimal(text)
    return bool(number == float(text)) or _is_spelled(number, float(text))


def split(values: NDArray[Any], /) -> tuple[Array, Tails | None]:
    """Numbers and times as their nearest floats, and their tails, which these lack; None where they lack nothing.

    Floats and then tails sort as the numbers do. A tail has steps of 1/4096 of the distance between floats.
    """
    if values.dtype.kind in "Mm":
        values = values.view(np.int64)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return _split_floats(values)
    floats = values.astype(np.float64)
    if values.dtype.kind not in "iu" or not is_wide(floats):
        return floats, None
    # Differences of 64-bit integers without sign are right again where the numbers are no longer than these.
    size = np.abs(floats)
    nearest = np.where(size < 2.0**64, size, 0.0).astype(np.uint64)
    lacking = values.astype(np.uint64) - np.where(floats < 0.0, np.negative(nearest), nearest)
    return floats, _tails(lacking.view(np.int64).astype(np.float64), floats)


def _split_floats(values: NDArray[Any]) -> tuple[Array, Tails | None]:
    """Long floats; NaN is 0."""
    values = np.where(np.isnan(values), 0, values)
    with np.errstate(over="ignore"):
        floats = values.astype(np.float64)
    if not np.isfinite(floats).all():
        raise RoundingError("has numbers beyond the range of 64-bit floats: rescale it")
    return floats, _tails(values - floats, floats)


def _tails(lacking: NDArray[Any], floats: Array) -> Tails | None:
    if not lacking.any():
        return None
    steps = lacking / np.spacing(np.abs(floats)) * TAIL_STEPS
    if (steps != np.rint(steps)).any():
        raise RoundingError
    return np.asarray(steps, dtype=np.int16)


def remainders(floats: Array, tails: Tails, /) -> Array:
    """What numbers have beyond their nearest floats, from their tails."""
    return np.asarray(tails * (np.spacing(np.abs(floats)) / TAIL_STEPS))


def beyond(origin: tuple[float, float], values: Array, tails: Tails | None, /) -> Array:
    """How far values and their tails are from an origin, exactly where they are close to it."""
    lacking = 0.0 if tails is None else remainders(values, tails)
    return np.asarray((values - origin[0]) + (lacking - origin[1]))


def with_tails(tails: Tails | None, size: int, /) -> Tails:
    """The tails of so many numbers, also where they have none."""
    return np.zeros(size, dtype=np.int16) if tails is None else tails


@dataclass(frozen=True, eq=False)
class FineCoder:
    """The cell of any number by its float and tail: how many smallest ones of later cells do not exceed it."""

    floats: Array
    keys: NDArray[np.int64]

    @classmethod
    def of(cls, smallest: Array, tails: Tails, /) -> "FineCoder":
        """From the smallest value of every cell, and its tail."""
        floats, places = np.unique(smallest[1:], return_inverse=True)
        # One more, beyond all values, is the place of those after the last.
        return cls(np.append(floats, np.inf), cls._keys(places, tails[1:]))

    @staticmethod
    def _keys(places: Index, tails: NDArray[Any]) -> NDArray[np.int64]:
        """Numbers that sort as places among floats do, and then tails."""
        return np.asarray((places.astype(np.int64) << (TAIL_BITS + 1)) + (tails.astype(np.int64) - SMALLEST_TAIL + 1))

    def __call__(self, values: Array, tails: Tails | None, /) -> NDArray[Any]:
        places = np.searchsorted(self.floats, values)
        is_known = self.floats[places] == values
        # What lies between two floats has no tail that counts, and comes before those of the next.
        keys = self._keys(places, np.where(is_known, with_tails(tails, len(values)), SMALLEST_TAIL - 1))
        found = np.searchsorted(self.keys, keys, side="right")
        return found.astype(np.min_scalar_type(len(self.keys) + 1))
