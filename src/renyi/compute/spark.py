"""Work on the partitions of a Spark DataFrame, on the executors that have them: only the last sum comes back."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import reduce
from typing import Any, TypeVar

from renyi.compute.dask import Task
from renyi.errors import InputError, RenyiError, bounded, load

Outcome = TypeVar("Outcome")
Shared = TypeVar("Shared")
# Outcomes that one task adds up: every level of the tree is a shuffle, a part of a second however little there is.
_AT_ONCE = 4
# Rows, and bytes of them, that are one table: Spark sends 10,000 rows at a time, and work has its fixed costs.
_ROWS, _BYTES = 2**17, 2**26
# An outcome travels in rows of so many bytes, and what one task adds up is one batch of Arrow, which has a limit.
_PIECE, _LIMIT = 2**25, 2**31
_NAMES, _SCHEMA = ("part", "piece", "state"), "part bigint, piece int, state binary"
# Characters of a reason that Spark gives: its own errors have pages.
_REASON = 300


def is_spark(data: Any, /) -> bool:
    """Whether this is a Spark DataFrame, of a session here or of Spark Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "mapInArrow")


def folded_over(
    data: Any,
    work: Callable[[Shared, Iterable[Any]], Outcome],
    shared: Shared,
    add: Callable[[Outcome, Outcome], Outcome],
    /,
    *,
    begin: object = None,
) -> Outcome | None:
    """What work on something shared and on every partition gives, added up in a tree that their number alone shapes.

    A partition is an iterator of Arrow tables. Spark does tasks of executors that die again; a DataFrame that gives the
    same rows in the same order then gives the same bits. None if there are no partitions. To `begin` with a look at the
    first partition would take a job of its own, and is left out.
    """
    load("pyspark.sql", extra="spark")
    from pyspark.storagelevel import StorageLevel

    states = None
    try:
        # What is made of the partitions stays on the executors' disks while the depth of the tree is found.
        states = _states(data, work, shared).persist(StorageLevel.DISK_ONLY)
        outcome = _total(states, add)
    except Exception as error:
        if not _is_of_spark(error):
            raise
        raise _failed(error) from error
    finally:
        if states is not None:
            with suppress(Exception):  # of a session that has ended nothing is left
                states.unpersist()
    if isinstance(outcome, RenyiError):
        raise outcome
    return outcome  # type: ignore[no-any-return]


def _states(data: Any, work: Callable[[Shared, Iterable[Any]], Outcome], shared: Shared) -> Any:
    """A row for every partition, or some where the outcome is large."""
    names, task = data.columns, Task(work)

    def of_partition(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        place = TaskContext.get().partitionId()
        yield from _packed(place, _outcome(task, shared, _tables(batches, names)))

    # By their places: Spark finds no column whose name has a dot, or differs from another in its case alone.
    return _readable(data.toDF(*(f"x{j}" for j in range(len(names))))).mapInArrow(of_partition, _SCHEMA)


def _readable(data: Any) -> Any:
    """The same columns, where Spark has no way to Arrow: months are counted, and vectors of its models say no more.

    What is left of these says what they are, and is refused in the words for lists.
    """
    from pyspark.sql import functions

    instead = {}
    for name, dtype in data.dtypes:
        if dtype.startswith(("interval year", "interval month")):
            instead[name] = data[name].cast("int")
        elif dtype in ("vector", "matrix"):
            instead[name] = functions.lit(None).cast("array<double>")
    return data.withColumns(instead) if instead else data


def _total(states: Any, add: Callable[[Outcome, Outcome], Outcome]) -> Any:
    """The outcomes of all partitions, added up in their order."""
    from pyspark.sql import functions

    def together(rows: Any) -> Any:
        import pyarrow as pa

        part, outcomes = _unpacked(rows)
        return pa.Table.from_batches(list(_packed(part // _AT_ONCE, _outcome(task, outcomes))))

    def added(outcomes: list[Any]) -> Any:
        failed = (outcome for outcome in outcomes if isinstance(outcome, RenyiError))
        return next(failed, None) or reduce(add, outcomes)

    task = Task(added)
    (last,) = states.agg(functions.max("part")).collect()[0]
    n_left = 0 if last is None else last + 1
    while n_left > 1:
        states = states.groupBy(functions.floor(states["part"] / _AT_ONCE)).applyInArrow(together, _SCHEMA)
        n_left = -(-n_left // _AT_ONCE)
    return _unpacked(states.toArrow())[1][0] if n_left else None


def _outcome(task: Task, *arguments: Any) -> Any:
    """What a task gives, or the error for the user that it raises: Spark would try it three times more, and not say."""
    try:
        return task(*arguments)
    except RenyiError as error:
        return error


def _tables(batches: Iterator[Any], names: list[str]) -> Iterator[Any]:
    """The rows of a partition, in fewer and larger parts."""
    import pyarrow as pa

    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        if waiting and (n_rows + batch.num_rows > _ROWS or n_bytes + batch.nbytes > _BYTES):
            yield pa.Table.from_batches(waiting).rename_columns(names)
            waiting, n_rows, n_bytes = [], 0, 0
        waiting.append(batch)
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
    if waiting:
        yield pa.Table.from_batches(waiting).rename_columns(names)


def _packed(part: int, outcome: Any) -> Iterator[Any]:
    """An outcome as rows of Arrow, in pieces."""
    import pyarrow as pa

    state = pickle.dumps(outcome, protocol=5)
    if len(state) > _LIMIT // _AT_ONCE:
        error = InputError(
            f"a partition has sums of {len(state) >> 20:,} MB, more than Spark can send {_AT_ONCE} of at once: pass a "
            "smaller memory, so that several passes are made"
        )
        state = pickle.dumps(error, protocol=5)
    for piece, start in enumerate(range(0, len(state), _PIECE)):
        columns = [[part], [piece], [state[start : start + _PIECE]]]
        types = (pa.int64(), pa.int32(), pa.binary())
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, dtype) for column, dtype in zip(columns, types, strict=True)], _NAMES
        )


def _unpacked(rows: Any) -> tuple[int, list[Any]]:
    """The outcomes that rows of Arrow have, in the order of their parts, and the first of these."""
    pieces: dict[int, list[bytes]] = {}
    for part, _, state in sorted(zip(*(rows.column(name).to_pylist() for name in _NAMES), strict=True)):
        pieces.setdefault(part, []).append(state)
    return min(pieces), [pickle.loads(b"".join(some)) for some in pieces.values()]


def _is_of_spark(error: Exception) -> bool:
    libraries = ("pyspark", "py4j", "grpc")
    return type(error).__module__.partition(".")[0] in libraries or isinstance(error, ConnectionError)


def _failed(error: Exception) -> InputError:
    """What to say of a query that fails: of what Python raised on an executor the last line, else the first."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    reason = lines[-1 if "Traceback" in str(error) else 0].strip()
    return InputError(
        f"the Spark DataFrame cannot be computed ({bounded(reason, _REASON)}): mend the query or its data, see "
        "that the session runs, and that Python on its executors has renyi"
    )
