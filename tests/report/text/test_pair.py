from dataclasses import replace

import numpy as np
import pytest

from renyi.data.column import Column
from renyi.pair.independence import independence_test
from renyi.report.text.pair import PairFound


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ((1, 1), "a monotone trend"),
        ((3, 1), "b follows a curve over a"),
        ((1, 6), "a follows a curve over b"),
        ((2, 2), "the spread changes, or the points form a ring"),
    ],
)
def test_scales_in_words(scale, words):
    x = np.arange(50.0)
    result = replace(independence_test(x, x), scale=scale)
    columns = [Column(name, "number", x) for name in "ab"]
    found = PairFound(*columns, {"a": "number", "b": "number"}, result, 50)
    assert found.in_words() == words
    assert replace(found, result=replace(result, pvalue=0.4)).in_words() == f"nothing clear (loudest: {words})"
