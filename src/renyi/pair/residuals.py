"""What z leaves of a variable: functions of the ranks of its residuals, from smooth to rough, without z once more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from renyi.basis.orthonormal import orthonormalised, own_features
from renyi.basis.ranks import quantise
from renyi.compute.arrays import Array, Index
from renyi.data.column import Column, labels_of
from renyi.errors import InputError
from renyi.inference.multiscale import Block
from renyi.pair.conditioning import Explained, Fixed, Target

_LEVELS = 6
# The coefficient is that of the first levels.
_LEVELS_OF_COEFFICIENT = 4
_MOST_COORDINATES_TO_MULTIPLY = 4
# Functions of which the others leave a smaller share of the variance say nothing new.
CUT = 1e-3

# Less of the variance than this is taken as nothing; docs/how-to/conditional.md, "When it fails".
_NOTHING_LEFT = 0.005
_LEAST_FREEDOM = 20
# Variances of products over those of even noise differ by some 0.3 where noise is uneven; below half none is believed.
_USUAL_SPREAD, _LEAST_VARIANCE = 0.3**2, 0.5
# Residuals of a value that so many rows share are functions of z: such a column is ranked as it is.
_HEAVY_TIE = 0.05


def residuals(pair: Sequence[Target], given: Fixed) -> "tuple[Left, Left, Explained]":
    """What z leaves of x and of y, and what it takes."""
    explained = given.explain(pair)
    n = len(pair[0].column)
    if n - explained.freedom < _LEAST_FREEDOM:
        raise InputError(
            f"holding {labels_of(given.columns)} fixed takes {explained.freedom:,} degrees of freedom of {n:,} rows, "
            "which leaves too few to test on: pass more rows, or fewer variables or levels to hold fixed"
        )
    for target in pair:
        if target not in explained.left:
            explained.left[target] = _left_of(target, given.columns, explained)
    return explained.left[pair[0]], explained.left[pair[1]], explained


@dataclass(frozen=True, eq=False)
class Left:
    """What z leaves of a variable: a nested orthonormal basis, and how many columns it has up to each level."""

    basis: Array
    levels: tuple[int, ...]

    def size(self, level: int) -> int:
        """How many columns it has up to a level."""
        return self.levels[min(level, len(self.levels)) - 1]


def _left_of(target: Target, given: Sequence[Column], explained: Explained) -> Left:
    column = target.column
    values = target.values if column.is_category else explained.best_scale(target)
    shares = explained.share_left(values)
    left = shares >= _NOTHING_LEFT
    if not left.any():
        raise InputError(
            f"{column.label} is determined by {labels_of(given)}: {shares.max(initial=0.0):.1%} of its variance is "
            "left, and where nothing is left there is nothing to test"
        )
    if column.is_category:
        functions, ends = values, np.array([values.shape[1]])
    else:
        functions, ends = _smooth_to_rough(_ranked(target.numbers[:, left], values[:, left], explained))
    functions = explained.residuals(functions)
    functions /= np.maximum(np.sqrt(np.mean(functions**2, axis=0)), 1e-12)
    basis, weights, _ = orthonormalised(functions, cut=CUT)
    made_by = own_features(weights)
    levels = dict.fromkeys(int(np.count_nonzero(made_by < end)) for end in ends)
    return Left(basis, tuple(level for level in levels if level))


def _ranked(numbers: Array, target: Array, explained: Explained) -> Array:
    """Mean ranks of the residuals, in (0, 1)."""
    residuals = explained.residuals(target) / np.sqrt(explained.kept)[:, np.newaxis]
    ranks = np.empty_like(residuals)
    for j, values in enumerate(numbers.T):
        copula = quantise(values)
        if copula.counts.max() <= _HEAVY_TIE * len(values):
            copula = quantise(residuals[:, j])
        ranks[:, j] = np.take(copula.middles, copula.codes)
    return ranks


def _smooth_to_rough(u: Array) -> tuple[Array, Index]:
    """Functions of ranks, level by level, and where the levels end."""
    linear = 2 * u - 1
    products = [linear[:, [i]] * linear[:, i + 1 :] for i in range(u.shape[1] - 1)]
    second = [linear**2, *(products if u.shape[1] <= _MOST_COORDINATES_TO_MULTIPLY else [])]
    levels = [linear, np.concatenate(second, axis=1), *(np.cos(j * np.pi * u) for j in range(3, _LEVELS + 1))]
    return np.concatenate(levels, axis=1), np.cumsum([level.shape[1] for level in levels])


def measured(x: Left, y: Left, rows: int) -> Block:
    """The block that the coefficient is taken from: few levels where they have many columns, else chance makes it 1."""
    sizes = [(x.size(level), y.size(level)) for level in range(_LEVELS_OF_COEFFICIENT, 0, -1)]
    return next((size for size in sizes if sum(size) <= rows // 4), sizes[-1])


def relative_errors(x: Array, y: Array, explained: Explained) -> Array:
    """Standard errors of mean products, over those of data whose noise is the same everywhere.

    Residuals shrink by 1 − leverage whatever their distribution, which the rows that z takes account for already.
    Estimates are drawn towards 1 as far as they are uncertain: two rare levels that never meet show little of how their
    product varies.
    """
    xx, yy = (basis**2 / explained.kept[:, np.newaxis] for basis in (x, y))
    variance = len(x) * (xx.T @ yy) / np.outer(xx.sum(axis=0), yy.sum(axis=0))
    peaks = [np.mean(squares**2, axis=0) / np.mean(squares, axis=0) ** 2 for squares in (xx, yy)]
    uncertainty = np.outer(*peaks) / len(x)
    drawn = 1.0 + (variance - 1.0) * _USUAL_SPREAD / (_USUAL_SPREAD + uncertainty)
    return np.asarray(np.sqrt(np.maximum(drawn, _LEAST_VARIANCE)))
