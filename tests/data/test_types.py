"""What a column of a table is, what it can be turned into, and which of its levels remain."""

import datetime
import pickle

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import renyi
from renyi.data.column import Column
from renyi.data.table import as_table
from renyi.data.types import Cause, SkipError, as_vector, check_varies, convert, pool_levels, read
from renyi.errors import InputError

OBJECTS = {
    "number": [1, 2.5, None],
    "boolean": [True, None, False],
    "category": ["b", 3, None],
    "date": [datetime.date(2020, 1, 2), None, datetime.date(2019, 1, 1)],
    "duration": [datetime.timedelta(days=2), datetime.timedelta(seconds=1), None],
    "time": [datetime.time(1), None, datetime.time(0, 59)],
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_have_the_type_of_all_of_them(kind):
    cells = np.array(OBJECTS[kind], dtype=object)
    column, found = convert(*read(cells, "x", None), None)
    assert found == kind
    assert column.missing.tolist() == [cell is None for cell in cells]
    known = [cell for cell in cells if cell is not None]
    if kind not in ("category", "boolean"):
        # Values have the order of the cells, whatever they are measured in.
        assert np.array_equal(np.argsort(column.values[~column.missing]), np.argsort(np.array(known, dtype=object)))


def test_values_of_a_table_are_its_own():
    cells = pd.Series([1.0, 2.0, 3.0])
    column, _ = read(nw.from_native(cells, series_only=True), "x", None)
    cells[0] = 9.0
    assert column.values.tolist() == [1.0, 2.0, 3.0]


def test_numbers_become_categories_and_come_back():
    cells = np.array([3.0, np.nan, -1.0, 3.0, 20.0])
    number = read(cells, "x", None)
    category, kind = convert(*number, "category")
    assert kind == "category"
    # Beside missing cells whole numbers are floats, and as labels they are whole again.
    assert list(map(repr, category.levels)) == ["-1", "3", "20"]
    back, kind = convert(category, "category", "number")
    assert kind == "number"
    assert back.missing.tolist() == np.isnan(cells).tolist()
    assert back.values[~back.missing].tolist() == cells[~np.isnan(cells)].tolist()


def test_labels_that_spell_no_number_are_told_with_their_row():
    with pytest.raises(InputError, match=r"numbers in 'code', and row 1 holds '1_0': make such cells missing"):
        convert(Column("code", "category", np.arange(3), levels=("1", "1_0", "x")), "category", "number")


@given(
    rows=st.lists(st.integers(1, 12), min_size=2, max_size=40) | st.lists(st.integers(5, 9), min_size=29, max_size=40),
    other=st.none() | st.integers(0, 39),
)
def test_no_level_is_rare_or_one_too_many(rows, other):
    levels = [f"level {k:02}" for k in range(len(rows))]
    if other is not None and other < len(levels):
        levels[other] = "(other)"
    try:
        moved, kept, n_pooled = pool_levels(tuple(levels), np.array(rows), requested=True)
    except SkipError:
        assert all(n < 5 for n, level in zip(rows, levels, strict=True) if level != "(other)")
        return
    after = np.bincount(moved, weights=rows, minlength=len(kept))
    assert after.sum() == sum(rows)
    assert len(kept) <= 2 or after.min() >= 5
    assert len(set(kept)) == len(kept)
    gone = [level for level, place in zip(levels, moved, strict=True) if kept[place] != level]
    assert len(gone) == n_pooled
    assert all(kept[place] in (level, "(other)") for level, place in zip(levels, moved, strict=True))


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (Column("x", "number", np.full(200, 2.5)), r"constant \(always 2\.5\)"),
        (Column("x", "category", np.zeros(3, dtype=int), None, ("a", "b")), r"constant \(always 'a'\)"),
        (Column("x", "number", np.arange(3.0), np.array([True, False, True])), "a single observed value"),
        (Column("x", "number", np.arange(2.0), np.ones(2, dtype=bool)), "no observed value"),
        (Column("x", "number", np.arange(3.0), np.array([False, True, True])), "a single observed value"),
    ],
)
def test_what_does_not_vary_is_left_out(column, reason):
    with pytest.raises(SkipError, match=reason):
        check_varies(column)
    # A difference beyond the first rows, where one looks first, is one.
    check_varies(Column("x", "number", np.append(np.zeros(500), 1.0)))


def test_vectors_lack_the_rows_that_a_part_lacks():
    parts = {"a": np.array([1.0, np.nan, 3.0, 4.0]), "b": np.array([1.0, 2.0, np.nan, 4.0])}
    column, kind = as_vector("v", parts, {})
    assert (kind, column.coordinates) == ("vector", ("a", "b"))
    assert column.missing.tolist() == [False, True, True, False]
    assert column.values[[0, 3]].tolist() == [[1.0, 1.0], [4.0, 4.0]]
    with pytest.raises(SkipError, match="its part 'b': left out by types"):
        as_vector("v", parts, {"b": "skip"})


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, lambda columns: [columns], dict]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", ["number", "date", "category"])
@pytest.mark.parametrize("n", [1500, 450])
def test_words_in_the_first_rows_decide_nothing(frame, kind, n):
    days = np.datetime64("1990-01-01") + np.arange(n)
    cells = {"number": [str(k / 8) for k in range(n)], "date": days.astype(str).tolist()}.get(kind)
    cells = cells or [f"word {'ab'[k % 2]}{k}" for k in range(n)]
    table = {"x": ["unknown"] * 20 + cells[20:], "y": [k % 7 + 0.5 for k in range(n)], "z": [k % 9 for k in range(n)]}
    found = renyi.matrix(frame(table))
    if kind == "category":
        assert found.skipped["x"] == f"{n - 19:,} of its {n:,} values are distinct: an identifier or free text"
    else:
        assert found.types["x"] == kind


def test_what_is_left_out_has_a_cause():
    found = as_table(
        {
            "ends": [1.0, np.inf, 2.0, 3.0],
            "same": [1, 1, 1, 1],
            "names": ["a", "b", "c", "d"],
            "parts": [1j, 2, 3, 4],
            "not wanted": [1, 2, 3, 4],
            "x": [4, 3, 2, 1],
        },
        types={"not wanted": "skip"},
    )
    assert found.causes == {
        "ends": Cause.INFINITE,
        "same": Cause.CONSTANT,
        "names": Cause.IDENTIFIER,
        "parts": Cause.UNREADABLE,
        "not wanted": Cause.ASKED,
    }
    assert found.causes.keys() == found.skipped.keys()


ORDER = {"size": ["low", "medium", "high"]}


@pytest.fixture
def sized(rng):
    x = rng.standard_normal(300)
    size = np.array(["low", "medium", "high"])[np.digitize(x, [-0.5, 0.5])]
    return pd.DataFrame(
        {"size": size, "x": x, "flag": x > 1, "day": pd.date_range("2024", periods=300), "n": rng.random(300)}
    )


def test_labels_in_an_order_are_ranks(sized):
    found = renyi.matrix(sized, types=ORDER)
    assert found.types["size"] == "ordered"
    assert found.spearman[0, 1] > 0.9
    cells = pd.Categorical(sized["size"], ORDER["size"], ordered=True)
    expected = renyi.matrix(sized.assign(size=cells))
    for name in ("coefficient", "pvalues", "spearman"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    in_batches = renyi.matrix([sized[:100], sized[100:]], types=ORDER, memory="1MB")
    assert in_batches.types["size"] == "ordered"
    assert in_batches.coefficient == pytest.approx(expected.coefficient, abs=1e-6, nan_ok=True)
    numbers = sized.assign(size=sized["size"].map({"low": 3, "medium": 1, "high": 2}))
    turned = renyi.matrix(numbers, types={"size": [3, 1, 2]})
    np.testing.assert_array_equal(turned.coefficient, expected.coefficient)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"size": ["low", "high"]}, "row [0-9]+ holds 'medium': add it to the list"),
        ({"size": ["low"]}, "must be at least 2 different labels, the lowest first, got"),
        ({"size": ["low", "low", "high"]}, "must be at least 2 different labels"),
        ({"day": ["low", "high"]}, "types orders labels of 'day', which holds date"),
        ({"x": "boolean"}, "types says that 'x' is a boolean, and it holds numbers: leave it out of types"),
        ({"size": "ordered"}, "is an ordered category, and it holds text"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(types, message, sized):
    with pytest.raises(InputError, match=message):
        renyi.matrix(sized, types=types)


def test_types_of_a_result_can_be_passed_back(sized):
    vectors = {"both": ["x", "n"]}
    found = renyi.matrix(sized.assign(m=sized["x"] ** 2), vectors=vectors)
    assert {*found.types.values()} == {"category", "boolean", "date", "vector", "number"}
    again = renyi.matrix(sized.assign(m=sized["x"] ** 2), vectors=vectors, types=found.types)
    assert again.types == found.types
    np.testing.assert_array_equal(again.pvalues, found.pvalues)
    in_order = renyi.matrix(sized, types=ORDER)
    for parts in (sized, [sized[:100], sized[100:]]):
        kept = pickle.loads(pickle.dumps(renyi.matrix(parts, types=ORDER).types["size"]))
        again = renyi.matrix(sized, types={"size": kept})
        np.testing.assert_array_equal(again.pvalues, in_order.pvalues)
    batches = renyi.matrix([sized[:100], sized[100:]], types=renyi.matrix(sized).types)
    assert batches.types == renyi.matrix(sized).types
