"""Pearson's correlation of many pairs of columns, each on the rows that both have, once somebody asks for it."""

from collections.abc import Iterator, Sequence

import numpy as np

from renyi.allpairs.column_group import Variable
from renyi.allpairs.sums import correlation
from renyi.basis.orthonormal import standardised as unit_length
from renyi.compute.arrays import Array, Index
from renyi.data.column import Column, as_floats

# Numbers of one side that are looked at together, and columns of it.
_NUMBERS_AT_ONCE, _MOST_COLUMNS = 2**24, 512


def pearson_of(x: Sequence[Variable], y: Sequence[Variable], i: Index, j: Index, /) -> Array:
    """Correlations of columns i of x with columns j of y, NaN where one of the two has no order or is constant."""
    found = np.full(len(i), np.nan)
    size = max(1, min(_MOST_COLUMNS, _NUMBERS_AT_ONCE // x[0].n_rows))
    for pairs in _tiles(i, j, size):
        of_x, of_y = np.unique(i[pairs]), np.unique(j[pairs])
        if x is y and of_x[0] // size == of_y[0] // size:
            of_x = of_y = np.union1d(of_x, of_y)
        left = [x[k].column for k in of_x.tolist()]
        right = left if of_y is of_x else [y[k].column for k in of_y.tolist()]
        found[pairs] = _correlations(left, right)[np.searchsorted(of_x, i[pairs]), np.searchsorted(of_y, j[pairs])]
    return found


def _tiles(i: Index, j: Index, size: int) -> Iterator[Index]:
    """Pairs by groups of so many neighbouring columns on either side."""
    if len(i) == 0:
        return
    tiles = i // size * (int(j.max()) // size + 1) + j // size
    order = np.argsort(tiles, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(tiles[order])) + 1)


def _correlations(x: Sequence[Column], y: Sequence[Column]) -> Array:
    """Those of all columns of x with all of y."""
    a = np.stack([standardised(column) for column in x])
    b = a if y is x else np.stack([standardised(column) for column in y])
    if all(column.missing is None for column in (*x, *y)):
        return np.asarray(np.clip(a @ b.T / a.shape[1], -1.0, 1.0))
    has_a = _observed(x)
    has_b = has_a if y is x else _observed(y)
    n = np.maximum(has_a @ has_b.T, 1.0)
    mean_a, mean_b = a @ has_b.T / n, has_a @ b.T / n
    variances = (a**2) @ has_b.T / n - mean_a**2, has_a @ (b**2).T / n - mean_b**2
    return correlation(a @ b.T / n - mean_a * mean_b, *variances)


def _observed(columns: Sequence[Column]) -> Array:
    """Which rows (columns, rows) the columns have, as 1 and 0."""
    found = np.ones((len(columns), len(columns[0])))
    for own, column in zip(found, columns, strict=True):
        if column.missing is not None:
            own[column.missing] = 0.0
    return found


def standardised(column: Column, /) -> Array:
    """Values with mean 0 and variance 1, 0 where missing; all NaN where they have no order."""
    if column.is_vector or (column.is_category and np.count_nonzero(np.bincount(column.complete().values)) > 2):
        return np.full(len(column), np.nan)
    numbers = as_floats(column.complete().values)
    # Floats of more than 64 bits may be infinite or equal as these.
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = unit_length(numbers) * len(numbers) ** 0.5
    if column.missing is None:
        return np.asarray(numbers)
    spread = np.zeros(len(column))
    spread[~column.missing] = numbers
    return spread
