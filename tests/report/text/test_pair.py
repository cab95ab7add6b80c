from dataclasses import replace

import pytest

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
    assert replace(found, result=replace(found.result, scale=None)).in_words() == ""


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
