"""Time of each measure beside its original, on the same data in the same run: one function for each measure.

`python benchmarks/measures_speed.py [NAME ...]` writes `measures_speed_NAME.json`; without names, all of them.
"""

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
from harness import record

# Processor time of one call, as a mean over enough of them for R's clock, which counts hundredths of a second.
_MINERVA = """
library(minerva)
data <- read.csv("{path}")
used <- system.time(for (i in 1:{calls}) mine(data$x, data$y, est = "{estimator}"))
cat((used[["user.self"]] + used[["sys.self"]]) / {calls})
"""


def mic() -> dict[str, Any]:
    """Both estimators beside R's minerva, with both sides to be prepared; the best turn of each, in turns."""
    rows = []
    for n, n_calls, n_turns in ((500, 50, 6), (2000, 4, 4), (10_000, 1, 2)):
        x, noise = np.random.default_rng(n).random((2, n))
        for pattern, y in (("independent", noise), ("sine", np.sin(4 * np.pi * x) + noise)):
            for estimator in ("mic_approx", "mic_e"):
                ours = partial(renyi.measure("mic", estimator=estimator), x, y)
                turns = [(mean_time(ours, n_calls), by_minerva(x, y, estimator, n_calls)) for _ in range(n_turns)]
                best, theirs = (min(times) for times in zip(*turns, strict=True))
                row = {"n": n, "pattern": pattern, "estimator": estimator, "renyi": best, "minerva": theirs}
                rows.append({**row, "ratio": best / theirs})
                print(rows[-1], flush=True)
    return {"clock": "processor seconds a call, mean of a turn", "rows": rows}


def by_minerva(x: Any, y: Any, estimator: str, n_calls: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.csv"
        np.savetxt(path, np.column_stack((x, y)), delimiter=",", header="x,y", comments="", fmt="%.17g")
        program = _MINERVA.format(path=path, calls=n_calls, estimator=estimator)
        run = subprocess.run(["Rscript", "-e", program], capture_output=True, text=True, check=True)
    return float(run.stdout)


def mean_time(call: Callable[[], object], n_calls: int) -> float:
    """Processor seconds of a call, after one that is not counted."""
    call()
    start = time.process_time()
    for _ in range(n_calls):
        call()
    return (time.process_time() - start) / n_calls


MEASURES: dict[str, Callable[[], dict[str, Any]]] = {"mic": mic}

if __name__ == "__main__":
    for name in sys.argv[1:] or MEASURES:
        record(f"measures_speed_{name}", MEASURES[name](), "numpy")
