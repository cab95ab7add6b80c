"""How often `RDCSelector(time=True)` chooses features that remember as the target does, and have nothing to do with it.

`python benchmarks selection_in_time` takes about six minutes of one core, uses all, and writes
results/selection_in_time.json.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from harness import record
from renyi.sklearn import RDCSelector
from time_sizes import PROCESSES

LENGTHS, SERIES = (200, 500), ("AR 0", "AR 0.5", "AR 0.9")
N_FEATURES, ALPHA = 8, 0.05
N_SAMPLES, AT_ONCE = 200, 25


def some_samples(process: str, n: int, first: int) -> dict[str, Any]:
    """Of so many samples, how many have a false feature where the target follows none, or the square of one."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SERIES.index(process), n, first])
    counts = {"any of none": 0, "of none, rows as independent": 0, "one more": 0, "the right one": 0}
    for _ in range(AT_ONCE):
        *features, noise = (PROCESSES[process](n, rng) for _ in range(N_FEATURES + 1))
        x = np.column_stack(features)
        target = x[:, 0] ** 2 / np.var(x[:, 0]) + noise / np.std(noise)
        in_time, independent = RDCSelector(alpha=ALPHA, time=True), RDCSelector(alpha=ALPHA)
        plain, by_order, after = (
            selector.fit(x, y).get_support(indices=True).tolist()
            for selector, y in ((in_time, noise), (independent, noise), (in_time, target))
        )
        counts["any of none"] += bool(plain)
        counts["of none, rows as independent"] += bool(by_order)
        counts["one more"] += 0 in after and len(after) > 1
        counts["the right one"] += 0 in after
    return counts


def main() -> None:
    cells = [(process, n) for n in LENGTHS for process in SERIES]
    parts = [(*cell, first) for first in range(0, N_SAMPLES, AT_ONCE) for cell in cells]
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
