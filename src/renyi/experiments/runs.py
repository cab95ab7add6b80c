"""Experiments as tasks: on several processes, written as they go, resumed where they stopped."""

import json
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from renyi.compute.progress import watched
from renyi.errors import InputError, RenyiError
from renyi.report.files import written_whole
from renyi.report.records import json_of

Say: TypeAlias = Callable[[str], None]
Key: TypeAlias = tuple[Any, ...]
_SECONDS_BETWEEN_WRITES = 3.0


class Task(NamedTuple):
    """A piece of work that depends on nothing else: `what` names it, `work` may travel to another process."""

    what: dict[str, Any]
    work: Callable[[], dict[str, Any]]

    @property
    def key(self) -> Key:
        """The same for the same task of another run."""
        return tuple(self.what.values())


@dataclass(eq=False)
class Record:
    """The results of an experiment as they stand in its file, one in `rows` for each finished task, by its key.

    `settings` are whatever changes results: a record with other settings is not gone on with. `named_by` is what tells
    tasks apart and comes first in a row. The `plan` was decided or measured at the start, such as who is slow.
    """

    path: Path
    experiment: str
    settings: dict[str, Any]
    named_by: tuple[str, ...]
    plan: dict[str, Any] = field(default_factory=dict)
    rows: dict[Key, dict[str, Any]] = field(default_factory=dict)
    written_at: float = 0.0

    def add(self, task: Task, outcome: dict[str, Any], /) -> None:
        """Keep a result, and write all of them unless that was done a moment ago."""
        self.rows[task.key] = {**task.what, **outcome}
        if time.monotonic() - self.written_at > _SECONDS_BETWEEN_WRITES:
            self.write()

    def sort(self, tasks: Sequence[Task], /) -> None:
        """Rows in the order of the tasks, not in that in which they were finished; others after them."""
        first = [task.key for task in tasks if task.key in self.rows]
        self.rows = {key: self.rows[key] for key in dict.fromkeys((*first, *self.rows))}

    def write(self) -> None:
        """The whole file, or none of it."""
        content = {
            "experiment": self.experiment,
            "settings": self.settings,
            "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
            "versions": _versions(),
            "plan": self.plan,
            "named_by": list(self.named_by),
            "results": list(self.rows.values()),
        }
        with written_whole(self.path) as part:
            part.write_text(json_of(content) + "\n", encoding="utf-8")
        self.written_at = time.monotonic()


def read_record(path: Path, experiment: str, /) -> Record:
    """A record from its file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        record = Record(path, found["experiment"], found["settings"], tuple(found["named_by"]), found["plan"])
        record.rows = {tuple(row[name] for name in record.named_by): row for row in found["results"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no results of renyi reproduce: move it away, or name another folder") from error
    if record.experiment != experiment:
        raise InputError(f"{path} holds results of {record.experiment!r}, not of {experiment!r}: move it away")
    return record


@dataclass(frozen=True)
class Run:
    """How an experiment is run, and where its results go: file, seed of the data, processes, a bar, who is told."""

    path: Path
    seed: int = 0
    jobs: int = 1
    progress: bool = False
    say: Say = print

    def record(self, experiment: str, settings: dict[str, Any], /, *, named_by: tuple[str, ...]) -> Record:
        """The record to go on with, or a new one: results of other settings are set aside, never mixed or lost."""
        path, settings = (
            self.path,
            json.loads(json_of({"seed": self.seed, **settings})),
        )  # as read back: tuples are lists
        if not path.exists():
            return Record(path, experiment, settings, named_by)
        found = read_record(path, experiment)
        changed = [name for name in {**settings, **found.settings} if found.settings.get(name) != settings.get(name)]
        if not changed:
            if found.rows:
                self.say(f"{path} has {len(found.rows):,} finished tasks: the run goes on from there")
            return found
        aside = _unused(path.with_name(f"{path.stem}-before{path.suffix}"))
        path.replace(aside)
        then_and_now = ", ".join(
            f"{name} {_short(found.settings.get(name))}, now {_short(settings[name])}"
            for name in changed
            if name in settings
        )
        self.say(
            f"{path} was made with other settings ({then_and_now}): it is kept as {aside.name}, and the run starts anew"
        )
        return Record(path, experiment, settings, named_by)

    def finish(self, record: Record, tasks: Sequence[Task], /) -> Record:
        """The record with the results of all tasks. Whatever ends the work, the file has all that was finished.

        A task that fails is left out and told of at the end, so that the others are not lost with it. With one job,
        tasks run here and one after the other, so that a task may look at the record.
        """
        todo = [task for task in tasks if task.key not in record.rows]
        failures: list[tuple[Task, Exception]] = []
        try:
            with closing(_finished(todo, self.jobs)) as finished:
                for task, result in watched(finished, len(todo), record.experiment, shown=self.progress):
                    try:
                        record.add(task, result())
                    except Exception as error:
                        failures.append((task, error))
        finally:
            record.sort(tasks)
            record.write()
        if failures:
            task, first = failures[0]
            named = ", ".join(str(value) for value in task.what.values())
            raise RenyiError(
                f"{len(failures):,} of {len(todo):,} tasks failed, the first ({named}) by {type(first).__name__}: "
                f"{first}; the others are in {record.path}"
            ) from first
        return record


def _unused(path: Path) -> Path:
    """The path, or with the first number that makes it new."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return path if not path.exists() else next(other for other in numbered if not other.exists())


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _finished(tasks: Sequence[Task], jobs: int) -> Generator[tuple[Task, Callable[[], dict[str, Any]]]]:
    """Tasks as they end, each with a function that returns the result, or raises what the task raised."""
    if min(jobs, len(tasks)) < 2:
        from threadpoolctl import threadpool_limits

        # As in the processes: rounding must not depend on the number of jobs.
        with threadpool_limits(1):
            for task in tasks:
                yield task, task.work
        return
    with _processes(min(jobs, len(tasks))) as pool:
        futures: dict[Future[dict[str, Any]], Task] = {pool.submit(task.work): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result


@contextmanager
def _processes(n: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of one thread each, which end at once when the work is interrupted."""
    before = set(active_children())
    # Not forked: a copy of a process that has threads may wait forever for one that was not copied.
    pool = ProcessPoolExecutor(n, mp_context=get_context("spawn"), initializer=begin_process)
    with _deaf():
        for _ in range(n):
            pool.submit(begin_process)  # each starts one
    ours = set(active_children()) - before
    # A pipe to a process that was ended is an error to the pool, not the end of this one, as the command line has it.
    with _ignored("SIGPIPE"):
        try:
            yield pool
        except BaseException:
            for process in ours:
                process.terminate()
            raise
        finally:
            # Once, and to its end: the thread that a pool leaves behind quarrels with the end of the interpreter.
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def started(process: BaseProcess, /) -> Iterator[None]:
    """A process that is ended with the block, whatever it does."""
    with _deaf():
        process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()
        process.close()


def begin_process() -> None:
    """In a new process: Ctrl-C is left to the parent, and other cores to other processes."""
    import scipy.linalg  # noqa: F401  # only libraries that are loaded can be limited
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)


def _deaf() -> AbstractContextManager[None]:
    """Without ears for Ctrl-C, which processes started here inherit: else each would print a traceback."""
    return _ignored("SIGINT")


@contextmanager
def _ignored(name: str) -> Iterator[None]:
    """A signal ignored for a while, where the system knows it and this thread may say so."""
    if not hasattr(signal, name) or threading.current_thread() is not threading.main_thread():
        yield
        return
    number = signal.Signals[name]
    before = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, before)


def processor() -> str:
    """The name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _versions() -> dict[str, str]:
    from renyi import __version__

    found = {"python": platform.python_version(), "renyi": __version__}
    for library in ("numpy", "scipy", "scikit-learn"):
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
