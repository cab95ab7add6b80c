"""Size and power of the conditional test, beside partial correlation.

`python benchmarks conditional` takes about half an hour on two cores and writes results/conditional.json.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two processes with two threads each would stand in their own way

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

import renyi
from harness import record

Array: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator
Triple: TypeAlias = tuple[Array, Array, Array]
# A variable made of z and of noise whose size is relative to the effect of z.
Effect: TypeAlias = Callable[[Array, float, Rng], Array]

FUNCTIONS: tuple[Callable[[Array], Array], ...] = (
    lambda v: v,
    lambda v: v**2,
    lambda v: v**3 / 4,
    np.abs,
    np.tanh,
    lambda v: np.exp(-(v**2)),
    lambda v: np.sin(2 * v),
    lambda v: np.cos(2 * v),
)
# As in the simulations of Strobl et al. (2019): noise enters before the function.
POST_NONLINEAR: tuple[Callable[[Array], Array], ...] = (
    lambda v: v,
    lambda v: v**2,
    lambda v: v**3,
    np.tanh,
    lambda v: np.exp(-np.abs(v)),
)


def standardised(values: Array) -> Array:
    return np.asarray((values - values.mean()) / values.std())


def with_noise(effect: Array, noise: float, rng: Rng) -> Array:
    return standardised(effect) + noise * rng.standard_normal(len(effect))


def any_function(values: Array, rng: Rng) -> Array:
    return standardised(FUNCTIONS[rng.integers(len(FUNCTIONS))](values))


def additive(z: Array, noise: float, rng: Rng) -> Array:
    return with_noise(np.sum([any_function(column, rng) for column in z.T], axis=0), noise, rng)


def of_one_variable(z: Array, noise: float, rng: Rng) -> Array:
    return with_noise(any_function(z[:, 0], rng), noise, rng)


def common_cause(z: Array, noise: float, rng: Rng) -> Array:
    shared = z.sum(axis=1) / np.sqrt(z.shape[1])
    return POST_NONLINEAR[rng.integers(len(POST_NONLINEAR))](shared + noise * rng.standard_normal(len(z)))


def wave(*frequencies: float) -> Effect:
    """Waves along as many projections of z."""

    def effect(z: Array, noise: float, rng: Rng) -> Array:
        signs = np.array([[1, -1, 1, -1, 1], [1, 1, -1, -1, 1]])[:, : z.shape[1]] / np.sqrt(z.shape[1])
        waves = [np.sin(frequency * z @ w) for frequency, w in zip(frequencies, signs, strict=False)]
        return with_noise(np.sum(waves, axis=0), noise, rng)

    return effect


def larger_of_two(z: Array, noise: float, rng: Rng) -> Array:
    return with_noise(np.maximum(z[:, 0], z[:, 1]), noise, rng)


EFFECTS: dict[str, Effect] = {
    "additive": additive,
    "of one variable": of_one_variable,
    "common cause": common_cause,
    "a wave along a projection": wave(2.0),
    "a fast wave along a projection": wave(4.0),
    "waves along two projections": wave(2.0, 2.0),
    "the larger of two": larger_of_two,
}
SIZES = [
    (effect, n, d, noise)
    for n in (500, 2000)
    for d in (1, 5)
    for effect in ("additive", "of one variable", "common cause")
    for noise in (1.0, 0.3, 0.1)
] + [(effect, n, 5, 0.3) for n in (500, 2000) for effect in list(EFFECTS)[3:]]

# How y depends on the part e of x that z does not explain.
DEPENDENCES: dict[str, Callable[[Array, Array], Array]] = {
    "linear": lambda e, _: e,
    "square": lambda e, _: e**2,
    "wave": lambda e, _: np.sin(3 * e),
    "absolute value": lambda e, _: np.abs(e),
    "sign changes with z": lambda e, z: e * z[:, 0],
}
POWERS = [(dependence, n, d) for n in (500, 2000) for d in (1, 5) for dependence in DEPENDENCES]


def partial_correlation(x: Array, y: Array, z: Array) -> float:
    design = np.column_stack([np.ones(len(z)), z])
    a, b = (v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y))
    freedom = len(z) - design.shape[1] - 1
    correlation = np.sum(a * b) / np.sqrt(np.sum(a**2) * np.sum(b**2))
    return float(2 * student.sf(abs(correlation) * np.sqrt(freedom / (1 - correlation**2)), freedom))


def ours_or_none(x: Array, y: Array, z: Array) -> float:
    """The p-value, or NaN where z leaves nothing to test."""
    try:
        return renyi.conditional_test(x, y, z).pvalue
    except renyi.InputError:
        return np.nan


def rejections(
    sample: Callable[[Rng], tuple[Array, Array, Array]], n_repetitions: int, seed: list[int]
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_repetitions):
        x, y, z = sample(rng)
        found.append([ours_or_none(x, y, z), partial_correlation(x, y, z)])
    ours, linear = np.array(found).T
    tested = ours[~np.isnan(ours)]
    return {
        "repetitions": n_repetitions,
        "refused": n_repetitions - len(tested),
        "at 5 %": float(np.mean(tested <= 0.05)),
        "at 1 %": float(np.mean(tested <= 0.01)),
        "partial correlation at 5 %": float(np.mean(linear <= 0.05)),
    }


def size(cell: tuple[str, int, int, float]) -> dict[str, Any]:
    effect, n, d, noise = cell

    def sample(rng: Rng) -> Triple:
        z = rng.standard_normal((n, d))
        return EFFECTS[effect](z, noise, rng), EFFECTS[effect](z, noise, rng), z

    found = rejections(sample, 1000 if n == 500 else 500, [SIZES.index(cell)])
    print(cell, found, flush=True)
    return {"effect of z": effect, "n": n, "variables": d, "noise": noise, **found}


def power(cell: tuple[str, int, int]) -> dict[str, Any]:
    """Effects of z are linear here, else partial correlation would reject for the wrong reason."""
    dependence, n, d = cell

    def sample(rng: Rng) -> Triple:
        z, e = rng.standard_normal((n, d)), rng.standard_normal(n)
        effect = z.sum(axis=1) / np.sqrt(d)
        strength = 0.2 if dependence == "linear" else 0.5
        depends = strength * standardised(DEPENDENCES[dependence](e, z))
        return effect + e, effect + depends + rng.standard_normal(n), z

    found = rejections(sample, 300 if n == 500 else 100, [POWERS.index(cell), 1])
    print(cell, found, flush=True)
    return {"dependence": dependence, "n": n, "variables": d, **found}


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        results = {"sizes": list(pool.map(size, SIZES)), "powers": list(pool.map(power, POWERS))}
    record("conditional", results, "numpy", "scipy")
