from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import renyi
from renyi.allpairs.row_sample import RowSample, check_sample, drawn_rows, sampled_rows

pytestmark = pytest.mark.usefixtures("in_batches")


def batches(n_batches=50, n_rows=400):
    """Rows numbered through, in batches of different lengths."""
    edges = np.cumsum([0, *(n_rows + (k * 37) % 300 for k in range(n_batches))])
    return [np.arange(start, stop, dtype=float) for start, stop in pairwise(edges)]


def sample_of(batch, n_all, size):
    which, priorities = drawn_rows([batch], len(batch), n_all, size)
    return RowSample(priorities, {"x": batch[which]}, {"x": batch[which] % 2 == 1})


def total_of(parts):
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_the_sample_has_its_size_and_is_the_same_in_any_order_of_merging(size):
    every = batches()
    n_all = sum(map(len, every))
    parts = [sample_of(batch, n_all, size) for batch in every]
    forward, backward = (total_of(some).smallest(size) for some in (parts, parts[::-1]))
    tree = (total_of(parts[::2]) + total_of(parts[1::2])).smallest(size)
    for other in (backward, tree):
        assert np.array_equal(forward.values["x"], other.values["x"])
    assert len(np.unique(forward.values["x"])) == size
    assert np.array_equal(forward.missing["x"], forward.values["x"] % 2 == 1)
    # What was kept on the way is hardly more.
    assert len(total_of(parts).priorities) < size + 16 * np.sqrt(size) + 200


def test_few_rows_are_all_kept():
    every = batches(3)
    whole = total_of([sample_of(batch, 1500, 2000) for batch in every])
    assert sorted(whole.smallest(2000).values["x"]) == list(range(sum(map(len, every))))


def test_every_row_is_as_likely_as_any_other():
    drawn = np.concatenate(
        [
            total_of([sample_of(batch + 1e6 * turn, 27_000, 500) for batch in batches()]).smallest(500).values["x"]
            % 1e6
            for turn in range(40)
        ]
    )
    n_all = sum(map(len, batches()))
    counts = np.histogram(drawn, bins=20, range=(0, n_all))[0]
    assert counts.sum() == 20_000
    # A chi-square of 19 degrees of freedom is below this with a probability of 0.9999.
    assert np.sum((counts - 1000) ** 2 / 1000) < 50


def test_batches_that_look_alike_are_merged_alike():
    a, b = np.zeros(1000), np.zeros(1000)
    a[1::2], b[1::2] = 1.0, np.arange(500)  # one in two rows tells them apart, and none of those looked at
    one, other = (sample_of(batch, 2000, 100) for batch in (a, b))
    assert np.array_equal(one.priorities, other.priorities)
    assert np.array_equal((one + other).smallest(100).values["x"], (other + one).smallest(100).values["x"])


@pytest.mark.parametrize("hold", [np.asarray, lambda x: {"x": x}, lambda x: pl.DataFrame({"x": x})])
def test_any_kind_of_column_draws(hold):
    import narwhals as nw

    data = hold(np.arange(300.0))
    if isinstance(data, dict):
        data = renyi.categorical(data["x"].astype(int).astype(str))
    elif isinstance(data, pl.DataFrame):
        data = nw.from_native(data)["x"]
    which, priorities = drawn_rows([data], 300, 3000, 50)
    assert 0 < len(which) == len(priorities) < 50
    assert np.array_equal(drawn_rows([data], 300, 3000, 50)[0], which)


def test_rows_in_memory_are_drawn_in_order():
    assert np.array_equal(sampled_rows(5, 9), np.arange(5))
    rows = sampled_rows(10_000, 100)
    assert len(np.unique(rows)) == 100
    assert np.array_equal(rows, np.sort(rows))
    assert np.array_equal(rows, sampled_rows(10_000, 100))


@pytest.mark.parametrize("sample", [-1, 1.5, "all", True, None])
def test_what_is_no_number_of_rows_is_refused(sample):
    with pytest.raises(renyi.InputError, match="sample must be an integer of at least 0, got"):
        check_sample(sample)
    with pytest.raises(renyi.InputError, match="sample must be an integer of at least 0, got"):
        renyi.matrix({"x": np.arange(9.0), "y": np.arange(9.0)}, sample=sample)


# Rows that come in batches.


def table(n=3000):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(n)
    return {
        "row": np.arange(n, dtype=float),
        "x": np.where(np.arange(n) % 5, x, np.nan),
        "group": np.array(list("abcd"))[np.arange(n) % 4],
        "day": np.datetime64("2020-01-01", "D") + np.arange(n),
        "wait": (np.arange(n) * 60).astype("m8[s]"),
        "flag": np.arange(n) % 3 == 0,
    }


def cut(columns, n_parts=7):
    edges = np.linspace(0, len(columns["row"]), n_parts + 1).astype(int)
    return [{name: cells[start:stop] for name, cells in columns.items()} for start, stop in pairwise(edges)]


def shown(found):
    return {variable.column.name: variable.shown for variable in (*found.edges.x, *found.edges.y)}


@pytest.mark.parametrize("n_shares", [8, 2**17], ids=["one pass", "several passes"])
@pytest.mark.parametrize("target", [None, "x"])
def test_columns_of_batches_have_the_same_rows_with_their_values(n_shares, target, monkeypatch):
    monkeypatch.setattr("renyi.tables.accumulator._SHARES", n_shares)
    columns = table()
    ask = renyi.matrix if target is None else (lambda rows, **kept: renyi.screen(rows, target, **kept))
    # What is read in a second pass alone has types and levels as decided in the first.
    found = ask(cut(columns), sample=200)
    whole = shown(ask(columns))
    rows = shown(found)["row"].values.astype(int)
    assert len(np.unique(rows)) == 200
    for name, column in shown(found).items():
        assert (column.kind, column.levels) == (whole[name].kind, whole[name].levels)
        gaps = np.zeros(200, dtype=bool) if column.missing is None else column.missing
        expected = np.zeros(3000, dtype=bool) if whole[name].missing is None else whole[name].missing
        assert np.array_equal(gaps, expected[rows])
        assert np.array_equal(column.values[~gaps], whole[name].values[rows][~gaps]), name


def test_several_passes_are_several(monkeypatch):
    monkeypatch.setattr("renyi.tables.accumulator._SHARES", 2**17)
    first = renyi.Accumulator()
    for batch in cut(table()):
        first.update(batch)
    assert len(first.second_passes()) > 2


def test_ordered_levels_are_kept(rng):
    import pandas as pd

    grades = pd.Categorical(rng.choice(["low", "mid", "high"], 300), ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"grade": grades, "x": rng.random(300)})
    drawn = shown(renyi.matrix([frame[:100], frame[100:]]))["grade"]
    assert drawn.levels == ("low", "mid", "high")
    assert np.array_equal(np.bincount(drawn.values.astype(int)), np.bincount(grades.codes))


def test_a_constant_sample_of_a_rare_value_is_shown(tmp_path):
    columns = table() | {
        "rare": np.arange(3000) % 1500 == 7,
        "gaps": np.where(np.arange(3000) < 3, np.arange(3000), np.nan),
    }
    for rows in (cut(columns), columns):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("renyi.allpairs.column_group.SAMPLE", 20)
            found = renyi.matrix(rows, sample=20)
            assert found.report(tmp_path / "page.html").stat().st_size > 10_000
            assert {len(column) for column in shown(found).values()} == {20}


def test_remarks_name_no_row_of_a_sample():
    n = 300
    x, y = np.zeros(n), np.zeros(n)
    x[17], y[17] = 1.0, 1.0
    columns = {"x": x.astype(bool), "y": y.astype(bool), "z": np.arange(n, dtype=float)}
    whole = renyi.matrix(columns).to_long()["remark"]
    assert whole[0].startswith("without row 17")
    batches = [{name: cells[start : start + 100] for name, cells in columns.items()} for start in (0, 100, 200)]
    assert renyi.matrix(batches).to_long()["remark"][0] == "one row carries it"
