"""Command lines, made in this process as the program makes them."""

import io
import os
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from renyi.__main__ import main

from . import files, holders
from .drawing import Call, Draw, about

_WORDS = (
    "",
    " ",
    "a",
    "b",
    "no such",
    "-",
    "--",
    "-1",
    "0",
    "1",
    "3",
    "1e400",
    "nan",
    "9" * 400,
    "é",
    "1GB",
    "50MB",
    "x=y",
    "\x1b[31m",
    "*",
    "[",
)
# Options with what they take; None for a flag.
_OPTIONS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "scan": {
        "--target": ("a", "b"), "--given": ("b", "c"), "--measure": ("pearson", "xi", "kendall", "rdc"),
        "--fdr": ("0.05", "1"),
        "--top": ("1", "5"), "--csv": ("-", "FILE"), "--html": ("FILE",), "--json": None, "--fail-on": ("pairs", "any"),
        "--least": ("0.1", "1"), "--unfold": None, "--time": ("a",), "--in-order": None, "--groups": ("d",),
        "--exchange": ("within", "whole"), "--detrend": ("linear", "difference"), "--period": ("2", "7"),
        "--any-order": None,
        "--missing": ("pairwise", "listwise", "raise"), "--memory": ("1GB", "1MB", "300KB"), "--sample": ("0", "10"),
        "--max-levels": ("2", "50"), "--sep": (",", ";", "tab"), "--null": ("1", "up"),
        "--encoding": ("utf-8", "latin-1"),
        "--no-header": None, "--type": ("a=number", "d=category", "a=skip", "d=a<b<c"), "--debug": None,
    },
    "pair": {
        "--given": ("c",), "--plot": ("FILE.png", "FILE.svg"), "--time": ("c",), "--in-order": None, "--groups": ("d",),
        "--detrend": ("linear",), "--period": ("2",), "--json": None, "--memory": ("1MB", "10KB"), "--sep": (",",),
        "--null": ("1",),
        "--no-header": None,
        "--type": ("a=category",),
    },
    "compare": {
        "--by": ("d",), "--against": ("previous", "others"), "--fdr": ("0.1",), "--top": ("2",), "--html": ("FILE",),
        "--json": None, "--fail-on": ("columns", "pairs", "any"), "--least": ("0.2",), "--memory": ("1MB",),
        "--sample": ("10",),
        "--sep": (",",), "--null": ("1",), "--no-header": None, "--type": ("a=category",),
    },
    "lags": {
        "--max-lag": ("1", "3"), "--time": ("c",), "--target": ("a",), "--groups": ("d",), "--detrend": ("linear",),
        "--period": ("2",), "--fdr": ("0.1",), "--top": ("2",), "--csv": ("-", "FILE"), "--html": ("FILE",),
        "--json": None,
        "--sep": (",",), "--no-header": None, "--type": ("a=category",),
    },
}  # fmt: skip


def _options(draw: Draw, command: str) -> list[str]:
    chosen = []
    for option in draw.some(list(_OPTIONS[command]), draw.one((0, 1, 2, 4))):
        values = _OPTIONS[command][option]
        chosen.append(option)
        if values is not None:
            said = draw.one(values) if draw.chance(0.75) else draw.one(_WORDS)
            chosen.append(said.replace("FILE", str(draw.file(".html"))))
    return chosen


@about("renyi", weight=6)
def _line(draw: Draw) -> Call:
    command = (
        draw.one(tuple(_OPTIONS))
        if draw.chance(0.97)
        else draw.one(("", "nothing", "--version", "--help", "scan --help"))
    )
    n = draw.rows() if command != "lags" else 55
    file = str(files.table_file(draw, holders.parts(draw, n, 0.1), 0.3))
    if draw.chance(0.05):
        file = draw.one((*_WORDS, str(draw.folder)))
    known = {
        "pair": [draw.one(("a", "b", "x")), draw.one(("b", "c", "d"))],
        "compare": [str(files.table_file(draw, holders.parts(draw, n, 0.1), 0.3))] if draw.chance(0.7) else [],
        "lags": ["--max-lag", "3"],
    }
    line = [*command.split(), file, *known.get(command, []), *(_options(draw, command) if command in _OPTIONS else [])]
    content = b""
    if os.path.isfile(file) and draw.chance(0.2):
        content, line = Path(file).read_bytes(), ["-" if part == file else part for part in line]
    return Call(f"renyi {' '.join(line)}", lambda: run_line(line, content), settled=False)


def run_line(line: list[str], content: bytes = b"") -> Any:
    """What a command line says: an exit code that is meant, and one line on standard error where it is refused."""
    before = signal.getsignal(signal.SIGPIPE)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", ["renyi", *line]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(content))),
    ):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as end:
            code = end.code
        finally:
            signal.signal(signal.SIGPIPE, before)
    said = err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
    assert code in (0, None, 2, 3), f"exit code {code}: {said}"
    if code == 2:
        last = said.strip().splitlines()[-1:]
        assert last, "refused in silence"
        assert last[0].startswith("renyi: "), f"refused with {said!r}"
        assert "--debug" in line or "Traceback" not in said, said
    return code
