"""Work on the partitions of a Dask collection, where they are: only what is small comes back."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

from renyi.errors import InputError
from renyi.extras import load

__all__ = ["folded_over", "is_dask", "partitions"]

Outcome = TypeVar("Outcome")
Shared = TypeVar("Shared")
# Outcomes that one task adds up.
_AT_ONCE = 8


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
    work: Callable[[Shared, Any], Outcome],
    shared: Shared,
    add: Callable[[Outcome, Outcome], Outcome],
    /,
) -> Outcome:
    """What work on something shared and on every partition gives, added up in a tree that their number alone shapes.

    It runs on the client that is active, or wherever Dask runs without one. Every task can be done again, so that a
    worker that dies takes nothing with it.
    """
    from dask import delayed  # type: ignore[attr-defined]

    def together(outcomes: list[Outcome]) -> Outcome:
        return reduce(add, outcomes)

    once = delayed(shared, pure=False)
    todo = [delayed(work, pure=False)(once, part) for part in parts]
    while len(todo) > 1:
        todo = [delayed(together, pure=False)(todo[k : k + _AT_ONCE]) for k in range(0, len(todo), _AT_ONCE)]
    client = _client()
    if client is None:
        return todo[0].compute()  # type: ignore[no-any-return]
    return client.compute(todo[0]).result()  # type: ignore[no-any-return]


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
