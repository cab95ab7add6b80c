"""Stacked bases on the rows that the columns of another stack have: pairwise deletion by products of masks.

The Gram matrix of x over the rows where y is observed is (products of x's functions) × (y's mask), one product of
matrices for all pairs. An ordered Cholesky factor of it makes the basis orthonormal there and keeps it nested. Arrays
here have the pairs on their last axes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.stack import fine_chunks, in_a_chunk
from renyi.basis.basis import RESTRICTED_CUT, Basis
from renyi.basis.product_moments import Moments, recipes_of_smooth
from renyi.compute import kernels
from renyi.compute.arrays import (
    Array,
    Index,
    Mask,
    empty,
    flat_places,
    in_memory,
    like,
    mix_both_ways,
    mixed,
    namespace,
    sum_of_products,
    sum_of_rows,
    sums_of_products,
    taken,
)
from renyi.compute.memory import workspace
from renyi.compute.threads import keep_going

# Observed rows (rows, masks).
Masks: TypeAlias = Mask

# From so many functions on it takes less time to count the rows of cells than to multiply the functions at every row.
_DIMENSION_BY_CELLS = 3
# A Gram matrix this close to the identity is far from singular, which nobody needs to compute then.
_NEAR_IDENTITY = 0.5


def masked_sums(stack: Any, masks: Masks, /) -> Array:
    """Sums (functions and products on and below the diagonal, columns, masks) of a stack over the rows of masks."""
    lower = np.tril_indices(stack.dimension)
    if stack.dimension >= _DIMENSION_BY_CELLS and stack.has_few_cells:
        return _sums_of_cells(stack, masks, lower)
    kind = stack.rows(slice(0, 1)).dtype
    found = np.zeros((stack.dimension + len(lower[0]), len(stack), masks.shape[1]))
    sums = np.zeros((len(stack) * stack.dimension, masks.shape[1]))
    squares = found[stack.dimension :].reshape(-1, masks.shape[1])
    for rows in fine_chunks(stack.n_rows, len(stack) * len(lower[0]) * kind.itemsize):
        mask = masks[rows].astype(kind)
        split = np.ascontiguousarray(stack.rows(rows)).reshape(len(stack), stack.dimension, -1)
        sums += split.reshape(len(sums), -1) @ mask
        pairs = workspace("pairs", (len(lower[0]), len(stack), split.shape[2]), kind)
        for k, (i, j) in enumerate(zip(*lower, strict=True)):
            np.multiply(split[:, i], split[:, j], out=pairs[k])
        squares += pairs.reshape(len(squares), -1) @ mask
    found[: stack.dimension] = sums.reshape(len(stack), stack.dimension, -1).swapaxes(0, 1)
    return found


def _sums_of_cells(stack: Any, masks: Masks, lower: tuple[Index, Index]) -> Array:
    """The same by how many rows of every cell the masks leave: the products of functions are those of cells."""
    from scipy.sparse import csc_array

    found = np.empty((stack.dimension + len(lower[0]), len(stack), masks.shape[1]))
    step = min(stack.n_rows, max(1, in_a_chunk(8 * masks.shape[1])))
    starts, ones = np.arange(step + 1, dtype=np.int32), np.ones(step)
    for column, codes in enumerate(stack.codes):
        keep_going()
        table = stack.table(column).astype(np.float64)
        counts = np.zeros((len(table), masks.shape[1]))
        for start in range(0, stack.n_rows, step):
            own = codes[start : start + step].astype(np.int32)
            # One entry a row, at its cell: the product adds up whole rows of masks.
            cells = csc_array((ones[: len(own)], own, starts[: len(own) + 1]), shape=(len(table), len(own)))
            counts += cells @ masks[start : start + step].astype(np.float64)
        found[:, column] = np.hstack((table, table[:, lower[0]] * table[:, lower[1]])).T @ counts
    return found


def _dimension_of(n_sums: int) -> int:
    """How many functions there are, given them and their products: r + r(r + 1)/2."""
    return int(np.rint((np.sqrt(9 + 8 * n_sums) - 3) / 2))


@dataclass(frozen=True, eq=False)
class Whitened:
    """Bases of all columns over the rows of masks: means (dimension, columns, masks), Gram matrices, their factors.

    Where one is not regular a function dropped out. What is large lies in a workspace of a place, until the next call
    for it.
    """

    means: Array
    factor: Array
    gram: Array
    distance: Array
    is_regular: Mask

    @classmethod
    def of(cls, stack: Any, masks: Masks, n: Array, /, *, place: str) -> "Whitened":
        """For every column of a stack and every mask; `n` (columns, masks) counts the rows they have in common."""
        return cls.of_sums(masked_sums(stack, masks), n, place=place)

    @classmethod
    def of_sums(cls, sums: Array, n: Array, /, *, place: str) -> "Whitened":
        """The same, from sums of functions and of their products as `masked_sums` has them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls._made(sums / n, place)

    @classmethod
    def of_counts(
        cls, tables: Sequence[Array], counts: Sequence[NDArray[np.int64]], n: Array, /, *, place: str
    ) -> "Whitened":
        """The same, from how many rows (cells, masks) of every cell of a column the masks leave."""
        dimension = tables[0].shape[1]
        lower = np.tril_indices(dimension)
        sums = np.empty((dimension + len(lower[0]), *n.shape))
        for column, (table, left) in enumerate(zip(tables, counts, strict=True)):
            functions = np.hstack((table, table[:, lower[0]] * table[:, lower[1]]))
            sums[:, column] = functions.T @ left
        return cls.of_sums(sums, n, place=place)

    @classmethod
    def of_smooth(
        cls, moments: Moments, means: Array, weights: Array, intercepts: Array, /, *, place: str
    ) -> "Whitened":
        """The same for whole bases of smooth functions, from the means (1 + moments, columns, masks) of moments."""
        recipes = like(recipes_of_smooth(moments), means)
        sums = (recipes @ means.reshape(len(means), -1)).reshape(-1, *means.shape[1:])
        return cls._made(sums, place, (weights, intercepts))

    @classmethod
    def of_recipes(cls, means: Array, recipes: Array, /, *, place: str) -> "Whitened":
        """The same for bases of which every column has its own recipe (columns, sums, 1 + moments)."""
        return cls._made(mixed(recipes.swapaxes(1, 2), means), place)

    @classmethod
    def _made(cls, sums: Array, place: str, mixing: tuple[Array, Array] | None = None) -> "Whitened":
        """From means of functions, and of their products on and below the diagonal, which may be mixed."""
        by_kernel = None if mixing else kernels.whiten(sums, _dimension_of(len(sums)), cut=RESTRICTED_CUT**2)
        if by_kernel is not None:
            means, gram, factor, distance, is_regular = by_kernel
            return cls(means, factor, gram, distance, is_regular)
        means, gram = _central(sums, place, mixing)
        xp, factor = namespace(gram), empty(f"factor {place}", tuple(gram.shape), gram)
        # Where two columns have no row in common there is nothing at all.
        is_regular = xp.isfinite(gram).all(axis=0).all(axis=0)
        gram[:, :, ~is_regular] = 0.0
        for j in range(len(gram)):
            rest = gram[j:, j] - sums_of_products(factor[j:, :j], factor[j, :j])
            # What the functions before it leave of this one; the pair alone decides by the same cut.
            is_regular &= rest[0] > RESTRICTED_CUT**2
            factor[j:, j] = rest / xp.sqrt(xp.where(is_regular, rest[0], 1.0))
            factor[:j, j] = 0.0
        # What is not regular must not spoil the batch that it is in.
        factor[:, :, ~is_regular] = like(np.eye(len(gram)), gram)[:, :, None]
        means = xp.where(xp.isfinite(means), means, 0.0)
        return cls(means, factor, gram, _distance_from_identity(gram), is_regular)

    def at(self, columns: Index, masks: Index, /, *, place: str) -> "Pairs":
        """One column and mask for every pair."""
        dimension, n_masks = len(self.means), self.means.shape[2]
        factor = taken(f"pairs {place}", self.factor.reshape(dimension, dimension, -1), columns * n_masks + masks)
        return Pairs(
            self.means[:, columns, masks],
            factor,
            self.distance[:, columns, masks],
            self.gram[0, 0, columns, masks],
            self.is_regular[columns, masks],
            lambda which: self.gram[:, :, columns[which], masks[which]],
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """One side of pairs: means, factors, how far the Gram matrices (`gram`, for some pairs) are from the identity.

    `variance` is that of the first function, whatever became of the others.
    """

    means: Array
    factor: Array
    distance: Array
    variance: Array
    is_regular: Mask
    gram: Callable[[Index], Array]

    def take(self, which: Index, /) -> "Pairs":
        """Some of the pairs."""
        return Pairs(
            self.means[:, which],
            self.factor[:, :, which],
            self.distance[:, which],
            self.variance[which],
            self.is_regular[which],
            lambda those: self.gram(which[those]),
        )

    def in_memory(self) -> "Pairs":
        """The same where NumPy reads it."""
        return Pairs(
            in_memory(self.means),
            in_memory(self.factor),
            in_memory(self.distance),
            in_memory(self.variance),
            in_memory(self.is_regular),
            lambda which: in_memory(self.gram(like(which, self.means))),
        )

    def is_of_full_rank(self) -> Mask:
        """Whether no direction at all falls below the cut, however it is mixed from the functions."""
        is_full: Mask = self.is_regular & (self.distance[-1] < _NEAR_IDENTITY)
        doubtful = flat_places(self.is_regular & ~is_full)
        if len(doubtful):
            xp = namespace(self.factor)
            smallest = xp.linalg.eigvalsh(xp.moveaxis(self.gram(doubtful), -1, 0))[:, 0]
            is_full[doubtful] = smallest > RESTRICTED_CUT**2
        return is_full

    def is_accurate(self, most: float, /) -> Mask:
        """Whether rounding is magnified by at most so much: the trace of the inverse of the Gram matrix."""
        is_near: Mask = self.is_regular & (self.distance[-1] < _NEAR_IDENTITY)
        doubtful = flat_places(self.is_regular & ~is_near)
        if len(doubtful):
            factor = self.factor[:, :, doubtful]
            xp, identity = namespace(factor), like(np.eye(len(factor)), factor)[:, :, None]
            inverse = forward(factor, xp.broadcast_to(identity, tuple(factor.shape)))
            is_near[doubtful] = xp.einsum("ijp,ijp->p", inverse, inverse) <= most
        return is_near

    def principal(self, which: Index, size: int, /) -> tuple[Array, Index]:
        """Principal directions (pairs, size, size) of leading functions, orthonormal on the rows, 0 below the cut."""
        xp = namespace(self.factor)
        squares, directions = xp.linalg.eigh(xp.moveaxis(self.gram(which)[:size, :size], -1, 0))
        is_kept = squares > RESTRICTED_CUT**2
        scale = xp.where(is_kept, 1.0, 0.0) / xp.sqrt(xp.where(is_kept, squares, 1.0))
        return directions * scale[:, None, :], is_kept.sum(axis=1)

    def solve(self, right: Array, /) -> Array:
        """The leading functions (size, …, pairs), centred, made orthonormal."""
        return forward(self.factor[: len(right), : len(right)], right)


def _central(sums: Array, place: str, mixing: tuple[Array, Array] | None) -> tuple[Array, Array]:
    """Means (d, columns, masks) and central products (d, d, columns, masks) of functions, or of mixtures."""
    dimension = _dimension_of(len(sums))
    means, lower = sums[:dimension], np.tril_indices(dimension)
    gram = empty(f"gram {place}", (dimension, dimension, *sums.shape[1:]), sums)
    for product, i, j in zip(sums[dimension:], *lower, strict=True):
        gram[i, j] = gram[j, i] = product - means[i] * means[j]
    if mixing is not None:
        weights, intercepts = mixing
        means = mixed(weights, means) + intercepts.T[:, :, None]
        mix_both_ways(weights, gram)
    return means, gram


def _distance_from_identity(gram: Array) -> Array:
    """Length of G − I (dimension, …) for the leading 1, 2, … functions."""
    xp = namespace(gram)
    squares = xp.empty_like(gram[0])
    for j in range(len(gram)):
        squares[j] = 2 * sum_of_products(gram[j, :j], gram[j, :j]) + (gram[j, j] - 1.0) ** 2
    return cast(Array, xp.sqrt(xp.cumsum(squares, axis=0)))


def forward(factor: Array, right: Array, /) -> Array:
    """Solve L·z = right for lower triangular factors (d, d, pairs) and right sides (d, …, pairs)."""
    xp = namespace(factor)
    solved: Array = xp.empty(tuple(right.shape), dtype=factor.dtype, device=factor.device)
    for j in range(len(right)):
        solved[j] = (right[j] - sum_of_rows(factor[j, :j], solved[:j])) / factor[j, j]
    return solved


def leverage_bounds(side: Pairs, own: Array, n: Array, /) -> Array:
    """What the largest leverages (dimension, pairs) can be at most, ∞ where nothing is known.

    A row of the basis has a squared length of at most `own` (dimension, pairs), the largest leverage over a column's
    own rows times their number. On fewer rows the Gram matrix G is no longer the identity, and the inverse of its
    factor lengthens a row by at most 1/√(1 − |G − I|).
    """
    xp = namespace(side.means)
    shift = xp.sqrt(xp.cumsum(side.means**2, axis=0))
    with np.errstate(divide="ignore"):
        bound: Array = (xp.sqrt(own) + shift) ** 2 / xp.clip(1.0 - side.distance, 0.0, None) / n
    return bound


def sharp_leverage_bounds(side: Pairs, own: Array, n: Array, sizes: Sequence[int], /) -> Array:
    """The same for some sizes (sizes, pairs), by the smallest eigenvalues of the Gram matrices, which take longer."""
    gram = np.moveaxis(side.gram(np.arange(len(n))), -1, 0)
    smallest = np.array([np.linalg.eigvalsh(gram[:, :size, :size])[:, 0] for size in sizes])
    shift = np.sqrt(np.cumsum(side.means**2, axis=0))[np.array(sizes) - 1]
    with np.errstate(divide="ignore"):
        return np.asarray((np.sqrt(own) + shift) ** 2 / np.maximum(smallest, 0.0) / n)


def exact_leverages(basis: Basis, observed: Mask | None, masks: Mask, side: Pairs, /) -> Array:
    """Largest leverages (dimension, masks) of one column over the rows of each mask."""
    own = masks if observed is None else masks[observed]
    present = own if basis.codes is None else _cells_present(len(basis.table), basis.codes, own)
    return leverages_of_cells(basis.table, present, np.count_nonzero(own, axis=0), side)


def leverages_of_cells(table: Array, present: Mask, n: Index, side: Pairs, /) -> Array:
    """The same, given which cells (cells, masks) occur on the rows of each mask, and how many rows those are."""
    inverse = np.linalg.inv(np.moveaxis(side.factor, -1, 0))
    largest = np.empty((table.shape[1], len(n)))
    step = max(1, in_a_chunk(8 * table.size))
    for start in range(0, len(n), step):
        part = slice(start, start + step)
        shift = (inverse[part] @ side.means.T[part, :, np.newaxis]).swapaxes(1, 2)
        white = table @ inverse[part].swapaxes(1, 2) - shift
        white *= present.T[part, :, np.newaxis]
        largest[:, part] = np.cumsum(white**2, axis=2).max(axis=1).T
    return np.asarray(largest / np.maximum(n, 1))


def _cells_present(n_cells: int, codes: NDArray[np.integer[Any]], own: Mask) -> Mask:
    present = np.zeros((n_cells, own.shape[1]), dtype=bool)
    np.logical_or.at(present, codes, own)
    return present
