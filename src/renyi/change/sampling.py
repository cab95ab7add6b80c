"""Tables that are not in memory to a uniform sample of their rows, and to counts of their columns."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.allpairs.row_sample import drawn_rows
from renyi.change.counting import Counts, merged, seen
from renyi.compute import dask, spark
from renyi.compute.dask import is_dask
from renyi.compute.spark import is_spark
from renyi.data.files.batches import as_stream
from renyi.data.files.streams import Stream, first_line
from renyi.data.table import parts_of
from renyi.errors import InputError, load
from renyi.tables.batches import is_out_of_core, loaded_if_small
from renyi.tables.budget import bytes_of

_SEED = 0


@dataclass(frozen=True, eq=False)
class Taken:
    """Rows of a table in memory: all of them, or a sample of `n_all`, of which `counts` have every column by itself."""

    rows: Any
    label: str
    n_all: int = 0
    n_sampled: int = 0
    counts: Counts | None = None

    @property
    def said(self) -> str:
        """What was compared on a sample; nothing where all rows are there."""
        if self.counts is None:
            return ""
        return f"{self.label}: columns by all {self.n_all:,} rows, dependences on a sample of {self.n_sampled:,}"

    @property
    def said_of_parts(self) -> str:
        """What was compared on a sample where parts of the table are: all of it."""
        if self.counts is None:
            return ""
        return f"{self.label}: a sample of {self.n_sampled:,} of {self.n_all:,} rows was compared"

    def counted(self, empty: Counts) -> Counts:
        """All columns counted, also of a table that was in memory."""
        return seen(empty, [self.rows]) if self.counts is None else self.counts


def taken(table: Any, label: str, memory: str | int, sample: int, types: Mapping[Any, Any] | None = None, /) -> Taken:
    """The table itself if it is in memory or small, else so many of its rows, and counts of all of them."""
    loaded = loaded_if_small(table, memory) if not (is_dask(table) or is_spark(table)) else table
    if not is_out_of_core(loaded):
        return Taken(loaded, label)
    if sample < 2:
        raise InputError(
            f"{label!r} is not in memory and is compared on a sample of its rows, of which sample={sample} leaves too "
            "few: pass a larger one"
        )
    counts = Counts(types, memory)
    if is_dask(loaded) or is_spark(loaded):
        counts, rows = _of_cluster(loaded, counts, sample)
    else:
        rows = _of_batches(loaded, counts, memory, sample)
    return Taken(rows, label, counts.n_rows, min(sample, counts.n_rows), counts)


def _of_cluster(table: Any, empty: Counts, sample: int) -> tuple[Counts, Any]:
    """Rows of a table of Dask or Spark, counted and drawn where they are."""
    if is_spark(table):
        counts = spark.folded_over(table, seen, empty, merged) or empty
    else:
        counts = dask.folded_over(dask.partitions(table), seen, empty, merged) or empty
    share = min(1.0, 1.05 * sample / max(counts.n_rows, 1))
    if is_spark(table):
        # By Arrow, since Spark's own way to pandas warns of new versions of it.
        frame = (table if share == 1.0 else table.sample(fraction=share, seed=_SEED)).toArrow().to_pandas()
    else:
        frame = (table if share == 1.0 else table.sample(frac=share, random_state=_SEED)).compute()
    return counts, frame.iloc[:sample]


def _of_batches(table: Any, counts: Counts, memory: str | int, sample: int) -> Any:
    """Rows of batches with the smallest priorities, which are uniform and follow from what a batch holds."""
    pl = load("polars", extra="cli")
    stream = table if isinstance(table, Stream) else as_stream(table, bytes_of(memory))
    kept, priorities = [], np.empty(0)
    with closing(stream.batches()) as batches:
        for batch in batches:
            frame = _as_polars(pl, batch)
            counts.update(frame)
            parts = list(parts_of(frame)[0].values())
            which, own = drawn_rows(parts, len(frame), stream.n_rows or counts.n_rows, sample)
            kept.append(frame[which])
            priorities = np.concatenate((priorities, own))
            if len(priorities) > 4 * sample:
                kept, priorities = _fewest(pl, kept, priorities, sample)
    if not kept:
        raise InputError("a table gave no batch: there is nothing to compare")
    kept, _ = _fewest(pl, kept, priorities, sample)
    return kept[0]


def _fewest(pl: Any, frames: list[Any], priorities: Any, sample: int) -> tuple[list[Any], Any]:
    first = np.sort(np.argsort(priorities, kind="stable")[:sample])
    return [pl.concat(frames, how="vertical_relaxed")[first]], priorities[first]


def _as_polars(pl: Any, batch: Any) -> Any:
    if isinstance(batch, pl.DataFrame):
        return batch
    try:
        if type(batch).__module__.startswith("pandas"):
            return pl.from_pandas(batch)
        if type(batch).__module__.startswith("pyarrow"):
            return pl.from_arrow(batch)
        return pl.DataFrame(batch if isinstance(batch, Mapping) else parts_of(batch)[0])
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise InputError(f"a batch is not a table ({first_line(error)}): pass frames, or dicts of columns") from error
