"""How often `RDCSelector(time=True)` chooses features that remember as the target does, and have nothing to do with it.

`python benchmarks selection_in_time` takes about 30 minutes of one core, uses all, and writes
results/selection_in_time.json. The search is that of the selector, without what reads its input.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from harness import record
from renyi.compute.arrays import Array
from renyi.data.column import Column
from renyi.data.time import timeline
from renyi.selection.candidates import as_candidates
from renyi.selection.forward import ByGain, forward
from renyi.selection.gain import Gains
from renyi.selection.series import GainsInTime
from time_sizes import PROCESSES

LENGTHS, SERIES = (200, 500), ("AR 0", "AR 0.5", "AR 0.9")
N_FEATURES, ALPHA = 8, 0.05
# Samples; of the last series, of which sizes are hardest to keep, there are more.
N_SAMPLES, N_OF_LAST, AT_ONCE = 200, 1000, 25


def chosen(x: Array, y: Array, *, in_time: bool) -> list[int]:
    """Which columns of x are chosen for y, with rows as series or as independent."""
    candidates = as_candidates([Column(f"x{j}", "number", values) for j, values in enumerate(x.T)])
    target = Column("y", "number", y)
    gains = GainsInTime(candidates, target, timeline(True, None, len(y))) if in_time else Gains(candidates, target)
    names = [f"x{j}" for j in range(len(candidates))]
    steps, _ = forward(ByGain(gains, pairs=True), names, range(len(names)), most=len(names), alpha=ALPHA, stops=True)
    return [step.feature for step in steps]


def some_samples(process: str, n: int, first: int) -> dict[str, Any]:
    """Of so many samples, how many have a false feature where the target follows none, or the square of one."""
    rng = np.random.default_rng([SERIES.index(process), n, first])
    counts = {"any of none": 0, "of none, rows as independent": 0, "one more": 0, "the right one": 0}
    for _ in range(AT_ONCE):
        *features, noise = (PROCESSES[process](n, rng) for _ in range(N_FEATURES + 1))
        x = np.column_stack(features)
        target = x[:, 0] ** 2 / np.var(x[:, 0]) + noise / np.std(noise)
        plain, by_order, after = (
            chosen(x, y, in_time=in_time) for in_time, y in ((True, noise), (False, noise), (True, target))
        )
        counts["any of none"] += bool(plain)
        counts["of none, rows as independent"] += bool(by_order)
        counts["one more"] += 0 in after and len(after) > 1
        counts["the right one"] += 0 in after
    return counts


def main() -> None:
    cells = [(process, n) for n in LENGTHS for process in SERIES]
    parts = [
        (*cell, first)
        for first in range(0, N_OF_LAST, AT_ONCE)
        for cell in cells
        if first < N_SAMPLES or cell[0] == SERIES[-1]
    ]
    rows: dict[tuple[str, int], dict[str, Any]] = {(p, n): {"process": p, "n": n, "samples": 0} for p, n in cells}
    with ProcessPoolExecutor() as pool:
        for (process, n, _), found in zip(parts, pool.map(some_samples, *zip(*parts, strict=True)), strict=True):
            row = rows[process, n]
            row["samples"] += AT_ONCE
            for key, number in found.items():
                row[key] = row.get(key, 0) + number
            print(row, flush=True)
            known = [row for row in rows.values() if row["samples"]]
            record("selection_in_time", {"alpha": ALPHA, "features": N_FEATURES, "rows": known})


if __name__ == "__main__":
    main()
