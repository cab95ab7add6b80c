"""Files to one table of typed columns, with a sentence for whatever was decided on the way."""

import codecs
import csv
import difflib
import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from renyi.data.exact import EXACT, is_wide
from renyi.data.files.text_types import Notes, drop_values, rounds, type_columns
from renyi.errors import InputError, count, load

__all__ = ["Request", "Source", "open_bytes", "parse_table", "read_table", "refuse_packed", "separator_of"]

# A name, a cast and a cleaning for each column: beyond this a header is a mistake, or a table on its side.
_MOST_COLUMNS = 100_000
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_BINARY = frozenset({".parquet", ".pq", ".arrow", ".feather", ".ipc"})
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32), 127])


@dataclass(frozen=True, eq=False)
class Source:
    """A table read from a file: a Polars frame, and one sentence for each thing that was decided or repaired."""

    frame: Any
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """What the user asked for, and how messages name it."""

    name: str
    suffixes: tuple[str, ...]
    separator: str | None
    null_values: tuple[str, ...]
    encoding: str | None
    notes: Notes = field(default_factory=Notes)
    # Columns that stay text whatever their cells look like.
    as_text: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        path: str | Path,
        separator: str | None = None,
        null_values: Sequence[str] = (),
        encoding: str | None = None,
    ) -> "Request":
        """For a file, or standard input where that is "-"."""
        plain = str(path) == "-"
        return cls(
            "standard input" if plain else str(path),
            () if plain else tuple(suffix.lower() for suffix in Path(path).suffixes),
            _check_separator(separator),
            tuple(null_values),
            encoding,
        )

    @property
    def is_text(self) -> bool:
        """Whether the name claims to be of a text file."""
        return not _BINARY.intersection(self.suffixes)

    def refuse(self, why: str) -> InputError:
        return InputError(f"{self.name} {why}")


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    null_values: Sequence[str] = (),
    encoding: str | None = None,
) -> Source:
    """Read a table from a file, whatever its format, and say what was decided on the way.

    The content decides the format, the types come from all cells, and a column becomes numbers or dates only if all
    its observed cells are. Parquet and Arrow keep the types they declare.

    Parameters
    ----------
    path : str or Path
        CSV with any of the separators ``, ; tab |``, JSON (lines, or one array of objects), Parquet or Arrow (Feather),
        plain or in gzip. ``"-"`` is standard input.
    separator : str, optional
        The character between the cells of a CSV; by default it is found.
    null_values : sequence of str
        Cells that mean "missing", beside empty ones, NA and its like.
    encoding : str, optional
        The encoding of a CSV or JSON; by default UTF-8 or what a byte order mark says, and Windows-1252 for the rest.

    Returns
    -------
    Source
        The table as a Polars frame, and the notes.

    Raises
    ------
    InputError
        If the file cannot be read as a table; the message says where and what to do.
    """
    request = Request.of(path, separator, null_values, encoding)
    if str(path) == "-":
        if sys.stdin is None:
            raise request.refuse("is closed: name a file, or send one to it")
        data = sys.stdin.buffer.read()
    else:
        with open_bytes(Path(path)) as file:
            data = file.read()
    return Source(parse_table(_unpack(data, request), request), request.notes.sentences())


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


def _check_separator(separator: str | None) -> str | None:
    if separator is None:
        return None
    known = {"\\t": "\t"} | {name: character for character, name in _SEPARATORS.items()}
    separator = known.get(separator, separator)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise InputError(
            f"the separator {separator!r} cannot part cells: pass one ASCII character, such as ',' ';' '|' or 'tab'"
        )
    return separator


# Bytes.


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


def _unpack(data: bytes, request: Request) -> bytes:
    """The content, out of gzip where it is in it."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise request.refuse("is a gzip file cut short or damaged: fetch it again") from error
    refuse_packed(data, request)
    if not data.strip():
        raise request.refuse("is empty: pass a file with a line of names and rows below it")
    return data


def refuse_packed(data: bytes, request: Request, /) -> None:
    """Refuse what begins like a file of another program for packing."""
    for magic, packing in _PACKED.items():
        if data.startswith(magic):
            hint = ", or save the sheet as CSV if it is an Excel file" if packing == "zip" else ""
            raise request.refuse(f"is packed by {packing}, which is not read here: unpack it first{hint}")


def _decode(data: bytes, request: Request) -> bytes:
    """The text in UTF-8, without byte order mark."""
    encoding = request.encoding or next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if encoding is not None:
        try:
            data = data.decode(encoding).removeprefix("\ufeff").encode()
        except (LookupError, ValueError) as error:
            raise request.refuse(f"cannot be read in the encoding {encoding} ({error}): pass the right one") from error
    _refuse_binary(data, request)
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text, known = _decode_western(data)
        where = f"byte {error.start + 1:,}"
        request.notes.say(
            f"the text is not UTF-8 ({where}): read as {known}, pass another encoding if letters look wrong"
        )
        return text.encode()
    return data


def _decode_western(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Latin-1"


def _refuse_binary(data: bytes, request: Request) -> None:
    first = data.find(0)
    if first >= 0:
        raise request.refuse(
            f"holds a NUL byte (byte {first + 1:,}), which no text has: the file is binary or damaged, or in an "
            "encoding to be named, such as utf-16-le"
        )
    head = data[:8192]
    if len(head) - len(head.translate(None, delete=_CONTROLS)) > len(head) // 100:
        raise request.refuse("is no text and no Parquet or Arrow file: pass one of these, or CSV or JSON")


# Formats. Each reader gives columns called 0, 1, … and their names: no name can then trip an expression.


def _parse(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    readers = {b"PAR1": pl.read_parquet, b"ARROW1": pl.read_ipc, b"\xff\xff\xff\xff": pl.read_ipc_stream}
    for magic, read in readers.items():
        if data.startswith(magic):
            frame, names = _renamed(read(io.BytesIO(data)), request)
            return drop_values(pl, frame, request.null_values), names
    claimed = set(_BINARY.intersection(request.suffixes))
    if claimed:
        raise request.refuse(
            f"is called {claimed.pop()} and is no such file: fetch it again, or rename it if it is text"
        )
    data = _decode(data, request)
    return _parse_json(pl, data, request) if _is_json(data, request) else _parse_csv(pl, data, request)


def _renamed(frame: Any, request: Request) -> tuple[Any, list[str]]:
    names = _check_names(frame.columns, request)
    frame.columns = [str(i) for i in range(len(names))]
    return frame, names


def _check_names(spelled: Sequence[str], request: Request) -> list[str]:
    """The names without white space around them, each once."""
    if len(spelled) > _MOST_COLUMNS:
        raise request.refuse(
            f"has {len(spelled):,} columns, and more than {_MOST_COLUMNS:,} are not read: check the separator, or turn "
            "the table on its side"
        )
    names = [name.strip() or f"column {i}" for i, name in enumerate(spelled, 1)]
    unnamed = [name for name, before in zip(names, spelled, strict=True) if not before.strip()]
    if unnamed:
        request.notes.say(f"{count(len(unnamed), 'column')} without a name: called {_some(unnamed)}")
    known: dict[str, list[str]] = {}
    for name, before in zip(names, spelled, strict=True):
        known.setdefault(name, []).append(before)
    twice = [" and ".join(map(repr, same)) for same in known.values() if len(same) > 1]
    if twice:
        hint = ", and add a first line of names if there is none" if _all_numbers(names) else ""
        raise request.refuse(f"has columns of the same name ({'; '.join(twice[:5])}): give each its own{hint}")
    return names


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _all_numbers(names: Sequence[str]) -> bool:
    try:
        return all(float(name) is not None for name in names)
    except ValueError:
        return False


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


# JSON.


def _is_json(data: bytes, request: Request) -> bool:
    suffixes = set(request.suffixes)
    if suffixes & {".json", ".jsonl", ".ndjson"}:
        return True
    start = b"".join(data[:256].split())
    return not suffixes & {".csv", ".tsv", ".tab"} and start.startswith((b'{"', b"[{"))


def _parse_json(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    array, n_lines, lines = data, 0, [data]
    if b"".join(data.split()) == b"[]":
        raise request.refuse("is an empty JSON array: pass one with an object for each row")
    if not data.lstrip().startswith(b"["):
        lines = [line for line in data.split(b"\n") if line.strip()]
        # One reader for both forms, since it takes its types from all rows in every version of Polars.
        array, n_lines = b"[" + b",".join(lines) + b"]", len(lines)
    try:
        frame = pl.read_json(io.BytesIO(array), infer_schema_length=None)
        doubtful = {column.name: pl.String for column in frame if _is_doubtful(pl, column, request)}
        if doubtful:
            texts = pl.read_json(io.BytesIO(array), infer_schema_length=None, schema_overrides=doubtful)
            frame = frame.with_columns(
                texts[name] for name in doubtful if name.strip() in request.as_text or rounds(texts[name])
            )
    except (Exception, pl.exceptions.PanicException) as error:
        _find_broken(data, n_lines > 0, request)
        reason = (str(error).splitlines() or [""])[0]
        raise request.refuse(f"holds JSON that makes no table ({reason}): give each key values of one type") from error
    if n_lines not in (0, frame.height):
        _find_broken(data, True, request)
    frame, names = _renamed(_in_order(frame, lines[0] if n_lines else array), request)
    frame = drop_values(pl, frame, request.null_values)
    return _typed(pl, frame, names, request, decimal_comma=False), names


def _is_doubtful(pl: Any, column: Any, request: Request) -> bool:
    """Whether numbers of JSON may be wanted as they are written: as text, or since floats may have rounded them."""
    if column.name.strip() in request.as_text:
        return bool(column.dtype.is_numeric() or column.dtype == pl.Boolean)
    return bool(column.dtype.is_float() and (column.abs() >= EXACT).any())


def _typed(pl: Any, frame: Any, names: list[str], request: Request, *, decimal_comma: bool) -> Any:
    kept = frozenset(str(i) for i, name in enumerate(names) if name in request.as_text)
    return type_columns(pl, frame, names, request.notes, decimal_comma=decimal_comma, as_text=kept)


def _find_broken(data: bytes, by_line: bool, request: Request) -> None:
    """Refuse the first line that is no JSON object, or the place where an array breaks."""
    for number, line in enumerate(data.split(b"\n") if by_line else [data], 1):
        try:
            value = json.loads(line, parse_constant=_refuse_constant) if line.strip() else {}
        except ValueError as error:
            place = number if by_line else getattr(error, "lineno", 1)
            reason = getattr(error, "msg", error)
            raise request.refuse(f"has broken JSON in line {place:,} ({reason}): mend or remove it") from error
        rows = [value] if by_line else value
        if not all(isinstance(row, dict) for row in rows):
            place = f"line {number:,}" if by_line else "its array"
            raise request.refuse(f"holds something else than objects in {place}: give an object for each row")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON, null is")


def _in_order(frame: Any, data: bytes) -> Any:
    """The columns in the order of the first object, then the others; Polars gives many keys in a random order."""
    first, _ = json.JSONDecoder().raw_decode(data.decode().lstrip().removeprefix("[").lstrip())
    known = [key for key in first if key in frame.columns] if isinstance(first, dict) else []
    return frame.select(*known, *sorted(set(frame.columns) - set(known)))


# CSV.


def _parse_csv(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    data = data.lstrip(b"\r\n")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    separator = request.separator or _find_separator(data, request)
    lines = io.BytesIO(data)
    try:
        spelled = next(csv.reader((line.decode() for line in lines), delimiter=separator))
    except csv.Error as error:
        raise request.refuse(f"has a first line that cannot be read ({error}): check its quotes") from error
    names = _check_names(spelled, request)
    if _all_numbers(names):
        request.notes.say(f"the first line holds only numbers ({_some(names)}): it was read as names, not as a row")
    body = lines.read()
    if not body.strip():
        raise request.refuse(f"has a first line of {count(len(names), 'name')} and no rows: pass a file with rows")
    skipped = data[: len(data) - len(body)].count(b"\n")
    frame = _read_cells(pl, body, request, separator=separator, width=len(names), skipped=skipped)
    frame = drop_values(pl, frame, request.null_values)
    frame = _typed(pl, frame, names, request, decimal_comma=separator != ",")
    return _without_empty_rows(pl, frame, request), names


def separator_of(data: bytes, request: Request, /) -> str:
    """The separator of a CSV, from its first lines."""
    quiet = replace(request, notes=Notes())
    return request.separator or _find_separator(_decode(data, quiet).lstrip(b"\r\n"), quiet)


def _find_separator(data: bytes, request: Request) -> str:
    """The separator that parts the first lines into the same number of cells, and into most."""
    lines = [line.decode() for line, _ in zip(io.BytesIO(data[: 1 << 24]), range(100), strict=False)]
    if len(lines) > 2:
        lines.pop()  # which may be cut
    found: dict[str, tuple[bool, int]] = {}
    for separator in sorted(_SEPARATORS, key=lambda separator: separator != "\t" or ".tsv" not in request.suffixes):
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            continue
        if widths[0] > 1:
            found[separator] = (len(set(widths)) == 1, widths[0])
    if found:
        return max(found, key=lambda separator: found[separator])
    request.notes.say("the first line holds no comma, semicolon, tab or pipe: read as one column")
    return "\x1f"


def _read_cells(pl: Any, body: bytes, request: Request, *, separator: str, width: int, skipped: int) -> Any:
    """All cells as text. Short rows, which Polars fills up in silence, are refused."""
    settings = {"has_header": False, "separator": separator, "schema": {str(i): pl.String for i in range(width)}}
    n_quotes = body.count(b'"')
    if n_quotes % 2:
        _refuse_open_quote(body, separator, request)
    try:
        frame = pl.read_csv(body, **settings)
    except (Exception, pl.exceptions.PanicException):
        # Rows too long, or quotes that Polars takes amiss: Python's reader is slow and forgiving.
        tidy = io.StringIO()
        csv.writer(tidy, lineterminator="\n").writerows(_rows(body, separator, width, request, skipped))
        return pl.read_csv(tidy.getvalue().encode(), **settings | {"separator": ","})
    doubtful = frame[:, -1].null_count() > 0 and width > 1
    if doubtful and not n_quotes:
        doubtful = body.count(separator.encode()) != frame.height * (width - 1)
    if doubtful:
        for _ in _rows(body, separator, width, request, skipped):
            pass
    return frame


def _refuse_open_quote(body: bytes, separator: str, request: Request) -> None:
    """Refuse a quote that swallows the rest of the file; lone quotes inside cells are fine."""
    number = 1
    try:
        for _ in csv.reader(io.TextIOWrapper(io.BytesIO(body), "utf-8", newline=""), delimiter=separator, strict=True):
            number += 1
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise request.refuse(f"opens a quote in row {number:,} and never closes it: close or remove it") from error


def _rows(body: bytes, separator: str, width: int, request: Request, skipped: int) -> Iterator[list[str]]:
    """The rows by Python's reader, each of the right width; `skipped` lines came before them."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(body), "utf-8", newline=""), delimiter=separator)
    number, start = 0, skipped + 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                number += 1
                if len(row) != width:
                    raise request.refuse(_ragged(row, number, start, width))
                yield row
            start = skipped + reader.line_num + 1
    except csv.Error as error:
        raise request.refuse(f"breaks at row {number + 1:,} (line {start:,}, {error}): check its quotes") from error


def _ragged(row: list[str], number: int, line: int, width: int) -> str:
    quotes = ", and a quote opened there may never close" if any("\n" in cell for cell in row) else ""
    return (
        f"has {count(len(row), 'cell')} in row {number:,} (line {line:,}) and {count(width, 'name')} in its first line"
        f"{quotes}: mend that row, or check the separator"
    )


def _without_empty_rows(pl: Any, frame: Any, request: Request) -> Any:
    if min(frame.null_count().row(0)) == 0:
        return frame
    kept = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if kept.height < frame.height:
        request.notes.say(f"{count(frame.height - kept.height, 'row')} without any value: left out")
    return kept
