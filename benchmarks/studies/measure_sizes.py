"""How often the p-values of the other measures call independent columns dependent.

`python benchmarks measure_sizes` takes about ten minutes on two cores and writes results/measure_sizes.json. Columns
of every kind are drawn in pairs, and the rows of one of each pair are permuted thousands of times: given its margins
every such pair is a draw of independent data. Whether theory serves a pair, its margins decide alone. Where it does not
rows are permuted by the test itself, whose size holds by construction; the study says how often that is.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import renyi
from harness import record
from renyi.coefficients.base import Measure, Side
from renyi.coefficients.dcor import Dcor
from renyi.coefficients.rows import Rows

Rng: TypeAlias = np.random.Generator
Column: TypeAlias = Callable[[int, Rng], Any]

LEVELS = (0.05, 0.01, 1e-3)
MEASURES = ("pearson", "spearman", "kendall", "cca", "dcor", "hsic", "chsic", "xi")
# Pairs of a kind, and permutations of each.
N_PAIRS, N_PERMUTATIONS = {10_000: 3, 1_000: 8}, {10_000: 1_000, 1_000: 2_500}
MOST_PAIRS, MOST_PERMUTATIONS = 12, 5_000


class Kind(NamedTuple):
    """Columns of both sides, and the numbers of rows at which they are looked at."""

    x: Column
    y: Column
    lengths: tuple[int, ...]


def flag(n_ones: int) -> Column:
    return lambda n, rng: rng.permutation(np.arange(n) < n_ones).astype(float)


def normal(n: int, rng: Rng) -> Any:
    return rng.standard_normal(n)


def lognormal(sigma: float) -> Column:
    return lambda n, rng: np.exp(sigma * rng.standard_normal(n))


def poisson(mean: float) -> Column:
    return lambda n, rng: rng.poisson(mean, n).astype(float)


def zero_inflated(share: float) -> Column:
    return lambda n, rng: np.where(rng.random(n) < share, 0.0, rng.exponential(size=n))


def levels(shares: tuple[float, ...]) -> Column:
    return lambda n, rng: rng.choice(len(shares), n, p=shares).astype(float)


def zipf(n_levels: int) -> Column:
    """A category, as indicators of its levels."""
    shares = 1 / np.arange(1, n_levels + 1)
    return lambda n, rng: np.eye(n_levels)[rng.choice(n_levels, n, p=shares / shares.sum())]


def vectors(make: Column) -> Column:
    return lambda n, rng: np.column_stack([make(n, rng) for _ in range(3)])


MANY, FEW = (1_000, 10_000), (12, 20, 30, 49)
EVERY = (*FEW, 200, 1_000)
KINDS = {
    "normal": Kind(normal, normal, EVERY),
    "normals to one digit": Kind(*(lambda n, rng: np.round(rng.standard_normal(n), 1),) * 2, (*FEW, 1_000)),
    "five levels": Kind(*(levels((0.1, 0.2, 0.4, 0.2, 0.1)),) * 2, (20, 49, 200, 1_000)),
    "five levels, skewed": Kind(*(levels((0.7, 0.15, 0.08, 0.05, 0.02)),) * 2, (20, 49, 200, 1_000)),
    "exponential": Kind(*(lambda n, rng: rng.exponential(size=n),) * 2, EVERY),
    "lognormal, σ = 0.5": Kind(*(lognormal(0.5),) * 2, (30, 49, 200, 1_000)),
    "lognormal, σ = 1": Kind(*(lognormal(1.0),) * 2, (30, 49, 200, 1_000)),
    "Student's t, 3": Kind(*(lambda n, rng: rng.standard_t(3, n),) * 2, (30, 49, 200, 1_000)),
    "Cauchy": Kind(*(lambda n, rng: rng.standard_cauchy(n),) * 2, (30, 200, 1_000)),
    "normal, Cauchy": Kind(normal, lambda n, rng: rng.standard_cauchy(n), (30, 200, 1_000)),
    "Poisson, mean 0.1": Kind(*(poisson(0.1),) * 2, MANY),
    "Poisson, mean 1": Kind(*(poisson(1.0),) * 2, (49, 200, 1_000)),
    "70 % zeros": Kind(*(zero_inflated(0.7),) * 2, (49, 200, 1_000)),
    "95 % zeros": Kind(*(zero_inflated(0.95),) * 2, MANY),
    "flags of 5 ones": Kind(flag(5), flag(5), (20, 49, *MANY)),
    "flags of 20 ones": Kind(flag(20), flag(20), (49, *MANY)),
    "flags of 50 ones": Kind(flag(50), flag(50), MANY),
    "flags of 200 ones": Kind(flag(200), flag(200), MANY),
    "flag of 5 ones, normal": Kind(flag(5), normal, (20, 49, *MANY)),
    "flag of 20 ones, normal": Kind(flag(20), normal, MANY),
    "flag of 20 ones, exponential": Kind(flag(20), lambda n, rng: rng.exponential(size=n), MANY),
    "flag of 50 ones, Poisson of mean 0.1": Kind(flag(50), poisson(0.1), MANY),
    "flag of 200 ones, 70 % zeros": Kind(flag(200), zero_inflated(0.7), (1_000,)),
    "vectors of 3 normals": Kind(vectors(normal), vectors(normal), (30, 49, 200, 1_000)),
    "vectors of 3 lognormals": Kind(vectors(lognormal(1.0)), vectors(lognormal(1.0)), (49, 200, 1_000)),
    "6 Zipf levels": Kind(zipf(6), zipf(6), (49, 200, 1_000)),
    "30 Zipf levels": Kind(zipf(30), zipf(30), (200, 1_000)),
    "normal, 6 Zipf levels": Kind(normal, zipf(6), (49, 200, 1_000)),
}
# Measures of numbers alone have no place there, and on many rows all but canonical correlation take too long.
OF_VECTORS = tuple(KINDS)[-5:]


def study(name: str, kind: str, n: int) -> dict[str, Any]:
    """Shares of p-values at most the levels, among pairs that theory serves; and how many these are."""
    measure, rng = renyi.measure(name), np.random.default_rng([list(KINDS).index(kind), n])
    n_pairs, n_permutations = N_PAIRS.get(n, MOST_PAIRS), N_PERMUTATIONS.get(n, MOST_PERMUTATIONS)
    shares = []
    for _ in range(n_pairs):
        x, y = (_side(measure, make, n, rng) for make in KINDS[kind][:2])
        # Always drawn, so that all measures see the same columns.
        orders = rng.permuted(np.tile(np.arange(n), (n_permutations, 1)), axis=1)
        if measure.by_theory(x, y, measure.combine(x.prepared, y.prepared)) is not None:
            shares.append(_below(measure, x, y, orders))
    found: dict[str, Any] = {"measure": name, "kind": kind, "n": n, "by_theory": len(shares) / n_pairs}
    if not shares:
        return found
    sizes = np.mean(shares, axis=0)
    chance = np.sqrt(sizes * (1 - sizes) / (len(shares) * n_permutations))
    between = np.std(shares, axis=0) / np.sqrt(len(shares))
    return found | {"sizes": sizes.tolist(), "errors": np.maximum(chance, between).tolist()}


def _side(measure: Measure[Any], make: Column, n: int, rng: Rng) -> Side[Any]:
    values = make(n, rng)
    while np.ptp(values) == 0.0:
        values = make(n, rng)
    return Side(measure.prepare(values), Rows(values))


def _below(measure: Measure[Any], x: Side[Any], y: Side[Any], orders: Any) -> list[float]:
    """The share of orders with a p-value of at most each level; these fall with the strength, so few are computed."""
    are_flags = x.rows.flagged is not None and y.rows.flagged is not None
    # The bound goes by the bias-corrected square.
    ranking = Dcor(unbiased=True) if measure.name == "dcor" and len(x) >= 50 and not are_flags else measure
    strengths = np.concatenate([ranking.strength(ranking.permuted(x.prepared, y.prepared, o)) for o in _parts(orders)])
    ranked = np.argsort(-strengths)

    def is_below(level: float, place: int) -> bool:
        order = orders[ranked[place]]
        turned = replace(y, prepared=measure.reordered(y.prepared, order), rows=Rows(y.rows.values[order]))
        tail = measure.by_theory(x, turned, measure.combine(x.prepared, turned.prepared))
        if tail is None:
            raise ValueError("the order of the rows decided whether theory serves")
        return bool(tail.log_pvalue <= np.log(level) + 1e-9)

    return [_n_leading(partial(is_below, level), len(orders)) / len(orders) for level in LEVELS]


def _n_leading(holds: Callable[[int], bool], n: int) -> int:
    """How many places have it, which the first ones do."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


def _parts(orders: Any) -> Any:
    return np.array_split(orders, -(-len(orders) // 250))


def studied(cell: tuple[str, str, int]) -> dict[str, Any]:
    return study(*cell)


if __name__ == "__main__":
    cells = [
        (name, kind, n)
        for kind, of_kind in KINDS.items()
        for n in of_kind.lengths
        for name in MEASURES
        if kind not in OF_VECTORS or name == "cca" or (n < 1_000 and renyi.measure(name).statement.takes_vectors)
    ]
    with ProcessPoolExecutor(2) as pool:
        record("measure_sizes", {"levels": LEVELS, "sizes": list(pool.map(studied, cells))}, "numpy", "scipy")
