"""Where Student's t, and a gamma distribution of the same skewness, hold for the correlation of two columns.

`python benchmarks correlation_nulls` takes a few minutes on one core and writes results/correlation_nulls.json. Pairs
of columns of random kinds are drawn, and the rows of one of them permuted: the size of both null distributions at every
level, beside what the rule of `renyi.measure("pearson")` goes by. Pairs of two flags are left out, since these are
counted.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import Any

import numpy as np

from harness import record
from measure_sizes import Column, Rng, flag, levels, lognormal, normal, poisson, zero_inflated
from renyi.coefficients.pearson import Pearson
from renyi.coefficients.rows import Rows
from renyi.inference.correlation_null import log_skewed, shape_of_correlation
from renyi.inference.roy import log_sf

LEVELS = (0.05, 0.01, 1e-3, 1e-4)
# Pairs and permutations by the number of rows.
SIZES = {20: (120, 40_000), 50: (120, 40_000), 200: (80, 30_000), 1_000: (40, 20_000)}
KINDS: list[Column] = [
    normal,
    lambda n, rng: rng.random(n),
    lambda n, rng: rng.standard_t(5, n),
    lambda n, rng: rng.standard_t(3, n),
    lambda n, rng: rng.standard_cauchy(n),
    lambda n, rng: rng.exponential(size=n),
    *(lognormal(sigma) for sigma in (0.5, 1.0)),
    *(poisson(mean) for mean in (0.1, 1.0, 5.0)),
    *(zero_inflated(share) for share in (0.7, 0.95)),
    *(lambda n, rng, share=share: flag(max(1, round(share * n)))(n, rng) for share in (0.05, 0.1, 0.2)),
    *(levels(shares) for shares in ((0.1, 0.2, 0.4, 0.2, 0.1), (0.7, 0.15, 0.08, 0.05, 0.02))),
]


def pair(n: int, rng: Rng) -> tuple[Rows, Rows]:
    """Two columns, of the same kind in half of the cases."""
    while True:
        first, second = rng.integers(len(KINDS), size=2)
        x, y = (Rows(KINDS[k](n, rng)) for k in (first, first if rng.random() < 0.5 else second))
        if min(np.ptp(x.values), np.ptp(y.values)) > 0 and (x.flagged is None or y.flagged is None):
            return x, y


def study(n: int, n_permutations: int, rng: Rng) -> dict[str, Any]:
    """Sizes over levels by both null distributions, and whether the rule admits the pair."""
    rows, pearson = pair(n, rng), Pearson()
    x, y = (pearson.prepare(side.values) for side in rows)
    values = np.concatenate([_correlations(x.values, y.values, 2_000, rng) for _ in range(n_permutations // 2_000)])
    skewness, excess = shape_of_correlation(x.cubes * y.cubes, (x.fourths, y.fourths), n)
    by_student = log_sf(np.minimum(values**2, 1.0), 1, 1, n)
    # The gamma distribution is a falling function of Student's: a table of it will do.
    grid = np.linspace(min(by_student.min(), -20.0), 0.0, 2_000)
    by_gamma = np.interp(by_student, grid, [log_skewed(float(log_p), skewness) for log_p in grid])
    few_ties = n >= 50 or max(side.ties for side in rows) <= 0.06
    is_admitted = few_ties and pearson.null_tail(x, y, 0.1) is not None
    return {
        "n": n,
        "skewness": skewness,
        "excess": excess,
        "is_admitted": is_admitted,
        "student": [float(np.mean(by_student <= np.log(level)) / level) for level in LEVELS],
        "gamma": [float(np.mean(by_gamma <= np.log(level)) / level) for level in LEVELS],
    }


def _correlations(x: Any, y: Any, n_permutations: int, rng: Rng) -> Any:
    return y[rng.permuted(np.tile(np.arange(len(x)), (n_permutations, 1)), axis=1)] @ x


if __name__ == "__main__":
    generator = np.random.default_rng(1937)
    found = [study(n, m, generator) for n, (n_pairs, m) in SIZES.items() for _ in range(n_pairs)]
    permutations = {str(n): m for n, (_, m) in SIZES.items()}
    results = {"levels": LEVELS, "permutations": permutations, "pairs": found}
    record("correlation_nulls", results, "numpy", "scipy")
