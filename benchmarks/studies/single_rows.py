"""Size and power of the conditional test where single rows weigh much, beside the same tables without such rows.

`python benchmarks single_rows` takes about ten minutes on two cores and writes results/single_rows.json, which is the
table of docs/validation/conditional.md, "Single rows".
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record

Array: TypeAlias = NDArray[np.float64]

ROWS = (100, 200, 649)
# Grades of 0: none; one of either kind among the best tenth of pupils; by chance, 1.2 of either kind on average.
ZEROS = ("none", "one of each", "by chance")
SHARED = 0.45
REPETITIONS = 2000


def grades(rng: np.random.Generator, n: int, shared: float, zeros: str) -> tuple[Array, Array, Array]:
    """First and last grade, which have `shared` in common beside the second, and the second."""
    ability, common, first, last = rng.standard_normal((4, n))
    second = np.clip(np.round(11.5 + 2.8 * ability), 4, 19)
    x = np.clip(np.round(0.9 * second + 1 + first + shared * common), 1, 19)
    y = np.clip(np.round(second + 0.4 + 0.9 * last + shared * common), 1, 19)
    if zeros == "one of each":
        best = np.argsort(rng.random(n) - second)[: n // 10]
        x[rng.choice(best)] = y[rng.choice(best)] = 0
    elif zeros == "by chance":
        x[rng.random(n) < 1.2 / n] = y[rng.random(n) < 1.2 / n] = 0
    return x, y, second


def study(setting: tuple[int, float, str]) -> dict[str, Any]:
    n, shared, zeros = setting
    rng = np.random.default_rng([n, round(100 * shared), ZEROS.index(zeros)])
    found, n_left_out, n_refused = [], 0, 0
    for _ in range(REPETITIONS):
        try:
            result = renyi.conditional_test(*grades(rng, n, shared, zeros))
        except renyi.InputError:
            n_refused += 1
            continue
        found.append(result.pvalue)
        n_left_out += bool(result.left_out)
    below = {f"at_{level}": float(np.mean(np.array(found) <= level)) for level in (0.05, 0.01)}
    shares = {"left_out": n_left_out / REPETITIONS, "refused": n_refused / REPETITIONS}
    return {"n": n, "shared": shared, "zeros": zeros, "repetitions": REPETITIONS} | below | shares


def main() -> None:
    settings = [(n, shared, zeros) for n in ROWS for zeros in ZEROS for shared in (0.0, SHARED)]
    with ProcessPoolExecutor(2) as pool:
        record("single_rows", {"settings": list(pool.map(study, settings))}, "numpy")


if __name__ == "__main__":
    main()
