"""What the counts of the first pass say."""

import numpy as np
import pytest

import renyi
from renyi.errors import InputError


def decided(batch, other=None, **asked):
    first = renyi.Accumulator(**asked)
    first.update(batch, other)
    return first.second_pass()._decided


def test_a_target_has_one_table_and_partners_another(rng):
    batch = {name: rng.normal(size=50) for name in "abc"} | {"one": np.ones(50)}
    found = decided(batch, target="b")
    assert [column.name for column in found.counted] == ["a", "c"]
    assert found.tables[0].types.keys() == {"a", "b", "c"}
    assert found.tables[1] is None
    found = decided(batch, others=["b", "one"])
    assert [set(table.types) for table in found.tables] == [{"a", "c"}, {"b"}]
    assert [set(table.skipped) for table in found.tables] == [set(), {"one"}]


def test_gaps_of_one_table_are_told_before_those_of_the_other(rng):
    batch, other = ({name: np.where(rng.random(50) < 0.2, np.nan, 1.0 * np.arange(50))} for name in "ab")
    with pytest.raises(InputError, match=r"1 column with missing cells: 'a' \("):
        decided(batch, other, missing="raise")


def test_partners_that_say_nothing_are_too_few(rng):
    batch = {"a": rng.normal(size=50), "one": np.ones(50)}
    with pytest.raises(InputError, match=r"0 columns to compare and needs 1 .*'one': constant"):
        decided(batch, others=["one"])


def test_coordinates_of_vectors_are_numbers_with_ranks(rng):
    batch = {name: rng.normal(size=50) for name in "abc"}
    found = decided(batch, vectors={"v": ["a", "b"]})
    assert [key for key, _ in found.numbers()] == ["a", "b", "c"]
    assert [vector.name for vector in found.vectors] == ["v"]
