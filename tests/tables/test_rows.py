"""Some rows as named columns, of one table or of two side by side."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from renyi.errors import InputError
from renyi.tables import rows as module
from renyi.tables.rows import Rows, side_by_side


def columns(n, *names):
    return {name: np.arange(n) + 100 * k for k, name in enumerate(names)}


def cut(table, *edges):
    n = len(next(iter(table.values())))
    edges = [0, *edges, n]
    return [{k: v[a:b] for k, v in table.items()} for a, b in pairwise(edges)]


@pytest.mark.parametrize("hold", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_rows_are_taken_by_their_places(hold):
    table = columns(10, "a", "b") | {"label": np.array(list("xyxyxyxyxy"), dtype=object)}
    rows = Rows.of(hold(table))
    assert Rows.of(rows) is rows
    assert rows.shape == (10, 3)
    some = rows.part(3, 7)
    assert len(some) == 4
    np.testing.assert_array_equal(np.asarray(some.parts["b"]), table["b"][3:7])
    assert list(some.parts["label"]) == list("yxyx")


def test_a_declared_column_is_cut_too():
    part = Rows.of({"a": np.arange(6), "c": renyi.categorical(list("uvuvuw"))}).part(4, 6)
    assert part.parts["c"].values.tolist() == [0, 2]


def test_pieces_cover_all_rows_once(monkeypatch):
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 4)
    pieces = list(Rows.of(columns(10, "a")).pieces())
    assert [len(piece) for piece in pieces] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([piece.parts["a"] for piece in pieces]), np.arange(10))


def test_tables_are_cut_to_the_same_rows():
    left, right = columns(20, "a", "b"), columns(20, "b", "c")
    empty = {name: cells[:0] for name, cells in right.items()}
    batches = list(side_by_side(cut(left, 3, 11), [empty, *cut(right, 5, 5, 11)]))
    assert [len(batch) for batch in batches] == [3, 2, 6, 9]
    assert dict(batches[0].others) == {"b (other)": "b", "c": "c"}
    for key, cells in {"a": left["a"], "b": left["b"], "b (other)": right["b"], "c": right["c"]}.items():
        np.testing.assert_array_equal(np.concatenate([batch.parts[key] for batch in batches]), cells)


@pytest.mark.parametrize(("n", "m"), [(20, 17), (17, 20), (20, 0)])
def test_different_numbers_of_rows_are_refused_with_both(n, m):
    with pytest.raises(InputError, match=f"the table has {n} rows and other has {m}: pass as many"):
        list(side_by_side(cut(columns(n, "a"), 5, 9), cut(columns(m, "b"), m // 2)))
    with pytest.raises(InputError, match=f"the table has {n} rows and other has {m}: pass as many"):
        Rows.of(columns(n, "a")).beside(Rows.of(columns(m, "b")))
