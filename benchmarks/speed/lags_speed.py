"""Time of `renyi.lags`, for one pair beside hyppo's DcorrX, and for all pairs of a table.

`python benchmarks lags_speed` takes a few minutes and writes results/lags_speed.json. DcorrX takes the square of the
rows, times lags, times permutations: it is measured on few of each, at two numbers of rows that show the power, and
extrapolated. Times are of the processor, all threads together, so that other work on the machine counts little; for
renyi also by the clock.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

import numpy as np
from hyppo.time_series import DcorrX
from scipy.signal import lfilter

import renyi
from harness import record
from renyi.compute.threads import available_cores

N_ROWS, MAX_LAG = 10_000, 100
TABLE = (5000, 50, 24)
PEER_ROWS, PEER_LAGS, PEER_PERMUTATIONS = (500, 1000), 4, 10
# Permutations that hyppo takes by default.
PERMUTATIONS = 1000


def series(n: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    rng = np.random.default_rng(0)
    made = lfilter([1], [1, -0.7], rng.standard_normal((n + 100, columns)), axis=0)[100:]
    made[3:, 1] += made[:-3, 0] ** 2
    return np.asarray(made)


def seconds(call: Callable[[], object], times: int) -> tuple[float, float]:
    """Best time of the processor, and by the clock."""
    found = []
    for _ in range(times):
        begin, clock = time.process_time(), time.perf_counter()
        call()
        found.append((time.process_time() - begin, time.perf_counter() - clock))
    return min(own for own, _ in found), min(clock for _, clock in found)


def main() -> None:
    pair, table = series(N_ROWS, 2), series(TABLE[0], TABLE[1])
    renyi.lags(pair[:500], max_lag=5)
    own, clock = seconds(lambda: renyi.lags(pair, max_lag=MAX_LAG), 5)
    print(f"one pair: {own:.2f} s, {clock:.2f} s by the clock", flush=True)
    whole, whole_clock = seconds(lambda: renyi.lags(table, max_lag=TABLE[2]), 1)
    print(f"table: {whole:.1f} s, {whole_clock:.1f} s by the clock", flush=True)

    def peer(n: int) -> float:
        x, y = pair[:n, 0], pair[:n, 1]
        return seconds(lambda: DcorrX(max_lag=PEER_LAGS).test(x, y, reps=PEER_PERMUTATIONS, workers=1), 2)[0]

    peer(100)
    of_peer = {n: peer(n) for n in PEER_ROWS}
    few, many = PEER_ROWS
    exponent = np.log(of_peer[many] / of_peer[few]) / np.log(many / few)
    # All lags from −max to max are 2·max + 1 of its statistics; the observed one is one more permutation.
    work = (N_ROWS / many) ** 2 * (2 * MAX_LAG + 1) / (PEER_LAGS + 1) * (PERMUTATIONS + 1) / (PEER_PERMUTATIONS + 1)
    found = {
        "pair": {"rows": N_ROWS, "lags": 2 * MAX_LAG + 1, "processor": own, "clock": clock},
        "table": {
            "rows": TABLE[0],
            "columns": TABLE[1],
            "lags": 2 * TABLE[2] + 1,
            "processor": whole,
            "clock": whole_clock,
            "cores": available_cores(),
        },
        "DcorrX": {
            "measured": {str(n): value for n, value in of_peer.items()},
            "lags": PEER_LAGS + 1,
            "permutations": PEER_PERMUTATIONS,
            "exponent": float(exponent),
            "extrapolated": of_peer[many] * work,
            "ratio": of_peer[many] * work / own,
        },
    }
    print(found["DcorrX"], flush=True)
    record("lags_speed", found, "hyppo")


if __name__ == "__main__":
    main()
