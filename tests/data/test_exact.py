from decimal import Decimal

import numpy as np
import pytest

from renyi.data.exact import RoundingError, exact_array, is_told_by_float, is_wide, remainders, split


@pytest.mark.parametrize(
    "values",
    [
        2**62 + np.arange(-3000, 3000),
        -(2**62) + np.arange(-3000, 3000),
        2**53 + np.arange(-9, 9),
        np.iinfo(np.int64).max - np.arange(3000),
        np.iinfo(np.int64).min + np.arange(3000),
        np.iinfo(np.uint64).max - np.arange(3000, dtype=np.uint64),
        np.uint64(2**63) + np.arange(3000, dtype=np.uint64),
        np.datetime64("2024-01-01", "ns") + np.arange(3000),
        np.array([0, 5, 2**61, -(2**63), 2**63 - 1]),
        np.longdouble(2) ** 62 + np.arange(-3000, 3000),
        np.longdouble(1) - np.arange(3000) * np.longdouble(2) ** -64,
    ],
)
def test_floats_and_tails_are_the_numbers_and_sort_as_they_do(values, rng):
    values = rng.permutation(values)
    floats, tails = split(values)
    order = np.lexsort((tails, floats))
    assert np.array_equal(values[order], np.sort(values))
    assert len(set(zip(floats.tolist(), tails.tolist(), strict=True))) == len(np.unique(values))
    exact = values.view(np.int64) if values.dtype.kind == "M" else values
    if exact.dtype.kind in "iu":
        lacking = remainders(floats, tails)
        assert all(int(a) + int(b) == int(c) for a, b, c in zip(floats, lacking, exact, strict=True))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(-5, 5),
        np.array([2**53, -(2**53)]),
        2**62 + 1024 * np.arange(9),
        np.array([0.1, 1e300, np.nan]),
        np.arange(5, dtype=np.float32),
        np.datetime64("2024-01-01T12:00", "ns") + np.arange(9).astype("m8[s]"),
        np.arange(9).astype(np.longdouble) / 4,
        np.array([], dtype=np.int64),
    ],
)
def test_numbers_that_floats_hold_have_no_tails(values):
    floats, tails = split(values)
    assert tails is None
    assert np.array_equal(floats, values.astype(np.int64) if values.dtype.kind == "M" else values, equal_nan=True)


def test_long_floats_beyond_what_tails_hold_are_refused():
    if np.finfo(np.longdouble).bits == 64:
        pytest.skip("long floats are floats here")
    with pytest.raises(RoundingError, match="beyond the range"):
        split(np.array([np.longdouble(10) ** 400, 1]))
    with pytest.raises(RoundingError, match="more digits"):
        split(np.array([np.longdouble(10) ** -400, 1]))


@pytest.mark.parametrize(
    ("cells", "kind", "is_rounded"),
    [
        ([1, 2], "i", False),
        ([2**62, 2**62 + 1], "i", False),
        ([2**63, 2**63 + 1], "u", False),
        ([2**70, 3 * 2**70], "f", False),
        ([2**70 + 1, 2**71 + 1], "f", True),
        ([Decimal("0.1"), Decimal("0.2")], "f", False),
        ([Decimal(1), Decimal(2)], "f", False),
        ([Decimal(1) / 3, Decimal(2) / 3], "f", True),
        ([Decimal(2**62), Decimal(2**62 + 1)], "i", False),
        ([Decimal(10) ** 25, Decimal(1)], "f", False),
        ([Decimal("0.1"), 0.1, 0.5], "f", False),
        ([2**62 + 1, 0.5], "f", True),
        ([2**62 + 1, 2**62, 1.0], "i", False),
        ([1e300, 5e15], "f", False),
        ([Decimal("Infinity"), 1, 2], "f", False),
        ([True, 2], "i", False),
    ],
)
def test_numbers_of_python_become_what_keeps_them_apart(cells, kind, is_rounded):
    values, rounded = exact_array(cells)
    assert (values.dtype.kind, rounded) == (kind, is_rounded)
    assert [float(value) for value in values] == [float(cell) for cell in cells]
    assert kind == "f" or values.tolist() == cells


@pytest.mark.parametrize(
    "cells",
    [
        [2**70, 2**70 + 1],
        [2**62 + 1, 2**62 + 2, 0.5],
        [-1, 2**63 + 1, 2**63 + 2],
        [Decimal("1000000000000000.01"), Decimal("1000000000000000.02")],
        [Decimal("0.1"), Decimal("0.1000000000000000055511151231257827")],
    ],
)
def test_numbers_that_would_become_the_same_are_refused(cells):
    with pytest.raises(RoundingError, match="more digits than 64-bit floats keep apart: subtract"):
        exact_array(cells)


def test_numbers_beyond_all_floats_are_refused():
    with pytest.raises(RoundingError, match="too large for floats"):
        exact_array([10**400, 1])


def test_few_digits_are_not_wide():
    assert not is_wide(np.array([2.0**53, -5.0, np.nan]))
    assert is_wide(np.array([2.0**53 + 2]))
    assert not is_wide(np.array([99_999_999.99]), 2)
    assert is_wide(np.array([1e13]), 2)
    assert is_wide(np.array([1.0]), None)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("9007199254740994", True),
        ("9007199254740993", False),
        ("12345678901234567000", True),  # the digits of a float, as JavaScript writes them
        ("12345678901234567168", True),  # the same float in full
        ("12345678901234567001", False),
        ("9007199254740993.00", False),
    ],
)
def test_texts_that_a_float_tells(text, is_told):
    assert is_told_by_float(text) == is_told
