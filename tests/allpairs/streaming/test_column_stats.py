"""What batches say of a column: neither their borders nor their order matter."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import renyi
from renyi.allpairs.streaming import text_counts
from renyi.allpairs.streaming.column_stats import ColumnStats, part_of
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.data.types import SkipError
from renyi.errors import InputError


def surveyed(parts, override=None):
    survey = ColumnStats("x", override, LEAST_CAPACITY)
    for part in parts:
        survey.update(part)
    return survey


def same(a, b):
    """Whether two columns were counted alike."""
    assert (a.type, a.levels, a.places, a.n_missing, a.n_pooled) == (
        b.type,
        b.levels,
        b.places,
        b.n_missing,
        b.n_pooled,
    )
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(a.location_and_scale, b.location_and_scale)


def columns(rng):
    cells = np.array([*"abcdef", None], dtype=object)
    return {
        "number": np.where(rng.random(300) < 0.1, np.nan, np.round(rng.standard_normal(300), 1)),
        "boolean": np.array([True, False, None], dtype=object)[rng.integers(0, 3, 300)],
        "category": cells[rng.choice(7, 300, p=[0.3, 0.3, 0.2, 0.1, 0.01, 0.01, 0.08])],
    }


@pytest.mark.parametrize("kind", ["number", "boolean", "category"])
def test_cuts_order_and_merging_change_nothing(kind, rng):
    cells = columns(rng)[kind]
    expected = surveyed([cells]).decided(lambda _: None)
    assert expected.type == kind
    assert expected.n_observed + expected.n_missing == 300
    pieces = np.split(cells, [0, 7, 150])
    same(surveyed(pieces[::-1]).decided(lambda _: None), expected)
    left, right = surveyed(pieces[:3]), surveyed(pieces[3:])
    for first, second in ((left, right), (right, left)):
        total = first.copy()
        total.merge(second)
        same(total.decided(lambda _: None), expected)
    # What was merged into a copy is not in the original.
    assert left.n_observed + left.n_missing == 150


def test_rare_levels_are_pooled_from_the_rows_of_all_batches():
    # Three rows of b in either batch are enough for a level, and go with c alone, which is too rare by itself.
    batches = np.array(["d"] * 20 + ["b"] * 3), np.array(["c"] + ["b"] * 3 + ["a"] * 20)
    found = surveyed(batches).decided(lambda _: None)
    assert found.levels == ("a", "d", "(other)")
    assert found.counts.tolist() == [20, 20, 7]
    assert found.places == {"a": 0, "b": 2, "c": 2, "d": 1}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([np.array([1.0, np.inf]), np.array([-np.inf, 2.0])], "has 2 infinite values"),
        ([np.array([np.nan]), np.array([np.nan, 3.0])], "a single observed value"),
        ([np.array([np.nan]), np.array([np.nan])], "no observed value"),
        ([np.array([5, 5]), np.array([5])], r"constant \(always 5"),
        ([np.array(["a"]), np.array(["a"])], r"constant \(always 'a'\)"),
    ],
)
def test_what_cannot_be_measured_is_told_after_all_batches(parts, reason):
    survey = surveyed(parts)
    with pytest.raises(SkipError, match=reason):
        survey.decided(lambda _: None)


def test_batches_without_a_value_say_nothing_of_the_type():
    empty = np.array([None, None], dtype=object)
    assert surveyed([empty, np.array(["a", "b"] * 9)]).decided(lambda _: None).type == "category"
    assert surveyed([np.array([1.5, 2.5, 2.5]), empty]).decided(lambda _: None).n_missing == 2


def test_text_with_too_many_levels_is_no_category(monkeypatch):
    monkeypatch.setattr(text_counts, "MOST_LEVELS", 10)
    halves = [np.array([f"{name}{k}" for k in range(18)]) for name in "ab"]
    at_once, merged, other = surveyed(halves), surveyed(halves[:1]), surveyed(halves[1:])
    merged.merge(other)
    for survey in (at_once, merged):
        assert survey.text is None
        with pytest.raises(SkipError, match="more than 10 distinct values: an identifier or free text"):
            survey.decided(lambda _: None)


def test_infinities_of_a_batch_are_missing_and_counted():
    part = part_of(np.array([1.0, np.inf, np.nan, -np.inf]), "x", None)
    assert part.n_infinite == 2
    assert part.missing.tolist() == [False, True, True, True]
    assert part.observed.tolist() == [1.0]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_the_order_of_days_and_months_of_labels_is_that_of_all_batches(library, ordered):
    days = np.datetime64("2020-01-01") + np.arange(360)
    table = pd.DataFrame({"d": [day.strftime("%d/%m/%Y") for day in days.tolist()], "x": np.arange(360) % 50})
    table["x"] += np.arange(360)
    table["d"] = pd.Categorical(table["d"], ordered=ordered)
    # No day of the first batch is above 12.
    first = (days - days.astype("M8[M]")).astype(int) < 12
    batches = [table[first], table[~first]]
    if library == "arrow":
        batches = [pa.Table.from_pandas(batch, preserve_index=False) for batch in batches]
    found = renyi.matrix(batches, types={"d": "date"})
    expected = renyi.matrix(table, types={"d": "date"})
    assert found.types == expected.types == {"d": "date", "x": "number"}
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)


def test_numbers_in_one_batch_and_words_among_them_in_another_can_be_numbers():
    parts = np.arange(40.0), np.array(["unknown", *map(str, range(40, 80))], dtype=object)
    for batches in (parts, parts[::-1]):
        with pytest.raises(InputError, match=r"by types=\{'x': 'number'\} or 'category'$"):
            surveyed(batches)
        found = surveyed(batches, "number").decided(lambda _: None)
        assert (found.type, found.n_observed, found.n_missing) == ("number", 80, 1)
    with pytest.raises(InputError, match=r"by types=\{'x': 'category'\}$"):
        surveyed([parts[0], np.array([True, False])])
