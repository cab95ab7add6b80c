"""Dependence at many lags: `api`, `reading`, `coefficients`, `in_memory` and `result`."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import renyi


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rain, noise, wind, free = lfilter([1], [1, -0.7], rng.standard_normal((4, 500)))[:, 100:]
    return pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=400),
            "rain": rain,
            "river": np.roll(rain, 3) ** 2 + 0.5 * noise,
            "wind": np.roll(rain, -2) + wind,
            "<free>": free,
        }
    )


@pytest.fixture(scope="module")
def found(table):
    return renyi.lags(table, max_lag=12, time="day")


def test_the_strongest_lags_and_who_leads(found):
    top = found.top()
    assert dict(zip(zip(top["x"], top["y"], strict=True), top["direction"], strict=True)) == {
        ("rain", "river"): "rain leads river by 3",
        ("rain", "wind"): "rain follows wind by 2",
        ("river", "wind"): "river follows wind by 5",
    }
    assert (top["q"] <= 0.05).all()
    assert len(found.to_frame()) == 6
    assert found.n_found() == 3
    assert "same time" in set(renyi.lags({"a": table_of(0), "b": table_of(0)}, max_lag=3).to_frame()["direction"])


def table_of(seed):
    return np.random.default_rng(seed).standard_normal(100)


def test_coefficients_are_those_of_the_data_moved_by_hand(table, found):
    long = found.to_long()
    own = long[(long["x"] == "rain") & (long["y"] == "river")].set_index("lag")
    assert own.loc[0, "coefficient"] == pytest.approx(renyi.rdc(table["rain"], table["river"]))
    for lag in (3, -4):
        early, late = (table["rain"], table["river"]) if lag > 0 else (table["river"], table["rain"])
        by_hand = renyi.rdc(early.to_numpy()[: -abs(lag)], late.to_numpy()[abs(lag) :])
        assert own.loc[lag, "coefficient"] == pytest.approx(by_hand, abs=0.03)
        assert own.loc[lag, "n"] == 400 - abs(lag)
    alone = renyi.independence_test(table["rain"], table["river"], time=True)
    assert own.loc[0, "p"] == pytest.approx(alone.pvalue)
    assert own.loc[0, "strength"] == pytest.approx(alone.strength, abs=1e-6)


def test_order_of_rows_and_of_columns_do_not_matter(table, found):
    moved = renyi.lags(table.sample(frac=1, random_state=0), max_lag=12, time="day")
    assert moved.to_frame()["p"].to_list() == pytest.approx(found.to_frame()["p"].to_list())
    turned = renyi.lags(table["river"], table["rain"], max_lag=12).to_frame()
    assert turned["direction"][0] == "river follows rain by 3"
    of_both = found.to_frame().query("x == 'rain' and y == 'river'")["p"].iloc[0]
    assert turned["p"][0] == pytest.approx(of_both)


def test_one_target_by_name_or_values(table):
    by_name = renyi.lags(table, "river", max_lag=12, time="day")
    assert by_name.target == "river"
    assert set(by_name.to_frame()["y"]) == {"river"}
    rest = table.drop(columns="river")
    by_values = renyi.lags(rest, table["river"], max_lag=12, time="day")
    assert by_values.to_frame()["p"].to_list() == by_name.to_frame()["p"].to_list()


def test_gaps_categories_and_panels(table):
    holes = table.assign(kind=np.where(table["rain"].abs() > 1, "wet", "dry"))
    holes.loc[::7, "rain"] = np.nan
    found = renyi.lags(holes[["rain", "river", "kind"]], max_lag=6).to_frame()
    own = found.query("x == 'rain' and y == 'river'").iloc[0]
    assert (own["lag"], own["n"]) == (3, 340)
    assert found.query("x == 'river' and y == 'kind'")["lag"].iloc[0] == -3
    panel = table.assign(site=np.repeat(["a", "b", "c", "d"], 100))
    by_site = renyi.lags(panel, max_lag=6, time="day", groups="site")
    assert by_site.n_series == 4
    assert by_site.to_frame().query("x == 'rain' and y == 'river'")["n"].iloc[0] == 4 * 97
    assert "in 4 series" in repr(by_site)


def test_trend_and_season_are_taken_out_and_told(table):
    hour = np.arange(len(table))
    season = table.assign(rain=table["rain"] + 9 * np.sin(hour / 12 * np.pi), river=table["river"] + hour % 24)
    found = renyi.lags(season, "river", max_lag=6, time="day", period=24)
    assert found.top(1)["direction"][0] == "rain leads river by 3"
    assert any("period of 24 rows" in note for note in found.notes)
    rng = np.random.default_rng(1)
    walks = renyi.lags(np.cumsum(rng.standard_normal((300, 2)), axis=0), max_lag=6)
    assert "random walks" in walks.notes[-1]


def test_results_copy_and_pickle(found):
    again = pickle.loads(pickle.dumps(copy.deepcopy(found)))
    assert again.to_long().equals(found.to_long())
    assert repr(again) == repr(found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_lag": 101}, "max_lag=101 is too long: the series has 400 rows, .* pass max_lag=100 or less"),
        ({"max_lag": 0}, "max_lag must be an integer of at least 1, got 0"),
        ({"max_lag": 5, "time": "dya"}, "did you mean 'day'"),
        ({"max_lag": 5, "time": None}, "time must be True"),
        ({"max_lag": 5, "time": np.r_[0:399, 405]}, "irregular"),
        ({"max_lag": 5, "groups": np.arange(400) // 5}, "shortest group"),
        ({"max_lag": 5, "period": 200}, "period=200 is too long"),
        ({"max_lag": 5, "detrend": "hp"}, "detrend"),
        ({"max_lag": 5, "correction": "none"}, "correction"),
    ],
)
def test_what_makes_no_sense(table, settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.lags(table, **settings)


def test_few_rows_are_refused(table):
    with pytest.raises(renyi.InputError, match="49 rows, too few"):
        renyi.lags(table[:49], max_lag=5)
    with pytest.raises(renyi.InputError, match="needs a table, or two columns"):
        renyi.lags(table["rain"], max_lag=5)


def test_columns_without_a_common_frequency_show_nothing():
    table = {"blink": np.arange(200) % 2, "steps": np.arange(200) // 2}
    assert renyi.independence_test(*table.values(), time=True).pvalue == 1.0
    assert renyi.lags(table, max_lag=5).pvalues[0] == pytest.approx(1.0, abs=1e-9)
