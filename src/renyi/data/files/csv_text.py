"""Text with separators to a frame of typed columns."""

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from renyi.data.files.decoding import decode
from renyi.data.files.request import SEPARATORS, Request, check_names, looks_like_a_row, typed
from renyi.data.files.text_types import drop_values
from renyi.data.notes import Notes
from renyi.errors import count, some

# Characters that Python's reader takes for a cell at most.
_WIDEST = 2**31 - 1
_reading = threading.RLock()


@contextmanager
def _any_width() -> Iterator[None]:
    """Within, Python's reader takes cells of any width: its limit of 131,072 characters is one of the whole process."""
    with _reading:
        before = csv.field_size_limit(_WIDEST)
        try:
            yield
        finally:
            csv.field_size_limit(before)


@_any_width()
def parse_csv(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    """A frame whose columns are called by their numbers, and their names."""
    data = data.lstrip(b"\r\n")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    separator = request.separator or _find_separator(data, request)
    lines = io.BytesIO(data)
    try:
        spelled = next(csv.reader((line.decode() for line in lines), delimiter=separator))
    except csv.Error as error:
        raise request.refuse(f"has a first line that cannot be read ({error}): check its quotes") from error
    if not request.has_names:
        lines.seek(0)
        spelled = [f"column {i}" for i in range(1, len(spelled) + 1)]
    names = check_names(spelled, request)
    if request.has_names and looks_like_a_row(spelled):
        request.notes.say(
            f"the first line ({some(spelled)}) looks like a row and was read as names: if it is a row, "
            "pass --no-header, or in Python a frame with names"
        )
    body = lines.read()
    if not body.strip():
        raise request.refuse(f"has a first line of {count(len(names), 'name')} and no rows: pass a file with rows")
    skipped = data[: len(data) - len(body)].count(b"\n")
    frame = _read_cells(pl, body, request, separator=separator, width=len(names), skipped=skipped)
    frame = drop_values(pl, frame, request.null_values)
    frame = typed(pl, frame, names, request, decimal_comma=separator != ",")
    return _without_empty_rows(pl, frame, request), names


@_any_width()
def separator_of(data: bytes, request: Request, /) -> str:
    """The separator of a CSV, from its first lines."""
    quiet = replace(request, notes=Notes())
    return request.separator or _find_separator(decode(data, quiet).lstrip(b"\r\n"), quiet)


def _find_separator(data: bytes, request: Request) -> str:
    """The separator that parts the first lines into the same number of cells, and into most."""
    lines = [line.decode() for line, _ in zip(io.BytesIO(data[: 1 << 24]), range(100), strict=False)]
    if len(lines) > 2:
        lines.pop()  # which may be cut
    found: dict[str, tuple[bool, int]] = {}
    for separator in sorted(SEPARATORS, key=lambda separator: separator != "\t" or ".tsv" not in request.suffixes):
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
