"""Tables that are not in memory, all rows in every pass: in batches here, or where a cluster has them."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from renyi.allpairs.edges import Edges
from renyi.compute import dask, spark
from renyi.compute.dask import is_dask
from renyi.compute.memory import give_back
from renyi.compute.progress import watched_rows
from renyi.compute.spark import is_spark
from renyi.data.align import check_indexes
from renyi.data.files.batches import as_stream, is_streamed, opened
from renyi.data.files.streams import Stream
from renyi.data.notes import Notes
from renyi.data.table import NewFrame, Table
from renyi.errors import InputError, count
from renyi.tables.accumulator import Accumulator
from renyi.tables.arguments import Question, names_in
from renyi.tables.budget import bytes_of
from renyi.tables.rows import Rows, side_by_side

# Libraries whose tables say nothing of the order of their rows.
_WITHOUT_ORDER = ("pyspark", "duckdb", "ibis")
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


class TableInBatches:
    """How a table is compared that is read in batches, or lies on a cluster."""

    def __init__(self, asked: Question, /) -> None:
        self._asked = asked

    def matrix(self, table: Any, other: Any, /) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two, or of some columns with all the others."""
        names = names_in(other)
        passed = self._passed(table, None if names is not None else other, others=names)
        return *passed.tables, Edges.joined(list(passed.tiles()))

    def tiles(self, table: Any, /, *, at_most: float) -> tuple[Table, Iterator[Edges]]:
        """All pairs of a table, some at a time, those with a p-value above `at_most` as well."""
        passed = self._passed(table)
        return passed.tables[0], passed.tiles()

    def screen(self, table: Any, target: Any, given: Any, /) -> tuple[str, tuple[str, ...], Table, Edges]:
        """Every column against one: its name, what is held fixed, the other columns, and what was found."""
        if given:
            raise InputError("given is for tables in memory, and this one is read in batches: load it, or leave it out")
        if not isinstance(target, (str, list, tuple)) or not all(isinstance(name, str) for name in target):
            raise InputError("a table that is read in batches has its target among its columns: name one of them")
        passed = self._passed(table, target=target)
        goal = target if isinstance(target, str) else " & ".join(target)
        return goal, (), passed.tables[0], Edges.joined(list(passed.tiles()))

    def _passed(self, table: Any, other: Any = None, /, **roles: Any) -> "_Passed":
        asked = self._asked
        first = Accumulator(
            measure=asked.by,
            missing=asked.missing,
            types=asked.types,
            vectors=asked.vectors,
            max_levels=asked.max_levels,
            memory=asked.memory,
            sample=asked.sample,
            order=asked.design.order,
            **roles,
        )
        if is_dask(table) or is_dask(other):
            return _on_cluster(partial(dask.folded_over, _partitions(table, other)), first)
        if is_spark(table):
            # Whoever works with Spark has pandas, in which small frames are at hand.
            return _on_cluster(partial(spark.folded_over, table), first, NewFrame("pandas"))
        sides = [_stream(side, asked.memory) for side in (table, other) if side is not None]
        return _in_batches(sides, first, asked.progress)


class _Passed:
    """A table after all passes over its rows."""

    def __init__(self, passes: Iterable[Accumulator], notes: Iterable[str] = (), new_frame: Any = None, /) -> None:
        self._passes = tuple(passes)
        table, other = self._passes[0].tables
        order = self._passes[0].notes_on_order(*self._passes[1:])
        told = Notes((*notes, *table.notes.sentences(), *order))
        self.tables = replace(table, notes=told, new_frame=new_frame or table.new_frame), other

    def tiles(self) -> Iterator[Edges]:
        """The pairs of one pass after the other."""
        return (one.edges() for one in self._passes)


def _in_batches(sides: list[Stream], first: Accumulator, progress: bool) -> _Passed:
    """All passes over a table that is read in batches, or over two that have the same rows."""
    passes: tuple[Accumulator, ...] = (first,)
    n_rows, finding = sides[0].n_rows, "Counting values"
    del first  # its counts are not needed any more once they are passed on
    while True:
        title = "Adding products" if passes[0].is_last else finding
        for number, one in enumerate(passes, 1):
            turn = f" ({number} of {len(passes)})" if len(passes) > 1 else ""
            # Closed in any case, since whoever handles an error may hold on to it, and an engine waits for its reader.
            with closing(_batches(sides)) as batches:
                done = watched_rows(one.folded(batches), n_rows, f"{title}{turn}", shown=progress)
                for k, _ in enumerate(done, 1):
                    if k % _BATCHES_PER_TURN == 0:
                        give_back()
        if passes[0].is_last:
            return _Passed(passes, [sentence for side in sides for sentence in side.notes])
        n_rows, finding = passes[0].n_rows, "Finding functions of vectors"
        passes = passes[0].second_passes()
        give_back()


def _batches(sides: list[Stream]) -> Generator[Any]:
    """Batches of one table, or of two side by side."""
    if len(sides) == 1:
        return sides[0].batches()
    return _side_by_side(*sides)


def _side_by_side(table: Stream, other: Stream) -> Generator[Any]:
    with closing(table.batches()) as rows, closing(other.batches()) as beside:
        yield from side_by_side(rows, beside)


def check_order(*tables: Any) -> None:
    """Refuse two tables of which one is where rows have no order, so that they cannot be put side by side."""
    for table in tables:
        library = type(table).__module__.split(".", maxsplit=1)[0]
        if library in _WITHOUT_ORDER:
            raise InputError(
                f"rows of {library} have no order by which two tables could be put side by side: join them and name "
                "the columns of one: other=[...]"
            )


def _stream(table: Any, memory: str | int) -> Stream:
    """Batches of a table, of which one that is in memory is a single one."""
    return as_stream(table if is_streamed(table) else [table], bytes_of(memory))


def _partitions(table: Any, other: Any) -> list[Any]:
    """The partitions of a table on a cluster, or those of two side by side."""
    if other is None:
        return dask.partitions(table)
    if not (is_dask(table) and is_dask(other)):
        raise InputError(
            "one of the two tables is Dask's and the other is not: pass both as Dask tables of the same partitions, "
            "or join them and name the columns of one: other=[...]"
        )
    of_table, of_other = dask.partitions(table), dask.partitions(other)
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


def _on_cluster(folded: Callable[..., Accumulator | None], first: Accumulator, new_frame: Any = None) -> _Passed:
    """All passes over partitions that stay where they are, by what folds work over them."""
    passes = [folded(_seen, first, _merged, begin=_glanced) or first]
    while not passes[0].is_last:
        # One block of columns after the other: what a task holds and returns is bounded.
        passes = [folded(_seen, one, _merged) or one for one in passes[0].second_passes()]
    return _Passed(passes, (), new_frame)


def _glanced(accumulator: Accumulator, tables: Iterable[Any]) -> Accumulator:
    """One that has seen nothing yet either, but knows from a few rows where values lie, and need not sort them."""
    some = (
        # An index of pandas may be of numbers, by which slices of a frame would go.
        rows.part(0, min(_GLANCE, len(rows))) if isinstance(rows, Rows) else getattr(rows, "iloc", rows)[:_GLANCE]
        for rows in islice(tables, 1)
    )
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
