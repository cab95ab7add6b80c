"""Processor time of what changed between two tables, beside the dependences of one of them.

`python benchmarks change_speed` takes two minutes on one core and writes results/change_speed.json. Two tables of 100
columns × 50,000 rows that share five factors: `compare` beside `matrix` of one table, all pairs, in turns, and beside
the two matrices that it is shown with. A share of the rows as an argument tries it on fewer. `files` takes two Parquet
files of 10 million rows and ten columns instead, 1 GB in the folder for temporary files, and a minute.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import renyi
from harness import RESULTS, record, run_python
from renyi.change.in_memory import changes_of
from renyi.change.reading import together

N_ROWS, N_COLUMNS, N_ROUNDS = 50_000, 100, 3


def table(n_rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors, weights = rng.standard_normal((5, n_rows)), np.random.default_rng(0).random(N_COLUMNS)
    return {f"x{k}": weights[k] * factors[k % 5] + rng.standard_normal(n_rows) for k in range(N_COLUMNS)}


LARGE_ROWS, BATCH, MEMORY = 10_000_000, 500_000, "1GB"

_COMPARED = """
import json, re, sys, time
import renyi
before, after, memory = {arguments!r}
start = time.process_time()
found = renyi.compare(before, after, memory=memory)
seconds, status = time.process_time() - start, open("/proc/self/status").read()
peak = int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 2**20
print(json.dumps({{"seconds": seconds, "peak": peak, "said": found.sampled, "found": str(found)}}))
"""


def large_batch(rng: np.random.Generator, is_after: bool) -> pa.Table:
    """Numbers that share a factor, counts, codes, levels of which one is rare and new, and gaps."""
    factor, rare = rng.standard_normal(BATCH), 2e-5 * is_after
    columns: dict[str, Any] = {
        f"x{k}": (k % 3 / 2 * factor + rng.standard_normal(BATCH)).astype(np.float32) for k in range(6)
    }
    columns["x0"] += np.float32(0.01 * is_after)
    columns["count"] = rng.poisson(3 + np.exp(factor / 2)).astype(np.int16)
    columns["code"] = rng.integers(0, 3000, BATCH).astype(np.int16)
    level = rng.choice(5, BATCH, p=[0.4, 0.3, 0.2, 0.1 - rare, rare])
    columns["level"] = pa.DictionaryArray.from_arrays(pa.array(level), ["a", "b", "c", "d", "rare"])
    columns["gaps"] = pa.array(factor.astype(np.float32), mask=rng.random(BATCH) < 0.05 + 0.002 * is_after)
    return pa.table(columns)


def of_files() -> None:
    """Two files that are not loaded, in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{name}.parquet") for name in ("before", "after")]
        for k, file in enumerate(files):
            rng = np.random.default_rng([3, k])
            batches = (large_batch(rng, bool(k)) for _ in range(LARGE_ROWS // BATCH))
            first = next(batches)
            with pq.ParquetWriter(file, first.schema) as writer:
                writer.write_table(first)
                for batch in batches:
                    writer.write_table(batch)
        told = json.loads(run_python(_COMPARED.format(arguments=(*files, MEMORY))).splitlines()[-1])
    print(told["found"], f"{told['seconds']:.1f} s", f"{told['peak']:.2f} GB", sep="\n")
    found = json.loads((RESULTS / "change_speed.json").read_text())["results"]
    found["files"] = {
        "rows": LARGE_ROWS,
        "columns": first.num_columns,
        "memory": MEMORY,
        "processor seconds": round(told["seconds"], 1),
        "peak GB": round(told["peak"], 2),
    }
    record("change_speed", found, "numpy", "scipy")


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
        known = json.loads((RESULTS / "change_speed.json").read_text())["results"]
        found = known | {
            "rows": N_ROWS,
            "columns": N_COLUMNS,
            "processor seconds": seconds,
            "compare by matrix": round(ratio, 2),
        }
        record("change_speed", found, "numpy", "scipy")


if __name__ == "__main__":
    if sys.argv[1:] == ["files"]:
        of_files()
        sys.exit()
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
