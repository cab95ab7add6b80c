"""How often the strongest of 49 lags of two independent series is called dependence.

`python benchmarks lag_sizes [ROWS ...]` takes about half an hour of one core, uses all, and writes
results/lag_sizes.json. It goes round all cells, 250 pairs at a time, writes after each, and goes on from what is there:
delete the file to begin anew.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import RESULTS, record
from renyi.data.align import as_pair
from renyi.data.seasons import NOTHING, Adjustment
from renyi.data.time import timeline
from renyi.inference.lags import around
from renyi.inference.shifts import Shifts
from renyi.pair.prepare import prepare
from renyi.pair.series import restless, spectra
from time_sizes import PROCESSES, Process, Rng, flag, recursive

LENGTHS = (100, 200, 500, 2000)
N_PAIRS, AT_ONCE = 2000, 250
MAX_LAG = 24
LEVELS = (0.05, 0.01, 0.001)
PERIOD = 12


def seasonal(n: int, rng: Rng) -> NDArray[np.float64]:
    """A season of level and spread that two series share, with AR(1) noise of their own."""
    place = 2 * np.pi * np.arange(n) / PERIOD
    return np.asarray(3 * np.sin(place) + (1.5 + np.cos(place)) * recursive(0.5)(n, rng))


CASES: dict[str, tuple[Process, Adjustment]] = {
    **{name: (process, NOTHING) for name, process in PROCESSES.items()},
    "season of 12, period=12": (seasonal, Adjustment.of(None, PERIOD)),
    "random walk, detrend='difference'": (PROCESSES["random walk"], Adjustment.of("difference", None)),
    "flags of 5 %": (flag, NOTHING),
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


def some_pairs(name: str, n: int, first: int) -> dict[str, int]:
    """Of so many pairs, how many have a p-value below each level, are noted as random walks, or neither."""
    process, adjustment = CASES[name]
    rng = np.random.default_rng([list(CASES).index(name), n, first])
    found = [log_pvalue(process(n, rng), process(n, rng), adjustment) for _ in range(AT_ONCE)]
    log_p, noted = np.array([p for p, _ in found]), np.array([noted for _, noted in found])
    counts = {str(level): int(np.count_nonzero(log_p < np.log(level))) for level in LEVELS}
    unnoted = int(np.count_nonzero(log_p[~noted] < np.log(0.05)))
    return counts | {"pairs": AT_ONCE, "noted": int(noted.sum()), "0.05 and not noted": unnoted}


def main(lengths: list[int]) -> None:
    target = RESULTS / "lag_sizes.json"
    rows = json.loads(target.read_text())["results"]["rows"] if target.exists() else []
    cells: dict[tuple[str, int], dict[str, Any]] = {(row["process"], row["n"]): row for row in rows}
    wanted = [
        (name, n, first)
        for first in range(0, N_PAIRS, AT_ONCE)
        for n in lengths or LENGTHS
        for name in CASES
        if first not in cells.setdefault((name, n), {"process": name, "n": n, "rounds": []})["rounds"]
    ]
    with ProcessPoolExecutor() as pool:
        waiting = {pool.submit(some_pairs, *part): part for part in wanted}
        for done in as_completed(waiting):
            name, n, first = waiting[done]
            row = cells[name, n]
            row["rounds"].append(first)
            for key, number in done.result().items():
                row[key] = row.get(key, 0) + number
            print(row, flush=True)
            known = [row for row in cells.values() if row["rounds"]]
            record("lag_sizes", {"levels": LEVELS, "max_lag": MAX_LAG, "rows": known})


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]])
