"""How often Chatterjee's coefficient finds independent data, by theory, with and without ties.

    python benchmarks xi [--permutations 100000]

Prints the share of permutations found at 5 %, 1 % and 0.1 %, in one direction and for the larger of both, and whether
the normal distribution is used there ("theory") or y is permuted ("–").
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from renyi.coefficients import xi

LEVELS = (0.05, 0.01, 0.001)
SIZES = (20, 50, 100, 500)
IN_A_BATCH = 5000


def sides(n: int) -> dict[str, NDArray[np.float64]]:
    u = np.arange(n) / n
    return {
        "no ties": u,
        "10 % zeros": np.maximum(0.0, u - 0.1),
        "30 % zeros": np.maximum(0.0, u - 0.3),
        "60 % zeros": np.maximum(0.0, u - 0.6),
        "every value twice": np.floor(u * n / 2),
        "5 values": np.floor(5 * u),
        "2 values, 50 %": np.floor(2 * u),
        "2 values, 20 %": np.floor(u / 0.8),
    }


def study(x: xi.Ranked, y: xi.Ranked, n_permutations: int) -> list[str]:
    rng = np.random.default_rng(20210101)
    n = len(x.ranks)
    there, back = (xi._variance(*pair) ** 0.5 for pair in ((x, y), (y, x)))
    pvalues: list[list[NDArray[np.float64]]] = [[], []]
    for _ in range(n_permutations // IN_A_BATCH):
        orders = rng.permuted(np.tile(np.arange(n), (IN_A_BATCH, 1)), axis=1)
        pvalues[0].append(ndtr(-xi.Xi().permuted(x, y, orders) / there))
        both = xi.Xi(symmetric=True).permuted(x, y, orders)
        pvalues[1].append(1.0 - ndtr(both / there) * ndtr(both / back))
    holds = xi._theory_holds(x, y), xi._theory_holds(x, y) and xi._theory_holds(y, x)
    return [
        f"{'theory' if used else '–':3} " + " ".join(f"{np.mean(np.concatenate(p) <= level):.4f}" for level in LEVELS)
        for used, p in zip(holds, pvalues, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--permutations", type=int, default=100_000)
    n_permutations = parser.parse_args().permutations
    for n in SIZES:
        prepared = {name: xi.Xi().prepare(values) for name, values in sides(n).items()}
        free = prepared["no ties"]
        for name, side in prepared.items():
            print(f"{n:4} y {name:18} | " + " | ".join(study(free, side, n_permutations)), flush=True)
            if name != "no ties":
                print(f"{n:4} x {name:18} | " + " | ".join(study(side, free, n_permutations)), flush=True)


if __name__ == "__main__":
    main()
