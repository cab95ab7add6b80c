"""Debiased coefficients of strong dependence, by the closed form and by three estimates that look at more than ρ₁.

And how well any estimate can do: two populations that one sample cannot tell apart, though their coefficients differ.

`python benchmarks/equal_roots.py` takes about a minute and writes results/equal_roots.json, from which
`benchmarks/tables.py` makes a part of docs/defaults.md.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.columns import Column, as_column
from renyi.features import seeds
from renyi.independence import prepare
from renyi.inference.bias import debias, null_level
from renyi.spectrum import canonical_correlations, cross_products

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = tuple[Array, Array]
Make: TypeAlias = Callable[[int, np.random.Generator], tuple[Column, Column]]

N_ROWS, N_SAMPLES, N_OF_POPULATION = 500, 200, 400_000
N_FOLDS, N_RESAMPLES, N_GROUPS = 10, 50, 50
(SEED,) = seeds(None, n_draws=1)
# Directions of the functions on some of the rows below this root mean square are rounding.
CUT = 1e-6
# How far from the population the mean of an estimate was asked to be at most.
ALLOWED = 0.02


def numbers(x: Array, y: Array) -> tuple[Column, Column]:
    return as_column(x, "x"), as_column(y, "y")


def normals(correlation: float) -> Callable[[int, np.random.Generator], Rows]:
    def make(n: int, rng: np.random.Generator) -> Rows:
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    return make


def circle(n: int, rng: np.random.Generator) -> tuple[Column, Column]:
    angle = rng.uniform(0, 2 * np.pi, n)
    x, y = np.array([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((2, n))
    return numbers(x, y)


def copied(n: int, rng: np.random.Generator) -> tuple[Column, Column]:
    """A value and its copy, which is another one in 15 % of the rows."""
    x, other = rng.random((2, n))
    return numbers(x, np.where(rng.random(n) < 0.85, x, other))


def agreeing(n_levels: int, *, zipf: bool = False) -> Make:
    """Two categories that are drawn anew in 15 % of the rows and agree in the others."""
    shares = 1.0 / np.arange(1, n_levels + 1) if zipf else np.ones(n_levels)

    def make(n: int, rng: np.random.Generator) -> tuple[Column, Column]:
        x, other = rng.choice(n_levels, (2, n), p=shares / shares.sum())
        return renyi.categorical(x), renyi.categorical(np.where(rng.random(n) < 0.85, x, other))

    return make


def independent(n: int, rng: np.random.Generator) -> tuple[Column, Column]:
    x, y = rng.integers(0, 12, (2, n))
    return renyi.categorical(x), renyi.categorical(y)


DATA: dict[str, Make] = {
    "normals, 0.9": lambda n, rng: numbers(*normals(0.9)(n, rng)),
    "circle": circle,
    "normals, 0.9, rounded to integers": lambda n, rng: numbers(*(np.round(v) for v in normals(0.9)(n, rng))),
    "a number and its copy, right in 85 %": copied,
    "12 levels that agree in 85 %": agreeing(12),
    "20 levels that agree in 85 %": agreeing(20),
    "20 Zipf levels that agree in 85 %": agreeing(20, zipf=True),
    "independent, 12 levels": independent,
}


def whitening(rows: Array) -> tuple[Array, Array]:
    """Mean, and what makes the functions orthonormal on these rows."""
    mean = rows.mean(axis=0)
    _, sizes, directions = np.linalg.svd((rows - mean) / np.sqrt(len(rows)), full_matrices=False)
    kept = sizes > CUT
    return mean, directions[kept].T / sizes[kept]


def fitted(x: Array, y: Array) -> tuple[float, tuple[Array, Array], tuple[Array, Array]]:
    """The largest canonical correlation, with the functions that attain it: mean and weights of either side."""
    (mean_x, of_x), (mean_y, of_y) = whitening(x), whitening(y)
    left, roots, right = np.linalg.svd(of_x.T @ (x - mean_x).T @ (y - mean_y) @ of_y / len(x))
    return min(float(roots[0]), 1.0), (mean_x, of_x @ left[:, 0]), (mean_y, of_y @ right[0])


def cross_fitted(x: Array, y: Array, rng: np.random.Generator) -> float:
    """The correlation of functions on rows that had no say in them."""
    fold = rng.permutation(len(x)) % N_FOLDS
    f, g = np.empty(len(x)), np.empty(len(x))
    for k in range(N_FOLDS):
        _, (mean_x, weights_x), (mean_y, weights_y) = fitted(x[fold != k], y[fold != k])
        f[fold == k], g[fold == k] = (x[fold == k] - mean_x) @ weights_x, (y[fold == k] - mean_y) @ weights_y
    return float(np.corrcoef(f, g)[0, 1])


def bootstrapped(x: Array, y: Array, rng: np.random.Generator) -> float:
    """The coefficient, less by how much it rises where rows are drawn again."""
    draws = rng.integers(0, len(x), (N_RESAMPLES, len(x)))
    found = fitted(x, y)[0]
    return found - float(np.mean([fitted(x[rows], y[rows])[0] for rows in draws]) - found)


def jackknifed(x: Array, y: Array, rng: np.random.Generator) -> float:
    """The same, from leaving out a group of rows at a time."""
    group = rng.permutation(len(x)) % N_GROUPS
    found = fitted(x, y)[0]
    without = np.mean([fitted(x[group != k], y[group != k])[0] for k in range(N_GROUPS)])
    return found - (N_GROUPS - 1) * float(without - found)


def sample(make: Make, rng: np.random.Generator) -> dict[str, float]:
    of_x, of_y = (prepare(column, SEED).basis for column in make(N_ROWS, rng))
    largest = float(canonical_correlations(cross_products(of_x, of_y))[0])
    x, y = of_x.rows(0, N_ROWS), of_y.rows(0, N_ROWS)
    return {
        "coefficient": largest,
        "closed form": debias(largest, null_level(of_x, of_y)),
        "cross-fitted": cross_fitted(x, y, rng),
        "bootstrap": bootstrapped(x, y, rng),
        "jackknife": jackknifed(x, y, rng),
    }


def study(name: str) -> dict[str, Any]:
    rng = np.random.default_rng(list(DATA).index(name))
    make = DATA[name]
    population = 0.0 if name.startswith("independent") else renyi.rdc(*make(N_OF_POPULATION, rng))
    samples = [sample(make, rng) for _ in range(N_SAMPLES)]
    values = {estimate: np.array([one[estimate] for one in samples]) for estimate in samples[0]}
    row: dict[str, Any] = {
        "data": name,
        "population": population,
        "errors": {estimate: float(found.mean() - population) for estimate, found in values.items()},
        "spreads": {estimate: float(found.std(ddof=1)) for estimate, found in values.items()},
    }
    print(row, flush=True)
    return row


def agreement(n_levels: int) -> Array:
    """Probabilities of two categories that agree in 85 % of the rows, else by chance: all correlations are 0.85."""
    return np.asarray(0.15 / n_levels**2 + 0.85 * np.eye(n_levels) / n_levels)


def with_a_favourite(n_levels: int, favourite: int, *, more: float) -> Array:
    """The same, where being the favourite level or not correlates by `more` than that."""
    is_favourite = (np.eye(n_levels)[favourite] - 1 / n_levels) / np.sqrt((1 - 1 / n_levels) / n_levels)
    return np.asarray(agreement(n_levels) + more * np.outer(is_favourite, is_favourite) / n_levels**2)


def rounded_normals(correlation: float) -> Array:
    """Probabilities of two normals that are rounded to integers from -4 to 4, by adding up their density."""
    step = 0.01
    at = np.arange(-7.5, 7.5, step) + step / 2
    x, y = np.meshgrid(at, at, indexing="ij")
    density = np.exp(-(x**2 - 2 * correlation * x * y + y**2) / (2 * (1 - correlation**2)))
    firsts = np.searchsorted(np.clip(np.round(at), -4, 4), np.arange(-4, 5))
    joint = np.add.reduceat(np.add.reduceat(density, firsts, axis=0), firsts, axis=1)
    return np.asarray(joint / joint.sum())


def with_a_match(joint: Array) -> Array:
    """The same, but for the last value, which is had by both or by none."""
    matched = joint.copy()
    matched[-1], matched[:, -1] = 0.0, 0.0
    matched[-1, -1] = joint[-1].sum()
    matched[:-1, :-1] *= (1 - matched[-1, -1]) / matched[:-1, :-1].sum()
    return matched


def largest_root(joint: Array) -> float:
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(np.linalg.svd((joint - independent) / np.sqrt(independent), compute_uv=False)[0])


def indistinct(name: str, plain: Array, others: list[Array]) -> dict[str, Any]:
    """What no estimate does better on `N_ROWS` rows that are drawn from `plain`, or from one of `others` at random.

    χ² is the distance of the two laws of all rows. √χ²/2 bounds by how much the probability of an event may differ, so
    that one of the two sees errors of half the difference in a share of its samples (Le Cam); and an estimate whose
    means differ by d has a standard deviation of at least d/√χ² under the first (Hammersley, Chapman and Robbins).
    """
    overlaps = [[((one - plain) * (two - plain) / plain).sum() for one in others] for two in others]
    squared = float(np.mean((1 + np.array(overlaps)) ** N_ROWS)) - 1
    low, high = largest_root(plain), largest_root(others[0])
    return {
        "data": name,
        "population": low,
        "other": high,
        "chi_squared": squared,
        "far_off": (high - low) / 2,
        "share_far_off": (1 - squared**0.5 / 2) / 2,
        "spread": (high - low - 2 * ALLOWED) / squared**0.5,
    }


def limits() -> list[dict[str, Any]]:
    favourites = [with_a_favourite(20, level, more=0.08) for level in range(20)]
    normal = rounded_normals(0.9)
    return [
        indistinct("20 levels that agree in 85 %, or one of them more often", agreement(20), favourites),
        indistinct("normals, 0.9, rounded to integers, or 4 meets 4 alone", normal, [with_a_match(normal)]),
    ]


if __name__ == "__main__":
    results = {
        "n": N_ROWS,
        "samples": N_SAMPLES,
        "allowed": ALLOWED,
        "limits": limits(),
        "rows": [study(name) for name in DATA],
    }
    record("equal_roots", results, "numpy", "scipy")
