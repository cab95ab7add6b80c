"""The few means that give the means of all products of two functions of a number, on whatever rows.

A product of two waves cos jπu is a sum of two waves. Other products (with v or v², or of two functions behind the
coefficient) are smooth, but their slopes at 0 and 1 are not 0, so that their cosine series ends slowly. What forty
waves leave of all of them lies in the span of about ten functions that live near 0 and 1. Forty waves and these `ends`
take the place of 246 products: of 20 smooth functions with one another, and of 8 behind the coefficient.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import RANK_CUT, FeatureMap
from renyi.basis.cosine import MOST_FUNCTIONS, functions, waves
from renyi.basis.orthonormal import principal_whitening, triangular_factor
from renyi.basis.random_features import Projection, sines_and_cosines
from renyi.compute.arrays import Array, Mask, joined, like, namespace
from renyi.compute.memory import workspace
from renyi.compute.threads import one_core_each

_N_WAVES = 2 * MOST_FUNCTIONS
_N_NODES = 256
# Root mean squares: what is left of products when no more ends are added, and what may be left at most.
_CUT, _TOLERANCE = 1e-8, 1e-6
# More ends than this and the products themselves are as cheap.
_MOST_ENDS = 40


@dataclass(frozen=True, eq=False)
class Moments:
    """Waves and ends as functions of the mean rank u.

    An end is a sum of waves and of waves times v: the weights of the first are the upper half of `ends`, those of the
    second the lower. `inverse` turns the values of a function at the nodes into what it is made of: the constant, waves
    and ends.
    """

    ends: Array
    inverse: Array

    @property
    def n_moments(self) -> int:
        """Functions whose means are taken."""
        return _N_WAVES + len(self.ends) // 2

    def planes(self, u: Array, observed: Mask, /, *, dtype: Any) -> NDArray[Any]:
        """All functions (moments, …) at u, 0 where nothing is observed; in a workspace."""
        planes = workspace("moments", (self.n_moments, *u.shape), dtype)
        exact = workspace("waves", (_N_WAVES + 1, *u.shape))
        waves(u, observed, exact)
        planes[:_N_WAVES] = exact[1:]
        parts = workspace("ends", (2, len(self.ends) // 2, *u.shape))
        np.matmul(self.ends, exact.reshape(len(exact), -1), out=parts.reshape(len(self.ends), -1))
        parts[1] *= 2 * u - 1
        np.add(parts[0], parts[1], out=planes[_N_WAVES:], casting="same_kind")
        return planes

    def at(self, u: Any, /) -> Any:
        """The constant and all functions (m, 1 + moments) at u."""
        xp = namespace(u)
        cosines = xp.cos(np.pi * u[:, None] * like(np.arange(_N_WAVES + 1.0), u))
        flat, sloped = (cosines @ like(half.T, u) for half in np.split(self.ends, 2))
        return joined((cosines, flat + (2 * u - 1)[:, None] * sloped))

    def recipes(self, values: Array, /) -> tuple[Array, float]:
        """How functions (nodes, r) and their products are made of the constant and the moments, and what is left.

        One row for each function, then one for each product i, j with j ≤ i.
        """
        wanted = _with_products(values)
        recipes = self.inverse @ wanted
        left = wanted - self.at(_nodes()) @ recipes
        return np.ascontiguousarray(recipes.T), float(np.sqrt(np.mean(left**2, axis=0).max()))


@lru_cache(maxsize=8)
@one_core_each
def moments_of(projection: Projection, /) -> Moments | None:
    """What serves the smooth functions and those behind the coefficient; None where that would be too much."""
    u = _nodes()
    features = sines_and_cosines(projection, u[:, np.newaxis])
    weights, intercept = principal_whitening(triangular_factor([(features, np.sqrt(_measure()))]), cut=RANK_CUT)
    wanted = np.hstack([_with_products(values) for values in (functions(u), features @ weights + intercept)])
    root = np.sqrt(_measure())[:, np.newaxis]
    known, _ = np.linalg.qr(root * _waves_at_nodes())
    lacking = root * wanted
    for _ in range(2):  # once more removes what rounding left
        lacking = lacking - known @ (known.T @ lacking)
    directions, sizes, _ = np.linalg.svd(lacking, full_matrices=False)
    n_ends = int(np.count_nonzero(sizes > _CUT))
    if n_ends > _MOST_ENDS:
        return None
    sloped = np.hstack((_waves_at_nodes(), (2 * u - 1)[:, np.newaxis] * _waves_at_nodes()))
    made, *_ = np.linalg.lstsq(root * sloped, directions[:, :n_ends], rcond=1e-14)
    ends = np.concatenate((made[: _N_WAVES + 1].T, made[_N_WAVES + 1 :].T))
    at_nodes = Moments(ends, ends).at(_nodes())
    return Moments(ends, np.asarray(np.linalg.pinv(root * at_nodes) * root.T, dtype=np.float64))


@lru_cache(maxsize=1024)
@one_core_each
def recipes_of(feature_map: FeatureMap, n: int, moments: Moments, /) -> Array | None:
    """How a basis of n different ranks and its products are made of the moments; None where they are not."""
    # The basis is one of ranks i/n, the moments are of mean ranks (i − ½)/n.
    recipes, left = moments.recipes(feature_map((_nodes() + 0.5 / n)[:, np.newaxis]))
    return recipes if left <= _TOLERANCE else None


@one_core_each
def recipes_of_many(
    feature_maps: Sequence[FeatureMap], lengths: Sequence[int], moments: Moments, array: Any, /
) -> Any | None:
    """The same for bases of a projection and dimension, of so many different ranks each (bases, sums, 1 + moments).

    They are made in the library and on the device of an array.
    """
    xp, ends = namespace(array), feature_maps[0].projection.angles(np.array([[0.0], [1.0]]))
    weights, intercepts = (np.stack([getattr(own, name) for own in feature_maps]) for name in ("weights", "intercept"))
    # Angles are lines in the rank; every sine is followed by its cosine.
    nodes = like(np.add.outer(0.5 / np.array(lengths), _nodes()), array)[:, :, None]
    angles = nodes * like(ends[1] - ends[0], array) + like(ends[0], array)
    features = xp.stack((xp.sin(angles), xp.cos(angles)), -1).reshape(*angles.shape[:2], -1)
    wanted = _with_products(features @ like(weights, array) + like(intercepts[:, np.newaxis], array))
    recipes = like(moments.inverse, array) @ wanted
    left = wanted - like(moments.at(_nodes()), array) @ recipes
    is_made = float((left**2).mean(1).max()) <= _TOLERANCE**2
    return recipes.swapaxes(1, 2) if is_made else None


@lru_cache(maxsize=8)
@one_core_each
def recipes_of_smooth(moments: Moments, /) -> Array:
    """How the smooth functions and their products are made of the moments."""
    return moments.recipes(functions(_nodes()))[0]


def _with_products(values: Any) -> Any:
    i, j = np.tril_indices(values.shape[-1])
    return joined((values, values[..., i] * values[..., j]))


@lru_cache(maxsize=1)
def _nodes() -> Array:
    """Mean ranks at which functions are compared, close together at 0 and 1."""
    return np.asarray(np.sin(_angles()) ** 2)


def _measure() -> Array:
    """Shares of the ranks that the nodes stand for."""
    sines = np.sin(2 * _angles())
    return np.asarray(sines / sines.sum())


def _angles() -> Array:
    return (np.arange(_N_NODES) + 0.5) * np.pi / (2 * _N_NODES)


def _waves_at_nodes() -> Array:
    return np.cos(np.pi * np.outer(_nodes(), np.arange(_N_WAVES + 1)))
