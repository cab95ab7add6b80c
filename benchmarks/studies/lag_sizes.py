"""How often the strongest of 49 lags of two independent series is called dependence.

`python benchmarks lag_sizes [ROWS ...]` takes about half an hour on one core and writes results/lag_sizes.json after
every cell; rows that are named are done anew, others are kept.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import RESULTS, record
from renyi.data.align import as_pair
from renyi.data.seasons import Adjustment
from renyi.data.time import timeline
from renyi.inference.lags import around
from renyi.inference.shifts import Shifts
from renyi.pair.prepare import prepare
from renyi.pair.series import restless, spectra
from time_sizes import PROCESSES, Process, Rng, recursive

LENGTHS = (100, 200, 500, 2000)
N_PAIRS = 2000
MAX_LAG = 24
LEVELS = (0.05, 0.01, 0.001)
PERIOD = 12


def seasonal(n: int, rng: Rng) -> NDArray[np.float64]:
    """A season of level and spread that two series share, with AR(1) noise of their own."""
    place = 2 * np.pi * np.arange(n) / PERIOD
    return np.asarray(3 * np.sin(place) + (1.5 + np.cos(place)) * recursive(0.5)(n, rng))


CASES: dict[str, tuple[Process, Adjustment]] = {
    **{name: (process, Adjustment.of(None, None)) for name, process in PROCESSES.items()},
    "season of 12, period=12": (seasonal, Adjustment.of(None, PERIOD)),
    "random walk, detrend='difference'": (PROCESSES["random walk"], Adjustment.of("difference", None)),
}


def log_pvalue(x: Any, y: Any, adjustment: Adjustment) -> tuple[float, bool]:
    """What `lags(x, y, max_lag=24)` finds, without coefficients, and whether it notes random walks."""
    pair = as_pair(x, y, missing="raise")
    adjusted = adjustment(pair, timeline(True, None, len(pair[0])))
    sides = [prepare(column) for column in adjusted.columns]
    shifts = Shifts(
        *(spectra(column, side, adjusted.line) for column, side in zip(adjusted.columns, sides, strict=True))
    )
    found = around(shifts, MAX_LAG, np.random.default_rng(0)).log_pvalue
    return found, bool(restless(adjusted.columns, sides, adjusted.line))


def size(name: str, n: int, rng: Rng) -> dict[str, Any]:
    process, adjustment = CASES[name]
    found = [log_pvalue(process(n, rng), process(n, rng), adjustment) for _ in range(N_PAIRS)]
    log_p, noted = np.array([p for p, _ in found]), np.array([noted for _, noted in found])
    return {
        "process": name,
        "n": n,
        "pairs": len(found),
        "sizes": {str(level): float(np.mean(log_p < np.log(level))) for level in LEVELS},
        "noted": float(noted.mean()),
        "of_unnoted": float(np.mean(log_p[~noted] < np.log(0.05))) if (~noted).sum() > 100 else None,
    }


def main(lengths: list[int]) -> None:
    target = RESULTS / "lag_sizes.json"
    rows = json.loads(target.read_text())["results"]["rows"] if target.exists() else []
    for n in lengths or LENGTHS:
        for k, name in enumerate(CASES):
            row = size(name, n, np.random.default_rng([k, n]))
            rows = [old for old in rows if (old["process"], old["n"]) != (name, n)] + [row]
            print(row, flush=True)
            record("lag_sizes", {"levels": LEVELS, "max_lag": MAX_LAG, "rows": rows})


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]])
