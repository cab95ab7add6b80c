"""Independent pieces of work on the cores of one machine."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


# Seconds until a waiting thread looks up.
_PATIENCE = 0.2


class Abandoned(Exception):  # noqa: N818
    """The work was cancelled."""


class _Worker(threading.local):
    stopped: threading.Event | None = None
    is_alone = False


_worker = _Worker()


def keep_going() -> None:
    """Within long work of `stream`: end it if it was cancelled, as by Ctrl-C."""
    if _worker.stopped is not None and _worker.stopped.is_set():
        raise Abandoned


@contextmanager
def alone() -> Iterator[None]:
    """Work within has one core: who began it has other work for the others."""
    before, _worker.is_alone = _worker.is_alone, True
    try:
        yield
    finally:
        _worker.is_alone = before


def available_cores() -> int:
    """Cores this thread may use, which containers and schedulers often limit."""
    if _worker.is_alone:
        return 1
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


def map_in_threads(function: Callable[[Item], Outcome], items: Iterable[Item], /, *, n_threads: int) -> list[Outcome]:
    """Apply `function` to every item in so many threads, each with one core; one thread is left as it is."""
    work = list(items)
    if n_threads == 1 or len(work) < 2:
        return [function(item) for item in work]
    with _one_core_each, ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, work))


class _OneCoreEach:
    """Within, libraries for linear algebra use one core for each thread that calls them.

    They are held back from the first of several that overlap until the last.
    """

    def __init__(self) -> None:
        self._lock, self._n_within = threading.Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_within += 1
            if self._n_within == 1:
                self._limits = _libraries().limit(limits=1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                self._limits.restore_original_limits()


_one_core_each = _OneCoreEach()


@cache
def _libraries() -> Any:
    """Those that are loaded when threads are first begun, as NumPy's and SciPy's are; to look for them takes 2 ms."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def stream(
    function: Callable[[Item], Outcome], items: Iterable[Item], /, *, at_once: int = 1, most: int | None = None
) -> Iterator[Outcome]:
    """The outcomes for all items in their order, worked on in threads that are never far ahead.

    Every thread has one core: libraries that would use several of their own are held back meanwhile. An interruption,
    or an error, lets go of what has not begun. Handing work over takes 0.1 ms, and more where threads wait for one
    another: each takes several items `at_once` where these are short, and no threads are begun for less than that.
    Where outcomes are large, at `most` so many are under way or wait to be taken.
    """
    if isinstance(items, Sequence) and len(items) <= at_once:
        with _one_core_each:
            yield from map(function, items)
        return
    most = 2 * available_cores() + 1 if most is None else most
    n_threads, stopped = min(available_cores(), most), threading.Event()

    def begin() -> None:
        _worker.stopped = stopped

    def work(some: list[Item]) -> list[Outcome]:
        outcomes = []
        for item in some:
            keep_going()
            outcomes.append(function(item))
        return outcomes

    with _one_core_each, ThreadPoolExecutor(n_threads, initializer=begin) as pool:
        pending: deque[Future[list[Outcome]]] = deque()
        left = iter(items)
        try:
            while some := list(islice(left, at_once)):
                pending.append(pool.submit(work, some))
                if len(pending) == most:
                    yield from _outcome(pending.popleft())
            while pending:
                yield from _outcome(pending.popleft())
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _outcome(future: Future[Outcome]) -> Outcome:
    """The outcome of one piece of work; Ctrl-C is heard meanwhile, whichever thread the system tells of it."""
    while not wait((future,), _PATIENCE).done:
        pass
    return future.result()


def ahead(items: Iterator[Item], /) -> Iterator[Item]:
    """The same items, each made in another thread while the caller is busy with the one before."""
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(next, items, None)
        while (item := pending.result()) is not None:
            pending = pool.submit(next, items, None)
            yield item
