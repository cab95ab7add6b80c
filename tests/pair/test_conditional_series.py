"""Series given others; and `residuals`, of which they and independent rows are made."""

import numpy as np
import pytest
from scipy.signal import lfilter

import renyi


def series(rng, n, n_series=1, memory=0.9):
    return lfilter([1], [1, -memory], rng.standard_normal((n_series, n + 200)))[:, 200:]


def follows(rng, n):
    """Two series that follow a third one, and remember on their own account."""
    z, e, u = series(rng, n, 3)
    return z**2 / 4 + e, np.sin(z) + z**2 / 4 + u, z


def test_series_without_relation_given_a_third_one(rng):
    independent, in_time = [], []
    for _ in range(30):
        x, y, z = series(rng, 300, 3)
        independent.append(renyi.conditional_test(x, y, z).pvalue < 0.05)
        in_time.append(renyi.conditional_test(x, y, z, time=True).pvalue < 0.05)
    assert np.mean(in_time) < 0.2
    assert np.mean(independent) > 0.4


def test_what_a_third_one_explains_is_held_fixed_and_what_it_does_not_is_found(rng):
    x, y, z = follows(rng, 600)
    assert renyi.independence_test(x, y, time=True).pvalue < 1e-3
    found = renyi.conditional_test(x, y, z, time=True)
    assert found.pvalue > 0.01
    assert found.strength < 0.5
    assert found.given == ("z",)
    assert 5 < found.n_effective < 200
    assert found.calibration == "shifts"
    own = x - z**2 / 4
    assert renyi.conditional_test(x, y + own**2, z, time=True).pvalue < 1e-3


def test_the_past_of_a_third_one_is_held_fixed_beside_it(rng):
    z, e, u = series(rng, 601, 3, 0.5)
    x, y = z[:-1] + 0.5 * e[1:], z[:-1] ** 2 - z[:-1] + 0.5 * u[1:]
    assert renyi.conditional_test(x, y, z[1:], time=True).pvalue < 1e-3
    assert renyi.conditional_test(x, y, {"now": z[1:], "before": z[:-1]}, time=True).pvalue > 0.01


def test_order_by_stamps_units_and_gaps(rng):
    x, y, z = follows(rng, 400)
    whole = renyi.conditional_test(x, y, z, time=True)
    order = rng.permutation(400)
    shuffled = renyi.conditional_test(x[order], y[order], z[order], time=np.arange(400)[order])
    assert shuffled.pvalue == pytest.approx(whole.pvalue)
    assert shuffled.strength == pytest.approx(whole.strength, abs=1e-9)
    holed = x.copy()
    holed[50] = np.nan
    assert renyi.conditional_test(holed, y, z, time=True, missing="listwise").n_samples == 399
    with pytest.raises(renyi.InputError, match="has 1 missing value"):
        renyi.conditional_test(holed, y, z, time=True)


def test_levels_of_series_in_a_panel_are_held_fixed(rng):
    groups = np.repeat(np.arange(6), 60)
    x, y, z = (np.concatenate(series(rng, 60, 6, 0.5)) for _ in range(3))
    levels = 5 * rng.standard_normal(6)[groups]
    assert renyi.conditional_test(x + levels, y + levels, z, time=True, groups=groups).pvalue > 0.01
    assert renyi.conditional_test(x + levels, y + levels + 3 * x, z, time=True, groups=groups).pvalue < 1e-6


def test_changes_are_compared_where_that_is_asked_for(rng):
    x, y, z = np.cumsum(rng.standard_normal((3, 300)), axis=1)
    found = renyi.conditional_test(x, y, z, time=True, detrend="difference")
    assert found.n_samples == 299
    assert "changes from row to row" in found.notes[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"groups": np.arange(200) // 50}, "are for series: pass time=True"),
        ({"period": 12}, "are for series: pass time=True"),
        ({"time": np.arange(199)}, "199 stamps for 200 rows"),
        ({"time": True, "missing": "pairwise"}, "no meaning given z"),
    ],
)
def test_what_makes_no_sense_is_refused(rng, settings, said):
    with pytest.raises(renyi.InputError, match=said):
        renyi.conditional_test(*rng.standard_normal((3, 200)), **settings)


def test_a_table_says_what_pairs_say(rng):
    x, y, z = follows(rng, 300)
    frame = {"x": x, "y": y, "z": z, "noise": series(rng, 300)[0]}
    found = renyi.screen(frame, "y", given="z", time=True)
    one = renyi.conditional_test(x, y, z, time=True)
    row = list(found.names).index("x")
    assert found.pvalues[row] == pytest.approx(one.pvalue, rel=1e-6)
    assert found.strength[row] == pytest.approx(one.strength, abs=1e-6)
