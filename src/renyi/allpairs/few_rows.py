"""Pairs of numbers with gaps on few rows, many at once, each on the rows that both columns have.

On few rows nearly every pair loses functions that its common rows do not tell apart, and columns differ in how many
they have: tiles of like columns would be small, and most of their pairs would be looked at by themselves. Here the
functions of a batch of pairs are gathered at the common rows as they are, padded with zeros to one width, and made
orthonormal there, by the rules of a single pair.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from renyi.allpairs import common_rows
from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.compare import FoundPairs, by_themselves, pair_of_rows, pairs_of
from renyi.allpairs.sums import correlation
from renyi.basis.basis import RESTRICTED_CUT, Basis, most_functions
from renyi.basis.nested import TIES_OF_LEVELS, have_few_ties
from renyi.compute.arrays import Array, Index, Mask, in_parts
from renyi.compute.eigenvalues import largest_root
from renyi.compute.threads import keep_going
from renyi.inference.many_pairs import log_pvalues_by_dimension, observed_by_dimension
from renyi.inference.multiscale import (
    CORNER,
    OF_NUMBERS,
    NestedProducts,
    share_of_levels,
)
from renyi.inference.roy import are_many
from renyi.pair.independence import Permutations, Waiting, permuted

Dimensions: TypeAlias = NDArray[np.integer]

# Up to here a pair takes less time by its rows than by masked Gram matrices; functions at all rows are kept, if they
# take no more than so many bytes.
MOST_ROWS, _MOST_BYTES = 512, 2**28
# Pairs that have their null distributions looked up at once, and numbers of one array while their functions are made,
# which stays in the cache.
_PAIRS_AT_ONCE, _NUMBERS_AT_ONCE = 2**12, 2**19
# Pairs with as many rows that are permuted together: enough to spare calls, few enough to share among cores.
_PERMUTED_TOGETHER = 128


class _Side(NamedTuple):
    """One side of a batch of pairs: functions (pairs, functions, rows) orthonormal on the common rows of each."""

    white: Array
    keeps: Mask
    ties: Array
    log_arrangements: Array

    @property
    def dimension(self) -> Dimensions:
        return np.asarray(self.keeps.sum(axis=1))

    def leverages(self, n: Index) -> Array:
        """Largest shares of one row (pairs, functions) in the leading functions."""
        squares = self.white**2
        # Sums of whole rows, one after the other, take a third of the time of `cumsum`.
        for k in range(1, squares.shape[1]):
            squares[:, k] += squares[:, k - 1]
        return _packed(squares.max(axis=2) / n[:, np.newaxis], self.keeps)


class _Found(NamedTuple):
    """What is found on some pairs: products of the functions of both sides, and what p-values rest on beside these."""

    n: Index
    dimensions: Dimensions
    cross: Array
    heavier: Array
    first: Array
    corner: Array
    of_x: Array
    of_y: Array
    dimensions_of_test: Dimensions
    leverages_x: Array
    leverages_y: Array
    ties: Array
    log_arrangements: Array


class _Known(NamedTuple):
    """What is known of some pairs: coefficients, how much heavier their rows are, and roots of the test."""

    found: _Found
    coefficient: Array
    heavier: Array
    roots: Array

    def log_pvalue(self, *, tabulated: bool) -> Array:
        """By the null distribution, NaN where none holds, or where there is no coefficient."""
        pairs, found = self.found, np.full(len(self.coefficient), np.nan)
        is_there = ~np.isnan(self.coefficient) & (pairs.dimensions_of_test > 0).all(axis=1)
        for has_levels in (False, True):
            some = np.flatnonzero(((pairs.ties > TIES_OF_LEVELS).any(axis=1) == has_levels) & is_there)
            if len(some):
                found[some] = log_pvalues_by_dimension(
                    self.roots[some],
                    OF_NUMBERS,
                    pairs.dimensions_of_test[some],
                    n=pairs.n[some],
                    leverages=(pairs.leverages_x[some].T, pairs.leverages_y[some].T),
                    few_ties=have_few_ties(*pairs.ties[some].T),
                    log_arrangements=pairs.log_arrangements[some],
                    share=share_of_levels(has_levels),
                    tabulated=tabulated,
                )
        return found


class FewRows:
    """Numbers of a table of few rows, some with gaps: their functions at every row, 0 where there is no value."""

    def __init__(self, x: Sequence[Variable], y: Sequence[Variable], /) -> None:
        sides = (x,) if y is x else (x, y)
        numbers = [[k for k, variable in enumerate(side) if variable.kind == "number"] for side in sides]
        self._variables = [side[k] for side, own in zip(sides, numbers, strict=True) for k in own]
        # Where the columns of either side are among these.
        self._places = [np.zeros(len(side), dtype=np.intp) for side in sides]
        for places, own, start in zip(self._places, numbers, (0, len(numbers[0])), strict=False):
            places[own] = start + np.arange(len(own))
        gaps = [variable.column.missing for variable in self._variables]
        n_rows = x[0].n_rows
        self._observed = np.array([np.ones(n_rows, dtype=bool) if one is None else ~one for one in gaps])
        self._nested = self._at_rows([variable.scales.basis for variable in self._variables])
        self._leading = np.ascontiguousarray(self._nested[:, :, :2])
        self._coefficient = self._at_rows([variable.prepared.basis for variable in self._variables])
        self._codes = self._cells([variable.scales.basis for variable in self._variables])
        self._heaviest = np.array([variable.heaviest for variable in self._variables])
        self._log_factorials = gammaln(np.arange(n_rows + 1) + 1.0)
        # Leading functions of the coefficient that so many common rows allow.
        self._most = np.array(
            [[most_functions(variable.prepared.basis, n) for n in range(n_rows + 1)] for variable in self._variables]
        )

    @classmethod
    def of(cls, x: Sequence[Variable], y: Sequence[Variable], /) -> "FewRows | None":
        """Of a table, or of two, that has few rows, and numbers with gaps, and not too many columns."""
        numbers = [variable for variable in (*x, *(() if y is x else y)) if variable.kind == "number"]
        if x[0].n_rows > MOST_ROWS or all(variable.is_complete for variable in numbers):
            return None
        n_functions = len(numbers) * max(v.scales.basis.dimension + v.prepared.basis.dimension for v in numbers)
        return cls(x, y) if 8 * x[0].n_rows * n_functions <= _MOST_BYTES else None

    @staticmethod
    def has(x: ColumnGroup, y: ColumnGroup, /) -> bool:
        """Whether the pairs of a tile are compared here."""
        return x.scales.is_number and y.scales.is_number and not (x.is_complete and y.is_complete)

    def batches(self, tiles: Iterable[tuple[ColumnGroup, ColumnGroup]], /) -> Iterator[tuple[Index, Index]]:
        """The pairs of all tiles that are compared here, some at a time, by their positions.

        Those on as many rows come together, so that few null distributions are looked up at a time.
        """
        pairs = [pairs_of(x, y) for x, y in tiles if self.has(x, y)]
        if pairs:
            i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
            for some in in_parts(np.argsort(self._common_rows[i, j], kind="stable"), _PAIRS_AT_ONCE):
                yield i[some], j[some]

    @cached_property
    def _common_rows(self) -> Index:
        """How many rows the columns of both sides have in common, by their positions."""
        of_x, of_y = (self._observed[places].astype(np.float64) for places in (self._places[0], self._places[-1]))
        return np.asarray((of_x @ of_y.T).astype(np.intp))

    def compare(self, i: Index, j: Index, /) -> FoundPairs:
        """Pairs of columns by their positions; those without a null distribution have no p-value yet."""
        a, b = self._places[0][i], self._places[-1][j]
        known = self._known(a, b)
        trends = np.array([variable.trend for variable in self._variables])
        return FoundPairs(
            i=i,
            j=j,
            n=known.found.n,
            dimensions=known.found.dimensions,
            coefficient=known.coefficient,
            log_pvalue=known.log_pvalue(tabulated=are_many(self._common_rows.size)),
            pearson=None,
            spearman=trends[a] * trends[b] * known.found.first,
            is_permuted=np.zeros(len(i), dtype=bool),
            heavier=known.heavier,
        )

    @staticmethod
    def waiting(found: FoundPairs, /) -> Mask:
        """Which pairs are to be permuted: those of which a test is possible, but has no null distribution."""
        return np.isnan(found.log_pvalue) & ~np.isnan(found.coefficient)

    @staticmethod
    def alike(found: FoundPairs, /) -> Iterator[FoundPairs]:
        """Pairs to be permuted, those with as many rows together, some at a time."""
        order = np.lexsort((found.dimensions[:, 1], found.dimensions[:, 0], found.n))
        starts = np.flatnonzero(np.diff(found.n[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            for some in in_parts(places, _PERMUTED_TOGETHER):
                yield FoundPairs.of(found, some)

    def permute(self, found: FoundPairs, permutations: Permutations, /) -> FoundPairs:
        """The same pairs, all on as many rows, with their p-values by permutation."""
        i, j, n = self._places[0][found.i], self._places[-1][found.j], int(found.n[0])
        log_pvalue, is_permuted = found.log_pvalue.copy(), found.is_permuted.copy()
        if permutations.takes_one_by_one(n):
            pairs = (partial(pair_of_rows, self._variables[a], self._variables[b]) for a, b in zip(i, j, strict=True))
            for k, alone in enumerate(by_themselves(pairs, permutations)):
                if alone is not None:
                    log_pvalue[k], is_permuted[k] = alone.log_pvalue, alone.calibration == "permutation"
            return replace(found, log_pvalue=log_pvalue, is_permuted=is_permuted)
        waiting = self._waiting(i, j, found.n)
        for k, result in zip(waiting, permuted(list(waiting.values()), permutations), strict=True):
            log_pvalue[k], is_permuted[k] = np.log(result.pvalue), True
        return replace(found, log_pvalue=log_pvalue, is_permuted=is_permuted)

    def _waiting(self, i: Index, j: Index, lengths: Index) -> dict[int, Waiting]:
        """What is to be permuted of pairs on as many rows, by their places."""
        keep_going()
        rows, n = self._common(i, j, lengths), int(lengths[0])
        x, y, cross = self._tested(i, j, rows)
        leverages, dimensions = (x.leverages(rows.n).T, y.leverages(rows.n).T), np.stack((x.dimension, y.dimension), 1)
        ordered = [self._in_order(side, columns, rows) for side, columns in ((x, i), (y, j))]
        roots = NestedProducts(cross[:, :CORNER, :CORNER], cross[:, :, 0], cross[:, 0]).roots(OF_NUMBERS)
        waiting: dict[int, Waiting] = {}
        for pairs, blocks, observed in observed_by_dimension(roots, OF_NUMBERS, dimensions, n, leverages):
            for pair, log_mean in zip(pairs.tolist(), observed.tolist(), strict=True):
                of_x, of_y = (
                    Basis(side[pair, :r].T, None, None) for side, r in zip(ordered, dimensions[pair], strict=True)
                )
                waiting[pair] = Waiting(of_x, of_y, blocks, -log_mean)
        return waiting

    def _in_order(self, side: _Side, columns: Index, rows: "_Rows") -> Array:
        """Functions (pairs, rows, functions) of a side, rows in the order of their values, those that count first."""
        codes = self._codes[columns[:, np.newaxis], rows.places]
        order = np.argsort(codes, axis=1, kind="stable")[:, np.newaxis]
        return _packed(np.take_along_axis(side.white, order, axis=2), side.keeps)

    def _at_rows(self, bases: Sequence[Basis]) -> Array:
        """A constant and functions (columns, rows, functions), 0 where a cell is missing or a column has no more.

        All are 0 at one more row, which fills up what pairs lack of as many rows.
        """
        found = np.zeros((len(bases), self._observed.shape[1] + 1, 1 + max(basis.dimension for basis in bases)))
        for own, here, basis in zip(found[:, :-1], self._observed, bases, strict=True):
            own[here, 0] = 1.0
            own[here, 1 : 1 + basis.dimension] = basis.rows(0, basis.n_samples)
        return found

    def _cells(self, bases: Sequence[Basis]) -> Index:
        """The cell of every row, all different where there are no ties, and one more for missing rows."""
        n_columns, n_rows = self._observed.shape
        found = np.full((n_columns, n_rows + 1), n_rows, dtype=np.intp)
        for own, here, basis in zip(found[:, :-1], self._observed, bases, strict=True):
            own[here] = np.arange(basis.n_samples) if basis.codes is None else basis.codes
        return found

    def _known(self, i: Index, j: Index) -> _Known:
        """All that is to be known of some pairs: those with as many common rows together, which are worked on alone."""
        n = np.concatenate(
            [
                np.count_nonzero(self._observed[i[k : k + 256]] & self._observed[j[k : k + 256]], axis=1)
                for k in range(0, len(i), 256)
            ]
        )
        order = np.argsort(-n, kind="stable")
        parts, start = [], 0
        while start < len(order):
            keep_going()
            at_once = max(1, _NUMBERS_AT_ONCE // (max(1, int(n[order[start]])) * self._nested.shape[2]))
            some = order[start : start + at_once]
            parts.append(self._found(i[some], j[some], n[some]))
            start += at_once
        back = np.argsort(order)
        joined = _Found(*(np.concatenate(part)[back] for part in zip(*parts, strict=True)))
        # Roots of many matrices at once take half the time.
        has_freedom = (joined.dimensions.min(axis=1) > 0) & (joined.dimensions.sum(axis=1) < np.maximum(n, 1))
        coefficient = np.sqrt(np.clip(largest_root(joined.cross), 0.0, 1.0))
        return _Known(
            joined,
            np.where(has_freedom, coefficient, np.nan),
            np.where(has_freedom, joined.heavier, np.inf),
            NestedProducts(joined.corner, joined.of_x, joined.of_y).roots(OF_NUMBERS),
        )

    def _common(self, i: Index, j: Index, n: Index) -> "_Rows":
        """The rows that both columns of every pair have."""
        common = self._observed[i] & self._observed[j]
        places = np.argsort(~common, axis=1, kind="stable")[:, : max(1, n.max())]
        places[np.arange(places.shape[1]) >= n[:, np.newaxis]] = common.shape[1]
        return _Rows(places, np.maximum(n, 1))

    def _tested(self, i: Index, j: Index, rows: "_Rows") -> tuple[_Side, _Side, Array]:
        """Both sides of pairs as the test sees them, and products of their functions, those that count first."""
        x, y = (self._side(columns, rows) for columns in (i, j))
        cross = _packed(rows.mean(x.white, y.white), x.keeps)
        return x, y, _packed(cross.swapaxes(1, 2), y.keeps).swapaxes(1, 2)

    def _found(self, i: Index, j: Index, n: Index) -> _Found:
        rows = self._common(i, j, n)
        x, y, cross = self._tested(i, j, rows)
        of_coefficient, dimensions, heavier = self._products(i, j, rows)
        return _Found(
            n,
            dimensions,
            of_coefficient,
            heavier,
            self._first(i, j, rows),
            *(cross[:, :CORNER, :CORNER], cross[:, :, 0], cross[:, 0]),
            np.stack((x.dimension, y.dimension), axis=1),
            x.leverages(rows.n),
            y.leverages(rows.n),
            np.stack((x.ties, y.ties), axis=1),
            np.minimum(x.log_arrangements, y.log_arrangements),
        )

    def _side(self, columns: Index, rows: "_Rows") -> _Side:
        """One side of some pairs."""
        white, keeps = _orthonormal(self._nested, columns, rows)
        n_cells = self._observed.shape[1]
        codes = self._codes[columns[:, np.newaxis], rows.places]
        codes += np.arange(len(codes))[:, np.newaxis] * (n_cells + 1)
        counts = np.bincount(codes.ravel(), minlength=len(codes) * (n_cells + 1)).reshape(len(codes), -1)[:, :-1]
        equal = np.sum(counts * (counts - 1), axis=1)
        arrangements = self._log_factorials[rows.n] - np.sum(self._log_factorials[counts], axis=1)
        return _Side(white, keeps, equal / np.maximum(rows.n * (rows.n - 1), 1), arrangements)

    def _first(self, i: Index, j: Index, rows: "_Rows") -> Array:
        """Correlations of the first functions, whether or not the others are all there."""
        x, y = (rows.of(self._leading, columns) for columns in (i, j))
        moments = (rows.mean(*sides) for sides in ((x, y), (x, x), (y, y)))
        return correlation(*(m[:, 1, 1] - m[:, 0, 1] * m[:, 1, 0] for m in moments), least=RESTRICTED_CUT**2)

    def _products(self, i: Index, j: Index, rows: "_Rows") -> tuple[Array, Dimensions, Array]:
        """Products as the coefficient has them, dimensions, and how much more the heaviest rows weigh than of all."""
        white, dimensions, weights = [], [], []
        for columns in (i, j):
            functions = rows.of(self._coefficient, columns)
            means, gram = rows.moments(functions)
            left = np.arange(means.shape[1]) < self._most[columns, rows.n][:, np.newaxis]
            squares, directions = np.linalg.eigh(gram * left[:, :, np.newaxis] * left[:, np.newaxis])
            is_kept = squares > RESTRICTED_CUT**2
            scale = is_kept / np.sqrt(np.where(is_kept, squares, 1.0))
            white.append(_mixed(functions, (directions * scale[:, np.newaxis]).swapaxes(1, 2), means))
            dimensions.append(np.count_nonzero(is_kept, axis=1))
            weights.append(np.einsum("pkr,pkr->pr", white[-1], white[-1]).max(axis=1) / self._heaviest[columns])
        return rows.mean(*white), np.stack(dimensions, axis=1), weights[0] * weights[1]


class _Rows(NamedTuple):
    """The common rows of a batch of pairs: their places (pairs, rows), filled up with the empty row, and how many."""

    places: Index
    n: Index

    def of(self, functions: Array, columns: Index) -> Array:
        """A constant and functions (pairs, functions, rows) of one column for each pair."""
        places = self.places + columns[:, np.newaxis] * functions.shape[1]
        # Whole rows of one long table are gathered in half the time; "clip" spares a second look at the places.
        here = np.take(functions.reshape(-1, functions.shape[2]), places, axis=0, mode="clip")
        return np.asarray(here.swapaxes(1, 2))

    def mean(self, x: Array, y: Array) -> Array:
        """Mean products of functions (pairs, functions of x, functions of y)."""
        products = x @ y.swapaxes(1, 2)
        products /= self.n[:, np.newaxis, np.newaxis]
        return np.asarray(products)

    def moments(self, functions: Array) -> tuple[Array, Array]:
        """Means and covariances of the functions that follow a constant."""
        products = self.mean(functions, functions)
        means = products[:, 0, 1:]
        return means, products[:, 1:, 1:] - means[:, :, np.newaxis] * means[:, np.newaxis]


def _mixed(functions: Array, mixing: Array, means: Array) -> Array:
    """Functions less their means, mixed (pairs, mixtures, functions); they follow a constant."""
    return np.asarray(np.concatenate((-(mixing @ means[:, :, np.newaxis]), mixing), axis=2) @ functions)


def _orthonormal(functions: Array, columns: Index, rows: _Rows) -> tuple[Array, Mask]:
    """Functions (pairs, functions, rows) orthonormal on the common rows in their order, and which are not passed over.

    By a Cholesky factor of their products, and where that magnifies rounding by one of the functions themselves.
    """
    here = rows.of(functions, columns)
    means, gram = rows.moments(here)
    factor, keeps = _cholesky(np.ascontiguousarray(np.moveaxis(gram, 0, -1)))
    mixing = _inverse(factor, keeps)
    white = _mixed(here, mixing, means)
    doubtful = np.flatnonzero(np.einsum("pjk,pjk->p", mixing, mixing) > common_rows.MOST_MAGNIFIED[np.float64])
    if len(doubtful):
        some = here[doubtful]
        central = some[:, 1:] - means[doubtful][:, :, np.newaxis] * some[:, :1]
        of_rows = central.swapaxes(1, 2) / np.sqrt(rows.n[doubtful])[:, np.newaxis, np.newaxis]
        triangular = np.asarray(np.linalg.qr(of_rows, mode="r"))
        factor, keeps[:, doubtful] = _gram_schmidt(np.moveaxis(triangular, 0, -1))
        white[doubtful] = _inverse(factor, keeps[:, doubtful]) @ central
    return white, keeps.T


def _cholesky(gram: Array) -> tuple[Array, Mask]:
    """Lower triangular factors (functions, functions, pairs), without functions of which those before leave little."""
    factor, keeps = np.zeros_like(gram), np.zeros(gram.shape[1:], dtype=bool)
    for j in range(len(gram)):
        rest = gram[j:, j] - np.einsum("akp,kp->ap", factor[j:, :j], factor[j, :j])
        keeps[j] = rest[0] > RESTRICTED_CUT**2
        factor[j:, j] = rest * (keeps[j] / np.sqrt(np.where(keeps[j], rest[0], 1.0)))
    return factor, keeps


def _gram_schmidt(functions: Array) -> tuple[Array, Mask]:
    """The same of functions (rows, functions, pairs) themselves."""
    size = functions.shape[1]
    basis, keeps = np.zeros_like(functions), np.zeros(functions.shape[1:], dtype=bool)
    for j in range(size):
        rest = functions[:, j]
        for _ in range(2):  # once more removes what rounding left
            rest = rest - np.einsum("akp,kp->ap", basis[:, :j], np.einsum("akp,ap->kp", basis[:, :j], rest))
        length = np.sqrt(np.einsum("ap,ap->p", rest, rest))
        keeps[j] = length > RESTRICTED_CUT
        basis[:, j] = rest * (keeps[j] / np.where(keeps[j], length, 1.0))
    return np.tril(np.einsum("ajp,akp->pjk", functions, basis)).transpose(1, 2, 0), keeps


def _inverse(factor: Array, keeps: Mask) -> Array:
    """What functions are mixed by (pairs, mixtures, functions), 0 for those that are passed over."""
    inverse = np.zeros_like(factor)
    for j in range(len(factor)):
        scale = keeps[j] / np.where(keeps[j], factor[j, j], 1.0)
        inverse[j, :j] = -np.einsum("kp,kap->ap", factor[j, :j], inverse[:j, :j]) * scale
        inverse[j, j] = scale
    return np.ascontiguousarray(np.moveaxis(inverse, -1, 0))


def _packed(values: Array, keeps: Mask) -> Array:
    """Functions (pairs, functions, …) in their order, but those that are passed over last."""
    if keeps.all():
        return values
    order = np.argsort(~keeps, axis=1, kind="stable")
    return np.take_along_axis(values, order.reshape(*order.shape, *(1,) * (values.ndim - 2)), axis=1)
