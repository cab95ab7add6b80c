"""What the rows of a side hold: their order, which of them are equal, and how many arrangements they have."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from renyi.basis.basis import Basis
from renyi.basis.ranks import joint_ranks
from renyi.compute.arrays import Array, Index, Mask
from renyi.inference.correlation_null import log_of_overlap


@dataclass(frozen=True, eq=False)
class Rows:
    """Numbers (n,) or (n, d) as they came, for what neither their order nor that of the sides may change."""

    values: Array

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def order(self) -> Index:
        """The order that sorts the rows, by the first coordinate first."""
        if self.values.ndim == 1:
            return np.argsort(self.values, kind="stable")
        return np.lexsort(self.values.T[::-1])

    @cached_property
    def codes(self) -> Index:
        """The place of every row among the distinct ones."""
        ordered = self.values[self.order].reshape(len(self), -1)
        starts_group = np.append(False, (ordered[1:] != ordered[:-1]).any(axis=1))
        codes = np.empty(len(self), dtype=np.intp)
        codes[self.order] = np.cumsum(starts_group)
        return codes

    @cached_property
    def counts(self) -> Index:
        """How many rows every distinct one stands for."""
        if self.values.ndim > 1:
            return np.bincount(self.codes)
        # To sort numbers takes a tenth of finding their order.
        ordered = np.sort(self.values)
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        return np.diff(starts, prepend=0, append=len(self))

    @property
    def ties(self) -> float:
        """Share of equal ones among all pairs of rows."""
        n = len(self)
        return float(np.sum(self.counts * (self.counts - 1.0)) / (n * (n - 1.0)))

    @cached_property
    def log_arrangements(self) -> float:
        """Logarithm of the number of distinct orders of the rows."""
        return float(gammaln(len(self) + 1.0) - np.sum(gammaln(self.counts + 1.0)))

    @cached_property
    def flagged(self) -> Mask | None:
        """Where the larger of two values is; None where there are more than two."""
        if self.values.ndim > 1 and self.values.shape[1] > 1:
            return None
        values = self.values.ravel()
        is_largest = values == values.max()
        return is_largest if (is_largest | (values == values.min())).all() else None

    def content(self, *, by_ranks: bool) -> bytes:
        """What the rows hold in their own order, as something that can be compared; by ranks alone if these are all."""
        ordered = self.values[self.order]
        # Both zeros are one number.
        return (joint_ranks(ordered.reshape(len(self), -1)) if by_ranks else ordered + 0.0).tobytes()

    def basis(self, scores: Array, /) -> Basis:
        """Scores (n, d) of mean 0 and mean square 1, of which equal rows have the same, by the cells of these rows."""
        table = np.empty((len(self.counts), scores.shape[1]))
        table[self.codes] = scores
        return Basis(table, self.codes, None)


def log_pvalue_of_flags(x: Mask, y: Mask, /) -> float:
    """Logarithm of the exact p-value of the correlation of two columns of two values each."""
    sizes = int(np.count_nonzero(x)), int(np.count_nonzero(y))
    return log_of_overlap(len(x), sizes, int(np.count_nonzero(x & y)))
