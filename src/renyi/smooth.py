"""Smooth functions of the ranks of a number, and the few means that give all products of two of them.

The functions are v, v², cos 3πu, cos 4πu, … with u the mean rank in [0, 1] and v = 2u − 1. A product of two cosines is
a sum of two cosines, so that 80 means take the place of 210 products of 20 functions.
"""

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    v = 2 * u[:, np.newaxis] - 1
    return np.concatenate((v, v**2, np.cos(np.pi * _WAVES * u[:, np.newaxis])), axis=1)


def moments(u: Array, observed: NDArray[np.bool_], /, *, dtype: Any) -> NDArray[Any]:
    """All that products of two functions are made of (moments, …), 0 where nothing is observed."""
    planes = np.empty((N_MOMENTS, *u.shape), dtype=dtype)
    v = np.where(observed, 2 * u - 1, 0.0)
    power = np.ones_like(v)
    for j in range(4):
        power = power * v
        planes[j] = power
    # Twice the cosine times one wave is the next one and the one before: exact enough in float64 for so few.
    twice = 2 * np.cos(np.pi * u)
    before, wave = observed.astype(np.float64), np.where(observed, twice / 2, 0.0)
    for k in range(1, 2 * MOST_FUNCTIONS + 1):
        planes[3 + k] = wave
        if _FIRST_WAVE <= k <= MOST_FUNCTIONS:
            place = 4 + 2 * MOST_FUNCTIONS + k - _FIRST_WAVE
            planes[place] = times = wave * v
            planes[place + len(_WAVES)] = times * v
        before, wave = wave, twice * wave - before
    return planes


def central_products(means: Array, /) -> tuple[Array, Array]:
    """Means (functions, …) and central products (functions, functions, …) from the means of the moments."""
    of_functions = means[_places_of_functions()]
    constant = np.ones((1, *means.shape[1:]))
    products = np.tensordot(_recipes(), np.concatenate((means, constant)), axes=1)
    gram = np.empty((MOST_FUNCTIONS, MOST_FUNCTIONS, *means.shape[1:]))
    lower = np.tril_indices(MOST_FUNCTIONS)
    gram[lower] = products - of_functions[lower[0]] * of_functions[lower[1]]
    gram[lower[1], lower[0]] = gram[lower]
    return of_functions, gram


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
