"""Running times (paper, section 4.1): independent uniform scalars, one measure at a time, slow runs cancelled."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np

from renyi.errors import InputError, RenyiError
from renyi.experiments.entries import Entry
from renyi.experiments.runs import Record, Run, Task, begin_process, processor, started
from renyi.experiments.summary import Summary

# Seconds in the paper's table, for 10³, 10⁴, 10⁵ and 10⁶ rows; shorter where runs were cancelled.
PAPER = {
    "pearson": (0.0001, 0.0002, 0.0071, 0.0914),
    "rdc": (0.0047, 0.0557, 0.3991, 4.6253),
    "ace": (0.0080, 0.0782, 0.5101, 5.3830),
    "dcor": (0.3417, 59.587),
    "hsic": (0.3103, 27.630),
    "chsic": (0.3501, 29.522),
    "mic": (1.0983,),
    "kcca": (166.29,),
}
PAPER_SIZES = (1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Limits:
    """Rows, runs at most, seconds after which no further run begins, and seconds after which a run is cancelled."""

    sizes: tuple[int, ...] = PAPER_SIZES
    runs: int = 100
    seconds: float = 60.0
    cancelled_after: float = 600.0


FULL = Limits()
QUICK = Limits(sizes=PAPER_SIZES[:3], runs=10, seconds=2.0, cancelled_after=10.0)


def times_of(entry: Entry, n: int, /, *, limits: Limits, seed: int) -> dict[str, Any]:
    """Seconds of each run in a process of its own, which is ended where a run takes too long; or a reason for none.

    What fails by an error of its own is no outcome, and raised.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_time, args=(theirs, entry, n, limits, seed), daemon=True)
    with started(process):
        theirs.close()
        seconds, reason = _collect(ours, process, limits)
    if not seconds:
        return {"runs": 0, "seconds": None, "reason": reason}
    return {"runs": len(seconds), "seconds": float(np.mean(seconds)), "least": min(seconds), "reason": reason}


def _collect(messages: Connection, process: BaseProcess, limits: Limits) -> tuple[list[float], str]:
    """What the process reports until it is done, dies, or is silent for too long."""
    seconds: list[float] = []
    if not messages.poll(_SECONDS_TO_START + limits.cancelled_after):
        raise RenyiError("the process did not start")
    while True:
        if not messages.poll(limits.cancelled_after):
            return seconds, f"cancelled after {limits.cancelled_after:g} s"
        try:
            message = messages.recv()
        except EOFError:
            process.join()
            return seconds, f"{_DIED} with code {process.exitcode}, as where memory runs out"
        if message is None:
            return seconds, ""
        if isinstance(message, tuple):
            raise RenyiError(*message)
        if isinstance(message, str):
            return seconds, message
        if message > 0:
            seconds.append(message)


_SECONDS_TO_START = 60.0
_READY = 0.0
_DIED = "its process ended"


def _time(messages: Connection, entry: Entry, n: int, limits: Limits, seed: int) -> None:
    """Within the process: one message when it is ready, one after each run, and one for the end."""
    begin_process()
    try:
        entry(*np.random.default_rng(seed).random((2, 200)))  # loads what is loaded on first use
        messages.send(_READY)
        begin, rng = time.perf_counter(), np.random.default_rng([seed, n])
        for _ in range(limits.runs):
            x, y = rng.random((2, n))
            start = time.perf_counter()
            entry(x, y)
            messages.send(time.perf_counter() - start)
            if time.perf_counter() - begin > limits.seconds:
                break
        messages.send(None)
    except InputError as error:
        messages.send(f"refused: {error}")
    except Exception as error:
        messages.send((f"{type(error).__name__}: {error}",))


def measure_times(how: Run, entries: Sequence[Entry], /, *, limits: Limits = FULL) -> Record:
    """Run the experiment, or what an earlier run on the same processor has left of it.

    `seconds` of a row is the mean over `runs`, or None with a `reason`. With `lost_at` it was not run at all, since so
    few rows were too many. Where a process died, the next run tries again.
    """
    record = how.record("times", {"processor": processor(), **asdict(limits)}, named_by=("n", "measure"))
    # Memory may be there this time.
    record.rows = {key: row for key, row in record.rows.items() if not row["reason"].startswith(_DIED)}
    tasks = [
        Task({"n": n, "measure": str(entry)}, partial(_unless_lost, record, entry, n, limits, how.seed))
        for n in sorted(limits.sizes)
        for entry in entries
    ]
    return replace(how, jobs=1).finish(record, tasks)


def _unless_lost(record: Record, entry: Entry, n: int, limits: Limits, seed: int) -> dict[str, Any]:
    """Times, unless fewer rows were too many."""
    for (fewer, measure), row in record.rows.items():
        if measure == str(entry) and fewer < n and row["reason"]:
            return {"runs": 0, "seconds": None, "reason": row["reason"], "lost_at": row.get("lost_at", fewer)}
    return times_of(entry, n, limits=limits, seed=seed)


def summarise(record: Record, /) -> list[Summary]:
    """Mean seconds beside those of the paper."""
    sizes = list(dict.fromkeys(n for n, _ in record.rows))
    measures = list(dict.fromkeys(measure for _, measure in record.rows))
    rows = []
    for measure in measures:
        ours = [_seconds(record.rows.get((n, measure), {}).get("seconds")) for n in sizes]
        theirs = dict(zip(PAPER_SIZES, PAPER.get(measure, ()), strict=False))
        rows.append((measure, *ours, *(_seconds(theirs.get(n)) for n in sizes)))
    limits = record.settings
    reasons = [
        f"{measure} at n = {n:,}: {row['reason']}"
        for (n, measure), row in record.rows.items()
        if row["reason"] and "lost_at" not in row
    ]
    return [
        Summary(
            "Seconds for one pair of independent uniform scalars",
            ("measure", *(f"n = {n:,}" for n in sizes), *(f"paper, n = {n:,}" for n in sizes)),
            rows,
            (
                f"means of {limits['runs']} runs, or of as many as begin within {limits['seconds']:g} s; runs above "
                f"{limits['cancelled_after']:g} s are cancelled; linear algebra has one thread",
                *reasons,
            ),
        )
    ]


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"
