"""Files to one table of typed columns, with a sentence for whatever was decided on the way."""

import difflib
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from renyi.data.exact import is_wide
from renyi.data.files.csv_text import parse_csv
from renyi.data.files.decoding import decode, unpack
from renyi.data.files.json_text import is_json, parse_json
from renyi.data.files.parquet import read_parquet
from renyi.data.files.request import BINARY, Request, renamed
from renyi.data.files.text_types import drop_values
from renyi.data.notes import Source
from renyi.errors import InputError, count, load


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    null_values: Sequence[str] = (),
    encoding: str | None = None,
    has_names: bool = True,
) -> Source:
    """A table from a file, whatever its format, and what was decided on the way.

    The content decides the format: CSV, JSON (lines, or one array of objects), Parquet or Arrow, plain or in gzip.
    Types come from all cells, and a column becomes numbers or dates only if all its observed cells are; Parquet and
    Arrow keep the types they declare. Text is UTF-8, or what a byte order mark says, and Windows-1252 for the rest.
    """
    return read_whole(Path(path), Request.of(path, separator, null_values, encoding, has_names))


def read_whole(path: Path, request: Request, /) -> Source:
    """The table of a file of which this is asked."""
    with open_bytes(path) as file:
        data = file.read()
    return Source(parse_table(unpack(data, request), request), request.notes.sentences())


def parse_table(data: bytes, request: Request, /) -> Any:
    """The table that a file holds, as a Polars frame; what was decided goes to the notes of the request."""
    pl = load("polars", extra="cli")
    try:
        frame, names = _parse(pl, data, request)
        if not frame.height:
            raise request.refuse(f"has {count(len(names), 'name')} and no rows: pass a file with rows")
        frame = _rankable(pl, frame, names, request)
        frame.columns = names
    except InputError:
        raise
    # Polars panics outside Exception; of what it says, the first line is for people.
    except (Exception, pl.exceptions.PanicException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise request.refuse(f"cannot be read as a table ({reason}): check that the file is whole") from error
    return frame


@contextmanager
def open_bytes(path: Path, /) -> Iterator[BinaryIO]:
    """A file that is there and can be read."""
    try:
        with path.open("rb") as file:
            yield file
    except InputError:  # which is a ValueError, and says already what is wrong with the content
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist: {_suggest(path)}") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder and a table is one file: name a file in it") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be opened ({reason}): check the name and your rights to read it") from error


def _suggest(path: Path) -> str:
    try:
        close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    except OSError:
        return f"there is no folder {path.parent} either, check the path"
    return (
        "did you mean " + " or ".join(str(path.with_name(name)) for name in close) + "?" if close else "check the name"
    )


def _parse(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    readers: dict[bytes, Callable[[bytes], Any]] = {
        b"PAR1": partial(read_parquet, pl),
        b"ARROW1": lambda data: pl.read_ipc(io.BytesIO(data)),
        b"\xff\xff\xff\xff": lambda data: pl.read_ipc_stream(io.BytesIO(data)),
    }
    for magic, read in readers.items():
        if data.startswith(magic):
            frame, names = renamed(read(data), request)
            return drop_values(pl, frame, request.null_values), names
    claimed = set(BINARY.intersection(request.suffixes))
    if claimed:
        raise request.refuse(
            f"is called {claimed.pop()} and is no such file: fetch it again, or rename it if it is text"
        )
    data = decode(data, request)
    return parse_json(pl, data, request) if is_json(data, request) else parse_csv(pl, data, request)


def _rankable(pl: Any, frame: Any, names: list[str], request: Request) -> Any:
    """Numbers in types of 64 bits, where these hold all of their digits, and finite."""
    for key, dtype in frame.schema.items():
        if str(dtype).startswith(("Decimal", "Int128", "UInt128")):
            column = frame[key].cast(pl.UInt64, strict=False) if "Int" in str(dtype) else frame[key].cast(pl.Float64)
            if column.null_count() > frame[key].null_count():
                column = frame[key].cast(pl.Float64)
            if column.dtype == pl.Float64:
                if is_wide(column.to_numpy(), getattr(dtype, "scale", 0)):
                    continue
                request.notes.hold(names[int(key)], f"numbers of the type {dtype}", "read as floats")
            frame = frame.with_columns(column.alias(key))
    floats = frame.select(pl.col(pl.Float32, pl.Float64))
    times = floats.select(pl.all().is_infinite().sum()).row(0) if floats.width else ()
    infinite = {key: number for key, number in zip(floats.columns, times, strict=True) if number}
    for key, number in infinite.items():
        request.notes.hold_infinite(names[int(key)], number)
    return frame.with_columns(pl.when(~pl.col(key).is_infinite()).then(pl.col(key)).alias(key) for key in infinite)
