"""Smooth functions of the ranks of a number, and the few means that give all products of two of them.

The functions are v, v², cos 3πu, cos 4πu, … with u the mean rank in [0, 1] and v = 2u − 1. A product of two cosines is
a sum of two cosines, so that 80 means take the place of 210 products of 20 functions.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.execution.workspace import workspace

__all__ = ["MOST_FUNCTIONS", "N_MOMENTS", "Smooth", "central_products", "functions", "moments"]

Array: TypeAlias = NDArray[np.float64]

MOST_FUNCTIONS = 20
_FIRST_WAVE = 3
# Products of functions magnify what float32 has rounded by the square of this; without ties it is 3.4.
_LARGEST_WEIGHTS = 5.0
_WAVES = np.arange(_FIRST_WAVE, MOST_FUNCTIONS + 1)
# Powers of v to the fourth, cosines to twice the last wave, and the waves times v and times v².
N_MOMENTS = 4 + 2 * MOST_FUNCTIONS + 2 * len(_WAVES)


class Smooth(NamedTuple):
    """How a basis is made of the smooth functions: of the mean ranks of its cells, by weights and an intercept."""

    middles: Array
    weights: Array
    intercept: Array

    @property
    def is_plain(self) -> bool:
        """Whether all functions are there and none is made of large parts that cancel, as where many rows are tied."""
        rank = self.weights.shape[1]
        return rank == MOST_FUNCTIONS and bool(np.linalg.norm(self.weights, axis=0).max() <= _LARGEST_WEIGHTS)


def functions(u: Array, /) -> Array:
    """The functions at mean ranks (m,), one column each."""
    found = np.empty((len(u), MOST_FUNCTIONS))
    found[:, 0] = 2 * u - 1
    found[:, 1] = found[:, 0] ** 2
    for k, wave in _waves(u, np.ones(len(u), dtype=bool), MOST_FUNCTIONS):
        if k >= _FIRST_WAVE:
            found[:, k - 1] = wave
    return found


def _waves(u: Array, observed: NDArray[np.bool_], last: int) -> Iterator[tuple[int, Array]]:
    """Cos kπu for k from 1 to the last, 0 where nothing is observed.

    Twice the cosine times one wave is the next one and the one before: exact enough in float64 for so few.
    """
    twice = 2 * np.cos(np.pi * u)
    before, wave = observed.astype(np.float64), np.where(observed, twice / 2, 0.0)
    for k in range(1, last + 1):
        yield k, wave
        before, wave = wave, twice * wave - before


def moments(u: Array, observed: NDArray[np.bool_], /, *, dtype: Any) -> NDArray[Any]:
    """All that products of two functions are made of (moments, …), 0 where nothing is observed; in a workspace."""
    planes = workspace("moments", (N_MOMENTS, *u.shape), dtype)
    v = np.where(observed, 2 * u - 1, 0.0)
    power = np.ones_like(v)
    for j in range(4):
        power = power * v
        planes[j] = power
    for k, wave in _waves(u, observed, 2 * MOST_FUNCTIONS):
        planes[3 + k] = wave
        if _FIRST_WAVE <= k <= MOST_FUNCTIONS:
            place = 4 + 2 * MOST_FUNCTIONS + k - _FIRST_WAVE
            planes[place] = times = wave * v
            planes[place + len(_WAVES)] = times * v
    return planes


def central_products(means: Array, gram: Array, /) -> Array:
    """Means (functions, …) of the functions from those of the moments; their central products are put into `gram`."""
    of_functions = means[_places_of_functions()]
    recipes, lower = _recipes(), np.tril_indices(MOST_FUNCTIONS)
    products = recipes[:, :-1] @ means.reshape(N_MOMENTS, -1) + recipes[:, -1:]
    for product, i, j in zip(products, *lower, strict=True):
        gram[i, j] = gram[j, i] = product.reshape(means.shape[1:]) - of_functions[i] * of_functions[j]
    return np.asarray(of_functions)


def _places_of_functions() -> NDArray[np.intp]:
    return np.concatenate(([0, 1], 3 + _WAVES))


@lru_cache(maxsize=1)
def _recipes() -> Array:
    """How each product of two functions is made of the moments, and of the constant, which comes last."""
    recipes = []
    for i, j in zip(*np.tril_indices(MOST_FUNCTIONS), strict=True):
        recipe = np.zeros(N_MOMENTS + 1)
        if i < 2:
            recipe[i + j + 1] = 1.0
        elif j < 2:
            recipe[4 + 2 * MOST_FUNCTIONS + (i - 2) + j * len(_WAVES)] = 1.0
        else:
            first, second = _WAVES[i - 2], _WAVES[j - 2]
            recipe[3 + first + second] += 0.5
            recipe[3 + first - second if first > second else N_MOMENTS] += 0.5
        recipes.append(recipe)
    return np.array(recipes)
