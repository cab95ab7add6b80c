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
from renyi.compute.arrays import Array, Index, in_memory, in_parts, like, log_factorials, namespace
from renyi.compute.eigenvalues import largest_root
from renyi.data.column import Column
from renyi.pair.prepare import Prepared, together

Tensor: TypeAlias = Any
# Columns of both sides.
Block: TypeAlias = tuple[Index, Index]

# Pairs with a larger squared canonical correlation are multiplied in float64 where all others are in halves of their
# digits, whose sums of squares are off by 1·10⁻⁵: below, that is 5·10⁻⁵ of log p, and more without bound above.
_STRONG = 0.8
# So many columns of a side at a time: of all pairs products take four times as long as in halves, whatever this is.
_STRONG_AT_ONCE = 128


class RowsOnDevice:
    """Rows on a device."""

    can_wait = can_be_cut = False

    def __init__(self) -> None:
        self._last: tuple[ColumnGroup, ColumnGroup, tuple[Sums, list[Block]]] | None = None

    def sums(self, x: ColumnGroup, y: ColumnGroup, /) -> Sums:
        if self._last is None or self._last[:2] != (x, y):
            self._last = None  # what it takes is free before there is more
            sums = _summed(x, y)
            self._last = x, y, (sums, _mended(x, y, sums))
        return self._last[2][0]

    def sides(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        if self._last is None or self._last[:2] != (x, y):
            return DeviceSide.both(x, y, i, j, _common(x, y), strong=[])
        sums, strong = self._last[2]
        return DeviceSide.both(x, y, i, j, sums.common, strong=strong)

    def pair(self, x: ColumnGroup, y: ColumnGroup, a: int, b: int, /) -> Pair:
        if x.scales.is_vector or y.scales.is_vector:
            return _pair_of_rows(x, y, a, b)
        own, other, left, n = x.variables[a], y.variables[b], None, x.n_rows
        if not (x.is_complete and y.is_complete):
            of_x, of_y = _left(x, y, a, b), _left(y, x, b, a)
            left, n = (left_of_cells(own.prepared, of_x), left_of_cells(other.prepared, of_y)), int(of_x.sum())
        if self._last is not None and self._last[:2] == (x, y):
            crosses = self._last[2][0].of_pair(a, b, n)
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
    moments = of_x, of_x if x is y else _stacked(values[1], _observed(x))
    return replace(sums, moments=moments, common=_common(x, y))


def _common(x: ColumnGroup, y: ColumnGroup) -> Tensor:
    """Rows that columns of both sides have."""
    return _observed(x).products(_observed(y))[..., 0, 0].double()


def _mended(x: ColumnGroup, y: ColumnGroup, sums: Sums) -> list[Block]:
    """Take sums of the strongest pairs again, in float64, and say which; few columns of x at a time.

    Columns that go with these come with all of them: many pairs at once take less time than few by themselves.
    """
    stacks = cast(list[tuple[DeviceStack, DeviceStack]], [(x.coefficient, y.coefficient), (x.corner, y.corner)])
    if not any(own.is_in_halves and other.is_in_halves for own, other in stacks):
        return []
    blocks = []
    i, j = (in_memory(index) for index in _strong(sums, above=x is y))
    for some in in_parts(np.unique(i), _STRONG_AT_ONCE):
        beside = np.unique(j[np.isin(i, some)])
        again = Sums.of(_exact(x, some), _exact(y, beside))
        blocks.append((some, beside))
        parts: list[tuple[Any, Any]] = list(
            zip((sums.coefficient, *sums.nested), (again.coefficient, *again.nested), strict=True)
        )
        for own, exact in parts:
            own[like(some, own)[:, None], like(beside, own)] = exact.to(own.dtype)
    return blocks


def _strong(sums: Sums, *, above: bool) -> tuple[Tensor, Tensor]:
    """Columns of pairs, above the diagonal or all, of which some squared canonical correlation may be large."""
    n: Any = sums.n_rows if sums.common is None else sums.common
    parts: list[Any] = [sums.coefficient, *sums.nested]
    is_strong = parts[0].new_zeros(parts[0].shape[:2]).bool()
    for part in parts:
        lengths = namespace(part).linalg.vector_norm(part.movedim((0, 1), (-2, -1)).flatten(0, -3), dim=0)
        may_be = lengths > n * _STRONG**0.5
        if part.ndim == 4:
            # All of a matrix may be much larger than its largest root.
            i, j = (may_be.triu(1) if above else may_be).nonzero(as_tuple=True)
            common = n if sums.common is None else n[i, j]
            if len(i):
                may_be[i, j] = largest_root(part[i, j].double()) > _STRONG * common**2
        is_strong |= may_be
    found: tuple[Tensor, Tensor] = (is_strong.triu(1) if above else is_strong).nonzero(as_tuple=True)
    return found


def _exact(group: ColumnGroup, columns: Index) -> ColumnGroup:
    """Some columns, whose products are taken in float64."""
    stacks = [cast(DeviceStack, part).exact(columns) for part in (group.coefficient, group.corner)]
    rest = None if group.rest is None else cast(DeviceStack, group.rest).exact(columns)
    variables = tuple(group.variables[k] for k in columns.tolist())
    return ColumnGroup(group.positions[columns], variables, stacks[0], stacks[1], rest, ())


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

    def __init__(
        self, group: ColumnGroup, columns: Index, which: Index, n: Array, other: ColumnGroup, /, *, strong: list[Block]
    ) -> None:
        super().__init__(group, columns, which, n)
        self._other, self._strong, self._means = other, strong, None

    @classmethod
    def both(
        cls, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, n: Any, /, *, strong: list[Block]
    ) -> tuple[Side, Side]:
        """Both sides of the pairs (i, j), given the common rows of all, and of which what is summed is taken again."""
        i, j = like(i, n), like(j, n)
        turned = [block[::-1] for block in strong]
        # Of columns with themselves one side serves as both.
        of_x = strong + turned if x is y else strong
        return cls(x, i, j, n, y, strong=of_x), cls(y, j, i, n.T, x, strong=turned)

    @property
    def _gaps(self) -> Gaps:
        return cast(Gaps, self.group.gaps)

    def _sums(self, stack: DeviceStack) -> Tensor:
        """Sums (functions, columns, masks) over the rows of every column of the other side."""
        observed = _observed(self._other)
        found = stack.products(observed)[..., 0].permute(2, 0, 1).double()
        for columns, masks in self._strong if stack.is_in_halves else ():
            exact = stack.exact(columns).products(observed.exact(masks))[..., 0]
            found[:, like(columns, found)[:, None], like(masks, found)] = exact.permute(2, 0, 1)
        return found

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
        return Whitened.of_recipes(self._moments(), gaps.nested, place=place)

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
