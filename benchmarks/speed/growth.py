"""Time of tables in memory with more rows, and with more columns.

`python benchmarks growth` takes about three minutes on two cores, needs 6 GB of memory, and writes
results/growth.json; `growth_picture` draws it, with the times on more cores that `cores` has found. Every size has a
process of its own. Rows are those of `renyi.matrix` of 20 columns; columns are those of `renyi.pairs`, whose results of
all pairs fit into memory, on 100 rows.
"""

import json
import sys
import time
from typing import Any

import numpy as np

from harness import record, run_python

N_COLUMNS, N_ROWS = 20, 100
ROWS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
# Short calls are repeated for so long.
_SECONDS = 1.0


def here(call: str, shape: tuple[int, int]) -> dict[str, float]:
    """Best times of this process."""
    import renyi

    rng = np.random.default_rng(sum(shape))
    values = rng.standard_normal(shape)
    getattr(renyi, call)(values[:100, :10])  # what is made once
    best, start = {"seconds": np.inf, "processor": np.inf}, time.perf_counter()
    while time.perf_counter() - start < _SECONDS:
        times = time.perf_counter(), time.process_time()
        getattr(renyi, call)(values)
        best["seconds"] = min(best["seconds"], time.perf_counter() - times[0])
        best["processor"] = min(best["processor"], time.process_time() - times[1])
    return {name: float(f"{value:.3g}") for name, value in best.items()}


def timed(call: str, shape: tuple[int, int]) -> dict[str, Any]:
    """The same in a process of its own."""
    folders = [path for path in sys.path if path]
    program = f"import sys, json; sys.path[:0] = {folders!r}; import growth"
    found = json.loads(run_python(f"{program}; print(json.dumps(growth.here({call!r}, {shape!r})))"))
    print(call, shape, found, flush=True)
    return {"rows": shape[0], "columns": shape[1], **found}


if __name__ == "__main__":
    record(
        "growth",
        {
            "rows": [timed("matrix", (n_rows, N_COLUMNS)) for n_rows in ROWS],
            "columns": [timed("pairs", (N_ROWS, n_columns)) for n_columns in COLUMNS],
        },
        "numpy",
        "scipy",
    )
