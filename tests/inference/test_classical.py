import numpy as np
import pytest
from mpmath import mp
from scipy import stats

import reference
from renyi.basis.basis import category_basis, restrict, scalar_basis, vector_basis
from renyi.basis.canonical import cross_products
from renyi.basis.random_features import draw, seeds, sines_and_cosines
from renyi.inference.classical import bartlett, log_gamma_sf, log_weighted_chi_square_sf, spectral

(FIXED,) = seeds(None, n_draws=1)


@pytest.mark.parametrize("freedom", [1, 6, 64, 400])
@pytest.mark.parametrize("value", [0.1, 30.0, 700.0, 3000.0, 40_000.0])
def test_tail_of_chi_square(value, freedom):
    mp.dps = 40
    exact = float(mp.log(mp.gammainc(mp.mpf(freedom) / 2, mp.mpf(value) / 2, regularized=True)))
    assert log_gamma_sf(freedom / 2, value / 2) == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_bartlett_is_the_formula_of_the_paper():
    correlations = np.array([0.4, 0.2, 0.1])
    statistic, log_pvalue = bartlett(correlations, (3, 5), 200)
    expected = -(199 - 9 / 2) * np.log((1 - 0.16) * (1 - 0.04) * (1 - 0.01))
    assert statistic == pytest.approx(expected)
    assert log_pvalue == pytest.approx(stats.chi2.logsf(expected, 15))


def test_bartlett_of_perfect_correlation_is_finite():
    statistic, log_pvalue = bartlett(np.array([1.0, 0.5]), (2, 2), 100)
    assert np.isfinite(statistic)
    assert -10_000 < log_pvalue < -1000


@pytest.mark.slow
@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0, 1.0], [3.0, 1.0, 0.5, 0.1], [1.0, 1e-3, 1e-6]])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.2, 0.05, 0.01, 0.001])
def test_tail_of_a_weighted_chi_square(weights, share, rng):
    draws = rng.standard_normal((400_000, len(weights))) ** 2 @ weights
    cut = np.quantile(draws, 1 - share)
    # The saddle point is good to a few percent of the tail; the simulation to 5 % at 0.001.
    error = 4 * np.sqrt((1 - share) / share / len(draws))
    assert np.exp(log_weighted_chi_square_sf(cut, np.array(weights))) == pytest.approx(share, rel=0.08 + error)


@pytest.mark.slow
def test_weighted_tail_is_smooth_through_the_mean_and_far_out():
    weights = np.array([2.0, 1.0, 0.5])
    values = np.concatenate((np.linspace(1e-3, 8, 400), np.geomspace(8.1, 1e5, 100)))
    log_p = np.array([log_weighted_chi_square_sf(value, weights) for value in values])
    assert (np.diff(log_p) < 0).all()
    assert log_p[-1] == pytest.approx(-1e5 / 4, rel=1e-2)  # the largest weight decides: e^(−x/(2·2))


def test_a_statistic_of_nothing_has_a_pvalue_of_one():
    assert log_weighted_chi_square_sf(0.0, np.array([1.0, 0.5])) == 0.0
    for value in (1e-25, 1e-13, 1e-9, 1e-6):
        exact = stats.chi2.logsf(value, 1)
        assert log_weighted_chi_square_sf(value, np.array([1.0])) == pytest.approx(exact, abs=1e-4)


def centred(columns):
    return columns - columns.mean(axis=0)


def test_spectral_statistic_is_that_of_the_features(rng):
    x, labels = rng.standard_normal(200), rng.integers(0, 4, 200)
    projection = draw(1, 10, 12.0, kind="auto", seed=FIXED)
    bases = scalar_basis(x, projection), category_basis(labels)
    statistic, _ = spectral(cross_products(*bases), *bases)
    features = centred(sines_and_cosines(projection, reference.empirical_ranks(x)))
    indicators = centred(reference.indicators(labels))
    assert statistic == pytest.approx(np.sum((features.T @ indicators) ** 2) / 200, rel=1e-6)


def test_spectral_null_distribution_of_a_restricted_vector(rng):
    vectors, numbers = rng.standard_normal((150, 2)), rng.standard_normal(150)
    rows = rng.random(150) < 0.8
    plane = draw(2, 5, 3.0, kind="auto", seed=FIXED)
    line = draw(1, 5, 3.0, kind="auto", seed=FIXED)
    bases = restrict(vector_basis(vectors, plane), rows), restrict(scalar_basis(numbers, line), rows)
    statistic, log_pvalue = spectral(cross_products(*bases), *bases)
    x = centred(sines_and_cosines(plane, reference.empirical_ranks(vectors))[rows])
    y = centred(sines_and_cosines(line, reference.empirical_ranks(numbers))[rows])
    assert statistic == pytest.approx(np.sum((x.T @ y) ** 2) / rows.sum(), rel=1e-3)
    weights = np.multiply.outer(np.linalg.eigvalsh(x.T @ x), np.linalg.eigvalsh(y.T @ y)).ravel() / rows.sum() ** 2
    assert log_pvalue == pytest.approx(log_weighted_chi_square_sf(statistic, weights), abs=0.01)
