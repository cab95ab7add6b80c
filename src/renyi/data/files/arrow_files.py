"""Files and streams of Arrow, as Feather writes them, to batches of rows."""

from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from renyi.data.files.budget import rows_of_batch
from renyi.data.files.parquet import begins_with, check_schemas, validated
from renyi.data.files.request import Request
from renyi.data.files.streams import Folder, Stream, first_line
from renyi.data.files.text_types import drop_values
from renyi.errors import InputError, load

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"


def is_arrow(file: Path, /) -> bool:
    """Whether a file begins as one of Arrow does."""
    return begins_with(file, FILE, STREAM)


class ArrowFiles(Stream):
    """Files of Arrow with the same columns, one after the other.

    They are mapped into memory, which the system takes back where it is short: what is written as one batch is not
    read as one.
    """

    def __init__(self, requests: Mapping[Path, Request], memory: int, folder: Folder | None = None) -> None:
        self._pl, self._pa = load("polars", extra="cli"), load("pyarrow", extra="cli")
        self._requests, self._folder = requests, folder
        check_schemas({file: self._schema(file) for file in requests})
        self._rows = rows_of_batch(len(self._schema(next(iter(requests)))), memory)

    def _schema(self, file: Path) -> Any:
        return next(self._frames(file)).schema

    def batches(self) -> Generator[Any]:
        for file, request in self._requests.items():
            for frame in self._frames(file):
                for rows in frame.iter_slices(self._rows) if frame.height else [frame]:
                    yield drop_values(self._pl, rows, request.null_values)

    def _frames(self, file: Path) -> Iterator[Any]:
        """The batches of a file as they were written, after one without rows."""
        n_read = 0
        try:
            with self._pa.memory_map(str(file)) as source:
                for batch in _written(self._pa, source, begins_with(file, FILE)):
                    n_read += batch.num_rows
                    yield self._pl.from_arrow(validated(batch))
        except InputError:
            raise
        except (Exception, self._pl.exceptions.PanicException) as error:
            raise self._requests[file].refuse(
                f"cannot be read after {n_read:,} rows ({first_line(error)}): fetch or write it again"
            ) from error


def _written(pa: Any, source: Any, is_file: bool) -> Iterator[Any]:
    reader = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source)
    yield from reader.schema.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], schema=reader.schema)]
    yield from (reader.get_batch(k) for k in range(reader.num_record_batches)) if is_file else reader
