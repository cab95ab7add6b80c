"""Columns of two tables to sums over rows of products of their functions, and these to p-values of pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple, Protocol

import numpy as np

from renyi.change.functions import Shape, Spanned, functions_of
from renyi.compute.arrays import Array, Index
from renyi.inference.change import COMPARED, SMOOTHEST, SPANNED, Own, Sums, changes

# Rows of functions that stay in cache, and columns whose sums are held at once: 64 × 64 blocks are 11 MB.
_ROWS, _COLUMNS = 2048, 128
# On so many rows products are rounded to 7 digits, and added up in full.
_MANY_ROWS = 8192
# Pairs whose small matrices are handled at once.
_PAIRS = 1024
# Covariances are taken from so many rows of either table where all columns are smooth and at most a share of the cells
# of each is missing; what is compared comes from all rows. Sizes of such tests are in docs/validation/change.md.
ROWS_OF_COVARIANCE, _MOST_GAPS = 10_000, 0.1
_SEED = 0


@dataclass(frozen=True, eq=False)
class ChangedPairs:
    """All pairs of columns, in their order: logarithms of p-values of equal dependence, and how far it moved."""

    i: Index
    j: Index
    log_pvalues: Array
    moved: Array


class Tile(NamedTuple):
    """Sums between some columns and others: (tables, left, right, leading, leading) and (…, spanned, spanned).

    Those of `compared` functions are over all rows; those of all `spanned` ones, for covariances, are over fewer, and
    `times` as large as they came, so that they weigh as much.
    """

    compared: Array
    spanned: Array
    times: Array

    @classmethod
    def of_all_rows(cls, sums: Array, /) -> "Tile":
        """Sums over all rows are both."""
        return cls(sums, sums, np.ones(2))


class SumsOfRows(Protocol):
    """Sums over the rows of two tables, wherever these are or were."""

    def between(self, left: slice, right: slice, /) -> Tile:
        """Between some columns and others."""
        ...


@dataclass(frozen=True, eq=False)
class RowsOfTables:
    """Rows of two tables in memory, by table and column."""

    rows: tuple[Sequence[Spanned], Sequence[Spanned]]

    @cached_property
    def _drawn(self) -> tuple[Sequence[Spanned], Sequence[Spanned]] | None:
        """Rows from which covariances are taken; None where that is all of them."""
        n_rows = [len(own[0]) for own in self.rows]
        if max(n_rows) <= ROWS_OF_COVARIANCE or not all(
            column.is_smooth and column.share_of_gaps <= _MOST_GAPS for own in self.rows for column in own
        ):
            return None
        found = []
        for own, n in zip(self.rows, n_rows, strict=True):
            rng = np.random.default_rng(_SEED)
            some = np.sort(rng.choice(n, ROWS_OF_COVARIANCE, replace=False)) if n > ROWS_OF_COVARIANCE else slice(None)
            found.append([Spanned(column.places[some]) for column in own])
        return found[0], found[1]

    def between(self, left: slice, right: slice, /) -> Tile:
        """Between some columns and others."""

        def sums(tables: Sequence[Sequence[Spanned]], n_functions: int) -> list[Array]:
            others = [None if right == left else own[right] for own in tables]
            return [sums_between(own[left], other, n_functions) for own, other in zip(tables, others, strict=True)]

        if self._drawn is None:
            return Tile.of_all_rows(np.stack(sums(self.rows, SPANNED)))
        times = np.array([len(own[0]) / len(some[0]) for own, some in zip(self.rows, self._drawn, strict=True)])
        spanned = np.stack(sums(self._drawn, SPANNED))
        return Tile(np.stack(sums(self.rows, COMPARED + 1)), spanned * times.reshape(2, 1, 1, 1, 1), times)


def changed_pairs(shapes: Sequence[Shape], rows: SumsOfRows, /) -> ChangedPairs:
    """What changed in all pairs of columns between two tables."""
    if not shapes:
        return ChangedPairs(*np.empty((2, 0), dtype=np.intp), *np.empty((2, 0)))
    functions = functions_of(shapes)
    starts = range(0, len(shapes), _COLUMNS)
    own = Own.empty(len(shapes))
    found = []
    # Diagonal tiles come first, since they have the sums of columns with themselves.
    tiles = sorted(combinations_with_replacement(starts, 2), key=lambda tile: tile[0] != tile[1])
    for first, second in tiles:
        left, right = (slice(start, min(start + _COLUMNS, len(shapes))) for start in (first, second))
        tile = rows.between(left, right)
        if left == right:
            are_smooth, every = [shape.is_smooth for shape in shapes[left]], np.arange(left.stop - left.start)
            of_columns = np.stack([own_sums(are_smooth, part) for part in tile.spanned])
            own.put(left, functions.pooled[left], of_columns, tile.compared[:, every, every, 0, 0])
        for i, j in _batches(left, right):
            at = slice(None), i - left.start, j - right.start
            both = Sums(tile.spanned[at], own.take(i), own.take(j), tile.compared[at], tile.times)
            found.append((i, j, *changes(functions.take(i), functions.take(j), both)))
    if not found:
        return changed_pairs((), rows)
    parts = [np.concatenate(part) for part in zip(*found, strict=True)]
    order = np.lexsort((parts[1], parts[0]))
    return ChangedPairs(*(part[order] for part in parts))


def _batches(left: slice, right: slice) -> Iterator[tuple[Index, Index]]:
    i, j = np.meshgrid(np.arange(left.start, left.stop), np.arange(right.start, right.stop), indexing="ij")
    kept = i < j
    i, j = i[kept], j[kept]
    for start in range(0, len(i), _PAIRS):
        yield i[start : start + _PAIRS], j[start : start + _PAIRS]


def sums_between(
    left: Sequence[Spanned], right: Sequence[Spanned] | None = None, n_functions: int = SPANNED, /
) -> Array:
    """Sums over rows of one table (left, right, functions, functions), of some columns with others or one another.

    Products of waves above `SMOOTHEST` are of use beside compared functions alone, and others are left at 0.
    """
    n_rows, is_square = len(left[0]), right is None
    sides = (left,) if right is None else (left, right)
    first = int(not any(column.has_gaps for side in sides for column in side))
    kind = np.float32 if n_rows >= _MANY_ROWS else np.float64
    buffers = [np.empty((n_functions, len(side), _ROWS), dtype=kind) for side in sides]
    total = np.zeros((n_functions, len(left), n_functions, len(sides[-1])))
    of_sides = [np.zeros((n_functions, len(side))) for side in sides]
    smooth, rough, compared = slice(first, SMOOTHEST + 1), slice(SMOOTHEST + 1, None), slice(1, COMPARED + 1)
    blocks = [(smooth, smooth)]
    if n_functions > SMOOTHEST + 1:
        blocks += [(rough, compared), *([] if is_square else [(compared, rough)])]
    for start in range(0, n_rows, _ROWS):
        some = slice(start, min(start + _ROWS, n_rows))
        for side, buffer, whole in zip(sides, buffers, of_sides, strict=True):
            buffer[:, :, some.stop - some.start :] = 0.0
            for k, column in enumerate(side):
                column.fill(some, buffer[:, k, : some.stop - some.start])
            np.add(whole, buffer.sum(axis=2, dtype=np.float64), out=whole)
        for of_left, of_right in blocks:
            x, y = buffers[0][of_left].reshape(-1, _ROWS), buffers[-1][of_right].reshape(-1, _ROWS)
            total[of_left, :, of_right] += (x @ y.T).reshape(total[of_left, :, of_right].shape)
    if first:
        total[0], total[:, :, 0, :] = of_sides[-1], of_sides[0][:, :, np.newaxis]
    found = total.transpose(1, 3, 0, 2)
    if is_square:
        found[:, :, compared, rough] = found[:, :, rough, compared].transpose(1, 0, 3, 2)
    return np.ascontiguousarray(found)


def own_sums(are_smooth: Sequence[bool], sums: Array, /) -> Array:
    """Sums of products of the functions of every column with one another, out of those between all of them."""
    every = np.arange(len(are_smooth))
    found = sums[every, every].copy()
    rough = np.arange(SMOOTHEST + 1, SPANNED)
    for own, is_smooth in zip(found, are_smooth, strict=True):
        if is_smooth:
            own[rough, rough] = own[0, 0]
    return found
