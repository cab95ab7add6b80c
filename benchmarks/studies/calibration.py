"""The two null distributions behind the multi-scale test, by simulation.

`python benchmarks calibration` takes about half an hour on one core. It writes results/calibration.json: how the
harmonic mean of block p-values is distributed for matrices of independent normals, with the curve that
`renyi.inference.multiscale` uses fitted to it, and how much heavier the tail is for columns of few rows without ties.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from harness import record
from renyi.basis.basis import rank_column
from renyi.basis.nested import Scales, number_scales
from renyi.basis.random_features import DEFAULT_SCALE, draw, seeds
from renyi.inference import multiscale
from renyi.inference.multiscale import Block

Array: TypeAlias = NDArray[np.float64]

NUMBERS = multiscale.OF_NUMBERS
SETS: dict[str, Sequence[Block]] = {
    "two numbers": NUMBERS,
    "two numbers, 50 rows": [block for block in NUMBERS if block != (8, 8)],
    "two numbers, 20 rows": [(1, 1), (3, 1), (1, 3), (6, 1), (1, 6)],
    "a number and two levels": [(1, 1), (2, 1), (6, 1), (20, 1)],
    "a number and seven levels": [(1, 6), (2, 6), (6, 6), (20, 6)],
    "two and five distinct values": [(1, 1), (1, 3), (1, 4)],
    "three and three distinct values": [(1, 1), (2, 1), (1, 2), (2, 2)],
    "a vector of 2 and a number": [(2, 1), (2, 2), (2, 6), (16, 1), (16, 2), (16, 6)],
    "vectors of 2": [(2, 2), (2, 16), (16, 2), (16, 16)],
    "vectors of 5": [(5, 5), (5, 20), (20, 5), (20, 20)],
}
LEVELS = np.array([0.9, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 3e-4, 1e-4])
# So many rows that Roy's distribution has reached its limit.
LIMIT = 10**7
N_LIMIT, N_BATCH = 1_000_000, 10_000

FEW_ROWS = (10, 14, 20, 30, 40, 50, 64, 80, 100, 150, 200, 300, 500, 1000)
TAIL_LEVELS = np.array([0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5])


def log_means(cross: Array, blocks: Sequence[Block], n: int) -> Array:
    evidence = multiscale.log_evidence(multiscale.block_roots(cross, blocks), blocks, n)
    return multiscale.log_harmonic_mean(evidence)


def limit(name: str) -> dict[str, Any]:
    """Ratios p/H at given p for one set of blocks, from normal matrices."""
    blocks = SETS[name]
    shape = np.max(blocks, axis=0)
    rng = np.random.default_rng(2013)
    n_draws = N_LIMIT if max(np.min(blocks, axis=1)) <= 8 else N_LIMIT // 8
    means = np.concatenate(
        [
            log_means(rng.standard_normal((N_BATCH, *shape)) / np.sqrt(LIMIT), blocks, LIMIT)
            for _ in range(n_draws // N_BATCH)
        ]
    )
    row = {
        "blocks": name,
        "effective number": multiscale.effective_number(blocks),
        "draws": n_draws,
        "log ratio": list(np.log(LEVELS) - np.quantile(means, LEVELS)),
    }
    print(row, flush=True)
    return row


def fitted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The curve φ with log(p/H) = log M · φ(p), and how far it is from what was seen."""

    def residuals(curve: Array) -> Array:
        return np.concatenate([_residuals(row, curve) / _error(row) for row in rows])

    curve = least_squares(residuals, [0.86, 0.4, 0.27]).x
    return {
        "levels": list(LEVELS),
        "rows": rows,
        "curve": list(curve),
        "off by": {row["blocks"]: list(_residuals(row, curve)) for row in rows},
    }


def _residuals(row: dict[str, Any], curve: Array) -> Array:
    phi = curve[0] * LEVELS ** curve[1] * (1 - LEVELS) ** curve[2]
    return np.asarray(row["log ratio"] - np.log(row["effective number"]) * phi)


def _error(row: dict[str, Any]) -> Array:
    """Monte Carlo error of a log quantile, and half a percent for the curve."""
    return np.asarray(np.hypot(np.sqrt((1 - LEVELS) / (LEVELS * row["draws"])), 0.005))


def tie_free(n: int) -> Scales:
    (seed,) = seeds(None, n_draws=1)
    return number_scales(rank_column(np.arange(float(n)), draw(1, 10, DEFAULT_SCALE, kind="auto", seed=seed)))


def few_rows(n: int) -> dict[str, Any]:
    """How often p-values of columns without ties fall below levels: as for many rows, and corrected."""
    scales = tie_free(n)
    blocks = multiscale.trusted(multiscale.family(scales, scales), scales, scales)
    if not blocks:
        return {"n": n, "blocks": []}
    rng = np.random.default_rng(n)
    n_draws = max(200_000, min(2_000_000, 60_000_000 // n))
    table, drawn = scales.basis.table, 0
    counts, corrected = np.zeros((2, len(TAIL_LEVELS)), dtype=int)
    while drawn < n_draws:
        m = max(1, 2_000_000 // n)
        order = rng.permuted(np.tile(np.arange(n), (m, 1)), axis=1)
        means = log_means(table.T / n @ table[order], blocks, n)
        counts += below(multiscale.log_pvalue_of_many_rows(means, blocks))
        corrected += below(multiscale.log_pvalue_of_pair(means, blocks, scales, scales))
        drawn += m
    row = {"n": n, "blocks": list(blocks), "draws": drawn, "levels": list(TAIL_LEVELS), "counts": counts.tolist()}
    row["curvature"], row["error"] = curvature(counts / drawn, counts)
    row["corrected"] = corrected.tolist()
    print(row, flush=True)
    return row


def below(log_p: Array) -> NDArray[np.intp]:
    return np.asarray(np.sum(log_p[:, np.newaxis] <= np.log(TAIL_LEVELS), axis=0))


def curvature(seen: Array, counts: NDArray[np.intp]) -> tuple[float, float]:
    """The c of log p + c·(log p)², weighted by what the counts can tell."""
    enough = counts >= 20
    t = np.log(TAIL_LEVELS[enough])
    excess, weight = np.log(seen[enough]) - t, counts[enough] * t**4
    return float(np.sum(weight * excess / t**2) / weight.sum()), float(weight.sum() ** -0.5)


if __name__ == "__main__":
    record(
        "calibration",
        {"combination": fitted([limit(name) for name in SETS]), "few rows": [few_rows(n) for n in FEW_ROWS]},
        "numpy",
        "scipy",
    )
