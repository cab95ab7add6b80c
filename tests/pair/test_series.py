import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import renyi


@pytest.fixture
def pair(rng):
    return lfilter([1], [1, -0.7], rng.standard_normal((2, 600)))[:, 200:]


def test_series_that_know_nothing_of_one_another(rng):
    found = [
        renyi.independence_test(*lfilter([1], [1, -0.95], rng.standard_normal((2, 300)))[:, 100:], time=True).pvalue
        for _ in range(60)
    ]
    assert np.mean(np.array(found) < 0.05) < 0.15  # of rows as independent more than 0.8 are


def test_what_is_there_is_found_whatever_the_order_of_rows(rng, pair):
    x, noise = pair
    y = x**2 + noise
    found = renyi.independence_test(x, y, time=True)
    assert found.pvalue < 1e-6
    assert found.calibration == "shifts"
    assert found.n_effective < 100
    assert not found.notes
    assert 0 < found.strength <= found.coefficient
    assert found.no_interval
    order = rng.permutation(len(x))
    stamps = pd.date_range("2020-01-01", periods=len(x), freq="h")[order]
    assert renyi.independence_test(x[order], y[order], time=stamps).pvalue == found.pvalue
    holes = np.where(np.arange(len(x)) % 5 == 0, np.nan, x)
    for missing in ("pairwise", "listwise"):
        gaps = renyi.independence_test(holes, y, time=True, missing=missing)
        assert gaps.pvalue < 1e-4
        assert gaps.n_samples == 320
    level = renyi.categorical(np.where(x > 0, "up", "down"))
    assert renyi.independence_test(level, np.column_stack((y, x)), time=True).pvalue < 1e-4


def test_a_panel_is_shifted_within_its_groups(rng):
    unit = np.repeat(np.arange(20), 50)
    level = rng.standard_normal(20)[unit]
    x, y = rng.standard_normal((2, 1000)) + 3 * level
    assert renyi.independence_test(x, y).pvalue < 1e-6
    assert renyi.independence_test(x, y, time=True, groups=unit).pvalue > 0.01


def test_notes_tell_series_from_sorted_rows(rng, pair):
    x, y = pair
    found = renyi.independence_test(x, y)
    assert len(found.notes) == 1
    assert "previous row" in repr(found)
    assert not renyi.independence_test(x, y, order=None).notes
    assert not renyi.independence_test(rng.permutation(x), rng.permutation(y)).notes
    key = np.sort(rng.standard_normal(400))
    assert not renyi.independence_test(key, np.sin(3 * key) + 0.3 * rng.standard_normal(400)).notes
    kind = np.repeat(["a", "b", "c"], [100, 200, 100])
    assert not renyi.independence_test(renyi.categorical(kind), (kind == "b") + 0.3 * rng.standard_normal(400)).notes
    walks = np.cumsum(rng.standard_normal((2, 200)), axis=1)
    assert "random walks" in renyi.independence_test(*walks, time=True).notes[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time": np.r_[0:200, 199:399]}, "rows 199 and 200 have the same stamp"),
        ({"time": np.r_[0:300, 305:405]}, "rows 299 and 300 .* irregular|irregular: rows 299 and 300"),
        ({"time": [None, *range(399)]}, "lacks 1 stamps .first in row 0"),
        ({"time": [1, 2, 3]}, "3 stamps for 400 rows"),
        ({"time": "date"}, "time must be True for rows in order, or a stamp for each row, got"),
        ({"time": True, "method": "roy"}, "takes rows as independent"),
        ({"time": True, "exchange": "whole"}, "series of its own"),
        ({"time": True, "groups": np.arange(400) // 5}, "shortest group has 5 rows"),
        ({"order": "yes"}, "order must be 'check', or None .*, got 'yes'"),
    ],
)
def test_invalid_arguments_are_refused(pair, settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.independence_test(*pair, **settings)


def test_few_rows_are_refused(pair):
    with pytest.raises(renyi.InputError, match="49 rows, too few"):
        renyi.independence_test(*pair[:, :49], time=True)


def test_trends_are_told_and_taken_out(rng):
    x, y = lfilter([1], [1, -0.5], rng.standard_normal((2, 500)))[:, 100:] + np.linspace(0, 8, 400)
    found = renyi.independence_test(x, y, time=True)
    assert found.pvalue < 0.01
    assert found.notes == (
        "2 columns ('x', 'y') have a trend, and two columns with trends look dependent: pass detrend='linear' or "
        "'difference'",
    )
    for detrend in ("linear", "difference"):
        left = renyi.independence_test(x, y, time=True, detrend=detrend)
        assert left.pvalue > 0.05
        assert len(left.notes) == 1
        assert left.n_samples == (400 if detrend == "linear" else 399)


def test_a_season_is_taken_out(rng):
    season, noise = rng.standard_normal(24)[np.arange(480) % 24], rng.standard_normal((2, 480))
    x, y = 2 * season + noise[0], 3 * season + noise[1]
    assert renyi.independence_test(x, y, time=True).pvalue < 1e-4
    assert renyi.independence_test(x, y, time=True, period=24).pvalue > 0.01
    both = renyi.independence_test(x, y + 2 * (x - 2 * season) ** 2, time=True, period=24, detrend="linear")
    assert both.pvalue < 1e-6
    assert "straight line" in both.notes[0]
    assert "period of 24 rows" in both.notes[0]
    order = rng.permutation(480)
    again = renyi.independence_test(x[order], y[order], time=np.arange(480)[order], period=24)
    assert again.pvalue == renyi.independence_test(x, y, time=True, period=24).pvalue
    with pytest.raises(renyi.InputError, match="'x' is nothing but a season of 24 rows"):
        renyi.independence_test(season, y, time=True, period=24)
    with pytest.raises(renyi.InputError, match="detrend and period are for series"):
        renyi.independence_test(x, y, period=24)
