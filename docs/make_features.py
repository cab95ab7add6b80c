"""Write the table of docs/how-to/scaling.md that says what works behind which door, by trying; --check compares it.

A door whose library is not installed keeps the cells that the page has.
"""

import copy
import json
import os
import pickle
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl

import renyi

PAGE = Path(__file__).parent / "how-to/scaling.md"
_START, _END = "<!-- features -->\n", "<!-- end of features -->"
_LONGEST = 160
_N = 60


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(_N)
    return pd.DataFrame(
        {
            "x": x,
            "y": x**2,
            "z": x + rng.standard_normal(_N),
            "group": np.array(list("abc"))[rng.integers(0, 3, _N)],
            "day": np.datetime64("2024-01-01", "ns") + np.arange(_N).astype("m8[D]"),
            "gaps": np.where(np.arange(_N) % 5, x, np.nan),
        }
    )


# Where rows are.


def _as_spark(frame: pd.DataFrame) -> Any:
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it has not heard of the newest pandas
        return session.createDataFrame(frame)


def _as_dask(frame: pd.DataFrame) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=2)


def _in_order() -> Any:
    import dask

    return dask.config.set(scheduler="synchronous")


def _as_tensors(frame: pd.DataFrame) -> Any:
    """Numbers as tensors of torch, beside arrays of what torch has no type for."""
    import torch

    place = "cuda" if torch.cuda.is_available() else "cpu"
    columns = {name: frame[name].to_numpy() for name in frame}
    return {name: torch.tensor(x, device=place) if x.dtype.kind == "f" else x for name, x in columns.items()}


def _as_large() -> Any:
    """However small, it is read in batches, and not loaded."""
    return patch("renyi.data.files.budget._COPIES", 2**40)


class _ElsewhereError(Exception):
    """What is asked of a device is done, but by the processor."""


@contextmanager
def _on_device() -> Iterator[None]:
    """See to it that torch does the work: a device that is the processor takes no offence at NumPy."""
    from torch.overrides import TorchFunctionMode

    seen: set[str] = set()

    class Calls(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.add(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    with Calls():
        yield
    if not seen & {"sort", "argsort", "matmul", "__matmul__", "bmm", "einsum"}:
        raise _ElsewhereError("it is done by the processor")


@dataclass(frozen=True)
class Door:
    """A place where rows can be: how a frame is put there, and which library that needs."""

    name: str
    hold: Callable[[pd.DataFrame], Any]
    needs: str = ""
    around: Callable[[], Any] = nullcontext

    @property
    def is_there(self) -> bool:
        """Whether it can be tried."""
        return not self.needs or (find_spec(self.needs) is not None and (self.needs != "pyspark" or _has_java()))

    def matrix(self, *columns: str, **options: Any) -> Any:
        """All pairs of some columns."""
        return renyi.matrix(self.hold(_frame()[list(columns)]), **options)

    def screen(self, *columns: str, **options: Any) -> Any:
        """The first of some columns against the others."""
        return renyi.screen(self.hold(_frame()[list(columns)]), columns[0], **options)

    def pairs(self, **options: Any) -> Any:
        """The strongest pairs of some numbers."""
        return renyi.pairs(self.hold(_frame()[["x", "y", "z"]]), **options)


def _has_java() -> bool:
    return shutil.which("java") is not None


DOORS = (
    Door("memory", lambda frame: frame),
    Door("files, streams", lambda frame: [pl.from_pandas(frame[:20]), pl.from_pandas(frame[20:])], around=_as_large),
    Door("Dask", _as_dask, "dask", _in_order),
    Door("Spark", _as_spark, "pyspark"),
    Door("one GPU", _as_tensors, "torch", _on_device),
)


# What is tried there.


def _tables(door: Door, *columns: str, **options: Any) -> None:
    found, screened = door.matrix("x", *columns, **options), door.screen("x", *columns, **options)
    _expect(len(found.names) > 1 and len(screened.names) > 0 and not found.skipped)


def _other(door: Door) -> None:
    frame = _frame()
    found = renyi.matrix(door.hold(frame[["x", "y"]]), door.hold(frame[["z"]]))
    _expect(found.values.shape == (2, 1))


def _named(door: Door) -> None:
    found = door.matrix("x", "y", "z", other=["z"])
    _expect(found.values.shape == (2, 1))


def _pairs(door: Door) -> None:
    for asked in ({"top": 1}, {"threshold": 0.5}, {"fdr": 0.05}):
        _expect(len(door.pairs(**asked)) > 0)


def _one_pair(door: Door) -> None:
    held = door.hold(_frame()[["x", "y"]])
    x, y = held["x"], held["y"]
    with door.around():
        _expect(renyi.rdc(x, y) > 0.9)
    with door.around():
        _expect(renyi.independence_test(x, y).pvalue < 0.01)


def _report(door: Door) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for found in (door.matrix("x", "y", "z"), door.screen("x", "y", "z")):
            written = json.loads(found.report(Path(folder) / "report.json").read_text())
            _expect(written["drawn"] == _N and len(written["columns"][0]["sample"]) == _N)


def _shown(door: Door) -> None:
    found = door.matrix("x", "y", "z")
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        _expect(np.array_equal(other.values, found.values) and str(other.top()) == str(found.top()))
        _expect(str(other.to_frame()) == str(found.to_frame()) and len(other.to_long()["x"]) == 3)


def _expect(is_so: bool) -> None:
    if not is_so:
        raise AssertionError("this works, but not as it should")


FEATURES: dict[str, Callable[[Door], None]] = {
    "`matrix`, `screen`: numbers": lambda door: _tables(door, "y", "z"),
    "categories": lambda door: _tables(door, "group", "y"),
    "dates": lambda door: _tables(door, "day", "y"),
    "gaps": lambda door: _tables(door, "gaps", "y"),
    "`vectors=`": lambda door: _expect(len(door.matrix("x", "y", "z", vectors={"v": ["x", "y"]}).names) == 2),
    "`other=` of names of columns": _named,
    "`other=` of a second table": _other,
    "`pairs`: top, threshold, rate": _pairs,
    "`rdc`, `independence_test` there": _one_pair,
    "`.report()`, pictures": _report,
    "pickling, copying, `.top`, `.to_frame`": _shown,
    "`missing='listwise'`": lambda door: _tables(door, "gaps", "y", missing="listwise"),
    "other measures": lambda door: _tables(door, "y", "z", measure="spearman"),
    "`given=`": lambda door: _expect(door.screen("x", "y", "z", given="z").names == ("y",)),
}
# A pair is in memory or on a device.
_NO_SUCH = {"`rdc`, `independence_test` there": {"files, streams", "Dask", "Spark"}}


def cell(feature: str, door: Door) -> str:
    """Whether a feature is there: "yes", or "no" with what the refusal says; "" where there is nothing to try."""
    if door.name in _NO_SUCH.get(feature, ()):
        return ""
    try:
        with door.around():
            FEATURES[feature](door)
    except (renyi.InputError, _ElsewhereError) as error:
        said = re.sub(r"\s+", " ", str(error)).replace("|", "\\|")
        return f"no: {said if len(said) <= _LONGEST else said[: _LONGEST - 1] + '…'}"
    return "yes"


# The page.

Cells = dict[str, dict[str, str]]


def tried(before: Cells) -> Cells:
    """Every cell, of doors that are not there as it was before."""
    return {
        feature: {
            door.name: cell(feature, door) if door.is_there else before.get(feature, {}).get(door.name, "not tried")
            for door in DOORS
        }
        for feature in FEATURES
    }


def as_text(cells: Cells) -> str:
    """The table, and the reasons beneath it."""
    reasons = list(dict.fromkeys(said for row in cells.values() for said in row.values() if said.startswith("no: ")))
    lines = [f"| | {' | '.join(door.name for door in DOORS)} |", f"|---|{'---|' * len(DOORS)}"]
    for feature, row in cells.items():
        told = [f"no ({reasons.index(said) + 1})" if said in reasons else said for said in row.values()]
        lines.append(f"| {feature} | {' | '.join(told)} |")
    told = [f"{k}. {reason.removeprefix('no: ')}" for k, reason in enumerate(reasons, 1)]
    return "\n".join([*lines, "", *told, *([""] if told else [])])


def as_cells(text: str) -> Cells:
    """The cells of a table that was written before."""
    reasons = dict(re.findall(r"^(\d+)\. (.*)$", text, flags=re.MULTILINE))
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    names = [name.strip() for name in rows[0][1:]] if rows else []
    return {
        row[0].strip(): {
            name: f"no: {reasons[said.strip()[4:-1]]}" if said.strip().startswith("no (") else said.strip()
            for name, said in zip(names, row[1:], strict=True)
        }
        for row in rows[2:]
    }


def written() -> tuple[str, str, str]:
    """The page before the table, the table, and the page after it."""
    before, _, rest = PAGE.read_text().partition(_START)
    table, _, after = rest.partition(_END)
    return before, table, after


if __name__ == "__main__":
    head, old, tail = written()
    known = as_cells(old)
    if "--check" in sys.argv:
        sys.exit(0 if tried(known) == known else 1)
    PAGE.write_text(head + _START + as_text(tried(known)) + _END + tail)
