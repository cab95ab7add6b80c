"""Columns whose rows are read in batches: what is prepared of their counts, and what a batch has of them."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable
from renyi.allpairs.row_sample import RowSample
from renyi.allpairs.streaming.column_stats import Counted, part_of
from renyi.allpairs.streaming.rank_sketch import Coder
from renyi.allpairs.streaming.vectors import CountedVector, VectorRows, coder_of, values_changed
from renyi.basis.basis import chunks_of_rows, copula_basis
from renyi.basis.nested import levels_scales, number_scales
from renyi.basis.random_features import FIXED_DRAW
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.data.exact import FineCoder, beyond
from renyi.inference.serial import neighbour_sums, of_cells
from renyi.pair.bases import check_basis
from renyi.pair.prepare import Prepared
from renyi.pair.settings import Settings

Codes: TypeAlias = NDArray[Any]
# What times are counted in where rows of batches are shown.
_TIMES = {"date": "M8[us]", "duration": "m8[us]"}
# Below this scale no two values are further apart than floats reach.
_LARGE_SCALE = 1e290


@dataclass(frozen=True, eq=False)
class BatchVariable(Variable):
    """A column whose rows are read in batches."""

    counted: Counted | CountedVector
    n_all: int

    @property
    def n_rows(self) -> int:
        return self.n_all

    @property
    def n_samples(self) -> int:
        return self.counted.n_observed

    @property
    def is_complete(self) -> bool:
        return self.counted.n_missing == 0

    @property
    def key(self) -> str:
        """Where a batch has it, or its first coordinate."""
        return self.counted.keys[0]

    def rows(self, *cells: Any) -> tuple[Any, ...]:
        """Some rows, as `seen` and the group of the column want them."""
        raise NotImplementedError

    def seen(self, rows: tuple[Any, ...], /) -> NDArray[np.int64]:
        """How many rows of a batch every cell has, and how many are missing."""
        raise NotImplementedError

    def shown_rows(self, which: Index, *cells: Any) -> tuple[NDArray[Any], Mask]:
        """Some rows of a batch as they are shown, and which of them are missing."""
        raise NotImplementedError

    def drawn(self, rows: RowSample, /) -> "BatchVariable":
        """The same with a sample of its rows."""
        shown = replace(self.column, values=rows.values[self.key])
        gaps = rows.missing[self.key]
        return replace(self, sample=replace(shown, missing=gaps if gaps.any() else None))


@dataclass(frozen=True, eq=False)
class CellVariable(BatchVariable):
    """A number or category: its rows are cells."""

    counted: Counted
    coder: Coder | FineCoder | None = None

    @classmethod
    def of(cls, counted: Counted, settings: Settings, n_rows: int, /) -> "CellVariable":
        return cls(
            counted.column, partial(_prepared, counted, settings), counted, n_rows, coder_of(counted), settings=settings
        )

    @property
    def n_cells(self) -> int:
        """Cells, and the code of a missing row."""
        return len(self.counted.counts)

    def rows(self, *cells: Any) -> tuple[Codes, Array]:
        """The cell of every row of a batch, and its values, roughly standardised, 0 where missing."""
        part = part_of(cells[0], self.column.name, self.counted.override)
        if part.missing is not None and part.missing.all():
            return np.full(len(part.values), self.n_cells, dtype=np.int64), np.zeros(len(part.values))
        if part.kind != self.counted.kind:
            raise values_changed(self.column.name)
        location, scale = self.counted.location_and_scale
        if self.coder is not None:
            values = part.values if part.missing is None else np.where(part.missing, 0.0, part.values)
            codes = self.coder(values, part.tails)
            if self.counted.origin != (0.0, 0.0):
                values = beyond(self.counted.origin, values, part.tails)
        else:
            places = np.array([self.counted.places.get(level, -1) for level in part.levels])
            codes = places[part.values]
            if (codes[slice(None) if part.missing is None else ~part.missing] < 0).any():
                raise values_changed(self.column.name)
            values = codes.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # Halves of the largest floats are no further apart than floats reach.
            half = 0.5 if scale > _LARGE_SCALE else 1.0
            standard = (values * half - location * half) / (scale * half)
        if part.missing is not None:
            codes = codes.astype(np.min_scalar_type(self.n_cells))
            codes[part.missing] = self.n_cells
            standard[part.missing] = 0.0
        return codes, standard

    def seen(self, rows: tuple[Any, ...], /) -> NDArray[np.int64]:
        return np.bincount(rows[0], minlength=self.n_cells + 1).astype(np.int64)

    @cached_property
    def _neighbours(self) -> Array:
        """What neighbours are compared by, for every cell and for missing rows."""
        found: Array = of_cells(self.counted.counts, is_category=self.counted.kind == "category")
        return found

    def neighbours(self, codes: NDArray[Any], /) -> Array:
        """Sums over the consecutive rows of a batch."""
        return neighbour_sums(self._neighbours[codes], codes != self.n_cells)

    def shown_rows(self, which: Index, *cells: Any) -> tuple[NDArray[Any], Mask]:
        part = part_of(_at(cells[0], which), self.column.name, self.counted.override)
        missing = np.zeros(len(which), dtype=bool) if part.missing is None else part.missing
        if self.coder is None:
            places = np.array([self.counted.places.get(level, 0) for level in part.levels] or [0])
            return places[part.values if part.levels else np.zeros(len(which), dtype=np.intp)], missing
        return _as_shown(part, self.counted.type), missing


@dataclass(frozen=True, eq=False)
class VectorVariable(BatchVariable):
    """A vector: every row has functions of its own."""

    counted: CountedVector
    coders: tuple[Coder | FineCoder | None, ...] = ()

    @classmethod
    def of(cls, counted: CountedVector, settings: Settings, n_rows: int, /) -> "VectorVariable":
        coders = tuple(map(coder_of, counted.coordinates))
        return cls(counted.column, partial(counted.prepared, settings), counted, n_rows, coders, settings=settings)

    def rows(self, *cells: Any) -> tuple[VectorRows, Array, Array]:
        """Some rows, and the functions of the coefficient and of the test at those that it has."""
        if self.counted.functions is None:
            raise ValueError("functions of a vector take a pass of their own")
        rows, functions = VectorRows.of(self.counted, self.coders, cells), self.counted.functions
        n, (a, b) = len(rows.ranks), functions.dimensions
        tables = np.empty((n, a)), np.empty((n, b))
        for some in chunks_of_rows(n, a + b):
            tables[0][some], tables[1][some] = functions(rows.ranks[some], rows.middles[some])
        return rows, *tables

    def seen(self, rows: tuple[Any, ...], /) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = rows[0].counts
        return counts

    def shown_rows(self, which: Index, *cells: Any) -> tuple[NDArray[Any], Mask]:
        parts = [
            part_of(_at(own, which), counted.name, counted.override)
            for own, counted in zip(cells, self.counted.coordinates, strict=True)
        ]
        values = [_as_shown(part, counted.type) for part, counted in zip(parts, self.counted.coordinates, strict=True)]
        gaps = [part.missing for part in parts if part.missing is not None]
        return np.column_stack(values), np.logical_or.reduce(gaps) if gaps else np.zeros(len(which), dtype=bool)


def _at(cells: Any, which: Index) -> Any:
    """Some rows of a column of a batch."""
    if not isinstance(cells, Column):
        return cells[which]
    mask = np.zeros(len(cells), dtype=bool)
    mask[which] = True
    return cells.take(mask)


def _as_shown(part: Any, kind: str) -> NDArray[Any]:
    """Numbers as they are, times in what they are counted in."""
    times = _TIMES.get(kind)
    values = part.values if part.missing is None else np.where(part.missing, 0.0, part.values)
    if times is None:
        return np.asarray(values)
    return values.astype(np.int64).astype(f"{times[:2]}[{part.unit or 'us'}]").astype(times)


def heaviest_of(*tables: Array) -> tuple[Array, ...]:
    """The largest squared lengths of rows, of the leading 1, 2, … functions of every table."""
    return tuple(np.cumsum(table**2, axis=1).max(axis=0, initial=0.0) for table in tables)


def _prepared(counted: Counted, settings: Settings, column: Column) -> Prepared:
    """A column on its grid."""
    if counted.cells is None:
        scales = levels_scales(counted.counts)
        return Prepared(scales.basis, scales)
    basis = settings.of_rows(copula_basis(counted.cells, settings.scalar_projection(counted.n_observed, FIXED_DRAW)))
    check_basis(column, basis)
    return Prepared(basis, number_scales(counted.cells))
