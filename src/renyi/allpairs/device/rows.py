"""Rows on a device, as comparing asks for them: sums of a tile, both sides of pairs with gaps, and single pairs."""

from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.common_rows import Side, by_column
from renyi.allpairs.compare import Pair, left_of_cells, pair_of_sums
from renyi.allpairs.device.groups import Gaps
from renyi.allpairs.device.stack import DeviceStack, Observed
from renyi.allpairs.device.values import DeviceValues
from renyi.allpairs.masked_gram import Pairs, Whitened, leverages_of_cells
from renyi.allpairs.sums import Sums
from renyi.compute.arrays import Array, Index, in_memory, like, log_factorials
from renyi.data.column import Column
from renyi.pair.prepare import Prepared, together

Tensor: TypeAlias = Any


class RowsOnDevice:
    """Rows on a device."""

    can_wait = can_be_cut = False

    def __init__(self) -> None:
        self._last: tuple[ColumnGroup, ColumnGroup, Sums] | None = None

    def sums(self, x: ColumnGroup, y: ColumnGroup, /) -> Sums:
        if self._last is None or self._last[:2] != (x, y):
            self._last = None  # what it takes is free before there is more
            self._last = x, y, _summed(x, y)
        return self._last[2]

    def sides(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        return DeviceSide.both(x, y, i, j)

    def pair(self, x: ColumnGroup, y: ColumnGroup, a: int, b: int, /) -> Pair:
        if x.scales.is_vector or y.scales.is_vector:
            return _pair_of_rows(x, y, a, b)
        own, other, left, n = x.variables[a], y.variables[b], None, x.n_rows
        if not (x.is_complete and y.is_complete):
            of_x, of_y = _left(x, y, a, b), _left(y, x, b, a)
            left, n = (left_of_cells(own.prepared, of_x), left_of_cells(other.prepared, of_y)), int(of_x.sum())
        if self._last is not None and self._last[:2] == (x, y):
            crosses = self._last[2].of_pair(a, b, n)
        else:
            alone = x.part(slice(a, a + 1)), y.part(slice(b, b + 1))
            crosses = _summed(*alone).of_pair(0, 0, n)
        return pair_of_sums(own, other, crosses, left, n)


def _summed(x: ColumnGroup, y: ColumnGroup) -> Sums:
    """Sums over all rows; where cells are missing also those of values, on the rows that the other side has."""
    sums = Sums.of(x, y)
    if x.is_complete and y.is_complete:
        return sums
    values = cast(tuple[DeviceValues, DeviceValues], (x.values, y.values))
    of_x = _stacked(values[0], _observed(y))
    return replace(sums, moments=(of_x, of_x if x is y else _stacked(values[1], _observed(x))))


def _stacked(values: DeviceValues, observed: Observed) -> Tensor:
    import torch

    return torch.stack([part.products(observed)[..., 0, 0] for part in (values, values.squared())])


def _observed(group: ColumnGroup) -> Observed:
    return Observed(cast(DeviceStack, group.corner))


def _left(own: ColumnGroup, other: ColumnGroup, column: int, partner: int) -> Index:
    """Rows of the cells of a column that a column of the other side has."""
    import torch

    stack = cast(DeviceStack, own.corner)
    cells = stack.cells(column)[_observed(other).of_column(partner)]
    return cast(Index, in_memory(torch.bincount(cells, minlength=stack.sizes[column])[:-1]))


def _pair_of_rows(x: ColumnGroup, y: ColumnGroup, a: int, b: int) -> Pair:
    """One pair by its rows, which come into memory: those of a vector are functions of no cells."""
    (column_x, of_x), (column_y, of_y) = (_in_memory(side, k) for side, k in ((x, a), (y, b)))
    return *together((column_x, column_y), (of_x, of_y)), None


def _in_memory(group: ColumnGroup, column: int) -> tuple[Column, Prepared]:
    variable, stack = group.variables[column], cast(DeviceStack, group.corner)
    if variable.column.is_vector:
        return variable.column, variable.prepared
    codes = in_memory(stack.cells(column)).astype(np.intp)
    is_missing = codes == stack.sizes[column] - 1
    prepared, own = variable.prepared, codes[~is_missing]
    basis, nested = (replace(part, codes=own, counts=None) for part in (prepared.basis, prepared.scales.basis))
    stub = replace(variable.column, values=codes, missing=is_missing if is_missing.any() else None)
    return stub, Prepared(basis, replace(prepared.scales, basis=nested))


class DeviceSide(Side):
    """One side of pairs with missing cells: what is summed over the rows that the columns of the other side have."""

    def __init__(self, group: ColumnGroup, columns: Index, which: Index, n: Array, other: ColumnGroup, /) -> None:
        super().__init__(group, columns, which, n)
        self._other, self._means = other, None

    @classmethod
    def both(cls, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        """Both sides of the pairs (i, j)."""
        n = _observed(x).products(_observed(y))[..., 0, 0].double()
        i, j = like(i, n), like(j, n)
        return cls(x, i, j, n, y), cls(y, j, i, n.T, x)

    @property
    def _gaps(self) -> Gaps:
        return cast(Gaps, self.group.gaps)

    def _sums(self, stack: DeviceStack) -> Tensor:
        """Sums (functions, columns, masks) over the rows of every column of the other side."""
        return stack.products(_observed(self._other))[..., 0].permute(2, 0, 1).double()

    def _moments(self) -> Tensor:
        """Means (1 + moments, columns, masks)."""
        import torch

        if self._means is None:
            means = self._sums(self._gaps.functions) / self._n
            self._means = torch.cat((torch.ones_like(means[:1]), means))
        return self._means

    def whitened_coefficient(self, place: str, /) -> Whitened:
        gaps = self._gaps
        if gaps.coefficient is not None:
            return Whitened.of_sums(self._sums(gaps.coefficient), self._n, place=place)
        return Whitened.of_recipes(self._moments(), gaps.recipes, place=place)

    def whitened_nested(self, place: str, /) -> Whitened:
        gaps = self._gaps
        if gaps.moments is None:
            return Whitened.of_sums(self._sums(gaps.functions), self._n, place=place)
        return Whitened.of_smooth(gaps.moments, self._moments(), gaps.weights, gaps.intercepts, place=place)

    def exact_leverages(self, white: Pairs, pairs: Index, /) -> Array:
        largest = np.full((self.group.scales.basis.dimension, len(self.columns)), np.nan)
        columns, which = in_memory(self.columns), in_memory(self._which)
        for column, of_column in by_column(columns, in_memory(pairs)):
            left = np.stack([_left(self.group, self._other, column, int(which[k])) for k in of_column], axis=1)
            table = self.group.variables[column].scales.basis.table
            largest[:, of_column] = leverages_of_cells(
                table, left > 0, left.sum(axis=0), white.take(like(of_column, white.factor)).in_memory()
            )
        found: Array = like(largest, white.factor)
        return found

    def log_arrangements(self, pair: int, /) -> float:
        left = _left(self.group, self._other, int(self.columns[pair]), int(self._which[pair]))
        return float(log_factorials(float(left.sum())) - np.sum(log_factorials(left)))
