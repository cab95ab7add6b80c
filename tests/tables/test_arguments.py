"""What is asked of a table, checked before any work is done."""

from dataclasses import replace

import numpy as np
import pytest

import renyi
from renyi.data.table import as_table
from renyi.errors import InputError
from renyi.tables.arguments import Question, column_named, comparable, listed, names_in, side_by_side, split
from renyi.tables.dependent_rows import Design


@pytest.fixture
def table(rng):
    columns = {"a": rng.random(40), "b": rng.random(40), "kind": list("xyzz") * 10, "same": np.ones(40)}
    return columns | {"lat": rng.random(40), "lon": rng.random(40)}


def test_names_are_one_or_several_and_a_tuple_may_be_one():
    known = ["a", "('b', 1)", "3"]
    assert listed("a", known) == ["a"]
    assert listed(3, known) == ["3"]
    assert listed(("b", 1), known) == ["('b', 1)"]
    assert listed(("a", 3), known) == ["a", "3"]
    assert listed([], known) == []


def test_columns_are_found_by_name_or_it_is_said_why_not(table):
    found = as_table(table, vectors={"place": ["lat", "lon"]})
    assert column_named(found, "a", "target").name == "a"
    for name, message in (
        ("same", "target 'same' cannot be measured, it was left out: constant"),
        ("lat", "target 'lat' is part of the vector 'place': name that one"),
        ("bb", "target names 'bb'.* did you mean 'b'"),
    ):
        with pytest.raises(InputError, match=message):
            column_named(found, name, "target")


def test_columns_that_a_measure_cannot_take_are_left_out_of_all_that_is_told(table):
    whole = as_table(table)
    left = comparable(whole, renyi.measure("pearson"), at_least=2)
    assert [column.name for column in left.columns] == ["a", "b", "lat", "lon"]
    assert set(left.types) == {"a", "b", "lat", "lon"}
    assert "takes numbers alone" in left.skipped["kind"]
    assert comparable(whole, renyi.measure("rdc"), at_least=2) is whole
    with pytest.raises(InputError, match=r"0 columns to compare and needs 2.* measure by 'rdc' or 'dcor'"):
        comparable(as_table({"kind": table["kind"]}), renyi.measure("pearson"), at_least=2)
    with pytest.raises(InputError, match="1 column to compare and needs 2"):
        comparable(as_table({"a": table["a"]}), renyi.measure("rdc"), at_least=2)


def test_two_tables_have_their_own_overrides_and_the_same_rows(table):
    first, second = {"a": table["a"], "n": [1, 2] * 20}, {"lat": table["lat"], "lon": table["lon"]}
    x, y = side_by_side(first, second, {"n": "category"}, {"place": ["lat", "lon"]}, "pairwise", read=as_table)
    assert x.types == {"a": "number", "n": "category"}
    assert [column.name for column in y.columns] == ["place"]
    with pytest.raises(InputError, match="the table has 40 rows and other has 39"):
        side_by_side(first, {"b": table["b"][:39]}, None, None, "pairwise", read=as_table)
    with pytest.raises(InputError, match="'listwise' would drop different rows of two tables"):
        side_by_side(first, second, None, None, "listwise", read=as_table)


def test_measures_and_corrections_are_known_by_name():
    plain = Question("dcor", "pairwise", None, None, 2000, "bh", "1GB", 0, False, Design())
    assert plain.by.name == "dcor"
    with pytest.raises(InputError, match="correction='fdr' is unknown"):
        replace(plain, correction="fdr")
    with pytest.raises(InputError, match="sample must be an integer of at least 0, got -1"):
        replace(plain, sample=-1)


def test_a_table_is_split_by_names_of_columns_or_vectors(table):
    whole = as_table(table, vectors={"place": ["lat", "lon"]})
    left, right = split(whole, ["b", "place", "same"])
    assert [column.name for column in left.columns] == ["a", "kind"]
    assert [column.name for column in right.columns] == ["b", "place"]
    assert (set(left.types), set(right.types)) == ({"a", "kind"}, {"b", "place"})
    assert (set(left.skipped), set(right.skipped)) == (set(), {"same"})
    with pytest.raises(InputError, match="other 'lat' is part of the vector 'place'"):
        split(whole, ["lat"])
    with pytest.raises(InputError, match="other names 'z', which is not a column of the table"):
        split(whole, ["z"])
    with pytest.raises(InputError, match="other names no column"):
        split(whole, [])


def test_names_are_told_from_a_second_table(table):
    assert names_in(["a", "b"]) == names_in(("a", "b")) == ["a", "b"]
    for other in (None, table, [table], "file.csv", [1, 2]):
        assert names_in(other) is None
