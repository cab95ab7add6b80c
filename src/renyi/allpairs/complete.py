"""Coefficients and p-values of all pairs of two groups of columns without missing cells."""

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.sums import Sums
from renyi.basis.nested import Scales, have_few_ties
from renyi.compute.arrays import Array, Index, Mask, as_floats, at_least, gathered, like, namespace
from renyi.compute.eigenvalues import largest_root, most_of_root
from renyi.compute.threads import share
from renyi.inference import multiscale
from renyi.inference.many_pairs import log_pvalues, may_reach
from renyi.inference.multiscale import Block, NestedProducts
from renyi.inference.roy import are_many

# Of both sides (pairs, 2).
Dimensions: TypeAlias = NDArray[np.integer[Any]]


# Bounds and p-values of the null distribution are read from tables, which moves them by less.
_MARGIN = 1e-3


class CompletePairs:
    """Pairs of columns without missing cells.

    Where p-values above `at_most` are of no interest, pairs that cannot have a smaller one are told by bounds, which
    take a third of the time: their p-value is 1, and they have no coefficient.
    """

    def __init__(
        self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, sums: Sums, /, *, at_most: float = 1.0
    ) -> None:
        self._n_pairs, self._n = len(i), sums.n_rows
        self._sides, self._index = (x, y), (i, j)
        self._dimensions = x.coefficient.dimension, y.coefficient.dimension
        nested = NestedProducts(*(gathered(part, i, j) / self._n for part in sums.nested))
        self.first = as_floats(nested.corner[:, 0, 0])
        self.pearson = sums.pearson(i, j, self._n)
        family = multiscale.family(x.scales, y.scales)
        if at_most == 1.0:
            self.coefficient, roots = share(
                lambda of_all: of_all(),
                (partial(self._coefficients, gathered(sums.coefficient, i, j)), partial(nested.roots, family)),
                are_short_calls=True,
            )
            self.log_pvalue = self._log_pvalues(roots, family, slice(None))
            return
        log_most, bounds = float(np.log(at_most)), nested.roots(family, root=most_of_root)
        self.log_pvalue, likely = self._told_by_bounds(bounds, family, log_most)
        # NaN is of pairs without a null distribution.
        is_above = self._log_pvalues(bounds[likely], family, likely) > log_most + _MARGIN
        kept = np.sort(np.concatenate((likely[~is_above], np.flatnonzero(np.isnan(self.log_pvalue)))))
        self.coefficient = np.zeros_like(self.first)
        self.coefficient[kept] = self._coefficients(gathered(sums.coefficient, i[kept], j[kept]))
        self.log_pvalue[likely] = 0.0
        self.log_pvalue[kept] = self._log_pvalues(nested.take(kept).roots(family), family, kept)

    def _coefficients(self, sums: Array) -> Array:
        """From sums of products of some pairs."""
        xp = namespace(sums)
        found: Array = xp.sqrt(xp.clip(as_floats(largest_root(sums / self._n)), 0.0, 1.0))
        if sum(self._dimensions) >= self._n:
            found[:] = np.nan
        return found

    def _told_by_bounds(self, bounds: Array, family: Sequence[Block], log_most: float) -> tuple[Array, Index]:
        """0 for pairs that may have no p-value as small as this, NaN without null distributions; places of others."""
        x, y = self._sides
        may, has_null = may_reach(
            bounds,
            family,
            log_most,
            n=self._n,
            leverages=_of_pairs((x.leverages, y.leverages), self._index, bounds),
            are_numbers=x.scales.is_number and y.scales.is_number,
            share=multiscale.share_of(x.scales, y.scales),
            largest=multiscale.largest_leverages(x.scales, y.scales, self._n),
            tabulated=are_many(x.n_alike * y.n_alike),
        )
        if self._may_be_tied:
            has_null &= self._have_few_ties(slice(None))
        return np.where(has_null, 0.0, np.nan), np.flatnonzero(may & has_null)

    @property
    def _may_be_tied(self) -> bool:
        """Whether some pairs may have more ties than they must on few rows."""
        x, y = self._sides
        return self._n < multiscale.FEW_ROWS and not have_few_ties(x.ties.max(), y.ties.max())

    def _have_few_ties(self, which: Any) -> Any:
        """Whether some pairs have as few ties as they must on few rows."""
        return have_few_ties(
            *(like(side.ties, self.first)[own[which]] for side, own in zip(self._sides, self._index, strict=True))
        )

    def _log_pvalues(self, roots: Array, family: Sequence[Block], which: Any) -> Array:
        """Of some pairs."""
        (x, y), index = self._sides, (self._index[0][which], self._index[1][which])
        fewest = _of_pairs((-x.log_arrangements, -y.log_arrangements), index, roots)
        found, _ = log_pvalues_of_pairs(
            x.scales,
            y.scales,
            roots,
            family,
            n=self._n,
            leverages=_of_pairs((x.leverages, y.leverages), index, roots),
            log_arrangements=-at_least(*fewest),
            tabulated=are_many(x.n_alike * y.n_alike),
        )
        if self._may_be_tied:
            found[~self._have_few_ties(which)] = np.nan
        return found

    @property
    def n(self) -> Index:
        """Rows of every pair."""
        return cast(Index, self._every(self._n))

    @property
    def heavier(self) -> Array:
        """All rows are common, and weigh as much as they do."""
        return cast(Array, self._every(1.0))

    @property
    def dimensions(self) -> Dimensions:
        """Those of both sides."""
        return cast(Dimensions, self._every(self._dimensions))

    def _every(self, value: Any) -> Any:
        """The same for all pairs."""
        once = like(np.array(value), self.first)
        return namespace(once).broadcast_to(once, (self._n_pairs, *once.shape))


def _of_pairs(values: tuple[Array, Array], index: tuple[Index, Index], array: Array) -> tuple[Array, Array]:
    """What columns (…, columns) of both sides have, for every pair, beside an array; once where all have the same."""
    are_same = [bool((side == side[..., :1]).all()) for side in values]
    once = [side[..., :1] if same else side for side, same in zip(values, are_same, strict=True)]
    if all(are_same):
        return once[0], once[1]
    x, y = (
        like(side, array) if same else like(side, array)[..., columns]
        for side, same, columns in zip(once, are_same, index, strict=True)
    )
    return x, y


def log_pvalues_of_pairs(
    x: Scales,
    y: Scales,
    roots: Array,
    family: Sequence[Block],
    *,
    n: Index | int,
    leverages: tuple[Array, Array],
    log_arrangements: Array,
    tabulated: bool,
) -> tuple[Array, Mask]:
    """By theory; NaN where it does not hold, and whether all blocks were trusted."""
    return log_pvalues(
        roots,
        family,
        n=n,
        leverages=leverages,
        log_arrangements=log_arrangements,
        are_numbers=x.is_number and y.is_number,
        share=multiscale.share_of(x, y),
        largest=multiscale.largest_leverages(x, y, n),
        tabulated=tabulated,
    )
