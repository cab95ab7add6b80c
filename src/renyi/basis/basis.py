"""Features to a centred basis, orthonormal over the rows, ordered from smooth to rough.

A basis is a table with one row a cell, and the cell of every data row. Its columns have mean 0 and mean square 1 over
the data, so that two bases give canonical correlations by one product. The numerical rank is decided here, by one rule:
of the principal directions of the centred features, those with a root mean square above `RANK_CUT` are kept, largest
first, and the largest one at any rate. The cut is absolute, never relative to what the data show, so rounding noise
cannot pass for a feature; and it sees only the span of the features, so phases, signs and, where there are no ties,
falling maps of a column change nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.orthonormal import Whitening, principal_whitening, triangular_factor
from renyi.basis.random_features import Projection, default_projections, sines_and_cosines
from renyi.basis.ranks import Cells, Copula, joint_ranks, quantise, tie_free_cells
from renyi.compute.arrays import Array, Index, Mask

RANK_CUT = 1e-6
# Where all directions are below the cut, as those of a value in a few of a million rows, the largest one is kept,
# unless it is rounding.
LEAST_SIZE = 1e-12
# A restricted basis starts from orthonormal columns: a direction below this lived on the missing rows.
RESTRICTED_CUT = 1e-2

# Bases of more functions are not gathered at the rows: their products are sums over cells first, which takes
# as long as BLAS needs for about 40 functions.
_MANY_FUNCTIONS = 40

# Grid for the ranks of long columns. Against direct evaluation the coefficient moves by at most 33/(cells·√n) for
# frequencies up to 100, 16/(cells·√n) for those of the default draw: see docs/internals/decisions.md, "The grid".
_GRID_CELLS = 8192
_GRID_FREQUENCY = 30.0
_GRID_ROWS_PER_CELL = 4

_CHUNK_BYTES = 4 * 2**20


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Ranks of new data to rows of the basis: features times weights, plus an intercept."""

    projection: Projection
    weights: Array
    intercept: Array

    def __call__(self, ranks: Array, /) -> Array:
        return self.of_features(sines_and_cosines(self.projection, ranks))

    def of_features(self, features: Array, /) -> Array:
        return features @ self.weights + self.intercept


@dataclass(frozen=True, eq=False)
class Basis:
    """Row i of the basis is `table[codes[i]]`, or `table[i]` where there are no codes.

    `key` sorts the rows of a vector by what they hold: codes do that already, and the table itself cannot, since its
    directions may turn with the rounding of another row order. Columns without ties that share a table share `ordered`
    too, the basis with its rows in the order of their ranks. Of rows that were read elsewhere there are `counts` in
    place of codes: how many every cell has. A basis `goes_by_rows` where nobody named the number of its functions.
    Of a category there is the `order` of its levels, in which the columns tell one after the other from the rest.
    """

    table: Array
    codes: NDArray[np.integer[Any]] | None
    feature_map: FeatureMap | None
    ordered: "Basis | None" = None
    key: Array | None = None
    counts: Index | None = None
    goes_by_rows: bool = False
    order: Index | None = None

    @property
    def dimension(self) -> int:
        """Columns of the basis."""
        return int(self.table.shape[1])

    @property
    def n_cells(self) -> int:
        """Rows of the table."""
        return len(self.table) if self.counts is None else len(self.counts)

    @cached_property
    def n_samples(self) -> int:
        """Rows of the data."""
        if self.counts is not None:
            return int(self.counts.sum())
        return len(self.table) if self.codes is None else len(self.codes)

    @property
    def is_wide(self) -> bool:
        """Whether products are sums over cells first: of many functions on fewer cells than there are rows."""
        return self.codes is not None and are_many_functions(self.dimension) and len(self.table) <= len(self.codes)

    @property
    def is_of_number(self) -> bool:
        """Whether these are functions of the ranks of one number."""
        return (self.counts is not None or self.codes is not None) and self.feature_map is not None

    @property
    def cell_counts(self) -> Index | None:
        """Rows of every cell; None where every row is its own."""
        if self.counts is not None or self.codes is None:
            return self.counts
        return np.bincount(self.codes, minlength=len(self.table))

    @property
    def has_rows(self) -> bool:
        """Whether the data rows are known, and not how many every cell has alone."""
        return self.counts is None

    @property
    def is_kept(self) -> bool:
        """Whether there is a table, of rows or of cells."""
        return True

    @property
    def leverages(self) -> Array:
        """Largest share of one data row in the leading 1, 2, … columns."""
        # Function by function: along short rows it takes four times as long.
        squares = np.ascontiguousarray(self.distinct_rows.T)
        squares *= squares
        return np.asarray(np.cumsum(squares, axis=0, out=squares).max(axis=1) / self.n_samples)

    @cached_property
    def largest_leverage(self) -> float:
        """Share of one data row in the basis, at most 1: squared length over n."""
        if self.ordered is not None:
            return self.ordered.largest_leverage  # of the same rows, and shared by many columns
        return float(np.max(np.sum(self.distinct_rows**2, axis=1)) / self.n_samples)

    @property
    def distinct_rows(self) -> Array:
        """Rows of the table that some data row has."""
        counts = self.cell_counts
        return self.table if counts is None else self.table[counts > 0]

    @property
    def loadings(self) -> Array:
        """Covariances of the basis with the features it came from, one column a feature: indicators for a category."""
        if self.feature_map is not None:
            return np.asarray(np.linalg.pinv(self.feature_map.weights))
        counts = self.cell_counts
        if counts is None:
            raise ValueError("a basis has codes, a feature map, or both")
        return np.asarray(self.table.T * (counts / self.n_samples))

    def take(self, rows: Index, /) -> "Basis":
        """The basis with its data rows in another order."""
        if self.codes is None:
            return Basis(self.table[rows], None, self.feature_map, key=None if self.key is None else self.key[rows])
        return Basis(self.table, self.codes[rows], self.feature_map)

    def leading(self, size: int, /) -> "Basis":
        """The first columns of the basis."""
        return Basis(np.ascontiguousarray(self.table[:, :size]), self.codes, None)

    def column(self, j: int, /) -> Array:
        """One column of the basis at the data rows."""
        return self.table[:, j] if self.codes is None else np.take(self.table[:, j], self.codes)

    def along(self, direction: Array, /) -> Array:
        """A mixture of the columns at the data rows."""
        mixture = self.table @ direction
        return mixture if self.codes is None else np.take(mixture, self.codes)

    def project(self, values: Array, /) -> Array:
        """Mean products of all columns with values at the data rows."""
        sums = values if self.codes is None else np.bincount(self.codes, values, minlength=len(self.table))
        return np.asarray(sums @ self.table / self.n_samples)

    def in_order(self) -> "Basis":
        """The basis with its data rows in an order that depends on what they hold alone."""
        if self.ordered is not None:
            return self.ordered
        if self.counts is not None:
            cells = np.arange(len(self.counts), dtype=np.min_scalar_type(len(self.counts)))
            return Basis(self.table, np.repeat(cells, self.counts), self.feature_map)
        key = self.key if self.codes is None else self.codes
        return self if key is None else self.take(np.argsort(key, kind="stable"))

    def rows(self, start: int, stop: int, /) -> Array:
        """The basis at some data rows."""
        if self.codes is None:
            return self.table[start:stop]
        return np.take(self.table, self.codes[start:stop], axis=0)


@dataclass(frozen=True, eq=False)
class RowlessBasis(Basis):
    """The basis of a vector whose rows are read in batches, of which no table is kept.

    What is known are their number, and the largest leverages of leading columns, or bounds of these.
    """

    n: int = 0
    largest: Array | None = None

    @classmethod
    def of(cls, dimension: int, feature_map: FeatureMap | None, n: int, largest: Array | None, /) -> "RowlessBasis":
        """Of so many functions and rows."""
        return cls(np.empty((0, dimension)), None, feature_map, n=n, largest=largest)

    @property
    def n_samples(self) -> int:
        return self.n

    @property
    def has_rows(self) -> bool:
        return False

    @property
    def is_kept(self) -> bool:
        return False

    @property
    def leverages(self) -> Array:
        if self.largest is None:
            raise ValueError("the rows have not been read yet")
        return self.largest

    @property
    def largest_leverage(self) -> float:
        return float(self.leverages[-1])


def are_many_functions(n_functions: int, /) -> bool:
    """Whether products of so many functions are sums over cells first, where there are fewer of those than rows."""
    return n_functions > _MANY_FUNCTIONS


def rank_column(values: NDArray[Any], projection: Projection, /, order: Index | None = None) -> Copula:
    """Ranks of a numeric column, on a grid where that changes nothing that matters."""
    return quantise(values, n_cells=grid_cells(len(values), projection.roughest), may_share=True, order=order)


def scalar_basis(values: NDArray[Any], projection: Projection, /) -> Basis:
    """Basis of a numeric column."""
    return copula_basis(rank_column(values, projection), projection)


def copula_basis(copula: Cells, projection: Projection, /) -> Basis:
    """Basis of the ranks of a numeric column."""
    codes, counts = (copula.codes, None) if isinstance(copula, Copula) else (None, copula.counts)
    if copula.has_ties:
        table, feature_map = _whiten_cells(copula.ranks, copula.counts, projection)
        return Basis(table, codes, feature_map, counts=counts)
    ordered = _tie_free_basis(copula.n_samples, copula.n_cells, projection)
    return replace(ordered, codes=codes, ordered=ordered, counts=counts)


@lru_cache(maxsize=16)
def _tie_free_basis(n: int, n_cells: int | None, projection: Projection) -> Basis:
    """All columns of n distinct values have the same ranks, hence the same table."""
    ranks, counts = tie_free_cells(n, n_cells)
    table, feature_map = _whiten_cells(ranks, counts, projection)
    codes = np.repeat(np.arange(len(ranks), dtype=np.min_scalar_type(len(ranks) - 1)), counts)
    return Basis(table, codes, feature_map)


def grid_cells(n: int, roughest: float, /) -> int | None:
    """Cells for n ranks and frequencies up to `roughest`, or None where every distinct rank is its own cell."""
    doublings = int(np.ceil(np.log2(max(1.0, roughest / _GRID_FREQUENCY))))
    n_cells = _GRID_CELLS << doublings
    return n_cells if n >= _GRID_ROWS_PER_CELL * n_cells else None


def _whiten_cells(ranks: Array, counts: Index, projection: Projection) -> tuple[Array, FeatureMap]:
    features = sines_and_cosines(projection, ranks[:, np.newaxis])
    factor = triangular_factor([(features, np.sqrt(counts / counts.sum()))])
    feature_map = feature_map_of(projection, factor)
    table = feature_map.of_features(features)
    if table.shape[1] == 1:
        # Rounding is magnified where the features of rare values differ little.
        mean = counts @ table / counts.sum()
        size = np.sqrt(counts @ (table - mean) ** 2 / counts.sum())
        table = (table - mean) / size
        feature_map = FeatureMap(projection, feature_map.weights / size, (feature_map.intercept - mean) / size)
    return table, feature_map


def feature_map_of(projection: Projection, factor: Array, /) -> FeatureMap:
    """What makes features orthonormal, given their triangular factor; the largest direction is kept at any rate."""
    weights, intercept = principal_whitening(factor, cut=RANK_CUT)
    if weights.shape[1] == 0:
        weights, intercept = (part[..., :1] for part in principal_whitening(factor, cut=LEAST_SIZE))
    return FeatureMap(projection, weights, intercept)


def vector_basis(values: NDArray[Any], projection: Projection, /) -> Basis:
    """Basis of a vector column (n, d), in chunks of rows."""
    ranks = joint_ranks(values)
    n, width = len(ranks), 2 * projection.n_projections
    factor = triangular_factor(
        (sines_and_cosines(projection, ranks[rows]), np.full(rows.stop - rows.start, n**-0.5))
        for rows in chunks_of_rows(n, width)
    )
    feature_map = feature_map_of(projection, factor)
    table = np.empty((n, len(feature_map.intercept)))
    for rows in chunks_of_rows(n, width):
        table[rows] = feature_map(ranks[rows])
    # Irrational weights tell all rows apart but equal ones.
    key = ranks @ (1.0 + np.arange(1, ranks.shape[1] + 1) * np.sqrt(2.0) % 1.0)
    return Basis(table, None, feature_map, key=key)


def chunks_of_rows(n: int, width: int, /) -> Iterator[slice]:
    """Slices of rows whose features, `width` columns of float64, stay within a cache-friendly size."""
    # Chunks well taller than wide, else folding triangular factors would double the work.
    step = max(_CHUNK_BYTES // (8 * width), 4 * width)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def category_basis(codes: NDArray[np.integer[Any]], /) -> Basis:
    """Basis of a category: its indicators, most frequent level first.

    What the constant and the first j indicators leave of the next one is supported on the levels that follow, which
    gives the orthonormal table in closed form.
    """
    return replace(levels_basis(np.bincount(codes)), codes=codes, counts=None)


def levels_basis(rows: Index, /, order: Index | None = None) -> Basis:
    """Basis of a category of which every level has so many rows, by default the most frequent one first."""
    order = np.argsort(-rows, kind="stable") if order is None else order
    order = order[rows[order] > 0]
    counts = rows[order].astype(np.float64)
    n_levels = len(counts)
    following = np.cumsum(counts[::-1])[::-1]
    n, own, rest = counts.sum(), counts[:-1], following[1:]
    table = np.zeros((n_levels, max(n_levels - 1, 0)))
    # Column j is proportional to `rest` on level j and to `-own` on every level after it.
    scale = np.sqrt(n / (own * rest * (own + rest)))
    np.fill_diagonal(table, rest * scale)
    table += np.tril(np.broadcast_to(-own * scale, table.shape), k=-1)
    by_code = np.zeros((len(rows), table.shape[1]))
    by_code[order] = table
    return Basis(by_code, None, None, counts=rows, order=order)


def restrict(basis: Basis, rows: Mask, /, *, whiten: Whitening = principal_whitening) -> Basis:
    """The basis on some of its rows, centred and orthonormal there."""
    n = int(np.count_nonzero(rows))
    if basis.order is not None and basis.codes is not None:
        left = np.bincount(basis.codes[rows], minlength=len(basis.table))
        return replace(levels_basis(left, basis.order), codes=basis.codes[rows], counts=None)
    if basis.codes is None:
        codes, table, weights = None, basis.table[rows], np.full(n, n**-0.5)
    else:
        codes = basis.codes[rows]
        table, weights = basis.table, np.sqrt(np.bincount(codes, minlength=len(basis.table)) / n)
    mixing, shift = _whitened_again(basis, _factor_of(table, weights), n, whiten)
    key = None if basis.key is None else basis.key[rows]
    return Basis(table @ mixing + shift, codes, _mixed(basis.feature_map, mixing, shift), key=key)


def _factor_of(table: Array, weights: Array) -> Callable[[int], Array]:
    """The triangular factor of so many leading functions."""
    return lambda size: triangular_factor([(table[:, :size], weights)])


def _whitened_again(basis: Basis, factor: Callable[[int], Array], n: int, whiten: Whitening) -> tuple[Array, Array]:
    """How the columns are mixed, those beyond what n rows allow not at all, and by how much they are shifted then."""
    size = most_functions(basis, n)
    of_leading, shift = whiten(factor(size), cut=RESTRICTED_CUT)
    mixing = np.zeros((basis.dimension, of_leading.shape[1]))
    mixing[:size] = of_leading
    return mixing, shift


def most_functions(basis: Basis, n: int, /) -> int:
    """Leading functions that n of its rows may have: no more than a column of n rows would have features."""
    if basis.feature_map is None or not basis.goes_by_rows:
        return basis.dimension
    return min(basis.dimension, 2 * default_projections(basis.feature_map.projection.n_coordinates, n))


def restrict_cells(basis: Basis, left: Index, /, *, whiten: Whitening = principal_whitening) -> tuple[Basis, Array]:
    """The same for rows in batches, given how many of every cell are left; how its columns were mixed."""
    n = int(left.sum())
    if basis.order is not None:
        levels = levels_basis(left, basis.order)
        return levels, basis.loadings @ levels.table
    mixing, shift = _whitened_again(basis, _factor_of(basis.table, np.sqrt(left / n)), n, whiten)
    feature_map = _mixed(basis.feature_map, mixing, shift)
    return Basis(basis.table @ mixing + shift, None, feature_map, counts=left), mixing


def restrict_moments(
    basis: RowlessBasis, means: Array, gram: Array, n: int, /, *, whiten: Whitening = principal_whitening
) -> tuple[RowlessBasis, Array]:
    """The same for a vector, given the means of its functions and their central products on the rows that are left."""

    def factor(size: int) -> Array:
        # An indefinite Gram matrix is one by rounding alone, far below the cut.
        squares, directions = np.linalg.eigh(gram[:size, :size])
        root = np.linalg.qr(np.sqrt(np.maximum(squares, 0.0))[:, np.newaxis] * directions.T, mode="r")
        return np.block([[np.ones((1, 1)), means[np.newaxis, :size]], [np.zeros((size, 1)), root]])

    mixing, shift = _whitened_again(basis, factor, n, whiten)
    # No row is longer than its functions less their means, times the largest singular value of what mixes them.
    longest = np.sqrt(basis.leverages * basis.n) + np.sqrt(np.cumsum(means**2))
    last = [int(np.flatnonzero(column)[-1]) for column in mixing.T]
    leading = mixing * np.tri(len(last))[:, np.newaxis]
    largest = (np.linalg.svd(leading, compute_uv=False)[:, 0] * longest[np.maximum.accumulate(last)]) ** 2 / n
    feature_map = _mixed(basis.feature_map, mixing, shift)
    return RowlessBasis.of(len(last), feature_map, n, np.minimum(largest, 1.0)), mixing


def _mixed(feature_map: FeatureMap | None, mixing: Array, shift: Array) -> FeatureMap | None:
    if feature_map is None:
        return None
    return FeatureMap(feature_map.projection, feature_map.weights @ mixing, feature_map.intercept @ mixing + shift)
