"""Labels that are declared to be a category."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from renyi.data import categories
from renyi.data.categories import categorical, encode_labels, from_categories
from renyi.data.column import Column
from renyi.errors import InputError


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", None, "b"],
        ("b", "a", None, "b"),
        pd.Series(["b", "a", None, "b"], name="kind"),
        pl.Series("kind", ["b", "a", None, "b"]),
        np.array(["b", "a", None, "b"], dtype=object),
        np.ma.array(["b", "a", "?", "b"], mask=[0, 0, 1, 0]),
    ],
)
def test_every_container_has_the_same_codes_and_levels(labels):
    column = categorical(labels)
    assert column.kind == "category"
    assert column.levels == ("a", "b")
    assert column.missing.tolist() == [False, False, True, False]
    assert column.values[[0, 1, 3]].tolist() == [1, 0, 1]
    assert column.name == getattr(labels, "name", "")


def test_a_name_and_an_index_are_kept():
    labels = pd.Series([3, 1, 3], index=[10, 20, 30], name="kind")
    assert categorical(labels).index.tolist() == [10, 20, 30]
    assert categorical(labels, name="own").name == "own"
    assert categorical(categorical(labels), name="again").name == "again"
    assert categorical([3, 1, 3]).index is None


def test_what_is_no_column_of_labels_is_refused(monkeypatch):
    with pytest.raises(InputError, match=r"has the shape \(2, 2\), but a category is one column"):
        categorical(np.eye(2))
    with pytest.raises(InputError, match="is a int, but a category is one column"):
        categorical(3)
    with pytest.raises(InputError, match="there are no labels"):
        categorical([])
    with pytest.raises(InputError, match="is not a column of labels"):
        categorical(Column("x", "number", np.arange(3.0)))
    monkeypatch.setattr(categories, "_MOST_LEVELS", 2)
    with pytest.raises(InputError, match="the category has 3 levels, and more than 2 cannot be compared"):
        categorical(list("abc"))
    # As labels of blocks there may be as many as rows.
    assert encode_labels(list("abc"))[0][2] == ("a", "b", "c")


def test_ordered_categories_are_numbers_that_rise_with_their_levels():
    sizes = pd.Categorical(["l", None, "s", "m"], categories=["s", "m", "l"], ordered=True)
    column = from_categories(nw.from_native(pd.Series(sizes), series_only=True))
    assert (column.kind, column.levels) == ("number", ("s", "m", "l"))
    assert column.values[~column.missing].tolist() == [2, 0, 1]
    unordered = from_categories(nw.from_native(pd.Series(pd.Categorical(["l", "s", "l"])), series_only=True))
    assert (unordered.kind, unordered.levels, unordered.values.tolist()) == ("category", ("l", "s"), [0, 1, 0])
