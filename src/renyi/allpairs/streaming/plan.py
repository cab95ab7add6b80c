"""Rows that fold: columns on their grids, batches of rows to sums over them, and the sums of all rows to pairs."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import RLock
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.compare import Summed, compare
from renyi.allpairs.edges import Edges
from renyi.allpairs.row_sample import RowSample, drawn_rows
from renyi.allpairs.stack import Values
from renyi.allpairs.streaming.column_stats import Counted, part_of
from renyi.allpairs.streaming.rank_sketch import Coder
from renyi.allpairs.sums import Sums, reaches_beyond_corner
from renyi.allpairs.tiles import tiles_of
from renyi.basis.basis import copula_basis
from renyi.basis.nested import levels_scales, number_scales
from renyi.basis.random_features import FIXED_DRAW
from renyi.compute.threads import stream
from renyi.data.column import Column
from renyi.data.exact import FineCoder, beyond
from renyi.errors import InputError
from renyi.pair.bases import check_basis
from renyi.pair.independence import Shuffles
from renyi.pair.prepare import Prepared
from renyi.pair.settings import Settings

__all__ = ["BatchSums", "Plan"]

Array: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[Any]
# What times are counted in where rows of batches are shown.
_TIMES = {"date": "M8[us]", "duration": "m8[us]"}

# Tables are made anew in every process, which takes less than to send them, and kept for the plans used last.
_MOST_PLANS = 4
_made: dict[str, dict[str, Any]] = {}
_lock = RLock()


@dataclass(frozen=True, eq=False)
class _BatchVariable(Variable):
    """A column whose rows are read in batches."""

    counted: Counted
    coder: Coder | FineCoder | None
    n_all: int

    @classmethod
    def of(cls, counted: Counted, settings: Settings, n_rows: int, /) -> "_BatchVariable":
        column = Column(counted.name, counted.kind, np.empty(0), None, counted.levels)
        coder: Coder | FineCoder | None = None
        if counted.smallest is not None and counted.tails is not None:
            coder = FineCoder.of(counted.smallest, counted.tails)
        elif counted.smallest is not None:
            coder = Coder.of(counted.smallest, counted.counts)
        return cls(column, partial(_prepared, counted, settings), counted, coder, n_rows, settings=settings)

    @property
    def n_rows(self) -> int:
        return self.n_all

    @property
    def n_samples(self) -> int:
        return self.counted.n_observed

    @property
    def is_complete(self) -> bool:
        return self.counted.n_missing == 0

    def drawn(self, rows: RowSample, /) -> "_BatchVariable":
        """The same with a sample of its rows."""
        values, gaps = rows.values[self.column.name], rows.missing[self.column.name]
        dtype = _TIMES.get(self.counted.type)
        if self.coder is None or dtype:
            values = values.astype(np.int64)
        shown = replace(self.column, values=values.astype(dtype) if dtype else values)
        return replace(self, sample=replace(shown, missing=gaps if gaps.any() else None))

    @property
    def n_cells(self) -> int:
        """Cells, and the code of a missing row."""
        return len(self.counted.counts)

    def rows(self, data: Any, which: NDArray[np.intp], /) -> tuple[Codes, Array, Array]:
        """The cell of every row of a batch, its values, roughly standardised, 0 where missing; and some as they are."""
        part = part_of(data, self.column.name, self.counted.override)
        if part.missing is not None and part.missing.all():
            nothing = np.zeros(len(part.values))
            return np.full(len(part.values), self.n_cells, dtype=np.int64), nothing, nothing[which]
        location, scale = self.counted.location_and_scale
        if self.coder is not None:
            values = part.values if part.missing is None else np.where(part.missing, 0.0, part.values)
            codes, shown = self.coder(values, part.tails), values[which]
            if part.unit:
                times = _TIMES[self.counted.type]
                shown = shown.astype(np.int64).astype(f"{times[:2]}[{part.unit}]").astype(times).astype(np.float64)
            if self.counted.origin != (0.0, 0.0):
                values = beyond(self.counted.origin, values, part.tails)
        else:
            places = np.array([self.counted.places.get(level, -1) for level in part.levels])
            codes = places[part.values]
            values = codes.astype(np.float64)
            shown = values[which]
        with np.errstate(over="ignore", invalid="ignore"):
            standard = (values - location) / scale
        if part.missing is not None:
            codes = codes.astype(np.min_scalar_type(self.n_cells))
            codes[part.missing] = self.n_cells
            standard[part.missing] = 0.0
        if self.coder is None and len(codes) and codes.min() < 0:
            raise _changed(self.column.name)
        return codes, standard, shown


def _prepared(counted: Counted, settings: Settings, column: Column) -> Prepared:
    """A column on its grid."""
    if counted.cells is None:
        scales = levels_scales(counted.counts)
        return Prepared(scales.basis, scales)
    basis = settings.of_rows(copula_basis(counted.cells, settings.scalar_projection(counted.n_observed, FIXED_DRAW)))
    check_basis(column, basis)
    return Prepared(basis, number_scales(counted.cells))


def _groups(variables: Sequence[_BatchVariable]) -> list[ColumnGroup]:
    """Columns by what they have in common; their tables are stacked, and then let go of, one column at a time."""

    def single(position: int) -> tuple[Hashable, ColumnGroup]:
        variable = variables[position]
        found = variable.signature, ColumnGroup.of_batches(position, variable)
        variable.forget()
        return found

    by_signature: dict[Hashable, list[ColumnGroup]] = {}
    for signature, group in stream(single, range(len(variables))):
        by_signature.setdefault(signature, []).append(group)
    return [ColumnGroup.joined(group) for group in by_signature.values()]


def _changed(name: str) -> InputError:
    return InputError(
        f"{name!r} does not hold the values of the first pass any more: pass the same rows both times, with "
        ".cache() where a query draws them anew, and do not change files meanwhile"
    )


@dataclass(eq=False)
class Plan:
    """What is compared with what, on which grids: all that a batch needs to be folded. It can be sent anywhere.

    `targets` are columns that all others are compared with; without any, all are compared with one another. The sums of
    no tile take more than `most_bytes`. A plan may be for some of the tiles alone; that for the first one keeps a
    `sample` of so many rows, of all columns.
    """

    counted: tuple[Counted, ...]
    targets: tuple[Counted, ...]
    settings: Settings
    n_rows: int
    most_bytes: int
    which: tuple[int, ...] | None = None
    sample: int = 0
    key: str = field(default_factory=lambda: uuid4().hex)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """What was made before, in this process, by this plan or a copy of it that was sent here."""
        with _lock:
            made = _made.setdefault(self.key, {})
            if len(_made) > _MOST_PLANS:
                del _made[next(iter(_made))]
            if name not in made:
                made[name] = make()
            return made[name]

    @property
    def x(self) -> list[_BatchVariable]:
        """The columns that are compared."""
        return self._once("x", partial(self._variables, self.counted))  # type: ignore[no-any-return]

    @property
    def y(self) -> list[_BatchVariable]:
        """What they are compared with."""
        return self._once("y", partial(self._variables, self.targets)) if self.targets else self.x

    def _variables(self, counted: Sequence[Counted]) -> list[_BatchVariable]:
        return [_BatchVariable.of(column, self.settings, self.n_rows) for column in counted]

    def _tiles(self) -> list[tuple[ColumnGroup, ColumnGroup]]:
        own = _groups(self.x)
        other = _groups(self.y) if self.targets else None
        most = max(len(group.positions) for group in own)
        while True:
            tiles = list(tiles_of(own, other, most=most))
            largest = max(_bytes_of_tile(x, y) for x, y in tiles)
            if largest <= self.most_bytes or most == 1:
                return tiles
            most = -(-most // 2)

    @property
    def tiles(self) -> list[tuple[ColumnGroup, ColumnGroup]]:
        """Pairs of groups of columns."""
        tiles: list[tuple[ColumnGroup, ColumnGroup]] = self._once("tiles", self._tiles)
        return tiles if self.which is None else [tiles[k] for k in self.which]

    @property
    def has_sample(self) -> bool:
        """Whether this plan, of all that are for the same table, keeps some rows."""
        return bool(self.sample) and (self.which is None or 0 in self.which)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What plans have in common whose sums can be added."""
        cells = tuple((column.name, len(column.counts)) for column in (*self.counted, *self.targets))
        return self.which, self.most_bytes, self.n_rows, cells

    @property
    def n_tiles(self) -> int:
        """Tiles of all pairs, also of those that this plan is not for."""
        return len(self._once("tiles", self._tiles))

    @property
    def _variables_of_tiles(self) -> set[_BatchVariable]:
        return {v for tile in self.tiles for side in tile for v in side.variables if isinstance(v, _BatchVariable)}

    @property
    def n_bytes(self) -> int:
        """Memory that the sums of all tiles take."""
        return sum(_bytes_of_tile(x, y) for x, y in self.tiles)

    def rounds(self) -> "list[Plan]":
        """Plans for some tiles each, whose sums take no more than one tile may; a tile that takes more is alone."""
        rounds: list[list[int]] = []
        room = 0
        for k, (x, y) in enumerate(self.tiles):
            n_bytes = _bytes_of_tile(x, y)
            if not rounds or n_bytes > room:
                rounds.append([])
                room = self.most_bytes
            rounds[-1].append(k)
            room -= n_bytes
        return [replace(self, which=tuple(tiles)) for tiles in rounds]

    def fold(self, parts: Mapping[str, Any], /) -> "BatchSums":
        """The sums over a batch of rows."""
        n_rows = len(next(iter(parts.values()))) if parts else 0
        variables = self._variables_of_tiles
        shown = {v.column.name: v for v in (*self.x, *self.y)} if self.has_sample else {}
        drawn, priorities = drawn_rows([parts[name] for name in shown], n_rows, self.n_rows, self.sample)
        rows = {v.column.name: v.rows(parts[v.column.name], drawn) for v in {*variables, *shown.values()}}
        seen: dict[int, ColumnGroup] = {}

        def over(side: ColumnGroup) -> ColumnGroup:
            if id(side) not in seen:
                found = [rows[variable.column.name] for variable in side.variables]
                seen[id(side)] = side.over([codes for codes, *_ in found], Values(np.stack([z for _, z, _ in found])))
            return seen[id(side)]

        sums = tuple(Sums.of_batch(over(x), over(y)) for x, y in self.tiles)
        counts = {
            v.column.name: np.bincount(rows[v.column.name][0], minlength=v.n_cells + 1).astype(np.int64)
            for v in variables
        }
        sample = RowSample(
            priorities,
            {name: rows[name][2] for name in shown},
            {name: rows[name][0][drawn] == v.n_cells for name, v in shown.items()},
        )
        return BatchSums(n_rows, sums, counts, sample)

    def check(self, folded: "BatchSums", /) -> None:
        """Refuse sums over other rows than those that the grids were made for."""
        if folded.n_rows != self.n_rows:
            raise InputError(
                f"the first pass saw {self.n_rows:,} rows and the second {folded.n_rows:,}: pass the same rows in both"
            )
        for variable in self._variables_of_tiles:
            if not np.array_equal(folded.counts[variable.column.name][:-1], variable.counted.counts):
                raise _changed(variable.column.name)

    def edges(self, folded: "BatchSums", shuffles: Shuffles, /) -> Edges:
        """All pairs, from the sums over all rows."""
        self.check(folded)
        parts = []
        for k, ((x, y), sums) in enumerate(zip(self.tiles, folded.sums, strict=True)):
            parts.append(self._edges(x, y, Summed(sums), shuffles))
            needed = {variable for tile in self.tiles[k + 1 : k + 2] for side in tile for variable in side.variables}
            for variable in {*x.variables, *y.variables} - needed:
                variable.forget()
        edges = Edges.joined(parts)
        if not self.has_sample:
            return edges
        rows = folded.sample.smallest(self.sample)
        left = [variable.drawn(rows) for variable in self.x]
        return replace(edges, x=left, y=[variable.drawn(rows) for variable in self.y] if self.targets else left)

    def _edges(self, x: ColumnGroup, y: ColumnGroup, rows: Summed, shuffles: Shuffles) -> Edges:
        """The pairs of one tile: what needs its sums is asked while these are there."""
        places = [{int(p): k for k, p in enumerate(side.positions)} for side in (x, y)]
        # A table that is compared with itself is one, also where plans were let go of between two looks at it.
        left = self.x
        right = self.y if self.targets else left
        found = compare(x, y, rows, shuffles)
        pair = lambda i, j: rows.pair(x, y, places[0][i], places[1][j])  # noqa: E731
        return Edges(left, right, found, pair=pair).settled()


def _bytes_of_tile(x: ColumnGroup, y: ColumnGroup) -> int:
    n_pairs = len(x.positions) * len(y.positions)
    ranks = [side.scales.basis.rank for side in (x, y)]
    nested = ranks[0] * ranks[1] if reaches_beyond_corner(x, y) else x.corner.rank * y.corner.rank
    cells = 0
    if not (x.is_complete and y.is_complete):
        nested = ranks[0] * ranks[1]
        cells = sum(sum(side.corner.sizes) for side in (x, y))
        cells *= max(len(x.positions), len(y.positions))
    return 8 * (n_pairs * (x.coefficient.rank * y.coefficient.rank + nested + sum(ranks) + 5) + cells)


@dataclass(frozen=True, eq=False)
class BatchSums:
    """Sums over some rows, for every tile, how many rows every cell has, and some of the rows, if these are kept."""

    n_rows: int
    sums: tuple[Sums, ...]
    counts: dict[str, NDArray[np.int64]]
    sample: RowSample

    def __add__(self, other: "BatchSums") -> "BatchSums":
        return BatchSums(
            self.n_rows + other.n_rows,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            {name: counts + other.counts[name] for name, counts in self.counts.items()},
            self.sample + other.sample,
        )
