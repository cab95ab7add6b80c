"""How often the default test rejects two independent categories, and what its rules for them are worth.

`python benchmarks levels` takes about three minutes on one core and writes results/levels.json. Categories are drawn
in pairs, and for each pair tables of counts with these margins are drawn under independence, which is the same as
permuting the rows of one. Only pairs that have a null distribution are counted.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import random_table

from harness import record
from renyi.basis.nested import Scales, category_scales
from renyi.inference import multiscale
from renyi.inference.multiscale import Block

Array: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator

LENGTHS = (100, 300, 1000, 3000, 8100)
N_PAIRS, N_TABLES = 40, 1000
LEVELS = (0.05, 0.01, 1e-3)


def zipf(n_levels: int) -> Array:
    return _shares(np.arange(1.0, n_levels + 1) ** -1)


def geometric(n_levels: int) -> Array:
    return _shares(0.8 ** np.arange(n_levels))


def even(n_levels: int) -> Array:
    return _shares(np.ones(n_levels))


def _shares(weights: NDArray[Any]) -> Array:
    return np.asarray(weights / weights.sum())


# With 30 even levels each has 3√n rows at n = 8,100, which is where they begin to be frequent.
KINDS: dict[str, tuple[Array, Array]] = {
    "7 Zipf": (zipf(7),) * 2,
    "15 Zipf": (zipf(15),) * 2,
    "30 Zipf": (zipf(30),) * 2,
    "20 geometric": (geometric(20),) * 2,
    "7 even": (even(7),) * 2,
    "12 even": (even(12),) * 2,
    "30 even": (even(30),) * 2,
    "7 Zipf, 30 Zipf": (zipf(7), zipf(30)),
    "30 even, 30 Zipf": (even(30), zipf(30)),
}


def category(shares: Array, n: int, rng: Rng) -> Scales:
    return category_scales(np.unique(rng.choice(len(shares), n, p=shares), return_inverse=True)[1])


def drawn(x: Scales, y: Scales, rng: Rng) -> Array:
    """Products of the two bases in tables of counts with the same margins."""
    counts = [np.bincount(np.asarray(side.basis.codes)) for side in (x, y)]
    tables = random_table(*counts, seed=rng).rvs(N_TABLES)
    return np.asarray(x.basis.table.T @ (tables / x.basis.n_samples) @ y.basis.table)


def without_limit(blocks: tuple[Block, ...], x: Scales, y: Scales) -> tuple[Block, ...]:
    """The blocks that the share of the critical correlation alone would let pass."""
    n, share = x.basis.n_samples, multiscale.share_of(x, y)
    products = {(a, b): float(x.leverages[a - 1] * y.leverages[b - 1]) for a, b in blocks}
    return tuple(block for block in blocks if multiscale.is_trusted(products[block], block, n, share=share))


def size(kind: str, n: int) -> dict[str, Any]:
    """Counts of p-values at or below the levels: as the rules are, and without the limit on single rows."""
    rng = np.random.default_rng([list(KINDS).index(kind), n, 4])
    row: dict[str, Any] = {"data": kind, "n": n, "levels": list(LEVELS)}
    for rule in ("as it is", "without the limit"):
        row[rule] = {"pairs by theory": 0, "draws": 0, "counts": [0] * len(LEVELS)}
    for _ in range(N_PAIRS):
        x, y = (category(shares, n, rng) for shares in KINDS[kind])
        family = multiscale.family(x, y)
        products = drawn(x, y, rng)
        for rule, blocks in (
            ("as it is", multiscale.trusted(family, x, y)),
            ("without the limit", without_limit(family, x, y)),
        ):
            if not blocks:
                continue
            evidence = multiscale.log_evidence(multiscale.block_roots(products, blocks), blocks, n)
            log_p = multiscale.log_pvalue_of_pair(multiscale.log_harmonic_mean(evidence), blocks, x, y)
            cell = row[rule]
            cell["pairs by theory"] += 1
            cell["draws"] += len(log_p)
            cell["counts"] = [
                int(before + np.count_nonzero(log_p <= np.log(level) + 1e-9))
                for before, level in zip(cell["counts"], LEVELS, strict=True)
            ]
    print(row, flush=True)
    return row


if __name__ == "__main__":
    record("levels", {"sizes": [size(kind, n) for kind in KINDS for n in LENGTHS]}, "numpy", "scipy")
