"""What changed between two tables.

All of `api`, `reading`, `sampling`, `counting`, `marginals`, `columns`, `words`, `functions`, `sums`, `in_memory`,
`parts` and `result`; `reference` and `checking` by the estimator that has them.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import renyi


def _table(n, rng, slope=0.5):
    x, noise = rng.standard_normal((2, n))
    return pd.DataFrame(
        {
            "x": x,
            "y": slope * x + noise,
            "bent": x**2 + 0.3 * rng.standard_normal(n),
            "free": rng.standard_normal(n),
            "level": rng.choice(list("abc"), n),
        }
    )


@pytest.fixture(scope="module")
def changed():
    rng = np.random.default_rng(0)
    before, after = _table(800, rng), _table(600, rng)
    after["bent"] = -after["bent"]
    after["free"] = 1000 * (after["free"] + 10)
    before["free"] += 10
    after.loc[:150, "y"] = np.nan
    after.loc[:30, "level"] = "new"
    before["gone"] = 1.0
    after["added"] = 1.0
    return renyi.compare(before, after)


def test_columns_tell_what_became_of_them(changed):
    rows = {(row.column, row.what): row for row in changed.columns.itertuples()}
    assert rows["free", "values"].words == "other units? about 1,000 times what it was"
    assert rows["y", "missing"].words.startswith("more missing: 0.0%")
    assert "'new' (31 rows)" in rows["level", "levels"].words
    assert rows["bent", "values"].words.startswith("other sign?")
    assert rows["x", "values"].q > 0.05
    assert all(0 <= row.low <= row.moved <= row.high <= 1 for row in rows.values())
    assert changed.only_before == ("gone",)
    assert changed.only_after == ("added",)
    assert changed.together < 1e-20


def test_a_mirrored_parabola_has_another_form_and_units_change_no_dependence(changed):
    pairs = {(row.x, row.y): row for row in changed.pairs.itertuples()}
    assert pairs["x", "bent"].kind == "other form"
    assert pairs["x", "bent"].moved > 0.9
    assert abs(pairs["x", "bent"].change) < 0.05
    assert pairs["x", "free"].q > 0.05
    assert pairs["x", "y"].q > 0.05


def test_increasing_maps_of_columns_change_no_p_value():
    rng = np.random.default_rng(1)
    before, after = (
        {name: t[name].to_numpy() for name in ("x", "y")} for t in (_table(300, rng), _table(400, rng, 1.5))
    )
    plain = renyi.compare(before, after).of_pairs
    mapped = renyi.compare(before, {"x": np.exp(after["x"]), "y": after["y"] ** 3}).of_pairs
    assert plain.pvalues == pytest.approx(mapped.pvalues)
    assert plain.pvalues[0] < 1e-3


def test_results_copy_pickle_and_show_themselves(changed, tmp_path):
    again = pickle.loads(pickle.dumps(copy.deepcopy(changed)))
    assert again.pairs.equals(changed.pairs)
    assert "other form" in repr(again)
    assert "other form" in again._repr_html_()
    assert len(again.top(3)) == 3
    page = again.report(tmp_path / "change.html", title="<b>").read_text()
    assert "&lt;b&gt;" in page
    assert "<script" not in page
    assert again.plot().axes[2].get_title(loc="left") == "moved"


def test_a_stuck_sensor_is_told():
    rng = np.random.default_rng(2)
    before, after = _table(300, rng), _table(300, rng)
    after["free"] = 2.5
    words = {row.column: row.words for row in renyi.compare(before, after).columns.itertuples()}
    assert words["free"] == "constant, always 2.5"


def test_the_same_table_twice_differs_in_nothing():
    table = _table(200, np.random.default_rng(3))
    found = renyi.compare(table, table.copy())
    assert found.together == 1.0
    assert "the same in both tables, cell by cell" in repr(found)


def test_parts_of_a_table_and_when_they_changed():
    rng = np.random.default_rng(4)
    parts = [_table(200, rng, 0.0 if month < 3 else 2.0).assign(month=month) for month in range(1, 6)]
    found = renyi.compare(pd.concat(parts), by="month")
    assert found.parts == ("1", "2", "3", "4", "5")
    assert found.when.part == "3"
    assert found.when.p < 1e-6
    assert found["3"].together < 1e-3 < found["5"].together
    assert "from 3 on" in repr(found)
    assert list(found.to_frame()["part"]) == ["2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (({"a": [1.0, 2.0]}, {"b": [1.0, 2.0]}), {}, "no column in common"),
        (({"a": np.arange(9.0)}, {"a": np.array([])}), {}, "'after' has no rows"),
        (({"a": np.arange(9.0)},), {}, "needs two tables"),
        (({"a": np.arange(9.0), "m": ["x"] * 9},), {"by": "m"}, "one value alone"),
        (({"a": np.arange(99.0), "m": np.arange(99)},), {"by": "m"}, "at most 60 parts"),
        (({"a": np.arange(9.0)}, {"a": np.arange(9.0)}), {"correction": "none"}, "correction='none' is unknown"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.compare(*arguments, **settings)


def test_other_types_are_named():
    found = renyi.compare({"a": np.arange(60.0), "b": list("xy") * 30}, {"a": list("uvw") * 20, "b": list("xy") * 30})
    assert found.retyped == {"a": "numbers in before, labels in after"}


def _of_many_kinds(n, rng):
    when = np.datetime64("2024-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
    kinds = {
        "flag": rng.random(n) < 0.3,
        "whole": rng.integers(0, 30, n),
        "when": when,
        "text": rng.choice([*"123"], n),
    }
    return _table(n, rng).assign(**kinds)


def _in_batches(table, n=500):
    return [table[start : start + n] for start in range(0, len(table), n)]


def test_columns_in_batches_are_compared_by_all_rows_as_in_memory():
    rng = np.random.default_rng(5)
    before, after = _of_many_kinds(2000, rng), _of_many_kinds(1500, rng)
    after["free"] += 0.2
    after.loc[:40, "level"], after.loc[:150, "y"] = "new", np.nan
    whole = renyi.compare(before, after)
    found = renyi.compare(iter(_in_batches(before)), _in_batches(after), memory="10KB", sample=1000)
    assert found.sampled == (
        "before: columns by all 2,000 rows, dependences on a sample of 1,000; "
        "after: columns by all 1,500 rows, dependences on a sample of 1,000"
    )
    assert found.n_rows == (2000, 1500)
    assert found.of_pairs.pvalues.min() > 1e-4
    assert [(one.column, one.what, one.words) for one in found.of_columns] == [
        (one.column, one.what, one.words) for one in whole.of_columns
    ]
    for name in ("p", "moved", "low", "high"):
        of_all = [getattr(one, name) for one in whole.of_columns]
        assert [getattr(one, name) for one in found.of_columns] == pytest.approx(of_all, rel=1e-6)


def test_a_table_in_memory_is_counted_beside_one_in_batches():
    rng = np.random.default_rng(8)
    before, after = _table(2000, rng), _table(600, rng)
    whole = renyi.compare(before, after)
    found = renyi.compare(_in_batches(before), after, memory="10KB", sample=500)
    assert found.sampled == "before: columns by all 2,000 rows, dependences on a sample of 500"
    assert list(found.columns["p"]) == pytest.approx(list(whole.columns["p"]))


def test_batches_of_other_columns_are_refused():
    batches = [{"a": np.arange(900.0)}, {"a": np.arange(900.0), "b": np.arange(900.0)}]
    with pytest.raises(renyi.InputError, match="a batch"):
        renyi.compare(iter(batches), {"a": np.arange(9.0)}, memory="1KB")


@pytest.mark.parametrize("measure", ["pearson", "xi"])
def test_strengths_are_those_of_the_measure_and_the_test_stays(measure):
    rng = np.random.default_rng(9)
    before, after = _table(400, rng)[["x", "y"]], _table(500, rng, 1.5)[["x", "y"]]
    plain, found = renyi.compare(before, after), renyi.compare(before, after, measure=measure)
    assert found.pairs["before"][0] == pytest.approx(renyi.matrix(before, measure=measure).strength[0, 1])
    assert found.pairs["after"][0] == pytest.approx(renyi.matrix(after, measure=measure).strength[0, 1])
    assert found.pairs["p"][0] == plain.pairs["p"][0]


def test_series_are_told_and_sorted_rows_are_not():
    rng = np.random.default_rng(6)
    walk, free = np.cumsum(rng.standard_normal(600)), rng.standard_normal(600)
    found = renyi.compare({"walk": walk[:300], "free": free[:300]}, {"walk": walk[300:], "free": free[300:]})
    assert "walk resembles its own previous row" in repr(found).replace("'", "")
    order = np.argsort(free[:300])
    found = renyi.compare({"a": free[order], "b": free[order] + free[300:]}, {"a": free[300:], "b": free[:300]})
    assert "resemble" not in repr(found)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (lambda x: x, lambda x: x + 20.0, "other zero? about 20"),
        (lambda x: x + 9, lambda x: (x + 9) / 1000, "other units? about 1/1,000 of what it was"),
        (lambda x: x, lambda x: x + 0.3, "shifted up"),  # and not minus what it was, though that is nearly so
        (lambda x: np.where(x > 0, "m", "f"), lambda x: np.where(x > 0, "male", "female"), "'m' → 'male'"),
        (lambda x: x, lambda x: np.where(x > 0.5, 0.75, x), "stuck? 3"),
        (lambda x: np.where(x > 0, 1.0, 0.0), lambda x: np.where(x > 0, 2.0, 1.0), "recoded? 0 → 1, 1 → 2"),
        (lambda x: np.clip(x, -1, 1) ** 3, lambda x: x**3, "above 1, the old maximum"),
    ],
)
def test_words_say_what_an_expert_would(before, after, words):
    x = np.random.default_rng(7).standard_normal((2, 800))
    told = [change.words for change in renyi.compare({"x": before(x[0])}, {"x": after(x[1])}).of_columns]
    assert [words in one for one in told].count(True) == 1, told
    assert len(told) == 1  # new names of old levels are no finding of their own
