"""The study behind the defaults of `renyi.rdc`: the scale s, the number of projections k, its growth, the debiasing.

Everything is seeded. `python benchmarks defaults` takes about ten minutes and writes results/defaults.json;
`python benchmarks tables` turns that into docs/validation/defaults.md.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.experiments.gallery import GALLERY
from renyi.experiments.patterns import PATTERNS

Array: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[Any, Any]

LEVELS = (1, 3, 6, 10, 15, 20, 25, 30)
N_POWER, N_REPEATS, N_NULL = 500, 100, 2000


def estimate(values: Iterable[float]) -> dict[str, float]:
    """Mean with its Monte Carlo error."""
    sample = np.array(list(values))
    return {"mean": float(sample.mean()), "error": float(sample.std(ddof=1) / np.sqrt(len(sample)))}


def mean_power(settings: dict[str, Any]) -> dict[str, float]:
    """Mean power at 5 % on the paper's eight patterns; the cut comes from independent data of the same size."""
    rng = np.random.default_rng(1)
    cut = np.quantile([renyi.rdc(*rng.random((2, N_POWER)), **settings) for _ in range(N_NULL)], 0.95)
    powers = [
        np.mean([renyi.rdc(*pattern.sample(N_POWER, level, rng), **settings) > cut for _ in range(N_REPEATS)])
        for pattern in PATTERNS
        for level in LEVELS
    ]
    error = np.sqrt(np.mean([p * (1 - p) for p in powers]) / (N_REPEATS * len(powers)))
    return {"mean": float(np.mean(powers)), "error": float(error)}


def scalar_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """What one setting does: gallery, spread over draws, value under independence, power."""
    rng = np.random.default_rng(0)
    samples = [[association.sample(1000, rng) for association in GALLERY] for _ in range(10)]
    gallery = np.mean([[renyi.rdc(*pair, **settings) for pair in sample] for sample in samples], axis=0)
    spread = {
        kind: float(
            np.mean([np.std([renyi.rdc(*pair, frequencies=kind, rng=seed, **settings) for seed in range(30)])
                     for pair in samples[0]])
        )
        for kind in ("normal", "auto")
    }  # fmt: skip
    x, y = samples[0][0][0], samples[0][3][1]
    row = {
        "settings": settings,
        "dimension": renyi.transformations(x, y, **settings).dimensions[0],
        "gallery": dict(zip((association.name for association in GALLERY), gallery.tolist(), strict=True)),
        "spread": spread,
        "independent": {
            str(n): estimate(renyi.rdc(*rng.random((2, n)), **settings) for _ in range(200)) for n in (500, 10_000)
        },
        "power": mean_power(settings),
    }
    print(row, flush=True)
    return row


def vector_targets(x: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Scalars that depend on a vector in six ways, with noise."""
    noise = rng.standard_normal(len(x))
    d = x.shape[1]
    return {
        "one coordinate": x[:, 0] + 2.5 * noise,
        "the sum": x.sum(axis=1) / np.sqrt(d) + 2.5 * noise,
        "a square": x[:, 0] ** 2 + 2.5 * noise,
        "a product": x[:, 0] * x[:, 1] + 1.5 * noise,
        "the radius": np.sum(x**2, axis=1) / np.sqrt(2 * d) + 2 * noise,
        "a sine": np.sin(3 * x[:, 0]) + noise,
    }


def vector_power(d: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng(d)
    null = [renyi.rdc(rng.standard_normal((500, d)), rng.standard_normal(500), k=k) for _ in range(200)]
    cut = np.quantile(null, 0.95)
    hits: dict[str, list[bool]] = {}
    for _ in range(100):
        x = rng.standard_normal((500, d))
        for name, y in vector_targets(x, rng).items():
            hits.setdefault(name, []).append(bool(renyi.rdc(x, y, k=k) > cut))
    powers = {name: float(np.mean(found)) for name, found in hits.items()}
    row = {"d": d, "k": k, "independent": float(np.mean(null)), "power": powers, "mean": np.mean(list(powers.values()))}
    print(row, flush=True)
    return row


def zipf_category(n: int, n_levels: int, rng: np.random.Generator) -> renyi.Column:
    weights = 1 / np.arange(1, n_levels + 1)
    return renyi.categorical(rng.choice(n_levels, n, p=weights / weights.sum()))


def common_factor(n: int, d: int, rng: np.random.Generator) -> Array:
    """Vectors whose coordinates correlate by 0.8."""
    return 2 * rng.standard_normal((n, 1)) + rng.standard_normal((n, d))


NULLS: dict[str, Callable[[int, np.random.Generator], Pair]] = {
    "scalars": lambda n, rng: tuple(rng.standard_normal((2, n))),
    "scalars rounded to integers": lambda n, rng: tuple(np.round(rng.standard_normal((2, n)))),
    "zero-inflated scalars": lambda n, rng: tuple(np.maximum(rng.standard_normal((2, n)), 0)),
    "7-level Zipf categories": lambda n, rng: (zipf_category(n, 7, rng), zipf_category(n, 7, rng)),
    "scalar and category": lambda n, rng: (rng.standard_normal(n), zipf_category(n, 7, rng)),
    "vectors of 2": lambda n, rng: tuple(rng.standard_normal((2, n, 2))),
    "vectors of 5": lambda n, rng: tuple(rng.standard_normal((2, n, 5))),
    "vectors of 20": lambda n, rng: tuple(rng.standard_normal((2, n, 20))),
    "vectors of 3, correlated": lambda n, rng: (common_factor(n, 3, rng), common_factor(n, 3, rng)),
    "vectors of 3, 90 % zeros": lambda n, rng: tuple(np.maximum(rng.standard_normal((2, n, 3)) - 1.28, 0)),
    "vectors of 10, 5 % ones": lambda n, rng: tuple((rng.random((2, n, 10)) < 0.05).astype(float)),
    "30-level Zipf categories": lambda n, rng: (zipf_category(n, 30, rng), zipf_category(n, 30, rng)),
}


def debiased_null(name: str, n: int, settings: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    values = [renyi.rdc(*NULLS[name](n, rng), debias=True, **settings) for _ in range(200)]
    row = {"data": name, "n": n, "settings": settings, **estimate(values)}
    print(row, flush=True)
    return row


def debiased_normal(correlation: float, n: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Mean raw and debiased values beside the population's, taken as the value at a million rows."""
    rng = np.random.default_rng(7)

    def sample(size: int) -> Pair:
        x, noise = rng.standard_normal((2, size))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    population = renyi.rdc(*sample(10**6), **settings)
    pairs = [sample(n) for _ in range(500)]
    row = {
        "correlation": correlation,
        "n": n,
        "settings": settings,
        "population": population,
        "raw": estimate(renyi.rdc(*pair, **settings) for pair in pairs),
        "debiased": estimate(renyi.rdc(*pair, debias=True, **settings) for pair in pairs),
    }
    print(row, flush=True)
    return row


def rounded_normal(correlation: float) -> Callable[[int, np.random.Generator], Pair]:
    def sample(n: int, rng: np.random.Generator) -> Pair:
        x, noise = rng.standard_normal((2, n))
        return np.round(x), np.round(correlation * x + np.sqrt(1 - correlation**2) * noise)

    return sample


def agreeing_categories(n: int, rng: np.random.Generator) -> Pair:
    """Two categories of 12 levels that agree in 85 % of the rows: eleven equal canonical correlations."""
    x = rng.integers(0, 12, n)
    return renyi.categorical(x), renyi.categorical(np.where(rng.random(n) < 0.85, x, rng.integers(0, 12, n)))


def noisy_circle(n: int, rng: np.random.Generator) -> Pair:
    angle, noise = rng.uniform(0, 2 * np.pi, n), rng.normal(0, 0.1, (2, n))
    return np.sin(angle) + noise[0], np.cos(angle) + noise[1]


def noisy_product(n: int, rng: np.random.Generator) -> Pair:
    x = rng.standard_normal((n, 2))
    return x, x[:, 0] * x[:, 1] + 0.3 * rng.standard_normal(n)


HIGH: dict[str, Callable[[int, np.random.Generator], Pair]] = {
    "circle": noisy_circle,
    "product of 2 coordinates": noisy_product,
    "normals 0.9, rounded to integers": rounded_normal(0.9),
    "normals 0.95, rounded to integers": rounded_normal(0.95),
    "12 levels that agree in 85 %": agreeing_categories,
}


def debiased_high(name: str, n: int) -> dict[str, Any]:
    """Mean debiased value of strong dependence beside the population's, taken as the value at a million rows."""
    rng = np.random.default_rng(n)
    population = renyi.rdc(*HIGH[name](10**6, rng))
    values = [renyi.rdc(*HIGH[name](n, rng), debias=True) for _ in range(150)]
    row = {"data": name, "n": n, "population": population, **estimate(values)}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    scales: list[dict[str, Any]] = [{"s": s} for s in ("median", 0.2, 1.0, 2.0, 3.0, 4.0, 6.0, 12.0, 50.0)]
    projections = [{"k": k} for k in (2, 3, 5, 10, 20, 40)]
    results = {
        "scale": [scalar_settings(settings) for settings in scales],
        "projections": [scalar_settings(settings) for settings in projections],
        "vectors": [vector_power(d, k) for d in (2, 5, 20) for k in (5, 8, 10, 15, 20, 45, 100)],
        "null": [
            debiased_null(name, n, settings)
            for name in NULLS
            for n in (200, 1000)
            for settings in ({}, *([{"s": 12.0}, {"s": 50.0}] if name == "scalars" else []))
        ],
        "normal": [
            debiased_normal(correlation, 500, settings)
            for correlation in (0.3, 0.5, 0.8, 0.9, 0.97)
            for settings in ({}, {"s": 12.0}, {"s": 50.0})
        ],
        "high": [debiased_high(name, n) for name in HIGH for n in (500, 2000)],
    }
    record("defaults", results, "numpy", "scipy")
