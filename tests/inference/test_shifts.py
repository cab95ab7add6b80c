import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import beta, chi2

from renyi.inference.shifts import Shifts, Spectra, log_beta_sf, log_chi_squared_sf


def functions(values):
    ranks = np.argsort(np.argsort(values)) / len(values)
    waves = np.cos(np.pi * np.outer(ranks, [1, 2]))
    return (waves - waves.mean(axis=0)) / waves.std(axis=0)


def series(rng, n, memory_of=0.9):
    return lfilter([1], [1, -memory_of], rng.standard_normal((2, n + 200)))[:, 200:]


def shifts(x, y, lengths=None):
    lengths = lengths or [len(x)]
    return Shifts(Spectra.of(functions(x), lengths), Spectra.of(functions(y), lengths))


def test_tails_are_those_of_scipy_and_go_on_beyond_the_smallest_number():
    share = np.array([0.01, 0.5, 0.99])
    np.testing.assert_allclose(log_beta_sf(share, 1.5, 8.0), beta.logsf(share, 1.5, 8.0), rtol=1e-9)
    np.testing.assert_allclose(log_chi_squared_sf(np.array([0.5, 9.0, 1300.0]), 3), chi2.logsf([0.5, 9, 1300], 3), 1e-9)
    # Two more make a factor of e, but for that of the density.
    far = log_chi_squared_sf(np.array([2000.0, 2002.0]), 3)
    assert far[0] - far[1] == pytest.approx(1.0, abs=1e-2)
    assert -1e6 < log_beta_sf(np.array([1 - 1e-9]), 1.5, 500.0)[0] < -1000


def test_a_lag_is_a_shift_of_the_data(rng):
    x, y = series(rng, 101)
    found = shifts(x, y)
    for lag in (0, 3, -5):
        assert found.at(lag)[0] == pytest.approx(found.everywhere()[lag])
    found._without_seam[:] = 1.0
    for lag in (0, 3, -5):
        shifted = shifts(x, np.roll(y, -lag))
        shifted._without_seam[:] = 1.0
        assert shifted.at(0)[0] == pytest.approx(found.everywhere()[lag])


def test_covariance_is_that_over_all_shifts(rng):
    """Squared lengths of the first block add up to the number of shifts, with any memory."""
    x, y = series(rng, 200)
    first = shifts(x, y)._parts[0]
    lengths = (200 * np.fft.irfft(first._products[0] * (np.arange(101) > 0), 200, axis=1)) ** 2
    assert lengths.mean() == pytest.approx(1.0)
    assert first.n_effective < 60 < shifts(*rng.standard_normal((2, 200))).n_effective


def test_a_panel_of_one_series_is_that_series_and_levels_of_groups_do_not_count(rng):
    x, y = series(rng, 240)
    assert shifts(x, y, [240]).at(0) == shifts(x, y).at(0)
    parts = [60] * 4
    ranked = functions(x), functions(y)
    moved = [part + np.repeat(rng.standard_normal((4, 1)), 60, axis=0) for part in ranked]
    same = [Shifts(*(Spectra.of(part, parts) for part in sides)).at(0)[0] for sides in (ranked, moved)]
    assert same[0] == pytest.approx(same[1])


@pytest.mark.slow
@pytest.mark.parametrize("memory_of", [0.0, 0.9, 0.97])
def test_size(rng, memory_of):
    found = np.array([shifts(*series(rng, 150, memory_of)).at(0)[0] for _ in range(1500)])
    # 0.0056 is a standard error.
    assert 0.03 < np.mean(found < np.log(0.05)) < 0.07
    assert np.mean(found < np.log(0.01)) < 0.018


def flags(rng, n, share):
    """Two independent columns that are on in some rows, as functions of mean 0 and variance 1."""
    on = np.zeros((2, n))
    for side in on:
        side[rng.choice(n, max(2, int(share * n)), replace=False)] = 1.0
    return ((on - on.mean(axis=1, keepdims=True)) / on.std(axis=1, keepdims=True))[:, :, np.newaxis]


def test_where_single_rows_weigh_too_much_shifts_are_counted(rng):
    x, y = (Spectra.of(side, [200], has_levels=True) for side in flags(rng, 200, 0.02))
    rare = Shifts(x, y)
    assert not rare.is_light()
    assert np.exp(rare.at(0)[0]) * 200 == pytest.approx(round(np.exp(rare.at(0)[0]) * 200))
    assert Shifts(x, x).at(0)[0] == pytest.approx(np.log(1 / 200))
    np.testing.assert_allclose(rare.window(2), [rare.at(lag)[0] for lag in range(-2, 3)])
    often = Shifts(*(Spectra.of(side, [200], has_levels=True) for side in flags(rng, 200, 0.5)))
    assert often.is_light()


def test_heavy_functions_of_both_sides_are_not_looked_at_together(rng):
    smooth, rare = rng.choice([-1.0, 1.0], (200, 2)), flags(rng, 200, 0.03)[0, :, 0]
    heavy = np.column_stack((smooth[:, 0], rare))
    assert (2, 2) in Shifts(Spectra.of(smooth, [200]), Spectra.of(smooth, [200])).blocks
    assert (2, 2) not in Shifts(Spectra.of(heavy, [200]), Spectra.of(heavy, [200])).blocks


def test_products_of_what_a_span_leaves_have_the_spread_that_is_expected(rng):
    """White noise rid of 50 of 200 dimensions: shifts alone would say 3/4 of the variance, in each of both ways."""
    lengths, without = [], []
    for _ in range(300):
        span = np.linalg.qr(np.column_stack((np.ones(200), rng.standard_normal((200, 49)))))[0]
        sides = [Spectra.of(side - span @ (span.T @ side), [200]) for side in rng.standard_normal((2, 200, 1))]
        lengths.append(Shifts(*sides, span=Spectra.of(span, [200]))._parts[0].length_at(0, [200]))
        without.append(Shifts(*sides)._parts[0].length_at(0, [200]))
    # Squares of a normal of 300 draws: a standard error of 0.08.
    assert np.mean(lengths) == pytest.approx(1.0, abs=0.3)
    assert np.mean(without) / np.mean(lengths) == pytest.approx(4 / 3, rel=0.05)
    assert Shifts(*sides, errors=np.full((1, 1), 2.0)).at(0)[0] > Shifts(*sides).at(0)[0]


def test_series_vary_more_than_the_circles_they_are_bent_into(rng):
    """By the sum over lags l of (1 − l/n) of what they share, where circles have (1 − l/n)²."""
    n, memory_of = 100, 0.97
    lags = np.arange(n)
    expected = [np.sum((1.0 - lags / n) ** power * memory_of ** (2 * lags) * (1 + (lags > 0))) for power in (1, 2)]
    ratios = np.array([shifts(*series(rng, n, memory_of))._without_seam for _ in range(200)])
    assert 1.05 < ratios[:, 0].mean() < expected[0] / expected[1] + 0.1
    assert (np.diff(ratios[:, : n // 2 + 1], axis=1) <= 1e-12).all()
    np.testing.assert_allclose(ratios[:, n // 2], 1.0)
    np.testing.assert_allclose(ratios[:, 1], ratios[:, -1])
    assert np.mean([shifts(*rng.standard_normal((2, n)))._without_seam[0] for _ in range(50)]) < 1.03


def test_what_a_lag_varies_more_than_circles_do_is_told_by_the_lags_beyond_it(rng):
    """The sum over all pairs of lags, term by term."""
    both = [Spectra.of(functions(side), [60, 41]) for side in series(rng, 101)]
    found = Shifts(*both)._without_seam
    more, seen = np.zeros(41), 0.0
    for own, other, n in zip(both[0].autocovariances, both[1].autocovariances, (60, 41), strict=True):
        seen += np.sum(own * other)
        for d in range(n):
            if own[d] * other[d] > 0.1 * own[0] * other[0]:
                for lag in range(41):
                    more[lag] += max(min(d, n - d) - min(lag, n - lag), 0) / n * own[d] * other[d]
    np.testing.assert_allclose(found, np.maximum(1.0 + more / seen, 1.0))


def test_few_rows_with_much_memory_show_a_parabola_by_one_product_alone(rng):
    found = []
    for _ in range(60):
        x, noise = series(rng, 100)
        both = shifts(x, x**2 / np.var(x) + noise / np.std(noise))
        found.append((both.at(0)[0], any(part._is_alone for part in both._parts)))
    log_p, is_alone = np.array(found).T
    assert is_alone.mean() > 0.6
    # 0.05 is a standard error; without those products it is 0.6.
    assert np.mean(log_p < np.log(0.05)) > 0.65


def test_products_alone_share_nothing_with_the_first(rng):
    """The weights then say alone how many blocks they are worth."""
    drawn = [shifts(*series(rng, 100)) for _ in range(20)]
    apart = [some for some in drawn if len(some.blocks) > 1 and all(part._is_alone for part in some._parts[1:])]
    assert apart
    for some in apart:
        assert all(len(part.pairs) == 1 for part in some._parts)
        assert some._n_blocks == pytest.approx(1.0 / np.sum(np.exp(2.0 * some._log_weights)))
