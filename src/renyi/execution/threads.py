"""Independent pieces of work on the cores of one machine."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["ahead", "available_cores", "in_threads"]

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def available_cores() -> int:
    """Cores this process may use, which containers and schedulers often limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(function: Callable[[Item], Outcome], items: Iterable[Item], /) -> list[Outcome]:
    """Apply `function` to every item, in threads, results in the order of the items."""
    work = list(items)
    n_threads = min(len(work), available_cores())
    if n_threads < 2:
        return [function(item) for item in work]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, work))


def ahead(items: Iterator[Item], /) -> Iterator[Item]:
    """The same items, each made in another thread while the caller is busy with the one before."""
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(next, items, None)
        while (item := pending.result()) is not None:
            pending = pool.submit(next, items, None)
            yield item
