from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import renyi
from renyi.coefficients.kendall import inversions


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_kendall_is_exact_on_few_rows(n):
    orders = [np.array(order, dtype=float) for order in permutations(range(n))]
    kendall = renyi.measure("kendall")
    values = np.array([abs(kendall(np.arange(n), order)) for order in orders])
    for order, value in zip(orders[: 4 * n], values, strict=False):
        found = kendall.test(np.arange(n), order)
        assert found.calibration == "theory"
        assert found.pvalue == pytest.approx(np.mean(values >= value - 1e-12), rel=1e-12)


def test_kendall_with_ties_on_few_rows_permutations():
    found = renyi.measure("kendall").test([0, 0, 1, 2], [1, 0, 0, 2])
    assert found.calibration == "permutation"
    assert found.pvalue > 0.1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=80))
def test_inversions_are_those_of_a_double_loop(numbers):
    rows = np.array([numbers, numbers[::-1]])
    expected = [sum(a > b for i, a in enumerate(row) for b in row[i + 1 :]) for row in rows.tolist()]
    assert inversions(rows).tolist() == expected


@pytest.mark.parametrize(("levels_x", "levels_y"), [(0, 0), (0, 7), (7, 0), (3, 4), (60, 50), (2, 0)])
def test_kendall_takes_every_way_to_the_same_value(levels_x, levels_y, rng):
    # Without ties, with ties on one side, by a table of counts, by sorting keys.
    x, y = rng.random((2, 300))
    y += x
    x, y = (np.floor(v * levels / 2) if levels else v for v, levels in ((2 * x, levels_x), (y, levels_y)))
    kendall = renyi.measure("kendall")
    assert kendall(x, y) == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-12)
