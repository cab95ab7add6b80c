"""How often the test of two series rejects independent ones, and how often it sees a parabola.

`python benchmarks time_sizes` takes about ten minutes of one core, uses all, and writes results/time_sizes.json.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import renyi
from harness import record
from renyi.data.align import as_pair
from renyi.data.seasons import NOTHING, Adjustment
from renyi.data.time import timeline
from renyi.inference.shifts import Shifts
from renyi.pair.prepare import prepare
from renyi.pair.series import restless, spectra

Rng: TypeAlias = np.random.Generator
Process: TypeAlias = Callable[[int, Rng], Any]

LENGTHS = (100, 200, 500, 2000)
N_PAIRS = 2000
N_FOR_POWER = 300
BURN_IN = 300
LEVELS = (0.05, 0.01, 0.001)


def recursive(*coefficients: float, tails: float | None = None) -> Process:
    """An autoregression, its innovations normal or of Student's t."""

    def draw(n: int, rng: Rng) -> NDArray[np.float64]:
        shape = n + BURN_IN
        innovations = rng.standard_normal(shape) if tails is None else rng.standard_t(tails, shape)
        return np.asarray(lfilter([1], [1, *(-c for c in coefficients)], innovations))[BURN_IN:]

    return draw


def moving_average(n: int, rng: Rng) -> NDArray[np.float64]:
    return np.convolve(rng.standard_normal(n + 7), np.ones(8), mode="valid")


def garch(n: int, rng: Rng) -> NDArray[np.float64]:
    variance, values = 1.0, np.empty(n + BURN_IN)
    for t, shock in enumerate(rng.standard_normal(n + BURN_IN)):
        values[t] = np.sqrt(variance) * shock
        variance = 0.05 + 0.1 * values[t] ** 2 + 0.85 * variance
    return values[BURN_IN:]


def counts(n: int, rng: Rng) -> NDArray[np.int64]:
    return np.asarray(rng.poisson(np.exp(0.5 * recursive(0.8)(n, rng))))


def chain(n: int, rng: Rng) -> Any:
    """A category of three levels that stays where it is in four of five steps."""
    moves = np.where(rng.random(n) < 0.8, 0, rng.integers(1, 3, n))
    return renyi.categorical(np.array(["a", "b", "c"])[np.cumsum(moves) % 3])


def flag(n: int, rng: Rng) -> Any:
    """A category that is on in one of twenty rows, at two of them at least."""
    while True:
        is_on = rng.random(n) < 0.05
        if is_on.sum() > 1:
            return renyi.categorical(np.where(is_on, "on", "off"))


def vector(n: int, rng: Rng) -> NDArray[np.float64]:
    return np.column_stack([recursive(0.7)(n, rng) for _ in range(2)])


def walk(n: int, rng: Rng) -> NDArray[np.float64]:
    return np.cumsum(rng.standard_normal(n))


def seasonal(n: int, rng: Rng) -> NDArray[np.float64]:
    """An autoregression whose level and spread follow a season of 24 rows, another one every time."""
    level, spread = rng.standard_normal((2, 24))[:, np.arange(n) % 24]
    return np.asarray(2.0 * level + np.exp(0.5 * spread) * recursive(0.5)(n, rng))


def rising(n: int, rng: Rng) -> NDArray[np.float64]:
    """An autoregression with a trend of four standard deviations."""
    return np.asarray(recursive(0.5)(n, rng) + 4.6 * np.arange(n) / n)


def units(n: int, rng: Rng) -> NDArray[np.float64]:
    """Series of 50 rows, each with a level of its own."""
    return np.concatenate([3.0 * rng.standard_normal() + recursive(0.5)(50, rng) for _ in range(n // 50)])


PROCESSES: dict[str, Process] = {
    "AR 0": recursive(0.0),
    "AR 0.5": recursive(0.5),
    "AR 0.9": recursive(0.9),
    "AR 0.97": recursive(0.97),
    "AR −0.8": recursive(-0.8),
    "AR(2) cycles": recursive(1.6, -0.9),
    "MA(8)": moving_average,
    "GARCH": garch,
    "AR 0.8, heavy tails": recursive(0.8, tails=1.5),
    "counts": counts,
    "Markov chain": chain,
    "vectors of 2, AR 0.7": vector,
    "random walk": walk,
}

# What is taken out of them before the test, and whether rows belong to series of 50.
ADJUSTED: dict[str, tuple[Process, Adjustment, bool]] = {
    "seasons of 24, period=24": (seasonal, Adjustment.of(None, 24), False),
    "trends, detrend='linear'": (rising, Adjustment.of("linear", None), False),
    "trends, detrend='difference'": (rising, Adjustment.of("difference", None), False),
    "random walk, detrend='difference'": (walk, Adjustment.of("difference", None), False),
    "panels of 50 rows each": (units, NOTHING, True),
    "flags of 5 %": (flag, NOTHING, False),
}


def log_pvalue(x: Any, y: Any, adjustment: Adjustment = NOTHING, in_units: bool = False) -> tuple[float, bool]:
    """What `independence_test(x, y, time=True)` finds, without its coefficient, and whether it notes random walks."""
    n = len(x)
    line = timeline(True, np.arange(n) // 50 if in_units else None, n)
    adjusted = adjustment(as_pair(x, y, missing="raise"), line)
    pair, line, sides = adjusted.columns, adjusted.line, [prepare(column) for column in adjusted.columns]
    found = Shifts(*(spectra(column, side, line) for column, side in zip(pair, sides, strict=True))).at(0)[0]
    return found, len(restless(pair, sides, line)) > 0


def size(process: Process, n: int, rng: Rng, *settings: Any) -> dict[str, Any]:
    found = [log_pvalue(process(n, rng), process(n, rng), *settings) for _ in range(N_PAIRS)]
    log_p = np.array([p for p, _ in found])
    return {
        "n": n,
        "pairs": len(found),
        "sizes": {str(level): float(np.mean(log_p < np.log(level))) for level in LEVELS},
        "noted": float(np.mean([noted for _, noted in found])),
    }


def power(process: Process, n: int, rng: Rng) -> float:
    """Of y = x² + another such series."""
    found = []
    for _ in range(N_FOR_POWER):
        x = process(n, rng)
        found.append(log_pvalue(x, x**2 + process(n, rng))[0])
    return float(np.mean(np.array(found) < np.log(0.05)))


def cell(name: str, n: int) -> dict[str, Any]:
    """Sizes for one kind of series and one length, with the power of some."""
    k = [*PROCESSES, *ADJUSTED].index(name)
    process, *settings = ADJUSTED[name] if name in ADJUSTED else (PROCESSES[name],)
    row = {"process": name} | size(process, n, np.random.default_rng([k, n]), *settings)
    if name.startswith("AR 0") and "," not in name and n < 2000:
        row["power"] = power(process, n, np.random.default_rng([k, n, 1]))
    return row


def main() -> None:
    cells = [(name, n) for name in (*PROCESSES, *ADJUSTED) for n in LENGTHS]
    rows = []
    with ProcessPoolExecutor() as pool:
        for row in pool.map(cell, *zip(*cells, strict=True)):
            rows.append(row)
            print(row, flush=True)
    record("time_sizes", {"levels": LEVELS, "rows": rows})


if __name__ == "__main__":
    main()
