"""Sums over all pairs of |x_i − x_j|·|y_i − y_j| for scalars, in O(n log n): inversions counted with weights.

Take the rows in the order of x. A pair i before k has (x_k − x_i)(y_k − y_i) with a sign, which is negative where
y_i > y_k, an inversion. All that is not linear is then the sum over k of x_k·g_k, where g_k adds y_k − y_i over rows i
before k whose y is greater (after Huo and Székely 2016, https://doi.org/10.1080/00401706.2015.1054435, and Chaudhuri
and Hu 2019, https://doi.org/10.1016/j.csda.2019.01.016, who merge where this splits). Equal values add nothing, so that
ties may be broken at will.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, in_parts
from renyi.compute.sorting import inverse

Number = TypeVar("Number", np.float64, np.int32)

# Groups of so few rows are compared one by one, which is faster than to split them further.
_FEW = 16
# Orders are taken together up to so many rows in all: more would leave the cache.
_TOGETHER = 2**14


@dataclass(frozen=True, eq=False)
class SortedScalars:
    """Numbers of mean 0 in their order: row `order[k]` has the value `values[k]`, and row i the place `ranks[i]`."""

    values: Array
    order: Index
    ranks: Index

    @property
    def rows(self) -> Array:
        """The numbers, row by row."""
        return self.values[self.ranks]

    def row_sums(self) -> Array:
        """Σ_j |x_i − x_j| for every row: differences to smaller numbers, and to greater ones."""
        n = len(self.values)
        before = np.cumsum(self.values) - self.values
        sums: Array = (2.0 * np.arange(n) - n) * self.values + self.values.sum() - 2.0 * before
        return sums[self.ranks]

    def reordered(self, order: Index, /) -> "SortedScalars":
        """The same numbers, row i being row order[i] of these."""
        ranks = self.ranks[order]
        return SortedScalars(self.values, inverse(ranks), ranks)


def sort_scalars(values: Array, /) -> SortedScalars:
    """Numbers whose mean is 0, sorted."""
    order = np.argsort(values)
    return SortedScalars(values[order], order, inverse(order))


def distance_products(x: SortedScalars, y: SortedScalars, orders: Index, /) -> Array:
    """Σ_ij |x_i − x_j|·|y_i − y_j|, y being in each of several orders (m, n)."""
    together = max(1, _TOGETHER // len(x.values))
    batches = in_parts(orders, together)
    # The place in y for each place in x.
    return np.concatenate([_absolute_products(x, y, y.ranks[batch[:, x.order]]) for batch in batches])


def _absolute_products(x: SortedScalars, y: SortedScalars, ranks: Index) -> Array:
    n = len(x.values)
    paired = y.values[ranks]
    # What is greater *behind* a row follows from what is greater before it: all smaller values, and all rows before,
    # add up to known sums. These parts are linear in y.
    places = np.arange(n)
    smaller = places * y.values - (np.cumsum(y.values) - y.values)
    before = places * x.values + np.cumsum(x.values)
    linear = smaller[ranks] @ x.values - paired @ before
    discordant = 2.0 * _weighted_inversions(x.values, y.values, ranks) + linear
    return np.asarray(2.0 * n * (paired @ x.values) - 4.0 * discordant)


def _weighted_inversions(x: Array, y: Array, ranks: Index) -> Array:
    """Σ_k x_k·g_k, with g_k the sum of y_k − y_i over rows i before k of greater y, for each row of `ranks`."""
    m, n = ranks.shape
    n_levels = max(0, int(np.ceil(np.log2(n / _FEW))))
    size = -(-n // (1 << n_levels))
    length = size << n_levels
    # Rows that fill up the groups come last in both orders: no inversion has them.
    filled = ((0, 0), (0, length - n))
    weights = np.pad(np.broadcast_to(x, (m, n)), filled).ravel()
    values = np.pad(y[ranks], filled, constant_values=y[-1]).ravel()
    last = np.broadcast_to(np.arange(n, length), (m, length - n))
    groups = (np.hstack((ranks, last)) // size).astype(np.int32).ravel()
    total = np.zeros(m)
    for level in range(n_levels - 1, -1, -1):
        half = size << level
        is_upper = (groups & (1 << level)).astype(bool)
        upper, lower = np.flatnonzero(is_upper), np.flatnonzero(~is_upper)
        total += _between_halves(weights[lower], values[lower], values[upper], lower, half).reshape(m, -1).sum(axis=1)
        # Each group holds as many of its upper half as of its lower: both stay in the order of x.
        weights, values = _side_by_side(weights, lower, upper, half), _side_by_side(values, lower, upper, half)
        groups = _side_by_side(groups, lower, upper, half)
    within = _within_groups(weights.reshape(-1, size), values.reshape(-1, size))
    return np.asarray(total + within.reshape(m, -1).sum(axis=1))


def _between_halves(weights: Array, values: Array, greater: Array, places: Index, half: int) -> Array:
    """x_k·g_k over the upper half of the group of k, for all k of lower halves, which are at `places`."""
    n_groups = len(values) // half
    sums = np.zeros(len(greater) + 1)
    np.cumsum(greater, out=sums[1:])
    # Of all rows before k, those that are not in a lower half are in an upper one.
    before = places - np.arange(len(places))
    starts = np.arange(n_groups) * half
    found = sums[before].reshape(n_groups, half) - sums[starts][:, None]
    counts = before.reshape(n_groups, half) - starts[:, None]
    gaps = values.reshape(n_groups, half) * counts - found
    return np.asarray(weights.reshape(n_groups, half) * gaps)


def _side_by_side(array: NDArray[Number], lower: Index, upper: Index, half: int) -> NDArray[Number]:
    """Groups split in two: the lower half of each, then its upper half."""
    return np.stack((array[lower].reshape(-1, half), array[upper].reshape(-1, half)), axis=1).ravel()


def _within_groups(weights: Array, values: Array) -> Array:
    """Σ_k x_k·g_k within each small group (a row), pair by pair."""
    turned = np.ascontiguousarray(values.T)
    total = np.zeros(len(values))
    for k in range(1, len(turned)):
        gaps = turned[k] - turned[:k]
        total += weights[:, k] * np.minimum(gaps, 0.0, out=gaps).sum(axis=0)
    return total
