"""Power of the multi-scale test: on the patterns of the paper, on others, and with other blocks and weights.

`python benchmarks power` takes about ten minutes on one core and writes results/power.json. Pairs are those of
`peer_power.samples`, so that the peers of results/peer_power.json were run on the same data.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import dcor
import numpy as np
from numpy.typing import NDArray

import renyi
from calibration import NUMBERS, log_means, tie_free
from harness import record
from peer_power import STUDIED, samples, xi
from renyi.basis.cosine import MOST_FUNCTIONS
from renyi.basis.orthonormal import ordered_whitening, triangular_factor
from renyi.basis.random_features import draw, seeds, sines_and_cosines
from renyi.experiments.patterns import N_LEVELS, PATTERNS, Pattern
from renyi.inference.multiscale import WEIGHT_FALL as FALL
from renyi.inference.multiscale import Block, block_roots, log_evidence, log_harmonic_mean

Array: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator

N, N_REPETITIONS = 500, 500
SCALES = (3.0, 6.0, 12.0, 25.0)
SCALE_LEVELS = (1, 3, 6, 10, 15, 20, 25, 30)


def rejected(x: Array, y: Array) -> float:
    return float(np.mean([renyi.independence_test(*pair).pvalue <= 0.05 for pair in zip(x, y, strict=True)]))


def pattern_power(pattern: Pattern) -> dict[str, Any]:
    powers = [rejected(*samples(pattern, level, N, N_REPETITIONS)) for level in range(1, N_LEVELS + 1)]
    print(pattern.name, np.mean(powers), flush=True)
    return {"pattern": pattern.name, "n": N, "repetitions": N_REPETITIONS, "powers": powers}


# The same family of blocks on random features, nested by frequency.


def random_table(s: float) -> Array:
    """Random sines and cosines at N ranks, smooth to rough, orthonormal in that order."""
    (seed,) = seeds(None, n_draws=1)
    u = (np.arange(N)[:, np.newaxis] + 0.5) / N
    functions = sines_and_cosines(draw(1, 40, s, kind="auto", seed=seed), u)
    weights, intercept = ordered_whitening(triangular_factor([(functions, np.full(N, N**-0.5))]), cut=1e-3)
    return (functions @ weights + intercept)[:, :MOST_FUNCTIONS]


def ranks(x: Array) -> NDArray[np.intp]:
    return np.argsort(np.argsort(x, axis=1), axis=1)


def means(table: Array, x: Array, y: Array) -> Array:
    blocks = list(dict.fromkeys((min(a, table.shape[1]), min(b, table.shape[1])) for a, b in NUMBERS))
    order = np.take_along_axis(ranks(y), np.argsort(x, axis=1), axis=1)
    return np.concatenate([log_means(table.T / N @ table[part], blocks, N) for part in np.array_split(order, 10)])


def scale_power(s: float) -> dict[str, Any]:
    """Mean power on the paper's patterns with random features of one scale, against a simulated null."""
    table, rng = random_table(s), np.random.default_rng(1)
    cut = np.quantile(means(table, rng.random((5000, N)), rng.random((5000, N))), 0.05)
    powers = {
        pattern.name: float(
            np.mean([np.mean(means(table, *samples(pattern, level, N, 200)) <= cut) for level in SCALE_LEVELS])
        )
        for pattern in PATTERNS
    }
    print(s, table.shape[1], np.mean(list(powers.values())), flush=True)
    return {"s": s, "functions": table.shape[1], "powers": powers}


# Other blocks and weights, on the basis of the test.

FIRST_PLAN: tuple[Block, ...] = (
    *((1, 1), (3, 1), (1, 3), (2, 2), (6, 1), (1, 6), (4, 4), (6, 2), (2, 6)),
    *((20, 2), (2, 20)),
)
FRONTIER: dict[str, tuple[Sequence[Block], float]] = {
    "as it is, weights max(a, b)^(−3/2)": (NUMBERS, 1.5),
    "equal weights": (NUMBERS, 0.0),
    "weights 1/max(a, b)": (NUMBERS, 1.0),
    "weights 1/max(a, b)²": (NUMBERS, 2.0),
    "without (8, 8)": ([block for block in NUMBERS if block != (8, 8)], 1.5),
    "without (20, 1) and (1, 20)": ([block for block in NUMBERS if 20 not in block], 1.5),
    "with (20, 2) and (2, 20) instead, without (8, 8), weights 1/max(a, b)": (FIRST_PLAN, 1.0),
    "(1, 1) alone": ([(1, 1)], 1.0),
    "(4, 4) alone": ([(4, 4)], 1.0),
    "(8, 8) alone": ([(8, 8)], 1.0),
}
FRONTIER_REPETITIONS = 200


def weighted_means(cross: Array, blocks: Sequence[Block], fall: float) -> Array:
    """Log H of a batch, with weights that fall as another power."""
    longer = np.array([max(block) for block in blocks], dtype=np.float64)
    evidence = log_evidence(block_roots(cross, blocks), blocks, N)
    return log_harmonic_mean(evidence + (FALL - fall) * np.log(longer) - np.log(np.sum(longer**-fall)))


def products_of(table: Array, x: Array, y: Array) -> Array:
    order = np.take_along_axis(ranks(y), np.argsort(x, axis=1), axis=1)
    return np.concatenate([table.T / N @ table[part] for part in np.array_split(order, max(1, len(order) // 50))])


def frontier() -> list[dict[str, Any]]:
    """Mean power on each pattern for every choice, against a simulated null."""
    table, rng = tie_free(N).basis.table, np.random.default_rng(2)
    null = products_of(table, rng.random((5000, N)), rng.random((5000, N)))
    data = {
        pattern.name: [products_of(table, *samples(pattern, level, N, FRONTIER_REPETITIONS)) for level in SCALE_LEVELS]
        for pattern in STUDIED
    }
    board = [OTHERS["checkerboard, 8 × 8"][0](N, 0.1, rng) for _ in range(FRONTIER_REPETITIONS)]
    data["checkerboard, 8 × 8"] = [products_of(table, *np.array(board).swapaxes(0, 1))]
    rows = []
    for name, (blocks, fall) in FRONTIER.items():
        cut = np.quantile(weighted_means(null, blocks, fall), 0.05)
        powers = {
            pattern: float(np.mean([np.mean(weighted_means(cross, blocks, fall) <= cut) for cross in levels]))
            for pattern, levels in data.items()
        }
        rows.append({"choice": name, "powers": powers})
        print(name, np.mean(list(powers.values())[:8]), flush=True)
    return rows


# Other patterns; `noise` grows from the first level to the third.


def checkerboard(n_fields: int) -> Callable[[int, float, Rng], tuple[Array, Array]]:
    def sample(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
        column = rng.integers(0, n_fields, n)
        row = 2 * rng.integers(0, n_fields // 2, n) + column % 2
        return column + rng.random(n) + noise * rng.standard_normal(n), row + rng.random(n)

    return sample


def spiral(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    angle = 4 * np.pi * np.sqrt(rng.random(n))
    errors = noise * rng.standard_normal((2, n))
    return angle / 12 * np.cos(angle) + errors[0], angle / 12 * np.sin(angle) + errors[1]


def cross(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    x = rng.uniform(-1, 1, n)
    return x, x * rng.choice([-1, 1], n) + noise * rng.standard_normal(n)


def growing_spread(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    x = rng.random(n)
    return x, rng.standard_normal(n) * (noise + x)


def lissajous(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    angle, errors = rng.uniform(0, 2 * np.pi, n), noise * rng.standard_normal((2, n))
    return np.sin(3 * angle + 0.5) + errors[0], np.sin(4 * angle) + errors[1]


def heavy_tails(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    x = rng.standard_normal(n)
    return x, x + noise * rng.standard_cauchy(n)


def weak_normal(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    x = rng.standard_normal(n)
    return x, x + noise * rng.standard_normal(n)


def only_in_a_tail(n: int, noise: float, rng: Rng) -> tuple[Array, Array]:
    x, y = rng.standard_normal((2, n))
    return x, np.where(x > 1, x + 0.3 * y, noise * y)


OTHERS: dict[str, tuple[Callable[[int, float, Rng], tuple[Array, Array]], tuple[float, ...]]] = {
    "checkerboard, 4 × 4": (checkerboard(4), (0.3, 0.5, 0.7)),
    "checkerboard, 8 × 8": (checkerboard(8), (0.1, 0.3, 0.5)),
    "spiral": (spiral, (0.05, 0.1, 0.15)),
    "cross": (cross, (0.3, 0.6, 0.9)),
    "growing spread": (growing_spread, (0.5, 1.0, 2.0)),
    "Lissajous": (lissajous, (0.1, 0.2, 0.3)),
    "Cauchy noise": (heavy_tails, (2.0, 4.0, 8.0)),
    "weak normal": (weak_normal, (5.0, 8.0, 12.0)),
    "only in a tail": (only_in_a_tail, (1.0, 2.0, 4.0)),
}


def other_power(name: str, n: int) -> dict[str, Any]:
    """Mean power over three levels of noise, for the test, distance correlation and Chatterjee's xi."""
    sample, noises = OTHERS[name]
    rng = np.random.default_rng([list(OTHERS).index(name), n])
    found: dict[str, list[float]] = {"renyi": [], "dCor": [], "xi": []}
    for noise in noises:
        x, y = np.array([sample(n, noise, rng) for _ in range(200)]).swapaxes(0, 1)
        other = rng.permuted(x, axis=1)
        found["renyi"].append(rejected(x, y))
        for peer, values in (("dCor", distances), ("xi", xi)):
            found[peer].append(float(np.mean(values(x, y) > np.quantile(values(other, y), 0.95))))
    row = {"pattern": name, "n": n, "repetitions": 200, **{peer: np.mean(powers) for peer, powers in found.items()}}
    print(row, flush=True)
    return row


def distances(x: Array, y: Array) -> Array:
    return np.array([dcor.distance_correlation(a, b, method="avl") for a, b in zip(x, y, strict=True)])


if __name__ == "__main__":
    results = {
        "patterns": [pattern_power(pattern) for pattern in STUDIED],
        "scales": [scale_power(s) for s in SCALES],
        "frontier": frontier(),
        "others": [other_power(name, n) for name in OTHERS for n in (100, 500)],
    }
    record("power", results, "numpy", "scipy", "dcor")
