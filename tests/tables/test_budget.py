"""How much memory counts may take."""

from types import SimpleNamespace

import pytest

from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.errors import InputError
from renyi.tables.budget import bytes_of, capacity, check_ranks, room_for_text


@pytest.mark.parametrize(
    ("memory", "size"), [(1000, 1000), ("2GB", 2**31), ("500 MiB", 500 * 2**20), ("1.5k", 1536), ("3B", 3)]
)
def test_a_budget_in_bytes(memory, size):
    assert bytes_of(memory) == size


@pytest.mark.parametrize("memory", ["lots", "", 0, -1, True, None, "1.2.3GB", "GB"])
def test_what_is_no_budget_is_refused(memory):
    with pytest.raises(InputError, match="is not an amount of memory"):
        bytes_of(memory)


def test_parts_of_a_summary_are_a_power_of_two_within_bounds():
    assert capacity(2**30, 3) == 2**17
    assert capacity(2**24, 8) == 2**13
    assert capacity(2**24 + 2**20, 8) == 2**13
    assert capacity(256 * LEAST_CAPACITY, 1) == LEAST_CAPACITY
    with pytest.raises(InputError, match="too few to count the values of 2 columns: pass 2MB or more"):
        capacity(256 * LEAST_CAPACITY, 2)


def test_ranks_that_are_too_far_off_are_refused_with_what_helps():
    check_ranks(SimpleNamespace(name="x", rank_error=0.002), 2**24, 8)
    off = SimpleNamespace(name="x", rank_error=0.007)
    with pytest.raises(InputError, match=r"ranks of 'x' would be off by 0.0070.*8,192 parts: pass memory='64MB'"):
        check_ranks(off, 2**24, 8)
    with pytest.raises(InputError, match="131,072 parts: pass ranks in place of values"):
        check_ranks(off, 2**30, 3)


def test_text_has_half_of_a_budget_and_some_room_in_any():
    assert room_for_text(2**30, 8) == 2**26
    assert room_for_text(2**20, 8) == room_for_text(2**26, 8) == 2**22
