"""Vectors whose rows are read in batches: their coordinates counted, a factor of their functions, functions at rows.

The first pass counts every coordinate on the rows that have all of them, from which follow the ranks of any row. Which
functions of these are orthonormal over all rows a triangular factor says; factors of parts of the rows are stacked and
factored again, so that they merge as counts do. It takes a pass of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.streaming.column_stats import ColumnStats, Counted, Part, part_of
from renyi.allpairs.streaming.rank_sketch import Coder
from renyi.basis.basis import RowlessBasis, chunks_of_rows
from renyi.basis.nested import VectorFunctions, coordinate_functions
from renyi.basis.orthonormal import merged_factor, triangular_factor
from renyi.basis.random_features import FIXED_DRAW, Projection, sines_and_cosines
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.data.exact import FineCoder, is_wide
from renyi.data.notes import Notes
from renyi.data.reader import ROUNDED, no_coordinate
from renyi.data.types import SkipError
from renyi.errors import InputError
from renyi.pair.bases import check_basis
from renyi.pair.prepare import Prepared
from renyi.pair.settings import Settings

Codes: TypeAlias = NDArray[Any]


def coder_of(counted: Counted, /) -> Coder | FineCoder | None:
    """What finds the cell of a number."""
    if counted.smallest is None:
        return None
    return (
        Coder.of(counted.smallest, counted.counts)
        if counted.tails is None
        else FineCoder.of(counted.smallest, counted.tails)
    )


def values_changed(name: str, /) -> InputError:
    """For a column of which a later pass sees other values."""
    return InputError(
        f"{name!r} does not hold the values of the first pass any more: pass the same rows both times, with "
        ".cache() where a query draws them anew, and do not change files meanwhile"
    )


@dataclass(eq=False)
class VectorStats:
    """What all batches so far say of the coordinates of one vector."""

    name: str
    numbers: tuple[ColumnStats, ...]
    n_rows: int = 0
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)

    def update(self, *cells: Any) -> None:
        """Look at some more rows; coordinates count on those that have all of them."""
        read = [stats.read(data) for stats, data in zip(self.numbers, cells, strict=True)]
        parts = {stats.name: part for stats, part in zip(self.numbers, read, strict=True) if part is not None}
        self.n_rows += len(cells[0])
        gaps = np.zeros(len(cells[0]), dtype=bool)
        for part in parts.values():
            if part.missing is not None:
                gaps |= part.missing
        for stats in self.numbers:
            if stats.name in parts:
                # First, since it refuses types that differ between batches.
                stats.take(parts[stats.name], gaps)
                self._note(stats.name, parts[stats.name])

    def _note(self, name: str, part: Part) -> None:
        if part.dtype is None or not len(part.observed):
            return
        self.dtypes[name] = np.result_type(part.dtype, self.dtypes.get(name, part.dtype))
        if part.dtype.kind in "iu" and is_wide(part.observed):
            self.wide.add(name)

    def copy(self) -> "VectorStats":
        """One that has seen the same; neither changes the other."""
        numbers = tuple(stats.copy() for stats in self.numbers)
        return replace(self, numbers=numbers, dtypes=dict(self.dtypes), wide=set(self.wide))

    def merge(self, other: "VectorStats", /) -> None:
        """Add what other batches say."""
        for stats, more in zip(self.numbers, other.numbers, strict=True):
            stats.merge(more)
        self.n_rows += other.n_rows
        self.wide |= other.wide
        for name, dtype in other.dtypes.items():
            self.dtypes[name] = np.result_type(dtype, self.dtypes.get(name, dtype))

    def decided(self, _: Any, notes: Notes, /) -> "CountedVector":
        """The vector as it was counted; refused by a SkipError where it cannot be measured, as in memory."""
        for stats in self.numbers:
            self._check(stats, notes)
        floats = self.dtypes and np.result_type(*self.dtypes.values()).kind == "f"
        rounded = [stats.name for stats in self.numbers if stats.name in self.wide]
        if floats and rounded:
            raise SkipError(f"its part {rounded[0]!r}: {ROUNDED}")
        sketches = [stats.sketch for stats in self.numbers if stats.sketch is not None]
        n_observed = sketches[0].n_values if len(sketches) == len(self.numbers) else 0
        if n_observed < 2:
            raise SkipError("no observed value" if not n_observed else "a single observed value")
        coordinates = tuple(stats.coordinate() for stats in self.numbers)
        if all(sketch.is_constant for sketch in sketches):
            values = [part.smallest[0] for part in coordinates if part.smallest is not None]
            raise SkipError(f"constant (always {np.array(values).astype(np.result_type(*self.dtypes.values()))})")
        return CountedVector(self.name, coordinates, self.n_rows)

    def _check(self, stats: ColumnStats, notes: Notes) -> None:
        """Refuse what is no coordinate."""
        try:
            stats.check(self.n_rows - stats.n_missing, notes)
            kind = stats.type
            if stats.text is not None:
                spelling = stats.text.decided(stats.name, Notes())[0]
                kind = "category" if spelling is None else spelling.kind
        except SkipError as error:
            raise SkipError(f"its part {stats.name!r}: {error}") from error
        if kind not in (None, "number"):
            raise no_coordinate(self.name, stats.name, str(kind))
        if stats.text is not None:
            raise InputError(
                f"vectors[{self.name!r}] has {stats.name!r}, numbers that are written as text, and which rows lack one "
                f"is known after all batches alone: say so by types={{{stats.name!r}: 'number'}}"
            )


@dataclass(frozen=True, eq=False)
class CountedVector:
    """A vector whose coordinates were counted, and its functions once these are known.

    `heaviest` are the largest squared lengths of rows, of leading functions of the coefficient and of the test.
    """

    name: str
    coordinates: tuple[Counted, ...]
    n_rows: int
    keys: tuple[str, ...] = ()
    functions: VectorFunctions | None = None
    heaviest: tuple[Array, ...] | None = None
    type: str = "vector"
    n_pooled: int = 0

    @property
    def column(self) -> Column:
        """The column without its rows."""
        names = tuple(part.name for part in self.coordinates)
        return Column(self.name, "vector", np.empty((0, len(names))), coordinates=names)

    @property
    def numbers(self) -> tuple[Counted, ...]:
        """What was counted as a number."""
        return self.coordinates

    @cached_property
    def counts(self) -> Index:
        """Rows of the cells of all coordinates, one after the other."""
        return np.concatenate([part.counts for part in self.coordinates])

    @property
    def n_observed(self) -> int:
        """Rows that have all coordinates."""
        return self.coordinates[0].n_observed

    @property
    def n_missing(self) -> int:
        """Rows that lack one."""
        return self.n_rows - self.n_observed

    def projection(self, settings: Settings, /) -> Projection:
        """The frequencies of its features."""
        return settings.scalar_projection(self.n_observed, FIXED_DRAW, n_coordinates=len(self.coordinates))

    def prepared(self, settings: Settings, column: Column) -> Prepared:
        """Its functions, without rows."""
        if self.functions is None:
            raise ValueError("functions of a vector take a pass of their own")
        n, feature_map = self.n_observed, self.functions.feature_map
        of_coefficient, of_test = (None, None) if self.heaviest is None else (part / n for part in self.heaviest)
        basis = settings.of_rows(RowlessBasis.of(len(feature_map.intercept), feature_map, n, of_coefficient))
        check_basis(column, basis)
        return Prepared(basis, self.functions.scales(n, of_test))


@dataclass(frozen=True, eq=False)
class VectorRows:
    """Some rows of a vector: which of them it has, and the ranks, first those of all ties, then mean ones, there."""

    missing: Mask | None
    ranks: Array
    middles: Array
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, counted: CountedVector, coders: Sequence[Coder | FineCoder | None], cells: Sequence[Any], /
    ) -> "VectorRows":
        """By the cells of the coordinates, for which there are coders."""
        parts = [part_of(data, own.name, own.override) for own, data in zip(counted.coordinates, cells, strict=True)]
        masks = [part.missing for part in parts if part.missing is not None]
        gaps = np.logical_or.reduce(masks) if masks else None
        gaps = gaps if gaps is not None and gaps.any() else None
        ranks, middles, counts = [], [], []
        for own, coder, part in zip(counted.coordinates, coders, parts, strict=True):
            known = replace(part, missing=gaps)
            if coder is None or own.cells is None:
                raise ValueError("coordinates are numbers")
            if not len(known.observed):
                codes = np.empty(0, dtype=np.intp)
            else:
                codes = coder(np.asarray(known.observed, dtype=np.float64), known.observed_tails)
            ranks.append(own.cells.ranks[codes])
            middles.append(own.cells.middles[codes])
            counts.append(np.bincount(codes, minlength=len(own.counts)))
        missing = gaps.sum() if gaps is not None else 0
        return cls(gaps, np.column_stack(ranks), np.column_stack(middles), np.array([*np.concatenate(counts), missing]))


@dataclass(frozen=True, eq=False)
class VectorSums:
    """Triangular factors of the functions of vectors over some rows, and how many rows every cell has."""

    n_rows: int
    factors: dict[str, Array]
    counts: dict[str, NDArray[np.int64]]

    def __add__(self, other: "VectorSums") -> "VectorSums":
        return VectorSums(
            self.n_rows + other.n_rows,
            {key: merged_factor(factor, other.factors[key]) for key, factor in self.factors.items()},
            {key: counts + other.counts[key] for key, counts in self.counts.items()},
        )


@dataclass(frozen=True, eq=False)
class VectorPlan:
    """The pass over the rows that finds the functions of vectors."""

    vectors: tuple[CountedVector, ...]
    settings: Settings
    n_rows: int

    @property
    def shape(self) -> tuple[Any, ...]:
        """What plans have in common whose factors can be merged."""
        return self.n_rows, tuple((vector.keys, len(vector.counts)) for vector in self.vectors)

    @property
    def n_bytes(self) -> int:
        """Memory that the factors take."""
        return 8 * sum(self._width(vector) ** 2 for vector in self.vectors)

    def _width(self, vector: CountedVector) -> int:
        n_plain = coordinate_functions(np.empty((0, len(vector.coordinates)))).shape[1]
        return int(1 + n_plain + 2 * vector.projection(self.settings).n_projections)

    @property
    def rows_at_once(self) -> int | None:
        """Functions are made in chunks of rows."""
        return None

    def rounds(self) -> "list[VectorPlan]":
        """All vectors in one pass."""
        return [self]

    @cached_property
    def _coders(self) -> dict[str, list[Any]]:
        return {vector.keys[0]: [coder_of(part) for part in vector.coordinates] for vector in self.vectors}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_coders"}

    def fold(self, parts: Mapping[str, Any], /) -> VectorSums:
        """The factors over a batch of rows."""
        factors, counts = {}, {}
        for vector in self.vectors:
            key = vector.keys[0]
            rows = VectorRows.of(vector, self._coders[key], [parts[own] for own in vector.keys])
            factors[key], counts[key] = self._factor(vector, rows), rows.counts
        return VectorSums(len(next(iter(parts.values()))), factors, counts)

    def _factor(self, vector: CountedVector, rows: VectorRows) -> Array:
        width, n, projection = self._width(vector), len(rows.ranks), vector.projection(self.settings)
        if not n:
            return np.empty((0, width))

        def functions(some: slice) -> Array:
            return np.hstack(
                (coordinate_functions(rows.middles[some]), sines_and_cosines(projection, rows.ranks[some]))
            )

        return triangular_factor(
            (functions(some), np.ones(some.stop - some.start)) for some in chunks_of_rows(n, width)
        )

    def found(self, folded: VectorSums, /) -> dict[str, CountedVector]:
        """The vectors with their functions, by the key of their first coordinate."""
        if folded.n_rows != self.n_rows:
            raise InputError(
                f"the first pass saw {self.n_rows:,} rows and the second {folded.n_rows:,}: pass the same rows in both"
            )
        made = {}
        for vector in self.vectors:
            key = vector.keys[0]
            if not np.array_equal(folded.counts[key][:-1], vector.counts):
                raise values_changed(vector.name)
            factor = folded.factors[key] / np.sqrt(vector.n_observed)
            made[key] = replace(vector, functions=VectorFunctions.of(factor, vector.projection(self.settings)))
        return made
