"""Tables that other engines have, to batches of Arrow: datasets, relations of DuckDB, tables of Ibis, Arrow streams."""

import sys
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from renyi.data.files.budget import rows_of_batch
from renyi.data.files.parquet import pages_of, validated
from renyi.data.files.streams import Spooled, Stream, first_line
from renyi.errors import InputError, count, load

# Libraries whose tables are in memory, or on a cluster, and read by others.
_OTHERS = {"cudf", "dask", "modin", "narwhals", "pandas", "polars", "pyarrow", "pyspark", "xarray"}
# Of a file that is not here, bytes of every column that are fetched at once: every request takes a while.
_FETCHED = 2**20


def has_engine(data: Any, /) -> bool:
    """Whether a table belongs to an engine that gives it in batches, or is a stream of Arrow."""
    return _known(data) is not None or _is_arrow_stream(data)


def stream_of(data: Any, memory: int, /) -> Stream:
    """Batches of such a table that fit into a budget."""
    name, read = _known(data) or ("Arrow stream", _of_stream)
    engine = _Engine(name, data, read, memory)
    # A reader gives its batches once.
    return Spooled(engine.batches()) if isinstance(data, Iterator) else engine


def _known(data: Any) -> tuple[str, Callable[[Any, int], Any]] | None:
    """What to call a table of an engine, and what makes a reader of its batches for a budget."""
    for module, kind, name, read in (
        ("pyarrow.dataset", "Dataset", "dataset", _of_dataset),
        ("pyarrow.dataset", "Scanner", "scanner", _of_scanner),
        ("duckdb", "DuckDBPyRelation", "DuckDB relation", _of_duckdb),
        ("ibis", "Table", "Ibis table", _of_ibis),
    ):
        # Who has such a table has imported the library.
        known = getattr(sys.modules.get(module), kind, None)
        if known is not None and isinstance(data, known):
            return name, read
    return None


def _is_arrow_stream(data: Any) -> bool:
    if not hasattr(type(data), "__arrow_c_stream__"):
        return False
    return isinstance(data, Iterator) or type(data).__module__.partition(".")[0] not in _OTHERS


class _Engine(Stream):
    """Batches of a table that is computed anew every time it is read."""

    def __init__(self, name: str, data: Any, read: Callable[[Any, int], Any], memory: int) -> None:
        self._name, self._data, self._read, self._memory = name, data, read, memory
        self._pa = load("pyarrow", extra="cli")
        self.is_exclusive = read in (_of_duckdb, _of_ibis)

    def batches(self) -> Generator[Any]:
        n_read = 0
        try:
            # Closed in any case: an engine may take no other query while a result is open.
            with self._read(self._data, self._memory) as reader:
                rows = rows_of_batch(len(reader.schema), self._memory)
                for batch in reader:
                    table = _with_durations(self._pa.Table.from_batches([validated(batch)]))
                    n_read += table.num_rows
                    for start in range(0, table.num_rows, rows):
                        yield table.slice(start, rows)
                if not n_read:
                    yield _with_durations(reader.schema.empty_table())
        except InputError:
            raise
        except Exception as error:
            where = f" after {count(n_read, 'row')}" if n_read else ""
            raise InputError(
                f"the {self._name} cannot be read{where} ({first_line(error)}): mend it, or what it reads from"
            ) from error
        if self.n_rows not in (None, n_read):
            raise InputError(
                f"the {self._name} has {count(n_read, 'row')}, and had {self.n_rows:,} when it was read before: pass "
                "one that gives the same rows whenever it is read, or a table in memory"
            )
        self.n_rows = n_read


def _with_durations(table: Any) -> Any:
    """Intervals, by which SQL says how far two times are apart, as durations, in which a month has 30 days."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if field.type == pa.month_day_nano_interval():
            parts = np.dtype([("months", "i4"), ("days", "i4"), ("nanoseconds", "i8")])
            chunks = []
            for chunk in table.column(place).chunks:
                values = np.frombuffer(chunk.buffers()[1] or b"", dtype=parts)[chunk.offset : chunk.offset + len(chunk)]
                days = 30 * values["months"].astype(np.int64) + values["days"]
                spans = 86_400_000_000 * days + values["nanoseconds"] // 1000
                chunks.append(pa.array(spans.view("m8[us]"), mask=chunk.is_null().to_numpy(zero_copy_only=False)))
            table = table.set_column(place, field.name, pa.chunked_array(chunks, pa.duration("us")))
    return table


def _of_stream(data: Any, _: int) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(data)


def _of_scanner(scanner: Any, _: int) -> Any:
    return scanner.to_reader()


def _of_duckdb(relation: Any, memory: int) -> Any:
    rows = rows_of_batch(len(relation.columns), memory)
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(rows)
    return relation.fetch_record_batch(rows)


def _of_ibis(table: Any, memory: int) -> Any:
    backend = table.get_backend()
    if backend.name != "duckdb":
        return table.to_pyarrow_batches(chunk_size=rows_of_batch(len(table.columns), memory))
    # Ibis 12 asks DuckDB 2 for a method that it does not have any more, so DuckDB is asked itself, once Ibis has shown
    # it the tables in memory, as it does for any query.
    table.limit(0).count().to_pyarrow()
    return _of_duckdb(backend.con.sql(backend.compile(table)), memory)


# Datasets: a scanner reads row groups whole, and some of them ahead, half a gigabyte where they have a million rows.
# Files that are Parquet of the same types are therefore read page after page, as those that are named are.


def _of_dataset(dataset: Any, memory: int) -> Any:
    import pyarrow as pa

    rows = rows_of_batch(len(dataset.schema), memory)
    try:
        fragments = dataset.get_fragments()
    except ValueError:  # of one with a filter, which but a scanner applies
        return dataset.scanner(**_bounded(rows)).to_reader()
    batches = (batch for fragment in fragments for batch in _of_fragment(fragment, dataset.schema, rows))
    return pa.RecordBatchReader.from_batches(dataset.schema, batches)


def _of_fragment(fragment: Any, schema: Any, rows: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if not isinstance(fragment, ds.ParquetFileFragment):
        yield from fragment.to_batches(schema=schema, batch_size=rows)
        return
    here = fragment.filesystem.type_name == "local"
    pages = pages_of(fragment.open(), None if here else _FETCHED)
    own = {field.name: field.type for field in pages.schema_arrow}
    keys = ds.get_partition_keys(fragment.partition_expression)
    if any(own.get(field.name, field.type) != field.type for field in schema) or len(own) < len(pages.schema_arrow):
        # Arrow knows how types become those of the dataset.
        yield from fragment.to_batches(schema=schema, **_bounded(rows))
        return
    groups = [group.id for group in fragment.row_groups]
    for batch in pages.iter_batches(rows, row_groups=groups, columns=[name for name in schema.names if name in own]):
        columns = [
            batch.column(field.name)
            if field.name in own
            else pa.repeat(pa.scalar(keys.get(field.name), field.type), batch.num_rows)
            for field in schema
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _bounded(rows: int) -> dict[str, Any]:
    """Options of a scanner that reads little ahead."""
    import pyarrow.dataset as ds

    pages = ds.ParquetFragmentScanOptions(use_buffered_stream=True, buffer_size=_FETCHED, pre_buffer=False)
    ahead = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
    return {"batch_size": rows, "fragment_scan_options": pages, **ahead}
