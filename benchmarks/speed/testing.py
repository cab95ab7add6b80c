"""Time of the tests beside `renyi.rdc` and beside the tests of peers, in one run."""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import dcor
import numpy as np
from hyppo.independence import Dcorr
from scipy.stats import permutation_test, spearmanr

import renyi
from harness import best_times, record

# So many permutations are timed, and the time of the others is extrapolated.
N_TIMED, N_PERMUTATIONS = 20, 1000


def beside_the_coefficient() -> list[dict[str, Any]]:
    rows = []
    for n in (100, 1000, 10_000, 100_000, 1_000_000):
        x, y = np.random.default_rng(n).random((2, n))
        tied = np.round(x, 2), np.round(y, 2)
        calls: dict[str, Callable[[], object]] = {
            "rdc": partial(renyi.rdc, x, y),
            "auto": partial(renyi.independence_test, x, y),
            "roy": partial(renyi.independence_test, x, y, method="roy"),
            "rdc, tied": partial(renyi.rdc, *tied),
            "auto, tied": partial(renyi.independence_test, *tied),
            "spearmanr": partial(spearmanr, x, y),
        }
        rows.append({"n": n, "seconds": best_times(calls, seconds=4)})
        print(rows[-1], flush=True)
    return rows


def first_call() -> list[dict[str, Any]]:
    """The first call for a number of rows that has not been seen; a call for another number comes before all."""
    renyi.independence_test(*np.random.default_rng(0).random((2, 77)))
    rows = []
    for n in (51, 151, 1501, 15_001, 150_001):
        x, y = np.random.default_rng(n).random((2, n))
        start = time.perf_counter()
        renyi.independence_test(x, y)
        first = time.perf_counter() - start
        start = time.perf_counter()
        renyi.independence_test(x, y)
        rows.append({"n": n, "first": first, "second": time.perf_counter() - start})
    print(rows, flush=True)
    return rows


def seconds_for(test: Callable[[int], object]) -> float:
    """Seconds for all permutations, from the difference between a few and none."""
    test(1)
    start = time.perf_counter()
    test(N_TIMED)
    return (time.perf_counter() - start) * N_PERMUTATIONS / N_TIMED


def distance_tests() -> dict[str, float]:
    x, y = np.random.default_rng(1).random((2, 2000))

    def by_hyppo(reps: int) -> object:
        return Dcorr().test(x[:, None], y[:, None], reps=reps, auto=False, random_state=0)

    def by_hyppo_vectors(reps: int) -> object:
        plane = np.column_stack([x, x[::-1]])
        return Dcorr().test(plane, y[:, None], reps=reps, auto=False, random_state=0)

    def by_dcor(reps: int) -> object:
        return dcor.independence.distance_covariance_test(x, y, num_resamples=reps, random_state=0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = {
            "auto": best_times({"auto": partial(renyi.independence_test, x, y)})["auto"],
            "dcor": seconds_for(by_dcor),
            "hyppo": seconds_for(by_hyppo),
            "hyppo, vector of 2": seconds_for(by_hyppo_vectors),
        }
    print(seconds, flush=True)
    return seconds


def permutations() -> dict[str, float]:
    """Ten thousand permutations at n = 1,000, nothing stopped early: dependence that no permutation reaches."""
    rng = np.random.default_rng(2)
    x = rng.random(1000)
    y = x + 0.1 * rng.random(1000)

    def by_scipy() -> object:
        return permutation_test(
            (x,), lambda z: spearmanr(z, y).statistic, permutation_type="pairings", n_resamples=1000, rng=0
        )

    seconds = best_times(
        {
            "permutation": partial(renyi.independence_test, x, y, method="permutation", n_resamples=10_000),
            "scipy, a tenth": by_scipy,
        },
        seconds=1,
    )
    print(seconds, flush=True)
    return {"permutation": seconds["permutation"], "scipy": 10 * seconds["scipy, a tenth"]}


if __name__ == "__main__":
    warnings.simplefilter("ignore", renyi.CalibrationWarning)  # of "roy" on 100 rows, which is only timed
    record(
        "testing",
        {
            "beside the coefficient": beside_the_coefficient(),
            "first call": first_call(),
            "distance tests": distance_tests(),
            "permutations": permutations(),
        },
        *("numpy", "scipy", "dcor", "hyppo"),
    )
