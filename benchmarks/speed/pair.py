"""Time and memory of `renyi.rdc` beside SciPy's Spearman, NumPy's sorts and the paper's listing, in one run."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import renyi
from harness import best_times, extra_memory, record, run_python
from listing import rdc_listing

# Seconds in the paper's table of running times, for Pearson's correlation and RDC.
PAPER = {1000: (0.0001, 0.0047), 10_000: (0.0002, 0.0557), 100_000: (0.0071, 0.3991), 1_000_000: (0.0914, 4.6253)}


def two_argsorts(x: Any, y: Any) -> tuple[Any, Any]:
    return np.argsort(x), np.argsort(y)


def scalars() -> list[dict[str, Any]]:
    rows = []
    for n in (10**3, 10**4, 10**5, 10**6, 10**7):
        x, y = np.random.default_rng(n).random((2, n))
        tied_x, tied_y = np.round(x, 2), np.round(y, 2)
        calls: dict[str, Callable[[], object]] = {
            "rdc": partial(renyi.rdc, x, y),
            "rdc, tied": partial(renyi.rdc, tied_x, tied_y),
            "spearmanr": partial(spearmanr, x, y),
            "spearmanr, tied": partial(spearmanr, tied_x, tied_y),
            "two argsorts": partial(two_argsorts, x, y),
            "pearson": partial(np.corrcoef, x, y),
        }
        seconds = best_times(calls, seconds=6, least=5)
        if n <= 10**6:
            # On its own: it churns through gigabytes and would leave the others to fetch their memory anew.
            seconds |= best_times({"listing": partial(rdc_listing, x, y, k=10, s=3.0)})
        rows.append({"n": n, "seconds": seconds, "paper": PAPER.get(n)})
        print(rows[-1], flush=True)
    return rows


def vectors() -> dict[str, Any]:
    x, y = np.random.default_rng(0).random((2, 10**5, 50))
    seconds = {}
    for k in (10, 71):
        times = best_times(
            {"rdc": partial(renyi.rdc, x, y, k=k), "listing": partial(rdc_listing, x, y, k=k, s=3.0)}, seconds=5
        )
        seconds[f"k = {k}"] = times
    print(seconds, flush=True)
    return {"shape": [10**5, 50], "seconds": seconds}


def memory() -> dict[str, Any]:
    scalar_input = 2 * 8 * 10**7
    scalar = extra_memory("x, y = rng.random((2, 10**7))", "renyi.rdc(x, y)")
    vector = extra_memory("x, y = rng.random((2, 10**5, 50))", "renyi.rdc(x, y)")
    return {
        "scalars, n = 10⁷": {"input": scalar_input, "above input": scalar, "ratio": 1 + scalar / scalar_input},
        "vectors, 10⁵ × 50 twice": {"input": 2 * 8 * 50 * 10**5, "above input": vector},
    }


def imports() -> dict[str, float]:
    timed = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
    statements = {
        "numpy and scipy.linalg": "import numpy, scipy.linalg",
        "renyi": "import renyi",
        "renyi and renyi.rdc": "import renyi; renyi.rdc",
    }
    return {
        name: min(float(run_python(timed.format(statement))) for _ in range(7))
        for name, statement in statements.items()
    }


if __name__ == "__main__":
    results = {"scalars": scalars(), "vectors": vectors(), "memory": memory(), "imports": imports()}
    record("pair", results, "numpy", "scipy")
    print(results["memory"], results["imports"])
