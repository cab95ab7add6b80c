"""Tables that are read in batches, or lie on a cluster; what batches give is in `test_accumulator.py`."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from renyi.compute import dask
from renyi.data.files.batches import Stream
from renyi.errors import InputError
from renyi.tables import accumulator, batches
from renyi.tables.accumulator import Accumulator
from renyi.tables.batches import is_out_of_core, loaded_if_small
from sample_tables import parabola


@pytest.fixture
def frame(rng):
    return pl.from_pandas(parabola(rng))


def test_rows_that_are_not_here_are_out_of_core(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    for table in (tmp_path / "a.parquet", str(tmp_path / "*.parquet"), frame.lazy(), iter([frame]), [frame, frame]):
        assert is_out_of_core(table)
    for table in (frame, frame.to_pandas(), frame.to_numpy(), frame.to_dict(as_series=False)):
        assert not is_out_of_core(table)


def test_small_files_are_loaded_and_large_ones_are_not(frame, tmp_path):
    path = tmp_path / "a.parquet"
    frame = pl.concat([frame] * 200)
    frame.write_parquet(path)
    assert loaded_if_small(path, "1GB").equals(frame)
    assert isinstance(loaded_if_small(path, "3MB"), Stream)
    assert loaded_if_small(frame, "3MB") is frame


def test_several_passes_are_said_and_find_what_one_finds(rng, monkeypatch):
    table = pd.DataFrame(rng.standard_normal((400, 24))).add_prefix("c")
    parts = [table[:150], table[150:]]
    said = []

    def watched(rows, n_rows, label, *, shown):
        said.append((label, n_rows, shown))
        return rows

    monkeypatch.setattr(batches, "watched_rows", watched)
    monkeypatch.setattr("renyi.data.files.budget._COPIES", 2**40)
    whole = renyi.matrix(parts)
    assert said == [("Counting values", None, False), ("Adding products", 400, False)]
    said.clear()
    monkeypatch.setattr(accumulator, "_SHARES", 2**14)
    found = renyi.matrix(parts, progress=True)
    n_passes = len(said) - 1
    assert n_passes > 1
    assert said[1:] == [(f"Adding products ({k} of {n_passes})", 400, True) for k in range(1, n_passes + 1)]
    np.testing.assert_allclose(found.values, whole.values, atol=1e-12)
    np.testing.assert_allclose(whole.values, renyi.matrix(table).values, atol=1e-9)


def test_an_accumulator_that_tasks_were_given_stays_as_it_is(rng):
    table = parabola(rng)
    first = Accumulator()
    some, more = (batches._seen(first, [part]) for part in (table[:100], table[100:]))
    total = batches._merged(some, more)
    # A task that is done again has what it was given.
    assert [one.n_rows for one in (first, some, more, total)] == [0, 100, 300, 400]
    assert batches._glanced(first, [table.set_index(np.arange(400)[::-1])]).n_rows == 0


def test_a_cluster_without_rows_is_told():
    with pytest.raises(InputError, match="the table has 0 rows"):
        batches._on_cluster(partial(dask.folded_over, []), Accumulator())


@pytest.mark.parametrize("library", ["pyspark.sql.dataframe", "duckdb", "ibis.expr.types"])
def test_tables_without_an_order_of_rows_are_not_put_side_by_side(library, rng):
    foreign = type("Frame", (), {"__module__": library})()
    rows = [parabola(rng)]
    with pytest.raises(InputError, match=rf"rows of {library.split('.')[0]} have no order.*join them .*other="):
        renyi.matrix(rows, foreign)


def test_dask_tables_side_by_side_have_the_same_partitions(rng):
    dd = pytest.importorskip("dask.dataframe")
    left, right = (pd.DataFrame({name: rng.random(60), "y": rng.random(60)}) for name in "ab")
    whole = renyi.matrix(left, right)
    tables = [dd.from_pandas(frame, npartitions=3, sort=False) for frame in (left, right)]
    np.testing.assert_allclose(renyi.matrix(*tables).values, whole.values, atol=1e-9)
    with pytest.raises(InputError, match="the table has 3 partitions and other has 2"):
        renyi.matrix(tables[0], dd.from_pandas(right, npartitions=2, sort=False))
    with pytest.raises(InputError, match="pass both as Dask tables"):
        renyi.matrix(tables[0], right)
    with pytest.raises(InputError, match="different indexes"):
        renyi.matrix(tables[0], dd.from_pandas(right.set_index(np.arange(60)[::-1]), npartitions=3, sort=False))
