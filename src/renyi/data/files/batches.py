"""Tables that are not in memory, to batches of rows that can be read twice, or loaded where they are small."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from renyi.data.files.arrow_files import ArrowFiles, is_arrow
from renyi.data.files.budget import bytes_of_block, is_small, largest_small
from renyi.data.files.decoding import unfolds_beyond
from renyi.data.files.engines import has_engine, stream_of
from renyi.data.files.large_text import converted
from renyi.data.files.parquet import Parquet, is_parquet
from renyi.data.files.places import dataset_at, files_of, is_elsewhere, is_partitioned, is_pattern, local_name
from renyi.data.files.request import Request
from renyi.data.files.streams import Folder, Lazy, Repeated, Spooled, Stream, begun
from renyi.data.files.table_files import read_table, read_whole
from renyi.data.notes import Source
from renyi.data.records import are_records
from renyi.errors import InputError

# Bytes of standard input that are copied at once.
_CHUNK = 2**20


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
        if len(files) == 1 and not is_parquet(files[0]) and not _unfolds_large(files[0], memory):
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
        return _unfolds_large(path, memory)
    return not is_small(Parquet([path], memory).n_bytes, memory)


def _unfolds_large(file: Path, memory: int) -> bool:
    """Whether a file that is not Parquet holds more than is loaded within a budget."""
    return not is_small(file.stat().st_size, memory) or unfolds_beyond(file, largest_small(memory))


def within(data: str, memory: int, /, **options: Any) -> Source | Stream:
    """What a name stands for, "-" for standard input, with options of `Request.of`: the table, or batches if large."""
    if data == "-":
        return _standard_input(memory, Request.of(None, **options))
    return _named(data, memory, **options) if is_large(data, memory) else read_table(data, **options)


def _standard_input(memory: int, request: Request) -> Source | Stream:
    """The table that standard input gives, which goes into a file first: larger ones are read more than once."""
    if sys.stdin is None:
        raise request.refuse("is closed: name a file, or send one to it")
    folder = Folder()
    file = folder.path / "input"
    with file.open("xb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, _CHUNK)
    if is_large(str(file), memory):
        return _in_files({file: request}, memory, folder)
    return read_whole(file, request)


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


def _named(name: str | os.PathLike[str], memory: int, **options: Any) -> Stream:
    files = files_of(name)
    if not files or is_partitioned(Path(local_name(name))):
        return stream_of(dataset_at(name), memory)
    return _in_files({file: Request.of(file, **options) for file in files}, memory)


def _in_files(requests: dict[Path, Request], memory: int, folder: Folder | None = None) -> Stream:
    """Batches of files of one kind, which their first bytes tell, and which may lie in a folder of their own."""
    kinds: dict[str, Path] = {}
    for file in requests:
        kinds["Parquet" if is_parquet(file) else "Arrow" if is_arrow(file) else "text"] = file
    if len(kinds) > 1:
        kind = min(kinds)
        other = next(file for other, file in kinds.items() if other != kind)
        raise InputError(f"{kinds[kind]} is {kind} and {other} is not: name files of one kind")
    if "Parquet" in kinds:
        return Parquet(list(requests), memory, requests, folder)
    return ArrowFiles(requests, memory, folder) if "Arrow" in kinds else TextFiles(requests, memory)


class TextFiles(Parquet):
    """Text files, written as Parquet into a folder of their own first."""

    def __init__(self, requests: dict[Path, Request], memory: int) -> None:
        folder = Folder()
        files, notes = converted(requests, folder.path, n_bytes=bytes_of_block(memory))
        super().__init__(files, memory, folder=folder)
        self.notes = notes.sentences()
