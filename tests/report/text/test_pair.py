from dataclasses import replace

import pandas as pd
import pytest

from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
from renyi.coefficients.registry import measure
from renyi.data.column import Column
from renyi.pair.conditional import conditional_test
from renyi.pair.independence import independence_test
from renyi.report.text.pair import PairFound

TYPES = {"a": "number", "b": "number"}


def test_the_kind_is_what_the_columns_do_whatever_block_is_loudest(rng):
    x = rng.standard_normal(200)
    y = x + rng.standard_normal(200)
    found = PairFound(
        Column("a", "number", x),
        Column("b", "number", y),
        TYPES,
        independence_test(x, y),
        200,
        pearson=0.7,
        spearman=0.7,
    )
    for scale in ((1, 1), (2, 2), (1, 6), (8, 8)):
        assert replace(found, result=replace(found.result, scale=scale)).in_words() == "b rises with a"
    assert replace(found, result=replace(found.result, pvalue=0.4)).in_words() == "nothing clear"
    assert replace(found, result=replace(found.result, scale=None)).in_words() == "b rises with a"


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ((1, 1), "a trend, beside what is given"),
        ((2, 2), "2 functions of a and 2 of b, beside what is given"),
    ],
)
def test_given_others_no_more_is_said_than_what_was_tested(scale, words, rng):
    x, y, z = rng.standard_normal((3, 200))
    result = replace(conditional_test(x, x + y, z), scale=scale)
    columns = Column("a", "number", x), Column("b", "number", x + y)
    assert PairFound(*columns, TYPES, result, 200, given=("z",)).in_words() == words


def test_a_test_says_in_words_what_the_command_says(rng):
    x = rng.standard_normal(300)
    y = x**2 + 0.3 * rng.standard_normal(300)
    columns = Column("a", "number", x), Column("b", "number", y)
    result = independence_test(*columns)
    pair = PairFound(*columns, TYPES, result, 300, pearson=correlation_of(Pearson(), *columns))
    pair = replace(pair, spearman=correlation_of(Spearman(), *columns))
    assert [line.strip().partition("  ") for line in result.summary().splitlines()] == [
        (label, "  ", text) for label, text in pair.lines()
    ]
    # Later changes of the user's arrays do not reach a result, and arrays have no names to tell.
    unnamed = independence_test(x, y)
    before = unnamed.summary()
    x[:] = 0.0
    assert unnamed.summary() == before
    assert before.splitlines() == result.summary().splitlines()[2:4] + before.splitlines()[2:]
    assert "y falls, then rises, along x" in before
    half_named = independence_test(pd.Series(y, name="a"), y**2).summary()
    assert [line.split()[:2] for line in half_named.splitlines()[:2]] == [["x", "a"], ["y", "y"]]


def test_a_note_is_said_once(rng):
    said = independence_test(*rng.standard_normal((2, 200)).cumsum(axis=1)).summary()
    assert said.count("resemble their own previous row") == 1


def test_nothing_found_has_no_strength_in_words(rng):
    x, y, z = rng.standard_normal((3, 200))
    said = independence_test(x, y).summary()
    assert "strength  ·" in said
    assert "nothing clear" in said
    given = conditional_test(x, x + y, pd.Series(z, name="z")).summary()
    assert "given  " in given
    assert "beside what is given" in given
    other = measure("xi").test(x, x**2).summary()
    assert "strength" not in other
    assert "kind  y falls, then rises, along x" in other
