import datetime
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from renyi.data import table as table_of_data
from renyi.data.table import as_table, observed
from renyi.errors import InputError

N = 60


def refusal(*args, **settings):
    with pytest.raises(InputError) as caught:
        as_table(*args, **settings)
    return str(caught.value)


def mixed(rng):
    """Columns of Python values, as a dict."""
    start = datetime.datetime(2026, 1, 1)
    columns = {
        "number": rng.standard_normal(N).tolist(),
        "whole": rng.integers(0, 4, N).tolist(),
        "text": rng.choice(["b", "a", "ö"], N).tolist(),
        "flag": (rng.random(N) < 0.5).tolist(),
        "day": [start.date() + datetime.timedelta(days=int(d)) for d in rng.permutation(N)],
        "moment": [start + datetime.timedelta(seconds=int(d)) for d in rng.permutation(N)],
        "clock": [datetime.time(int(h), 30, 0, int(h)) for h in rng.integers(0, 24, N)],
        "span": [datetime.timedelta(seconds=int(d)) for d in rng.permutation(N)],
        "price": [decimal.Decimal(int(d)) / 4 for d in rng.permutation(N)],
        "name": [f"row {i}" for i in range(N)],
        "rare": ["x"] * 30 + ["y"] * 23 + ["u", "v", "v", "w", "w", "w", "w"],
        "always": [3.5] * N,
    }
    columns["gaps"] = [None if i % 7 == 0 else v for i, v in enumerate(columns["number"])]
    columns["holes"] = [None if i % 5 == 0 else v for i, v in enumerate(columns["text"])]
    columns["none"] = [None] * N
    return columns


def same(a, b):
    assert (a.types, a.skipped, a.pooled, a.n_rows) == (b.types, b.skipped, b.pooled, b.n_rows)
    for x, y in zip(a.columns, b.columns, strict=True):
        assert (x.name, x.kind, x.levels) == (y.name, y.kind, y.levels)
        masks = [np.zeros(len(c), dtype=bool) if c.missing is None else c.missing for c in (x, y)]
        assert np.array_equal(*masks)
        assert np.array_equal(x.values[~masks[0]], y.values[~masks[1]])


def test_the_same_table_in_every_library(rng):
    columns = mixed(rng)
    expected = as_table(columns)
    assert expected.types == {
        "number": "number", "whole": "number", "text": "category", "flag": "boolean", "day": "date", "moment": "date",
        "clock": "time", "span": "duration", "price": "number", "rare": "category", "gaps": "number",
        "holes": "category",
    }  # fmt: skip
    assert expected.skipped == {
        "name": "60 of its 60 values are distinct: an identifier or free text",
        "always": "constant (always 3.5)",
        "none": "no observed value",
    }
    assert expected.pooled == {"rare": 3}
    arrow = pa.table(columns)
    frames = (
        pd.DataFrame(columns), pl.DataFrame(columns), arrow, arrow.to_pandas(), pd.DataFrame(columns, dtype=object),
        arrow.to_pandas(types_mapper=pd.ArrowDtype), pd.DataFrame(columns).convert_dtypes(),
        {name: pd.Series(column) for name, column in columns.items()}, {name: arrow[name] for name in columns},
        {name: arrow[name].combine_chunks() for name in columns},
    )  # fmt: skip
    for frame in frames:
        same(as_table(frame), expected)


def test_the_order_of_rows_changes_no_decision(rng):
    frame = pd.DataFrame(mixed(rng)).assign(tie=[f"{i:02}" for i in range(12)] * 5, zip=np.repeat(range(20), 3))
    expected = as_table(frame, types={"zip": "category"})
    order = rng.permutation(N)
    for turned in (frame.iloc[order], pl.from_pandas(frame)[order]):
        found = as_table(turned, types={"zip": "category"})
        assert (found.types, found.skipped, found.pooled) == (expected.types, expected.skipped, expected.pooled)
        assert [c.levels for c in found.columns] == [c.levels for c in expected.columns]
        for x, y in zip(found.columns, expected.columns, strict=True):
            assert np.array_equal(x.complete().values, y.take(order).complete().values)


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, pa.table])
def test_results_come_back_in_the_same_kind_of_frame(wrap):
    frame = as_table(wrap({"a": [1, 2], "b": [2.0, 1.0]})).new_frame({"x": ["a", "b"], "value": np.array([0.5, 1.0])})
    assert type(frame) is type(wrap({"a": [1]}))
    assert frame.shape == (2, 2)


@pytest.mark.parametrize(
    ("there", "kind"), [({"pandas", "polars"}, pd.DataFrame), ({"polars"}, pl.DataFrame), ((), dict)]
)
def test_results_of_arrays_and_dicts_are_frames_of_what_is_installed(there, kind, monkeypatch):
    monkeypatch.setattr(table_of_data, "find_spec", lambda name: name in there)
    monkeypatch.setattr(table_of_data, "_is_loaded", lambda _: False)
    for data in (np.eye(2), {"a": [1, 2]}):
        new_frame = as_table(data).new_frame
        found = new_frame({"x": np.array(["a", "b"])})
        assert type(found) is kind
        assert list(found["x"]) == ["a", "b"]


def test_arrays_are_tables(rng):
    values = rng.standard_normal((50, 3))
    table = as_table(values)
    assert [column.name for column in table.columns] == ["x0", "x1", "x2"]
    assert all(column.values.flags.c_contiguous for column in table.columns)
    assert np.array_equal(np.column_stack([column.values for column in table.columns]), values)
    hidden = np.ma.array(values, mask=values > 1)
    assert np.array_equal(as_table(hidden).columns[0].missing, values[:, 0] > 1)
    records = np.rec.fromarrays([values[:, 0], np.arange(50)], names="a,b")
    assert as_table(records).types == {"a": "number", "b": "number"}
    objects = values.astype(object)
    objects[3, 1] = None
    assert as_table(objects).columns[1].missing.argmax() == 3
    assert as_table(np.array([["a", "b"], ["b", "a"]] * 5)).types == {"x0": "category", "x1": "category"}


@pytest.mark.parametrize(
    "data", [None, "text", 3, [1, 2], [[1, 2], [3, 4]], np.arange(3), np.zeros((2, 2, 2)), pd.Series([1, 2]),
             pl.Series([1, 2]), {1, 2}, iter([1]), pa.array([1, 2])],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_what_to_pass(data):
    assert "pass a frame of pandas, Polars or Arrow, a dict of columns, or a 2-D array" in refusal(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pl.LazyFrame({"a": [1]}), "call .collect() first"),
        (pd.DataFrame(), "no columns"),
        ({}, "no columns"),
        (pl.DataFrame({"a": [], "b": []}), "0 rows"),
        (np.zeros((1, 4)), "1 row"),
        ({"a": [1, 2, 3], "b": [1, 2]}, "'a' has 3 rows and 'b' has 2"),
        ({"a": 3}, "'a' in the table is a int"),
        ({"a": "text"}, "'a' in the table is a str"),
        ({"a": {"b": 1}}, "'a' in the table is a dict"),
    ],
)
def test_tables_without_sense_are_refused(data, said):
    assert said in refusal(data)


def test_names_are_text_and_never_empty(rng):
    frame = pd.DataFrame(rng.random((9, 5)), columns=[None, "", 3, ("a", 1), float("nan")])
    assert list(as_table(frame).types) == ["column 1", "column 2", "3", "('a', 1)", "column 5"]


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([3.0, 3.0, None, 3.0], "constant (always 3.0)"),
        (["a", "a", None, "a"], "constant (always 'a')"),
        ([True] * 4, "constant (always True)"),
        (np.array(["2026-01-01"] * 4, dtype="M8[D]"), "constant (always 2026-01-01)"),
        ([None, 1.0, None, None], "a single observed value"),
        ([float("nan")] * 4, "no observed value"),
        ([1.0, np.inf, 2.0, -np.inf], "has 2 infinite values (first in row 1): replace by numbers or by NaN"),
        ([decimal.Decimal("Infinity"), 1, 2, 3], "has 1 infinite value (first in row 0)"),
        ([[1], [2, 3], [], None], "neither numbers nor labels: list (3)"),
        ([[1], [2], [3], [4]], "list (4)"),
        ([b"a", b"b", b"a", b"b"], "bytes (4)"),
        (np.array([b"a", b"b", b"a", b"b"]), "bytes"),
        ([{"a": 1}, 2, 3, 4], "int (3), dict (1)"),
        (np.arange(4) * 1j, "complex"),
        ([10**400, 1, 2, 0.5], "too large for floats"),
        (["1.5", "2.5", "3", "4"], "4 of its 4 values are distinct: numbers as text"),
        (["2026-01-01 10:00Z", "2026-01-02", "2026-01-03", "2026-01-04"], "dates as text"),
        (["a", "b", "c", "a"], "3 of its 4 values are distinct: an identifier or free text"),
        (pl.Series([[1], [2], [3], [4]]), "neither numbers nor labels"),
        (pl.Series([{"a": 1}] * 4), "neither numbers nor labels"),
        (pl.Series([b"1", b"2", b"3", b"4"]), "bytes (4)"),
        (np.array([[1.0, np.inf]] * 4), "infinite"),
    ],
)
def test_columns_that_cannot_be_measured_are_left_out(cells, why):
    table = as_table({"odd": cells, "fine": [1.0, 2.0, 3.0, 4.0]})
    assert why in table.skipped["odd"]
    assert list(table.types) == ["fine"]


def test_all_columns_may_be_left_out():
    assert as_table({"a": [1, 1]}).columns == ()


def labels(*rows):
    return [f"{chr(97 + i // 26)}{chr(97 + i % 26)}" for i, times in enumerate(rows) for _ in range(times)]


@pytest.mark.parametrize(
    ("rows", "levels", "n_pooled"),
    [
        ((50, 2), ("aa", "ab"), 0),
        ((50, 20, 5), ("aa", "ab", "ac"), 0),
        ((50, 3, 2, 20), ("aa", "ad", "(other)"), 2),
        ((50, 20, 30, 4), ("aa", "ac", "(other)"), 2),
        ((50, 20, 4), ("aa", "(other)"), 2),
        ((50, 2, 1), ("aa", "(other)"), 2),
        ((50, *[4] * 10), ("aa", "(other)"), 10),
        ((4,) * 10, None, 0),
        ((10,) * 31, tuple(labels(*[1] * 31)), 0),
        ((10,) * 100, tuple(labels(*[1] * 100)), 0),
        ((10,) * 100 + (4, 3), (*labels(*[1] * 100), "(other)"), 2),
    ],
)
def test_rare_levels_are_pooled(rows, levels, n_pooled):
    cells = labels(*rows)
    for data in ({"c": cells}, pl.DataFrame({"c": cells}), pd.DataFrame({"c": pd.Categorical(cells)})):
        table = as_table(data)
        if levels is None:
            assert table.skipped == {"c": f"its {len(rows)} levels have at most {max(rows)} rows each"}
            continue
        assert table.columns[0].levels == levels
        assert table.pooled.get("c", 0) == n_pooled
        assert sorted(np.bincount(table.columns[0].values)) == sorted(
            [*(n for n, level in zip(rows, labels(*[1] * len(rows)), strict=True) if level in levels)]
            + ([len(cells) - sum(n for n, level in zip(rows, labels(*[1] * len(rows)), strict=True)
                                 if level in levels)] if n_pooled else [])
        )  # fmt: skip


def test_the_most_frequent_levels_are_kept_where_a_number_of_them_is_asked_for():
    cells = labels(*range(30, 50))
    table = as_table({"c": cells}, max_levels=4)
    assert table.columns[0].levels == ("aq", "ar", "as", "at", "(other)")
    assert table.pooled == {"c": 16}
    assert observed(table, missing="listwise").max_levels == 4
    for wrong in (1, 2001, 2.5, "many"):
        with pytest.raises(InputError, match=r"max_levels must be an integer from 2 to 2,000, got"):
            as_table({"c": cells}, max_levels=wrong)


def test_a_level_that_is_called_other_joins_the_pool():
    table = as_table({"c": ["(other)"] * 40 + ["a"] * 30 + ["b", "c"]})
    assert table.columns[0].levels == ("a", "(other)")
    assert np.bincount(table.columns[0].values).tolist() == [30, 42]
    assert table.pooled == {"c": 2}
    assert as_table({"c": ["(other)"] * 40 + ["a"] * 4 + ["b"] * 3}).skipped == {
        "c": "its 2 levels beside '(other)' have at most 4 rows each"
    }


def test_ordered_categories_are_ranks():
    sizes = pd.Categorical(["s", "l", None, "m"] * 5, ["s", "m", "l", "xl"], ordered=True)
    for data in (pd.DataFrame({"size": sizes}), pa.table({"size": pa.array(sizes)})):
        table = as_table(data)
        assert table.types == {"size": "ordered"}
        assert table.columns[0].kind == "number"
        assert table.columns[0].complete().values.tolist() == [0, 2, 1] * 5
        assert as_table(data, types={"size": "category"}).columns[0].levels == ("l", "m", "s")
    enum = pl.Series("size", ["s", "l", "m"] * 5, dtype=pl.Enum(["s", "m", "l"]))
    assert as_table(enum.to_frame()).types == {"size": "category"}


def test_zones_do_not_matter():
    moments = pd.Series(pd.date_range("2026-03-28", periods=9, freq="12h", tz="Europe/Paris"))
    expected = as_table({"t": moments.dt.tz_convert("UTC").dt.tz_localize(None)})
    for data in ({"t": moments}, pl.DataFrame({"t": moments}), {"t": moments.tolist()}):
        same(as_table(data), expected)
    mixture = {"t": [moments[0], datetime.datetime(2026, 1, 1)]}
    assert "mixes 1 dates with a time zone and 1 without" in as_table(mixture).skipped["t"]


def test_mixed_objects():
    assert as_table({"c": [1, "a"] * 6}).columns[0].levels == (1, "a")
    assert as_table({"b": [True, None, False]}).types == {"b": "boolean"}
    assert as_table({"n": [True, 2, None, 0.5]}).types == {"n": "number"}
    assert as_table({"d": [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 2, 3)]}).types == {"d": "date"}
    assert as_table({"v": np.eye(3), "c": renyi.categorical(list("aba"))}).types == {"v": "vector", "c": "category"}


def test_types_can_be_said(rng):
    frame = pd.DataFrame(
        {"zip": [10, 20, None] * 20, "n": ["1.5", "2", None] * 20, "x": rng.random(60), "b": [True, False] * 30,
         "id": [f"i{i}" for i in range(60)], "twice": [f"i{i % 30}" for i in range(60)],
         "day": pd.date_range("2026-01-01", periods=3).repeat(20)}
    )  # fmt: skip
    overrides = {"zip": "category", "n": "number", "x": "skip", "b": "number", "id": "category", "day": "category"}
    for data in (frame, pl.from_pandas(frame)):
        table = as_table(data, types=overrides)
        assert table.types == {"zip": "category", "n": "number", "b": "number", "day": "category"}
        assert table.columns[0].levels == (10, 20)
        assert table.columns[1].complete().values.tolist() == [1.5, 2.0] * 20
        assert table.columns[3].levels[0] == datetime.datetime(2026, 1, 1)
        assert table.skipped == {
            "x": "left out by types",
            "id": "its 60 levels have at most 1 row each",
            "twice": "its 30 levels have at most 2 rows each",
        }


@pytest.mark.parametrize("override", ["number", "category"])
def test_overrides_for_columns_without_values(override):
    for data in (pl.DataFrame({"a": [None, None]}, schema={"a": pl.String}), {"a": [None, None]}):
        assert as_table(data, types={"a": override}).skipped == {"a": "no observed value"}


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ({"Agee": "skip"}, "types names 'Agee', which is not a column of the table: did you mean 'age'?"),
        ({"AGE": "skip"}, "did you mean 'age'?"),
        ({"qqqq": "skip"}, "it has 'age', 'text', 'v', 'code'"),
        ({"age": "float"}, "types['age']='float' is unknown: choose one of 'number', 'category', 'date', 'skip'"),
        ({"text": "number"}, "types asks for numbers in 'text', and most of its cells, such as '?', spell none"),
        ({"text": "date"}, "types asks for dates in 'text', and '1' is none"),
        ({"age": "date"}, "types asks for dates in 'age', and '1' is none"),
        ({"v": "date"}, "'v' holds vectors"),
        ({"v": "number"}, "'v' holds vectors"),
        ({"code": "number"}, "such as '1_0', spell none"),
        (["age"], "is not a mapping"),
    ],
)
def test_overrides_that_cannot_be_met_are_refused(types, said):
    assert said in refusal(
        {"age": [1, 2, 3], "text": ["1", "?", "?"], "v": np.eye(3), "code": ["1_0", "1_0", "2"]}, types=types
    )


def test_vectors_of_several_columns(rng):
    values = rng.standard_normal((40, 4))
    values[3, 2] = np.nan
    frame = pl.DataFrame(values, schema=["a", "lat", "lon", "b"])
    table = as_table(frame, vectors={"location": ["lon", "lat"]})
    assert table.types == {"a": "number", "location": "vector", "b": "number"}
    place = table.columns[1]
    assert place.coordinates == ("lon", "lat")
    assert np.flatnonzero(place.missing).tolist() == [3]
    assert np.array_equal(place.complete().values, np.delete(values[:, [2, 1]], 3, axis=0))
    assert as_table(frame, vectors={"lat": ["lat", "lon"]}).types["lat"] == "vector"
    assert "its part 'b': left out by types" in as_table(
        frame, types={"b": "skip"}, vectors={"v": ["a", "b"]}
    ).skipped["v"]  # fmt: skip


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ({"t": ["a", "b"]}, "such a column already"),
        ({"v": ["a", "B"]}, "vectors['v'] names 'B', which is not a column of the table: did you mean 'b'?"),
        ({"v": ["a"]}, "has 1 column: pass at least 2"),
        ({"v": "ab"}, "pass a list of at least 2 column names"),
        ({"v": ["a", "a"]}, "has 'a' twice"),
        ({"v": ["a", "b"], "w": ["b", "n"]}, "has 'b' in 'v' as well"),
        ({"v": ["a", "t"]}, "has 't', a category, and the parts of a vector are numbers"),
        ([["a", "b"]], "is not a mapping"),
    ],
)
def test_vectors_without_sense_are_refused(vectors, said):
    assert said in refusal({"a": [1, 2], "b": [2, 1], "n": [0, 1], "t": ["x", "y"]}, vectors=vectors)


def test_rows_with_missing_cells():
    columns = {
        "a": [None, None, *range(10)], "b": [0.0] + [1.0] * 11, "c": [*"xy" * 5, None, "x"],
        "d": ["u", "u"] + ["v"] * 5 + ["w"] * 5, "e": ["s", "t"] * 6,
    }  # fmt: skip
    table = as_table(columns)
    assert observed(table, missing="pairwise") is table
    left = observed(table, missing="listwise")
    assert left.n_rows == 9
    assert left.types == {"a": "number", "c": "category", "d": "category", "e": "category"}
    assert left.skipped == {"b": "constant (always 1.0) on the 9 rows where nothing is missing"}
    assert all(column.missing is None and len(column) == 9 for column in left.columns)
    assert left.columns[2].levels == ("v", "(other)")
    assert "b" not in table.skipped
    with pytest.raises(InputError, match=r"2 columns with missing cells: 'a' \(2, first in row 0\), 'c' \(1"):
        observed(table, missing="raise")
    with pytest.raises(InputError, match="choose one of"):
        observed(table, missing="drop")
    whole = as_table({"a": [1, 2]})
    assert observed(whole, missing="raise") is whole
    with pytest.raises(InputError, match="0 rows of 4"):
        observed(as_table({"a": [1, 2, None, None], "b": [None, None, 1, 2]}), missing="listwise")


def test_input_is_left_alone(rng):
    frame = pd.DataFrame(mixed(rng))
    before = frame.copy(deep=True)
    as_table(frame, types={"whole": "category"})
    pd.testing.assert_frame_equal(frame, before)


def test_no_frame_library_is_imported():
    code = (
        "import sys, numpy as np; from renyi.data.table import as_table; as_table({'a': [1, 2], 'b': np.eye(2)});"
        "sys.exit(len({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unequal_indexes_are_refused_in_every_table(rng):
    a = pd.Series(rng.normal(size=N), name="a")
    turned = (a**2).iloc[::-1]
    label = renyi.categorical(pd.Series(rng.choice(["u", "v"], N), index=turned.index))
    frame = pd.DataFrame({"a": a, "c": a + 1})
    other = pd.DataFrame({"b": turned})
    for call in (
        lambda: renyi.rdc(a, turned),
        lambda: renyi.matrix({"a": a, "b": turned}),
        lambda: renyi.matrix({"a": a, "label": label}),
        lambda: renyi.matrix({"a": a, "two": other.assign(d=1.0)}),
        lambda: renyi.pairs({"a": a, "b": turned}),
        lambda: renyi.screen({"a": a, "b": turned}, "b"),
        lambda: renyi.matrix(frame, other),
        lambda: renyi.matrix(frame, {"b": turned}),
        lambda: renyi.matrix({"a": a}, {"b": turned}),
        lambda: renyi.Accumulator().update({"a": a, "b": turned}),
        lambda: renyi.matrix(iter([{"a": a, "b": turned}])),
    ):
        with pytest.raises(InputError, match=r"different indexes.*align them first, or pass arrays"):
            call()


def test_indexes_that_are_equal_or_absent_pair_rows_by_their_place(rng):
    a = pd.Series(rng.normal(size=N))
    same = (a**2).set_axis(np.arange(N))  # the labels of a RangeIndex
    turned = (a**2).iloc[::-1]
    expected = renyi.matrix(pd.DataFrame({"a": a, "b": same})).values[0, 1]
    assert renyi.matrix({"a": a, "b": same}).values[0, 1] == expected
    # Products of rectangles may differ from those of squares in the last bit, by the BLAS of the machine.
    of_two = renyi.matrix({"a": a.to_numpy()}, {"b": same.to_numpy()}).values[0, 0]
    assert of_two == pytest.approx(expected, abs=1e-14)
    assert renyi.matrix({"a": a}, {"b": same}).values[0, 0] == of_two
    assert renyi.matrix(pd.DataFrame({"a": a}), {"b": turned.to_numpy()[::-1]}).values[0, 0] == of_two
    by_place = renyi.matrix({"a": a.to_numpy(), "b": turned.to_numpy()}).values[0, 1]
    assert renyi.matrix({"a": a.to_numpy(), "b": turned}).values[0, 1] == by_place != expected
    assert renyi.matrix({"a": pl.Series(a), "b": turned[::-1].set_axis(range(5, 5 + N))}).values[0, 1] == expected


def test_unequal_indexes_are_refused_on_a_device(rng):
    pytest.importorskip("torch")
    a = pd.DataFrame({"a": rng.normal(size=N)})
    with pytest.raises(InputError, match="different indexes"):
        renyi.matrix(a, (a**2).iloc[::-1], device="cpu")


def test_masked_entries_of_a_dict_are_missing(rng):
    x = np.ma.array(rng.random(50), mask=np.arange(50) < 10)
    found = renyi.matrix({"x": x, "y": rng.random(50)})
    assert found.n_samples.tolist() == [[40, 40], [40, 50]]
    x[:] = 0.0  # the result owns its columns
    assert found.edges.x[0].column.values[20] > 0.0
