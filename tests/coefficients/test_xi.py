from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtri

import reference
import renyi
from golden.samples import scalars
from renyi.coefficients import xi as xi_module
from renyi.coefficients.xi import Xi

SAMPLES = scalars()
xi = Xi()


def by_scipy(x, y):
    if not hasattr(stats, "chatterjeexi"):
        pytest.skip("SciPy has chatterjeexi from 1.15 on")
    return stats.chatterjeexi(x, y)


def has_ties(values):
    return len(np.unique(values)) < len(values)


@pytest.mark.parametrize("name", [name for name, (x, _) in SAMPLES.items() if not has_ties(x)])
def test_equals_scipy_where_x_has_no_ties(name):
    x, y = SAMPLES[name]
    assert xi(x, y) == pytest.approx(by_scipy(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, (x, _) in SAMPLES.items() if not has_ties(x)])
def test_equals_the_formula_where_x_has_no_ties(name):
    x, y = SAMPLES[name]
    assert xi(x, y) == pytest.approx(reference.xi(x, y), abs=1e-12)


def mean_over_orders(x, y):
    """Over every order of the rows within ties."""
    groups = [np.flatnonzero(x == value) for value in np.unique(x)]
    orders = (np.concatenate(order) for order in product(*(list(permutations(group)) for group in groups)))
    return np.mean([reference.xi(np.argsort(order), y) for order in orders])


small = st.integers(2, 6).flatmap(lambda n: st.tuples(*2 * [st.lists(st.integers(0, 3), min_size=n, max_size=n)]))


@pytest.mark.slow
@given(small.filter(lambda pair: all(len(set(side)) > 1 for side in pair)))
def test_ties_in_x_are_the_mean_over_all_orders(pair):
    x, y = (np.array(side, dtype=float) for side in pair)
    assert xi(x, y) == pytest.approx(mean_over_orders(x, y), abs=1e-12)


@pytest.mark.slow
def test_many_ties_are_the_mean_over_random_orders(rng):
    x, y = SAMPLES["many zeros"]
    drawn = [reference.xi(np.argsort(np.lexsort((rng.random(len(x)), x))), y) for _ in range(50)]
    assert xi(x, y) == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / np.sqrt(50))


def test_order_of_rows_does_not_matter(rng):
    for x, y in SAMPLES.values():
        rows = rng.permutation(len(x))
        assert xi(x[rows], y[rows]) == pytest.approx(xi(x, y), abs=1e-14)


def test_increasing_maps_leave_it_as_it_is():
    x, y = SAMPLES["rounded"]
    assert xi(np.exp(x), y**3) == xi(x, y)


def test_range_is_reached_where_it_is_stated():
    even = np.arange(1000.0)
    zigzag = np.where(even % 2, even, 1000 + even)
    assert xi(even, even) == pytest.approx(998 / 1001)
    assert -0.5 < xi(even, zigzag) < -0.49
    assert -1.0 <= xi(even, even % 2) < -0.99


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("x", "y"), [("sine", "sine"), ("rounded", "rounded"), ("rounded x", "rounded y")])
def test_permutations_are_those_of_reordered_sides(x, y, symmetric, rng):
    measure = Xi(symmetric=symmetric)
    values = SAMPLES[x][0], SAMPLES[y][1]
    a, b = (measure.prepare(side) for side in values)
    orders = np.stack([rng.permutation(300) for _ in range(5)])
    anew = [measure(values[0], values[1][order]) for order in orders]
    assert measure.permuted(a, b, orders) == pytest.approx(anew, abs=1e-14)
    assert [measure.combine(a, measure.reordered(b, order)) for order in orders] == pytest.approx(anew, abs=1e-14)


def test_symmetric_is_the_larger_of_both_directions():
    for x, y in SAMPLES.values():
        assert xi.undirected()(x, y) == max(xi(x, y), xi(y, x)) == xi.undirected()(y, x)
    assert xi.undirected().undirected() == Xi(symmetric=True)


def test_values_below_0_are_no_strength():
    assert xi.strength(-0.3) == -0.3
    x, y = np.arange(100.0), np.arange(100) % 2
    assert xi.test(x, y).pvalue > 0.999
    assert xi.test(x[:10], y[:10]).pvalue > 0.9


@pytest.mark.parametrize(
    ("x", "y"),
    [([1, 2, 3, 4, 5], [3, 1, 4, 5, 2]), ([1, 1, 2, 3, 3], [1, 2, 2, 4, 5]), ([0, 0, 0, 1, 2], [0, 1, 1, 1, 2])],
)
def test_mean_and_variance_are_those_of_all_permutations(x, y):
    a, b = (xi.prepare(np.array(side, dtype=float)) for side in (x, y))
    values = xi.permuted(a, b, np.array(list(permutations(range(5)))))
    assert np.mean(values) == pytest.approx(0.0, abs=1e-14)
    assert xi_module._variance(a, b) == pytest.approx(np.var(values), rel=1e-12)


@pytest.mark.parametrize("n", [50, 100_000])
def test_variance_without_ties(n):
    side = xi.prepare(np.arange(float(n)))
    exact = (n - 2) * (4 * n - 7) / (10 * (n + 1) * (n - 1) ** 2)
    assert xi_module._variance(side, side) == pytest.approx(exact, rel=1e-9)


def test_pvalue_tends_to_that_of_scipy(rng):
    x, y = rng.random((2, 20_000))
    for right in (y, y + 0.3 * x, np.floor(3 * y)):
        found = xi.test(x, right)
        assert found.calibration == "theory"
        # Of Chatterjee's variance the estimate is used there, of which 1/n is left.
        assert ndtri(found.pvalue) == pytest.approx(ndtri(by_scipy(x, right).pvalue), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("n", [50, 100, 500])
@pytest.mark.parametrize("ties", ["none", "in y", "in x"])
def test_null_distribution_finds_independent_data_as_often_as_it_says(ties, n, symmetric, rng):
    measure = Xi(symmetric=symmetric)
    numbers, zeros = np.arange(n) / n, np.maximum(0.0, np.arange(n) / n - 0.3)
    x, y = (
        measure.prepare(side) for side in (zeros if ties == "in x" else numbers, zeros if ties == "in y" else numbers)
    )
    orders = rng.permuted(np.tile(np.arange(n), (20_000, 1)), axis=1)
    values = measure.permuted(x, y, orders)
    # Up to so many times the level were found in 100,000 permutations (benchmarks/studies/xi.py); fewer are drawn here.
    for level, times in ((0.05, 1.06), (0.01, 1.15), (0.001, 1.6)):
        cut = brentq(lambda value: measure.null_tail(x, y, value).log_pvalue - np.log(level), -0.5, 1.0)  # noqa: B023
        error = np.sqrt(level / len(values))
        assert 0.9 * level - 4 * error < np.mean(values >= cut) < times * level + 4 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.arange(19), np.arange(19)),
        (np.arange(100), np.arange(100) < 20),
        (np.arange(500), np.arange(500) < 5),
        (np.arange(100) // 2, np.arange(100)),
        (np.arange(100) % 5, np.arange(100)),
    ],
)
def test_null_distribution_is_not_used_where_it_fails(x, y):
    assert xi.test(x, y).calibration == "permutation"
    assert xi.undirected().test(y, x).calibration == "permutation"


def test_far_tails_have_a_logarithm():
    x = np.arange(10_000.0)
    for measure in (xi, xi.undirected()):
        assert -15_000 < measure.test(x, x**2).log_pvalue < -10_000


@pytest.mark.parametrize(
    "pair",
    [
        ([0.0, 1.0], [1.0, 0.0]),
        ([0.0, 1.0, 1.0], [1.0, 0.0, 5.0]),
        ([1e308, -1.7e308, 5e-324, 0.0], [0.0, -0.0, 1.0, 1.0]),
    ],
)
def test_extremes_stay_in_range(pair):
    for measure in (xi, xi.undirected()):
        found = measure.test(*pair)
        assert -1.0 <= found.coefficient <= 1.0
        assert 0.0 < found.pvalue <= 1.0


def test_invalid_settings_are_refused():
    with pytest.raises(renyi.InputError, match="symmetric must be True or False, got 1"):
        renyi.measure("xi", symmetric=1)
