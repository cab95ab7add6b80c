"""A list of dicts is rows."""

import numpy as np
import pytest

import renyi
from renyi.data.records import are_records, by_column


def test_rows_become_columns_with_gaps():
    assert by_column([{"a": 1}, {"b": "x", "a": 2}]) == {"a": [1, 2], "b": [None, "x"]}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([{"a": 1, "b": "text"}], True),
        (({"a": None},), True),
        ([{"a": 1, "b": [1, 2]}, {"a": 2, "b": ()}], True),
        ([{"a": [1, 2]}, {"a": None}], True),
        ([{}, {}], True),
        ([{"a": [1, 2], "b": 1}], False),
        ([{"a": [1, 2]}], False),
        ([{"a": [1, 2]}, {}], False),
        ([{"a": np.arange(2)}, {"a": np.arange(2)}], False),
        ([], False),
        ([1, 2], False),
        ({"a": 1}, False),
    ],
)
def test_dicts_of_columns_are_batches_and_not_rows(data, expected):
    assert are_records(data) is expected


def test_functions_of_tables_take_rows(rng):
    x = rng.standard_normal(80)
    columns = {"x": x, "y": x**2, "kind": np.where(x > 0, "up", "down")}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    found, wanted = renyi.matrix(rows), renyi.matrix(columns)
    assert found.types == wanted.types
    np.testing.assert_array_equal(found.values, wanted.values)
    assert renyi.screen(rows, "y").names == renyi.screen(columns, "y").names
    assert renyi.pairs(rows, fdr=1.0).to_frame()["x"].tolist() == renyi.pairs(columns, fdr=1.0).to_frame()["x"].tolist()


def test_rows_with_lists_in_a_column_lose_that_column(rng):
    rows = [{"x": float(x), "y": float(x**2), "tags": ["a"] * k} for k, x in enumerate(rng.standard_normal(40))]
    rows[3]["tags"] = (1, 2)
    found = renyi.matrix(rows)
    assert found.types == {"x": "number", "y": "number"}
    assert found.skipped == {"tags": "holds objects that are neither numbers nor labels: list (39), tuple (1)"}
