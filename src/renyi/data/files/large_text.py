"""Text files larger than memory, to Parquet files: blocks of lines, whose columns agree on their types in the end."""

import codecs
import gzip
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from renyi.data.exact import EXACT
from renyi.data.files.csv_text import separator_of
from renyi.data.files.decoding import DAMAGED, GZIP, damaged, refuse_packed
from renyi.data.files.request import Request, check_columns
from renyi.data.files.table_files import open_bytes, parse_table
from renyi.data.files.text_types import MOST_DIGITS, is_decimal_comma
from renyi.data.notes import Notes
from renyi.errors import InputError, load

_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_WHOLE = ("Int64", "UInt64")
# Digits of decimal numbers that may follow the point beside whole numbers of 64 bits.
_MOST_SCALE = 18
# Blocks that one array of JSON, or one line, may take, which is read at once: as much as of a file that is loaded.
_AT_ONCE = 4


def converted(requests: Mapping[Path, Request], folder: Path, /, *, n_bytes: int) -> tuple[list[Path], Notes]:
    """The table of text files as Parquet files of the same columns, each from so many bytes, and what was decided.

    A column has a type if all its cells do. Where blocks disagree on that, everything is read once more, with the
    column as text, or with commas between thousands; where they write numbers in different ways, it is refused.
    """
    as_text: frozenset[str] = frozenset()
    long: set[str] = set()
    decimal_comma = True
    while True:
        found = _Written(folder)
        for path, request in requests.items():
            found.add(path, replace(request, as_text=as_text, decimal_comma=decimal_comma), n_bytes)
        if decimal_comma and found.has_other_commas:
            # What a comma is follows from all blocks.
            decimal_comma = False
            continue
        found.check_styles()
        types = {name: _common(types, has_long=name in found.long) for name, types in found.types.items()}
        unsettled = frozenset(name for name, dtype in types.items() if dtype is None)
        if not unsettled:
            for name in sorted(long):
                found.notes.hold(name, "numbers with more digits than floats have beside fractions", "kept as text")
            return _conforming(found.files, types), found.notes
        as_text |= unsettled
        long |= {name for name in unsettled & found.long if all(dtype.is_numeric() for dtype in found.types[name])}


class _Written:
    """Blocks of text files as Parquet files, the types that columns have in them, and what was decided."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: list[Path] = []
        self.types: dict[str, set[Any]] = {}
        # Columns with whole numbers that floats would round.
        self.long: set[str] = set()
        self.notes = Notes()
        self._styles: dict[str, set[str]] = {}
        self._marks: set[str] = set()
        self._request: Request | None = None
        self._first: tuple[Path, frozenset[str]] | None = None

    def add(self, path: Path, request: Request, n_bytes: int) -> None:
        """Read another file."""
        # What comes out of blocks is UTF-8 already where an encoding was named.
        plain = replace(request, encoding=None)
        number, names = -1, set[str]()
        for number, (line, data) in enumerate(_Blocks(path, request, n_bytes).cut()):
            if not number:
                # One for all blocks, however their first lines look.
                plain = replace(plain, separator=separator_of(data, plain))
            own = replace(plain, notes=Notes())
            try:
                frame = parse_table(data, own)
            except InputError as error:
                where = f"; rows and lines are counted from line {line:,} on" if number else ""
                raise InputError(f"{error}{where}") from error
            self.notes.absorb(own.notes)
            self._marks |= own.notes.marks
            self._request = own
            names.update(frame.columns)
            self._note_types(frame, own)
            self.files.append(self._folder / f"{len(self.files):06}.parquet")
            frame.write_parquet(self.files[-1], compression="lz4")
        if number < 0:
            raise request.refuse("has a line of names and no rows: pass a file with rows")
        self._first = self._first or (path, frozenset(names))
        check_columns(path, names, *self._first)

    def _note_types(self, frame: Any, request: Request) -> None:
        for column in frame:
            known = self.types.setdefault(column.name, set())
            if column.null_count() < len(column):
                known.add(column.dtype)
                self._note_style(column, request.notes.styles.get(column.name))
                is_whole = column.dtype.is_integer()
                if column.dtype.is_decimal() or (is_whole and max(-column.min(), column.max()) > EXACT):
                    self.long.add(column.name)

    def _note_style(self, column: Any, style: str | None) -> None:
        # Whole numbers without any mark go with every way.
        if style is not None or column.dtype.is_float() or getattr(column.dtype, "scale", 0):
            self._styles.setdefault(column.name, set()).add(style or "decimal points")

    @property
    def has_other_commas(self) -> bool:
        """Whether commas were taken for decimal, and all blocks together show that they part thousands."""
        are_decimal = any("decimal commas" in known for known in self._styles.values())
        return "open" in self._marks and are_decimal and not is_decimal_comma(self._marks)

    def check_styles(self) -> None:
        """Refuse numbers that are written in one way here and in another one there."""
        for name, known in self._styles.items():
            if len(known) > 1 and self._request is not None:
                raise self._request.refuse(
                    f"has numbers with {' and others with '.join(sorted(known))} in column {name!r}: write them in one "
                    "way"
                )


class _Blocks:
    """A text file, some lines at a time, each block below the line of names."""

    def __init__(self, path: Path, request: Request, n_bytes: int) -> None:
        self._path, self.request, self._n_bytes = path, request, n_bytes

    def cut(self) -> Iterator[tuple[int, bytes]]:
        """Blocks of whole lines with the names above them, and the line that each begins with."""
        with self._lines() as lines:
            names = self._names(lines)
            if names is None:
                yield 1, lines.read()
                return
            line = 2 if names else 1
            while block := lines.read(self._n_bytes):
                block = self._whole_row(lines, block, line)
                yield line, names + block
                line += block.count(b"\n")

    def _whole_row(self, lines: Any, block: bytes, line: int) -> bytes:
        """A block that begins at this line, up to the end of its last row.

        That is the end of a line, unless it lies within quotes. One that stays open for long is a quote by itself, as
        in 5", or never closes, which shows when the block is parsed.
        """
        most, parts, n_more, is_open = _AT_ONCE * self._n_bytes, [block], 0, block.count(b'"') % 2
        while not parts[-1].endswith(b"\n") or (is_open and n_more < most):
            more = lines.readline(most)
            if not more:
                break
            if len(more) == most and not more.endswith(b"\n"):
                line += sum(part.count(b"\n") for part in parts)
                raise self.request.refuse(
                    f"has more than {most:,} bytes in line {line:,}: check the ends of its lines, or pass more memory"
                )
            parts.append(more)
            n_more, is_open = n_more + len(more), is_open ^ more.count(b'"') % 2
        return b"".join(parts)

    def _names(self, lines: Any) -> bytes | None:
        """The first line, nothing where every line is an object of JSON, None for an array that is read at once."""
        first = next((line for line in iter(lambda: lines.readline(self._n_bytes), b"") if line.strip()), b"")
        if not first:
            raise self.request.refuse("is empty: pass a file with a line of names and rows below it")
        refuse_packed(first, self.request)
        if first.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
            raise self.request.refuse(
                "is a Parquet or Arrow file in gzip that does not fit into memory: unpack it first, or pass more memory"
            )
        start = first.lstrip()
        if start.startswith(b"["):
            lines.seek(0)
            if len(lines.read(_AT_ONCE * self._n_bytes)) < _AT_ONCE * self._n_bytes:
                lines.seek(0)
                return None
            raise self.request.refuse(
                "is one JSON array that does not fit into memory: pass more memory, or write an object on every line"
            )
        if start.startswith(b"{") or not self.request.has_names:
            lines.seek(0)
            return b""
        first = self._whole_row(lines, first, 1)
        if first.count(b'"') % 2:
            raise self.request.refuse("opens a quote in its first line and never closes it: close or remove it")
        return first if first.endswith(b"\n") else first + b"\n"

    @contextmanager
    def _lines(self) -> Iterator[Any]:
        """The content as bytes in UTF-8, or in an encoding that has its line ends in common with it."""
        with open_bytes(self._path) as raw:
            head = raw.read(4)
            raw.seek(0)
            packed = head.startswith(GZIP)
            content: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
            encoding = self.request.encoding
            if not packed:
                encoding = encoding or next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
            try:
                yield content if encoding is None else _Recoded(content, encoding)
            except DAMAGED as error:
                raise damaged(self.request) from error
            except (LookupError, UnicodeError) as error:
                raise self.request.refuse(
                    f"cannot be read in the encoding {encoding} ({error}): pass the right one"
                ) from error


class _Recoded:
    """Bytes in UTF-8 out of text in another encoding."""

    def __init__(self, content: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(content, encoding=encoding, newline="")

    def read(self, size: int) -> bytes:
        return self._text.read(size).encode()

    def readline(self, size: int) -> bytes:
        return self._text.readline(size).encode()

    def seek(self, place: int) -> None:
        self._text.seek(place)


def _common(types: set[Any], *, has_long: bool) -> Any:
    """The type that holds all of these, None where only text does; `has_long` where floats would round some of them."""
    pl = load("polars", extra="cli")
    names = {str(dtype) for dtype in types}
    if not types:
        return pl.Float64()
    if len(types) == 1:
        return next(iter(types))
    if all(dtype.is_numeric() for dtype in types):
        return _common_number(pl, types, has_long=has_long)
    zones = {getattr(dtype, "time_zone", None) for dtype in types}
    if all(name.startswith("Datetime") for name in names) and len(zones) == 1:
        return pl.Datetime("ns", zones.pop())
    return None


def _common_number(pl: Any, types: set[Any], *, has_long: bool) -> Any:
    """The type that holds numbers of all of these with all of their digits."""
    others = [dtype for dtype in types if str(dtype) not in _WHOLE]
    if not has_long:
        return pl.Float64()
    if others and all(str(dtype) == "Int128" for dtype in others):
        return pl.Int128()
    scales = {dtype.scale if dtype.is_decimal() else None for dtype in others} or {0}
    scale = scales.pop() if len(scales) == 1 else None
    return pl.Decimal(MOST_DIGITS, scale) if scale is not None and scale <= _MOST_SCALE else None


def _conforming(files: list[Path], types: dict[str, Any]) -> list[Path]:
    """The files with all columns, in the same order and of these types."""
    pl = load("polars", extra="cli")
    for file in files:
        schema = pl.read_parquet_schema(file)
        if dict(schema) == types and list(schema) == list(types):
            continue
        frame = pl.read_parquet(file)
        columns = [
            (pl.col(name) if name in schema else pl.lit(None)).cast(dtype).alias(name) for name, dtype in types.items()
        ]
        frame.select(columns).write_parquet(file, compression="lz4")
    return files
