"""How much memory counts and sums may take, and how many values of a column can be told apart with it."""

import re
from typing import Any

import numpy as np

from renyi.allpairs.streaming.column_stats import Counted
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.allpairs.streaming.text_counts import LEAST_ROOM
from renyi.errors import InputError, brief

DEFAULT_MEMORY = "1GB"
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# What a summary takes for every part of it, with what waits to be counted, and how many parts are enough.
BYTES_OF_PART = 128
_LARGEST_CAPACITY = 2**17
# A rank may be off by this much at most, which moves coefficients by 5·10⁻⁵ or so.
_LARGEST_ERROR = 2e-3


def bytes_of(memory: Any, /) -> int:
    """A budget such as "2GB" in bytes."""
    found = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?)i?B?\s*", str(memory), re.IGNORECASE)
    try:
        size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    except (ValueError, OverflowError):
        size = 0
    if size < 1 or isinstance(memory, bool):
        raise InputError(
            f"memory={brief(memory)} is not an amount of memory: pass bytes, or text such as '2GB' or '500MB'"
        )
    return size


def capacity(memory: int, n_columns: int, /) -> int:
    """Parts of every summary, a power of two, so that small changes of the budget change nothing."""
    room = memory // (2 * BYTES_OF_PART * max(n_columns, 1))
    if room < LEAST_CAPACITY:
        enough = 2 * BYTES_OF_PART * n_columns * LEAST_CAPACITY
        raise InputError(
            f"memory={memory:,} bytes are too few to count the values of {n_columns:,} columns: pass "
            f"{-(-enough // 2**20):,}MB or more, or fewer columns at a time"
        )
    return min(_LARGEST_CAPACITY, 1 << (room.bit_length() - 1))


def room_for_text(memory: int, n_columns: int, /) -> int:
    """Characters of a column of text whose different cells are counted one by one."""
    return max(LEAST_ROOM, memory // (2 * max(n_columns, 1)))


def check_ranks(column: Counted, memory: int, n_columns: int, /) -> None:
    """Refuse a number whose ranks would be off by too much, with what helps."""
    if column.rank_error <= _LARGEST_ERROR:
        return
    parts = capacity(memory, n_columns)
    remedy = "pass ranks in place of values, many of which lie so closely together and others so far apart"
    if parts < _LARGEST_CAPACITY:
        # Of twice the parts each has half of the rows, mostly.
        needed = memory * 2 ** int(np.ceil(np.log2(column.rank_error / _LARGEST_ERROR)))
        needed = min(needed, 2 * BYTES_OF_PART * n_columns * _LARGEST_CAPACITY)
        remedy = f"pass memory='{-(-needed // 2**20)}MB' or more, or fewer columns at a time"
    raise InputError(
        f"ranks of {column.name!r} would be off by {column.rank_error:.4f}, since its values are counted in {parts:,} "
        f"parts: {remedy}"
    )
