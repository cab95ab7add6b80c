"""Power against noise (paper, section 4.1): how often a dependence is told from independent data of equal margins."""

import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from renyi.compute.arrays import Array
from renyi.experiments.entries import AUTO, Entry
from renyi.experiments.patterns import EXTRA_PATTERNS, N_LEVELS, PATTERNS
from renyi.experiments.runs import Record, Run, Task
from renyi.experiments.summary import Summary, number

ALL_PATTERNS = {pattern.name: pattern for pattern in (*PATTERNS, *EXTRA_PATTERNS)}
LEVEL = 0.05


@dataclass(frozen=True)
class Sizes:
    """How much is done, for measures that take up to `slow_seconds` a pair and for those that take longer."""

    n: int = 500
    levels: tuple[float, ...] = tuple(range(1, N_LEVELS + 1))
    repetitions: int = 500
    slow_seconds: float = 0.005
    slow_levels: tuple[float, ...] = tuple(range(3, N_LEVELS + 1, 3))
    slow_repetitions: int = 100


FULL = Sizes()
QUICK = Sizes(levels=(5, 10, 15, 20, 25, 30), repetitions=50, slow_levels=(10, 20, 30), slow_repetitions=20)


class Repetition(NamedTuple):
    """One sample, and an x that has nothing to do with its y."""

    x: Array
    y: Array
    redrawn: Array


def repetition(pattern: str, level: float, n: int, /, *, seed: int, number: int) -> Repetition:
    """The same numbers whatever else is run, and in whatever order."""
    rng = np.random.default_rng([seed, zlib.crc32(pattern.encode()), round(1000 * level), n, number])
    x, y = ALL_PATTERNS[pattern].sample(n, level, rng)
    return Repetition(x, y, rng.random(n))


def power_of(entry: Entry, pattern: str, level: float, /, *, n: int, repetitions: int, seed: int) -> dict[str, Any]:
    """Share of samples above the 95th percentile of samples whose x was redrawn; for a test also by its p-values."""
    strengths, pvalues = np.empty((2, repetitions)), np.ones((2, repetitions))
    for r in range(repetitions):
        x, y, redrawn = repetition(pattern, level, n, seed=seed, number=r)
        found = entry.evidence((x, redrawn), y)
        strengths[:, r] = found.strengths
        if has_pvalues := found.pvalues is not None:
            pvalues[:, r] = found.pvalues
    cut = float(np.quantile(strengths[1], 1 - LEVEL))
    outcome = {"n": n, "repetitions": repetitions, "cut": cut, "power": float(np.mean(strengths[0] > cut))}
    if has_pvalues:
        rejected, by_chance = np.mean(pvalues <= LEVEL, axis=1).tolist()
        outcome |= {"rejected": rejected, "rejected_of_redrawn": by_chance}
    return outcome


def measure_power(
    how: Run, entries: Sequence[Entry], /, *, patterns: Sequence[str] = tuple(ALL_PATTERNS), sizes: Sizes = FULL
) -> Record:
    """Run the experiment on the same data for all entries, or what an earlier run has left of it."""
    record = how.record("power", asdict(sizes), named_by=("pattern", "level", "measure"))
    tasks = []
    for entry in entries:
        if str(entry) not in record.plan:
            with threadpool_limits(1):  # as where the work is done
                record.plan[str(entry)] = _plan(_seconds(entry, sizes.n), sizes)
        plan = record.plan[str(entry)]
        for pattern, level in product(patterns, plan["levels"]):
            work = partial(power_of, entry, pattern, level, n=sizes.n, repetitions=plan["repetitions"], seed=how.seed)
            tasks.append(Task({"pattern": pattern, "level": level, "measure": str(entry)}, work))
    return how.finish(record, sorted(tasks, key=lambda task: patterns.index(task.what["pattern"])))


def _plan(seconds: float, sizes: Sizes) -> dict[str, Any]:
    slow = seconds > sizes.slow_seconds
    return {
        "seconds": seconds,
        "levels": list(sizes.slow_levels if slow else sizes.levels),
        "repetitions": sizes.slow_repetitions if slow else sizes.repetitions,
    }


def _seconds(entry: Entry, n: int) -> float:
    """The best time of a pair, since other work on the machine can only add to it; the first call loads libraries."""
    x, y = np.random.default_rng(0).random((2, n))
    entry.evidence((x,), y)
    best, start = np.inf, time.perf_counter()
    for _ in range(7):
        begin = time.perf_counter()
        entry.evidence((x,), y)
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() - start > 1.0:
            break
    return float(best)


def summarise(record: Record, /) -> list[Summary]:
    """Mean power over the levels that all measures have, for the paper's patterns and for the others."""
    return [
        table
        for title, group in (("the paper's patterns", PATTERNS), ("other patterns", EXTRA_PATTERNS))
        if (table := _means(record, title, [pattern.name for pattern in group])) is not None
    ]


def _means(record: Record, title: str, patterns: list[str]) -> Summary | None:
    levels = [level for level in record.settings["levels"] if all(level in p["levels"] for p in record.plan.values())]
    powers = {key: row["power"] for key, row in record.rows.items() if key[1] in levels}
    shown = [pattern for pattern in patterns if any(key[0] == pattern for key in powers)]
    if not shown:
        return None
    rows = {}
    for measure in dict.fromkeys(key[2] for key in powers):
        of_patterns = [[powers.get((pattern, level, measure), np.nan) for level in levels] for pattern in shown]
        means = np.mean(of_patterns, axis=1)
        rows[measure] = [*means, means.mean()]
    ranked = sorted(rows, key=lambda measure: -np.nan_to_num(rows[measure][-1], nan=-1))
    counts = sorted({(row["n"], row["repetitions"]) for row in record.rows.values()})
    return Summary(
        f"Mean power, {title}",
        ("measure", *shown, "mean"),
        [(measure, *(number(value) for value in rows[measure])) for measure in ranked],
        (
            f"over {len(levels)} levels of noise that all measures have; "
            + ", ".join(f"{n:,} rows and {repetitions:,} repetitions" for n, repetitions in counts),
            *_size_of_test(record, patterns),
        ),
    )


def _size_of_test(record: Record, patterns: list[str]) -> list[str]:
    """How often the test's own p-value speaks, beside what the cut makes of its statistic."""
    own = [row for row in record.rows.values() if "rejected" in row and row["pattern"] in patterns]
    if not own:
        return []
    found, by_chance, by_cut = (
        np.mean([row[name] for row in own]) for name in ("rejected", "rejected_of_redrawn", "power")
    )
    return [
        f"{AUTO} over all its levels: p ≤ {LEVEL:g} in {found:.3f} of the samples and in {by_chance:.3f} of the "
        f"redrawn ones; above the cut {by_cut:.3f}"
    ]
