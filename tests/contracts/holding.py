"""How libraries hold a table, and a pair the columns of one."""

import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from contracts.tables import Column, Table
from spark_session import spark_session

_NUMPY = {
    "number": "f8",
    "single": "f4",
    "whole": "i8",
    "flag": "?",
    "label": "O",
    "spelled": "O",
    "moment": "M8[us]",
    "nanosecond": "M8[ns]",
    "span": "m8[us]",
}
_ARROW = {
    "number": pa.float64(),
    "single": pa.float32(),
    "whole": pa.int64(),
    "flag": pa.bool_(),
    "label": pa.string(),
    "spelled": pa.string(),
    "moment": pa.timestamp("us"),
    "nanosecond": pa.timestamp("ns"),
    "span": pa.duration("us"),
}


def as_arrow(table: Table) -> pa.Table:
    return pa.Table.from_arrays([_arrow_array(column) for column in table.columns.values()], list(table.columns))


def _arrow_array(column: Column) -> Any:
    if column.kind != "ordered":
        return pa.array(column.cells, _ARROW[column.kind])
    codes = pa.array([None if cell is None else column.levels.index(cell) for cell in column.cells], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, list(column.levels), ordered=True)


def as_polars(table: Table) -> pl.DataFrame:
    return pl.from_arrow(as_arrow(table))


def as_pandas(table: Table) -> pd.DataFrame:
    return pd.DataFrame({name: as_series(column) for name, column in table.columns.items()})


def as_series(column: Column) -> pd.Series:
    if column.kind == "ordered":
        return pd.Series(pd.Categorical(column.cells, categories=column.levels, ordered=True))
    nullable = {"whole": "Int64", "flag": "boolean"} if column.has_gaps else {}
    return pd.Series(column.cells, dtype=nullable.get(column.kind, _NUMPY[column.kind]))


def as_dict(table: Table) -> dict[str, Any]:
    """Arrays, and lists with None where NumPy has no missing value of the type."""
    return {
        name: column.cells
        if column.kind in ("label", "spelled") or (column.has_gaps and column.kind in ("whole", "flag"))
        else np.array(column.cells, dtype=_NUMPY[column.kind])
        for name, column in table.columns.items()
    }


def as_array(table: Table) -> Any:
    """A matrix, which has no names."""
    columns = list(as_dict(table).values())
    return np.column_stack(columns) if columns else np.empty((9, 0))


def as_records(table: Table) -> Any:
    """An array with named fields, which hold text of a fixed width."""
    columns = {name: np.array(cells) for name, cells in as_dict(table).items()}
    records = np.empty(table.n_rows, dtype=[(name, cells.dtype) for name, cells in columns.items()])
    for name, cells in columns.items():
        records[name] = cells
    return records


def in_batches(table: Table, hold: Callable[[Table], Any]) -> list[Any]:
    """Rows cut unevenly: some, one alone, none, and the rest."""
    edges = [0, table.n_rows // 3, table.n_rows // 3 + 1, table.n_rows // 3 + 1, table.n_rows]
    return [hold(table.rows(start, stop)) for start, stop in pairwise(edges)]


def as_dataset(table: Table, folder: Path) -> Any:
    """Files of Parquet, some rows each."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    for k, rows in enumerate(in_batches(table, as_arrow)):
        pq.write_table(rows, folder / f"{k}.parquet")
    return ds.dataset(folder)


def as_relation(table: Table) -> Any:
    import duckdb

    if not table.columns:
        pytest.skip("there is no such table in SQL")
    return duckdb.connect().from_arrow(as_arrow(table))


def as_ibis(table: Table) -> Any:
    import ibis

    if not table.columns:
        pytest.skip("there is no such table in SQL")
    return ibis.memtable(as_arrow(table))


def as_dask(table: Table) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(as_pandas(table), npartitions=3, sort=False)


def as_spark(table: Table) -> Any:
    """A frame of Spark; its executors are other processes, in which no threshold is lowered."""
    session = spark_session()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return session.createDataFrame(as_arrow(table))


def as_tensors(table: Table, device: str) -> dict[str, Any]:
    """Tensors, and what these cannot hold as it is."""
    import torch

    return {
        name: torch.tensor(cells, device=device)
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub"
        else cells
        for name, cells in as_dict(table).items()
    }


def as_tensor(table: Table, device: str) -> Any:
    import torch

    return torch.tensor(as_array(table), device=device)


def as_file(table: Table, folder: Path, kind: str) -> Path:
    path, frame = folder / f"rows.{kind}", as_polars(table)
    write = {"parquet": frame.write_parquet, "csv": frame.write_csv, "ndjson": frame.write_ndjson}
    write[kind](path)
    return path


# The columns of a pair.


def columns_alone(
    table: Table, types: Mapping[str, str] = {}, vectors: Mapping[str, list[str]] = {}, max_levels: int | None = None
) -> dict[str, Any]:
    """Columns as a pair takes them: labels are declared, vectors are put together, and rare levels are pooled."""
    within = {name: vector for vector, parts in vectors.items() for name in parts}
    columns = {}
    for name, column in table.columns.items():
        override = types.get(name)
        if name in within:
            parts = vectors[within[name]]
            columns.setdefault(within[name], as_array(table.only(*parts)))
        elif override == "number":
            columns[name] = np.array(column.cells, dtype=float)
        elif override == "category" or column.kind == "label":
            columns[name] = renyi.categorical(pooled(column.cells, max_levels))
        elif column.kind == "spelled" or override == "date":
            columns[name] = column.meaning
        elif override is None:
            columns[name] = as_series(column)
    return columns


def pooled(cells: list[Any], max_levels: int | None = None) -> list[Any]:
    """Labels, of which those of fewer than 5 rows are one, as are all beyond a number of levels."""
    rows = {label: cells.count(label) for label in sorted(set(cells) - {None})}
    if len(rows) <= 2:
        return cells
    by_rows = sorted(rows, key=lambda label: -rows[label])
    frequent = [label for label in by_rows[:max_levels] if rows[label] >= 5]
    n_rare = sum(rows.values()) - sum(rows[label] for label in frequent)
    if 0 < n_rare < 5:
        frequent.pop()
    # Tables have the others as their last level, and rows are permuted in the order of levels.
    return [cell if cell is None or cell in frequent else "~others" for cell in cells]


def as_tensor_alone(column: Any, device: str) -> Any:
    import torch

    values = np.asarray(column) if isinstance(column, (pd.Series, np.ndarray)) else np.empty(0, dtype=object)
    return torch.tensor(values, device=device) if values.dtype.kind in "fiub" else column
