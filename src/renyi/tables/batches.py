"""Tables that are not in memory, all rows in every pass: in batches here, or where a cluster has them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from renyi.compute.dask import folded_over, is_dask, partitions
from renyi.compute.memory import give_back
from renyi.compute.progress import watched_rows
from renyi.data.align import check_indexes
from renyi.data.files.batches import Stream, as_stream, is_streamed, loaded
from renyi.errors import InputError, count
from renyi.tables.accumulator import Accumulator, bytes_of
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.rows import Rows, side_by_side
from renyi.tables.screening import Screening

__all__ = ["check_order", "in_batches", "is_out_of_core", "loaded_if_small"]

# Libraries whose tables say nothing of the order of their rows.
_WITHOUT_ORDER = ("pyspark", "duckdb", "ibis")
# Rows of the first partition that are looked at before all others.
_GLANCE = 2**18
# What is free between arrays is given back after so many batches: a percent of the time, and a tenth of the memory.
_BATCHES_PER_TURN = 4


def is_out_of_core(table: Any, /) -> bool:
    """Whether the rows have to be read first, or are on a cluster."""
    return is_streamed(table) or is_dask(table)


def loaded_if_small(table: Any, memory: str | int, /) -> Any:
    """The table itself, or what a small file holds."""
    budget = bytes_of(memory)
    if is_dask(table) or not is_streamed(table):
        return table
    whole = loaded(table, budget)
    return table if whole is None else whole


def in_batches(
    table: Any, first: Accumulator, memory: str | int, /, *, other: Any = None, progress: bool
) -> DependenceMatrix | Screening:
    """All passes over a table that is out of core, or over two that have the same rows."""
    if other is not None:
        check_order(table, other)
    if is_dask(table) or is_dask(other):
        return _on_cluster(_pairs_of_partitions(table, other), first)
    rows = _stream(table, memory)
    beside = None if other is None else _stream(other, memory)
    passes: tuple[Accumulator, ...] = (first,)
    n_rows, finding = rows.n_rows, "Counting values"
    del first  # its counts are not needed any more once they are passed on
    while True:
        title = "Adding products" if passes[0].is_last else finding
        for number, one in enumerate(passes, 1):
            turn = f" ({number} of {len(passes)})" if len(passes) > 1 else ""
            batches = rows.batches() if beside is None else side_by_side(rows.batches(), beside.batches())
            for k, _ in enumerate(watched_rows(one.folded(batches), n_rows, f"{title}{turn}", shown=progress), 1):
                if k % _BATCHES_PER_TURN == 0:
                    give_back()
        if passes[0].is_last:
            break
        n_rows, finding = passes[0].n_rows, "Finding functions of vectors"
        passes = passes[0].second_passes()
        give_back()
    found = passes[0].result(*passes[1:])
    notes = [sentence for side in (rows, beside) for sentence in getattr(side, "notes", ())]
    return replace(found, notes=(*notes, *found.notes))


def check_order(*tables: Any) -> None:
    """Refuse two tables of which one is where rows have no order, so that they cannot be put side by side."""
    for table in tables:
        library = type(table).__module__.split(".")[0]
        if library in _WITHOUT_ORDER:
            raise InputError(
                f"rows of {library} have no order by which two tables could be put side by side: join them and name "
                "the columns of one: other=[...]"
            )


def _stream(table: Any, memory: str | int) -> Stream:
    """Batches of a table, of which one that is in memory is a single one."""
    return as_stream(table if is_streamed(table) else [table], bytes_of(memory))


def _pairs_of_partitions(table: Any, other: Any) -> list[Any]:
    """The partitions of a table on a cluster, or those of two side by side."""
    if other is None:
        return partitions(table)
    if not (is_dask(table) and is_dask(other)):
        raise InputError(
            "one of the two tables is Dask's and the other is not: pass both as Dask tables of the same partitions, "
            "or join them and name the columns of one: other=[...]"
        )
    of_table, of_other = partitions(table), partitions(other)
    if len(of_table) != len(of_other):
        raise InputError(
            f"the table has {count(len(of_table), 'partition')} and other has {len(of_other):,}: give both the same, "
            "or join them and name the columns of one: other=[...]"
        )
    from dask import delayed  # type: ignore[attr-defined]

    return [delayed(_beside, pure=False)(*pair) for pair in zip(of_table, of_other, strict=True)]


def _beside(rows: Any, other: Any) -> Rows:
    check_indexes(rows, other)
    return Rows.of(rows).beside(Rows.of(other))


def _on_cluster(parts: Sequence[Any], first: Accumulator) -> DependenceMatrix | Screening:
    """All passes over partitions that stay where they are."""
    if not parts:
        raise InputError("the Dask table has no partition: there is nothing to measure")
    passes = [folded_over(list(parts), _seen, first, _merged, begin=_glanced)]
    while not passes[0].is_last:
        # One block of columns after the other: what a task holds and returns is bounded.
        passes = [folded_over(list(parts), _seen, second, _merged) for second in passes[0].second_passes()]
    return passes[0].result(*passes[1:])


def _glanced(accumulator: Accumulator, rows: Any) -> Accumulator:
    """One that has seen nothing yet either, but knows from a few rows where values lie, and need not sort them."""
    # An index of pandas may be of numbers, by which slices of a frame would go.
    some = rows.part(0, min(_GLANCE, len(rows))) if isinstance(rows, Rows) else getattr(rows, "iloc", rows)[:_GLANCE]
    return _seen(accumulator, some).begun()


def _seen(accumulator: Accumulator, rows: Any) -> Accumulator:
    """What an accumulator that has seen nothing yet makes of some rows."""
    own = accumulator.empty()
    own.update(rows)
    return own


def _merged(some: Accumulator, more: Accumulator) -> Accumulator:
    # Tasks may be done again, so what they were given stays as it is.
    total = some.copy()
    total.merge(more)
    return total
