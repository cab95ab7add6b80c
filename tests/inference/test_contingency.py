"""χ² of two categories of many levels, by its moments over all permutations."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

import renyi
from renyi.basis.basis import category_basis
from renyi.basis.canonical import cross_products
from renyi.inference import contingency


def chi_square(x, y):
    table = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(table, (x, y), 1)
    return chi2_contingency(table, correction=False).statistic


def test_mean_and_variance_are_those_of_all_permutations():
    x, y = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 3])
    values = [chi_square(x, np.array(order)) for order in permutations(y)]
    mean, variance, _ = contingency._moments(np.bincount(x), np.bincount(y))
    assert mean == pytest.approx(np.mean(values), rel=1e-12)
    assert variance == pytest.approx(np.var(values), rel=1e-12)


def test_the_third_moment_is_near_that_of_permutations():
    rng = np.random.default_rng(0)
    x, y = (np.repeat(np.arange(60), 4) for _ in range(2))
    values = np.array([chi_square(x, rng.permutation(y)) for _ in range(3000)])
    mean, variance, third = contingency._moments(np.bincount(x), np.bincount(y))
    skewness = np.mean((values - mean) ** 3) / variance**1.5
    assert third / variance**1.5 == pytest.approx(skewness, abs=0.1)
    assert skewness > 0.2


def test_the_statistic_is_pearsons():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, 2000)
    y = np.where(rng.random(2000) < 0.05, x, rng.integers(0, 50, 2000))
    bases = category_basis(x), category_basis(y)
    cross = cross_products(*bases)
    assert len(x) * np.sum(cross**2) == pytest.approx(chi_square(x, y), rel=1e-10)
    # Of so many rows the χ² distribution holds as well.
    wanted = chi2.logsf(chi_square(x, y), 49**2)
    assert contingency.log_pvalue(cross, (49, 49), *bases) == pytest.approx(wanted, rel=0.1)


def test_rare_levels_are_taken_together_until_no_two_rows_decide():
    rows = np.r_[np.full(60, 400), np.full(20, 1)]
    codes = np.repeat(np.arange(len(rows)), rows)
    basis = category_basis(codes)
    assert contingency.widest_block(basis, basis) == (59, 59)
    even = category_basis(np.repeat(np.arange(100), 20))
    assert contingency.widest_block(even, even) == (99, 99)


def test_few_frequent_levels_have_no_table():
    rows = np.r_[np.full(30, 2000), np.full(20, 1)]
    basis = category_basis(np.repeat(np.arange(len(rows)), rows))
    assert contingency.widest_block(basis, basis) is None


@pytest.mark.parametrize("n_levels", [45, 150, 600])
def test_dependence_of_many_levels_is_found(n_levels):
    rng = np.random.default_rng(n_levels)
    n = 25 * n_levels
    x = rng.integers(0, n_levels, n)
    y = np.where(rng.random(n) < 0.15, x, rng.integers(0, n_levels, n))
    found = renyi.independence_test(renyi.categorical(x), renyi.categorical(y))
    assert found.calibration == "theory"
    assert found.pvalue < 1e-6
    assert renyi.independence_test(renyi.categorical(x), renyi.categorical(rng.permutation(y))).pvalue > 1e-3


def test_far_tails_have_logarithms():
    """Beyond what floats hold logarithms go on where the incomplete gamma function leaves off."""
    rng = np.random.default_rng(2)
    x = renyi.categorical(rng.integers(0, 100, 4000))
    found = renyi.independence_test(x, x)
    assert -np.inf < found.log_pvalue < -1000


@pytest.mark.slow
@pytest.mark.parametrize(("n_levels", "fewest"), [(50, 5), (120, 20)])
def test_the_size_is_right(n_levels, fewest):
    """At 5 % within four standard errors; benchmarks/studies/many_levels.py has more."""
    rng = np.random.default_rng([n_levels, fewest])
    rows = fewest + rng.multinomial(
        5 * n_levels, 1 / np.arange(1, n_levels + 1) / np.sum(1 / np.arange(1, n_levels + 1))
    )
    x = np.repeat(np.arange(n_levels), rows)
    bases = category_basis(x), category_basis(x)
    draws = 1500
    hits = 0
    for _ in range(draws):
        cross = cross_products(bases[0], category_basis(rng.permutation(x)))
        hits += contingency.log_pvalue(cross, (n_levels - 1, n_levels - 1), *bases) <= np.log(0.05)
    assert abs(hits / draws - 0.05) < 4 * np.sqrt(0.05 * 0.95 / draws)
