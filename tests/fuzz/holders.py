"""Cells in containers: one column, and whole tables, as people and libraries hold them."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import renyi

from . import cells, files
from .drawing import Draw, quietly

_NAMES = ("a", "b", "c", "d", "e")
_ODD_NAMES = (
    "",
    " a",
    "A",
    "a ",
    "x0",
    "None",
    "a, b",
    "[bold]",
    "<b>",
    "\n",
    "é",
    "long " * 40,
    "a & b",
    "=1",
    "\x1b[31m",
)
_NO_TEXT = (3, None, 2.5, ("a", 1), True, b"a", float("nan"))


def _reversed(data: Any) -> Any:
    return np.asarray(data)[::-1]


def _read_only(data: Any) -> Any:
    array = np.array(data)
    array.flags.writeable = False
    return array


def _indexed(data: Any) -> Any:
    return pd.Series(data, index=range(7, 7 + len(data)), name="a")


def _arrow(data: Any) -> Any:
    return pa.array(cells.without_numpy(data))


def _arrow_table(parts: dict[Any, Any]) -> Any:
    return pa.table({str(name): _arrow(part) for name, part in parts.items()})


# Of one column. What cannot hold the cells raises, and a list takes its place.
_COLUMNS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.asarray,
    "strided": lambda data: np.repeat(np.asarray(data), 2, axis=0)[::2],
    "reversed": _reversed,
    "read-only": _read_only,
    "objects": lambda data: np.array([*data, None], dtype=object)[:-1],
    "one column": lambda data: np.asarray(data)[:, None],
    "series": lambda data: pd.Series(data, name="a"),
    "indexed": _indexed,
    "extension": lambda data: pd.Series(data).convert_dtypes(),
    "category": lambda data: pd.Series(data).astype("category"),
    "ordered": lambda data: pd.Series(pd.Categorical(data, ordered=True)),
    "index": pd.Index,
    "pandas array": pd.array,
    "sparse": lambda data: pd.Series(pd.arrays.SparseArray(data)),
    "arrow in pandas": lambda data: pd.Series(_arrow(data), dtype=pd.ArrowDtype(_arrow(data).type)),
    "polars": lambda data: pl.Series("a", data),
    "polars category": lambda data: pl.Series("a", data, dtype=pl.Categorical),
    "polars object": lambda data: pl.Series("a", list(data), dtype=pl.Object),
    "polars 128": lambda data: pl.Series("a", data).cast(pl.Int128),
    "polars decimal": lambda data: pl.Series("a", data).cast(pl.Decimal(38, 2)),
    "polars list": lambda data: pl.Series("a", [[cell] for cell in data]),
    "polars struct": lambda data: pl.Series("a", [{"a": cell} for cell in data]),
    "arrow": _arrow,
    "chunked": lambda data: pa.chunked_array([_arrow(data)[:3], _arrow(data)[3:]]),
    "dictionary": lambda data: _arrow(data).dictionary_encode(),
    "views": lambda data: _arrow(data).cast(pa.string_view()),
    "run ends": lambda data: pa.compute.run_end_encode(_arrow(data)),
    "categorical": renyi.categorical,
    "frame": lambda data: pd.DataFrame({"a": data}),
    "polars frame": lambda data: pl.DataFrame({"a": data}),
}  # fmt: skip
_USUAL = ("list", "array", "array", "series", "polars", "arrow", "categorical")
# No columns at all, or such as can be looked at once.
_WRONG: dict[str, Callable[[Any], Any]] = {
    "None": lambda data: None,
    "number": lambda data: 3,
    "nan": lambda data: float("nan"),
    "text": lambda data: "abc",
    "bytes": lambda data: b"abc",
    "set": lambda data: set(range(len(data))),
    "dict": lambda data: dict(enumerate(data)),
    "generator": lambda data: (cell for cell in data),
    "map": lambda data: map(str, data),
    "memory": lambda data: memoryview(np.arange(len(data))),
    "deque": deque,
    "range": lambda data: range(len(data)),
    "object": lambda data: object(),
    "function": lambda data: len,
    "type": lambda data: np.ndarray,
    "module": lambda data: np,
    "scalar": lambda data: np.array(1.0),
    "empty": lambda data: [],
    "shorter": lambda data: list(data)[:-1],
    "masked": lambda data: np.ma.masked,
    "matrix": lambda data: np.asmatrix(np.arange(len(data))),
    "nested": lambda data: [list(data)],
    "lazy": lambda data: pl.LazyFrame({"a": list(range(len(data)))}),
    "arrow scalar": lambda data: pa.scalar(1),
}  # fmt: skip


def column_cells(draw: Draw, n: int, oddness: float) -> Any:
    """Values of a column, with gaps at times; the words say of what kind."""
    if draw.chance(oddness):
        kind = draw.one(cells.ODD)
        data = cells.odd(kind, draw.rng, n)
    else:
        kind = draw.one(("plain", "plain", "labels"))
        data = (cells.plain if kind == "plain" else cells.labels)(draw.rng, n)
    if draw.chance(0.2):
        kind += " with gaps"
        data = cells.with_gaps(data, draw.rng)
    draw.words.append(kind)
    return data


def column(draw: Draw, n: int, oddness: float = 0.3) -> Any:
    """A column in a container, or what is none."""
    data = column_cells(draw, n, oddness)
    if draw.chance(0.05):
        how = draw.one(tuple(_WRONG))
        draw.words.append(f"as {how}")
        return quietly(_WRONG[how], data, lambda data: None)
    how = draw.one(_USUAL) if draw.chance(0.6) else draw.one(tuple(_COLUMNS))
    draw.words.append(f"in {how}")
    return quietly(_COLUMNS[how], data, list)


def good(draw: Draw, n: int) -> Any:
    """A column that every function takes."""
    data = cells.plain(draw.rng, n)
    return quietly(_COLUMNS[draw.one(("list", "array", "series", "polars", "arrow"))], data, list)


# Tables.


def _records(parts: dict[Any, Any]) -> Any:
    return [dict(zip(parts, row, strict=True)) for row in zip(*map(list, parts.values()), strict=True)]


def _structured(parts: dict[Any, Any]) -> Any:
    arrays = [np.asarray(part) for part in parts.values()]
    return np.rec.fromarrays(arrays, names=[str(name) or "nameless" for name in parts])


def _halves(parts: dict[Any, Any]) -> list[Any]:
    frame = pd.DataFrame(parts)
    return [frame.iloc[: len(frame) // 2], frame.iloc[len(frame) // 2 :]]


def _array(parts: dict[Any, Any]) -> Any:
    return np.column_stack([np.asarray(part) for part in parts.values()])


def _duplicates(parts: dict[Any, Any]) -> Any:
    frame = pd.DataFrame(parts)
    frame.columns = ["a"] * frame.shape[1]
    return frame


def _indices(parts: dict[Any, Any]) -> Any:
    frame = pd.DataFrame(parts)
    frame.columns = pd.MultiIndex.from_arrays([["t"] * frame.shape[1], list(frame.columns)])
    return frame


def _mixed(parts: dict[Any, Any]) -> Any:
    ways = [list, np.asarray, pd.Series, pl.Series, _arrow]
    return {name: quietly(ways[k % 5], part, list) for k, (name, part) in enumerate(parts.items())}


def _relation(parts: dict[Any, Any]) -> Any:
    import duckdb

    return duckdb.from_arrow(_arrow_table(parts))


_TABLES: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "dict": dict,
    "lists": lambda parts: {name: list(part) for name, part in parts.items()},
    "mixed": _mixed,
    "pandas": pd.DataFrame,
    "converted": lambda parts: pd.DataFrame(parts).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": _arrow_table,
    "batch": lambda parts: _arrow_table(parts).to_batches()[0],
    "array": _array,
    "fortran": lambda parts: np.asfortranarray(_array(parts)),
    "structured": _structured,
    "records": _records,
    "masked": lambda parts: np.ma.masked_invalid(_array(parts)),
    "duplicates": _duplicates,
    "indices": _indices,
}  # fmt: skip
_STREAMS: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "lazy": lambda parts: pl.DataFrame(parts).lazy(),
    "iterator": lambda parts: iter(_halves(parts)),
    "dict iterator": lambda parts: iter([dict(parts)]),
    "batches": _halves,
    "function": lambda parts: partial(list, _halves(parts)),
    "reader": lambda parts: _arrow_table(parts).to_reader(3),
    "relation": _relation,
    "polars object iterator": lambda parts: iter([pl.DataFrame({k: list(v) for k, v in parts.items()})]),
}  # fmt: skip
_NO_TABLES: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "None": lambda parts: None,
    "number": lambda parts: 3,
    "text": lambda parts: "no such file",
    "nul": lambda parts: "a\0b",
    "nothing": lambda parts: {},
    "list": lambda parts: [],
    "names": lambda parts: ["a", "b"],
    "column": lambda parts: next(iter(parts.values()), []),
    "rows": lambda parts: [[1, 2], [3, 4]],
    "cube": lambda parts: np.zeros((3, 3, 3)),
    "sparse": lambda parts: __import__("scipy.sparse").sparse.csr_matrix(np.eye(5)),
    "functions": lambda parts: lambda: None,
    "wants": lambda parts: lambda rows: [rows],
    "object": lambda parts: object(),
    "type": lambda parts: dict,
    "iterator": lambda parts: iter([3, None]),
    "empty": lambda parts: iter([]),
    "uneven": lambda parts: {"a": [1, 2, 3], "b": [1, 2]},
    "uneven batches": lambda parts: iter([{"a": [1, 2], "b": [2, 1]}, {"a": [1, 2]}]),
    "scalars": lambda parts: {"a": 1, "b": 2},
    "wrong": lambda parts: {name: (cell for cell in part) for name, part in parts.items()},
    "empty frame": lambda parts: pd.DataFrame(),
}  # fmt: skip


def names_of(draw: Draw, n_columns: int) -> list[Any]:
    """Names of columns, mostly plain."""
    names: list[Any] = list(_NAMES[:n_columns])
    if draw.chance(0.15) and names:
        names[int(draw.rng.integers(n_columns))] = draw.one(_ODD_NAMES if draw.chance(0.7) else _NO_TEXT)
    return names


def parts(draw: Draw, n: int, oddness: float) -> dict[Any, Any]:
    """Named columns of a table."""
    n_columns = draw.one((2, 3, 3, 4, 4, 5) if draw.chance(0.95) else (0, 1))
    return {name: column_cells(draw, n, oddness) for name in names_of(draw, n_columns)}


def table(draw: Draw, n: int, oddness: float = 0.15, *, streamed: float = 0.12) -> tuple[Any, list[str]]:
    """A table in a container, or what is none, and names of its columns."""
    made = parts(draw, n, oddness)
    names = [str(name) for name in made]
    if draw.chance(0.04):
        how = draw.one(tuple(_NO_TABLES))
        draw.words.append(f"as {how}")
        return quietly(_NO_TABLES[how], made, lambda made: None), names
    if draw.chance(0.08):
        return files.table_file(draw, made), names
    if draw.chance(0.05):
        draw.words.append("of columns in containers")
        return {name: column(draw, n, oddness) for name in made}, names
    how = draw.one(tuple(_STREAMS)) if draw.chance(streamed) else draw.one(tuple(_TABLES))
    draw.words.append(f"in {how}")
    held = quietly((_TABLES | _STREAMS)[how], made, dict)
    return held, [f"x{k}" for k in range(len(names))] if how in ("array", "fortran", "masked") else names


def frame(draw: Draw, n: int) -> tuple[Any, list[str]]:
    """A frame of pandas or Polars."""
    made, library = parts(draw, n, 0.1), draw.one((pd.DataFrame, pl.DataFrame))
    return quietly(library, made, lambda made: library({"a": range(n), "b": range(n)})), [str(name) for name in made]


def good_table(draw: Draw, n: int) -> tuple[Any, list[str]]:
    """A table that every function takes."""
    made = {name: cells.plain(draw.rng, n) for name in _NAMES[:3]} | {"d": cells.labels(draw.rng, n)}
    return quietly(draw.one((dict, pd.DataFrame, pl.DataFrame, pa.table)), made, dict), list(made)
