"""Coefficients and p-values of all pairs of two column groups with gaps, each on the rows that both columns have."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.complete import log_pvalues_of_pairs
from renyi.allpairs.masked_gram import (
    Pairs,
    Whitened,
    exact_leverages,
    leverage_bounds,
    leverages_of_cells,
    sharp_leverage_bounds,
)
from renyi.allpairs.masked_moments import distinct_masks, means_of_moments, observed_rows
from renyi.allpairs.stack import precision
from renyi.allpairs.sums import Sums, correlation
from renyi.basis.basis import RESTRICTED_CUT, most_functions
from renyi.basis.nested import TIES_OF_LEVELS, have_few_ties
from renyi.compute.arrays import (
    Array,
    Index,
    Mask,
    as_floats,
    as_places,
    at_least,
    by_pair,
    flat_places,
    gathered,
    in_memory,
    like,
    log_factorials,
    namespace,
)
from renyi.compute.eigenvalues import largest_root
from renyi.compute.threads import keep_going
from renyi.inference import multiscale
from renyi.inference.multiscale import Block, NestedProducts
from renyi.inference.roy import are_many

# Of both sides (pairs, 2).
Dimensions: TypeAlias = NDArray[np.integer[Any]]

# By how much whitening may magnify what rounding leaves of products, by their type: p-values move by less than 10⁻⁵.
MOST_MAGNIFIED = {np.float64: 1e5, np.float32: 1e3}


class CommonPairs:
    """Pairs of columns with missing cells.

    Where a function drops out on the common rows of a pair, or ties on few rows need a closer look, the p-value is left
    as NaN: such a pair is looked at by itself. The coefficient is NaN where too few rows are left for it.
    """

    def __init__(self, sums: Sums, sides: "tuple[Side, Side]", /) -> None:
        self._sides, self._sums = sides, sums
        self._index = i, j = sides[0].columns, sides[1].columns
        self.n = sides[0].n
        self.cross, self.coefficient, self.dimensions, self.heavier = self._coefficients()
        self.pearson = sums.pearson(i, j, self.n)
        of_x, of_y = _both_whitened(self._sides, lambda side, place: side.whitened_nested(place))
        nested = self._nested(of_x, of_y)
        self.first = self._first(of_x, of_y)
        self.log_pvalue = self._log_pvalues(nested, of_x, of_y)

    def _coefficients(self) -> tuple[Array, Array, Dimensions, Array]:
        """Products, coefficients, dimensions of both sides, and by how much single rows weigh more than on all rows."""
        x, y = _both_whitened(self._sides, lambda side, place: side.whitened_coefficient(place))
        sums = gathered(self._sums.coefficient, *self._index)
        xp = namespace(sums)
        white = _orthonormal(xp.moveaxis(sums, 0, -1), x, y, self.n)
        cross = by_pair(white)
        found = xp.sqrt(xp.clip(largest_root(cross), 0.0, 1.0))
        dimensions = xp.stack([side.most_functions() for side in self._sides], axis=1)
        is_low = (dimensions < like(np.array(sums.shape[1:]), dimensions)).any(axis=1) | ~(
            x.is_of_full_rank() & y.is_of_full_rank()
        )
        heavier = xp.where(is_low, np.inf, self._sides[0].heavier(x) * self._sides[1].heavier(y))
        for a, b in np.unique(in_memory(dimensions[is_low]), axis=0).tolist():
            low = flat_places(is_low & (dimensions[:, 0] == a) & (dimensions[:, 1] == b))
            found[low], dimensions[low] = _of_low_rank(sums[low, :a, :b], x, y, low, self.n[low])
        # A side that is left with nothing shows nothing.
        has_freedom = (dimensions > 0).all(axis=1) & (dimensions.sum(axis=1) < self.n)
        return cross, xp.where(has_freedom, found, np.nan), dimensions, heavier

    def _first(self, x: Pairs, y: Pairs) -> Array:
        """Correlations of the first functions, whether or not the others are all there."""
        first = gathered(self._sums.nested[0][:, :, 0, 0], *self._index)
        covariance = first / at_least(self.n, 1) - x.means[0] * y.means[0]
        return correlation(covariance, x.variance, y.variance, least=RESTRICTED_CUT**2)

    def _nested(self, x: Pairs, y: Pairs) -> NestedProducts:
        corner, of_x, of_y = (gathered(part, *self._index) for part in self._sums.nested)
        white = _orthonormal(namespace(corner).moveaxis(corner, 0, -1), x, y, self.n)
        edge_of_x = _orthonormal(of_x.T[:, None], x, y, self.n)[:, 0]
        edge_of_y = _orthonormal(of_y.T[None], x, y, self.n)[0]
        return NestedProducts(namespace(white).moveaxis(white, -1, 0), edge_of_x.T, edge_of_y.T)

    def _log_pvalues(self, nested: NestedProducts, x: Pairs, y: Pairs) -> Array:
        groups = [side.group for side in self._sides]
        family = multiscale.family(groups[0].scales, groups[1].scales, n=groups[0].n_rows)
        roots = nested.roots(family)
        bounds = [side.leverage_bounds(white) for side, white in zip(self._sides, (x, y), strict=True)]
        most = MOST_MAGNIFIED[precision(groups[0].n_rows)]
        is_known = x.is_accurate(most) & y.is_accurate(most)
        is_known &= ~self._may_be_tied
        found, is_clear = self._by_theory(roots, family, bounds, flat_places(is_known))
        doubtful = flat_places(is_known & ~is_clear)
        if len(doubtful):
            exact = [side.exact_leverages(white, doubtful) for side, white in zip(self._sides, (x, y), strict=True)]
            found[doubtful] = self._by_theory(roots, family, exact, doubtful)[0][doubtful]
        return self._above_floor(found)

    @property
    def _may_be_tied(self) -> Mask:
        """Whether there may be so many ties on the common rows that they must be counted."""
        x, y = (side.most_ties for side in self._sides)
        xp = namespace(x)
        is_tied = xp.where(self.n < multiscale.FEW_ROWS, ~have_few_ties(x, y), xp.maximum(x, y) > TIES_OF_LEVELS)
        return cast(Mask, is_tied)

    def _by_theory(
        self, roots: Array, family: Sequence[Block], leverages: Sequence[Array], rows: Index
    ) -> tuple[Array, Mask]:
        """P-values of some pairs, and whether every block within reach was trusted with these leverages."""
        x, y = (side.group for side in self._sides)
        found = like(np.full(len(roots), np.nan), roots)
        is_clear = like(np.zeros(len(roots), dtype=bool), roots)
        if len(rows) == 0:
            return found, is_clear
        found[rows], is_clear[rows] = log_pvalues_of_pairs(
            x.scales,
            y.scales,
            roots[rows],
            family,
            n=self.n[rows],
            leverages=(leverages[0][:, rows], leverages[1][:, rows]),
            log_arrangements=like(np.full(len(rows), np.inf), roots),
            tabulated=are_many(x.n_alike * y.n_alike),
        )
        return found, is_clear

    def _above_floor(self, log_pvalue: Array) -> Array:
        """No p-value is below one over the number of arrangements of the common rows."""
        for side in self._sides:
            low = flat_places(log_pvalue < -side.fewest_log_arrangements())
            floors = like(np.array([-side.log_arrangements(pair) for pair in low.tolist()]), log_pvalue)
            log_pvalue[low] = at_least(log_pvalue[low], floors)
        return log_pvalue


def _both_whitened(sides: "tuple[Side, Side]", restrict: "Callable[[Side, str], Whitened]") -> tuple[Pairs, Pairs]:
    """Bases of both sides on common rows, restricted once where both are the same columns."""
    x, y = sides
    of_x = restrict(x, "x")
    of_y = of_x if y.group is x.group else restrict(y, "y")
    return x.at(of_x, "x"), y.at(of_y, "y")


def _orthonormal(sums: Array, x: Pairs, y: Pairs, n: Index) -> Array:
    """Sums of products (leading functions of x, of y, pairs) to correlations of bases orthonormal on common rows."""
    central = sums / at_least(n, 1) - x.means[: len(sums), None] * y.means[: sums.shape[1]]
    return y.solve(x.solve(central).swapaxes(0, 1)).swapaxes(0, 1)


def _of_low_rank(sums: Array, x: Pairs, y: Pairs, low: Index, n: Index) -> tuple[Array, Dimensions]:
    """Coefficients of leading functions, by principal whitening, and the dimensions left on the common rows."""
    xp, (a, b) = namespace(sums), sums.shape[1:]
    central = sums / at_least(n, 1)[:, None, None] - xp.einsum("ip,jp->pij", x.means[:a, low], y.means[:b, low])
    (of_x, dimensions_x), (of_y, dimensions_y) = x.principal(low, a), y.principal(low, b)
    roots = largest_root(of_x.swapaxes(1, 2) @ as_floats(central) @ of_y)
    return xp.sqrt(xp.clip(roots, 0.0, 1.0)), xp.stack((dimensions_x, dimensions_y), axis=1)


class Side:
    """One side of the pairs of a tile: its columns, and how many rows every column of the other side leaves of each.

    `columns` are those of this side, one for every pair, `which` those of the other or of its distinct masks, and `n`
    (columns, masks) the rows that are left. Where the rows are decides how the rest is found.
    """

    def __init__(self, group: ColumnGroup, columns: Index, which: Index, n: Array, /) -> None:
        self.group, self.columns = group, columns
        self._which, self._n = which, n
        self.n = as_places(namespace(n).round(n[columns, which]))

    def whitened_coefficient(self, place: str, /) -> Whitened:
        """Bases of the coefficient of every column of this side, on the rows that the other side leaves."""
        raise NotImplementedError

    def whitened_nested(self, place: str, /) -> Whitened:
        """The same for nested bases."""
        raise NotImplementedError

    def exact_leverages(self, white: Pairs, pairs: Index, /) -> Array:
        """Largest leverages (dimension, pairs), only of some pairs."""
        raise NotImplementedError

    def log_arrangements(self, pair: int, /) -> float:
        """Logarithm of the number of arrangements of the common rows of a pair."""
        raise NotImplementedError

    def at(self, white: Whitened, place: str, /) -> Pairs:
        """Of every pair the column of this side on the rows that the other has."""
        return white.at(self.columns, self._which, place=place)

    def most_functions(self) -> Dimensions:
        """Leading functions of the coefficient that the common rows of every pair allow."""
        lengths, which = namespace(self.n).unique(self.n, return_inverse=True)

        def of(variable: Variable) -> Dimensions:
            basis = variable.prepared.basis
            return np.array([most_functions(basis, n) for n in lengths.tolist()], dtype=np.int64)

        if not self.group.scales.is_vector:
            return cast(Dimensions, like(of(self.group.variables[0]), self.n)[which])
        # Vectors of one dimension may have different numbers of coordinates.
        every = like(np.array([of(variable) for variable in self.group.variables]), self.n)
        return cast(Dimensions, every[self.columns, which])

    def leverage_bounds(self, white: Pairs, /) -> Array:
        """What the largest leverages (dimension, pairs) can be at most."""
        own = like(self.group.leverages * self.group.lengths, white.means)
        return leverage_bounds(white, own[:, self.columns], at_least(self.n, 1))

    def heavier(self, white: Pairs, /) -> Array:
        """How many times as much as among all rows of its column a common row weighs in the coefficient, at most."""
        own = self._of_columns(
            [v.prepared.basis.largest_leverage * v.prepared.basis.n_samples for v in self._variables]
        )
        n = at_least(self.n, 1)
        return cast(Array, leverage_bounds(white, own, n)[-1] * n / own)

    @cached_property
    def most_ties(self) -> Array:
        """What the share of equal ones among all pairs of common rows can be at most; of few rows only numbers' is."""
        xp, n = namespace(self.n), as_floats(self.n)
        if not self.group.scales.is_number:
            return cast(Array, xp.where(self.n < multiscale.FEW_ROWS, np.inf, 0.0 * n))
        equal = self._of_columns([variable.scales.equal_pairs for variable in self._variables])
        return cast(Array, equal / at_least(n * (n - 1.0), 1.0))

    def fewest_log_arrangements(self) -> Array:
        """What the number of arrangements is at least: no value has more rows than the most frequent one has at all."""
        n = as_floats(self.n)
        most = namespace(n).clip(self._of_columns([v.most_frequent for v in self._variables]), n / 2, n)
        return cast(Array, log_factorials(n) - log_factorials(most) - log_factorials(n - most))

    @property
    def _variables(self) -> tuple[Variable, ...]:
        return self.group.variables

    def _of_columns(self, values: Sequence[float]) -> Array:
        """For every pair what its column of this side has."""
        return cast(Array, like(np.array(values, dtype=np.float64), self.n)[self.columns])


class MaskedSide(Side):
    """The same for rows in memory: `masks` (rows, masks) say which of them the other side has."""

    def __init__(
        self, group: ColumnGroup, columns: Index, which: Index, n: Array, masks: Mask, /, *, means: Array | None = None
    ) -> None:
        super().__init__(group, columns, which, n)
        self._masks, self._kept_means = masks, means

    @classmethod
    def both(cls, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        """Both sides of the pairs (i, j)."""
        (of_x, which_x), (of_y, which_y) = (
            distinct_masks([variable.column.missing for variable in side.variables], x.n_rows) for side in (x, y)
        )
        # Counts up to 2²⁴ are exact in float32.
        kind = np.float32 if x.n_rows <= 2**24 else np.float64
        common = (of_x.T.astype(kind) @ of_y).astype(np.float64)
        return (
            cls(x, i, which_y[j], common[which_x], of_y, means=_kept_means(x, y, which_y)),
            cls(y, j, which_x[i], common.T[which_y], of_x, means=_kept_means(y, x, which_x)),
        )

    def whitened_coefficient(self, place: str, /) -> Whitened:
        recipes = self.group.recipes
        if recipes is None:
            return Whitened.of(self.group.coefficient, self._masks, self._n, place=place)
        # From moments, where those serve all columns.
        return Whitened.of_recipes(self._means, np.stack(recipes), place=place)

    def whitened_nested(self, place: str, /) -> Whitened:
        moments = self.group.moments
        if moments is None:
            return Whitened.of(self.group.nested, self._masks, self._n, place=place)
        mixing = (np.stack([part[k] for part in self.group.smooth]) for k in (1, 2))
        return Whitened.of_smooth(moments, self._means, *mixing, place=place)

    @property
    def _means(self) -> Array:
        """Means of the moments of all columns of this side, on the rows of every mask of the other."""
        # Kept by hand: until Python 3.12 a cached property has one lock for all instances, and threads would wait.
        if self._kept_means is None:
            self._kept_means = self._take_means()
        return self._kept_means

    def _take_means(self) -> Array:
        group = self.group
        if group.moments is None:
            raise ValueError("moments are of smooth functions")
        observed = observed_rows([variable.column.missing for variable in group.variables], len(self._masks))
        return means_of_moments(
            group.moments, group.smooth, group.codes, observed=observed, masks=self._masks, n=self._n
        )

    def exact_leverages(self, white: Pairs, pairs: Index, /) -> Array:
        largest = np.full((self.group.scales.basis.dimension, len(self.columns)), np.nan)
        for column, of_column in by_column(self.columns, pairs):
            variable = self.group.variables[column]
            observed = None if variable.column.missing is None else ~variable.column.missing
            masks = self._masks[:, self._which[of_column]]
            largest[:, of_column] = exact_leverages(variable.scales.basis, observed, masks, white.take(of_column))
        return largest

    def log_arrangements(self, pair: int, /) -> float:
        variable, mask = self.group.variables[self.columns[pair]], self._masks[:, self._which[pair]]
        codes = variable.scales.basis.codes
        if codes is None:
            return float(gammaln(self.n[pair] + 1.0))
        own = mask if variable.column.missing is None else mask[~variable.column.missing]
        return float(gammaln(self.n[pair] + 1.0) - np.sum(gammaln(np.bincount(codes[own]) + 1.0)))


def by_column(columns: Index, pairs: Index, /) -> Iterator[tuple[int, Index]]:
    """Some pairs by their column of a side."""
    for column in np.unique(columns[pairs]).tolist():
        keep_going()
        yield column, pairs[columns[pairs] == column]


def _kept_means(side: ColumnGroup, other: ColumnGroup, which: Index) -> Array | None:
    """Means of the moments of a side over the rows of the masks of the other, where they were taken beforehand."""
    if side.gaps is None:
        return None
    return cast(Array, side.gaps.over(other.positions[np.unique(which, return_index=True)[1]]))


class CountedSide(Side):
    """The same for rows in batches: what is known is how many of every cell the other side leaves."""

    def __init__(
        self, group: ColumnGroup, columns: Index, others: Index, counts: Sequence[NDArray[Any]], n: Array, /
    ) -> None:
        super().__init__(group, columns, others, n)
        self._counts = counts

    @classmethod
    def both(cls, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, sums: Sums, /) -> tuple[Side, Side]:
        """Both sides of the pairs (i, j)."""
        if sums.counts is None or sums.common is None:
            raise ValueError("cells are missing, and nothing says where")
        of_x, of_y = (_SummedSide if side.scales.is_vector else cls for side in (x, y))
        n = sums.common
        return of_x(x, i, j, sums.counts[0], n), of_y(y, j, i, sums.counts[1], n.T)

    def whitened_coefficient(self, place: str, /) -> Whitened:
        tables = [variable.prepared.basis.table for variable in self.group.variables]
        return Whitened.of_counts(tables, self._counts, self._n, place=place)

    def whitened_nested(self, place: str, /) -> Whitened:
        tables = [variable.scales.basis.table for variable in self.group.variables]
        return Whitened.of_counts(tables, self._counts, self._n, place=place)

    def exact_leverages(self, white: Pairs, pairs: Index, /) -> Array:
        largest = np.full((self.group.scales.basis.dimension, len(self.columns)), np.nan)
        for column, of_column in by_column(self.columns, pairs):
            left = self._counts[column][:, self._which[of_column]]
            table = self.group.variables[column].scales.basis.table
            largest[:, of_column] = leverages_of_cells(table, left > 0, left.sum(axis=0), white.take(of_column))
        return largest

    def log_arrangements(self, pair: int, /) -> float:
        left = self._counts[self.columns[pair]][:, self._which[pair]]
        return float(gammaln(self.n[pair] + 1.0) - np.sum(gammaln(left + 1.0)))


class _SummedSide(CountedSide):
    """The same for vectors, which have no cells: sums of their functions, and of products of these, are known."""

    def whitened_coefficient(self, place: str, /) -> Whitened:
        return Whitened.of_sums(self._counts[0], self._n, place=place)

    def whitened_nested(self, place: str, /) -> Whitened:
        return Whitened.of_sums(self._counts[1], self._n, place=place)

    def exact_leverages(self, white: Pairs, pairs: Index, /) -> Array:
        """Sharper bounds: how heavy the heaviest of the common rows is only the rows would say."""
        own = (self.group.leverages * self.group.lengths)[:, self.columns[pairs]]
        largest = np.full((len(own), len(self.columns)), np.nan)
        n, sizes = np.maximum(self.n[pairs], 1), range(1, len(own) + 1)
        largest[:, pairs] = sharp_leverage_bounds(white.take(pairs), own, n, sizes)
        return largest

    def heavier(self, white: Pairs, /) -> Array:
        bases = [variable.prepared.basis for variable in self.group.variables]
        own = np.array([basis.largest_leverage * basis.n_samples for basis in bases])[self.columns]
        n = np.maximum(self.n, 1)
        return np.asarray(sharp_leverage_bounds(white, own, n, [bases[0].dimension])[0] * n / own)

    def log_arrangements(self, pair: int, /) -> float:
        return float(gammaln(self.n[pair] + 1.0))
