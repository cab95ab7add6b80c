"""A table as what later ones are compared with: cells of its columns with their rows, and sums over rows. No row.

Cells end midway between two values; a value itself is kept where many rows have it, and the names of levels are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.ranks import cells_of_groups, quantise
from renyi.change.functions import FEWEST_OF_LEVEL, MOST_ATOM, Shape, Spanned, levels_of
from renyi.change.marginals import Marginal
from renyi.change.sums import Tile, own_sums, sums_between
from renyi.compute.arrays import Array, Index
from renyi.data.column import Column, Kind
from renyi.inference.change import SMOOTHEST, SPANNED

# Cells of a number: fine enough for twenty waves.
_CELLS = 512
# Columns whose sums are taken at once.
_AT_ONCE = 128
# Beyond the outermost values there is room of this share of the range, so that these are not known.
_ROOM = 1e-3
# Of the largest floats there is none that would leave their range.
_LARGEST_ROOM = 1e291
# Of whole numbers of 64 bits the last one that is a float.
_LATEST = 2.0**63 - 1024
_SEED = 0


@dataclass(frozen=True, eq=False)
class Remembered:
    """One column of a table: the rows of every cell, and which functions of it sums are kept of.

    The cells of a number end at `edges`, and `values` stand for them; the first and the last one are beyond its range.
    """

    name: str
    kind: Kind
    type: str
    values: NDArray[Any]
    counts: NDArray[np.int64]
    n_missing: int
    edges: Array
    level_of: Index | None
    is_ordered: bool
    levels: tuple[Any, ...] = ()
    dtype: str = ""

    @classmethod
    def of(cls, column: Column, kind: str, /) -> "tuple[Remembered, Spanned]":
        """A column, and its functions at every row."""
        marginal, codes = Marginal.of(column, len(column))
        if column.is_category:
            found = cls._of_levels(marginal, kind)
            cells = codes
        else:
            found = cls._of_numbers(marginal, kind, column.values.dtype.str)
            cells = np.where(codes < 0, -1, found.cell_of(marginal.numbers)[codes])
        shape = Shape(column.name, found.is_ordered, found.level_of)
        if found.level_of is None:
            return found, shape.rows(codes, marginal.middles[0])
        return found, shape.rows(cells, np.empty(0))

    @classmethod
    def _of_levels(cls, column: Marginal, kind: str) -> "Remembered":
        # The most frequent ones are told apart, all others and new ones are one.
        order = np.argsort(-column.counts[0], kind="stable")
        level_of = np.full(len(order) + 1, min(len(order), SMOOTHEST - 1))
        level_of[order] = np.minimum(np.arange(len(order)), SMOOTHEST - 1)
        return cls(
            *(column.name, "category", kind, column.values, column.counts[0], column.missing[0]),
            *(np.empty(0), level_of, False, column.levels),
        )

    @classmethod
    def _of_numbers(cls, column: Marginal, kind: str, dtype: str) -> "Remembered":
        level_of, is_ordered = levels_of(column)
        rows, values = column.counts[0], column.numbers
        # Values that many rows have are cells of their own, and so are those of few values; the others share cells.
        _, starts = cells_of_groups(rows, np.zeros(len(rows), dtype=bool), n_cells=_CELLS)
        atoms = np.flatnonzero(rows > max(rows.sum() / _CELLS, FEWEST_OF_LEVEL))
        starts = np.unique(np.concatenate((starts, atoms, atoms + 1)))
        starts = starts[starts < len(rows)]
        ends = np.append(starts[1:], len(rows)) - 1
        with np.errstate(over="ignore"):
            room = min(_ROOM * (values[-1] - values[0]), _LARGEST_ROOM) or _ROOM * max(abs(values[0]), 1.0)
        inner = values[ends[:-1]] / 2 + values[starts[1:]] / 2
        edges = np.concatenate(([values[0] - room], inner, [values[-1] + room]))
        counts = np.add.reduceat(rows, starts)
        is_atom = (starts == ends) & (counts >= FEWEST_OF_LEVEL)
        middle = np.where(is_atom, values[starts], edges[:-1] / 2 + edges[1:] / 2)
        if level_of is not None:
            of_cells = level_of[starts]
            level_of = np.concatenate((of_cells[:1], of_cells, of_cells[-1:]))
        return cls(
            *(column.name, "number", kind, np.concatenate((edges[:1] - room, middle, edges[-1:] + room))),
            *(np.concatenate(([0], counts, [0])), column.missing[0], edges, level_of),
            *(is_ordered, column.levels, dtype),
        )

    def cell_of(self, numbers: Array, /) -> Index:
        """The cells of numbers."""
        return np.asarray(np.searchsorted(self.edges, numbers, side="left"))

    def beside(self, column: Column, /) -> tuple[Marginal, Shape, Spanned]:
        """Another table's column beside this one: counts of both, and the functions of its rows."""
        codes, levels, is_time = self._cells(column), self.levels, self.dtype[1:2] in ("M", "m")
        if self.kind == "category":
            levels = (*self.levels, *(level for level in column.levels if level not in set(self.levels)))
        values = np.arange(len(levels)) if self.kind == "category" else self.values
        before = np.concatenate((self.counts, np.zeros(len(values) - len(self.counts), dtype=np.int64)))
        after = np.bincount(codes[codes >= 0], minlength=len(values))
        missing = self.n_missing, int(np.count_nonzero(codes < 0))
        shown = np.clip(values, -_LATEST, _LATEST).astype(np.int64).view(self.dtype) if is_time else values
        counts = np.stack((before, after))
        marginal = Marginal(
            self.name, self.kind, shown, counts, missing, levels, is_time, self._frequent(column, codes)
        )
        if self.level_of is None:
            shape = Shape(self.name, True)
            return marginal, shape, _smooth_rows(column, shape)
        level_of = self.level_of[np.minimum(np.arange(len(values)), len(self.level_of) - 1)]
        rows = np.array([np.bincount(level_of, part, minlength=SPANNED - 1) for part in counts])
        shape = Shape(self.name, self.is_ordered, level_of, rows)
        return marginal, shape, shape.rows(codes, np.empty(0))

    def _frequent(self, column: Column, codes: Index) -> tuple[int, Any, int] | None:
        """The cell, the value and the rows of the value that most rows have."""
        if self.kind == "category" or not len(column.known):
            return None
        values, rows = np.unique(column.known, return_counts=True)
        value = values[rows.argmax()]
        cell = codes[~column.gaps][np.argmax(column.known == value)]
        return int(cell), value, int(rows.max())

    def _cells(self, column: Column) -> Index:
        if self.kind == "category":
            place = {level: code for code, level in enumerate(self.levels)}
            known = np.array([place.setdefault(level, len(place)) for level in column.levels] or [0], dtype=np.intp)
            cells = known[column.values]
        else:
            values = column.values
            if self.dtype[1:2] in ("M", "m"):
                # Times are counted in the units of the reference.
                values = values.astype(self.dtype).view(np.int64)
            cells = self.cell_of(values.astype(np.float64))
        return np.where(column.gaps, -1, cells)


def _smooth_rows(column: Column, shape: Shape) -> Spanned:
    """Ranks of a column where the reference has no value that many rows have.

    Where this table has one, as a sensor that is stuck for a while, its rows are ordered at random: they say nothing of
    another column, and an order of ranks without jumps is what sums were taken of. One that has hardly any other value
    is not compared.
    """
    places, known = np.full(len(column), np.nan), ~column.gaps
    if known.any():
        copula = quantise(column.known)
        share = float(copula.counts.max() / copula.n_samples)
        if share <= MOST_ATOM:
            places[known] = copula.middles[copula.codes]
        elif share < 1.0 - MOST_ATOM:
            order = np.lexsort((np.random.default_rng(_SEED).random(copula.n_samples), copula.codes))
            ranks = np.empty(copula.n_samples)
            ranks[order] = (np.arange(copula.n_samples) + 0.5) / copula.n_samples
            places[known] = ranks
    return Spanned(places)


@dataclass(frozen=True, eq=False)
class Reference:
    """One table without its rows: columns, sums of products of all their functions, and strengths.

    `sums` (columns, columns, spanned, spanned) are rounded to 7 digits; those of columns with themselves are not.
    """

    columns: tuple[Remembered, ...]
    n_rows: int
    sums: NDArray[np.float32]
    own: Array
    strength: Array
    spearman: Array
    skipped: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[tuple[Column, str]],
        n_rows: int,
        strengths: tuple[Array, Array],
        skipped: Mapping[str, str],
        notes: tuple[str, ...],
        /,
    ) -> "Reference":
        """Of typed columns in memory."""
        remembered, rows = zip(*(Remembered.of(column, kind) for column, kind in columns), strict=True)
        d = len(rows)
        sums, own = np.zeros((d, d, SPANNED, SPANNED), dtype=np.float32), np.zeros((d, SPANNED, SPANNED))
        starts = [slice(start, min(start + _AT_ONCE, d)) for start in range(0, d, _AT_ONCE)]
        for left in starts:
            for right in starts:
                if left.start > right.start:
                    continue
                found = sums_between(rows[left], None if left == right else rows[right])
                sums[left, right] = found
                sums[right, left] = found.transpose(1, 0, 3, 2)
                if left == right:
                    own[left] = own_sums([column.level_of is None for column in remembered[left]], found)
        return cls(tuple(remembered), n_rows, sums, own, *strengths, dict(skipped), notes)

    def __getstate__(self) -> dict[str, Any]:
        # Both halves of the sums are the same, turned.
        return self.__dict__ | {"sums": self.sums[np.triu_indices(len(self.columns), 1)]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        d = len(state["columns"])
        i, j = np.triu_indices(d, 1)
        sums = np.zeros((d, d, SPANNED, SPANNED), dtype=np.float32)
        sums[i, j], sums[j, i] = state["sums"], state["sums"].transpose(0, 2, 1)
        self.__dict__.update(state | {"sums": sums})

    def kept(self, which: Sequence[int], /) -> "Reference":
        """Some of the columns."""
        at = np.ix_(which, which)
        return replace(
            self,
            columns=tuple(self.columns[k] for k in which),
            sums=self.sums[at],
            own=self.own[list(which)],
            strength=self.strength[at],
            spearman=self.spearman[at],
        )


@dataclass(frozen=True, eq=False)
class ReferenceAndRows:
    """Sums of a reference, and of the rows of a table beside it, by final levels."""

    reference: Reference
    mixing: Array
    rows: Sequence[Spanned]

    @classmethod
    def of(
        cls, reference: Reference, shapes: Sequence[Shape], rows: Sequence[Spanned], /
    ) -> "tuple[ReferenceAndRows, list[Shape]]":
        """The same, where levels that are rare in either table are one with others."""
        merged = [shape.merged() for shape in shapes]
        mixing = np.array([_mixing(old, new) for old, new in zip(shapes, merged, strict=True)])
        moved = [
            row if old.is_smooth else Spanned(_moved(row.places, old, new))
            for row, old, new in zip(rows, shapes, merged, strict=True)
        ]
        return cls(reference, mixing, moved), merged

    def between(self, left: slice, right: slice, /) -> Tile:
        """Between some columns and others."""
        old = self.reference.sums[left, right].astype(np.float64)
        if left == right:
            k = np.arange(left.stop - left.start)
            old[k, k] = self.reference.own[left]
        mixed = self.mixing[left][:, np.newaxis] @ old @ self.mixing[right][np.newaxis].swapaxes(-1, -2)
        of_rows = sums_between(self.rows[left], None if left == right else self.rows[right])
        return Tile.of_all_rows(np.stack((mixed, of_rows)))


def _level_map(old: Shape, new: Shape) -> Index:
    """The new level of every old one, −1 of those that no cell has."""
    found = np.full(SPANNED - 1, -1)
    if old.level_of is not None and new.level_of is not None:
        found[old.level_of] = new.level_of
    return found


def _mixing(old: Shape, new: Shape) -> Array:
    """How sums over functions of the new levels are made of those over the old ones."""
    if old.is_smooth:
        return np.eye(SPANNED)
    mixing = np.zeros((SPANNED, SPANNED))
    mixing[0, 0] = 1.0
    moved = _level_map(old, new)
    for level in np.flatnonzero(moved >= 0):
        mixing[1 + moved[level], 1 + level] = 1.0
    return mixing


def _moved(places: NDArray[Any], old: Shape, new: Shape) -> NDArray[Any]:
    return np.where(places < 0, -1, _level_map(old, new)[np.maximum(places, 0)]).astype(np.int8)
