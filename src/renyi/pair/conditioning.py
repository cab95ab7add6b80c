"""What other variables leave of one: features of z, and residuals on them.

Ordinary residuals on a linear model would not do, since x and y may depend on z in any way. z becomes a few hundred
features: its own values, smooth functions of every coordinate, products of pairs, smooth functions of the one direction
of z that explains x best and of the one that explains y best, and random cosines of all coordinates together. They are
made of values with softened tails rather than of ranks: where noise is small, the empirical distribution function of z
is a rough function that x and y share, and no smooth feature takes it away.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtri

from renyi.basis.ranks import quantise
from renyi.compute.arrays import Array
from renyi.data.column import Column, labels_of
from renyi.errors import InputError

# Features of z: a quarter of the rows, within reason.
_ROWS_PER_FEATURE, _MOST_FEATURES = 4, 400
_MOST_FUNCTIONS = 30
# Functions of a number that may differ from level to level of a category.
_MOST_CROSSED = 10
# Levels of categories in z: each takes a row's worth of freedom, and a column of the features.
_MOST_LEVELS, _ROWS_LEFT = 2000, 20
# Share of them for functions of single coordinates and directions; a direction gets twice as many as a coordinate.
_SMOOTH_SHARE, _MOST_DIRECTIONS = 0.85, 4
# Quartile deviations after which values count by their logarithm.
_BEND_COORDINATE, _BEND_DIRECTION, _BEND_TARGET = 2.0, 10.0, 3.0
_FREQUENCIES = (0.3, 0.6)
# Directions of the standardised features with less than this mean square are rounding, or say nothing new.
_CUT = 1e-6
# Where a row is nearly determined by the features its residual is not blown up further.
_LEAST_KEPT = 0.05
_SEARCH_STEPS, _SEARCH_FUNCTIONS = 4, 8


@dataclass(frozen=True, eq=False)
class Target:
    """A variable that is explained; what is asked of it again and again is computed once."""

    column: Column

    @cached_property
    def values(self) -> Array:
        """What is explained: numbers with softened tails, or indicators of levels."""
        return indicators(self.column) if self.column.is_category else soften(self.numbers, _BEND_TARGET)

    @cached_property
    def numbers(self) -> Array:
        """Numbers and coordinates as they are, from 0 to 1."""
        return matrix_of(self.column)

    @cached_property
    def scores(self) -> Array:
        """Normal scores of numbers."""
        return np.column_stack([_normal_scores(column) for column in self.numbers.T])


@dataclass(frozen=True, eq=False)
class Explained:
    """Orthonormal columns that span the features of z, the constant among them.

    `left` is room for what they leave of targets, where these share them.
    """

    span: Array
    left: dict[Target, Any] = field(default_factory=dict, repr=False)

    @property
    def freedom(self) -> int:
        """Degrees of freedom that z takes."""
        return int(self.span.shape[1])

    @cached_property
    def kept(self) -> Array:
        """Share of every row's variance that a residual keeps: 1 − leverage."""
        return np.asarray(np.maximum(1.0 - np.sum(self.span**2, axis=1), _LEAST_KEPT))

    def residuals(self, values: Array, /) -> Array:
        """What the features leave of columns; twice, since once leaves rounding behind."""
        for _ in range(2):
            values = values - self.span @ (self.span.T @ values)
        return values

    def share_left(self, values: Array, /) -> Array:
        """Share of the variance of every column that the features leave, by degrees of freedom."""
        left = np.sum(self.residuals(values) ** 2, axis=0) / (len(values) - self.freedom)
        return np.asarray(left / np.maximum(values.var(axis=0, ddof=1), np.finfo(np.float64).tiny))

    def best_scale(self, target: Target, /) -> Array:
        """Every coordinate as it is or as normal scores, whichever the features explain better."""
        values, scores = target.numbers, target.scores
        return np.where(self.share_left(values) <= self.share_left(scores), values, scores)


class Fixed:
    """What is held fixed; features that do not depend on what they are to explain are made once."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self._common: dict[int, _Common] = {}

    @cached_property
    def coordinates(self) -> Array:
        """The coordinates of z, centred: softened numbers and indicators."""
        parts = [indicators(column) if column.is_category else soften(matrix_of(column)) for column in self.columns]
        coordinates = np.concatenate(parts, axis=1)
        return np.asarray(coordinates - coordinates.mean(axis=0))

    def explain(self, targets: Sequence[Target], /) -> Explained:
        """The features of z; `targets` are what they are to explain, which decides on directions to look along."""
        n_directions = 0
        if self._numbers.shape[1] > 1:
            n_directions = min(sum(target.values.shape[1] for target in targets), _MOST_DIRECTIONS)
        if n_directions not in self._common:
            self._common[n_directions] = _Common(self._numbers, self._levels, n_directions)
        return self._common[n_directions].explain(targets)

    @property
    def nbytes(self) -> int:
        """Memory of the features that are kept."""
        return sum(common.nbytes for common in [*self._common.values()])

    @cached_property
    def _numbers(self) -> Array:
        """Numbers that vary, as a matrix."""
        numbers = [matrix_of(column) for column in self.columns if not column.is_category]
        z = np.concatenate(numbers, axis=1) if numbers else np.empty((len(self.columns[0]), 0))
        return np.asarray(z[:, np.ptp(z, axis=0) > 0.0])

    @cached_property
    def _levels(self) -> list[Array]:
        """Indicators of categories, if there are not too many levels."""
        categories, n = [column for column in self.columns if column.is_category], len(self.columns[0])
        n_levels = sum(len(np.unique(column.values)) - 1 for column in categories)
        if n_levels and n_levels > min(n - _ROWS_LEFT, _MOST_LEVELS):
            raise InputError(
                f"{labels_of(self.columns)} have {n_levels:,} levels on {n:,} rows to hold fixed, which leaves too "
                f"little to test on: pass more rows, or merge levels (at most {_MOST_LEVELS:,})"
            )
        return [indicators(column) for column in categories]


class _Common:
    """Features that all targets share, given along how many directions features follow the targets.

    Linear effects exactly, however z is distributed; then smooth ones, products, random cosines, as rows allow.
    """

    def __init__(self, z: Array, levels: list[Array], n_directions: int) -> None:
        n, d = z.shape
        budget = min(n // _ROWS_PER_FEATURE, _MOST_FEATURES) - 1 - sum(part.shape[1] for part in levels)
        coordinates, self._wide = soften(z, _BEND_COORDINATE), soften(z, _BEND_DIRECTION)
        features = [*levels, z]
        # Two values have one function, which is linear.
        curved = [values for values in coordinates.T if len(np.unique(values)) > 2]
        share = _SMOOTH_SHARE * (budget - d) / max(1, len(curved) + 2 * n_directions)
        n_functions = min(_MOST_FUNCTIONS, int(share))
        self._n_directions, self._n_functions = 0, min(2 * n_functions, _MOST_FUNCTIONS)
        room = budget - d
        if d and n_functions >= 3:
            features += [_smooth_functions(values, n_functions)[0] for values in curved]
            self._n_directions = n_directions
            room -= n_functions * len(curved) + self._n_functions * n_directions
        first, second = np.triu_indices(d, 1)
        if 0 < len(first) <= room:
            features.append(self._wide[:, first] * self._wide[:, second])
            room -= len(first)
        if levels:
            of_levels = _between_levels(levels, self._wide, coordinates, room)
            features += of_levels
            room -= sum(part.shape[1] for part in of_levels)
        if d > 1 and room > 0:
            rng = np.random.default_rng([n, d])
            weights = rng.standard_normal((d, room)) * np.resize(_FREQUENCIES, room)
            features.append(np.cos(coordinates @ weights + rng.uniform(0.0, 2.0 * np.pi, room)))
        shared = _whitened(_standardised(np.concatenate(features, axis=1)))
        self._explained = Explained(np.concatenate((np.ones((n, 1)), shared), axis=1) / np.sqrt(n))
        self._along: dict[tuple[Target, int], Array] = {}

    def explain(self, targets: Sequence[Target]) -> Explained:
        """Orthonormal columns that span the shared features and those along the directions of targets."""
        if not self._n_directions:
            return self._explained
        along = [self._features_along(*each) for each in _by_turns(targets)[: self._n_directions]]
        own = _whitened(np.concatenate(along, axis=1)) / np.sqrt(len(along[0]))
        return Explained(np.concatenate((self._explained.span, own), axis=1))

    @property
    def nbytes(self) -> int:
        """Memory of shared features, of those along directions, and of what the shared ones leave of targets."""
        arrays = [self._wide, self._explained.span, *self._along.values()]
        return sum(part.nbytes for part in [*arrays, *(left.basis for left in [*self._explained.left.values()])])

    def _features_along(self, target: Target, j: int) -> Array:
        """What shared features leave of smooth functions along the best direction for a coordinate of a target."""
        if (target, j) not in self._along:
            direction = _best_direction(self._wide, target.values[:, j])
            features = _standardised(_smooth_functions(self._wide @ direction, self._n_functions)[0])
            self._along[target, j] = _whitened(self._explained.residuals(features))
        return self._along[target, j]


def _between_levels(levels: Sequence[Array], wide: Array, coordinates: Array, room: int) -> list[Array]:
    """Products of levels with those of other categories, and with numbers, whose effect may differ from level to level.

    Of two of them, then of three and more, then with smooth functions of numbers, as far as there is room.
    """
    features: list[Array] = []
    parts = [part for part in (*levels, wide) if part.size]
    for order in range(2, len(parts) + 1):
        crossed = list(combinations(parts, order))
        size = sum(math.prod(part.shape[1] for part in some) for some in crossed)
        if size > room:
            return features
        features += [reduce(products, some) for some in crossed]
        room -= size
    n_products = sum(part.shape[1] for part in levels) * coordinates.shape[1]
    n_functions = min(_MOST_CROSSED, room // max(n_products, 1))
    if n_products and n_functions > 3:
        curves = np.concatenate([_smooth_functions(values, n_functions)[0] for values in coordinates.T], axis=1)
        features += [products(part, curves) for part in levels]
    return features


def products(a: Array, b: Array, /) -> Array:
    """Products of each column of one with each of the other."""
    return np.asarray((a[:, :, np.newaxis] * b[:, np.newaxis, :]).reshape(len(a), -1))


def indicators(column: Column, /) -> Array:
    """Indicators of levels, of the most frequent one first, the rarest left out."""
    counts = np.bincount(column.values)
    present = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return np.asarray(column.values[:, np.newaxis] == present[:-1], dtype=np.float64)


def matrix_of(column: Column, /) -> Array:
    """Numbers as a matrix, one column a coordinate, each from 0 to 1: neither units nor an offset may matter."""
    values = column.values.reshape(len(column), -1)
    if values.dtype.kind in "Mm":
        values = values.view(np.int64)
    low, high = values.min(axis=0), values.max(axis=0)
    if values.dtype.kind in "iu" and not np.any(high.astype(object) - low.astype(object) > np.iinfo(np.int64).max):
        # Exact differences: as floats, large whole numbers could not be told apart.
        values, high, low = values - low, high - low, np.zeros_like(low)
    # Halves, since the difference of two large numbers may be none; long floats may be beyond the others.
    kind = np.result_type(values, np.float64)
    numbers = values.astype(kind) / 2 - low.astype(kind) / 2
    size = high.astype(kind) / 2 - low.astype(kind) / 2
    return np.asarray(numbers / np.where(size > 0.0, size, 1.0), dtype=np.float64)


def _by_turns(targets: Sequence[Target]) -> list[tuple[Target, int]]:
    """Coordinates of the targets by turns, so that the first few hold some of each."""
    sizes = [target.values.shape[1] for target in targets]
    return [(target, j) for j in range(max(sizes)) for target, size in zip(targets, sizes, strict=True) if j < size]


def soften(values: Array, bend: float = _BEND_COORDINATE, /) -> Array:
    """Median 0, scale 1 by the quartiles, and logarithmic growth beyond `bend`."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    scale, deviation = (high - low) / 1.349, values.std(axis=0)
    # Most values of a column may be equal; its quartiles then say nothing.
    scale = np.where(scale > 1e-3 * deviation, scale, np.where(deviation > 0.0, deviation, 1.0))
    return np.asarray(bend * np.arcsinh((values - middle) / scale / bend))


def _normal_scores(values: Array) -> Array:
    copula = quantise(values)
    return np.take(ndtri(copula.middles), copula.codes)


def _smooth_functions(values: Array, n_functions: int) -> tuple[Array, Array]:
    """v, v², v³ and cosines over the range of v, with their derivatives."""
    reach = max(float(np.abs(values).max()), 1e-12) * 1.001
    waves = np.pi * np.arange(1, n_functions - 2) / (2 * reach)
    angles, v = (values[:, np.newaxis] + reach) * waves, values[:, np.newaxis]
    functions = np.concatenate((v, v**2, v**3, np.cos(angles)), axis=1)
    slopes = np.concatenate((np.ones_like(v), 2 * v, 3 * v**2, -waves * np.sin(angles)), axis=1)
    return functions, slopes


def _best_direction(z: Array, target: Array) -> Array:
    """The direction of z of which a smooth function explains a target best.

    Searched for from two starts: the linear regression, and the direction in which the quadratic one curves most.
    """
    n, d = z.shape
    first, second = np.triu_indices(d)
    design = np.concatenate((np.ones((n, 1)), z), axis=1)
    is_quadratic = design.shape[1] + len(first) < n // 3
    if is_quadratic:
        design = np.concatenate((design, z[:, first] * z[:, second]), axis=1)
    coefficients = np.linalg.lstsq(design, target, rcond=None)[0]
    starts: list[Array] = [np.asarray(coefficients[1 : d + 1], dtype=np.float64)]
    if is_quadratic:
        curvature = np.zeros((d, d))
        curvature[first, second] = coefficients[d + 1 :]
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        starts.append(np.asarray(vectors[:, np.argmax(np.abs(values))], dtype=np.float64))
    return min((_search(z, target, start) for start in starts), key=lambda found: found[0])[1]


def _search(z: Array, target: Array, start: Array) -> tuple[float, Array]:
    """Gauss-Newton steps on the direction, while they help: what is left of the target, and the direction."""
    direction = start / max(float(np.linalg.norm(start)), 1e-300)
    best = np.inf, direction
    for _ in range(_SEARCH_STEPS + 1):
        functions, slopes = _smooth_functions(z @ direction, _SEARCH_FUNCTIONS)
        design = np.concatenate((np.ones((len(z), 1)), functions), axis=1)
        coefficients = np.linalg.lstsq(design, target, rcond=1e-6)[0]
        left = float(np.sum((target - design @ coefficients) ** 2))
        if not left < best[0]:
            break
        best = left, direction
        slope = (slopes @ coefficients[1:])[:, np.newaxis]
        step = np.linalg.lstsq(np.concatenate((design, slope * z), axis=1), target, rcond=1e-6)[0]
        direction = direction + step[-z.shape[1] :]
        direction = direction / np.linalg.norm(direction)
    return best


def _standardised(features: Array) -> Array:
    """Features with mean 0 and mean square 1, without those that do not vary."""
    centred = features - features.mean(axis=0)
    size = np.sqrt(np.mean(centred**2, axis=0))
    varies = size > 1e-12 * np.abs(features).max(axis=0, initial=0.0)
    return np.asarray(centred[:, varies] / size[varies])


def _whitened(features: Array) -> Array:
    """Columns of mean square 1 that span the features, uncorrelated; directions with next to nothing are left out."""
    variances, directions = np.linalg.eigh(features.T @ features / len(features))
    kept = variances > _CUT
    return np.asarray(features @ (directions[:, kept] / np.sqrt(variances[kept])))
