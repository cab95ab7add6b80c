"""Columns whose rows lie on a device of torch: tables of functions there, the cell of every row, and their products."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import are_many_functions
from renyi.compute import kernels
from renyi.compute.arrays import Array, Index, in_parts
from renyi.compute.devices import Operand, as_operand, free_bytes, multiplied, paired

Tensor: TypeAlias = Any

# Rows are multiplied so many at a time, and sums over more than so many times as many are added up in float64.
_MOST_ROWS, _CHUNKS_TOGETHER = 32768, 32
# A chunk has as many rows as this at least, however little room there is.
_FEWEST_ROWS = 64
# Chunks of so many rows, or several times as many, are multiplied fastest.
_ALIGNED = 64
# Strips of columns, so many of them and several times as many columns each: of all pairs of columns, those of a strip
# with itself and with later ones are multiplied. 8 strips save 44 % of all products.
_N_STRIPS, _FEWEST_OF_STRIP = 8, 128
# So many numbers in half precision, 16 bytes, are gathered at once, and lie at addresses at which products are fast: of
# 500 columns without functions beside them, whose rows lay 8 bytes apart from those, masks took 3.5 times as long.
_EASY_WIDTH = 8
# The part of the free memory that functions of a chunk of rows take.
_SHARE_OF_CHUNK = 0.15
# Numbers are brought to this size before they are cut into halves, whose range is from 6e-8 to 65,504.
_LOG_SIZE = 10


class DeviceFunctions:
    """What is multiplied with its like on a device: `dimension` functions of some columns, over the same rows."""

    dimension: int
    n_rows: int
    has_one_digit: ClassVar[bool] = False  # exact in half precision

    def __len__(self) -> int:
        raise NotImplementedError

    def part(self, columns: slice, /) -> "DeviceFunctions":
        """Some of the columns."""
        raise NotImplementedError

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        """All functions at some rows (digits, rows, `n_places`, `width`).

        A short one may have two digits in place of four, which is enough beside one that has a single digit.
        """
        raise NotImplementedError

    @property
    def width(self) -> int:
        """Functions of a column as they are multiplied; the last ones may be zeros."""
        return self.dimension

    @property
    def n_places(self) -> int:
        """Columns as they are multiplied; the last ones may be zeros, so that rows have an easy length."""
        step = 1 if self.dtype.itemsize > 4 else _EASY_WIDTH // gcd(self.width, _EASY_WIDTH)
        return -(-len(self) // step) * step

    @property
    def device(self) -> Any:
        """Where the rows are."""
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        """In what numbers products are wanted."""
        raise NotImplementedError

    def products(self, other: "DeviceFunctions", /) -> Tensor:
        """Sums of products (columns, columns of the other, dimension, dimension of the other) over the rows.

        Of columns with themselves those of a pair and of its reverse are the same, turned: most are multiplied once and
        copied.
        """
        import torch

        kind, chunks = torch.promote_types(self.dtype, other.dtype), list(self._chunks(other))
        shape = self.n_places, self.width, other.n_places, other.width
        strips = self._strips() if other is self else [slice(0, shape[0])]
        parts: list[Tensor] = []
        for some in (together := list(in_parts(chunks, _CHUNKS_TOGETHER))):
            found: list[Tensor] = [None] * len(strips)
            for rows in some:
                own = self.operand(rows, short=other.has_one_digit)
                left, right = paired(own, own if other is self else other.operand(rows, short=self.has_one_digit))
                # Columns follow one another in every row, so that those of a strip need not be copied.
                found = [
                    multiplied(left[:, :, strip], right[:, :, strip.start :], onto=total)
                    for strip, total in zip(strips, found, strict=True)
                ]
            if parts:
                parts = [part.add_(more) for part, more in zip(parts, found, strict=True)]
            else:
                parts = [part if len(together) == 1 else part.double() for part in found]
        if len(strips) == 1:
            total = parts[0].view(shape)
        else:
            total = torch.empty(shape, dtype=parts[0].dtype, device=self.device)
            for strip, part in zip(strips, parts, strict=True):
                later, after = slice(strip.start, None), slice(strip.stop, None)
                total[strip, :, later] = part.view(strip.stop - strip.start, self.width, -1, self.width)
                total[after, :, strip] = total[strip, :, after].permute(2, 3, 0, 1)
        planes = torch.empty((self.width, other.width, len(self), len(other)), dtype=kind, device=self.device)
        if not kernels.spread(total, planes):
            planes.copy_(total[: len(self), :, : len(other)].permute(1, 3, 0, 2))
        return planes[: self.dimension, : other.dimension].permute(2, 3, 0, 1)

    def _strips(self) -> list[slice]:
        """Columns in parts, each of which is multiplied with itself and with those after it."""
        step = _FEWEST_OF_STRIP * max(1, -(-len(self) // (_N_STRIPS * _FEWEST_OF_STRIP)))
        return [slice(start, min(start + step, self.n_places)) for start in range(0, self.n_places, step)]

    def _chunks(self, other: "DeviceFunctions") -> Iterator[slice]:
        room = _SHARE_OF_CHUNK * free_bytes(self.device)
        width = 8 * (self.n_places * self.width + other.n_places * other.width)
        most = max(_FEWEST_ROWS, min(_MOST_ROWS, int(room / width)))
        step = -(-self.n_rows // -(-self.n_rows // most))
        step = -(-step // _ALIGNED) * _ALIGNED
        return (slice(start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step))


@dataclass(frozen=True, eq=False)
class DeviceStack(DeviceFunctions):
    """Bases of one dimension: all their tables (cells, width) below one another, and the place there of every row.

    `places` is (rows, columns).
    """

    tables: tuple[Tensor, ...]  # one, or its leading and following digits
    places: Tensor
    dimension: int = 0
    dtype: Any = None
    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    has_rows_for_cells: bool = False  # as vectors have

    @classmethod
    def of(cls, tables: Sequence[Array], places: Tensor, /, *, dtype: Any, device: Any = None) -> "DeviceStack":
        """Distinct tables of one dimension, with cells numbered one after the other in `places` (rows, columns)."""
        import torch

        table = torch.as_tensor(np.concatenate(tables), device=places.device if device is None else device)
        return cls.of_table(table, places, dtype=dtype)

    @classmethod
    def of_table(
        cls, table: Tensor, places: Tensor, /, *, dtype: Any, starts: Sequence[int] = (), sizes: Sequence[int] = ()
    ) -> "DeviceStack":
        """All tables (cells, dimension) as one, on the device; of every column where its own begins, and its cells."""
        import torch

        dimension = int(table.shape[1])
        # Of few functions half of what is easy is added at most: 12 take no 16.
        easy = _EASY_WIDTH if dimension > 2 * _EASY_WIDTH else max(1, _EASY_WIDTH // 2)
        padded = torch.nn.functional.pad(table.to(dtype), (0, -dimension % easy))
        return cls(tuple(as_operand(padded)[:2]), places, dimension, dtype, tuple(starts), tuple(sizes))

    def __len__(self) -> int:
        return int(self.places.shape[1])

    @property
    def width(self) -> int:
        return int(self.tables[0].shape[1])

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of the table."""
        return len(self.places)

    @property
    def device(self) -> Any:
        return self.tables[0].device

    def part(self, columns: slice, /) -> "DeviceStack":
        return replace(self, places=self.places[:, columns], starts=self.starts[columns], sizes=self.sizes[columns])

    def leading(self, size: int, /) -> "DeviceStack":
        """The first columns of every basis."""
        return replace(self, tables=tuple(table[:, :size].contiguous() for table in self.tables), dimension=size)

    def followed_by(self, other: "DeviceStack", /) -> "DeviceStack":
        """The functions of every column and after them those of another stack on the same cells."""
        import torch

        whole = torch.cat([_summed(stack.tables)[:, : stack.dimension] for stack in (self, other)], dim=1)
        made = DeviceStack.of_table(whole, self.places, dtype=self.dtype, starts=self.starts, sizes=self.sizes)
        return replace(made, has_rows_for_cells=self.has_rows_for_cells)

    def packed_places(self, codes: Sequence[NDArray[Any]], /) -> Tensor:
        """Where the rows of all columns lie in the tables, given their cells."""
        import torch

        places = np.stack([cells.astype(np.int32) + start for start, cells in zip(self.starts, codes, strict=True)], 1)
        return torch.as_tensor(places, device=self.device)

    @property
    def is_in_halves(self) -> bool:
        """Whether products are those of two halves of the digits."""
        return len(self.tables) > 1

    def exact(self, columns: Index, /) -> "DeviceStack":
        """Some of the columns, whose products are taken in float64."""
        import torch

        at = torch.as_tensor(columns, device=self.places.device)
        some = replace(self, tables=(_summed(self.tables).double(),), places=self.places[:, at], dtype=torch.float64)
        starts, sizes = (tuple(of[k] for k in columns.tolist()) for of in (self.starts, self.sizes))
        return replace(some, starts=starts, sizes=sizes)

    def over(self, _: Any, places: Tensor, /) -> "DeviceStack":
        """The same functions over other rows."""
        return replace(self, places=places)

    def cells(self, column: int, /) -> Tensor:
        """The cell of every row of one column; the last one is of missing rows."""
        return self.places[:, column].to(self.device) - self.starts[column]

    def products(self, other: DeviceFunctions, /) -> Tensor:
        if not (isinstance(other, DeviceStack) and self._is_wide and other._is_wide):
            return super().products(other)
        return self._products_of_cells(other)

    @property
    def _is_wide(self) -> bool:
        is_wide = are_many_functions(self.dimension) and bool(self.sizes) and max(self.sizes) <= self.n_rows
        return is_wide and not self.has_rows_for_cells

    def _products_of_cells(self, other: "DeviceStack") -> Tensor:
        """The same by how often two cells meet, so that many functions are not gathered at every row."""
        import torch

        found = torch.empty(
            (len(self), len(other), self.dimension, other.dimension), dtype=torch.float64, device=self.device
        )
        for i, j in np.ndindex(len(self), len(other)):
            shape = self.sizes[i], other.sizes[j]
            meetings = torch.bincount(self.cells(i).long() * shape[1] + other.cells(j), minlength=shape[0] * shape[1])
            left, right = (
                _summed(side.tables)[side.starts[k] : side.starts[k] + side.sizes[k], : side.dimension].double()
                for side, k in ((self, i), (other, j))
            )
            found[i, j] = left.T @ (meetings.view(shape).double() @ right)
        return found

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        import torch

        # Places that the device has no room for come as they are needed.
        places = self.places[rows].to(self.device, non_blocking=True)
        digits, n = 1 if len(self.tables) == 1 else 2 if short else 4, len(self)
        found = torch.empty(
            (digits, len(places), self.n_places, self.width), dtype=self.tables[0].dtype, device=self.device
        )
        found[:, :, n:] = 0.0
        if kernels.gather(self.tables, places, found):
            return found
        for table, part in zip(self.tables if digits != 2 else self.tables[::-1], found, strict=False):
            part[:, :n] = table.index_select(0, places.reshape(-1)).view(len(places), n, self.width)
        if digits == 4:
            found[2:] = found[0]
        return found


def _summed(parts: Sequence[Tensor]) -> Tensor:
    """A table from its parts."""
    return parts[0] if len(parts) == 1 else sum(part.float() for part in parts)


@dataclass(frozen=True, eq=False)
class _OfStack(DeviceFunctions):
    """What is made of the columns of a stack, at the same rows."""

    stack: DeviceStack

    def __len__(self) -> int:
        return len(self.stack)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of the table."""
        return self.stack.n_rows

    @property
    def device(self) -> Any:
        return self.stack.device

    @property
    def dtype(self) -> Any:
        return self.stack.dtype


@dataclass(frozen=True, eq=False)
class Observed(_OfStack):
    """Which rows of columns are there, as 1 and 0: where places (rows, columns) are not the last one of their cells."""

    dimension: int = 1
    has_one_digit: ClassVar[bool] = True

    def part(self, columns: slice, /) -> "Observed":
        return replace(self, stack=self.stack.part(columns))

    def exact(self, columns: Index, /) -> "Observed":
        """Some of the columns, in float64."""
        return replace(self, stack=self.stack.exact(columns))

    def of_column(self, column: int, /) -> Tensor:
        """The same of one column, as a mask."""
        return self.stack.cells(column) < self.stack.sizes[column] - 1

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        import torch

        last = [start + size - 1 for start, size in zip(self.stack.starts, self.stack.sizes, strict=True)]
        places = self.stack.places[rows].to(self.device, non_blocking=True)
        is_there = places != torch.as_tensor(last, device=self.device, dtype=places.dtype)
        padded = torch.nn.functional.pad(is_there, (0, self.n_places - len(self)))
        return padded[None, :, :, None].to(self.stack.tables[0].dtype)


@dataclass(frozen=True, eq=False)
class DeviceRows(DeviceFunctions):
    """Functions by their values: `sizes`, powers of two, times `numbers` (rows, functions), zeros beyond the last."""

    numbers: Tensor
    sizes: Array
    dimension: int = 1

    @classmethod
    def of(cls, functions: Tensor, /, *, dtype: Any) -> "DeviceRows":
        """Functions (functions, rows)."""
        exponents = np.frexp(functions.abs().amax(1).cpu().numpy())[1]
        sizes = np.ldexp(1.0, exponents - _LOG_SIZE)
        count = len(functions)
        numbers = functions.new_zeros((functions.shape[1], -(-count // _EASY_WIDTH) * _EASY_WIDTH), dtype=dtype)
        numbers[:, :count] = functions.T / functions.new_tensor(sizes)
        return cls(numbers, sizes)

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of the table."""
        return len(self.numbers)

    @property
    def device(self) -> Any:
        return self.numbers.device

    @property
    def dtype(self) -> Any:
        return self.numbers.dtype

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        return as_operand(self.numbers[rows, :, None])


@dataclass(frozen=True, eq=False)
class Weighted(_OfStack):
    """Functions of columns times a weight of every row, which is `size` times `weights`."""

    weights: Tensor
    size: float

    @classmethod
    def of(cls, stack: DeviceStack, weights: Tensor, /) -> "Weighted":
        """Weights (rows,), of any size."""
        largest = max(float(table.abs().amax()) for table in stack.tables) * float(weights.abs().amax())
        size = largest / 2.0**_LOG_SIZE
        return cls(stack, (weights / size).to(stack.dtype), size)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Functions of a column."""
        return self.stack.dimension

    @property
    def width(self) -> int:
        return self.stack.width

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        whole = self.stack.operand(rows, short=True).to(self.dtype).sum(0)
        return as_operand(whole * self.weights[rows, None, None])
