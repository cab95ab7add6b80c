"""Functions of all columns that may be chosen, and their products with others.

That is what takes the time of a search, and what has a place: functions are held in memory, where NumPy multiplies them
in threads, or on a device of torch, which has the cells of all columns and gathers functions as they are multiplied.
What others there are, and all that is done with the products, is the same for both.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.device.stack import DeviceRows, DeviceStack, Weighted
from renyi.compute.arrays import Array, Index, in_memory, in_parts, like, namespace
from renyi.compute.devices import free_bytes, within_room
from renyi.compute.threads import map_in_threads
from renyi.selection.candidates import Candidate

# Functions (functions, rows) in float64, where a search keeps them.
Rows: TypeAlias = Any

# As in tables, float32 serves on many rows.
_MANY_ROWS = 4096
# Numbers worked on by a thread at once, and bytes of functions that are kept between steps.
_BATCH, _MOST_BYTES = 2**21, 2**30
# A product with one number of a row takes this many times as long where rows are gathered as where they are in order.
_TIMES_AS_LONG = 16
# Parts of a device's free memory: for the cells of columns at a time, and for those that stay there.
_SHARE_AT_ONCE, _SHARE_KEPT = 0.1, 0.25


class Products(Protocol):
    """The functions of all candidates where they are."""

    def placed(self, functions: Array, /) -> Rows:
        """Other functions (functions, rows), there."""
        ...

    def functions(self, which: int, /) -> Rows:
        """Those of one candidate (functions, rows)."""
        ...

    def products(self, members: Sequence[int], others: Rows, /) -> Array:
        """Of candidates of one signature with others (candidates, functions, others), in memory."""
        ...

    def permuted(self, members: Sequence[int], others: Rows, /) -> Callable[[Index], Array]:
        """Of some orders of the rows of candidates their products with others (orders, functions, others), in memory.

        Row i of a candidate is moved to where the order has it.
        """
        ...

    def pair_scores(self, which: Sequence[int], residuals: Rows, n_factors: int, /) -> Array:
        """Squared products with residuals of the products of leading functions, summed (candidates, candidates).

        Only what is above the diagonal counts.
        """
        ...

    def forget(self, which: int, /) -> None:
        """A candidate that was chosen."""
        ...


class ProductsInMemory:
    """Functions in memory, kept if there is room for those of all candidates."""

    def __init__(self, candidates: Sequence[Candidate], n_rows: int, /, *, n_threads: int = 1) -> None:
        self._candidates, self._n, self._n_threads = candidates, n_rows, n_threads
        self._dtype = np.float32 if n_rows >= _MANY_ROWS else np.float64
        n_bytes = n_rows * np.dtype(self._dtype).itemsize * sum(one.width for one in candidates)
        self._has_room = n_bytes <= _MOST_BYTES
        self._kept: dict[int, NDArray[Any]] = {}

    def placed(self, functions: Array, /) -> Array:
        return functions

    def functions(self, which: int, /) -> Array:
        return self._candidates[which].functions()

    def products(self, members: Sequence[int], others: Array, /) -> Array:
        right = np.ascontiguousarray(others.T, dtype=self._dtype)
        step = max(1, _BATCH // (self._n * self._candidates[members[0]].width))
        batches = in_parts(members, step)

        def multiplied(batch: Sequence[int]) -> Array:
            return np.stack([self._functions(j) @ right for j in batch]).astype(np.float64)

        return np.concatenate(map_in_threads(multiplied, batches, n_threads=self._n_threads))

    def _functions(self, j: int) -> NDArray[Any]:
        if j in self._kept:
            return self._kept[j]
        found = np.ascontiguousarray(self._candidates[j].functions(), dtype=self._dtype)
        if self._has_room:
            self._kept[j] = found
        return found

    def permuted(self, members: Sequence[int], others: Array, /) -> Callable[[Index], Array]:
        functions = np.concatenate([self.functions(j) for j in members])
        frequent = np.concatenate([self._candidates[j].at_frequent_cell for j in members])
        away = functions - frequent[:, np.newaxis]
        if np.count_nonzero(away) * _TIMES_AS_LONG > away.size:
            return partial(_permuted, functions, others)
        from scipy.sparse import csr_array

        at_frequent_cells = np.outer(frequent, others.sum(axis=1))
        return partial(_permuted_exceptions, csr_array(away), at_frequent_cells, np.ascontiguousarray(others.T))

    def pair_scores(self, which: Sequence[int], residuals: Array, n_factors: int, /) -> Array:
        values = np.zeros((len(which), n_factors, self._n), dtype=np.float32)
        for out, j in zip(values, which, strict=True):
            out[: self._candidates[j].width] = self._candidates[j].functions(n_factors)
        flat = values.reshape(-1, self._n)
        scores = np.zeros((len(which), len(which)))
        for residual in residuals.astype(np.float32):
            products = ((flat * residual) @ flat.T).reshape(len(which), n_factors, len(which), n_factors)
            scores += np.sum(products**2, axis=(1, 3))
        return scores

    def forget(self, which: int, /) -> None:
        self._kept.pop(which, None)


class ProductsOnDevice:
    """Functions on a device of torch: the cells of all columns there, as far as there is room, and their tables."""

    def __init__(self, candidates: Sequence[Candidate], n_rows: int, device: Any, /) -> None:
        import torch

        self._candidates, self._n, self._device = candidates, n_rows, device
        self._dtype = torch.float32 if n_rows >= _MANY_ROWS else torch.float64
        cells = {id(one.table): len(one.table) for one in candidates}
        # The cell of a row takes 4 bytes, and as much while it comes; a cell of the table has 8 numbers at least.
        bytes_of_column = 8 * n_rows + 64 * sum(cells.values()) / max(1, len(candidates))
        self._at_once = max(1, min(len(candidates), int(_SHARE_AT_ONCE * free_bytes(device) / bytes_of_column)))
        self._groups: dict[Any, list[int]] = {}
        for j, one in enumerate(candidates):
            self._groups.setdefault(one.signature, []).append(j)
        self._kept: dict[int, DeviceStack] = {}

    def placed(self, functions: Array, /) -> Rows:
        import torch

        return torch.tensor(np.ascontiguousarray(functions), device=self._device)

    def functions(self, which: int, /) -> Rows:
        one = self._candidates[which]
        return self.placed(one.table.T).index_select(1, self._cells(which).long())

    def _cells(self, which: int) -> Any:
        import torch

        codes = self._candidates[which].codes
        # Of NumPy's whole numbers torch adds up but few.
        return torch.as_tensor(codes.astype(np.int32), device=self._device) if namespace(codes) is np else codes

    def products(self, members: Sequence[int], others: Rows, /) -> Array:
        one, wanted = self._candidates[members[0]], set(members)
        right = DeviceRows.of(others, dtype=self._dtype)

        def multiplied(at_once: int) -> Array:
            self._resize(at_once)
            found = np.empty((len(self._candidates), one.width, len(others)))
            for block in in_parts(self._groups[one.signature], self._at_once):
                # Those that were chosen are few: it is quicker to multiply them as well than to leave them out.
                if not wanted.isdisjoint(block):
                    sums = self._kept_stack(block).products(right)[:, : len(others), :, 0]
                    found[block] = in_memory(sums.double()).swapaxes(1, 2)
            return found[list(members)] * right.sizes

        return within_room(multiplied, self._at_once, self._device, f"one column of {self._n:,} rows")

    def permuted(self, members: Sequence[int], others: Rows, /) -> Callable[[Index], Array]:
        return partial(_permuted, namespace(others).concatenate([self.functions(j) for j in members]), others)

    def pair_scores(self, which: Sequence[int], residuals: Rows, n_factors: int, /) -> Array:
        def stack(block: Sequence[int]) -> DeviceStack:
            # Few functions are not filled up with zeros: all pairs of them are multiplied.
            return self._stack([which[place] for place in block], n_factors).leading(n_factors)

        def scored(at_once: int) -> Array:
            self._resize(at_once)
            scores = np.zeros((len(which), len(which)))
            blocks = list(in_parts(range(len(which)), self._at_once))
            for k, block in enumerate(blocks):
                left = stack(block)
                weighted = [Weighted.of(left, residual) for residual in residuals]
                for later in blocks[k:]:
                    right = left if later is block else stack(later)
                    squares = sum(((one.products(right) * one.size) ** 2).sum((2, 3)) for one in weighted)
                    scores[np.ix_(block, later)] = in_memory(squares)
            return scores

        return within_room(scored, self._at_once, self._device, f"a pair of columns of {self._n:,} rows")

    def forget(self, which: int, /) -> None:
        """The cells of a column lie between those of others, and stay."""

    def _resize(self, at_once: int) -> None:
        """Take fewer columns at a time from now on, if the device is full."""
        if at_once < self._at_once:
            self._at_once = at_once
            self._kept.clear()

    def _kept_stack(self, block: Sequence[int]) -> DeviceStack:
        """All functions of a block of candidates, which stay on the device if there is room."""
        if block[0] in self._kept:
            return self._kept[block[0]]
        has_room = 4 * self._n * len(block) <= _SHARE_KEPT * free_bytes(self._device)
        stack = self._stack(block, self._candidates[block[0]].width)
        if has_room:
            self._kept[block[0]] = stack
        return stack

    def _stack(self, block: Sequence[int], width: int) -> DeviceStack:
        """Leading functions of some candidates; 0 beyond those that there are."""
        import torch

        starts: dict[int, int] = {}
        tables: list[Array] = []
        n_cells = 0
        places = torch.empty((self._n, len(block)), dtype=torch.int32, device=self._device)
        for column, j in enumerate(block):
            table = self._candidates[j].table
            if id(table) not in starts:
                starts[id(table)] = n_cells
                n_cells += len(table)
                tables.append(np.pad(table[:, :width], ((0, 0), (0, max(0, width - table.shape[1])))))
            places[:, column] = self._cells(j) + starts[id(table)]
        return DeviceStack.of(tables, places, dtype=self._dtype)


def _permuted(functions: Rows, others: Rows, orders: Index) -> Array:
    """Products of functions in some orders of their rows with others (orders, functions, others)."""
    moved = namespace(functions).empty((len(orders), *functions.shape), dtype=functions.dtype, device=functions.device)
    for out, order in zip(moved, like(orders, functions), strict=True):
        out[:, order] = functions
    found: Array = in_memory(moved.reshape(-1, functions.shape[1]) @ others.T)
    return found.reshape(*moved.shape[:2], -1)


def _permuted_exceptions(away: Any, at_frequent_cells: Array, others: Array, orders: Index) -> Array:
    """The same by the few rows at which functions differ from what they are at their most frequent cells.

    Rare levels leave few such rows; the products of functions that were the same at all rows are the same in any order.
    `others` are (rows, others) here.
    """
    ends = away.nnz * np.arange(len(orders))[:, np.newaxis] + away.indptr[1:]
    moved = type(away)(
        (np.tile(away.data, len(orders)), orders[:, away.indices].ravel(), np.concatenate(([0], ends.ravel()))),
        shape=(ends.size, len(others)),
    )
    return np.asarray(moved @ others).reshape(*ends.shape, -1) + at_frequent_cells
