"""Dependence in windows of time."""

import pickle

import numpy as np
import pandas as pd
import pytest

import renyi


@pytest.fixture
def changing(rng):
    x, noise = rng.standard_normal((2, 600))
    return pd.Series(x, name="load"), np.where(np.arange(600) < 300, 0.0, x) + 0.4 * noise


def test_windows_see_a_dependence_begin(changing):
    stamps = pd.date_range("2024-01-01", periods=600, freq="h")
    found = renyi.rolling(*changing, 100, 50, time=stamps)
    assert len(found) == 11
    assert (found.pvalues[:5] > 0.001).all()
    assert (found.pvalues[6:] < 1e-6).all()
    frame = found.to_frame()
    assert frame["start"][1] == stamps[50]
    assert frame["end"][0] == stamps[99]
    assert pickle.loads(pickle.dumps(found)).to_frame().equals(frame)
    assert "load and y in 11 windows of 100 rows" in repr(found)


def test_a_window_is_a_test_of_its_rows(changing):
    x, y = (np.asarray(side) for side in changing)
    found = renyi.rolling(x, y, 120)
    assert found.step == 30
    alone = renyi.independence_test(x[60:180], y[60:180], time=True)
    assert (found.pvalues[2], found.strength[2]) == (alone.pvalue, alone.strength)
    independent = renyi.rolling(x, y, 40, 40, time=None)
    assert independent.pvalues[1] == renyi.independence_test(x[40:80], y[40:80]).pvalue


def test_windows_that_cannot_be_tested_are_missing(changing):
    x, y = (np.asarray(side).copy() for side in changing)
    x[:100] = 1.0
    y[200:290] = np.nan
    found = renyi.rolling(x, y, 100, 100)
    assert np.isnan(found.pvalues[[0, 2]]).all()
    assert np.isfinite(found.pvalues[[1, 3, 4, 5]]).all()
    assert found.n_samples[2] == 10


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((49,), {}, "window must be an integer of at least 50, got 49"),
        ((19,), {"time": None}, "window must be an integer of at least 20"),
        ((601,), {}, "longer than the data, which have 600 rows"),
        ((100, 0), {}, "step must be an integer of at least 1"),
        ((100,), {"time": [1, 2]}, "2 stamps for 600 rows"),
    ],
)
def test_what_makes_no_sense(changing, arguments, settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.rolling(*changing, *arguments, **settings)
