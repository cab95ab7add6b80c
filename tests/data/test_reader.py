import datetime
import decimal
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from renyi.data.align import as_pair
from renyi.data.reader import as_column, as_columns
from renyi.errors import InputError

FINE = np.array([0.3, 0.1, 0.4, 0.1, 0.5, 0.9])


def refusal(x, y=None, **settings):
    with pytest.raises(InputError) as caught:
        renyi.rdc(x, np.arange(len(x)) if y is None else y, **settings)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (np.array([1.0, np.nan, 3.0, np.nan]), "x has 2 missing values (first in row 1) and missing='raise'"),
        ([1.0, None, 3.0], "x has 1 missing value (first in row 1)"),
        (np.array([1.0, 2.0, np.inf]), "x has an infinite value in row 2"),
        (np.array([[1.0, 2.0], [0.0, -np.inf]]), "x has an infinite value in row 1, coordinate 1"),
        (np.array([]), "x is empty"),
        (np.empty((5, 0)), "x is empty"),
        (pl.Series("a", []), "is empty"),
        (np.array([1.0]), "1 row"),
        (np.zeros((2, 2, 2)), "x has the shape (2, 2, 2)"),
        (["red", "blue", "red"], "renyi.categorical"),
        (np.array(["red", "blue"], dtype=object), "renyi.categorical"),
        (pd.Series(["red", "blue"], name="colour"), "column 'colour' holds text"),
        (pl.Series("colour", ["red", "blue"]), "column 'colour' holds text"),
        (np.array([1, "a", None], dtype=object), "type object"),
        (np.array([decimal.Decimal(1), decimal.Decimal(2)]), "type object"),
        (np.array([1 + 2j, 2.0]), "complex"),
        ([[1.0, 2.0], [3.0]], "different lengths"),
        (np.ones(5), "x is constant"),
        (np.ones((5, 2)), "x is constant"),
        (pd.Series([pd.NA, pd.NA], dtype="Int64"), "no observed value"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), "column 'b' holds text"),
        (pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["u", "v", "u"])}), "column 'b' is a category"),
        (pd.DataFrame(index=[0, 1]), "without columns"),
    ],
)
def test_bad_data_is_refused_with_its_place(x, said):
    assert said in refusal(x)


@pytest.mark.parametrize("x", [5, 5.0, "text", None, {"a": 1}, {1, 2}, iter([1, 2])])
def test_what_is_no_column_is_refused(x):
    assert "x is a single" in refusal(x, FINE)


def test_the_side_at_fault_is_named():
    assert refusal(FINE, np.full(6, np.nan)).startswith("y has 6 missing values")


def test_different_lengths_are_refused():
    assert refusal([1, 2, 3], [1, 2]) == ("x has 3 rows and y has 2: pass as many values of one as of the other")


def test_unequal_indexes_are_refused_and_equal_ones_taken():
    a = pd.Series(FINE, index=range(6))
    assert "indexes" in refusal(a, pd.Series(FINE, index=range(1, 7)))
    assert renyi.rdc(pd.Series(np.arange(40.0)), pd.Series(np.arange(40.0) ** 2)) == pytest.approx(1)


def test_a_lazy_frame_is_refused():
    assert "collect()" in refusal(pl.LazyFrame({"a": FINE}), FINE)


def test_a_constant_names_the_call_for_tables():
    assert "renyi.matrix" in refusal(np.zeros(9))


def test_unknown_missing_policy_lists_the_valid_ones():
    assert "'raise', 'pairwise', 'listwise'" in refusal(FINE, FINE, missing="drop")


@pytest.mark.parametrize("settings", [{"k": 0}, {"k": 2.5}, {"k": True}, {"k": "10"}, {"k": -1}])
def test_an_invalid_k_is_refused(settings):
    assert "k must be" in refusal(FINE, FINE, **settings)


@pytest.mark.parametrize("s", [0, -1, np.inf, np.nan, "wide", None, True])
def test_an_invalid_s_is_refused(s):
    assert "s must be" in refusal(FINE, FINE, s=s)


@pytest.mark.parametrize(
    "settings", [{"repeats": 0}, {"repeats": 1.5}, {"rng": -1}, {"rng": "x"}, {"frequencies": "x"}]
)
def test_other_invalid_settings_are_refused(settings):
    assert re.match(f"{next(iter(settings))}(=| must be)", refusal(FINE, FINE, **settings))


def test_same_column_in_every_container(rng):
    x, y = rng.standard_normal((2, 50))
    expected = renyi.rdc(x, y)
    containers = (
        list, tuple, pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([v[:9], v[9:]]),
        lambda v: v[:, np.newaxis], lambda v: pd.DataFrame({"only": v}), np.ma.array,
        lambda v: pd.Series(v, dtype="Float64"), lambda v: pl.DataFrame({"only": v}), lambda v: v.astype(np.longdouble),
    )  # fmt: skip
    for wrap in containers:
        assert renyi.rdc(wrap(x), wrap(y)) == expected


def test_vectors_from_frames_and_arrays(rng):
    x, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    expected = renyi.rdc(x, y)
    names = ["a", "b", "c"]
    frame = pd.DataFrame(x, columns=names)
    assert renyi.rdc(frame, y) == expected
    assert renyi.rdc(pl.DataFrame(frame), y) == expected
    assert renyi.rdc(pa.Table.from_pandas(frame), y) == expected
    assert renyi.rdc(x.tolist(), y) == expected
    assert as_column(frame, "x").coordinates == ("a", "b", "c")


def test_categories_declared_in_every_way_agree(rng):
    labels = rng.choice(["a", "b", "c"], 60)
    y = rng.standard_normal(60) + (labels == "a")
    expected = renyi.rdc(renyi.categorical(labels), y)
    frame = pd.Series(labels)
    for x in (
        renyi.categorical(labels.tolist()), renyi.categorical(frame), frame.astype("category"),
        pl.Series(labels).cast(pl.Categorical), pl.Series(labels).cast(pl.Enum(["c", "a", "b", "never"])),
        pa.array(labels).dictionary_encode(), renyi.categorical(np.searchsorted(["a", "b", "c"], labels)),
        frame.astype(pd.CategoricalDtype(["never", "b", "c", "a"])),
    ):  # fmt: skip
        assert renyi.rdc(x, y) == pytest.approx(expected, abs=1e-12)


def test_booleans_are_categories(rng):
    x = rng.random(80) < 0.3
    for flags in (x, pd.Series(x), pl.Series(x), x.tolist(), pd.Series(x, dtype="boolean"), pa.array(x)):
        assert as_column(flags, "x").kind == "category"


def test_ordered_categories_are_ranked(rng):
    sizes = pd.Series(rng.choice(["s", "m", "l"], 80)).astype(pd.CategoricalDtype(["s", "m", "l"], ordered=True))
    y = rng.standard_normal(80)
    assert renyi.rdc(sizes, y) == renyi.rdc(sizes.cat.codes, y)


def test_labels_of_any_kind():
    odd = renyi.categorical([1, "1", 1.5, None, float("nan"), pd.NA, pd.NaT, (2, 3), "b"])
    assert len(odd.levels) == 5
    assert odd.missing.tolist() == [False, False, False, True, True, True, True, False, False]
    numbers = renyi.categorical(np.array([2.0, np.nan, 1.0]))
    assert numbers.levels == (1.0, 2.0)
    assert numbers.missing.tolist() == [False, True, False]
    with pytest.raises(InputError, match="lists"):
        renyi.categorical([[1], [2, 3]])
    with pytest.raises(InputError, match="one column"):
        renyi.categorical(np.zeros((3, 2)))
    with pytest.raises(InputError, match="no labels"):
        renyi.categorical([])


def test_dates_and_durations_are_numbers(rng):
    days = pd.Series(pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.permutation(60), unit="D"))
    y = rng.standard_normal(60)
    expected = renyi.rdc(days.astype("int64"), y)
    assert renyi.rdc(days, y) == expected
    assert renyi.rdc(days.to_numpy(), y) == expected
    assert renyi.rdc(pl.Series(days), y) == expected
    assert renyi.rdc(days - days[0], y) == expected
    assert renyi.rdc(pl.Series([datetime.date(2026, 1, 1) + datetime.timedelta(int(d)) for d in range(60)]), y) > 0
    assert "missing" in refusal(pd.Series([pd.NaT, days[0], days[1]]), [1, 2, 3])


def test_nulls_of_every_library_are_missing(rng):
    x, y = rng.standard_normal((2, 60))
    holes = x.copy()
    holes[[3, 7]] = np.nan
    expected = renyi.rdc(holes, y, missing="pairwise")
    keep = np.isnan(holes)
    nulls = [None if hole else value for hole, value in zip(keep, x.tolist(), strict=True)]
    containers = (nulls, pd.array(nulls, dtype="Float64"), pl.Series(nulls), pa.array(nulls), np.ma.array(x, mask=keep))
    for values in (*containers, pd.Series(nulls), pl.Series(holes)):
        assert renyi.rdc(values, y, missing="pairwise") == expected
        assert "(first in row 3)" in refusal(values, y)
    whole = pd.array([None if hole else i for i, hole in enumerate(keep)], dtype="Int64")
    assert as_column(whole, "x").values.dtype == np.int64


def test_listwise_is_the_same_as_dropping(rng):
    x, y = rng.standard_normal((2, 90))
    x[:10], y[5:20] = np.nan, np.nan
    assert renyi.rdc(x, y, missing="listwise") == renyi.rdc(x[20:], y[20:])


def test_nothing_in_common_is_refused():
    x, y = np.arange(20.0), np.arange(20.0)
    x[:10], y[10:] = np.nan, np.nan
    for missing in ("pairwise", "listwise"):
        refusal(x, y, missing=missing)


def test_input_is_left_alone(rng):
    x, y = rng.standard_normal((2, 100))
    x.flags.writeable = y.flags.writeable = False
    before = x.copy()
    renyi.rdc(x, y)
    renyi.rdc(x[:, np.newaxis] * [1.0, 2.0], y)
    assert np.array_equal(x, before)


def test_integers_and_booleans_of_lists_keep_their_type():
    gap = [2**60, None, 2**60 + 1]
    assert as_column(gap, "x").values.dtype == np.int64
    assert as_column([True, None, False], "x").kind == "category"
    assert "round" in refusal([2**60 + 1, 0.5, 3.0])
    assert "round" in refusal([2**63 + 1, -1, 3])
    assert "round" in refusal([10**400, 2, 3])


def test_columns_of_frames_that_would_be_rounded_are_refused(rng):
    frame = pd.DataFrame({"big": 2**53 + np.arange(60), "small": rng.random(60)})
    assert "column 'big'" in refusal(frame, rng.random(60))


def test_masks_and_byte_order_are_respected(rng):
    y = rng.standard_normal(60)
    labels = np.ma.array([9] * 30 + [1, 2] * 15, mask=[True] * 30 + [False] * 30)
    assert renyi.categorical(labels).levels == (1, 2)
    assert "30 missing" in refusal(renyi.categorical(labels), y)
    days = np.datetime64("2020-01-01", "ns") + np.arange(60).astype("m8[D]")
    assert renyi.rdc(days.astype(">M8[ns]"), np.arange(60)) == renyi.rdc(days, np.arange(60))


@pytest.mark.parametrize("names", [[0, 1], ["a", 0], [("a", 1), ("b", 2)], [pd.Timestamp("2026"), None], [True, False]])
def test_frames_with_any_names(names, rng):
    x, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    assert renyi.rdc(pd.DataFrame(x, columns=names), y) == renyi.rdc(x, y)


def test_columns_that_no_array_holds_are_refused(rng):
    y = rng.standard_normal(2)

    class Stubborn:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("on another device")

    assert "on another device" in refusal(Stubborn(), y)
    assert "unique column names" in refusal(pd.DataFrame(np.eye(2), columns=["a", "a"]), y)
    for odd in (pl.Series([[1], [2, 3]]), pl.Series([{"a": 1}, {"a": 2}]), pl.Series([None, None])):
        refusal(odd, y)


def test_rows_of_infinities_are_counted_with_the_missing_ones():
    assert "in row 2" in refusal(pd.Series([np.nan, np.nan, np.inf, 1.0]), np.arange(4))
    assert "in row 2" in refusal(pl.Series([None, None, np.inf, 1.0]), np.arange(4))


def test_nulls_beside_nans_are_all_missing(rng):
    y = rng.standard_normal(60)
    values = rng.standard_normal(60)
    arrow = pa.array([None, float("nan"), *values[2:]], from_pandas=False)
    assert np.count_nonzero(as_column(pd.Series(arrow, dtype=pd.ArrowDtype(pa.float64())), "x").missing) == 2
    assert renyi.rdc(arrow, y, missing="pairwise") == renyi.rdc(
        np.r_[np.nan, np.nan, values[2:]], y, missing="pairwise"
    )
    nested = pl.Series([None] + [[1.0 * i, 2.0 - i % 7] for i in range(59)], dtype=pl.Array(pl.Float64, 2))
    assert as_column(nested, "x").missing.tolist() == [True] + [False] * 59


def test_categories_of_arrow(rng):
    y = rng.standard_normal(60)
    numbers = pa.array([1, 2, 3] * 20).dictionary_encode()
    found = renyi.transformations(numbers, y)
    assert found.f(numbers).std() == pytest.approx(1)
    wrapped = pd.Series(numbers, dtype=pd.ArrowDtype(numbers.type))
    assert renyi.rdc(wrapped, y) == pytest.approx(renyi.rdc(numbers, y), abs=1e-12)
    ordered = pa.DictionaryArray.from_arrays([0, 1, 2] * 20, ["low", "mid", "high"], ordered=True)
    assert renyi.rdc(ordered, y) == renyi.rdc([0, 1, 2] * 20, y)


def test_labels_that_are_no_labels_are_refused():
    for labels in ([np.array([1, 2]), "a"], [[1], [2]], [{}, {}]):
        with pytest.raises(InputError, match="told apart"):
            renyi.categorical(labels)
    assert renyi.categorical([(1, 2), (3, 4)] * 3).levels == ((1, 2), (3, 4))
    for odd in ("abc", None, {1, 2}, (i for i in "ab"), pd.DataFrame({"a": [1]})):
        with pytest.raises(InputError, match="one column"):
            renyi.categorical(odd)
    with pytest.raises(InputError, match="5,001 levels"):
        renyi.categorical(np.arange(5001))


@pytest.mark.parametrize("option", ["s", "missing", "frequencies", "debias", "k", "repeats", "rng"])
def test_arrays_as_settings_are_refused(option):
    assert re.match(f"{option}(=| must be)", refusal(FINE, FINE, **{option: np.array([1.0, 2.0])}))


def test_truth_is_true_or_false():
    for value in ("no", 2, None):
        assert "debias must be" in refusal(FINE, FINE, debias=value)


def test_settings_out_of_reach_are_refused():
    assert "k must be" in refusal(FINE, FINE, k=10**8)
    assert "k must be" in refusal(FINE, FINE, k=10**30)
    for s in (1e-300, 1e200, 10**400):
        assert "s must be" in refusal(FINE, FINE, s=s)


def test_variation_that_missing_rows_take_away():
    x = np.r_[np.zeros(20), np.arange(20.0)]
    y = np.r_[np.arange(20.0), np.full(20, np.nan)]
    assert "on the 20 rows used: pass more rows" in refusal(x, y, missing="pairwise")
    assert "constant on the rows where nothing is missing" in refusal(x, y, missing="listwise")


def test_columns_describe_themselves(rng):
    shown = repr(as_column(pd.Series([1.0, np.nan, 2.0], name="age"), "x"))
    assert shown == "<column 'age': numbers, 3 rows, 1 missing>"
    assert "3 levels" in repr(renyi.categorical(["a", "b", "c"]))


def test_large_integers_keep_their_order():
    x = 2**62 + np.arange(50)
    assert len(set(as_pair(x, x, missing="raise")[0].values.tolist())) == 50
    assert renyi.rdc(x, np.arange(50)) == pytest.approx(1)


def test_several_columns_keep_their_own_types(rng):
    numbers, labels = rng.standard_normal(6), list("ababab")
    frame = pd.DataFrame({"n": numbers, "c": pd.Categorical(labels), "b": numbers > 0})
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        columns = as_columns(data, "z")
        assert [column.kind for column in columns] == ["number", "category", "category"]
        assert [column.name for column in columns] == ["n", "c", "b"]
    for data in ([numbers, renyi.categorical(labels)], {"n": numbers, "c": renyi.categorical(labels)}):
        assert [column.kind for column in as_columns(data, "z")] == ["number", "category"]
    assert as_columns([numbers, numbers[:3]], "z")[1].label == "z[1]"
    for single in (numbers, list(numbers), numbers[:, np.newaxis], [[1.0, 2.0], [3.0, 5.0]], pd.Series(numbers)):
        assert len(as_columns(single, "z")) == 1
    assert as_columns([[1.0, 2.0], [3.0, 5.0]], "z")[0].kind == "vector"


def test_times_and_decimals_of_the_libraries():
    clock = [datetime.time(3, 0, 0, 5), None, datetime.time(1)]
    for series in (pl.Series(clock), pa.array(clock), pd.Series(clock, dtype=pd.ArrowDtype(pa.time64("us"))),
                   pa.array([10_800, None, 3600], pa.time32("s"))):  # fmt: skip
        column = as_column(series, "x")
        assert column.complete().values.tolist()[1] == 3600 * 10**9
        assert column.values[0] // 10**9 == 10_800
    price = [decimal.Decimal("1.5"), None, decimal.Decimal("0.25")]
    for series in (pl.Series(price), pa.array(price), pd.Series(price, dtype=pd.ArrowDtype(pa.decimal128(9, 2)))):
        assert as_column(series, "x").complete().values.tolist() == [1.5, 0.25]
    assert as_column(pl.Series([1, None, 3], dtype=pl.Int128), "x").complete().values.tolist() == [1.0, 3.0]


def test_categories_of_every_library_have_the_same_levels():
    labels = ["b", None, "a", "b"]
    for x in (
        pd.Series(pd.Categorical(labels, ["never", "b", "a"])), pl.Series(labels, dtype=pl.Categorical),
        pl.Series(labels, dtype=pl.Enum(["never", "b", "a"])), pa.array(labels).dictionary_encode(),
        pa.chunked_array([pa.array(labels[:2]).dictionary_encode(), pa.array(labels[2:]).dictionary_encode()]),
    ):  # fmt: skip
        column = as_column(x, "x")
        assert column.levels == ("a", "b")
        assert column.complete().values.tolist() == [1, 0, 1]


def test_a_declared_category_keeps_its_index(rng):
    frame = pd.DataFrame({"g": rng.choice(list("abc"), 60), "v": rng.random(60)})
    declared, permuted = renyi.categorical(frame["g"]), frame["v"].sample(frac=1, random_state=0)
    with pytest.raises(renyi.InputError, match="different indexes"):
        renyi.rdc(declared, permuted)
    assert renyi.rdc(declared, frame["v"]) == renyi.rdc(declared, frame["v"].to_numpy())
    assert renyi.rdc(renyi.categorical(list(frame["g"])), permuted) >= 0.0
    assert pickle.loads(pickle.dumps(declared)).index.equals(frame.index)
    assert renyi.categorical(list(frame["g"])).index is None


def test_lists_of_dates_and_durations_are_numbers(rng):
    order, y = rng.permutation(90), rng.random(90)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(k)) for k in order]
    times = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=int(k)) for k in order]
    spans = [datetime.timedelta(seconds=int(k)) for k in order]
    for values in (days, times, spans, list(map(pd.Timestamp, times))):
        assert renyi.rdc(values, y) == renyi.rdc(order, y)
    assert renyi.rdc([None, *days[1:]], y, missing="pairwise") > 0.0
    assert "datetime" in refusal([value.replace(tzinfo=datetime.UTC) for value in times], y)
    assert "Timestamp" in refusal([pd.Timestamp(int(k)) for k in order], y)
    assert "1 missing value (first in row 0)" in refusal([pd.NaT, *map(pd.Timestamp, times[1:])], y)


@pytest.mark.parametrize("other", [np.arange(40.0), np.arange(40) % 2 == 0, pd.to_timedelta(np.arange(40), unit="s")])
def test_dates_beside_other_coordinates_are_refused_by_name(other):
    frame = pd.DataFrame({"when": pd.date_range("2024", periods=40), "other": other})
    assert "'when' holds dates or durations" in refusal(frame, np.arange(40))
