import numpy as np
import pytest

import renyi
from renyi.data.reader import as_column
from renyi.data.seasons import Adjustment
from renyi.data.time import timeline
from renyi.errors import InputError


def adjusted(values, *, detrend=None, period=None, time=True, groups=None):
    column = as_column(values, "x")
    return Adjustment.of(detrend, period)([column], timeline(time, groups, len(column)))


def test_differences_are_within_series_in_order_of_time():
    hour = np.tile(np.arange(60)[::-1], 2)
    found = adjusted(hour**2, detrend="difference", time=hour, groups=np.repeat(["a", "b"], 60))
    assert found.line.lengths == (59, 59)
    np.testing.assert_array_equal(found.columns[0].values, np.tile(np.diff(np.arange(60.0) ** 2), 2))
    assert found.columns[0].places[0] == 58  # the second row of time, where it was in the table
    assert found.columns[0].places[-1] == 60


def test_equal_changes_stay_equal(rng):
    tenths = np.cumsum(rng.integers(-3, 4, 500)) / 10
    assert len(np.unique(adjusted(tenths, detrend="difference").columns[0].values)) == 7
    assert len(np.unique(np.diff(tenths))) > 7


def test_a_line_is_taken_out_of_every_series(rng):
    t, unit = np.tile(np.arange(60), 2), np.repeat([0, 1], 60)
    noise = rng.standard_normal(120)
    x = np.where(unit == 0, 3 * t, 100 - 5 * t) + noise
    x[7] = np.nan
    found = adjusted(x, detrend="linear", groups=unit).columns[0]
    assert found.missing.nonzero()[0].tolist() == [7]
    known = ~found.missing
    for series in (0, 1):
        rows = known & (unit == series)
        slope, level = np.polyfit(t[rows], noise[rows], 1)
        np.testing.assert_allclose(found.values[rows], noise[rows] - slope * t[rows] - level, atol=1e-9)


@pytest.mark.parametrize("period", [12, (4, 12), [5, 7]])
def test_nothing_of_a_season_is_left(rng, period):
    n, longest = 700, max(np.atleast_1d(period))
    t = np.arange(n)
    season, spread = rng.standard_normal((2, longest))
    x = 3 * season[t % longest] + np.exp(spread[t % longest]) * rng.standard_normal(n)
    x += 2 * rng.standard_normal(4)[t % 4] if period == (4, 12) else 0
    left = adjusted(x, period=period).columns[0].values
    assert len(left) % longest == 0
    t = t[-len(left) :]
    for own in np.atleast_1d(period):
        for values in (left, np.abs(left - 0.5)):
            levels = np.array([values[t % own == place].mean() for place in range(own)])
            assert np.var(levels) < 0.002 * np.var(values)


def test_ranks_within_places_are_those_of_increasing_maps(rng):
    x = rng.standard_normal(120).round(1)
    x[[3, 50]] = np.nan
    x = np.concatenate(([7.0, 8.0, 9.0], x))
    found = adjusted(x, period=10).columns[0]
    np.testing.assert_array_equal(found.values, adjusted(np.exp(x), period=10).columns[0].values)
    place = x[7::10]
    ranks = np.array([np.sum(place < value) + (np.sum(place == value) - 1) / 2 + 0.5 for value in place]) / 12
    np.testing.assert_allclose(found.values[4::10], ranks)
    assert found.missing.nonzero()[0].tolist() == [3, 50]
    assert found.places[0] == 3  # whole periods are left


def test_vectors_go_by_coordinates_and_categories_stay(rng):
    columns = [
        as_column(rng.standard_normal((80, 2)).cumsum(axis=0), "v"),
        renyi.categorical(list("abcd") * 20, name="kind"),
    ]
    found = Adjustment.of("difference", None)(columns, timeline(True, None, 80))
    np.testing.assert_allclose(found.columns[0].values, np.diff(columns[0].values, axis=0), atol=1e-9)
    np.testing.assert_array_equal(found.columns[1].values, columns[1].values[1:])
    assert found.notes == (
        "numbers were replaced by their changes from row to row",
        "'kind' is a category, which has no trend or season to take out: it is left as it was",
    )


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        (np.arange(100) * 0.1, {"detrend": "difference"}),
        (np.arange(100) * 0.1 + 7, {"detrend": "linear"}),
        (np.tile(np.arange(24), 5), {"period": 24}),
        (np.datetime64("2024-01-01") + np.arange(90), {"detrend": "difference"}),
    ],
)
def test_what_is_trend_or_season_alone_is_refused(values, settings):
    found = adjusted(values, **settings)
    assert found.columns == ()
    with pytest.raises(InputError, match=r"'x' is nothing but .*: leave it out"):
        found.refused()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"detrend": "quadratic"}, "detrend='quadratic' is unknown: choose one of 'difference', 'linear'"),
        ({"period": 1}, "period must be an integer of at least 2 rows, or several, got 1"),
        ({"period": "day"}, "period must be .*, got 'day'"),
        ({"period": (24, 0.5)}, r"period must be .*, got \(24, 0.5\)"),
        ({"period": 34}, r"period=34 is too long: the series has 100 rows, .* \(102 rows\)"),
        ({"period": 20, "groups": np.arange(100) // 50}, "the shortest group has 50 rows"),
    ],
)
def test_what_makes_no_sense_is_refused(rng, settings, message):
    with pytest.raises(InputError, match=message):
        adjusted(rng.standard_normal(100), **settings)
