"""Tables that are not in memory, to batches of rows that can be read twice: files, lazy frames, iterators."""

import glob
import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from renyi.data.files.large_text import converted
from renyi.data.files.request import Request, check_columns
from renyi.data.files.table_files import read_table
from renyi.data.notes import Source
from renyi.data.records import are_records
from renyi.errors import InputError, load

__all__ = ["Stream", "TextFiles", "as_stream", "files_of", "is_large", "is_streamed", "loaded", "text_files"]

# What a table takes in memory while its pairs are compared, for every byte of its values.
_COPIES = 8
_BYTES_OF_CELL = 8
# What gzip makes of text at most, usually, and bytes of text that are read at once at least.
_PACKED_TO, _LEAST_BLOCK = 8, 2**20
# Parts of a budget that one batch may take, of which some are under way; rows of one at most and at least.
_BATCHES, _MOST_ROWS, _FEWEST_ROWS = 48, 2**17, 1024
# Bytes of every column that Arrow reads ahead, and batches that Polars reads at once, since it skips pages anew.
_BUFFER, _BATCHES_OF_SLICE = 2**16, 2
# Names of files that a folder is read by.
_TABLES = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".tsv.gz")


class Stream(Protocol):
    """Batches of rows, read anew every time they are asked for."""

    @property
    def n_rows(self) -> int | None:
        """Rows of all batches, where that is known beforehand."""
        ...

    def batches(self) -> Iterator[Any]: ...


def is_streamed(data: Any, /) -> bool:
    """Whether a table has to be read first: a file, a lazy frame of Polars, or batches."""
    if isinstance(data, (str, os.PathLike, Iterator, TextFiles)) or _is_lazy(data):
        return True
    if isinstance(data, (list, tuple)):
        parts = bool(data) and all(hasattr(part, "columns") or isinstance(part, dict) for part in data)
        return parts and not are_records(data)
    return callable(data) and not hasattr(data, "columns") and not hasattr(data, "__array__")


def _is_lazy(data: Any) -> bool:
    return type(data).__module__.startswith("polars") and type(data).__name__ == "LazyFrame"


def loaded(data: Any, memory: int, /) -> Any:
    """The whole table where it is small beside the budget: everything is known of its rows then; else None."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    files = files_of(data)
    pl = load("polars", extra="cli")
    if not _are_parquet(files):
        if _is_large_text(files, memory):
            return None
        if len(files) == 1:
            return read_table(files[0])
        # Several files agree on their columns in the way of batches, whatever their size.
        with tempfile.TemporaryDirectory(prefix="renyi-") as folder:
            written, notes = converted(_requests(files), Path(folder), n_bytes=_bytes_of_block(memory))
            return Source(pl.concat([pl.read_parquet(file) for file in written]), notes.sentences())
    stream = _Parquet(files, memory)
    if stream.n_rows * stream.n_columns * _BYTES_OF_CELL * _COPIES > memory:
        return None
    frames = list(stream.batches())
    return pl.concat(frames) if frames else pl.DataFrame(schema=stream.schema)


def is_large(data: str, memory: int, /) -> bool:
    """Whether a name stands for many files, or for a file that is not loaded within a budget."""
    if any(mark in data for mark in "*?[") or Path(data).is_dir():
        return True
    path = Path(data)
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    if not _is_parquet(path):
        return Request.of(path).is_text and _is_large_text([path], memory)
    stream = _Parquet([path], memory)
    return stream.n_rows * stream.n_columns * _BYTES_OF_CELL * _COPIES > memory


def _is_large_text(files: Sequence[Path], memory: int) -> bool:
    sizes = [file.stat().st_size * (_PACKED_TO if file.suffix.lower() == ".gz" else 1) for file in files]
    return sum(sizes) * _COPIES > memory


def text_files(data: str, memory: int, /, **options: Any) -> "TextFiles | None":
    """The text files that a name stands for, with options of `Request.of`; None if they are Parquet."""
    files = files_of(data)
    if _are_parquet(files):
        return None
    return TextFiles(_requests(files, **options), memory)


def as_stream(data: Any, memory: int, /) -> Stream:
    """Batches that fit into a budget of so many bytes."""
    if isinstance(data, (str, os.PathLike)):
        files = files_of(data)
        if _are_parquet(files):
            return _Parquet(files, memory)
        return TextFiles(_requests(files), memory)
    if isinstance(data, TextFiles):
        return data
    if _is_lazy(data):
        return _Lazy(data, memory)
    if isinstance(data, Iterator):
        return _Spooled(data)
    return _Repeated(data if callable(data) else lambda: iter(data))


def _requests(files: Sequence[Path], **options: Any) -> dict[Path, Request]:
    return {file: Request.of(file, **options) for file in files}


def _bytes_of_block(memory: int) -> int:
    return max(_LEAST_BLOCK, memory // (4 * _COPIES))


def files_of(data: str | os.PathLike[str]) -> list[Path]:
    """The files that a name, a pattern or a folder stands for, in their order."""
    name = os.fspath(data)
    path = Path(name)
    if path.is_dir():
        # As patterns do, without hidden files, which other programs leave beside those of the user.
        found = sorted(file for file in path.glob("[!.]*") if file.name.lower().endswith(_TABLES))
    else:
        found = [path] if path.exists() else sorted(Path(file) for file in glob.glob(name, recursive=True))
    if not found:
        if path.is_dir():
            raise InputError(f"{name} is a folder without Parquet and CSV files: name another, or a file")
        if any(mark in name for mark in "*?["):
            raise InputError(f"{name} stands for no file: check the folder and the pattern")
        read_table(path)  # which says what is wrong with a name
    return found


def _are_parquet(files: Sequence[Path]) -> bool:
    kinds = {_is_parquet(file): file for file in files}
    if len(kinds) > 1:
        raise InputError(f"{kinds[True]} is Parquet and {kinds[False]} is not: name files of one kind")
    return kinds.popitem()[0]


def _is_parquet(file: Path) -> bool:
    with _open(file) as data:
        return bool(data.read(4) == b"PAR1")


@contextmanager
def _open(file: Path) -> Iterator[Any]:
    try:
        with file.open("rb") as data:
            yield data
    except OSError as error:
        raise InputError(f"{file} cannot be opened ({error.strerror}): check your rights to read it") from error


def _rows_of_batch(n_columns: int, memory: int) -> int:
    room = memory // (_BATCHES * _BYTES_OF_CELL * max(n_columns, 1))
    if room < _FEWEST_ROWS:
        enough = _FEWEST_ROWS * _BATCHES * _BYTES_OF_CELL * n_columns
        raise InputError(
            f"memory={memory:,} bytes are too few for batches of {n_columns:,} columns: pass "
            f"{-(-enough // 2**20):,}MB or more, or fewer columns at a time"
        )
    return int(min(_MOST_ROWS, room))


def _check_streams(pl: Any) -> None:
    if not hasattr(pl.LazyFrame, "collect_batches"):
        raise InputError(f"Polars {pl.__version__} cannot read in batches: install polars>=1.34")


class _Parquet:
    """Parquet files of the same columns, one after the other."""

    def __init__(self, files: Sequence[Path], memory: int) -> None:
        self._pl = load("polars", extra="cli")
        _check_streams(self._pl)
        self._files = files
        schemas, self._lengths = {}, {}
        for file in files:
            try:
                schemas[file] = self._pl.read_parquet_schema(file)
                self._lengths[file] = self._pl.scan_parquet(file).select(self._pl.len()).collect().item()
            except (Exception, self._pl.exceptions.PanicException) as error:
                raise self._broken(file, None, error) from error
        _check_schemas(schemas)
        self.schema = schemas[files[0]]
        self._rows = _rows_of_batch(self.n_columns, memory)

    @property
    def n_columns(self) -> int:
        """Columns of all files."""
        return len(self.schema)

    @property
    def n_rows(self) -> int:
        return sum(self._lengths.values())

    def batches(self) -> Iterator[Any]:
        for file in self._files:
            n_read = 0
            try:
                for rows in self._by_arrow(file) or self._by_slices(file):
                    n_read += rows.height
                    yield from rows.select(self.schema.names()).iter_slices(self._rows)
            except InputError:
                raise
            except (Exception, self._pl.exceptions.PanicException) as error:
                raise self._broken(file, n_read, error) from error
            if n_read != self._lengths[file]:
                raise InputError(
                    f"{file} has {n_read:,} rows instead of {self._lengths[file]:,}: it was changed meanwhile"
                )

    def _by_arrow(self, file: Path) -> Iterator[Any] | None:
        """Page after page, which takes half the time of slices, and no memory for the rest of a row group.

        None where Arrow is not installed, or takes a column for something else than Polars does.
        """
        try:
            import pyarrow.parquet as pq
        except ImportError:
            return None
        try:
            pages = pq.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER)
            schema = self._pl.from_arrow(pages.schema_arrow.empty_table()).schema
        except Exception:  # what is wrong with a file Polars says as well
            return None
        return self._frames(pages) if schema == self.schema else None

    def _frames(self, pages: Any) -> Iterator[Any]:
        texts = [name for name, dtype in self.schema.items() if dtype == self._pl.String]
        for batch in pages.iter_batches(self._rows):
            # Arrow takes any bytes for text, and Polars believes it.
            for name in texts:
                batch.column(name).validate(full=True)
            yield self._pl.from_arrow(batch)

    def _by_slices(self, file: Path) -> Iterator[Any]:
        """Some rows after the other: asked for all of them, Polars would read far ahead, hundreds of megabytes."""
        frame, step = self._pl.scan_parquet(file), _BATCHES_OF_SLICE * self._rows
        for start in range(0, self._lengths[file], step):
            yield frame.slice(start, step).collect(engine="streaming")

    def _broken(self, file: Path, n_read: int | None, error: BaseException) -> InputError:
        """What to say of a file that cannot be read, and where it breaks."""
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        where = _broken_group(file) if n_read is not None else ""
        return InputError(f"{file} cannot be read{where} ({reason}): fetch or write it again")


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


def _check_schemas(schemas: dict[Path, Any]) -> None:
    """Refuse files of which one has other columns or types than the first."""
    (first, known), *others = schemas.items()
    for file, schema in others:
        check_columns(file, list(schema), first, list(known))
        for name in known:
            if schema[name] != known[name]:
                raise InputError(
                    f"{name!r} is {known[name]} in {first} and {schema[name]} in {file}: give it one type in all files"
                )


class TextFiles:
    """Text files, written as Parquet into a folder of their own first; `notes` say what was decided on the way."""

    def __init__(self, requests: dict[Path, Request], memory: int) -> None:
        folder = tempfile.mkdtemp(prefix="renyi-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        files, notes = converted(requests, Path(folder), n_bytes=_bytes_of_block(memory))
        self.notes = notes.sentences()
        self._parquet = _Parquet(files, memory)

    @property
    def n_rows(self) -> int:
        return self._parquet.n_rows

    def batches(self) -> Iterator[Any]:
        return self._parquet.batches()


class _Lazy:
    """A lazy frame of Polars, collected in batches."""

    n_rows = None

    def __init__(self, frame: Any, memory: int) -> None:
        self._frame = frame
        self._pl = load("polars", extra="cli")
        _check_streams(self._pl)
        try:
            self._rows = _rows_of_batch(len(frame.collect_schema()), memory)
        except self._pl.exceptions.PolarsError as error:
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> InputError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return InputError(f"the lazy frame cannot be collected ({reason}): mend the query or its files")

    def batches(self) -> Iterator[Any]:
        try:
            yield from self._frame.collect_batches(chunk_size=self._rows, maintain_order=True)
        except (self._pl.exceptions.PolarsError, self._pl.exceptions.PanicException) as error:
            raise self._failed(error) from error


class _Repeated:
    """Batches from something that gives them as often as it is asked."""

    n_rows = None

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def batches(self) -> Iterator[Any]:
        yield from self._make()


class _Spooled:
    """Batches that come once: what is read is written to disk on the way, and read from there the second time."""

    n_rows = None

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches: Iterator[Any] | None = batches
        self._file = tempfile.TemporaryFile()  # noqa: SIM115, since it lives as long as this
        self._n_batches = 0

    def __del__(self) -> None:
        self._file.close()

    def batches(self) -> Iterator[Any]:
        if self._batches is None:
            self._file.seek(0)
            for _ in range(self._n_batches):
                yield pickle.load(self._file)
            return
        batches, self._batches = self._batches, None
        for batch in batches:
            pickle.dump(batch, self._file, protocol=5)
            self._n_batches += 1
            yield batch
        if not self._n_batches:
            raise InputError("the iterator gave no batch: pass one that was not used up already")
