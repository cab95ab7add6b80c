import numpy as np
import pytest
from scipy.signal import lfilter

from renyi.inference.lags import Smallest, around
from renyi.inference.shifts import Shifts, Spectra


def functions(values):
    ranks = np.argsort(np.argsort(values)) / len(values)
    waves = np.cos(np.pi * np.outer(ranks, [1, 2, 3]))
    return (waves - waves.mean(axis=0)) / waves.std(axis=0)


def shifts(x, y, lengths=None):
    lengths = lengths or [len(x)]
    return Shifts(*(Spectra.of(functions(side), lengths) for side in (x, y)))


def series(rng, n, memory):
    return lfilter([1], [1, -memory], rng.standard_normal((2, n + 200)))[:, 200:]


def test_the_smallest_of_independent_p_values_is_that_of_so_many(rng):
    drawn = np.log(rng.random((4000, 10)).min(axis=1))
    smallest = Smallest.of(drawn, 10)
    assert np.exp(smallest.log_pvalue(np.log(0.002))) == pytest.approx(1 - 0.998**10, rel=0.15)
    assert smallest.log_pvalue(-200.0) == pytest.approx(-200.0 + np.log(10), abs=1.0)
    assert np.exp(smallest.log_pvalue(smallest.log_critical(0.05))) == pytest.approx(0.05, rel=1e-6)
    # Never more than all lags, nor less than one, whatever was drawn.
    assert Smallest(9.0, 1.0, 10).log_pvalue(-9.0) == pytest.approx(np.log(-np.expm1(10 * np.log1p(-np.exp(-9.0)))))
    assert Smallest(-9.0, 1.0, 10).log_pvalue(-9.0) == pytest.approx(-9.0, abs=1e-3)


def test_a_window_has_the_lags_of_single_tests(rng):
    both = shifts(*series(rng, 210, 0.8))
    window = around(both, 5, np.random.default_rng(0))
    singly = [both.at(lag)[0] for lag in range(-5, 6)]
    np.testing.assert_allclose(window.log_pvalues, singly, rtol=1e-9)
    assert window.strongest == int(np.argmin(singly)) - 5
    assert window.log_pvalue >= min(singly)


def test_x_and_y_can_change_places(rng):
    x, y = series(rng, 200, 0.9)
    one, other = (around(shifts(*pair), 12, np.random.default_rng(0)) for pair in ((x, y), (y, x)))
    np.testing.assert_allclose(one.log_pvalues, other.log_pvalues[::-1])
    assert one.log_pvalue == pytest.approx(other.log_pvalue)


def test_a_panel_is_shifted_series_by_series(rng):
    x, y = series(rng, 400, 0.5)
    y[150:250] += 3 * x[147:247] ** 2
    lengths = [100, 150, 150]
    window = around(shifts(x, y, lengths), 10, np.random.default_rng(0))
    assert window.strongest == 3
    assert window.log_pvalue < np.log(1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_size(rng, memory):
    found = [around(shifts(*series(rng, 200, memory)), 24, np.random.default_rng(0)).log_pvalue for _ in range(500)]
    # Three standard errors of 0.01 around what benchmarks/studies/lag_sizes.py finds.
    assert 0.02 < np.mean(np.array(found) < np.log(0.05)) < 0.085


def test_two_rare_events_have_an_upper_bound(rng):
    on = (rng.random((2, 300)) < 0.03).astype(float)
    spectra = [Spectra.of(((side - side.mean()) / side.std())[:, np.newaxis], [300], has_levels=True) for side in on]
    window = around(Shifts(*spectra), 3, np.random.default_rng(0))
    assert window.is_bound
    assert np.exp(window.log_pvalue) == pytest.approx(min(1.0, 7 * np.exp(window.log_pvalues.min())))
    same = around(Shifts(spectra[0], spectra[0]), 3, np.random.default_rng(0))
    assert np.exp(same.log_pvalue) == pytest.approx(7 / 300)
