import numpy as np
import pytest
from scipy.special import betainc

import renyi
from renyi.inference import debias, largest_root_cdf, null_median


@pytest.mark.parametrize(("b", "n"), [(1, 10), (1, 1000), (5, 50), (7, 10**6), (3, 10**8), (40, 200)])
@pytest.mark.parametrize("share", [0.3, 1.0, 2.0, 5.0])
def test_one_against_many_is_a_beta(b, n, share):
    root = min(0.99, share * b / n)
    assert largest_root_cdf(root, 1, b, n) == pytest.approx(betainc(b / 2, (n - 1 - b) / 2, root), abs=1e-9)


def simulated_roots(a, b, n, n_draws, rng):
    """Largest squared canonical correlations of independent normal data, centred."""
    roots = np.empty(n_draws)
    for i in range(n_draws):
        x, y = (np.linalg.qr(rng.standard_normal((n - 1, rank)))[0] for rank in (a, b))
        roots[i] = np.linalg.norm(x.T @ y, 2) ** 2
    return roots


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n"),
    [(2, 2, 12), (3, 3, 30), (8, 8, 100), (4, 9, 60), (9, 4, 60), (20, 20, 90), (5, 6, 12), (39, 40, 200)],
)
def test_law_of_the_largest_root_against_simulation(a, b, n, rng):
    n_draws = 2000
    u = np.sort([largest_root_cdf(root, a, b, n) for root in simulated_roots(a, b, n, n_draws, rng)])
    # Kolmogorov's distance exceeds 1.95/√m once in a thousand times.
    distance = np.max(np.abs(u - (np.arange(n_draws) + 0.5) / n_draws))
    assert distance < 1.95 / np.sqrt(n_draws)


@pytest.mark.parametrize(("a", "b", "n"), [(1, 1, 20), (8, 8, 500), (40, 40, 100), (40, 40, 10**8), (2, 300, 500)])
def test_median_halves_the_law(a, b, n):
    assert largest_root_cdf(null_median(a, b, n), a, b, n) == pytest.approx(0.5, abs=1e-6)
    assert null_median(a, b, n) == null_median(b, a, n)


def test_median_of_high_ranks_joins_the_exact_one():
    below, above = null_median(40, 40, 1000), null_median(41, 41, 1000)
    assert below < above < below * 1.05
    assert 0.99 < null_median(60, 60, 122) <= 1


def test_law_is_a_law():
    roots = np.linspace(0.01, 0.99, 50)
    values = [largest_root_cdf(root, 6, 4, 40) for root in roots]
    assert np.all(np.diff(values) >= -1e-12)
    assert 0 <= values[0] < 0.01
    assert values[-1] == pytest.approx(1)
    with pytest.raises(ValueError, match="no freedom"):
        null_median(5, 5, 10)


def test_debias_keeps_one_and_turns_the_median_to_zero():
    assert debias(1.0, (8, 8), 100) == 1.0
    assert debias(np.sqrt(null_median(8, 8, 100)), (8, 8), 100) == pytest.approx(0, abs=1e-7)
    assert -1 < debias(0.0, (8, 8), 100) < 0
    assert debias(0.0, (2, 2), 5) == -1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((200,), {}), ((1000,), {}), ((200,), {"s": 12.0}), ((500,), {"k": 10, "s": 50.0}), ((300,), {"k": 1}),
        ((200, 2), {}), ((200, 5), {}), ((500, 3), {}), ((200, 20), {}),
    ],
)  # fmt: skip
def test_debiased_value_is_near_zero_under_independence(shape, settings, rng):
    values = [renyi.rdc(*rng.standard_normal((2, *shape)), debias=True, **settings) for _ in range(600)]
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values)) <= 0.03 + 2 * error
    assert min(values) < 0


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"k": 10, "s": 12.0}])
@pytest.mark.parametrize("correlation", [0.82, 0.95])
def test_debiased_value_is_near_the_population_value_when_that_is_high(settings, correlation, rng):
    def normal(n):
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    population = renyi.rdc(*normal(10**6), **settings)
    values = [renyi.rdc(*normal(500), debias=True, **settings) for _ in range(200)]
    assert np.mean(values) == pytest.approx(population, abs=0.02)
