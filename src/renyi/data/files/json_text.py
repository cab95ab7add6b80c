"""JSON, an array of objects or one object a line, to a frame of typed columns."""

import io
import json
from typing import Any

from renyi.data.exact import EXACT
from renyi.data.files.request import Request, renamed, typed
from renyi.data.files.text_types import drop_values, rounds
from renyi.data.names import as_names


def is_json(data: bytes, request: Request) -> bool:
    """Whether a text is JSON, by its ending or by how it begins."""
    suffixes = set(request.suffixes)
    if suffixes & {".json", ".jsonl", ".ndjson"}:
        return True
    start = b"".join(data[:256].split())
    return not suffixes & {".csv", ".tsv", ".tab"} and start.startswith((b'{"', b"[{"))


def parse_json(pl: Any, data: bytes, request: Request) -> tuple[Any, list[str]]:
    """A frame whose columns are called by their numbers, and their names."""
    array, n_lines, lines = data, 0, [data]
    if b"".join(data.split()) == b"[]":
        raise request.refuse("is an empty JSON array: pass one with an object for each row")
    rows = _by_rows(data, request)
    if rows is not None:
        data = array = rows
        request.notes.say("the JSON has an object or a list for each column, as pandas writes it: read as columns")
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
    frame, names = renamed(_in_order(frame, lines[0] if n_lines else array), request)
    frame = drop_values(pl, frame, request.null_values)
    return typed(pl, frame, names, request, decimal_comma=False), names


def _by_rows(data: bytes, request: Request) -> bytes | None:
    """An array of objects, where the file is one object of columns: of objects, of lists, or with the names apart."""
    start = data.lstrip()[:1]
    first, _, rest = data.strip().partition(b"\n")
    if start != b"{" or (rest and first.rstrip().endswith(b"}")):
        return None
    try:
        table = json.loads(data)
    except ValueError:
        return None
    if set(table) == {"columns", "index", "data"}:
        # An object would keep the last of the columns of one name.
        names = as_names(table["columns"], request.notes)
        return _array([dict(zip(names, row, strict=True)) for row in table["data"]])
    columns = list(table.values())
    if not columns or not (all(isinstance(c, dict) for c in columns) or all(isinstance(c, list) for c in columns)):
        return None
    places = [list(c) if isinstance(c, dict) else list(range(len(c))) for c in columns]
    # Objects within one row have keys of their own.
    if any(keys != places[0] for keys in places) or len(places[0]) < 2:
        return None
    return _array([{name: column[key] for name, column in table.items()} for key in places[0]])


def _array(rows: list[dict[str, Any]]) -> bytes:
    return json.dumps(rows).encode()


def _is_doubtful(pl: Any, column: Any, request: Request) -> bool:
    """Whether numbers of JSON may be wanted as they are written: as text, or since floats may have rounded them."""
    if column.name.strip() in request.as_text:
        return bool(column.dtype.is_numeric() or column.dtype == pl.Boolean)
    return bool(column.dtype.is_float() and (column.abs() >= EXACT).any())


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
