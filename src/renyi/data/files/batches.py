"""Tables that are not in memory, to batches of rows that can be read twice, or loaded where they are small."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from renyi.data.files.budget import bytes_of_block, is_small, largest_small
from renyi.data.files.decoding import unfolds_beyond
from renyi.data.files.engines import has_engine, stream_of
from renyi.data.files.large_text import converted
from renyi.data.files.parquet import Parquet, is_parquet
from renyi.data.files.places import dataset_at, files_of, is_elsewhere, is_partitioned, is_pattern, local_name
from renyi.data.files.request import Request
from renyi.data.files.streams import Lazy, Repeated, Spooled, Stream, begun
from renyi.data.files.table_files import read_table
from renyi.data.records import are_records
from renyi.errors import InputError


def is_streamed(data: Any, /) -> bool:
    """Whether a table has to be read first: a file, a lazy frame of Polars, what an engine has, or batches."""
    if isinstance(data, (str, os.PathLike, Iterator, Stream)) or _is_lazy(data) or has_engine(data):
        return True
    if isinstance(data, (list, tuple)):
        parts = bool(data) and all(hasattr(part, "columns") or isinstance(part, dict) for part in data)
        return parts and not are_records(data)
    return callable(data) and not hasattr(data, "columns") and not hasattr(data, "__array__")


def _is_lazy(data: Any) -> bool:
    return type(data).__module__.startswith("polars") and type(data).__name__ == "LazyFrame"


def opened(data: Any, memory: int, /) -> Any:
    """The whole table where it is small beside the budget: everything is known of its rows then; else its batches."""
    if isinstance(data, (str, os.PathLike)):
        files = files_of(data)
        if len(files) == 1 and not is_parquet(files[0]) and not _is_large_text(files[0], memory):
            return read_table(files[0])
    return begun(as_stream(data, memory), memory)


def is_large(data: str, memory: int, /) -> bool:
    """Whether a name stands for many files or something elsewhere, or for a file that is not loaded within a budget."""
    path = Path(data)
    if not data or is_pattern(data) or is_elsewhere(data) or local_name(data) != data or path.is_dir():
        return True
    if not path.is_file() or not os.access(path, os.R_OK):
        return False
    if not is_parquet(path):
        return Request.of(path).is_text and _is_large_text(path, memory)
    return not is_small(Parquet([path], memory).n_bytes, memory)


def _is_large_text(file: Path, memory: int) -> bool:
    return not is_small(file.stat().st_size, memory) or unfolds_beyond(file, largest_small(memory))


def text_files(data: str, memory: int, /, **options: Any) -> "TextFiles | None":
    """The text files that a name stands for, with options of `Request.of`; None if they are Parquet."""
    files = files_of(data)
    if not files or _are_parquet(files):
        return None
    return TextFiles(_requests(files, **options), memory)


def as_stream(data: Any, memory: int, /) -> Stream:
    """Batches that fit into a budget of so many bytes."""
    if isinstance(data, Stream):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _named(data, memory)
    if _is_lazy(data):
        return Lazy(data, memory)
    if has_engine(data):
        return stream_of(data, memory)
    if isinstance(data, Iterator):
        return Spooled(data)
    return Repeated(data if callable(data) else lambda: iter(data))


def _named(name: str | os.PathLike[str], memory: int) -> Stream:
    files = files_of(name)
    if not files or is_partitioned(Path(local_name(name))):
        return stream_of(dataset_at(name), memory)
    return Parquet(files, memory) if _are_parquet(files) else TextFiles(_requests(files), memory)


def _requests(files: Sequence[Path], **options: Any) -> dict[Path, Request]:
    return {file: Request.of(file, **options) for file in files}


def _are_parquet(files: Sequence[Path]) -> bool:
    kinds = {is_parquet(file): file for file in files}
    if len(kinds) > 1:
        raise InputError(f"{kinds[True]} is Parquet and {kinds[False]} is not: name files of one kind")
    return kinds.popitem()[0]


class TextFiles(Stream):
    """Text files, written as Parquet into a folder of their own first."""

    def __init__(self, requests: dict[Path, Request], memory: int) -> None:
        folder = tempfile.mkdtemp(prefix="renyi-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        files, notes = converted(requests, Path(folder), n_bytes=bytes_of_block(memory))
        self.notes = notes.sentences()
        self._parquet = Parquet(files, memory)
        self.n_rows, self.n_cells = self._parquet.n_rows, self._parquet.n_cells

    def batches(self) -> Generator[Any]:
        return self._parquet.batches()
