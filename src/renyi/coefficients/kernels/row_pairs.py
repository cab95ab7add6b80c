"""Sums over all pairs of rows of distances or kernels, made a block at a time, and what centring takes off them.

Distance covariance and HSIC are the same sum of two centred matrices (Sejdinovic et al. 2013,
https://doi.org/10.1214/13-AOS1140). With a_ij and b_ij their entries, row sums a_i and b_i, and totals a and b,

    biased     Σ_ij a_ij b_ij − (2/n) Σ_i a_i b_i + ab/n²,
    unbiased   the same for the off-diagonal entries, with 2/(n − 2) and 1/((n − 1)(n − 2)).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from renyi.compute.arrays import Array, Index

# Up to so many rows all entries are kept: 8 MiB.
MOST_KEPT = 1024
# A block of so many rows and columns stays in the cache with its partner and what they are made from.
_ROWS, _COLUMNS = 64, 512


@dataclass(frozen=True, eq=False)
class RowPairs:
    """A symmetric matrix whose entries are a function of squared distances between rows of `points` (n, d).

    `entry` works in place. `kept` are all entries, where they are few.
    """

    points: Array
    entry: Callable[[Array], Array]
    kept: Array | None = None

    def block(self, rows: slice, columns: slice, /) -> Array:
        """Entries of some rows and columns."""
        if self.kept is not None:
            return self.kept[rows, columns]
        if self.points.shape[1] == 1:
            squared = np.subtract.outer(self.points[rows, 0], self.points[columns, 0])
            return self.entry(np.multiply(squared, squared, out=squared))
        return self.entry(cdist(self.points[rows], self.points[columns], "sqeuclidean"))

    def reordered(self, order: Index, /) -> "RowPairs":
        """Row i is row order[i] of these."""
        return RowPairs(self.points[order], self.entry, None if self.kept is None else _turned(self.kept, order))


class Margins(NamedTuple):
    """What centring a matrix needs: row sums as deviations from their mean, the total, and the constant diagonal."""

    deviations: Array
    total: float
    diagonal: float

    def centred_diagonal(self) -> Array:
        """The diagonal of the centred matrix: how remote each row is, up to its sign."""
        n = len(self.deviations)
        return np.asarray(self.diagonal - self.total / n**2 - 2.0 * self.deviations / n)

    def reordered(self, order: Index, /) -> "Margins":
        """Row i is row order[i] of these."""
        return self._replace(deviations=self.deviations[order])


class Standardised(NamedTuple):
    """Columns of mean or median 0 whose largest number is 1, in units of `size`·2^`exponent`."""

    points: Array
    size: float
    exponent: int


def standardised(values: Array, /, *, about_median: bool = False) -> Standardised:
    """Columns of mean 0, in units that make the largest number 1: no square overflows, and few digits are lost.

    About the median instead, all numbers near it keep their digits, however far away the largest is.
    """
    columns = values.reshape(len(values), -1)
    # A power of two first: a mean of numbers near the largest float would overflow. Two steps, for 2^1074 is no float.
    exponent = int(np.frexp(np.abs(columns).max())[1])
    columns = np.ldexp(np.ldexp(columns, -(exponent // 2)), -(exponent - exponent // 2))
    columns = columns - (np.sort(columns, axis=0)[(len(columns) - 1) // 2] if about_median else columns.mean(axis=0))
    size = float(np.abs(columns).max())
    return Standardised(columns / size, size, exponent)


def keep(pairs: RowPairs, /) -> RowPairs:
    """The same, with all entries kept where they are few."""
    n = len(pairs.points)
    if n > MOST_KEPT:
        return pairs
    return RowPairs(pairs.points, pairs.entry, pairs.block(slice(0, n), slice(0, n)))


def margins(pairs: RowPairs, /) -> tuple[Margins, float]:
    """Margins, and the sum of squared entries."""
    n = len(pairs.points)
    sums, squares = np.zeros(n), 0.0
    for rows, columns in _blocks(n):
        block = pairs.block(rows, columns)
        sums[rows] += block.sum(axis=1)
        squares += _twice_off_diagonal(rows, columns) * float(np.vdot(block, block))
        if rows != columns:
            sums[columns] += block.sum(axis=0)
    diagonal = float(pairs.entry(np.zeros((1, 1)))[0, 0])
    return Margins(sums - sums.mean(), float(sums.sum()), diagonal), squares


def products(x: RowPairs, y: RowPairs, orders: Index | None = None, /) -> Array:
    """Σ_ij a_ij b_ij, y being in each of several orders (m, n), or as it is."""
    if orders is None:
        return np.array([_product(x, y)])
    if x.kept is None or y.kept is None:
        return np.array([_product(x, y.reordered(order)) for order in orders])
    return np.array([np.vdot(x.kept, _turned(y.kept, order)) for order in orders])


def _product(x: RowPairs, y: RowPairs) -> float:
    n = len(x.points)
    if x.kept is not None and y.kept is not None:
        return float(np.vdot(x.kept, y.kept))
    return sum(
        _twice_off_diagonal(rows, columns) * float(np.vdot(x.block(rows, columns), y.block(rows, columns)))
        for rows, columns in _blocks(n)
    )


def centred_sum(product: Array, x: Margins, y: Margins, shared: Array, /) -> Array:
    """The biased sum from Σ a_ij b_ij, given `shared`, the sum of products of the two rows' deviations."""
    n = len(x.deviations)
    # Deviations of row sums from their mean leave one term to subtract where the formula adds and subtracts two.
    return np.asarray(product - x.total * y.total / n**2 - 2.0 * shared / n)


def unbiased_sum(centred: Array, x: Margins, y: Margins, shared: Array, /) -> Array:
    """The unbiased sum from the biased one: n(n − 3) times the U-statistic. Needs n of 4 or more."""
    n = len(x.deviations)
    within = n * x.diagonal * y.diagonal
    off_diagonal = (x.total - n * x.diagonal) * (y.total - n * y.diagonal)
    product = centred + (x.total * y.total / n**2 - within) + 2.0 * shared / n
    return np.asarray(product - off_diagonal / (n * (n - 1.0)) - 2.0 * shared / (n - 2.0))


def _blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the blocks on and above the diagonal; those on it are squares."""
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        rows = slice(start, stop)
        yield rows, rows
        for first in range(stop, n, _COLUMNS):
            yield rows, slice(first, min(first + _COLUMNS, n))


def _twice_off_diagonal(rows: slice, columns: slice) -> float:
    return 1.0 if rows == columns else 2.0


def _turned(matrix: Array, order: Index) -> Array:
    """Rows and columns in a new order."""
    return np.take(matrix[order], order, axis=1)
