import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import betainc

import renyi
from renyi.inference.roy import _tracy_widom_median, largest_root_cdf, null_median


@pytest.mark.parametrize(("b", "n"), [(1, 10), (1, 1000), (5, 50), (7, 10**6), (3, 10**8), (40, 200)])
@pytest.mark.parametrize("share", [0.3, 1.0, 2.0, 5.0])
def test_one_against_many_is_a_beta(b, n, share):
    root = min(0.99, share * b / n)
    assert largest_root_cdf(root, 1, b, n) == pytest.approx(betainc(b / 2, (n - 1 - b) / 2, root), abs=1e-9)


def wishart(rank, freedom, rng):
    """A Wishart matrix by Bartlett's decomposition."""
    lower = np.tril(rng.standard_normal((rank, rank)), -1)
    lower[np.diag_indices(rank)] = np.sqrt(rng.chisquare(freedom - np.arange(rank)))
    return lower @ lower.T


def simulated_roots(a, b, n, n_draws, rng):
    """Largest squared canonical correlations of independent normal data with n − 1 degrees of freedom."""
    roots = np.empty(n_draws)
    for i in range(n_draws):
        hypothesis, error = wishart(a, b, rng), wishart(a, n - 1 - b, rng)
        roots[i] = eigh(hypothesis, hypothesis + error, eigvals_only=True)[-1]
    return roots


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n"),
    [(2, 2, 12), (3, 3, 30), (8, 8, 100), (4, 9, 60), (20, 20, 90), (5, 6, 12), (39, 40, 200), (12, 100_000, 110_014)],
)
def test_law_of_the_largest_root_against_simulation(a, b, n, rng):
    n_draws = 2000
    u = np.sort([largest_root_cdf(root, a, b, n) for root in simulated_roots(a, b, n, n_draws, rng)])
    # Kolmogorov's distance exceeds 1.95/√m once in a thousand times.
    distance = np.max(np.abs(u - (np.arange(n_draws) + 0.5) / n_draws))
    assert distance < 1.95 / np.sqrt(n_draws)
    assert largest_root_cdf(0.5, a, b, n) == largest_root_cdf(0.5, b, a, n)


# Unequal ranks, ranks beyond the exact law, and ranks that nearly fill the rows.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        (40, 1000, 1142), (40, 3000, 4542), (8, 999_900, 1_000_000), (41, 41, 1000), (100, 100, 1000), (80, 500, 3000),
        (41, 41, 83), (60, 60, 125), (100, 100, 205), (41, 950, 1000),
    ],
)  # fmt: skip
def test_median_against_simulation(a, b, n, rng):
    roots = simulated_roots(a, b, n, 600, rng)
    # A share of 600 has a standard error of 0.0204; one in a thousand exceeds 3.3 of them.
    assert np.mean(roots <= null_median(a, b, n)) == pytest.approx(0.5, abs=3.3 * 0.0204)


def test_median_of_the_tracy_widom_limit():
    # Where both hold, the limit is within 0.3 % of the exact median.
    assert _tracy_widom_median(40, 40, 1000) == pytest.approx(null_median(40, 40, 1000), rel=3e-3)
    with pytest.raises(renyi.InputError, match="too little freedom"):
        null_median(300, 300, 610)


@pytest.mark.parametrize(("a", "b", "n"), [(1, 1, 20), (8, 8, 500), (6, 3000, 9008), (40, 40, 10**8), (2, 300, 500)])
def test_median_halves_the_law(a, b, n):
    assert largest_root_cdf(null_median(a, b, n), a, b, n) == pytest.approx(0.5, abs=1e-6)
    assert null_median(a, b, n) == null_median(b, a, n)


def test_law_is_a_law():
    roots = np.linspace(0.01, 0.99, 50)
    values = [largest_root_cdf(root, 6, 4, 40) for root in roots]
    assert np.all(np.diff(values) >= -1e-12)
    assert 0 <= values[0] < 0.01
    assert values[-1] == pytest.approx(1)
    with pytest.raises(ValueError, match="no freedom"):
        null_median(5, 5, 10)
