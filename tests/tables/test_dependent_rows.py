import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.signal import lfilter

import renyi


@pytest.fixture
def frame(rng):
    """Four series and a category, of which the first two, and the third and the category, go together."""
    a, b, c, d = lfilter([1], [1, -0.7], rng.standard_normal((4, 400)))[:, 100:]
    frame = pd.DataFrame({"a": a, "b": a**2 + b, "c": c, "d": d, "kind": np.where(c > 0, "up", "down")})
    frame.loc[frame.index % 7 == 3, "d"] = np.nan
    return frame


def hours(frame):
    return pd.date_range("2024-01-01", periods=len(frame), freq="h")


def column(frame, name):
    return renyi.categorical(frame[name]) if name == "kind" else frame[name]


def every_pair(found):
    names = list(found.names)
    return [(i, j, names[i], names[j]) for i in range(len(names)) for j in range(i + 1, len(names))]


@pytest.mark.parametrize("settings", [{}, {"detrend": "difference"}, {"period": 12}])
def test_a_table_says_what_pairs_say(frame, settings):
    found = renyi.matrix(frame, time=True, **settings)
    for i, j, x, y in every_pair(found):
        one = renyi.independence_test(column(frame, x), column(frame, y), time=True, missing="pairwise", **settings)
        for name, value in (("pvalues", one.pvalue), ("debiased", one.debiased), ("strength", one.strength)):
            np.testing.assert_allclose(getattr(found, name)[i, j], value, rtol=1e-6, atol=1e-9, err_msg=f"{x} {y}")
    assert found.pvalues[0, 1] < 1e-4
    assert found.pvalues[0, 2] > 1e-3
    assert "the rows are a series in time" in found.notes[0]


def test_time_and_groups_are_columns_or_arrays(rng, frame):
    expected = renyi.matrix(frame, time=True)
    mixed = frame.assign(when=hours(frame)).sample(frac=1.0, random_state=1)
    by_name = renyi.matrix(mixed, time="when")
    assert by_name.skipped == {"when": "rows are in the order of it"}
    np.testing.assert_allclose(by_name.pvalues, expected.pvalues, rtol=1e-9)
    by_stamps = renyi.matrix(pl.DataFrame(mixed.drop(columns="when")), time=mixed["when"].to_numpy())
    np.testing.assert_allclose(by_stamps.pvalues, expected.pvalues, rtol=1e-9)
    screened = renyi.screen(mixed, "a", time="when")
    np.testing.assert_allclose(screened.pvalues[screened.names.index("b")], expected.pvalues[0, 1], rtol=1e-9)
    top = renyi.pairs(mixed, time="when", fdr=1).to_frame()
    assert len(top) == 10
    assert set(top.iloc[0][["x", "y"]]) == {"c", "kind"}
    unit = np.repeat(np.arange(6), 50)
    panel = renyi.matrix(frame.assign(unit=unit), groups="unit", time=True)
    one = renyi.independence_test(frame["a"], frame["c"], time=True, groups=unit)
    np.testing.assert_allclose(panel.pvalues[0, 2], one.pvalue, rtol=1e-9)
    assert "6 series" in panel.notes[0]


@pytest.mark.parametrize("exchange", ["within", "whole"])
def test_permutations_respect_groups(frame, exchange):
    frame = frame.drop(columns="d")
    unit = np.repeat(np.arange(30), 10)
    found = renyi.matrix(frame.assign(unit=unit), groups="unit", exchange=exchange)
    for i, j, x, y in every_pair(found):
        one = renyi.independence_test(column(frame, x), column(frame, y), groups=unit, exchange=exchange)
        assert found.pvalues[i, j] == pytest.approx(one.pvalue)
    assert found.skipped == {"unit": "it says which rows belong together"}
    assert "30 in all" in found.notes[0]


def test_series_are_told_and_everything_else_is_not(rng, frame):
    for found in (renyi.matrix(frame), renyi.screen(frame, "a"), renyi.matrix(frame, measure="spearman")):
        assert next(note for note in found.notes if "previous row" in note).startswith("5 of 5 columns ('")
        assert repr(found).count("previous row") == 1
    assert any("resemble their own previous row" in note for note in renyi.pairs(frame).notes)
    dated = renyi.matrix(frame.assign(when=hours(frame)))
    assert "pass time='when' or groups=" in dated.notes[-1]
    by_one = frame.sort_values("a").assign(noise=rng.standard_normal(len(frame)))
    for quiet in (frame.sample(frac=1.0, random_state=0), by_one):
        assert not [note for note in renyi.matrix(quiet).notes if "previous row" in note]
    assert not renyi.matrix(frame, order=None).notes
    assert not [note for note in renyi.matrix(frame, time=True).notes if "previous row" in note]


def test_columns_without_a_level_are_told_once(rng):
    walks = np.cumsum(rng.standard_normal((3, 200)), axis=1)
    found = renyi.matrix({**dict(zip("abc", walks, strict=True)), "noise": rng.standard_normal(200)}, time=True)
    assert found.notes[1].startswith("3 columns ('a', 'b', 'c') wander as random walks do")
    constant = renyi.matrix({"t": np.arange(200.0), "a": walks[0], "b": walks[1]}, time=True, detrend="difference")
    assert constant.skipped == {"t": "is nothing but a level, and constant without"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time": "date"}, "time names 'date', which is not a column of the table"),
        ({"time": "kind"}, "stamps are dates or numbers"),
        ({"time": [1, 2, 3]}, "3 stamps for 300 rows"),
        ({"time": False}, "time must be True"),
        ({"time": True, "measure": "pearson"}, "'pearson' has p-values for independent rows alone"),
        ({"time": True, "missing": "listwise"}, "would drop rows out of series"),
        ({"period": 7}, "detrend and period are for series"),
        ({"exchange": "whole"}, "pass groups"),
        ({"groups": np.repeat(np.arange(30), 10), "exchange": "whole"}, "must be complete"),
        ({"time": True, "groups": np.arange(300) // 5}, "shortest group has 5 rows"),
        ({"order": "yes"}, "order must be 'check'"),
    ],
)
def test_what_makes_no_sense_is_refused(frame, settings, message):
    for door in (renyi.matrix, lambda table, **more: renyi.screen(table, "a", **more)):
        with pytest.raises(renyi.InputError, match=message):
            door(frame, **settings)


def test_what_other_doors_cannot_do_they_refuse(frame):
    with pytest.raises(renyi.InputError, match="time and groups need all rows in memory, and this table is read in"):
        renyi.matrix(iter([frame, frame]), time=True, memory="20kB")
    with pytest.raises(renyi.InputError, match="given is for independent rows or series"):
        renyi.screen(frame, "a", given="b", groups=np.arange(len(frame)) // 2)


def note_of_batches(frame, n_batches, **settings):
    """What an accumulator says of the order of rows."""
    batches = [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n_batches)]
    done = renyi.Accumulator(**settings)
    for batch in batches:
        done.update(batch)
    done = done.second_pass()
    for batch in batches:
        done.update(batch)
    return [note for note in done.result().notes if "previous row" in note]


def test_batches_are_looked_at_within_themselves(rng, frame):
    frame = frame.assign(noise=rng.standard_normal(len(frame)))
    whole = [note for note in renyi.matrix(frame).notes if "previous row" in note]
    assert whole[0].startswith("5 of 6 columns")
    assert note_of_batches(frame, 1) == note_of_batches(frame, 2) == whole
    assert note_of_batches(frame, 2, target="a")[0].startswith("5 of 6 columns")
    assert "pass time='when'" in note_of_batches(frame.assign(when=hours(frame)), 2)[0]
    assert note_of_batches(frame, 2, order=None) == []
    assert note_of_batches(frame.sample(frac=1.0, random_state=0), 2) == []
    assert note_of_batches(frame.drop(columns="kind").sort_values("a"), 2) == []
    with pytest.raises(renyi.InputError, match="order must be 'check'"):
        renyi.Accumulator(order="yes")


def test_tensors_are_looked_at(frame):
    torch = pytest.importorskip("torch")
    tensors = {name: torch.tensor(frame[name].to_numpy()) for name in "abcd"}
    found = renyi.matrix(tensors)
    assert found.notes[-1].startswith("4 of 4 columns ('a', 'b', 'c' and 1 more) resemble their own previous row")
    assert renyi.screen(tensors, "a").notes[-1].startswith("4 of 4 columns")
    mixed = {name: values[torch.randperm(300, generator=torch.manual_seed(0))] for name, values in tensors.items()}
    assert renyi.matrix(mixed).notes == renyi.matrix(tensors, order=None).notes == ()
