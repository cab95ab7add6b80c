"""Sums over rows from which all pairs of a tile are answered. Rows fold: sums of parts of them add up to those of all.

A table in memory is one part. A file, a partition of a cluster or a batch of tonight's rows gives its own sums, on the
same cells, and whatever follows sees their total alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.masked_gram import masked_sums
from renyi.allpairs.stack import Values
from renyi.compute.arrays import Array, Index, at_least, gathered, in_memory, joined, namespace
from renyi.compute.threads import share
from renyi.inference.multiscale import family
from renyi.pair.independence import Crosses

# Of values with variance 1 over their own rows; what rounding leaves of a constant is below.
_LEAST_VARIANCE = 1e-20


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of products of the functions of columns x and y (columns of x, columns of y, …), over some rows.

    `nested` has what `NestedProducts` wants, `values` the products of standardised values, where Pearson's correlation
    cannot wait until it is asked for. Rows in batches leave more behind: `moments`, for either side sums and sums of
    squares of values (2, columns, columns of the other side) over the rows that the other has, since those are
    standardised only roughly; and, where cells are missing, the rows that both have in `common`, and `counts`, for
    either side and each of its columns the rows of every cell that the columns of the other side have. Of vectors these
    are sums of functions, and of products of these, on such rows (`masked_sums`), of the coefficient and of the test.
    """

    n_rows: int
    coefficient: Array
    nested: tuple[Array, Array, Array]
    values: Array | None = None
    moments: tuple[Array, Array] | None = None
    counts: tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]] | None = None
    common: Array | None = None

    @classmethod
    def of(cls, x: ColumnGroup, y: ColumnGroup, /) -> "Sums":
        """Over all rows of a table."""
        coefficient, nested, values = _products(x, y)
        return cls(x.coefficient.n_rows, coefficient, nested, values)

    @classmethod
    def of_batch(cls, x: ColumnGroup, y: ColumnGroup, /) -> "Sums":
        """Over some of the rows."""
        if x.values is None or y.values is None:
            raise ValueError("a batch has values")
        n_rows = x.coefficient.n_rows
        if x.is_complete and y.is_complete:
            coefficient, nested, values = _products(x, y)
            shapes = (len(x.positions), len(y.positions)), (len(y.positions), len(x.positions))
            moments = [
                np.broadcast_to(_moments(side)[:, :, np.newaxis], (2, *shape)).copy()
                for side, shape in zip((x.values, y.values), shapes, strict=True)
            ]
            return cls(n_rows, coefficient, nested, values, (moments[0], moments[1]))
        # A function may drop out on common rows, and the next one takes its place: all products may be needed.
        coefficient, whole, values = (
            one.products(other)
            for one, other in ((x.coefficient, y.coefficient), (x.nested, y.nested), (x.values, y.values))
        )
        of_x, of_y = _observed(x), _observed(y)
        return cls(
            n_rows,
            coefficient,
            (whole, whole[..., 0], whole[..., 0, :]),
            values[..., 0, 0],
            (_common_moments(x.values, of_y), _common_moments(y.values, of_x)),
            (_left_of(x, of_y), _left_of(y, of_x)),
            of_x.T @ of_y,
        )

    def part(self, x: slice, y: slice, /) -> "Sums":
        """Those of some columns of either side, of rows in memory."""
        corner, of_x, of_y = (part[x, y] for part in self.nested)
        values = None if self.values is None else self.values[x, y]
        return Sums(self.n_rows, self.coefficient[x, y], (corner, of_x, of_y), values)

    def __add__(self, other: "Sums") -> "Sums":
        values = moments = counts = common = None
        if self.values is not None and other.values is not None:
            values = self.values + other.values
        if self.moments is not None and other.moments is not None:
            moments = self.moments[0] + other.moments[0], self.moments[1] + other.moments[1]
        if self.counts is not None and other.counts is not None:
            counts = _added(self.counts[0], other.counts[0]), _added(self.counts[1], other.counts[1])
        if self.common is not None and other.common is not None:
            common = self.common + other.common
        corner, of_x, of_y = (a + b for a, b in zip(self.nested, other.nested, strict=True))
        return Sums(
            self.n_rows + other.n_rows,
            self.coefficient + other.coefficient,
            (corner, of_x, of_y),
            values,
            moments,
            counts,
            common,
        )

    def pearson(self, i: Index, j: Index, n: Index | int, /) -> Array | None:
        """Pearson's correlation of pairs that have n rows; None where it waits until it is asked for."""
        if self.values is None:
            return None
        mean: Array = gathered(self.values, i, j) / at_least(n, 1)
        if self.moments is None:
            plain: Array = namespace(mean).clip(mean, -1.0, 1.0)
            return plain
        sides = [side / at_least(n, 1) for side in (self.moments[0][:, i, j], self.moments[1][:, j, i])]
        mean_x, mean_y = (side[0] for side in sides)
        variance_x, variance_y = (side[1] - side[0] ** 2 for side in sides)
        return correlation(mean - mean_x * mean_y, variance_x, variance_y)

    def of_pair(self, i: int, j: int, n: int, /) -> Crosses:
        """Mean products of one pair over its n rows, as far as they are known."""
        corner, of_x, of_y = (in_memory(part[i, j]) for part in self.nested)
        nested = np.zeros((len(of_x), len(of_y)))
        nested[: corner.shape[0], : corner.shape[1]] = corner
        nested[:, 0], nested[0] = of_x, of_y
        return Crosses(in_memory(self.coefficient[i, j]) / max(n, 1), nested / max(n, 1))

    @property
    def n_bytes(self) -> int:
        """Memory that these take."""
        arrays = [self.coefficient, *self.nested, *(self.moments or ())]
        arrays += [] if self.values is None else [self.values]
        return sum(array.nbytes for array in (*arrays, *(part for side in self.counts or () for part in side)))


def correlation(covariance: Array, variance_x: Array, variance_y: Array, /, *, least: float = _LEAST_VARIANCE) -> Array:
    """From moments, NaN where a variance is no more than the least that is one.

    What an outlier on a row that the other side lacks leaves of standardised values is small, but it is there.
    """
    xp = namespace(covariance)
    is_there = xp.minimum(variance_x, variance_y) > least
    scale = xp.sqrt(xp.where(is_there, variance_x * variance_y, 1.0))
    found: Array = xp.where(is_there, xp.clip(covariance / scale, -1.0, 1.0), np.nan)
    return found


def reaches_beyond_corner(x: ColumnGroup, y: ColumnGroup, /) -> bool:
    """Whether some block of two columns is wide both ways and ends beyond the corners, as against many levels."""
    blocks = family(x.scales, y.scales, n=x.n_rows)
    return any(min(a, b) > 1 and (a > x.corner.dimension or b > y.corner.dimension) for a, b in blocks)


def _products(x: ColumnGroup, y: ColumnGroup) -> tuple[Array, tuple[Array, Array, Array], Array | None]:
    """Sums of products of the coefficient, of nested bases as `NestedProducts` wants them, and of values.

    Threads without other work take some of these: of each alone they would have to wait before every chunk of rows.
    """
    are_whole, has_values = reaches_beyond_corner(x, y), x.values is not None and y.values is not None
    # Of a group with itself the other edge is the same one, turned.
    has_edges = x.rest is not None and not are_whole, y.rest is not None and not are_whole and y is not x
    factors: list[tuple[Any, Any]] = [
        (x.coefficient, y.coefficient),
        (x.nested, y.nested) if are_whole else (x.corner, y.corner),
    ]
    factors += [(x.rest, y.corner.leading(1))] if has_edges[0] else []
    factors += [(x.corner.leading(1), y.rest)] if has_edges[1] else []
    factors += [(x.values, y.values)] if has_values else []
    coefficient, corner, *others = share(lambda pair: pair[0].products(pair[1]), factors)
    values = others.pop()[..., 0, 0] if has_values else None
    of_x, of_y = corner[..., 0], corner[..., 0, :]
    if has_edges[0]:
        of_x = joined((of_x, others[0][..., 0]))
    if has_edges[1]:
        of_y = joined((of_y, others[-1][..., 0, :]))
    elif has_edges[0] and y is x:
        of_y = of_x.swapaxes(0, 1)
    return coefficient, (corner, of_x, of_y), values


def _added(some: Sequence[NDArray[Any]], more: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    return tuple(a + b for a, b in zip(some, more, strict=True))


def _moments(values: Values) -> Array:
    numbers = values.numbers
    return np.stack((numbers.sum(axis=1), np.einsum("ij,ij->i", numbers, numbers)))


def _observed(side: ColumnGroup) -> Array:
    """Which rows (rows, columns) the columns of a side have."""
    return np.stack(
        [codes < size - 1 for size, codes in zip(side.corner.sizes, side.codes, strict=True)], axis=1
    ).astype(np.float64)


def _common_moments(values: Values, observed: Array) -> Array:
    return np.stack((values.numbers @ observed, values.numbers**2 @ observed))


def _left_of(side: ColumnGroup, observed: Array) -> tuple[NDArray[Any], ...]:
    """What the rows of columns of the other side leave of all columns of a side."""
    if side.scales.is_vector:
        return tuple(masked_sums(stack, observed > 0.0) for stack in (side.coefficient, side.corner))
    return _common_counts(side.corner, observed)


def _common_counts(stack: Any, observed: Array) -> tuple[NDArray[np.int64], ...]:
    """For every column the rows (cells, columns of the other side) of its cells that the others have."""
    from scipy.sparse import csc_array

    n_rows, counted = len(observed), []
    # One entry a row, at its cell: the product adds up whole rows of masks.
    starts, ones = np.arange(n_rows + 1, dtype=np.int32), np.ones(n_rows)
    for size, codes in zip(stack.sizes, stack.codes, strict=True):
        cells = csc_array((ones, codes.astype(np.int32), starts), shape=(size, n_rows))
        counted.append((cells @ observed)[:-1].astype(np.int64))
    return tuple(counted)
