"""Work on the partitions of a Dask collection, where they are: only what is small comes back."""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeVar

from renyi.compute.memory import memory_kept
from renyi.compute.threads import alone
from renyi.errors import InputError, load

Outcome = TypeVar("Outcome")
Shared = TypeVar("Shared")
# Outcomes that one task adds up: few, so that most are added while others are still being made.
_AT_ONCE = 2


def is_dask(data: Any, /) -> bool:
    """Whether this is a Dask DataFrame or array."""
    return type(data).__module__.startswith(("dask.", "dask_expr.")) and hasattr(data, "to_delayed")


def partitions(data: Any, /) -> list[Any]:
    """The partitions as delayed frames; of an array its rows, with all columns together."""
    load("dask", extra="dask")
    if hasattr(data, "chunks"):
        if data.ndim != 2:
            raise InputError(f"the Dask array has the shape {data.shape}, and a table has rows and columns")
        data = data.rechunk({1: -1})
        return list(data.to_delayed().ravel())
    return list(data.to_delayed())


def folded_over(
    parts: list[Any],
    work: Callable[[Shared, Iterable[Any]], Outcome],
    shared: Shared,
    add: Callable[[Outcome, Outcome], Outcome],
    /,
    *,
    begin: Callable[[Shared, Iterable[Any]], Shared] | None = None,
) -> Outcome | None:
    """What work on something shared and on every partition gives, added up in a tree that their number alone shapes.

    A partition is a list of one table. What is shared may first `begin` with a look at the first one. None if there are
    no partitions.

    It runs on the client that is active, or wherever Dask runs without one. Every task can be done again, so that a
    worker that dies takes nothing with it.
    """
    from dask import delayed  # type: ignore[attr-defined]

    def together(outcomes: list[Outcome]) -> Outcome:
        return reduce(add, outcomes)

    if not parts:
        return None
    once = delayed(shared, pure=False)
    if begin is not None:
        once = delayed(Task(begin), pure=False)(once, parts[:1])
    one, several = (delayed(Task(function), pure=False) for function in (work, together))
    todo = [one(once, [part]) for part in parts]
    while len(todo) > 1:
        todo = [several(todo[k : k + _AT_ONCE]) for k in range(0, len(todo), _AT_ONCE)]
    client = _client()
    if client is None:
        return todo[0].compute()  # type: ignore[no-any-return]
    return client.compute(todo[0]).result()  # type: ignore[no-any-return]


class Task:
    """A function that works in the one thread that a task has; it keeps its name on Dask's pages."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *arguments: Any) -> Any:
        with alone(), memory_kept:
            return self._function(*arguments)


def _client() -> Any:
    """The client that is active, if there is one."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        client = get_client()
    except ValueError:
        return None
    if client.status != "running":
        raise InputError(f"the Dask client is {client.status}, and the table needs one that runs: start another")
    return client
