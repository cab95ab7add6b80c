"""A small table whose dependences are known: what a linear coefficient sees of it, and what it does not."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array
from renyi.inference.false_discovery import adjust
from renyi.tables.dependence_matrix import DependenceMatrix

# All other pairs are independent.
RELATED = {
    ("height", "weight"): "a line",
    ("temperature", "energy"): "a parabola: heating and cooling",
    ("hour", "traffic"): "two waves a day",
    ("wind_east", "wind_north"): "a circle",
    ("water", "growth"): "rises or falls by variety",
}


def demo_table(n: int, *, seed: int) -> dict[str, NDArray[Any]]:
    """A table of n rows with the dependences of `RELATED`, missing cells, and one column of noise."""
    rng = np.random.default_rng(seed)
    noise = iter(rng.standard_normal((8, n)))
    height = 170 + 9 * next(noise)
    temperature = rng.uniform(-10, 35, n)
    hour = rng.uniform(0, 24, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    variety = rng.choice(["rice", "cactus"], n)
    water = rng.uniform(-1, 1, n)
    weight = 70 + 0.9 * (height - 170) + 7 * next(noise)
    energy = ((temperature - 12.5) / 10) ** 2 + 0.6 * next(noise)
    return {
        "height": height,
        "weight": _with_gaps(weight, 0.2, rng),
        "temperature": temperature,
        "energy": _with_gaps(energy, 0.1, rng),
        "hour": hour,
        "traffic": -np.cos(hour * np.pi / 6) + 0.5 * next(noise),
        "wind_east": np.cos(angle) + 0.15 * next(noise),
        "wind_north": np.sin(angle) + 0.15 * next(noise),
        "variety": variety,
        "water": water,
        "growth": np.where(variety == "rice", water, -water) + 0.3 * next(noise),
        "lottery": rng.uniform(0, 1, n),
    }


def _with_gaps(values: Array, share: float, rng: np.random.Generator) -> Array:
    return np.where(rng.uniform(size=len(values)) < share, np.nan, values)


def n_by_pearson(matrix: DependenceMatrix, q: float, /) -> int:
    """Dependences that Pearson's correlation finds at the same false discovery rate, by its t-test."""
    from scipy.special import stdtr

    r, n = matrix.edges.pearson, matrix.edges.found.n
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return int(np.count_nonzero(adjust(2 * stdtr(n - 2, -t)) <= q))
