"""Processor time of what changed between two tables, beside the dependences of one of them.

`python benchmarks change_speed` takes two minutes on one core and writes results/change_speed.json. Two tables of 100
columns × 50,000 rows that share five factors: `compare` beside `matrix` of one table, all pairs, in turns, and beside
the two matrices that it is shown with. A share of the rows as an argument tries it on fewer.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable

import numpy as np

import renyi
from harness import record
from renyi.change.in_memory import changes_of
from renyi.change.reading import together

N_ROWS, N_COLUMNS, N_ROUNDS = 50_000, 100, 3


def table(n_rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors, weights = rng.standard_normal((5, n_rows)), np.random.default_rng(0).random(N_COLUMNS)
    return {f"x{k}": weights[k] * factors[k % 5] + rng.standard_normal(n_rows) for k in range(N_COLUMNS)}


def main(share: float) -> None:
    before, after = (table(int(share * N_ROWS), seed) for seed in (1, 2))
    both = together(before, after, ("before", "after"), None, 2000)
    calls: dict[str, Callable[[], object]] = {
        "matrix": lambda: renyi.matrix(before).pvalues,
        "compare": lambda: renyi.compare(before, after),
        "changes alone": lambda: changes_of(both),
    }
    best = dict.fromkeys(calls, float("inf"))
    renyi.matrix(before)
    for _ in range(N_ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
        print({name: round(seconds, 3) for name, seconds in best.items()}, flush=True)
    ratio = best["compare"] / best["matrix"]
    print(f"{ratio:.2f} times one matrix")
    if share == 1.0:
        seconds = {name: round(value, 3) for name, value in best.items()}
        found = {
            "rows": N_ROWS,
            "columns": N_COLUMNS,
            "processor seconds": seconds,
            "compare by matrix": round(ratio, 2),
        }
        record("change_speed", found, "numpy", "scipy")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
