"""The functions behind a coefficient: `transformations`."""

from dataclasses import replace
from typing import Any

import numpy as np

from renyi.basis import random_features
from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_directions, cross_products, largest_correlation
from renyi.basis.random_features import DEFAULT_SCALE, Frequencies
from renyi.compute.arrays import Array
from renyi.data.align import Missing, as_pair, common_rows
from renyi.data.column import Column
from renyi.pair.bases import pair_of_bases
from renyi.pair.result import CategoryTransformation, RankTransformation, Transformations
from renyi.pair.settings import Rng, Scale, Settings

# Canonical correlations this close are taken as equal when their functions are shown.
_EQUAL_CORRELATIONS = 1e-9
# Functions rise with x, unless this many times as much is to be said of y.
_CLEARER = 2.0


def transformations(
    x: Any,
    y: Any,
    *,
    k: int | None = None,
    s: Scale = DEFAULT_SCALE,
    frequencies: Frequencies = "auto",
    missing: Missing = "raise",
    rng: Rng = None,
) -> Transformations:
    """The functions f of x and g of y whose correlation is the coefficient.

    They show what `renyi.rdc` found: f(x) and g(y) have mean 0, variance 1, and the coefficient as their correlation.
    For numbers they are smooth functions of the rank, for categories a score for every level. Where x is a number, f
    is turned so that it rises with x on the whole.

    Parameters
    ----------
    x, y, k, s, frequencies, missing, rng
        As in `renyi.rdc`.

    Returns
    -------
    Transformations
        With `.f` and `.g` as callables for new data, `.correlation`, `.correlations`, `.dimensions`, and `.plot()`.

    Raises
    ------
    InputError
        As `renyi.rdc`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> found = renyi.transformations(x, x**2)
    >>> round(found.correlation, 3)
    1.0
    >>> bool(np.corrcoef(found.f(x), found.g(x**2))[0, 1] > 0.999)
    True
    """
    settings = Settings(k, s, frequencies)
    (seed,) = random_features.seeds(rng, n_draws=1)
    pair = as_pair(x, y, missing=missing)
    return transformations_of(pair, pair_of_bases(pair, settings, seed))


def transformations_of(pair: tuple[Column, Column], bases: tuple[Basis, Basis], /) -> Transformations:
    """The functions of two columns whose bases, on the rows both have, are at hand."""
    cross = cross_products(*bases)
    left, correlations, right = canonical_directions(cross)
    # To the last digit what the coefficient is.
    correlations[0] = largest_correlation(cross)
    correlations.setflags(write=False)
    mixture = _smoothest(left, correlations)
    directions = (left @ mixture, right @ mixture)
    sign = _orientation(pair, bases, directions)
    rows = common_rows(*pair)
    # Copies, so that later changes of the user's arrays do not reach a result.
    used = [column.take(np.ones(len(column), dtype=bool) if rows is None else rows).complete() for column in pair]
    return Transformations(
        f=_transformation(pair[0], bases[0], sign * directions[0]),
        g=_transformation(pair[1], bases[1], sign * directions[1]),
        correlations=correlations,
        bases=bases,
        x=used[0],
        y=used[1],
    )


def _transformation(column: Column, basis: Basis, direction: Array) -> RankTransformation | CategoryTransformation:
    if basis.feature_map is None and basis.codes is not None:
        scores = basis.table @ direction
        return CategoryTransformation(column.name, {column.levels[i]: float(scores[i]) for i in np.unique(basis.codes)})
    if basis.feature_map is None:
        raise ValueError("a basis has codes, a feature map, or both")
    values = column.complete().values
    ordered = np.sort(values.reshape(len(values), -1), axis=0)
    return RankTransformation(
        replace(column, values=column.values[:0], missing=None), tuple(ordered.T), basis.feature_map, direction
    )


def _smoothest(left: Array, correlations: Array) -> Array:
    """The mixture of canonical directions to show: the first one, or of several that do as well the smoothest.

    Where y is a monotone function of x every direction reaches 1, and a singular vector is an arbitrary one of them.
    """
    n_best = np.count_nonzero(correlations > correlations[0] - _EQUAL_CORRELATIONS)
    mixture = np.zeros(len(correlations))
    if n_best == 1:
        mixture[0] = 1.0
    else:
        # Bases run from smooth to rough: follow the smoothest column that lies well within the best directions.
        reach = np.linalg.norm(left[:, :n_best], axis=1)
        column = np.argmax(reach > 0.5 * reach.max())
        mixture[:n_best] = left[column, :n_best] / reach[column]
    return mixture


def _orientation(pair: tuple[Column, Column], bases: tuple[Basis, Basis], directions: tuple[Array, Array]) -> float:
    """The sign that makes f rise with x, or g with y where f has no trend: a singular vector's own means nothing."""
    trends = [
        _trend(basis, direction)
        for column, basis, direction in zip(pair, bases, directions, strict=True)
        if column.is_number
    ]
    if not trends:
        return 1.0 if directions[0][np.argmax(np.abs(directions[0]))] >= 0 else -1.0
    trend = trends[-1] if abs(trends[-1]) > _CLEARER * abs(trends[0]) else trends[0]
    return 1.0 if trend >= 0 else -1.0


def _trend(basis: Basis, direction: Array) -> float:
    """Correlation of a function of a number with the place of its cells, which are in the order of the values."""
    counts = basis.cell_counts
    if counts is None:
        return 0.0
    places = np.arange(len(counts)) - counts @ np.arange(len(counts)) / counts.sum()
    return float(counts @ (places * (basis.table @ direction)) / np.sqrt(counts @ places**2 * counts.sum()))
