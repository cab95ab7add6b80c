"""Debiased coefficients of strong dependence, by the closed form and by three estimates that look at more than ρ₁.

And how well any estimate can do: populations that samples hardly tell apart, though their coefficients differ.

`python benchmarks equal_roots` takes about a minute and writes results/equal_roots.json, from which
`benchmarks/render/tables.py` makes a part of docs/validation/defaults.md.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.basis.random_features import seeds
from renyi.data.column import Column
from renyi.data.reader import as_column
from renyi.inference.debias import debias, null_level
from renyi.pair.prepare import prepare

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


def agreement(shares: Array) -> Array:
    """Probabilities of two categories that agree in 85 % of the rows, else by chance: all correlations are 0.85."""
    return np.asarray(0.15 * np.outer(shares, shares) + 0.85 * np.diag(shares))


def with_a_favourite(n_levels: int, favourite: int, *, more: float) -> Array:
    """The same, where being the favourite level or not correlates by `more` than that."""
    is_favourite = (np.eye(n_levels)[favourite] - 1 / n_levels) / np.sqrt((1 - 1 / n_levels) / n_levels)
    equal = agreement(np.full(n_levels, 1 / n_levels))
    return np.asarray(equal + more * np.outer(is_favourite, is_favourite) / n_levels**2)


def with_a_match(shares: Array) -> Array:
    """The same, where both have the last level or none has."""
    joint = np.diag(shares)
    joint[:-1, :-1] = agreement(shares[:-1] / shares[:-1].sum()) * shares[:-1].sum()
    return np.asarray(joint)


def largest_root(joint: Array) -> float:
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(np.linalg.svd((joint - independent) / np.sqrt(independent), compute_uv=False)[0])


def indistinct_samples(n_levels: int, more: float) -> dict[str, float]:
    """What no estimate does better on `N_ROWS` rows if one level may be a favourite, any of them.

    χ² is the distance of the distribution of all rows with a favourite at random from that without. √χ²/2 bounds by how
    much the probability of an event may differ, so that one of the two sees errors of half the difference in a share of
    its samples (Le Cam); and an estimate whose means differ by d has a standard deviation of at least d/√χ² without a
    favourite (Hammersley, Chapman and Robbins).
    """
    plain = with_a_favourite(n_levels, 0, more=0.0)
    others = [with_a_favourite(n_levels, level, more=more) for level in range(n_levels)]
    overlaps = [[((one - plain) * (two - plain) / plain).sum() for one in others] for two in others]
    squared = float(np.mean((1 + np.array(overlaps)) ** N_ROWS)) - 1
    low, high = largest_root(plain), largest_root(others[0])
    return {
        "levels": n_levels,
        "population": low,
        "other": high,
        "chi_squared": squared,
        "far_off": (high - low) / 2,
        "share_far_off": (1 - squared**0.5 / 2) / 2,
        "spread": (high - low - 2 * ALLOWED) / squared**0.5,
    }


def indistinct_means(n_levels: int, rare: float) -> dict[str, float]:
    """By how much means of an estimate within [−1, 1] may differ if a rare level may be matched."""
    shares = np.append(np.full(n_levels - 1, (1 - rare) / (n_levels - 1)), rare)
    plain, matched = agreement(shares), with_a_match(shares)
    variation = N_ROWS * float(np.abs(plain - matched).sum()) / 2
    return {
        "levels": n_levels,
        "rare": rare,
        "population": largest_root(plain),
        "other": largest_root(matched),
        "variation": variation,
        "most_of_means": 2 * variation,
    }


if __name__ == "__main__":
    results = {
        "n": N_ROWS,
        "samples": N_SAMPLES,
        "allowed": ALLOWED,
        "samples_alike": indistinct_samples(20, 0.08),
        "means_alike": indistinct_means(13, 1e-5),
        "rows": [study(name) for name in DATA],
    }
    record("equal_roots", results, "numpy", "scipy")
