"""Bases of many columns side by side, so that the products of all their pairs are one product of matrices.

Rows are taken a chunk at a time: products of a chunk are taken in the precision of the stack, and sums of chunks in
float64. From `ROWS_FOR_FLOAT32` rows on stacks are float32, which halves the time; on fewer rows the products are not
what takes the time. It moves the mean product of independent columns by 10⁻⁷, and by 10⁻⁶ where both have few values:
what is rounded there repeats and does not average out, up to 4·10⁻⁵ for a category and its copy.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis import Basis

__all__ = ["ROWS_FOR_FLOAT32", "Joined", "Stack", "Values", "chunks", "precision", "products"]

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

ROWS_FOR_FLOAT32 = 4096
# A constant, so that sums are taken in one order everywhere.
_CHUNK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Stack:
    """Columns of bases of one rank: cell by cell, with the cell of every row; missing rows have a cell of zeros."""

    tables: tuple[NDArray[Any], ...]
    codes: tuple[NDArray[Any] | None, ...]
    n_rows: int
    rank: int

    @classmethod
    def of(cls, bases: Sequence[Basis], missing: Sequence[Mask | None], n_rows: int, /, *, columns: slice) -> "Stack":
        """Some columns of every basis, over all rows of the table; the bases are over their observed rows."""
        kind = precision(n_rows)
        tables: dict[int, NDArray[Any]] = {}  # columns without ties share one table
        parts, codes = [], []
        for basis, gaps in zip(bases, missing, strict=True):
            part = tables.get(id(basis.table))
            if part is None:
                part = np.zeros((len(basis.table) + 1, len(range(*columns.indices(basis.rank)))), dtype=kind)
                part[:-1] = basis.table[:, columns]
                tables[id(basis.table)] = part
            parts.append(part)
            codes.append(_codes(basis, gaps, n_rows))
        return cls(tuple(parts), tuple(codes), n_rows, parts[0].shape[1])

    def __len__(self) -> int:
        return len(self.tables)

    def part(self, columns: slice, /) -> "Stack":
        """Some of the columns."""
        return Stack(self.tables[columns], self.codes[columns], self.n_rows, self.rank)

    def leading(self, size: int, /) -> "Stack":
        """The first columns of every basis."""
        return Stack(tuple(table[:, :size] for table in self.tables), self.codes, self.n_rows, size)

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All columns at some rows, side by side, in a workspace that the next call for this place overwrites."""
        stacked = _workspace(place, (rows.stop - rows.start, len(self), self.rank), self.tables[0].dtype)
        for j, (table, codes) in enumerate(zip(self.tables, self.codes, strict=True)):
            # The last row of a table is for missing cells; "clip" spares a second look at the codes.
            stacked[:, j] = table[rows] if codes is None else np.take(table, codes[rows], axis=0, mode="clip")
        return stacked.reshape(len(stacked), -1)


class _Workspaces(threading.local):
    """Memory that one thread uses again and again: fresh pages cost more than what is written to them."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, Any], NDArray[Any]] = {}


_workspaces = _Workspaces()


def _workspace(place: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of this shape with anything in it, at the same place as the last one of this name."""
    size = int(np.prod(shape))
    memory = _workspaces.places.get((place, np.dtype(dtype)))
    if memory is None or memory.size < size:
        memory = _workspaces.places[place, np.dtype(dtype)] = np.empty(size, dtype=dtype)
    return memory[:size].reshape(shape)


def precision(n_rows: int, /) -> Any:
    """The type in which products over so many rows are taken."""
    return np.float32 if n_rows >= ROWS_FOR_FLOAT32 else np.float64


def _codes(basis: Basis, missing: Mask | None, n_rows: int) -> NDArray[Any] | None:
    """The cell of every row of the table, with one more for missing rows; None where every row is its own cell."""
    if missing is None:
        return basis.codes
    n_cells = len(basis.table)
    codes = np.full(n_rows, n_cells, dtype=np.min_scalar_type(n_cells))
    codes[~missing] = np.arange(n_cells) if basis.codes is None else basis.codes
    return codes


@dataclass(frozen=True, eq=False)
class Values:
    """Numbers (rows, columns × rank) that are their own stack."""

    numbers: NDArray[Any]
    rank: int = 1

    def __len__(self) -> int:
        return int(self.numbers.shape[1]) // self.rank

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.numbers)

    def part(self, columns: slice, /) -> "Values":
        """Some of the columns."""
        first, last, _ = columns.indices(len(self))
        return Values(self.numbers[:, first * self.rank : last * self.rank], self.rank)

    def leading(self, size: int, /) -> "Values":
        """The first columns of every basis."""
        split = self.numbers.reshape(len(self.numbers), len(self), self.rank)
        return Values(np.ascontiguousarray(split[:, :, :size]).reshape(len(split), -1), size)

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All columns at some rows."""
        return self.numbers[rows]


@dataclass(frozen=True, eq=False)
class Joined:
    """Two stacks of the same columns, the functions of one followed by those of the other."""

    leading: Stack | Values
    following: Stack | Values

    def __len__(self) -> int:
        return len(self.leading)

    @property
    def rank(self) -> int:
        """Functions of one column."""
        return self.leading.rank + self.following.rank

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.leading.n_rows

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All columns at some rows, side by side."""
        parts = [stack.rows(rows, place=f"{place} {k}") for k, stack in enumerate((self.leading, self.following))]
        split = [part.reshape(len(part), len(self), -1) for part in parts]
        return np.concatenate(split, axis=2).reshape(len(split[0]), -1)


def chunks(n_rows: int, /) -> Iterator[slice]:
    """The rows, a chunk at a time."""
    return (slice(start, min(start + _CHUNK_ROWS, n_rows)) for start in range(0, n_rows, _CHUNK_ROWS))


def products(x: Stack | Values | Joined, y: Stack | Values | Joined, /) -> Array:
    """Sums of products (columns of x, columns of y, rank of x, rank of y) over the rows."""
    total = np.zeros((len(x) * x.rank, len(y) * y.rank))
    for rows in chunks(x.n_rows):
        left = x.rows(rows, place="left")
        # The same array twice is recognised by BLAS as half the work.
        right = left if y is x else y.rows(rows, place="right")
        total += np.matmul(left.T, right, out=_workspace("product", total.shape, left.dtype))
    return total.reshape(len(x), x.rank, len(y), y.rank).swapaxes(1, 2)
