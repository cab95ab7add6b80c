"""Smooth functions of the ranks of a number: v, v², cos 3πu, cos 4πu, … with u the mean rank in [0, 1], v = 2u − 1."""

from typing import NamedTuple

import numpy as np

from renyi.compute.arrays import Array, Mask

MOST_FUNCTIONS = 20
FIRST_WAVE = 3
# Products of functions magnify what float32 has rounded by the square of this; without ties it is 3.4.
_LARGEST_WEIGHTS = 5.0


class Smooth(NamedTuple):
    """How a basis is made of the smooth functions: of the mean ranks of its cells, by weights and an intercept."""

    middles: Array
    weights: Array
    intercept: Array

    @property
    def is_plain(self) -> bool:
        """Whether all functions are there and none is made of large parts that cancel, as where many rows are tied."""
        dimension = self.weights.shape[1]
        return dimension == MOST_FUNCTIONS and bool(np.linalg.norm(self.weights, axis=0).max() <= _LARGEST_WEIGHTS)


def functions(u: Array, /) -> Array:
    """The functions at mean ranks (m,), one column each."""
    found = np.empty((len(u), MOST_FUNCTIONS))
    found[:, 0] = 2 * u - 1
    found[:, 1] = found[:, 0] ** 2
    cosines = np.empty((MOST_FUNCTIONS + 1, len(u)))
    waves(u, np.ones(len(u), dtype=bool), cosines)
    found[:, FIRST_WAVE - 1 :] = cosines[FIRST_WAVE:].T
    return found


def waves(u: Array, observed: Mask, out: Array, /) -> None:
    """Cos kπu for k from 0 on into `out` (waves, …), 0 where nothing is observed.

    Twice the cosine times one wave is the next one and the one before: exact enough in float64 for so few.
    """
    twice = 2 * np.cos(np.pi * u)
    out[0] = observed
    np.multiply(twice, 0.5 * out[0], out=out[1])
    for k in range(2, len(out)):
        np.multiply(twice, out[k - 1], out=out[k])
        out[k] -= out[k - 2]
