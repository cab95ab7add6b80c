"""Coefficients and p-values of all pairs of two groups of columns without missing cells."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.sums import Sums
from renyi.basis.nested import Scales
from renyi.compute.arrays import Array, Index, Mask, at_least, gathered, like, namespace
from renyi.inference import multiscale
from renyi.inference.many_pairs import log_pvalues
from renyi.inference.multiscale import Block, NestedProducts, largest_root

__all__ = ["CompletePairs", "log_pvalues_of_pairs"]

# Of both sides (pairs, 2).
Ranks: TypeAlias = NDArray[np.integer[Any]]


class CompletePairs:
    """Pairs of columns without missing cells."""

    def __init__(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, sums: Sums, /) -> None:
        self._n_pairs, self._n = len(i), sums.n_rows
        self._ranks = x.coefficient.rank, y.coefficient.rank
        self.cross = cross = gathered(sums.coefficient, i, j) / self._n
        xp = namespace(cross)
        self.coefficient: Array = xp.sqrt(xp.clip(largest_root(cross), 0.0, 1.0))
        if sum(self._ranks) >= self._n:
            self.coefficient[:] = np.nan
        nested = NestedProducts(*(gathered(part, i, j) / self._n for part in sums.nested))
        self.first = nested.corner[:, 0, 0]
        self.pearson = sums.pearson(i, j, self._n)
        family = multiscale.family(x.scales, y.scales)
        fewest = _of_pairs((-_arrangements(x), -_arrangements(y)), (i, j), cross)
        self.log_pvalue, _ = log_pvalues_of_pairs(
            x.scales,
            y.scales,
            nested.roots(family),
            family,
            n=self._n,
            leverages=_of_pairs((x.leverages, y.leverages), (i, j), cross),
            log_arrangements=-at_least(*fewest),
        )
        if self._n < multiscale.FEW_ROWS:
            few = [np.array([variable.scales.has_few_ties for variable in side.variables]) for side in (x, y)]
            self.log_pvalue[~(like(few[0], cross)[i] & like(few[1], cross)[j])] = np.nan

    @property
    def n(self) -> Index:
        """Rows of every pair."""
        return cast(Index, self._every(self._n))

    @property
    def heavier(self) -> Array:
        """All rows are common, and weigh as much as they do."""
        return cast(Array, self._every(1.0))

    @property
    def ranks(self) -> Ranks:
        """Those of both sides."""
        return cast(Ranks, self._every(self._ranks))

    def _every(self, value: Any) -> Any:
        """The same for all pairs."""
        once = like(np.array(value), self.cross)
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


def _arrangements(group: ColumnGroup) -> Array:
    return np.array([variable.scales.log_arrangements for variable in group.variables])


def log_pvalues_of_pairs(
    x: Scales,
    y: Scales,
    roots: Array,
    family: Sequence[Block],
    *,
    n: Index | int,
    leverages: tuple[Array, Array],
    log_arrangements: Array,
) -> tuple[Array, Mask]:
    """By the law; NaN where it does not hold, and whether all blocks were trusted."""
    return log_pvalues(
        roots,
        family,
        n=n,
        leverages=leverages,
        log_arrangements=log_arrangements,
        are_numbers=x.kind == y.kind == "number",
        share=multiscale.share_of(x, y),
        largest=multiscale.largest_leverages(x, y, n),
    )
