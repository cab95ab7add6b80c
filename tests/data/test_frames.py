"""Columns of other libraries, as arrays."""

import datetime
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from renyi.data.frames import as_narwhals, as_series, read_categories, read_cells, with_gaps
from renyi.errors import InputError


def series(native):
    return nw.from_native(native, series_only=True)


@pytest.mark.parametrize("array", [pa.array([3, 1, None]), pd.Index([3, 1, 2]), pd.array([3, 1, None], dtype="Int64")])
def test_bare_arrays_are_columns_that_narwhals_knows(array):
    assert nw.from_native(as_series(array), series_only=True).to_list()[:2] == [3, 1]


def test_lazy_frames_are_refused_and_other_data_are_none_of_theirs():
    assert as_narwhals([1, 2], "x") is None
    assert isinstance(as_narwhals(pl.DataFrame({"a": [1]}), "x"), nw.DataFrame)
    with pytest.raises(InputError, match=r"x is lazy and a pair needs values: call \.collect\(\) first"):
        as_narwhals(pl.LazyFrame({"a": [1]}), "x")


@pytest.mark.parametrize("library", [pl.Series, lambda cells: pa.chunked_array([cells])])
@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        ([1, None, 3], "i", [1, 3]),
        ([True, None, False], "b", [True, False]),
        ([2**63 - 1, 7, None], "i", [2**63 - 1, 7]),
        ([Decimal("1.25"), None, Decimal("3.5")], "f", [1.25, 3.5]),
        ([datetime.time(1), None, datetime.time(0, 0, 2)], "i", [3600 * 10**9, 2 * 10**9]),
    ],
)
def test_cells_keep_their_type_beside_missing_ones(library, cells, kind, values):
    array, missing, is_rounded = read_cells(series(library(cells)))
    gaps = np.isnan(array) if missing is None else missing
    assert gaps.tolist() == [cell is None for cell in cells]
    assert array.dtype.kind == kind
    assert array[~gaps].tolist() == values
    assert not is_rounded


def test_a_column_without_a_value_has_places_alone():
    array, missing, _ = read_cells(series(pl.Series([None, None], dtype=pl.Int32)))
    assert len(array) == 2
    assert missing.all()


def test_observed_values_go_to_their_places():
    missing = np.array([True, False, True, False])
    assert with_gaps(np.array([5, 7], dtype=np.int8), missing).tolist() == [0, 5, 0, 7]
    assert with_gaps(np.array([[1.0, 2.0], [3.0, 4.0]]), missing).tolist() == [[0, 0], [1, 2], [0, 0], [3, 4]]


@pytest.mark.parametrize(
    ("native", "is_ordered"),
    [
        (pd.Series(pd.Categorical(["s", None, "l", "m"], categories=["s", "m", "l", "xl"], ordered=True)), True),
        (pd.Series(pd.Categorical(["s", None, "l", "m"])), False),
        (pl.Series(["s", None, "l", "m"], dtype=pl.Categorical), False),
        (
            pa.chunked_array([pa.array(["s", None]).dictionary_encode(), pa.array(["l", "m"]).dictionary_encode()]),
            False,
        ),
    ],
)
def test_categories_are_codes_of_their_levels(native, is_ordered):
    (codes, missing, levels), ordered = read_categories(series(native))
    assert [None if gap else levels[code] for code, gap in zip(codes, missing, strict=True)] == ["s", None, "l", "m"]
    assert ordered == is_ordered
    assert not is_ordered or levels == ("s", "m", "l", "xl")


@pytest.mark.parametrize("made", [pa.table, pa.RecordBatch.from_pydict, lambda columns: iter([pa.table(columns)])])
def test_text_of_arrow_may_be_kept_as_views(made, rng):
    try:
        text = pa.array(["a", "b", None, "c"] * 30).cast("string_view")
    except pa.ArrowNotImplementedError as error:  # of older Arrow, which cannot make such a column
        pytest.skip(str(error))
    found = renyi.matrix(made({"x": pa.array(rng.normal(size=120)), "text": text}))
    assert found.types == {"x": "number", "text": "category"}
    assert renyi.categorical(text).levels == ("a", "b", "c")
