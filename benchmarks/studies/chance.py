"""Mean of debiased coefficients of independent columns, by Roy's distribution alone and as they are, against what rows
weigh.

`python benchmarks chance` takes a minute or two and writes results/chance.json, from which
`benchmarks/render/tables.py` makes a part of docs/validation/defaults.md.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import renyi
from harness import record
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.basis.random_features import seeds
from renyi.data.column import Column
from renyi.data.reader import as_column
from renyi.inference.debias import debias, null_level
from renyi.inference.roy import null_median
from renyi.pair.prepare import prepare

Make: TypeAlias = Callable[[int, np.random.Generator], Column]
N_PAIRS = 400
(SEED,) = seeds(None, n_draws=1)


def zipf(n_levels: int) -> Make:
    shares = 1 / np.arange(1, n_levels + 1)
    return lambda n, rng: renyi.categorical(rng.choice(n_levels, n, p=shares / shares.sum()))


def zeros(share: float) -> Make:
    return lambda n, rng: as_column(np.where(rng.random(n) < share, 0.0, rng.random(n)), "x")


KINDS: dict[str, Make] = {
    "normals": lambda n, rng: as_column(rng.standard_normal(n), "x"),
    "rounded normals": lambda n, rng: as_column(np.round(rng.standard_normal(n)), "x"),
    "90 % zeros": zeros(0.9),
    "5 others than zero": lambda n, rng: as_column(np.where(rng.permutation(n) < 5, rng.random(n), 0.0), "x"),
    "20 Zipf levels": zipf(20),
    "50 Zipf levels": zipf(50),
    "80 levels": lambda n, rng: renyi.categorical(rng.integers(0, 80, n)),
}
PAIRS = [
    *(("normals", kind) for kind in KINDS),
    *((kind, kind) for kind in ("rounded normals", "90 % zeros", "5 others than zero", "20 Zipf levels")),
    ("90 % zeros", "50 Zipf levels"),
]


def mean(pair: tuple[str, str], n: int) -> dict[str, Any]:
    """Mean of the debiased coefficients and its error, and the median product of the largest leverages."""
    rng = np.random.default_rng([PAIRS.index(pair), n])
    by_theory, as_they_are, leverages = np.empty((3, N_PAIRS))
    for k in range(N_PAIRS):
        x, y = (prepare(KINDS[kind](n, rng), SEED).basis for kind in pair)
        largest = float(canonical_correlations(cross_products(x, y))[0])
        by_theory[k] = debias(largest, null_median(x.dimension, y.dimension, n))
        as_they_are[k] = debias(largest, null_level(x, y))
        leverages[k] = x.largest_leverage * y.largest_leverage
    row = {
        "data": pair,
        "n": n,
        "by theory": float(by_theory.mean()),
        "mean": float(as_they_are.mean()),
        "error": float(as_they_are.std(ddof=1) / np.sqrt(N_PAIRS)),
        "leverages": float(np.median(leverages)),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    record("chance", {"rows": [mean(pair, n) for pair in PAIRS for n in (200, 500, 2000)]}, "numpy", "scipy")
