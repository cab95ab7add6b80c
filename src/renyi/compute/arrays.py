"""Types of arrays by short names, and the few operations that NumPy and torch spell differently.

All other operations are taken from `namespace`.

Tensors of many pairs keep every plane (one number of each pair) together in memory, whatever the order of their axes:
that is how a device reads fast.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from renyi.compute.memory import workspace

Array: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.intp]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]


def is_tensor(data: Any, /) -> bool:
    """Whether this is a tensor of torch, which nobody loads to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


def is_matrix_of_floats(data: Any, /) -> bool:
    """Whether this is a dense tensor of floats (rows, columns)."""
    return is_tensor(data) and data.is_floating_point() and data.ndim == 2 and data.layout == namespace(data).strided


def has_floats(array: Any, /) -> bool:
    """Whether the numbers of an array or a tensor are floats of 32 or 64 bits."""
    return str(array.dtype).removeprefix("torch.") in ("float32", "float64")


def columns_of_tensor(data: Any, /) -> tuple[Any, Mask] | None:
    """The columns of a tensor of floats, each in one piece (columns, rows), and which are complete and vary.

    None for what is no tensor.
    """
    if not is_tensor(data):
        return None
    numbers = data.T.contiguous()
    lowest, highest = namespace(data).aminmax(numbers, dim=1)
    # One that is not a number makes both so.
    return numbers, in_memory((highest - lowest > 0) & (highest - lowest < np.inf))


def namespace(array: Any, /) -> Any:
    """The library whose functions take this array."""
    return sys.modules["torch"] if is_tensor(array) else np


def like(values: Any, array: Any, /) -> Any:
    """Numbers in the library and on the device of an array, in their own type."""
    return namespace(array).as_tensor(values, device=array.device) if is_tensor(array) else np.asarray(values)


def in_memory(array: Any, /) -> Any:
    """The same numbers as an array of NumPy, wherever a tensor is; what is none stays as it is."""
    if not is_tensor(array):
        return array
    array = array.detach().cpu()
    # Float32 holds all numbers of bfloat16, which NumPy does not have.
    return (array.float() if array.dtype == namespace(array).bfloat16 else array).numpy()


def as_floats(array: Any, /) -> Any:
    """The same numbers in float64."""
    return array.double() if is_tensor(array) else array.astype(np.float64, copy=False)


def as_places(array: Any, /) -> Any:
    """Numbers that are not negative as whole ones below."""
    return array.long() if is_tensor(array) else array.astype(np.intp)


def stacked(planes: Sequence[Any], /) -> Any:
    """Arrays of one shape, as the last axis of one."""
    if is_tensor(planes[0]):
        return namespace(planes[0]).stack(list(planes)).movedim(0, -1)
    return np.stack(planes, axis=-1)


def joined(parts: Sequence[Any], /) -> Any:
    """Arrays one after the other along their last axis."""
    if is_tensor(parts[0]):
        return namespace(parts[0]).cat([part.movedim(-1, 0) for part in parts]).movedim(0, -1)
    return np.concatenate(parts, axis=-1)


def gathered(array: Any, i: Any, j: Any, /) -> Any:
    """What an array (x, y, …) has at pairs (i, j), as (pairs, …)."""
    if not is_tensor(array):
        return array[i, j]
    planes = array.movedim((0, 1), (-2, -1)).flatten(-2)
    n_pairs = planes.shape[-1]
    taken = planes if len(i) == n_pairs else planes.index_select(-1, i * array.shape[1] + j)
    return taken.movedim(-1, 0)


def pair_index(shape: tuple[int, int], array: Any = None, /, *, above: bool) -> tuple[Any, Any]:
    """Rows and columns of all entries of a matrix, or of those above its diagonal; made where an array is."""
    if not is_tensor(array):
        i, j = np.triu_indices(shape[0], 1) if above else (index.ravel() for index in np.indices(shape))
        return i, j
    torch = namespace(array)
    if above:
        i, j = torch.triu_indices(*shape, 1, device=array.device)
        return i, j
    places = torch.arange(shape[0] * shape[1], device=array.device)
    return places // shape[1], places % shape[1]


def by_pair(planes: Any, /) -> Any:
    """Planes (…, pairs) as one matrix after the other (pairs, …); a device keeps its planes."""
    if is_tensor(planes):
        return planes.movedim(-1, 0)
    return np.ascontiguousarray(np.moveaxis(planes, -1, 0))


def at_least(array: Any, bound: Any, /) -> Any:
    """The larger of an array's numbers and a bound, one number or an array."""
    if is_tensor(array):
        return namespace(array).maximum(array, bound) if is_tensor(bound) else array.clamp(min=np.asarray(bound).item())
    return np.maximum(array, bound)


def interpolated(array: Any, knots: Array, values: Array, /) -> Any:
    """The line through values at rising knots, continued by its ends."""
    if not is_tensor(array):
        return np.interp(array, knots, values)
    torch = namespace(array)
    at, known = like(knots, array), like(values, array)
    step = torch.searchsorted(at, array.contiguous()).clamp(1, len(knots) - 1)
    share = ((array - at[step - 1]) / (at[step] - at[step - 1])).clamp(0.0, 1.0)
    return torch.lerp(known[step - 1], known[step], share)


def empty(place: str, shape: tuple[int, ...], array: Any, /) -> Any:
    """Float64 with anything in it, where an array is; of NumPy in the workspace of this name."""
    if not is_tensor(array):
        return workspace(place, shape)
    torch = namespace(array)
    return torch.empty(shape, dtype=torch.float64, device=array.device)


def flat_places(mask: Any, /) -> Any:
    """Where a mask (m,) is True."""
    return mask.nonzero().ravel() if is_tensor(mask) else np.flatnonzero(mask)


def log_factorials(numbers: Any, /) -> Any:
    """Logarithms of the factorials of numbers, whole or not."""
    return namespace(numbers).lgamma(as_floats(numbers) + 1.0) if is_tensor(numbers) else gammaln(numbers + 1.0)


def taken(place: str, planes: Any, which: Any, /) -> Any:
    """Numbers (…, pairs) of some pairs; of NumPy in the workspace of this name."""
    if is_tensor(planes):
        return planes.index_select(-1, which)
    found = workspace(place, (*planes.shape[:-1], len(which)))
    return np.take(planes, which, axis=-1, out=found, mode="clip")


def mixed(weights: Any, planes: Any, /) -> Any:
    """Functions (functions, …, columns, masks) mixed by weights (columns, functions, mixtures) of every column."""
    flat = planes.reshape(len(planes), -1, *planes.shape[-2:])
    if is_tensor(planes):
        found = namespace(planes).einsum("cij,ixcm->jxcm", weights, flat)
    else:
        found = np.empty((weights.shape[2], *flat.shape[1:]))
        for column, own in enumerate(weights):  # one after the other, BLAS is faster than einsum
            found[:, :, column] = (own.T @ flat[:, :, column].reshape(len(flat), -1)).reshape(found[:, :, column].shape)
    return found.reshape(-1, *planes.shape[1:])


def mix_both_ways(weights: Any, gram: Any, /) -> None:
    """Products (functions, functions, columns, masks) of functions to those of their mixtures, in place, by NumPy."""
    for column, own in enumerate(weights):
        for _ in range(2):
            turned = (own.T @ gram[:, :, column].reshape(len(own), -1)).reshape(gram[:, :, column].shape)
            gram[:, :, column] = turned.swapaxes(0, 1)


def in_parts(items: Any, size: int, /) -> Iterator[Any]:
    """So many items at a time, of an array or a list."""
    return (items[start : start + size] for start in range(0, len(items), size))


def by_value(values: Any, /) -> list[tuple[Any, int]]:
    """Positions of every distinct value."""
    if len(values) == 0:
        return []
    if bool((values == values[0]).all()):
        return [(slice(None), int(values[0]))]
    if is_tensor(values):
        return [(values == value, value) for value in values.unique().tolist()]
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=values[order[0]] - 1))
    return [(rows, int(values[rows[0]])) for rows in np.split(order, starts[1:])]


class Lookup:
    """A small table that is read at very many of its rows at once, a column of the table at a time."""

    def __init__(self, table: Array, /) -> None:
        # NumPy reads the numbers of a row together; a device reads each column by itself, and keeps them.
        self._table = np.ascontiguousarray(table)
        self._on_devices: dict[Any, tuple[Any, list[Any]]] = {}

    def at(self, rows: Any, /) -> Any:
        """Every column at these rows."""
        return [column[rows] for column in self._on(rows)[1]] if is_tensor(rows) else self._table[rows].T

    def table(self, array: Any, /) -> Any:
        """The whole table, where an array is."""
        return self._on(array)[0] if is_tensor(array) else self._table

    def _on(self, tensor: Any) -> tuple[Any, list[Any]]:
        if tensor.device not in self._on_devices:
            table = like(self._table, tensor)
            self._on_devices[tensor.device] = table, [column.contiguous() for column in table.T]
        return self._on_devices[tensor.device]


# What NumPy would write to memory in between costs it more than the sums; torch copies more than it sums.


def sum_of_products(x: Any, y: Any, /) -> Any:
    """Inner products of vectors (m, …)."""
    return (x * y).sum(0) if is_tensor(x) else np.einsum("i...,i...->...", x, y)


def sums_of_products(rows: Any, y: Any, /) -> Any:
    """Inner products of the rows of matrices (a, m, …) with vectors (m, …)."""
    return (rows * y[None]).sum(1) if is_tensor(rows) else np.einsum("ij...,j...->i...", rows, y)


def sum_of_rows(weights: Any, rows: Any, /) -> Any:
    """Rows (m, …, pairs), weighted (m, pairs), added up."""
    if is_tensor(rows):
        return (weights.reshape(len(weights), *(1,) * (rows.ndim - 2), weights.shape[1]) * rows).sum(0)
    return np.einsum("kp,k...p->...p", weights, rows)
