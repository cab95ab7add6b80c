"""Means of the moments of many columns, over the rows that others have: what pairwise deletion is made of.

The functions at every cell of a table take as long as all of their products with masks, so that they are better made
once for all columns than once for every tile, as long as the means of all pairs fit into memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.stack import fine_chunks, precision
from renyi.basis.cosine import Smooth
from renyi.basis.product_moments import Moments
from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.threads import keep_going, stream

# Observed rows (rows, masks).
Masks: TypeAlias = Mask

_MOST_BYTES = 2**28
# Columns whose functions are made at once: enough for BLAS, and several turns for every core.
_COLUMNS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class MaskedMoments:
    """Means of moments (1 + moments, columns, masks) of all columns of a group over the rows of all masks of the table.

    `columns` are the places of some columns among those of the group, `masks` those of the masks of the whole table.
    """

    moments: Moments
    means: Array
    columns: Index
    masks: Index

    @classmethod
    def of(
        cls,
        moments: Moments,
        smooth: Sequence[Smooth],
        codes: Sequence[NDArray[Any]],
        missing: Sequence[Mask | None],
        table: tuple[Masks, Index],
        /,
    ) -> "MaskedMoments | None":
        """Of all columns, in threads, given the distinct masks of the table; None where that takes too much memory."""
        masks, which = table
        n_rows, shape = len(masks), (1 + moments.n_moments, len(smooth), masks.shape[1])
        if 8 * np.prod(shape, dtype=np.float64) > _MOST_BYTES:
            return None
        observed, means = observed_rows(missing, n_rows), np.empty(shape)

        def fill(columns: slice) -> None:
            own = observed[columns]
            n = own.astype(precision(n_rows)) @ masks
            means[:, columns] = means_of_moments(
                moments, smooth[columns], codes[columns], observed=own, masks=masks, n=n.astype(np.float64)
            )

        for _ in stream(fill, [slice(k, k + _COLUMNS_AT_ONCE) for k in range(0, len(smooth), _COLUMNS_AT_ONCE)]):
            pass
        return cls(moments, means, np.arange(len(smooth)), which)

    def part(self, columns: slice, /) -> "MaskedMoments":
        """Those of some of the columns."""
        return replace(self, columns=self.columns[columns])

    def over(self, positions: Index, /) -> Array:
        """Means over the rows that columns at some positions of the table have."""
        return self.means[:, self.columns[:, np.newaxis], self.masks[positions]]


def observed_rows(missing: Sequence[Mask | None], n_rows: int, /) -> Mask:
    """Rows that are observed (columns, rows)."""
    return np.array([np.ones(n_rows, dtype=bool) if gaps is None else ~gaps for gaps in missing])


def distinct_masks(missing: Sequence[Mask | None], n_rows: int, /) -> tuple[Masks, Index]:
    """Rows that are observed (rows, masks), every mask once, and which one a column has."""
    observed = observed_rows(missing, n_rows)
    # Not by sorting them, for which NumPy makes a type of as many fields as a mask has bytes.
    numbers: dict[bytes, int] = {}
    which = np.array([numbers.setdefault(mask.tobytes(), len(numbers)) for mask in np.packbits(observed, axis=1)])
    return observed[np.unique(which, return_index=True)[1]].T, which


def means_of_moments(
    moments: Moments,
    smooth: Sequence[Smooth],
    codes: Sequence[NDArray[Any]],
    /,
    *,
    observed: Mask,
    masks: Masks,
    n: Array,
) -> Array:
    """Means (1 + moments, columns, masks) of a constant and the moments; `observed` (columns, rows) are own rows."""
    n_rows = len(masks)
    kind = precision(n_rows)
    sums = np.zeros((moments.n_moments * len(smooth), masks.shape[1]))
    for rows in fine_chunks(n_rows, moments.n_moments * len(smooth) * 8):
        keep_going()
        # Missing rows have a code beyond the last cell, and no part in what follows.
        u = np.stack([np.take(s.middles, c[rows], mode="clip") for s, c in zip(smooth, codes, strict=True)])
        planes = moments.planes(u, observed[:, rows], dtype=kind)
        sums += planes.reshape(len(sums), -1) @ masks[rows].astype(kind)
    means = np.ones((1 + moments.n_moments, *n.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(sums.reshape(-1, *n.shape), n, out=means[1:])
    return means
