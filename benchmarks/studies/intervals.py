"""How often the confidence interval of the debiased coefficient covers the population's value.

`python benchmarks intervals` takes a few minutes and writes results/intervals.json. The population's value is that
of a million rows.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record

Array: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = Callable[[int, np.random.Generator], tuple[Any, Any]]

LENGTHS, N_REPETITIONS = (500, 2000), 1000


def normals(correlation: float) -> Sample:
    def sample(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    return sample


def parabola(noise: float) -> Sample:
    def sample(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        x = rng.uniform(-1, 1, n)
        return x, x**2 + noise * rng.standard_normal(n)

    return sample


def ring(noise: float) -> Sample:
    def sample(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        angle, errors = rng.uniform(0, 2 * np.pi, n), noise * rng.standard_normal((2, n))
        return np.sin(angle) + errors[0], np.cos(angle) + errors[1]

    return sample


def heavy_tails(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    x = rng.standard_cauchy(n)
    return x, x + rng.standard_cauchy(n)


def shifted_levels(n: int, rng: np.random.Generator) -> tuple[Array, Any]:
    level = rng.integers(0, 4, n)
    return 0.7 * level + rng.standard_normal(n), renyi.categorical(level)


def agreeing(n_levels: int) -> Sample:
    """Two categories that are drawn anew in 15 % of the rows and agree in the others: all correlations are equal."""

    def sample(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        x, other = rng.integers(0, n_levels, (2, n))
        return renyi.categorical(x), renyi.categorical(np.where(rng.random(n) < 0.85, x, other))

    return sample


SAMPLES: dict[str, Sample] = {
    "normals, 0.5": normals(0.5),
    "normals, 0.7": normals(0.7),
    "normals, 0.9": normals(0.9),
    "parabola, noise 0.3": parabola(0.3),
    "parabola, noise 0.1": parabola(0.1),
    "ring, noise 0.3": ring(0.3),
    "ring, noise 0.1": ring(0.1),
    "Cauchy sums": heavy_tails,
    "four shifted levels": shifted_levels,
    "3 levels that agree in 85 %": agreeing(3),
    "12 levels that agree in 85 %": agreeing(12),
}


def coverage(name: str, n: int) -> dict[str, Any]:
    rng = np.random.default_rng([list(SAMPLES).index(name), n])
    population = renyi.rdc(*SAMPLES[name](10**6, rng))
    results = [renyi.independence_test(*SAMPLES[name](n, rng), method="bartlett") for _ in range(N_REPETITIONS)]
    ends = np.array([result.confidence_interval() for result in results])
    row = {
        "data": name,
        "n": n,
        "population": population,
        "repetitions": N_REPETITIONS,
        "coverage": float(np.mean((ends[:, 0] <= population) & (population <= ends[:, 1]))),
        "mean": float(np.mean([result.debiased for result in results])),
        "width": float(np.mean(ends[:, 1] - ends[:, 0])),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    record("intervals", {"coverage": [coverage(name, n) for name in SAMPLES for n in LENGTHS]}, "numpy", "scipy")
