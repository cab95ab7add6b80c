"""What the rows of a side hold, beside what Python counts."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from renyi.coefficients.rows import Rows, log_pvalue_of_flags

KINDS = {
    "distinct": lambda rng: rng.standard_normal(7),
    "ties": lambda rng: rng.integers(0, 3, 7).astype(float),
    "vectors": lambda rng: rng.integers(0, 3, (7, 2)).astype(float),
}


@pytest.fixture(params=KINDS)
def values(request, rng):
    return KINDS[request.param](rng)


def as_tuples(values):
    return [tuple(np.atleast_1d(row)) for row in values]


def test_codes_are_the_places_among_distinct_rows(values):
    cells, rows = as_tuples(values), Rows(values)
    distinct = sorted(set(cells))
    assert [distinct[code] for code in rows.codes] == cells
    assert rows.counts.tolist() == [cells.count(cell) for cell in distinct]
    assert [cells[place] for place in rows.order] == sorted(cells)


def test_arrangements_are_the_distinct_orders(values):
    cells = as_tuples(values)
    assert math.exp(Rows(values).log_arrangements) == pytest.approx(len(set(permutations(cells))), rel=1e-12)


def test_ties_are_the_share_of_equal_pairs(values):
    pairs = [(a, b) for a, b in permutations(as_tuples(values), 2)]
    assert Rows(values).ties == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


def test_content_depends_neither_on_the_order_of_rows_nor_on_the_sign_of_zero(values, rng):
    turned = Rows(values[rng.permutation(7)])
    for by_ranks in (True, False):
        assert turned.content(by_ranks=by_ranks) == Rows(values).content(by_ranks=by_ranks)
    assert Rows(np.exp(values)).content(by_ranks=True) == Rows(values).content(by_ranks=True)
    assert Rows(np.exp(values)).content(by_ranks=False) != Rows(values).content(by_ranks=False)
    assert Rows(np.array([-0.0, 1.0])).content(by_ranks=False) == Rows(np.array([0.0, 1.0])).content(by_ranks=False)


def test_flags_are_columns_of_two_values():
    assert Rows(np.array([3.0, 7.0, 7.0])).flagged.tolist() == [False, True, True]
    assert Rows(np.array([[3.0], [7.0]])).flagged.tolist() == [False, True]
    assert Rows(np.array([3.0, 5.0, 7.0])).flagged is None
    assert Rows(np.array([[3.0, 1.0], [7.0, 1.0]])).flagged is None


def test_scores_of_equal_rows_are_one_cell(rng):
    rows = Rows(np.array([2.0, 1.0, 2.0, 5.0]))
    scores = rng.standard_normal((3, 2))[[1, 0, 1, 2]]
    found = rows.basis(scores)
    np.testing.assert_array_equal(found.table[found.codes], scores)
    assert len(found.table) == 3


@pytest.mark.slow
@pytest.mark.parametrize("n_flags", [(2, 3), (4, 4), (1, 5)])
def test_the_pvalue_of_flags_counts_the_tables_that_are_as_far_from_independence(n_flags):
    x, y = (np.arange(8) < n for n in n_flags)
    overlaps = Counter(int(np.count_nonzero(x & y[list(order)])) for order in permutations(range(8)))
    expected = n_flags[0] * n_flags[1] / 8
    for overlap in overlaps:
        turned = next(y[list(order)] for order in permutations(range(8)) if np.sum(x & y[list(order)]) == overlap)
        as_far = sum(times for other, times in overlaps.items() if abs(other - expected) >= abs(overlap - expected))
        assert math.exp(log_pvalue_of_flags(x, turned)) == pytest.approx(as_far / math.factorial(8), rel=1e-9)
