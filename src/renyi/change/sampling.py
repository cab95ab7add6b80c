"""Tables that are not in memory to a uniform sample of their rows."""

from contextlib import closing
from typing import Any

import numpy as np

from renyi.allpairs.row_sample import drawn_rows
from renyi.compute.dask import is_dask
from renyi.compute.spark import is_spark
from renyi.data.files.batches import as_stream
from renyi.data.files.streams import Stream, first_line
from renyi.data.table import parts_of
from renyi.errors import InputError, load
from renyi.tables.batches import is_out_of_core, loaded_if_small
from renyi.tables.budget import bytes_of

_SEED = 0


def in_memory(table: Any, label: str, memory: str | int, sample: int, /) -> tuple[Any, str]:
    """The table itself if it is in memory or small, else so many of its rows, and a sentence that says so."""
    loaded = loaded_if_small(table, memory) if not (is_dask(table) or is_spark(table)) else table
    if not is_out_of_core(loaded):
        return loaded, ""
    if sample < 2:
        raise InputError(
            f"{label!r} is not in memory and is compared on a sample of its rows, of which sample={sample} leaves too "
            "few: pass a larger one"
        )
    rows, n_all = (
        _of_cluster(loaded, sample) if is_dask(loaded) or is_spark(loaded) else _of_batches(loaded, memory, sample)
    )
    return rows, f"{label}: a sample of {min(sample, n_all):,} of {n_all:,} rows was compared"


def _of_cluster(table: Any, sample: int) -> tuple[Any, int]:
    """Rows of a table of Dask or Spark, drawn where they are."""
    n_all = int(table.count() if is_spark(table) else len(table))
    share = min(1.0, 1.05 * sample / max(n_all, 1))
    if is_spark(table):
        frame = (table if share == 1.0 else table.sample(fraction=share, seed=_SEED)).toPandas()
    else:
        frame = (table if share == 1.0 else table.sample(frac=share, random_state=_SEED)).compute()
    return frame.iloc[:sample], n_all


def _of_batches(table: Any, memory: str | int, sample: int) -> tuple[Any, int]:
    """Rows of batches with the smallest priorities, which are uniform and follow from what a batch holds."""
    pl = load("polars", extra="cli")
    stream = table if isinstance(table, Stream) else as_stream(table, bytes_of(memory))
    kept, priorities, n_all = [], np.empty(0), 0
    with closing(stream.batches()) as batches:
        for batch in batches:
            frame = _as_polars(pl, batch)
            n_all += len(frame)
            parts = list(parts_of(frame)[0].values())
            which, own = drawn_rows(parts, len(frame), stream.n_rows or n_all, sample)
            kept.append(frame[which])
            priorities = np.concatenate((priorities, own))
            if len(priorities) > 4 * sample:
                kept, priorities = _fewest(pl, kept, priorities, sample)
    if not kept:
        raise InputError("a table gave no batch: there is nothing to compare")
    kept, _ = _fewest(pl, kept, priorities, sample)
    return kept[0], n_all


def _fewest(pl: Any, frames: list[Any], priorities: Any, sample: int) -> tuple[list[Any], Any]:
    first = np.sort(np.argsort(priorities, kind="stable")[:sample])
    return [pl.concat(frames, how="vertical_relaxed")[first]], priorities[first]


def _as_polars(pl: Any, batch: Any) -> Any:
    if isinstance(batch, pl.DataFrame):
        return batch
    if type(batch).__module__.startswith("pandas"):
        return pl.from_pandas(batch)
    if type(batch).__module__.startswith("pyarrow"):
        return pl.from_arrow(batch)
    try:
        return pl.DataFrame(batch)
    except Exception as error:
        raise InputError(f"a batch is no table ({first_line(error)}): pass frames, or dicts of columns") from error
