"""Times of measures beside the programs that the paper used: `python benchmarks/measures_speed.py [NAME ...]`."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import renyi
from harness import best_times, record

# Reads x and y, and prints the seconds of the best of several calls, each long enough to be timed.
_ACEPACK = """
library(acepack)
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2]); repeats <- as.integer(arguments[3])
numbers <- readBin(arguments[1], "double", 2 * n)
x <- numbers[1:n]; y <- numbers[n + 1:n]
once <- function() system.time(for (i in seq_len(repeats)) ace(x, y))[["elapsed"]] / repeats
cat(min(replicate(5, once())))
"""


def ace() -> dict[str, Any]:
    """`ace` beside acepack, and the time of a shuffle."""
    rows = []
    for n in (500, 10**4, 10**5):
        rng = np.random.default_rng(n)
        x, y = rng.random((2, n))
        measure = renyi.measure("ace")
        sides = measure.prepare(x), measure.prepare(y)
        orders = np.stack([rng.permutation(n) for _ in range(20)])
        calls: dict[str, Callable[[], object]] = {
            "ace": partial(measure, x, y),
            "20 shuffles": partial(measure.shuffled, *sides, orders),
        }
        # In turns, so that a noisy moment hits both.
        ours, theirs = dict.fromkeys(calls, np.inf), np.inf
        for _ in range(3):
            ours = {name: min(seconds, ours[name]) for name, seconds in best_times(calls, seconds=3).items()}
            theirs = min(theirs, _in_r(_ACEPACK, x, y, repeats=max(1, 2 * 10**4 // n)))
        rows.append({"n": n, "seconds": ours | {"acepack": theirs}, "ratio": ours["ace"] / theirs})
        print(f"ace, n = {n:,}: {rows[-1]}", flush=True)
    return {"rows": rows}


def _in_r(program: str, x: Any, y: Any, *, repeats: int) -> float:
    """Seconds that a program of R prints for the data."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data", Path(folder) / "program.R"
        data.write_bytes(np.concatenate((x, y)).tobytes())
        script.write_text(program)
        command = ["Rscript", str(script), str(data), str(len(x)), str(repeats)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


MEASURES: dict[str, Callable[[], dict[str, Any]]] = {"ace": ace}


if __name__ == "__main__":
    for name in sys.argv[1:] or MEASURES:
        start = time.perf_counter()
        record(f"speed_{name}", MEASURES[name](), "numpy")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
