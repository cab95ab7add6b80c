"""Tables that are not in memory, twice from the first row to the last: in batches here, or where a cluster has them."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from renyi.compute import dask, spark
from renyi.compute.dask import is_dask
from renyi.compute.memory import give_back
from renyi.compute.progress import watched_rows
from renyi.compute.spark import is_spark
from renyi.compute.threads import ahead
from renyi.data.files.batches import as_stream, is_streamed, opened
from renyi.data.table import NewFrame
from renyi.tables.accumulator import Accumulator, bytes_of
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.screening import Screening

__all__ = ["in_batches", "is_out_of_core", "loaded_if_small"]

# Rows of the first partition that are looked at before all others.
_GLANCE = 2**18
# What is free between arrays is given back after so many batches: a percent of the time, and a tenth of the memory.
_BATCHES_PER_TURN = 4


def is_out_of_core(table: Any, /) -> bool:
    """Whether the rows have to be read first, or are on a cluster."""
    return is_streamed(table) or is_dask(table) or is_spark(table)


def loaded_if_small(table: Any, memory: str | int, /) -> Any:
    """The table itself; of one that has to be read, the whole if it is small, else its batches."""
    budget = bytes_of(memory)
    return opened(table, budget) if is_streamed(table) else table


def in_batches(table: Any, first: Accumulator, memory: str | int, /, *, progress: bool) -> DependenceMatrix | Screening:
    """Two passes over a table that is out of core."""
    if is_dask(table):
        return _on_cluster(partial(dask.folded_over, dask.partitions(table)), first)
    if is_spark(table):
        # Whoever works with Spark has pandas, in which small frames are at hand.
        return replace(_on_cluster(partial(spark.folded_over, table), first), new_frame=NewFrame("pandas"))
    rows = as_stream(table, bytes_of(memory))
    # Closed in any case, since whoever handles an error may hold on to it, and an engine waits for its reader.
    with closing(rows.batches()) as batches:
        for batch in watched_rows(ahead(batches), rows.n_rows, "Counting values", shown=progress):
            first.update(batch)
    passes, n_rows = first.second_passes(), first.n_rows
    del first  # its counts are not needed any more
    for number, second in enumerate(passes, 1):
        give_back()
        turn = f" ({number} of {len(passes)})" if len(passes) > 1 else ""
        with closing(rows.batches()) as batches:
            done = watched_rows(second.folded(batches), n_rows, f"Adding products{turn}", shown=progress)
            for k, _ in enumerate(done, 1):
                if k % _BATCHES_PER_TURN == 0:
                    give_back()
    found = passes[0].result(*passes[1:])
    return replace(found, notes=(*rows.notes, *found.notes))


def _on_cluster(folded: Callable[..., Accumulator | None], first: Accumulator) -> DependenceMatrix | Screening:
    """Two passes over partitions that stay where they are, by what folds work over them."""
    seen = folded(_seen, first, _merged, begin=_glanced) or first
    # One block of columns after the other: what a task holds and returns is bounded.
    passes = [folded(_seen, second, _merged) or second for second in seen.second_passes()]
    return passes[0].result(*passes[1:])


def _glanced(accumulator: Accumulator, tables: Iterable[Any]) -> Accumulator:
    """One that has seen nothing yet either, but knows from a few rows where values lie, and need not sort them."""
    # An index of pandas may be of numbers, by which slices of a frame would go.
    some = (getattr(rows, "iloc", rows)[:_GLANCE] for rows in islice(tables, 1))
    return _seen(accumulator, some).begun()


def _seen(accumulator: Accumulator, tables: Iterable[Any]) -> Accumulator:
    """What an accumulator that has seen nothing yet makes of the rows of some tables."""
    own = accumulator.empty()
    for rows in tables:
        own.update(rows)
    return own


def _merged(some: Accumulator, more: Accumulator) -> Accumulator:
    # Tasks may be done again, so what they were given stays as it is.
    total = some.copy()
    total.merge(more)
    return total
