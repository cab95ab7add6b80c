"""Bases of many columns, one after the other, so that the products of all their pairs are one product of matrices.

Rows are taken a chunk at a time: products of a chunk are taken in the precision of the stack, and sums of chunks in
float64. From `ROWS_FOR_FLOAT32` rows on stacks are float32, which halves the time; on fewer rows the products are not
what takes the time. It moves the mean product of two columns by 10⁻⁷. Columns of few values stay float64: what is
rounded there repeats and does not average out, up to 4·10⁻⁵ for a category and its copy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis import Basis
from renyi.execution.workspace import workspace
from renyi.resident import Resident

__all__ = [
    "CHUNK_BYTES",
    "ROWS_FOR_FLOAT32",
    "Joined",
    "Stack",
    "Values",
    "fine_chunks",
    "is_exact",
    "precision",
    "products",
]

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

ROWS_FOR_FLOAT32 = 4096
_CELLS_FOR_FLOAT32 = 512
# A constant, so that sums are taken in one order everywhere.
_CHUNK_ROWS = 4096
# Small enough for the allocator to hand out the same memory again.
CHUNK_BYTES = 2**24


@dataclass(frozen=True, eq=False)
class Stack:
    """Bases of one rank: tables (rank, cells) and the cell of every row; the last cell, zeros, is of missing rows."""

    tables: tuple[NDArray[Any], ...]
    codes: tuple[NDArray[Any] | None, ...]
    n_rows: int
    rank: int
    # Where codes of all columns (rows, columns) are at hand: places in all tables, packed one after the other.
    places: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, bases: Sequence[Basis], missing: Sequence[Mask | None], n_rows: int, /, *, columns: slice) -> "Stack":
        """Some columns of every basis, over all rows of the table; the bases are over their observed rows."""
        kind = np.float64 if is_exact(bases, n_rows) else np.float32
        tables: dict[int, NDArray[Any]] = {}  # columns without ties share one table
        parts, codes = [], []
        for basis, gaps in zip(bases, missing, strict=True):
            part = tables.get(id(basis.table))
            if part is None:
                part = np.zeros((len(range(*columns.indices(basis.rank))), len(basis.table) + 1), dtype=kind)
                part[:, :-1] = basis.table[:, columns].T
                tables[id(basis.table)] = part
            parts.append(part)
            codes.append(_codes(basis, gaps, n_rows))
        return cls(tuple(parts), tuple(codes), n_rows, len(parts[0]))

    @classmethod
    def joined(cls, stacks: Sequence["Stack"], /) -> "Stack":
        """The columns of several, one after the other, with all tables packed; these are in memory once."""
        tables = [table for stack in stacks for table in stack.tables]
        rows = np.ascontiguousarray(np.concatenate([table.T for table in tables]))
        ends = np.cumsum([table.shape[1] for table in tables])
        views = tuple(part.T for part in np.split(rows, ends[:-1]))
        codes = tuple(codes for stack in stacks for codes in stack.codes)
        found = cls(views, codes, stacks[0].n_rows, stacks[0].rank)
        found.__dict__["packed"] = _as_items(rows)
        return found

    def __len__(self) -> int:
        return len(self.tables)

    def part(self, columns: slice, /) -> "Stack":
        """Some of the columns."""
        part = Stack(self.tables[columns], self.codes[columns], self.n_rows, self.rank)
        if "packed" in self.__dict__:
            first = columns.indices(len(self))[0]
            before, within = (sum(t.shape[1] for t in tables) for tables in (self.tables[:first], part.tables))
            part.__dict__["packed"] = self.packed[before : before + within]
        return part

    def leading(self, size: int, /) -> "Stack":
        """The first columns of every basis."""
        return Stack(tuple(table[:size] for table in self.tables), self.codes, self.n_rows, size, self.places)

    @cached_property
    def packed(self) -> NDArray[Any]:
        """All tables, one after the other, with the functions of a cell as one item: gathered four times as fast."""
        return _as_items(np.ascontiguousarray(np.concatenate([table.T for table in self.tables])))

    def packed_places(self, codes: Sequence[NDArray[Any]], /) -> NDArray[np.intp]:
        """Where the rows of all columns lie in packed tables; those of stacks of the same columns are the same."""
        places = np.empty((len(codes[0]), len(codes)), dtype=np.intp)
        start = 0
        for column, (table, cells) in enumerate(zip(self.tables, codes, strict=True)):
            np.add(cells, np.intp(start), out=places[:, column], dtype=np.intp)
            start += table.shape[1]
        return places

    def over(self, codes: Sequence[NDArray[Any]], places: NDArray[np.intp], /) -> "Stack":
        """The same functions over other rows; a code one beyond the cells of a column is of a missing row."""
        moved = Stack(self.tables, tuple(codes), len(places), self.rank, places)
        moved.__dict__["packed"] = self.packed
        return moved

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All functions of all columns (columns × rank, rows), in a workspace that the next call for it overwrites."""
        kind, n_rows = self.tables[0].dtype, rows.stop - rows.start
        if self.places is not None:
            items = workspace(place, (n_rows, len(self)), self.packed.dtype)
            np.take(self.packed, self.places[rows], out=items, mode="clip")
            return items.view(kind).reshape(n_rows, -1).T
        stacked = workspace(place, (len(self), self.rank, n_rows), kind)
        for functions, table, codes in zip(stacked, self.tables, self.codes, strict=True):
            if codes is None:
                functions[:] = table[:, rows]
            else:
                # "clip" spares a second look at the codes, which are all within the table.
                np.take(table, codes[rows], axis=1, out=functions, mode="clip")
        return stacked.reshape(-1, stacked.shape[2])


def _as_items(rows: NDArray[Any]) -> NDArray[Any]:
    """Every row as one item."""
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def is_exact(bases: Sequence[Basis], n_rows: int, /) -> bool:
    """Whether products of these over so many rows are taken in float64."""
    return precision(n_rows) == np.float64 or min(len(basis.table) for basis in bases) < _CELLS_FOR_FLOAT32


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
    """Numbers (columns × rank, rows) that are their own stack."""

    numbers: NDArray[Any]
    rank: int = 1

    def __len__(self) -> int:
        return len(self.numbers) // self.rank

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.numbers.shape[1])

    def part(self, columns: slice, /) -> "Values":
        """Some of the columns."""
        first, last, _ = columns.indices(len(self))
        return Values(self.numbers[first * self.rank : last * self.rank], self.rank)

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All columns at some rows."""
        return self.numbers[:, rows]


@dataclass(frozen=True, eq=False)
class Joined:
    """Two stacks of the same columns, the functions of one followed by those of the other."""

    leading: Stack
    following: Stack

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
        """All functions of all columns at some rows."""
        parts = [stack.rows(rows, place=f"{place} {k}") for k, stack in enumerate((self.leading, self.following))]
        split = [part.reshape(len(self), -1, part.shape[1]) for part in parts]
        return np.concatenate(split, axis=1).reshape(-1, parts[0].shape[1])


Stacked: TypeAlias = Stack | Values | Joined | Resident


def _chunks(n_rows: int) -> Iterator[slice]:
    """The rows, a chunk at a time."""
    return (slice(start, min(start + _CHUNK_ROWS, n_rows)) for start in range(0, n_rows, _CHUNK_ROWS))


def fine_chunks(n_rows: int, bytes_of_row: int, /) -> list[slice]:
    """Chunks whose products of functions stay small."""
    step = max(64, CHUNK_BYTES // bytes_of_row)
    return [
        slice(start, min(start + step, rows.stop))
        for rows in _chunks(n_rows)
        for start in range(rows.start, rows.stop, step)
    ]


def products(x: Stacked, y: Stacked, /) -> Array:
    """Sums of products (columns of x, columns of y, rank of x, rank of y) over the rows; on a device as tensors."""
    if isinstance(x, Resident) and isinstance(y, Resident):
        found: Array = x.products(y)
        return found
    if isinstance(x, Resident) or isinstance(y, Resident):
        raise ValueError("one side is on a device and the other is not")
    total = np.zeros((len(x) * x.rank, len(y) * y.rank))
    for rows in _chunks(x.n_rows):
        left = x.rows(rows, place="left")
        # The same array twice is recognised by BLAS as half the work.
        right = left if y is x else y.rows(rows, place="right")
        total += np.matmul(left, right.T, out=workspace("product", total.shape, np.result_type(left, right)))
    return total.reshape(len(x), x.rank, len(y), y.rank).swapaxes(1, 2)
