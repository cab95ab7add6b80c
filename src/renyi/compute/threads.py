"""Independent pieces of work on the cores of one machine."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator, contextmanager
from functools import cache, partial
from itertools import islice
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


# Seconds until a waiting thread looks up.
_PATIENCE = 0.2
# Threads that help with many short calls at the same time: each waits for the interpreter after every call.
_MOST_IN_SHORT_CALLS = 4


class Abandoned(Exception):  # noqa: N818
    """The work was cancelled."""


class _Worker(threading.local):
    stopped: threading.Event | None = None
    team: "_Team | None" = None
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
    with one_core_each, ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, work))


class _OneCoreEach(ContextDecorator):
    """Within, libraries for linear algebra use one core for each thread that calls them.

    They are held back from the first of several that overlap until the last. How they round depends on how many cores
    they use: what is kept between calls, and what answers are compared by, is made within.
    """

    def __init__(self) -> None:
        self._lock, self._n_within = threading.Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._n_within += 1
            if self._n_within == 1:
                self._limits = _libraries("blas").limit(limits=1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                self._limits.restore_original_limits()


one_core_each = _OneCoreEach()


def loops_on_one_core() -> Any:
    """Within, libraries that share the turns of a loop among threads, by OpenMP, leave them to one.

    Of short loops, one after the other, each would wait for threads that wake up for less than that takes.
    """
    return _libraries("openmp").limit(limits=1)


@cache
def _libraries(kind: str) -> Any:
    """Those that are loaded when they are first asked for; to look for them takes 2 ms."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api=kind)


def in_turn(function: Callable[..., Outcome], *items: Iterable[Any]) -> Iterator[Outcome]:
    """The outcomes one after the other, with one core."""
    with one_core_each:
        yield from map(function, *items)


def stream(
    function: Callable[[Item], Outcome],
    items: Iterable[Item],
    /,
    *,
    at_once: int = 1,
    most: int | None = None,
    abreast: int | None = None,
) -> Iterator[Outcome]:
    """The outcomes for all items in their order, worked on in threads that are never far ahead.

    Every thread has one core: libraries that would use several of their own are held back meanwhile. An interruption,
    or an error, lets go of what has not begun. Handing work over takes 0.1 ms, and more where threads wait for one
    another: each takes several items `at_once` where these are short, and no threads are begun for less than that.
    Where outcomes are large, at `most` so many are under way or wait to be taken. Where items share what they do, so
    many are worked on `abreast`, one thread each, and the other threads help: not all of them then come to what cannot
    be shared at the same time.
    """
    if isinstance(items, Sequence) and len(items) <= at_once:
        yield from in_turn(function, items)
        return
    most = 2 * available_cores() + 1 if most is None else most
    n_threads, stopped = min(available_cores(), most), threading.Event()

    def begin() -> None:
        _worker.stopped, _worker.team = stopped, team

    def work(some: list[Item]) -> list[Outcome]:
        outcomes = []
        for item in some:
            keep_going()
            outcomes.append(function(item))
        return outcomes

    with one_core_each, ThreadPoolExecutor(n_threads, initializer=begin) as pool:
        team = _Team(pool, n_threads, n_threads if abreast is None else min(abreast, n_threads))
        pending: deque[Future[list[Outcome]]] = deque()
        left = iter(items)
        try:
            while some := list(islice(left, at_once)):
                pending.append(team.submit(partial(work, some)))
                if len(pending) == most:
                    yield from _outcome(pending.popleft())
            while pending:
                yield from _outcome(pending.popleft())
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _Shared(Generic[Item, Outcome]):
    """Pieces of one task, which several threads take from it, and their outcomes."""

    def __init__(self, function: Callable[[Item], Outcome], items: Sequence[Item], /, *, are_short_calls: bool) -> None:
        self._function, self._left, self._n = function, deque(enumerate(items)), len(items)
        self.are_short_calls = are_short_calls
        self._outcomes, self._errors = dict[int, Outcome](), list[BaseException]()
        self._n_taken, self._lock, self._is_done = 0, threading.Lock(), threading.Event()

    @property
    def n_left(self) -> int:
        """Pieces that nobody has begun."""
        return len(self._left)

    def take_one(self) -> bool:
        """Do one piece, if any is left."""
        with self._lock:
            if not self._left:
                return False
            k, item = self._left.popleft()
            self._n_taken += 1
        try:
            self._outcomes[k] = self._function(item)
        except BaseException as error:
            self._errors.append(error)
            self._left.clear()
        finally:
            with self._lock:
                self._n_taken -= 1
                if not self._n_taken and not self._left:
                    self._is_done.set()
        return True

    def outcomes(self) -> list[Outcome]:
        """What became of all pieces, or the first error, when those that others have begun are done."""
        self._is_done.wait()
        if self._errors:
            raise self._errors[0]
        return [self._outcomes[k] for k in range(self._n)]


class _Team:
    """The threads of one `stream`: those without a task of it take pieces of the tasks of others."""

    def __init__(self, pool: ThreadPoolExecutor, n_threads: int, abreast: int, /) -> None:
        self._pool, self._n_idle, self._lock = pool, n_threads, threading.Lock()
        # Tasks that wait for one of the threads, of which so many take tasks.
        self._waiting = deque[tuple[Future[Any], Callable[[], Any]]]()
        self._n_places = abreast
        self._open = list[_Shared[Any, Any]]()
        self._n_in_short_calls = 0

    def submit(self, task: Callable[[], Outcome], /) -> Future[Outcome]:
        """What will have the outcome of a task."""
        future: Future[Outcome] = Future()
        with self._lock:
            self._waiting.append((future, task))
            is_begun = self._n_places > 0
            self._n_places -= is_begun
            self._n_idle -= is_begun
        if is_begun:
            self._pool.submit(self._work)
        return future

    def _work(self) -> None:
        """Do tasks while there are any, then help."""
        while (waiting := self._next_task()) is not None:
            future, task = waiting
            try:
                future.set_result(task())
            except BaseException as error:
                future.set_exception(error)
        self._help()

    def _next_task(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._n_places += 1
            return None

    def share(
        self, function: Callable[[Item], Outcome], items: Sequence[Item], /, *, are_short_calls: bool
    ) -> list[Outcome]:
        """The outcomes of all pieces of a task."""
        shared = _Shared(function, items, are_short_calls=are_short_calls)
        with self._lock:
            self._open.append(shared)
            n_helpers = max(0, min(self._n_idle, len(items) - 1))
            if are_short_calls:
                n_helpers = max(0, min(n_helpers, _MOST_IN_SHORT_CALLS - self._n_in_short_calls))
            self._n_idle -= n_helpers
        for _ in range(n_helpers):
            self._pool.submit(self._help)
        try:
            while shared.take_one():
                pass
            return shared.outcomes()
        finally:
            with self._lock:
                self._open.remove(shared)

    def _help(self) -> None:
        """Take pieces where most are left, until there is none."""
        while (shared := self._next()) is not None:
            shared.take_one()
            if shared.are_short_calls:
                with self._lock:
                    self._n_in_short_calls -= 1

    def _next(self) -> _Shared[Any, Any] | None:
        """The task with most pieces left; without one the thread is idle, known to who begins the next one."""
        with self._lock:
            may_be_short = self._n_in_short_calls < _MOST_IN_SHORT_CALLS
            wanted = [task for task in self._open if task.n_left and (may_be_short or not task.are_short_calls)]
            if not wanted:
                self._n_idle += 1
                return None
            shared = max(wanted, key=lambda task: task.n_left)
            self._n_in_short_calls += shared.are_short_calls
            return shared


def share(
    function: Callable[[Item], Outcome], items: Sequence[Item], /, *, are_short_calls: bool = False
) -> list[Outcome]:
    """The outcomes for all items; within work of `stream`, threads that have none of it left take some of them.

    So that few long pieces of work, of which one may take as long as all the others, keep all cores busy to the end.
    With pieces that `are_short_calls` few threads help: more would wait for the interpreter, and so would all others.
    """
    if _worker.team is None or len(items) < 2:
        return [function(item) for item in items]
    return _worker.team.share(function, items, are_short_calls=are_short_calls)


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
