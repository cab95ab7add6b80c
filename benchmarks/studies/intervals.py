"""How often the confidence interval of the debiased coefficient covers the population's value.

`python benchmarks intervals` takes a few minutes and writes results/intervals.json. The population's value is that
of a million rows. Where a few rows carry the coefficient there is no interval; coverage is of those that there are.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record

Array: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = Callable[[int, np.random.Generator], tuple[Any, Any]]

LENGTHS, N_REPETITIONS = (50, 200, 1000), 500


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


def agreeing(n_levels: int, kept: float = 0.85) -> Sample:
    """Two categories that agree in some rows and are drawn anew in the others: all correlations are equal."""

    def sample(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        x, other = rng.integers(0, n_levels, (2, n))
        return renyi.categorical(x), renyi.categorical(np.where(rng.random(n) < kept, x, other))

    return sample


def rounded(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    x, y = normals(0.6)(n, rng)
    return np.rint(x), np.rint(y)


def flags(share: float, kept: float) -> Sample:
    """Two flags that this share of the rows has, equal but for those that are drawn anew."""

    def sample(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        x = rng.random(n) < share
        y = np.where(rng.random(n) < kept, x, rng.random(n) < share)
        return x.astype(np.float64), y.astype(np.float64)

    return sample


SAMPLES: dict[str, Sample] = {
    "normals, 0": normals(0.0),
    "normals, 0.3": normals(0.3),
    "normals, 0.6": normals(0.6),
    "normals, 0.9": normals(0.9),
    "parabola, noise 0.3": parabola(0.3),
    "parabola, noise 0.1": parabola(0.1),
    "ring, noise 0.3": ring(0.3),
    "ring, noise 0.1": ring(0.1),
    "Cauchy sums": heavy_tails,
    "four shifted levels": shifted_levels,
    "3 levels that agree in 85 %": agreeing(3),
    "10 levels that agree in 85 %": agreeing(10),
    "3 levels that agree in 30 %": agreeing(3, 0.3),
    "10 levels that agree in 30 %": agreeing(10, 0.3),
    "rounded normals, 0.6": rounded,
    "flags of 1 %, 70 % equal": flags(0.01, 0.7),
    "flags of 5 %, 70 % equal": flags(0.05, 0.7),
    "equal flags of 2 %": flags(0.02, 1.0),
}


def tested(name: str, n: int, rng: np.random.Generator) -> Any:
    """What the test says of a sample; None of one that does not vary."""
    try:
        return renyi.independence_test(*SAMPLES[name](n, rng), method="bartlett")
    except renyi.InputError:
        return None


def coverage(name: str, n: int) -> dict[str, Any]:
    rng = np.random.default_rng([list(SAMPLES).index(name), n])
    population = renyi.rdc(*SAMPLES[name](10**6, rng))
    results = [result for _ in range(N_REPETITIONS) if (result := tested(name, n, rng)) is not None]
    ends = np.array([result.confidence_interval() for result in results])
    ends = ends[~np.isnan(ends[:, 0])]
    # The coefficient of equal columns is 1 but for rounding.
    is_covered = (ends[:, 0] <= population + 1e-9) & (population - 1e-9 <= ends[:, 1])
    row = {
        "data": name,
        "n": n,
        "population": population,
        "repetitions": N_REPETITIONS,
        "intervals": len(ends) / N_REPETITIONS,
        "coverage": float(np.mean(is_covered)) if len(ends) else None,
        "mean": float(np.mean([result.debiased for result in results])),
        "width": float(np.mean(ends[:, 1] - ends[:, 0])) if len(ends) else None,
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    record("intervals", {"coverage": [coverage(name, n) for name in SAMPLES for n in LENGTHS]}, "numpy", "scipy")
