"""Power of `renyi.lags` beside hyppo's DcorrX and MGCX and a block permutation of dcor, on hyppo's own simulations.

`python benchmarks time_power [TEST ...]` takes about twelve minutes on one core and writes results/time_power.json.
Tests see the same samples, of which the slow ones get the first; hyppo's look at lags 0 to 3 of one direction, renyi at
−3 to 3. With the names of tests these are run anew, and what others found stays.
"""

import json
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from typing import Any, TypeAlias

import dcor
import numpy as np
from hyppo.time_series import MGCX, DcorrX
from hyppo.tools import cross_corr_ar, extinct_gaussian_process, indep_ar, nonlinear_process
from numpy.typing import NDArray
from scipy.signal import lfilter

import renyi
from harness import RESULTS, record

Values: TypeAlias = NDArray[np.float64]
Simulation: TypeAlias = Callable[[int], tuple[Values, Values]]

N_ROWS, MAX_LAG, N_PERMUTATIONS, LEVEL = 100, 3, 60, 0.05
# Samples of every round, and how many rounds there are.
N_SAMPLES = {"renyi": 40, "DcorrX": 10, "dcor, blocks": 40, "MGCX": 1}
N_ROUNDS = 10


def square_after(memory: float) -> Simulation:
    """The later column is the earlier one after three rows, by its square, and noise that remembers as x does."""

    def draw(n: int) -> tuple[Values, Values]:
        shocks = np.random.normal(size=(2, n + 100))  # noqa: NPY002
        x, noise = lfilter([1], [1, -memory], shocks)[:, 97:]
        return x[3:], 0.5 * (x**2)[:-3] + noise[3:]

    return draw


# hyppo draws from NumPy's global state, which is seeded before every sample.
SIMULATIONS: dict[str, Simulation] = {
    "independent AR 0.5": lambda n: indep_ar(n, lag=1, phi=0.5),
    "independent AR 0.9": lambda n: indep_ar(n, lag=1, phi=0.9),
    "linear, lag 1, φ = 0.2": lambda n: cross_corr_ar(n, lag=1, phi=0.2),
    "linear, lag 1, φ = 0.35": lambda n: cross_corr_ar(n, lag=1, phi=0.35),
    "linear, lag 3, φ = 0.35": lambda n: cross_corr_ar(n, lag=3, phi=0.35),
    "nonlinear, lag 1": lambda n: nonlinear_process(n, lag=1),
    "nonlinear, lag 3": lambda n: nonlinear_process(n, lag=3),
    "extinct Gaussians": lambda n: extinct_gaussian_process(n, phi=0.2),
    "square, lag 3, memory 0.5": square_after(0.5),
    "square, lag 3, memory 0.9": square_after(0.9),
}


def by_renyi(x: Values, y: Values, _: int) -> float:
    return float(renyi.lags(x, y, max_lag=MAX_LAG).pvalues[0])


def by_hyppo(test: Any) -> Callable[[Values, Values, int], float]:
    def pvalue(x: Values, y: Values, seed: int) -> float:
        found = test(max_lag=MAX_LAG).test(x, y, reps=N_PERMUTATIONS, workers=1, random_state=seed)
        return float(found[1])

    return pvalue


def by_blocks(x: Values, y: Values, seed: int) -> float:
    """The largest distance correlation of all lags, beside that of y in blocks of √n rows in another order."""
    rng, n = np.random.default_rng(seed), len(x)
    size = int(np.ceil(np.sqrt(n)))

    def statistic(y: Values) -> float:
        return max(
            float(dcor.u_distance_correlation_sqr(x[max(0, -k) : n - max(0, k)], y[max(0, k) : n - max(0, -k)]))
            for k in range(-MAX_LAG, MAX_LAG + 1)
        )

    observed, larger = statistic(y), 0
    for _ in range(N_PERMUTATIONS):
        starts = rng.integers(n, size=n // size + 1)
        larger += statistic(y[(starts[:, np.newaxis] + np.arange(size)).ravel()[:n] % n]) >= observed
    return (1 + larger) / (1 + N_PERMUTATIONS)


TESTS: dict[str, Callable[[Values, Values, int], float]] = {
    "renyi": by_renyi,
    "DcorrX": by_hyppo(DcorrX),
    "dcor, blocks": by_blocks,
    "MGCX": by_hyppo(MGCX),
}


def one_round(draw: Simulation, first: int, names: list[str], into: dict[str, dict[str, float]]) -> None:
    """Add how often some tests find something in a few more samples."""
    for name in names:
        test = TESTS[name]
        found = into.setdefault(name, {"found": 0, "samples": 0, "seconds": 0.0})
        for k in range(first * N_SAMPLES[name], (first + 1) * N_SAMPLES[name]):
            np.random.seed(k)  # noqa: NPY002
            x, y = (np.asarray(side, dtype=float).ravel() for side in draw(N_ROWS))
            begin = time.process_time()
            found["found"] += test(x, y, k) <= LEVEL
            found["seconds"] += time.process_time() - begin
            found["samples"] += 1


def powers(into: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Shares of samples with their errors, and seconds of the processor for one test."""
    return {
        name: {
            "power": (share := one["found"] / one["samples"]),
            "error": float(np.sqrt(max(share * (1 - share), 0.25 / one["samples"]) / one["samples"])),
            "samples": one["samples"],
            "seconds": one["seconds"] / one["samples"],
        }
        for name, one in into.items()
    }


def before(names: list[str]) -> dict[str, dict[str, dict[str, float]]]:
    """What tests that are not run anew found."""
    path = RESULTS / "time_power.json"
    if set(names) == set(TESTS):
        return {}
    rows = json.loads(path.read_text())["results"]["simulations"]
    return {row["simulation"]: {name: one for name, one in row["tests"].items() if name not in names} for row in rows}


def main(names: list[str]) -> None:
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in SIMULATIONS}
    kept = before(names)
    for first in range(N_ROUNDS):
        for name, draw in SIMULATIONS.items():
            one_round(draw, first, names, found[name])
            print(first, name, powers(found[name]), flush=True)
    rows = []
    for name, into in found.items():
        tests = powers(into) | kept.get(name, {})
        rows.append({"simulation": name, "tests": {test: tests[test] for test in TESTS}})
    settings = {"rows": N_ROWS, "max_lag": MAX_LAG, "permutations": N_PERMUTATIONS, "level": LEVEL}
    record("time_power", settings | {"simulations": rows}, "hyppo", "dcor")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TESTS))
