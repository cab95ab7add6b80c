"""Datasets, relations of DuckDB, tables of Ibis and Arrow streams: read in batches, or loaded where they are small."""

from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import renyi
from renyi.data.files.batches import Stream, as_stream, is_streamed, opened
from renyi.data.files.engines import has_engine

N = 24_000
# Too small to load the rows, enough to read them.
BUDGET = 2**22


class Repeatable:
    """What gives a new stream of Arrow whenever it is asked."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def rows(rng):
    x = rng.normal(size=N)
    level = np.where(rng.random(N) < 0.3, "a", "b")
    return pa.table({"x": x, "y": x**2 + rng.normal(size=N), "level": level})


@pytest.fixture
def folder(rows, tmp_path):
    for k, start in enumerate(range(0, N, 10_000)):
        pq.write_table(rows.slice(start, 10_000), tmp_path / f"{k}.parquet", row_group_size=3000)
    return tmp_path


@pytest.fixture
def relation(folder):
    duckdb = pytest.importorskip("duckdb")
    return lambda query="select * from '{}/*.parquet'": duckdb.connect().sql(query.format(folder))


def every(folder, rows):
    duckdb = pytest.importorskip("duckdb")
    return {
        "dataset": ds.dataset(folder),
        "filtered dataset": ds.dataset(folder).filter(ds.field("x") < 1e9),
        "scanner": ds.dataset(folder).scanner(),
        "relation": duckdb.connect().sql(f"select * from '{folder}/*.parquet'"),
        "stream": Repeatable(rows),
        "reader": rows.to_reader(7000),
    }


def test_every_engine_gives_the_same_rows(folder, rows):
    for name, data in every(folder, rows).items():
        assert is_streamed(data), name
        stream = as_stream(data, BUDGET)
        for _ in range(2):
            batches = list(stream.batches())
            assert len(batches) > 2, name
            found = pa.concat_tables(batches)
            assert found.sort_by("x").equals(rows.sort_by("x")), name


def test_what_is_small_is_loaded(folder, rows):
    for name, data in every(folder, rows).items():
        whole = opened(data, 2**30)
        assert isinstance(whole, pa.Table), name
        assert whole.num_rows == N
    for name, data in every(folder, rows).items():
        assert isinstance(opened(data, BUDGET), Stream), name


def test_frames_stay_in_memory(rows):
    for data in (rows, rows.to_pandas(), pl.from_arrow(rows), rows.to_batches()[0]):
        assert not has_engine(data)
    whole = renyi.matrix(rows.combine_chunks().to_batches()[0])
    np.testing.assert_array_equal(whole.values, renyi.matrix(rows).values)


def test_columns_of_partitions_and_columns_that_some_files_lack(tmp_path, rng):
    x = rng.normal(size=900)
    for key, columns in (("1", {"x": x, "z": x}), ("2", {"x": -x})):
        (tmp_path / f"key={key}").mkdir()
        pq.write_table(pa.table(columns), tmp_path / f"key={key}" / "a.parquet")
    data = ds.dataset(tmp_path, partitioning="hive")
    found = pa.concat_tables(as_stream(data, BUDGET).batches())
    assert found.equals(data.to_table())
    assert found["z"].null_count == 900


def test_files_of_other_types_become_those_of_the_dataset(tmp_path):
    for k, kind in enumerate((pa.int64(), pa.int32())):
        pq.write_table(pa.table({"x": pa.array(range(50), kind)}), tmp_path / f"{k}.parquet")
    data = ds.dataset(tmp_path)
    assert pa.concat_tables(as_stream(data, BUDGET).batches()).equals(data.to_table())


def test_types_of_sql_are_read_or_left_out_with_the_reason(relation):
    query = """select random() x, (range * 7 % 31)::decimal(12, 2) price, (range * 7 % 31)::hugeint huge,
        date '2020-01-01' + (range % 99)::int as day, ('a' || range % 3)::enum('a0', 'a1', 'a2') enumerated,
        timestamp '2020-03-01' - (timestamp '2020-01-01' + interval (range % 50) minute) as since, uuid() id,
        [range, 2] list, {{'a': range}} struct, 'a'::blob bytes, time '10:00' + interval (range % 40) minute as clock
        from range(300)"""
    found = renyi.matrix(relation(query))
    assert dict(found.types) == {
        "x": "number",
        "price": "number",
        "huge": "number",
        "day": "date",
        "enumerated": "category",
        "since": "duration",
        "clock": "time",
    }
    assert set(found.skipped) == {"id", "list", "struct", "bytes"}


def test_intervals_are_durations(relation):
    query = """select interval (range) month + interval 2 day as span,
        case when range > 1 then interval 1 second end as gaps from range(4)"""
    table = opened(relation(query), 2**30)
    assert table["span"].cast(pa.int64()).to_pylist() == [(30 * k + 2) * 86_400_000_000 for k in range(4)]
    assert table["gaps"].cast(pa.int64()).to_pylist() == [None, None, 1_000_000, 1_000_000]


def test_a_query_without_rows_is_refused_as_a_frame_is(relation):
    with pytest.raises(renyi.InputError, match="the table has 0 rows"):
        renyi.matrix(relation("select 1.0 x, 2.0 y where false"))


def test_a_query_that_fails_is_refused(relation):
    """At once, or after some rows."""
    broken = "select range x, case when range < {} then 1.0 else error('no such row') end y from range(60000)"
    for rows in (0, 50_000):
        with pytest.raises(renyi.InputError, match=r"the DuckDB relation cannot be read.*no such row"):
            renyi.matrix(relation(broken.format(rows)), memory=BUDGET)


def test_a_closed_connection_is_refused(folder):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    data = connection.sql(f"select * from '{folder}/*.parquet'")
    connection.close()
    with pytest.raises(renyi.InputError, match="the DuckDB relation cannot be read"):
        renyi.matrix(data)


@pytest.mark.parametrize("options", [{"measure": "dcor"}, {"types": {"level": "date"}}], ids=str)
def test_a_connection_is_free_after_a_refusal(folder, options):
    """Also while somebody holds on to the error, and whether it was found before, or on the way."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    with pytest.raises(renyi.InputError) as caught:
        renyi.matrix(connection.sql(f"select * from '{folder}/*.parquet'"), memory=BUDGET, **options)
    assert caught.tb is not None
    assert connection.sql("select 1").fetchall() == [(1,)]


def test_rows_that_change_between_the_passes_are_refused(relation, rows):
    with pytest.raises(renyi.InputError, match="does not hold the values of the first pass any more"):
        renyi.matrix(relation("select random() x, random() y from range(60000)"), memory=BUDGET)

    class Shrinking(Repeatable):
        def __arrow_c_stream__(self, requested_schema=None):
            self._table = self._table.slice(1)
            return super().__arrow_c_stream__(requested_schema)

    with pytest.raises(renyi.InputError, match="the Arrow stream has 23,998 rows, and had 23,999 when it was read"):
        renyi.matrix(Shrinking(rows), memory=BUDGET)


def test_a_dataset_of_broken_files_is_refused(folder):
    data = ds.dataset(folder)
    (folder / "1.parquet").unlink()
    with pytest.raises(renyi.InputError, match="the dataset cannot be read after 10,000 rows"):
        renyi.matrix(data)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 2, [None, *pa.array([b"ok", b"\xff\xfe"], pa.binary()).buffers()[1:]])
    pq.write_table(pa.table({"text": broken, "x": [1.0, 2.0]}), tmp_path / "broken.parquet")
    with pytest.raises(renyi.InputError, match="the dataset cannot be read"):
        renyi.matrix(ds.dataset(tmp_path))


def test_decimals_of_a_dataset_are_exact(tmp_path, rng):
    steps = [int(k) for k in rng.permutation(20_000)]
    table = pa.table({"price": pa.array([Decimal(10**17 + k) for k in steps], pa.decimal128(38, 2)), "y": steps})
    pq.write_table(table, tmp_path / "rows.parquet")
    for memory in ("2MB", "1GB"):
        assert renyi.matrix(ds.dataset(tmp_path), memory=memory).values[0, 1] > 0.999


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # what Ibis asks DuckDB for
def test_tables_of_ibis(folder, rows):
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    table = ibis.duckdb.connect().read_parquet(f"{folder}/*.parquet")
    for data in (table, table.filter(table.x < 1e9), ibis.memtable(rows)):
        batches = list(as_stream(data, BUDGET).batches())
        assert len(batches) > 2
        assert pa.concat_tables(batches).sort_by("x").equals(rows.sort_by("x"))
    with pytest.raises(renyi.InputError, match="the Ibis table cannot be read"):
        renyi.matrix(ibis.table({"x": "float64", "y": "float64"}, name="nowhere"))


def test_what_deltalake_gives_is_what_counts(tmp_path, rows):
    deltalake = pytest.importorskip("deltalake")
    for part in (rows.slice(0, 100), rows.slice(100, 500)):
        deltalake.write_deltalake(tmp_path, part, mode="overwrite", partition_by=["level"])
    data = deltalake.DeltaTable(tmp_path).to_pyarrow_dataset()
    found = opened(data, 2**30)
    assert found.sort_by("x").equals(rows.slice(100, 500).sort_by("x").select(found.column_names))
