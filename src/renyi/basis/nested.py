"""Columns to nested bases, smooth to rough: what the test of independence looks through.

The leading columns of such a basis span the smoothest functions, so that every leading block of the products of two
bases is a test of its own, with less freedom. A number has u, P₂(u), cos 3πu, cos 4πu, …, orthogonalised in that order,
the smooth limit of random features sorted by frequency. There is no scale to choose. A vector has its linear ranks
first, then their squares and products, a few waves of each, and random features of all coordinates together; a category
has its levels, which know no order.

Ties share their mean rank here: with it the first function of two columns without more gives Spearman's coefficient.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from renyi.basis.basis import (
    LEAST_SIZE,
    Basis,
    FeatureMap,
    RowlessBasis,
    category_basis,
    feature_map_of,
    levels_basis,
    restrict,
    restrict_cells,
    restrict_moments,
)
from renyi.basis.cosine import Smooth
from renyi.basis.cosine import functions as smooth_functions
from renyi.basis.orthonormal import merged_factor, ordered_whitening, orthonormalised, own_features, triangular_factor
from renyi.basis.random_features import Projection
from renyi.basis.ranks import Cells, Copula, mean_ranks, middles, tie_free_cells
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Kind, Kinded

# Of a vector each coordinate has its first functions to itself, and products with the others while these are few.
_WAVES = (3, 4, 5, 6)
_MOST_COORDINATES_TO_MULTIPLY = 6
# A number with more equal pairs of rows, as from one value in 80 % of them, is told from a rare event by little.
TIES_OF_LEVELS = 0.64
# With no more of them in one of two columns, and in the other one, the null distribution of columns without ties holds
# on few rows too; benchmarks/studies/few_rows.py.
FEW_TIES, SOME_TIES = 0.06, 0.25
# Levels that are frequent have at least so many times √n rows: with 3 the null distribution holds for two categories,
# with a half for a category and a number.
_FREQUENT = (3.0, 0.5)
# Two categories of more levels are tested by their table as a whole (`inference.contingency`): tables of Roy's
# distribution take the cube of the smaller number of levels, 10 ms at 40.
MANY_LEVELS = 40
# A function of which the smoother ones leave less than this says nothing new, or speaks of a row or two.
ORDERED_CUT = 1e-2
# However rare a value is, whether a row has it is a function.
_WHITEN = partial(ordered_whitening, first=LEAST_SIZE)


@dataclass(frozen=True, eq=False)
class Scales(Kinded):
    """A nested basis, with the sizes of its leading parts that are looked at (a number's are given by its family).

    `equal_pairs` counts the pairs (i, j) of different rows that are equal, among all rows that the column has; a part
    of these inherits it as a bound. Of vectors nothing is counted. `smooth` says how the basis
    of a number is made of smooth functions.
    """

    basis: Basis
    kind: Kind
    sizes: tuple[int, ...] = ()
    equal_pairs: int = 0
    smooth: Smooth | None = None

    @cached_property
    def leverages(self) -> Array:
        """Largest share of one row in the leading 1, 2, … columns."""
        return self.basis.leverages

    @property
    def has_many_levels(self) -> bool:
        """Whether this is a category that has a table with another one."""
        return self.is_category and self.basis.dimension > MANY_LEVELS

    def has_few_ties_beside(self, other: "Scales", /) -> bool:
        """Whether these are numbers of which hardly any two rows are equal in one, and not many in the other."""
        return self.is_number and other.is_number and bool(have_few_ties(self.ties, other.ties))

    @property
    def has_levels(self) -> bool:
        """Whether this is a category, or a number that hardly ever leaves one value."""
        return self.is_category or self._has_more_ties_than(TIES_OF_LEVELS)

    def _has_more_ties_than(self, share: float) -> bool:
        n = self.basis.n_samples
        # Rows that are left have no more equal pairs than the column; which of them it kept, only counting can tell.
        return self.equal_pairs > share * n * (n - 1) and self.ties > share

    @cached_property
    def ties(self) -> float:
        """Share of equal ones among all pairs of rows of a number or category."""
        n, counts = self.basis.n_samples, self.basis.cell_counts if self.equal_pairs else None
        if counts is None or n < 2:
            return 0.0
        return _equal_pairs(counts) / (n * (n - 1))

    @cached_property
    def log_arrangements(self) -> float:
        """Logarithm of the number of distinct orders of the rows."""
        counts = self.basis.cell_counts if self.equal_pairs else None
        repeated = 0.0 if counts is None else float(np.sum(gammaln(counts + 1.0)))
        return float(gammaln(self.basis.n_samples + 1.0)) - repeated

    def on(self, rows: Mask, /) -> "Scales":
        """The same on some of the rows, orthonormal there, still nested."""
        return self._with(restrict(self.basis, rows, whiten=ordered_whitening))

    def on_cells(self, left: Index, /) -> tuple["Scales", Array]:
        """The same where so many rows of every cell are left; and how the functions were mixed."""
        basis, mixing = restrict_cells(self.basis, left, whiten=ordered_whitening)
        return self._with(basis), mixing

    def on_moments(self, means: Array, gram: Array, n: int, /) -> tuple["Scales", Array]:
        """The same for a vector in batches, of whose functions these are means and central products."""
        if not isinstance(self.basis, RowlessBasis):
            raise ValueError("cells are counted")
        basis, mixing = restrict_moments(self.basis, means, gram, n, whiten=ordered_whitening)
        return self._with(basis), mixing

    def _with(self, basis: Basis) -> "Scales":
        return replace(self, basis=basis, smooth=None, sizes=tuple(min(size, basis.dimension) for size in self.sizes))


def number_scales(copula: Cells, /) -> Scales:
    """Functions of the ranks of a number; columns without ties share them, with all they have computed."""
    codes, counts = (copula.codes, None) if isinstance(copula, Copula) else (None, copula.counts)
    if copula.has_ties:
        table, smooth = _smooth_table(copula.counts)
        basis = Basis(table, codes, None, counts=counts)
        return Scales(basis, "number", equal_pairs=_equal_pairs(copula.counts), smooth=smooth)
    shared = _tie_free_scales(copula.n_samples, copula.n_cells)
    basis = Basis(shared.basis.table, codes, None, ordered=shared.basis, counts=counts)
    scales = Scales(basis, "number", smooth=shared.smooth)
    scales.__dict__["leverages"] = shared.leverages
    return scales


@lru_cache(maxsize=16)
def _tie_free_scales(n: int, n_cells: int | None) -> Scales:
    _, counts = tie_free_cells(n, n_cells)
    codes = np.repeat(np.arange(len(counts), dtype=np.min_scalar_type(len(counts) - 1)), counts)
    table, smooth = _smooth_table(counts)
    return Scales(Basis(table, codes, None), "number", smooth=smooth)


@lru_cache(maxsize=128)
def leverages_without_ties(n: int, /) -> Array:
    """Leverages of a number with n different values."""
    return _tie_free_scales(n, None).leverages


def _equal_pairs(counts: Index) -> int:
    return int(np.sum(counts.astype(np.int64) * (counts - 1)))


def _smooth_table(counts: Index) -> tuple[Array, Smooth]:
    """Smooth functions on cells that hold so many rows each, centred and orthonormal over the rows, in their order."""
    u = middles(counts)
    functions = smooth_functions(u)
    table, weights, intercept = orthonormalised(functions, cut=ORDERED_CUT, whiten=_WHITEN, counts=counts)
    return table, Smooth(u, weights, intercept)


def vector_scales(values: NDArray[Any], basis: Basis, /) -> Scales:
    """The linear ranks of a vector, their squares and products, waves of each, and what random features add."""
    u = np.column_stack([mean_ranks(column) for column in values.T])
    functions = np.concatenate((coordinate_functions(u), basis.table), axis=1)
    factor = triangular_factor([(functions, np.full(len(functions), np.sqrt(1.0 / len(functions))))])
    weights, intercept, sizes = _in_order(factor, u.shape[1])
    return Scales(Basis(functions @ weights + intercept, None, None, key=basis.key), "vector", sizes)


def coordinate_functions(u: Array, /) -> Array:
    """Functions of the mean ranks (n, d) of a vector: linear, quadratic, and waves of each coordinate."""
    n_coordinates, linear = u.shape[1], u - 0.5
    products = [linear[:, [i]] * linear[:, i + 1 :] for i in range(n_coordinates - 1)]
    quadratic = [linear**2, *(products if n_coordinates <= _MOST_COORDINATES_TO_MULTIPLY else [])]
    return np.concatenate((linear, *quadratic, *(np.cos(j * np.pi * u) for j in _WAVES)), axis=1)


def _in_order(factor: Array, n_coordinates: int) -> tuple[Array, Array, tuple[int, ...]]:
    """Weights and intercept of a vector's nested functions, and how many are linear, quadratic, waves, or any.

    The factor is of its coordinates' functions and those of its coefficient.
    """
    weights, intercept = _WHITEN(factor, cut=ORDERED_CUT)
    n_products = n_coordinates * (n_coordinates - 1) // 2 if n_coordinates <= _MOST_COORDINATES_TO_MULTIPLY else 0
    n_waves = len(_WAVES) * n_coordinates
    ends = np.cumsum([n_coordinates, n_coordinates + n_products, n_waves])
    # Functions that were passed over do not count.
    sizes = tuple(int(np.count_nonzero(own_features(weights) < end)) for end in (*ends, len(weights)))
    return weights, intercept, sizes


@dataclass(frozen=True, eq=False)
class VectorFunctions:
    """The functions of a vector by the ranks of its coordinates, for rows that are read in batches."""

    feature_map: FeatureMap
    weights: Array
    intercept: Array
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, factor: Array, projection: Projection, /) -> "VectorFunctions":
        """From the triangular factor of (1, functions of coordinates, random features)."""
        end = factor.shape[1] - 2 * projection.n_projections
        plain, features = factor[:, :end], factor[:, end:]
        feature_map = feature_map_of(projection, merged_factor(np.hstack((factor[:, :1], features))))
        # Functions that are mixed of the columns have a factor that is mixed likewise.
        mixed = features @ feature_map.weights + factor[:, :1] * feature_map.intercept
        nested = _in_order(merged_factor(np.hstack((plain, mixed))), projection.n_coordinates)
        return cls(feature_map, *nested)

    @property
    def dimensions(self) -> tuple[int, int]:
        """How many functions the coefficient has, and the test."""
        return len(self.feature_map.intercept), len(self.intercept)

    def __call__(self, ranks: Array, u: Array, /) -> tuple[Array, Array]:
        """Functions of the coefficient and of the test, at ranks and mean ranks (n, d)."""
        table = self.feature_map(ranks)
        return table, np.hstack((coordinate_functions(u), table)) @ self.weights + self.intercept

    def scales(self, n: int, largest: Array | None, /) -> Scales:
        """The nested basis over n rows."""
        return Scales(RowlessBasis.of(len(self.intercept), None, n, largest), "vector", self.sizes)


def have_few_ties(x: Any, y: Any, /) -> Any:
    """The same of shares of equal ones among all pairs of rows, numbers or arrays."""
    return ((x <= FEW_TIES) & (y <= SOME_TIES)) | ((x <= SOME_TIES) & (y <= FEW_TIES))


def category_scales(codes: NDArray[np.integer[Any]], /) -> Scales:
    """The levels of a category: all of them, and those alone that many rows have, the others together as one."""
    return _of_levels(category_basis(codes), np.bincount(codes))


def levels_scales(rows: Index, /) -> Scales:
    """The same for a category of which every level has so many rows."""
    return _of_levels(levels_basis(rows), rows)


def _of_levels(basis: Basis, rows: Index) -> Scales:
    counts = np.sort(rows)[::-1]
    sizes = [frequent(counts, share * np.sqrt(counts.sum())) for share in _FREQUENT]
    distinct = tuple(size for size in dict.fromkeys((*sizes, basis.dimension)) if size)
    return Scales(basis, "category", distinct, equal_pairs=_equal_pairs(counts))


def frequent(counts: Index, fewest: float, /) -> int:
    """How many leading levels have at least so many rows, as have those that follow them, together."""
    following = counts.sum() - np.cumsum(counts)
    return int(np.count_nonzero((counts >= fewest) & (following >= fewest)))
