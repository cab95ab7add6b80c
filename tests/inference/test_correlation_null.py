"""Correlations of randomly paired rows: exact moments, skewed tails, counted tables."""

from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri_exp

from renyi.inference.correlation_null import log_heavier, log_of_overlap, log_skewed, shape_of_correlation


@pytest.mark.parametrize("n", [5, 7])
def test_shape_is_that_of_all_orders(n):
    rng = np.random.default_rng(n)
    x, y = rng.exponential(size=(2, n))
    x, y = ((v - v.mean()) / np.linalg.norm(v - v.mean()) for v in (x, y))
    values = np.array([x @ y[list(order)] for order in permutations(range(n))])
    found = shape_of_correlation(np.sum(x**3) * np.sum(y**3), (np.sum(x**4), np.sum(y**4)), n)
    assert found.skewness == pytest.approx(abs(scipy.stats.skew(values)), rel=1e-9)
    expected = scipy.stats.kurtosis(values) + 6 / (n + 1) - 1.5 * found.skewness**2
    assert found.excess == pytest.approx(expected, rel=1e-9)


@given(st.floats(0.04, 1.5), st.floats(-600.0, -0.01))
def test_skewed_tails_are_those_of_pearsons_third_type(skewness, log_p):
    z = -ndtri_exp(log_p - np.log(2.0))
    expected = scipy.stats.pearson3.sf(z, skewness) + scipy.stats.pearson3.cdf(-z, skewness)
    assert log_skewed(log_p, skewness) == pytest.approx(min(np.log(expected), 0.0), rel=1e-7, abs=1e-9)


def test_skewed_tails_go_on_where_no_float_is_left():
    tails = [log_skewed(log_p, 0.3) for log_p in (-1e3, -1e4, -1e5)]
    assert np.isfinite(tails).all()
    assert np.diff(tails).max() < 0.0
    assert log_skewed(-1e4, 0.0) == -1e4


@pytest.mark.parametrize("sizes", [(1, 1), (3, 4), (4, 2), (6, 5)])
def test_overlaps_are_counted(sizes):
    n, (a, b) = 8, sizes
    overlaps = np.array([len(set(range(a)) & set(other)) for other in combinations(range(n), b)])
    for overlap in range(max(0, a + b - n), min(sizes) + 1):
        is_as_far = np.abs(overlaps - a * b / n) >= abs(overlap - a * b / n) - 1e-9
        assert log_of_overlap(n, sizes, overlap) == pytest.approx(np.log(np.mean(is_as_far)), abs=1e-12)


def test_overlaps_of_many_rows_have_their_tail():
    found = log_of_overlap(10**6, (400_000, 500_000), 201_500)
    assert found == pytest.approx(np.log(2 * scipy.stats.hypergeom(10**6, 400_000, 500_000).sf(201_499)), rel=1e-6)
    assert -(10**6) < log_of_overlap(10**6, (500_000, 500_000), 500_000) < -690_000


def test_a_heavier_tail_bends_and_then_goes_straight_on():
    assert log_heavier(-10.0, 0.0) == -10.0
    assert log_heavier(-5.0, 0.01) == pytest.approx(-4.75)
    tail = log_heavier(np.array([-25.0, -26.0, -1000.0, -1001.0]), 0.01)
    assert np.diff(tail) == pytest.approx([-0.5, -487.0, -0.5])
