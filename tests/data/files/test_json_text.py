import json
from decimal import Decimal

import pandas as pd
import polars as pl
import pytest

from renyi.data.files.json_text import is_json
from renyi.data.files.request import Request


def test_nested_json_is_left_in_place(read):
    frame = read('{"a":{"b":1},"c":[1,2]}\n{"a":{"b":2},"c":[]}\n', "t.jsonl").frame
    assert frame["a"].to_list() == [{"b": 1}, {"b": 2}]
    assert frame["c"].to_list() == [[1, 2], []]


def test_large_whole_numbers_of_json_beside_floats_keep_their_digits(read):
    frame = read('{"a":9007199254740993,"b":1e300}\n{"a":0.5,"b":5.5}\n', "t.jsonl").frame
    assert frame["a"].to_list() == [Decimal("9007199254740993"), Decimal("0.5")]
    assert frame["b"].to_list() == [1e300, 5.5]
    frame = read('{"a":9007199254740994.0,"b":1}\n{"a":100000000000000000000,"b":2}\n', "t.jsonl").frame
    assert frame["a"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ('{"a":1}\n\n{"a":\n{"a":2}\n', "t.jsonl", "broken JSON in line 3"),
        ('{"a":1\n"b":2}\n', "t.jsonl", "broken JSON in line 1"),
        ('{"a":NaN}\n', "t.jsonl", "line 1 (NaN is no JSON"),
        ('{"a":1}\n[2]\n', "t.jsonl", "something else than objects in line 2"),
        ('[{"a":1},\n{"a":]', "t.json", "broken JSON in line 2"),
        ("[1, 2]", "t.json", "something else than objects in its array"),
        ("[ ]", "t.json", "empty JSON array"),
        ('{"a":[1]}\n{"a":1}\n', "t.jsonl", "makes no table"),
        ("a,b\n1,2\n", "t.parquet", "called .parquet and is no such file"),
    ],
)
def test_broken_json_and_false_names_are_one_line(refusal, content, name, said):
    assert said in refusal(content, name)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('{"a":1}', "t", True),
        (' \n[ {"a":1}]', "t.txt", True),
        ("{a,b}\n1,2\n", "t", False),
        ('{"a":1}', "t.csv", False),
        ("a,b\n1,2\n", "t.ndjson", True),
    ],
)
def test_a_text_is_json_by_its_ending_or_its_beginning(text, name, expected):
    assert is_json(text.encode(), Request.of(name)) == expected


def test_columns_come_in_the_order_of_the_first_object(read):
    first = [f"k{k}" for k in range(40, 0, -1)]
    rows = [dict.fromkeys(first, 1), dict.fromkeys([*first[::-1], "late b", "late a"], 2)]
    text = "\n".join(map(json.dumps, rows))
    assert read(text, "t.jsonl").frame.columns == [*first, "late a", "late b"]
    assert read(json.dumps(rows), "t.json").frame.columns == [*first, "late a", "late b"]


@pytest.mark.parametrize("orient", ["columns", "split", "records", "list"])
def test_tables_of_pandas_are_read_by_columns(read, orient):
    frame = pd.DataFrame({"a": [1, 2, None], "b": ["x", "y", "z"], "c": [2**62 + 1, 2**62 + 2, 3]}, index=[5, 7, 9])
    text = json.dumps(frame[["b", "c"]].to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    source = read(text, "table.json")
    assert source.frame["b"].to_list() == ["x", "y", "z"]
    assert source.frame["c"].to_list() == [2**62 + 1, 2**62 + 2, 3]
    assert orient == "list" or source.frame["a"].to_list() == [1, 2, None]
    assert bool(source.notes) == (orient != "records")


def test_objects_within_one_row_stay_there(read):
    assert read('{"a": {"x": 1, "y": 2}, "b": {"z": 3}}\n', "table.json").frame.height == 1
    assert read('{"a": 1}\n{"a": 2}\n', "table.json").frame.height == 2


def test_columns_of_one_name_are_numbered(read):
    rows = [[1, 10, "x"], [2, 20, "y"], [3, 30, "z"]]
    source = read(json.dumps({"columns": ["a", "a", "b"], "index": [0, 1, 2], "data": rows}), "table.json")
    assert source.frame.columns == ["a", "a_2", "b"]
    assert source.frame.rows() == [tuple(row) for row in rows]
    assert "columns of the same name are numbered: the next 'a' is 'a_2'" in source.notes
