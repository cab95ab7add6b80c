"""One column of two tables as counts: how many rows of either have each of its values, or each cell of these."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import copula_basis, grid_cells
from renyi.basis.nested import levels_scales, number_scales
from renyi.basis.random_features import FIXED_DRAW
from renyi.basis.ranks import cells_of_groups, quantise
from renyi.compute.arrays import Array
from renyi.data.column import Column, Kind, Kinded
from renyi.data.types import shown
from renyi.errors import cut
from renyi.pair.independence import Crosses
from renyi.pair.prepare import DEFAULT_SETTINGS, Prepared


@dataclass(frozen=True, eq=False)
class Marginal(Kinded):
    """One column of two tables: the rows of either, in `counts` (2, cells), that have each of its values.

    Of numbers `values` are distinct, or the smallest of neighbouring ones that share a cell, in their order; of a
    category they are places among `levels`. Dates are numbers, counted from some day on where `is_time`. Where cells
    have several values, `frequent` is the cell, the value and the rows of the one that most rows of the second table
    have.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    counts: NDArray[np.int64]
    missing: tuple[int, int]
    levels: tuple[Hashable, ...] = ()
    is_time: bool = False
    frequent: tuple[int, Any, int] | None = None

    @classmethod
    def of(cls, column: Column, n_before: int, /) -> "tuple[Marginal, NDArray[Any]]":
        """A column of which the first rows are those of one table; and the cell of every row, −1 where missing."""
        gaps, known = column.gaps, column.known
        if column.is_category:
            codes: NDArray[Any] = np.asarray(known, dtype=np.intp)
            values: NDArray[Any] = np.arange(len(column.levels))
        else:
            copula = quantise(known)
            codes, values = copula.codes, np.empty(len(copula.counts), dtype=known.dtype)
            values[codes] = known
        n_known = int(np.count_nonzero(~gaps[:n_before]))
        counts = np.stack([np.bincount(part, minlength=len(values)) for part in (codes[:n_known], codes[n_known:])])
        missing = n_before - n_known, len(column) - n_before - (len(known) - n_known)
        is_time = column.values.dtype.kind in "Mm"
        found = cls(column.name, column.kind, values, counts, missing, column.levels, is_time)
        if column.missing is None:
            return found, codes
        places = np.full(len(column), -1, dtype=np.intp)
        places[~gaps] = codes
        return found, places

    @cached_property
    def n_known(self) -> tuple[int, int]:
        """Rows of either table that have a value."""
        before, after = self.counts.sum(axis=1).tolist()
        return before, after

    @cached_property
    def total(self) -> NDArray[np.int64]:
        """Rows of both tables."""
        return np.asarray(self.counts[0] + self.counts[1])

    @cached_property
    def numbers(self) -> Array:
        """Values as floats."""
        whole = self.values.view(np.int64) if self.values.dtype.kind in "Mm" else self.values
        return np.asarray(whole, dtype=np.float64)

    @property
    def middles(self) -> Array:
        """Mean ranks (2, cells) of the rows of every cell in either table; those of cells without rows mean nothing."""
        n = np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        return np.asarray((np.cumsum(self.counts, axis=1) - self.counts / 2) / n)

    @property
    def largest_share(self) -> float:
        """The share of the most frequent value, in the table where it is larger."""
        return float((self.counts.max(axis=1, initial=0) / np.maximum(self.counts.sum(axis=1), 1)).max())

    def called(self, cell: int, /) -> str:
        """A value as messages show it."""
        if self.levels:
            return cut(self.levels[int(self.values[cell])])
        value = self.frequent[1] if self.frequent is not None and self.frequent[0] == cell else self.values[cell]
        return shown(Column("", "number", self.values[:0]), value) if self.is_time else f"{float(value):.6g}"

    def against_table(self) -> tuple[Prepared, Prepared, Crosses]:
        """The column and the label of the table as a test sees them, and their mean products."""
        total, counts = self.total, self.counts
        if self.is_category:
            kept = total > 0
            scales = levels_scales(total[kept])
            own, counts = Prepared(scales.basis, scales), counts[:, kept]
        else:
            n = int(total.sum())
            projection = DEFAULT_SETTINGS.scalar_projection(n, FIXED_DRAW)
            known = np.flatnonzero(total)
            members = total[known]
            cells, starts = cells_of_groups(
                members, np.zeros(len(members), dtype=bool), n_cells=grid_cells(n, projection.roughest)
            )
            own = Prepared(DEFAULT_SETTINGS.of_rows(copula_basis(cells, projection)), number_scales(cells))
            counts = np.add.reduceat(counts[:, known], starts, axis=1)
        return _beside_label(own, counts)


def gaps_against_table(n_known: tuple[int, int], missing: tuple[int, int], /) -> tuple[Prepared, Prepared, Crosses]:
    """Missing cells and the label of the table, likewise."""
    counts = np.array([n_known, missing]).T
    scales = levels_scales(counts.sum(axis=0))
    return _beside_label(Prepared(scales.basis, scales), counts)


def _beside_label(own: Prepared, counts: NDArray[np.int64]) -> tuple[Prepared, Prepared, Crosses]:
    of_label = levels_scales(counts.sum(axis=1))
    label = Prepared(of_label.basis, of_label)
    means = counts.T @ label.basis.table / counts.sum()
    return own, label, Crosses(own.basis.table.T @ means, own.scales.basis.table.T @ means)
