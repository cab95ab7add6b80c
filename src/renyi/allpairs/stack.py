"""Bases of many columns, one after the other, so that the products of all their pairs are one product of matrices.

Rows are taken a chunk at a time: products of a chunk are taken in the precision of the stack, and sums of chunks in
float64. Stacks are float32 from `ROWS_FOR_FLOAT32` rows or `COLUMNS_FOR_FLOAT32` columns on, which halves the time of
products and of what follows; smaller tables take no time. It moves the mean product of two columns by 10⁻⁷. Columns of
few values stay float64: what is rounded there repeats and does not average out, up to 4·10⁻⁵ for a category and its
copy. So do few rows with gaps, since whitening on common rows magnifies what was rounded, and few rows on a device,
which would multiply halves of the digits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import Basis, are_many_functions
from renyi.compute.arrays import Array, Mask
from renyi.compute.memory import workspace
from renyi.compute.threads import share, stream

ROWS_FOR_FLOAT32, COLUMNS_FOR_FLOAT32 = 4096, 256
_CELLS_FOR_FLOAT32 = 512
# A constant, so that sums are taken in one order everywhere.
_CHUNK_ROWS = 4096
# One function of few columns is added up over the cells of others where those have more functions than this, so many
# rows at a time: of 20 columns on 8,000 cells that takes 7 ns a row and column, to gather 12 functions and multiply 26.
_FEW_COLUMNS, _MORE_FUNCTIONS, _ROWS_OF_CELLS = 32, 9, 2**17
# Cells are few where they have so many rows each.
_ROWS_PER_CELL = 4
# BLAS adds up few products one row after the other, at twenty times the error of many; in float64 they take no time.
_FEW_PRODUCTS = 2**10
# Products are taken in blocks of so many functions either way, and rows gathered so many at a time: enough for BLAS to
# be as fast as it gets, few enough for 16 cores to share what is three tiles of 150 columns.
_MOST_IN_BLOCK, _ROWS_GATHERED = 480, 512
# Small enough for the allocator to hand out the same memory again; but no fewer rows than this.
_CHUNK_BYTES, _FEWEST_CHUNK_ROWS = 2**24, 64


class Functions(Protocol):
    """`dimension` functions of each of some columns, over the same rows: what is multiplied with its like."""

    @property
    def dimension(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    def __len__(self) -> int: ...

    def products(self, other: Any, /) -> Array:
        """Sums of products (columns, columns of the other, dimension, dimension of the other) over the rows."""
        ...


class Stack(Functions, Protocol):
    """Bases of one dimension. The last of the `sizes` cells of every column is of missing rows.

    Rows in batches bring their own codes: stacks on the same cells have the same `packed_places` of them.
    """

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def part(self, columns: slice, /) -> "Stack":
        """Some of the columns."""
        ...

    def leading(self, size: int, /) -> "Stack":
        """The first functions of every column."""
        ...

    def followed_by(self, other: Any, /) -> Functions:
        """The functions of every column and after them those of another stack of the same columns."""
        ...

    def packed_places(self, codes: Sequence[NDArray[Any]], /) -> Any:
        """Where the rows of all columns lie, given their cells."""
        ...

    def over(self, codes: Sequence[NDArray[Any]], places: Any, /) -> "Stack":
        """The same functions over other rows."""
        ...


class _Multiplied:
    """What is multiplied in memory."""

    def products(self: Any, other: Any, /) -> Array:
        return _products(self, other)


@dataclass(frozen=True, eq=False)
class CellStack(_Multiplied):
    """Bases of one dimension in memory: their tables are packed (cells, dimension) one after the other, and begin at
    `starts`.

    The last of the `sizes` cells of a table, zeros, is of missing rows. `codes` are the cells of all rows, of every
    column, and `places` (rows, columns) the same in the packed tables; of rows in batches there are none.
    """

    packed: NDArray[Any]
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    n_rows: int
    codes: tuple[NDArray[Any], ...] = ()
    places: NDArray[Any] | None = None
    # Of vectors every row is a cell.
    has_rows_for_cells: bool = False

    @classmethod
    def of(
        cls,
        bases: Sequence[Basis],
        missing: Sequence[Mask | None],
        n_rows: int,
        /,
        *,
        columns: slice,
        beside: "CellStack | None" = None,
    ) -> "CellStack":
        """Some columns of every basis, over all rows of the table; the bases are over their observed rows.

        A stack of other bases on the same cells, `beside`, has the places already.
        """
        # Columns without ties share one table.
        tables = {id(basis.table): basis.table for basis in bases}
        ends = np.cumsum([len(table) + 1 for table in tables.values()]).tolist()
        starts = dict(zip(tables, [0, *ends], strict=False))
        width = len(range(*columns.indices(bases[0].dimension)))
        are_many = len(bases) >= COLUMNS_FOR_FLOAT32 and all(gaps is None for gaps in missing)
        kind = np.float64 if is_exact(bases, n_rows, are_many=are_many) else np.float32
        packed = np.empty((ends[-1], width), dtype=kind)

        def fill(table: NDArray[Any]) -> None:
            end = starts[id(table)] + len(table)
            packed[starts[id(table)] : end] = table[:, columns]
            packed[end] = 0.0

        # What is large is written to fresh pages, which take as long as the writing.
        for _ in stream(fill, list(tables.values()), at_once=max(1, _CHUNK_BYTES * len(tables) // packed.nbytes)):
            pass
        stack = cls(
            packed,
            tuple(starts[id(basis.table)] for basis in bases),
            tuple(len(basis.table) + 1 for basis in bases),
            n_rows,
            has_rows_for_cells=any(basis.has_rows and basis.codes is None for basis in bases),
        )
        if beside is not None and beside.starts == stack.starts:
            return replace(stack, codes=beside.codes, places=beside.places)
        if not all(basis.has_rows for basis in bases):
            return stack
        codes = [codes_of(basis, gaps, n_rows) for basis, gaps in zip(bases, missing, strict=True)]
        return stack.over(codes, stack.packed_places(codes))

    @classmethod
    def joined(cls, stacks: Sequence[Any], /) -> "CellStack":
        """The columns of several, one after the other, whose rows are read in batches."""
        ends = np.cumsum([len(stack.packed) for stack in stacks]).tolist()
        return cls(
            np.concatenate([stack.packed for stack in stacks]),
            tuple(before + start for before, stack in zip([0, *ends], stacks, strict=False) for start in stack.starts),
            tuple(size for stack in stacks for size in stack.sizes),
            stacks[0].n_rows,
        )

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def dimension(self) -> int:
        """Functions of one column."""
        return int(self.packed.shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether products are sums over cells first: of many functions on fewer cells than there are rows."""
        return are_many_functions(self.dimension) and max(self.sizes) <= self.n_rows and not self.has_rows_for_cells

    @property
    def has_few_cells(self) -> bool:
        """Whether every column has far more rows than cells."""
        return max(self.sizes) * _ROWS_PER_CELL <= self.n_rows and not self.has_rows_for_cells

    def table(self, column: int, /) -> NDArray[Any]:
        """The functions (cells, dimension) of one column, of the cell of missing rows too."""
        return self.packed[self.starts[column] : self.starts[column] + self.sizes[column]]

    def part(self, columns: slice, /) -> "CellStack":
        """Some of the columns."""
        places = None if self.places is None else self.places[:, columns]
        starts, sizes, codes = self.starts[columns], self.sizes[columns], self.codes[columns]
        return replace(self, starts=starts, sizes=sizes, codes=codes, places=places)

    def leading(self, size: int, /) -> "CellStack":
        """The first functions of every column."""
        return replace(self, packed=np.ascontiguousarray(self.packed[:, :size]))

    def followed_by(self, other: "CellStack", /) -> "Joined":
        """The functions of every column and after them those of another stack."""
        return Joined(self, other)

    def packed_places(self, codes: Sequence[NDArray[Any]], /) -> NDArray[Any]:
        """Where the rows of all columns lie in packed tables; those of stacks on the same cells are the same."""
        kind = np.min_scalar_type(len(self.packed))
        places = np.empty((len(codes[0]), len(codes)), dtype=kind)
        for column, (start, cells) in enumerate(zip(self.starts, codes, strict=True)):
            np.add(cells, start, out=places[:, column], dtype=kind, casting="unsafe")
        return places

    def over(self, codes: Sequence[NDArray[Any]], places: NDArray[Any], /) -> "CellStack":
        """The same functions over other rows."""
        return replace(self, n_rows=len(places), codes=tuple(codes), places=places)

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All functions of all columns (columns × dimension, rows), in a workspace that the next call overwrites."""
        if self.places is None:
            raise ValueError("the rows are read in batches")
        # The functions of a cell as one item are gathered four times as fast as one by one.
        item = np.dtype((np.void, self.packed.itemsize * self.dimension))
        found = workspace(place, (rows.stop - rows.start, len(self) * self.dimension), self.packed.dtype)
        cells, places, items = self.packed.view(item).ravel(), self.places[rows], found.view(item)

        def gather(some: slice) -> None:
            # "clip" spares a second look at the places, which are all within the tables.
            np.take(cells, places[some], out=items[some], mode="clip")

        share(gather, [slice(start, start + _ROWS_GATHERED) for start in range(0, len(places), _ROWS_GATHERED)])
        return found.T


def is_exact(bases: Sequence[Basis], n_rows: int, /, *, are_many: bool = False) -> bool:
    """Whether products of these over so many rows, or of so many columns that it is worth it, are taken in float64."""
    if (precision(n_rows) == np.float64 and not are_many) or bases[0].order is not None:
        return True
    return min(basis.n_cells for basis in bases) < min(_CELLS_FOR_FLOAT32, n_rows // 2)


def precision(n_rows: int, /) -> Any:
    """The type in which products over so many rows are taken."""
    return np.float32 if n_rows >= ROWS_FOR_FLOAT32 else np.float64


def codes_of(basis: Basis, missing: Mask | None, n_rows: int, /) -> NDArray[Any]:
    """The cell of every row of the table, with one more for missing rows."""
    n_cells = len(basis.table)
    # Without codes every row is its own cell.
    own = np.arange(n_cells) if basis.codes is None else basis.codes
    if missing is None:
        return own
    codes = np.full(n_rows, n_cells, dtype=np.min_scalar_type(n_cells))
    codes[~missing] = own
    return codes


@dataclass(frozen=True, eq=False)
class Values(_Multiplied):
    """Numbers (columns × dimension, rows) that are their own stack."""

    numbers: NDArray[Any]
    dimension: int = 1

    def __len__(self) -> int:
        return len(self.numbers) // self.dimension

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.numbers.shape[1])

    def part(self, columns: slice, /) -> "Values":
        """Some of the columns."""
        first, last, _ = columns.indices(len(self))
        return Values(self.numbers[first * self.dimension : last * self.dimension], self.dimension)

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All columns at some rows."""
        return self.numbers[:, rows]


@dataclass(frozen=True, eq=False)
class Joined(_Multiplied):
    """Two stacks of the same columns, the functions of one followed by those of the other."""

    leading: CellStack
    following: CellStack

    def __len__(self) -> int:
        return len(self.leading)

    @property
    def dimension(self) -> int:
        """Functions of one column."""
        return self.leading.dimension + self.following.dimension

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.leading.n_rows

    @property
    def codes(self) -> tuple[NDArray[Any], ...]:
        """The cells of all rows, of every column."""
        return self.leading.codes

    @property
    def has_few_cells(self) -> bool:
        """Whether every column has far more rows than cells."""
        return self.leading.has_few_cells

    def table(self, column: int, /) -> NDArray[Any]:
        """The functions (cells, dimension) of one column."""
        return np.hstack((self.leading.table(column), self.following.table(column)))

    def rows(self, rows: slice, /, *, place: str = "rows") -> NDArray[Any]:
        """All functions of all columns at some rows."""
        parts = [stack.rows(rows, place=f"{place} {k}") for k, stack in enumerate((self.leading, self.following))]
        split = [part.T.reshape(part.shape[1], len(self), -1) for part in parts]
        return np.concatenate(split, axis=2).reshape(parts[0].shape[1], -1).T


Stacked: TypeAlias = CellStack | Values | Joined


def _chunks(n_rows: int) -> Iterator[slice]:
    """The rows, a chunk at a time."""
    return (slice(start, min(start + _CHUNK_ROWS, n_rows)) for start in range(0, n_rows, _CHUNK_ROWS))


def in_a_chunk(n_bytes: int, /) -> int:
    """How many things of so many bytes fit into a small chunk."""
    return _CHUNK_BYTES // n_bytes


def fine_chunks(n_rows: int, bytes_of_row: int, /) -> list[slice]:
    """Chunks whose products of functions stay small."""
    step = max(_FEWEST_CHUNK_ROWS, in_a_chunk(bytes_of_row))
    return [
        slice(start, min(start + step, rows.stop))
        for rows in _chunks(n_rows)
        for start in range(rows.start, rows.stop, step)
    ]


def _products(x: Stacked, y: Stacked, /) -> Array:
    """Sums of products (columns of x, columns of y, dimension of x, dimension of y) over the rows."""
    if isinstance(x, CellStack) and x.is_wide:
        return _products_of_cells(x, y)
    if isinstance(y, CellStack) and y.is_wide:
        return _products(y, x).transpose(1, 0, 3, 2)
    if len(x) * x.dimension > len(y) * y.dimension:
        # BLAS takes a tenth less time where the narrower factor comes first.
        return _products(y, x).transpose(1, 0, 3, 2)
    if x.dimension == 1 and len(x) <= _FEW_COLUMNS and isinstance(y, CellStack) and y.dimension >= _MORE_FUNCTIONS:
        found = _products_of_light_cells(x, y) if y.has_few_cells and y.packed.dtype == np.float32 else None
        if found is not None:
            return found
    return _products_of_rows(x, y)


def _products_of_rows(x: Stacked, y: Stacked) -> Array:
    """The same by products of matrices, a chunk of rows at a time, in blocks that cores without other work share."""
    shape = len(x) * x.dimension, len(y) * y.dimension
    own, other = (_blocks(size) for size in shape)
    # Of a stack with itself the blocks below the diagonal are those above it, turned.
    blocks = [(a, b) for i, a in enumerate(own) for b in (other[i:] if y is x else other)]
    total = np.zeros(shape)
    for rows in _chunks(x.n_rows):
        left = x.rows(rows, place="left")
        right = left if y is x else y.rows(rows, place="right")
        if shape[0] * shape[1] <= _FEW_PRODUCTS:
            left, right = left.astype(np.float64), right.astype(np.float64)
        if x.n_rows <= _CHUNK_ROWS:
            total = np.empty(shape, np.result_type(left, right))
            share(partial(_multiply, left, right, total), blocks)
        else:
            share(partial(_add_product, left, right, total), blocks)
    for a, b in blocks if y is x else ():
        if a != b:
            total[b, a] = total[a, b].T
    return total.reshape(len(x), x.dimension, len(y), y.dimension).swapaxes(1, 2)


def _multiply(left: Array, right: Array, out: Array, block: tuple[slice, slice]) -> None:
    """One block of the products of rows; the same rows twice are recognised by BLAS as half the work."""
    np.matmul(left[block[0]], right[block[1]].T, out=out[block])


def _add_product(left: Array, right: Array, total: Array, block: tuple[slice, slice]) -> None:
    """The same for a chunk of the rows, in the precision of the stacks, added to that of the others."""
    product = workspace("product", total[block].shape, np.result_type(left, right))
    _multiply(left[block[0]], right[block[1]], product, (slice(None), slice(None)))
    total[block] += product


def _blocks(size: int) -> list[slice]:
    """Functions of a side in parts of nearly equal size."""
    edges = np.linspace(0, size, -(-size // _MOST_IN_BLOCK) + 1).round().astype(int).tolist()
    return [slice(*edges) for edges in pairwise(edges)]


def _products_of_light_cells(x: Stacked, y: CellStack) -> Array | None:
    """The same for one function a column of x, by sums over the cells of y; None where some cell has many rows.

    Sums of so many numbers in float32, one after the other, are as good as those of BLAS.
    """
    from scipy.sparse import csc_array

    found = np.zeros((len(x), len(y), 1, y.dimension))
    tables = [y.table(column).astype(np.float64) for column in range(len(y))]
    for start in range(0, y.n_rows, _ROWS_OF_CELLS):
        rows = slice(start, min(start + _ROWS_OF_CELLS, y.n_rows))
        functions = np.ascontiguousarray(x.rows(rows, place="left").T, dtype=np.float32)
        starts, ones = np.arange(len(functions) + 1, dtype=np.int32), np.ones(len(functions), dtype=np.float32)
        for column, table in enumerate(tables):
            own = y.codes[column][rows].astype(np.int32)
            if np.bincount(own).max() > _CHUNK_ROWS:
                return None
            sums = csc_array((ones, own, starts), shape=(len(table), len(own))) @ functions
            found[:, column, 0] += sums.T.astype(np.float64) @ table
    return found


def _products_of_cells(x: CellStack, y: Stacked) -> Array:
    """The same by sums over the cells of x, so that its many functions are not gathered at every row."""
    from scipy.sparse import csc_array

    found = np.empty((len(x), len(y), x.dimension, y.dimension))
    if isinstance(y, CellStack) and y.is_wide:
        for i, j in np.ndindex(len(x), len(y)):
            shape = x.sizes[i], y.sizes[j]
            places = x.codes[i].astype(np.intp) * shape[1] + y.codes[j]
            table = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
            found[i, j] = x.table(i).T @ (table @ y.table(j))
        return found
    sums = [np.zeros((size, len(y) * y.dimension)) for size in x.sizes]
    for rows in _chunks(x.n_rows):
        functions = y.rows(rows, place="right").T
        # One entry a row, at its cell.
        starts, ones = np.arange(len(functions) + 1, dtype=np.int32), np.ones(len(functions), dtype=functions.dtype)
        for column, (size, codes) in enumerate(zip(x.sizes, x.codes, strict=True)):
            cells = csc_array((ones, codes[rows].astype(np.int32), starts), shape=(size, len(functions)))
            sums[column] += cells @ functions
    for i, total in enumerate(sums):
        found[i] = (x.table(i).T @ total).reshape(x.dimension, len(y), y.dimension).swapaxes(0, 1)
    return found
