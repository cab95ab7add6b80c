"""Parquet files to batches of rows, page after page."""

import copy
import io
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from renyi.data.files.budget import BYTES_OF_CELL, rows_of_batch, rows_of_text
from renyi.data.files.request import Request, check_columns
from renyi.data.files.streams import Folder, Stream, check_streams, first_line
from renyi.data.files.text_types import drop_values
from renyi.errors import InputError, load

# Bytes of every column that Arrow reads ahead, and batches that Polars reads at once, since it skips pages anew.
_BUFFER, _BATCHES_OF_SLICE = 2**16, 2
# Rows of a file by which the size of the others is judged.
_FIRST_ROWS = 64
_TEXT = ("string", "large_string", "string_view")


def is_parquet(file: Path, /) -> bool:
    """Whether a file begins as Parquet does."""
    return begins_with(file, b"PAR1")


def begins_with(file: Path, /, *marks: bytes) -> bool:
    """Whether the first bytes of a file are one of these."""
    with _open(file) as data:
        return bool(data.read(max(map(len, marks))).startswith(marks))


@contextmanager
def _open(file: Path) -> Iterator[Any]:
    try:
        with file.open("rb") as data:
            yield data
    except OSError as error:
        raise InputError(f"{file} cannot be opened ({error.strerror}): check your rights to read it") from error


def pages_of(source: Any, /, buffer: int | None = None) -> Any:
    """A Parquet file of Arrow that is read page after page, so that no row group is held as a whole."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(source, pre_buffer=False, buffer_size=buffer or _BUFFER)


def validated(batch: Any, /) -> Any:
    """A batch of Arrow whose text is text: Arrow takes any bytes for it, and others believe that."""
    for column in batch.columns:
        if str(column.type) in _TEXT:
            column.validate(full=True)
    return batch


def read_parquet(pl: Any, data: bytes, /) -> Any:
    """A file in memory as a frame: by Arrow, since damaged pages can make Polars end the process."""
    _check_head(io.BytesIO(data))
    pages = _pages_by_schema(pl, io.BytesIO(data), pl.read_parquet_schema(io.BytesIO(data)))
    return pl.read_parquet(io.BytesIO(data)) if pages is None else pl.from_arrow(validated(pages.read()))


def _check_head(source: Any) -> None:
    """Raise what Arrow says of a damaged footer or first row, where Polars may panic and print a trace of its own."""
    with suppress(ImportError, NotImplementedError):
        next(pages_of(source).iter_batches(1), None)


def _pages_by_schema(pl: Any, source: Any, schema: Any) -> Any:
    """A file of Arrow; None where Arrow is not installed, or takes a column for something else than Polars does."""
    try:
        pages = pages_of(source)
        known = pl.from_arrow(pages.schema_arrow.empty_table()).schema
    except Exception:  # what is wrong with a file Polars says as well
        return None
    return pages if all(known.get(name) == dtype for name, dtype in schema.items()) else None


class Parquet(Stream):
    """Parquet files of the same columns, one after the other, in their own folder or in that of somebody else."""

    def __init__(
        self,
        files: Sequence[Path],
        memory: int,
        requests: Mapping[Path, Request] | None = None,
        folder: Folder | None = None,
    ) -> None:
        self._pl = load("polars", extra="cli")
        check_streams(self._pl)
        self._files, self._folder = files, folder
        self._requests = requests or {file: Request.of(file) for file in files}
        schemas, self._lengths = {}, dict[Path, int]()
        for file in files:
            try:
                _check_head(file)
                schemas[file] = self._pl.read_parquet_schema(file)
                self._lengths[file] = self._pl.scan_parquet(file).select(self._pl.len()).collect().item()
            except (Exception, self._pl.exceptions.PanicException) as error:
                raise self._broken(file, None, error) from error
        check_schemas(schemas)
        self._memory = memory
        self.n_rows: int = sum(self._lengths.values())
        self._take(schemas[files[0]])

    def _take(self, schema: Any) -> None:
        self.schema = schema
        self.n_cells: int = self.n_rows * len(schema)
        self._rows = rows_of_batch(len(schema), self._memory)

    def names(self) -> list[str]:
        return list(self.schema)

    def only(self, names: Sequence[str]) -> "Parquet":
        """Some columns, without reading the others."""
        part = copy.copy(self)
        part._take({name: self.schema[name] for name in names})
        return part

    def batches(self) -> Generator[Any]:
        if not self.n_rows:
            yield self._pl.DataFrame(schema=self.schema)
        for file in self._files:
            n_read, nulls = 0, self._requests[file].null_values
            try:
                for rows in self._by_arrow(file) or self._by_slices(file):
                    n_read += rows.height
                    yield from drop_values(self._pl, rows.select(self.names()), nulls).iter_slices(self._rows)
            except InputError:
                raise
            except (Exception, self._pl.exceptions.PanicException) as error:
                raise self._broken(file, n_read, error) from error
            if n_read != self._lengths[file]:
                raise self._requests[file].refuse(
                    f"has {n_read:,} rows instead of {self._lengths[file]:,}: it was changed meanwhile"
                )

    def _by_arrow(self, file: Path) -> Iterator[Any] | None:
        """Page after page, which takes half the time of slices, and no memory for the rest of a row group.

        None where Arrow is not installed, or takes a column for something else than Polars does.
        """
        pages = _pages_by_schema(self._pl, file, self.schema)
        if pages is None:
            return None
        return (self._pl.from_arrow(validated(batch)) for batch in self._read(pages, self._step(file)))

    @property
    def n_bytes(self) -> int:
        """Bytes of all cells, of text about."""
        of_text = sum(n_rows * self._bytes_of_row(file) for file, n_rows in self._lengths.items())
        return max(self.n_cells * BYTES_OF_CELL, of_text)

    def _read(self, pages: Any, n_rows: int) -> Iterator[Any]:
        """So many rows at a time of a file that Arrow has open."""
        return pages.iter_batches(n_rows, columns=self.names())  # type: ignore[no-any-return]

    def _step(self, file: Path) -> int:
        """How many rows of a file are read at once."""
        return min(self._rows, rows_of_text(self._bytes_of_row(file), self._memory))

    def _bytes_of_row(self, file: Path) -> int:
        """Bytes of the cells of a row where there is text, by the first rows of a file; else 0."""
        if not any(dtype == self._pl.String for dtype in self.schema.values()):
            return 0
        pages = _pages_by_schema(self._pl, file, self.schema)
        try:
            if pages is None:
                rows = self._pl.scan_parquet(file).select(self.names()).head(_FIRST_ROWS).collect(engine="streaming")
            else:
                rows = self._pl.from_arrow(validated(next(self._read(pages, _FIRST_ROWS))))
        except (Exception, self._pl.exceptions.PanicException):  # which who reads the file says, if it has rows
            return 0
        return int(rows.estimated_size() // max(rows.height, 1))

    def _by_slices(self, file: Path) -> Iterator[Any]:
        """Some rows after the other: asked for all of them, Polars would read far ahead, hundreds of megabytes."""
        frame, step = self._pl.scan_parquet(file).select(self.names()), _BATCHES_OF_SLICE * self._step(file)
        for start in range(0, self._lengths[file], step):
            yield frame.slice(start, step).collect(engine="streaming")

    def _broken(self, file: Path, n_read: int | None, error: BaseException) -> InputError:
        """What to say of a file that cannot be read, and where it breaks."""
        where = _broken_group(file) if n_read is not None else ""
        return self._requests[file].refuse(f"cannot be read{where} ({first_line(error)}): fetch or write it again")


def _broken_group(file: Path) -> str:
    """Which row group of a file cannot be read; nobody but Arrow tells them apart."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return ""
    try:
        groups = pq.ParquetFile(file)
    except FileNotFoundError:
        return " any more"
    except Exception:
        return ", its footer is damaged"
    for group in range(groups.num_row_groups):
        try:
            groups.read_row_group(group)
        except Exception:
            return f" in row group {group:,} of {groups.num_row_groups:,}"
    return ""


def check_schemas(schemas: dict[Path, Any]) -> None:
    """Refuse files of which one has other columns or types than the first."""
    (first, known), *others = schemas.items()
    for file, schema in others:
        check_columns(file, list(schema), first, list(known))
        for name in known:
            if schema[name] != known[name]:
                raise InputError(
                    f"{name!r} is {known[name]} in {first} and {schema[name]} in {file}: give it one type in all files"
                )
