"""Mean of debiased coefficients of independent columns, by Roy's law alone, against what single rows weigh.

`python benchmarks/chance.py` takes less than a minute and writes results/chance.json.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import renyi
from harness import record
from renyi.columns import Column, as_column
from renyi.features import seeds
from renyi.independence import prepare
from renyi.inference.bias import debias
from renyi.inference.roy import null_median
from renyi.spectrum import canonical_correlations, cross_products

Make: TypeAlias = Callable[[int, np.random.Generator], Column]
N_PAIRS = 400
(SEED,) = seeds(None, n_draws=1)


def zipf(n: int, rng: np.random.Generator) -> Column:
    shares = 1 / np.arange(1, 21)
    return renyi.categorical(rng.choice(20, n, p=shares / shares.sum()))


KINDS: dict[str, Make] = {
    "normals": lambda n, rng: as_column(rng.standard_normal(n), "x"),
    "rounded normals": lambda n, rng: as_column(np.round(rng.standard_normal(n)), "x"),
    "95 % zeros": lambda n, rng: as_column(np.where(rng.random(n) < 0.95, 0.0, rng.random(n)), "x"),
    "20 Zipf levels": zipf,
}
PAIRS = [
    *(("normals", kind) for kind in KINDS),
    *(("rounded normals", "rounded normals"), ("95 % zeros", "95 % zeros"), ("20 Zipf levels", "20 Zipf levels")),
]


def mean(pair: tuple[str, str], n: int) -> dict[str, Any]:
    """Mean of the debiased coefficients and its error, and the median product of the largest leverages."""
    rng = np.random.default_rng([PAIRS.index(pair), n])
    values: list[float] = []
    leverages: list[float] = []
    while len(values) < N_PAIRS:
        x, y = (prepare(KINDS[kind](n, rng), SEED).basis for kind in pair)
        if min(x.rank, y.rank) == 0:  # a column of zeros alone
            continue
        largest = float(canonical_correlations(cross_products(x, y))[0])
        values.append(debias(largest, null_median(x.rank, y.rank, n)))
        leverages.append(x.largest_leverage * y.largest_leverage)
    error = float(np.std(values) / np.sqrt(N_PAIRS))
    row = {
        "data": pair,
        "n": n,
        "mean": float(np.mean(values)),
        "error": error,
        "leverages": float(np.median(leverages)),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    record("chance", {"rows": [mean(pair, n) for pair in PAIRS for n in (100, 200, 500, 2000)]}, "numpy", "scipy")
