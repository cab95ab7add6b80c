"""Tables in files, many of them damaged, and files that are none."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from . import cells
from .drawing import Draw, quietly

_TEXTS = (
    b"", b"\n", b"a", b"a,b\n", b"a,b\n1,2\n", b"a,b\n1,2\n3\n", b"a;b\n1,5;2\n2,5;3\n3,5;9\n", b"\xff\xfea\x00",
    b"\x00" * 50,
    b'a,b\n"1,2\n3,4\n', b"[]", b"{}", b'[{"a": 1}, {"b": 2}]', b'{"a": [1, 2', b"null", b"[1, 2]", b"PAR1",
    b"ARROW1\x00\x00",
    b"\x1f\x8b", b"PK\x03\x04", b"a,a\n1,2\n3,5\n4,4\n", b",\n1,2\n2,3\n", b"a,b\r1,2\r3,4\r",
    b"\xef\xbb\xbfa,b\n1,2\n2,9\n", b"a b\n",
)  # fmt: skip
_SUFFIXES = (".csv", ".tsv", ".txt", ".json", ".ndjson", ".parquet", ".arrow", ".csv.gz", "", ".xlsx")


def _written(draw: Draw, frame: Any, suffix: str) -> Path:
    path = draw.file(suffix)
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".arrow":
        frame.write_ipc(path)
    elif suffix == ".json":
        path.write_text(json.dumps(frame.to_dicts(), default=str))
    elif suffix == ".ndjson":
        frame.write_ndjson(path)
    else:
        text = frame.write_csv(separator=draw.one(",;\t|") if draw.chance(0.3) else ",").encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    return path


def _cells(part: Any) -> Any:
    """Cells as Arrow has them, or as text."""
    try:
        return pa.array(cells.without_numpy(part))
    except Exception:
        return [str(cell) for cell in part]


def _damaged(draw: Draw, content: bytes) -> bytes:
    """Cut, with other bytes, with a part twice, or with something before or after."""
    if not content:
        return b"\x00"
    at = int(draw.rng.integers(len(content)))
    changed = bytearray(content)
    for k in draw.rng.integers(0, len(content), 3):
        changed[k] = draw.rng.integers(256)
    return draw.one((
        content[:at],
        bytes(changed),
        content[:at] + bytes(draw.rng.integers(0, 256, 5, dtype=np.uint8)) + content[at:],
        content[:at] + content,
        draw.one(_TEXTS) + content,
        content + draw.one(_TEXTS),
        content[:at] + bytes(len(content) - at),
    ))  # fmt: skip


def table_file(draw: Draw, parts: dict[Any, Any], damage: float = 0.5) -> Any:
    """A file with these columns, whole or damaged, or another one; by its name or as a Path."""
    suffix = draw.one(_SUFFIXES[:8])

    def write(parts: dict[Any, Any]) -> Path:
        return _written(
            draw, pl.from_arrow(pa.table({str(name): _cells(part) for name, part in parts.items()})), suffix
        )

    path = quietly(write, parts, lambda parts: draw.file(draw.one(_SUFFIXES)))
    if not path.exists():
        path.write_bytes(draw.one(_TEXTS))
    if draw.chance(damage):
        path.write_bytes(_damaged(draw, path.read_bytes()))
    if draw.chance(0.05):
        path = path.rename(draw.file(draw.one(_SUFFIXES)))
    draw.words.append(f"file {path.name}")
    return draw.one((str(path), path, str(path.parent / f"*{path.suffix}")) if draw.chance(0.2) else (str(path), path))
