"""Which columns of a batch are compared with which."""

import numpy as np
import pytest

from renyi.errors import InputError
from renyi.tables.roles import Asked
from renyi.tables.rows import Rows


def rows(*names):
    return Rows.of(dict.fromkeys(names, np.arange(3)))


def roles(batch, target=None, others=None, types=None, vectors=None):
    return Asked.of(target, others, types, vectors).roles(batch)


def test_all_columns_are_compared_with_one_another():
    found = roles(rows("a", "b"))
    assert found.columns == {"a": ("a",), "b": ("b",)}
    assert not found.partners


def test_a_vector_is_where_its_first_part_is_and_its_parts_leave():
    found = roles(rows("a", "b", "c", "d"), vectors={"v": ["d", "b"]})
    assert list(found.columns.items()) == [("a", ("a",)), ("v", ("d", "b")), ("c", ("c",))]
    assert found.keys == ("a", "b", "c", "d")


def test_targets_and_partners_are_named():
    assert roles(rows("a", "b"), target="b").partners == {"b"}
    found = roles(rows("a", "b", "c"), target=["c", "a"])
    assert found.partners == {"c & a"}
    assert found.columns["c & a"] == ("c", "a")
    assert roles(rows("a", "b", "c"), others=["c", "v"], vectors={"v": ["a", "b"]}).partners == {"c", "v"}


def test_a_second_table_has_keys_of_its_own():
    batch = rows("a", "b", "c").beside(rows("b", "a", "d"))
    found = roles(batch, types={"d": "number"}, vectors={"v": ["a", "b"]})
    assert found.partners == {"v (other)", "d"}
    assert found.columns == {"v": ("a", "b"), "c": ("c",), "v (other)": ("a (other)", "b (other)"), "d": ("d",)}
    assert (found.names["v (other)"], found.called("a (other)"), found.called("c")) == ("v", "a", "c")


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"target": "a", "others": ["b"]}, "leave one of them out"),
        ({"others": []}, "other names no column"),
        ({"others": ["x"]}, "other names 'x', which is not a column of the batch"),
        ({"others": ["a"], "vectors": {"v": ["a", "b"]}}, "other 'a' is part of the vector 'v'"),
        ({"types": {"x": "number"}}, "types names 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, match):
    with pytest.raises(InputError, match=match):
        roles(rows("a", "b", "c"), **asked)


def test_two_tables_say_themselves_what_is_compared():
    with pytest.raises(InputError, match="leave target and others out"):
        roles(rows("a").beside(rows("b")), target="a")
    with pytest.raises(InputError, match="names 'b', which is not a column of the table"):
        roles(rows("a").beside(rows("b")), vectors={"v": ["a", "b"]})


def test_batches_of_other_columns_are_refused():
    found = roles(rows("a", "b"))
    with pytest.raises(InputError, match="a batch has its columns in another order"):
        found.check(["b", "a"])
    with pytest.raises(InputError, match="a batch lacks 'b'"):
        found.check(["a"])
