"""Exceptions that are also what habits expect, and the small checks that raise them."""

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from renyi import errors
from renyi.errors import (
    InputError,
    MissingExtraError,
    RenyiError,
    bounded,
    brief,
    check_choice,
    count,
    difference,
    is_integer,
    is_number,
    load,
)


def test_every_exception_is_also_a_built_in_one():
    assert issubclass(InputError, RenyiError)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingExtraError, RenyiError)
    assert issubclass(MissingExtraError, ImportError)
    assert issubclass(errors.CalibrationWarning, UserWarning)


def test_what_is_not_installed_names_the_extra_and_the_library():
    assert load("math", extra="cli").sqrt(4) == 2
    with pytest.raises(MissingExtraError, match=r"nosuchlibrary is not installed .*pip install 'renyi\[dask\]'"):
        load("nosuchlibrary.inner", extra="dask")


def test_numbers_are_of_any_library_and_booleans_are_none():
    assert all(map(is_integer, [3, np.int8(3), np.uint64(3)]))
    assert not any(map(is_integer, [True, 3.0, np.float64(3), "3", None, np.array([3])]))
    assert all(map(is_number, [3, 0.5, np.float32(0.5), Fraction(1, 2), np.int64(1)]))
    assert not any(map(is_number, [False, "0.5", 1j, None, Decimal("0.5")]))


@pytest.mark.parametrize("value", ["c", 1, None, ["a"]])
def test_a_choice_is_one_of_its_strings(value):
    kinds = Literal["a", "b"]
    check_choice("a", kinds, "kind")
    with pytest.raises(InputError, match=r"kind=.* is unknown: choose one of 'a', 'b'"):
        check_choice(value, kinds, "kind")


def test_names_that_differ_are_told_in_few_words():
    names = [f"n{k}" for k in range(10)]
    assert difference(["a", "b"], ["b", "a"]) == ""
    assert difference(["a"], ["a", "b"]) == "lacks 'b'"
    assert difference(["a", *names], ["a", "b"]) == "lacks 'b' and has 'n0', 'n1', 'n2' and 7 more besides"


@pytest.mark.parametrize("kind", [RenyiError, InputError, MissingExtraError])
def test_messages_are_bounded_whatever_was_passed(kind):
    error = kind(f"k={list(range(10**5))} must be a whole number")
    assert len(str(error)) == 1000
    assert str(error).startswith("k=[0, 1, 2, 3")
    assert str(error).endswith("99999] must be a whole number")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(kind("short")) == "short"


def test_values_are_shown_in_few_characters():
    assert brief("a") == "'a'"
    assert len(brief("a" * 10**6)) == 80
    assert [bounded("abcdefgh", most) for most in (8, 7, 6)] == ["abcdefgh", "abc…fgh", "abc…gh"]


def test_counts_have_their_plural():
    assert [count(n, "row") for n in (0, 1, 2, 12_345)] == ["0 rows", "1 row", "2 rows", "12,345 rows"]


def test_messages_hold_no_codes_of_terminals():
    assert str(InputError("a\x1b[31m\x07\x9b1m\x7f is\tno\nname")) == "a\u241b[31m\u2407\ufffd1m\u2421 is\tno\nname"
