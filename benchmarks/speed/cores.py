"""Time of tables of 10,000 rows on 1, 2, 4, … cores of one machine, as they are and with other sizes of tiles.

`python benchmarks cores` takes a few minutes on 16 cores and writes results/cores.json. Every number of cores has a
process of its own, which is pinned to that many cores and has the libraries for linear algebra do as much. What is
tried out goes into the same file: `--try tiles96 renyi.allpairs.tiles:_MOST_COLUMNS=96` sets constants of modules, by a
name for the trial, and may be repeated; `--only` leaves out all but some tables, `--cores 1 16` all but some numbers of
cores, and `--rounds` says how often each is taken.
Pairs and p-values of all runs of one trial are compared bit by bit: they do not depend on the cores.
"""

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from harness import record

N_ROWS = 10_000
TABLES = {
    f"{n_columns}{', 30 % missing' if has_gaps else ''}, {kind}": (n_columns, has_gaps, kind)
    for n_columns in (300, 600)
    for has_gaps in (False, True)
    for kind in ("float64", "float32")
}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def table_of(n_columns: int, has_gaps: bool, kind: str) -> Any:
    """Normal numbers, every tenth column of which depends on the one before."""
    values = np.random.default_rng(n_columns).standard_normal((N_ROWS, n_columns))
    values[:, 1::10] += 0.1 * values[:, ::10] ** 2
    if has_gaps:
        values[np.random.default_rng(1).random(values.shape) < 0.3] = np.nan
    return values.astype(kind)


def set_constants(assignments: list[str]) -> None:
    """Constants of modules as `module:NAME=VALUE`."""
    for assignment in assignments:
        place, _, value = assignment.partition("=")
        module, _, name = place.partition(":")
        home = importlib.import_module(module)
        if not hasattr(home, name):
            sys.exit(f"{module} has no constant {name}")
        setattr(home, name, json.loads(value))


def here(names: list[str], assignments: list[str], n_rounds: int) -> dict[str, dict[str, Any]]:
    """Times of this process, on the cores that it has, and what the answers are as one number."""
    import renyi

    set_constants(assignments)
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        table = table_of(*TABLES[name])
        renyi.matrix(table[:, :20])  # what is made once
        times, of_processor = [], []
        for _ in range(n_rounds):
            start, used = time.perf_counter(), time.process_time()
            answer = renyi.matrix(table)
            times.append(time.perf_counter() - start)
            of_processor.append(time.process_time() - used)
        bits = hashlib.sha256(answer.edges.found.coefficient.tobytes() + answer.edges.found.log_pvalue.tobytes())
        found[name] = {
            "seconds": round(min(times), 3),
            "processor": round(min(of_processor), 3),
            "answers": bits.hexdigest()[:16],
        }
    return found


def pinned(n_cores: int, names: list[str], assignments: list[str], n_rounds: int) -> dict[str, dict[str, Any]]:
    """The same in a process that is pinned to the first so many cores."""
    cores = sorted(os.sched_getaffinity(0))[:n_cores]
    threads = dict.fromkeys(_THREADS, str(n_cores))
    runner = Path(__file__).resolve().parent.parent
    # Before Python begins, so that threads which NumPy starts when it is imported are pinned too.
    pin = ["taskset", "--cpu-list", ",".join(map(str, cores))]
    command = [*pin, sys.executable, str(runner), "cores", "--here", json.dumps([names, assignments, n_rounds])]
    run = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    found: dict[str, dict[str, Any]] = json.loads(run.stdout)
    return found


def main(trials: dict[str, list[str]], names: list[str], counts: list[int], n_rounds: int) -> None:
    counts = [n for n in counts if n <= len(os.sched_getaffinity(0))]
    found: dict[str, Any] = {}
    for trial, assignments in trials.items():
        by_cores = {n: pinned(n, names, assignments, n_rounds) for n in counts}
        rows: dict[str, Any] = {}
        for name in names:
            seconds = {str(n): by_cores[n][name]["seconds"] for n in counts}
            rows[name] = {
                "seconds": seconds,
                "processor": {str(n): by_cores[n][name]["processor"] for n in counts},
                "times as fast": round(seconds[str(counts[0])] / seconds[str(counts[-1])], 2),
                "same bits": len({by_cores[n][name]["answers"] for n in counts}) == 1,
            }
            print(trial, name, rows[name], flush=True)
        found[trial] = {"constants": assignments, "tables": rows}
    record("cores", found, "numpy", "scipy")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--try", dest="trials", nargs="+", action="append", default=[], metavar="NAME MODULE:NAME=VALUE"
    )
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--cores", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(here(*json.loads(asked.here))))
    else:
        tried = {"as it is": []} | {name: constants for name, *constants in asked.trials}
        main(tried, asked.only, asked.cores, asked.rounds)
