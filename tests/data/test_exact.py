from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from renyi.data.exact import RoundingError, exact_array, is_told_by_float, is_wide, remainders, split
from renyi.data.table import as_table
from renyi.errors import InputError

N = 60


def refusal(x, y=None, **settings):
    with pytest.raises(InputError) as caught:
        renyi.rdc(x, np.arange(len(x)) if y is None else y, **settings)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        2**62 + np.arange(-3000, 3000),
        -(2**62) + np.arange(-3000, 3000),
        2**53 + np.arange(-9, 9),
        np.iinfo(np.int64).max - np.arange(3000),
        np.iinfo(np.int64).min + np.arange(3000),
        np.iinfo(np.uint64).max - np.arange(3000, dtype=np.uint64),
        np.uint64(2**63) + np.arange(3000, dtype=np.uint64),
        np.datetime64("2024-01-01", "ns") + np.arange(3000),
        np.array([0, 5, 2**61, -(2**63), 2**63 - 1]),
        np.longdouble(2) ** 62 + np.arange(-3000, 3000),
        np.longdouble(1) - np.arange(3000) * np.longdouble(2) ** -64,
    ],
)
def test_floats_and_tails_are_the_numbers_and_sort_as_they_do(values, rng):
    values = rng.permutation(values)
    floats, tails = split(values)
    order = np.lexsort((tails, floats))
    assert np.array_equal(values[order], np.sort(values))
    assert len(set(zip(floats.tolist(), tails.tolist(), strict=True))) == len(np.unique(values))
    exact = values.view(np.int64) if values.dtype.kind == "M" else values
    if exact.dtype.kind in "iu":
        lacking = remainders(floats, tails)
        assert all(int(a) + int(b) == int(c) for a, b, c in zip(floats, lacking, exact, strict=True))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(-5, 5),
        np.array([2**53, -(2**53)]),
        2**62 + 1024 * np.arange(9),
        np.array([0.1, 1e300, np.nan]),
        np.arange(5, dtype=np.float32),
        np.datetime64("2024-01-01T12:00", "ns") + np.arange(9).astype("m8[s]"),
        np.arange(9).astype(np.longdouble) / 4,
        np.array([], dtype=np.int64),
    ],
)
def test_numbers_that_floats_hold_have_no_tails(values):
    floats, tails = split(values)
    assert tails is None
    assert np.array_equal(floats, values.astype(np.int64) if values.dtype.kind == "M" else values, equal_nan=True)


def test_long_floats_beyond_what_tails_hold_are_refused():
    if np.finfo(np.longdouble).bits == 64:
        pytest.skip("long floats are floats here")
    with pytest.raises(RoundingError, match="beyond the range"):
        split(np.array([np.longdouble(10) ** 400, 1]))
    with pytest.raises(RoundingError, match="more digits"):
        split(np.array([np.longdouble(10) ** -400, 1]))


@pytest.mark.parametrize(
    ("cells", "kind", "is_rounded"),
    [
        ([1, 2], "i", False),
        ([2**62, 2**62 + 1], "i", False),
        ([2**63, 2**63 + 1], "u", False),
        ([2**70, 3 * 2**70], "f", False),
        ([2**70 + 1, 2**71 + 1], "f", True),
        ([Decimal("0.1"), Decimal("0.2")], "f", False),
        ([Decimal(1), Decimal(2)], "f", False),
        ([Decimal(1) / 3, Decimal(2) / 3], "f", True),
        ([Decimal(2**62), Decimal(2**62 + 1)], "i", False),
        ([Decimal(10) ** 25, Decimal(1)], "f", False),
        ([Decimal("0.1"), 0.1, 0.5], "f", False),
        ([2**62 + 1, 0.5], "f", True),
        ([2**62 + 1, 2**62, 1.0], "i", False),
        ([1e300, 5e15], "f", False),
        ([Decimal("Infinity"), 1, 2], "f", False),
        ([True, 2], "i", False),
    ],
)
def test_numbers_of_python_become_what_keeps_them_apart(cells, kind, is_rounded):
    values, rounded = exact_array(cells)
    assert (values.dtype.kind, rounded) == (kind, is_rounded)
    assert [float(value) for value in values] == [float(cell) for cell in cells]
    assert kind == "f" or values.tolist() == cells


@pytest.mark.parametrize(
    "cells",
    [
        [2**70, 2**70 + 1],
        [2**62 + 1, 2**62 + 2, 0.5],
        [-1, 2**63 + 1, 2**63 + 2],
        [Decimal("1000000000000000.01"), Decimal("1000000000000000.02")],
        [Decimal("0.1"), Decimal("0.1000000000000000055511151231257827")],
    ],
)
def test_numbers_that_would_become_the_same_are_refused(cells):
    with pytest.raises(RoundingError, match="more digits than 64-bit floats keep apart: subtract"):
        exact_array(cells)


def test_numbers_beyond_all_floats_are_refused():
    with pytest.raises(RoundingError, match="too large for floats"):
        exact_array([10**400, 1])


def test_few_digits_are_not_wide():
    assert not is_wide(np.array([2.0**53, -5.0, np.nan]))
    assert is_wide(np.array([2.0**53 + 2]))
    assert not is_wide(np.array([99_999_999.99]), 2)
    assert is_wide(np.array([1e13]), 2)
    assert is_wide(np.array([1.0]), None)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("9007199254740994", True),
        ("9007199254740993", False),
        ("12345678901234567000", True),  # the digits of a float, as JavaScript writes them
        ("12345678901234567168", True),  # the same float in full
        ("12345678901234567001", False),
        ("9007199254740993.00", False),
    ],
)
def test_texts_that_a_float_tells(text, is_told):
    assert is_told_by_float(text) == is_told


def test_large_whole_numbers_and_decimals_are_kept_apart_in_tables(rng):
    steps = rng.permutation(N)
    columns = {
        "steps": steps,
        "list": [2**62 + int(k) for k in steps],
        "objects": np.array([2**63 + int(k) for k in steps], dtype=object),
        "pandas": pd.Series([2**62 + int(k) for k in steps], dtype=object),
        "decimals": [Decimal(10**17 + int(k)) for k in steps],
        "text": np.array([str(2**62 + int(k)) for k in steps]),
        "with nan": np.array(["nan" if k == 7 else str(2**62 + int(k)) for k in steps]),
        "beside floats": [0.5, *[2**60 + 1000 * int(k) for k in steps[1:]]],
        "far": [2**70 * int(k) for k in steps],
    }
    types = {"text": "number", "with nan": "number"}
    table = as_table(columns, types=types)
    assert dict.fromkeys(columns, "number") == table.types
    y = np.cos(steps / 15) + rng.normal(size=N)
    found = renyi.matrix(columns, {"y": y}, types=types)
    assert found.values[0, 0] == pytest.approx(renyi.rdc(steps, y))
    for name in set(columns) - {"with nan", "beside floats"}:
        place = found.names.index(name)
        assert found.values[place, 0] == pytest.approx(found.values[0, 0], abs=1e-12), name
        assert found.pearson[place, 0] == pytest.approx(found.pearson[0, 0], abs=1e-12), name


def test_numbers_that_floats_would_make_the_same_are_left_out_with_the_reason(rng):
    steps = [int(k) for k in rng.permutation(N)]
    columns = {
        "list": [2**70 + k for k in steps],
        "beside a float": [0.5, *[2**62 + k for k in steps[1:]]],
        "on both sides": [-1, *[2**63 + k for k in steps[1:]]],
        "decimals": [Decimal(10**17 + k) / 2 for k in steps],
        "text": [str(2**70 + k) for k in steps],
        "y": rng.normal(size=N),
    }
    table = as_table(columns, types={"text": "number"})
    assert list(table.types) == ["y"]
    for reason in table.skipped.values():
        assert reason.startswith("has numbers with more digits than 64-bit floats keep apart: subtract the smallest")


def test_vectors_do_not_round_large_whole_numbers(rng):
    columns = {"a": 2**62 + rng.permutation(N), "b": 2**61 + rng.permutation(N), "c": rng.normal(size=N)}
    table = as_table(columns, vectors={"v": ["a", "b"]})
    assert np.array_equal(table.columns[0].values, np.column_stack([columns["a"], columns["b"]]))
    table = as_table(columns, vectors={"v": ["a", "c"]})
    assert table.skipped["v"] == "its part 'a': has whole numbers that floats beside it would round: rescale it"


@pytest.mark.parametrize("kind", [int, np.int64])
def test_large_whole_numbers_beside_floats_are_refused_in_any_list(kind):
    large = [kind(2**60 + k) for k in range(30)]
    assert "large whole numbers" in refusal([0.5, *large[1:]])
    assert "large whole numbers" in refusal([[value, 0.5 * k] for k, value in enumerate(large)])


@pytest.mark.parametrize(
    "make",
    [
        lambda k: pl.Series([2**62 + int(v) for v in k], dtype=pl.Int128),
        lambda k: pl.Series([2**63 + int(v) for v in k], dtype=pl.Int128),
        lambda k: pl.Series([Decimal(10**17 + int(v)) for v in k], dtype=pl.Decimal(38, 2)),
        lambda k: pa.array([Decimal(10**17 + int(v)) for v in k], pa.decimal128(38, 2)),
        lambda k: pd.Series([Decimal(10**17 + int(v)) for v in k], dtype=pd.ArrowDtype(pa.decimal128(38, 2))),
    ],
)
def test_decimals_and_integers_of_128_bits_keep_their_digits_in_64(make, rng):
    steps = rng.permutation(90)
    y = np.cos(steps / 20)
    x = make(steps)
    assert renyi.rdc(x, y) == renyi.rdc(steps, y)
    assert renyi.independence_test(x, y).pvalue == renyi.independence_test(steps, y).pvalue
    assert renyi.matrix({"x": x, "y": y}).values[0, 1] == renyi.matrix({"x": steps, "y": y}).values[0, 1]
    gaps = pl.Series([None, *[2**62 + int(v) for v in steps[1:]]], dtype=pl.Int128)
    assert renyi.rdc(gaps, y, missing="listwise") == renyi.rdc(steps[1:], y[1:])


@pytest.mark.parametrize(
    "make",
    [
        lambda k: pl.Series([2**100 + int(v) for v in k], dtype=pl.Int128),
        lambda k: pl.Series([Decimal(10**17 + int(v)) + Decimal("0.5") for v in k]),
        lambda k: pa.array([Decimal(10**30 + int(v)) for v in k], pa.decimal128(38, 2)),
    ],
)
def test_digits_that_nothing_holds_are_refused_and_left_out_of_tables_with_the_same_reason(make, rng):
    x, y = make(rng.permutation(90)), rng.normal(size=90)
    reason = "has numbers with more digits than 64-bit floats keep apart: subtract the smallest"
    assert refusal(x, y).startswith(f"x {reason}")
    found = renyi.matrix({"x": x, "y": y, "z": y**2})
    assert found.skipped["x"].startswith(reason)
    batches = renyi.matrix(iter([{"x": x[:9], "y": y[:9], "z": y[:9]}, {"x": x[9:], "y": y[9:], "z": y[9:] ** 2}]))
    assert batches.skipped == found.skipped


def test_objects_of_many_digits_are_not_told_to_become_floats():
    assert ".astype(float)" in refusal(np.array([Decimal(1), Decimal(2)] * 20))
    for wide in ([2**70 + k for k in range(40)], [Decimal(10**17 + k) for k in range(40)]):
        assert ".astype(np.int64), after subtracting the smallest" in refusal(np.array(wide))
