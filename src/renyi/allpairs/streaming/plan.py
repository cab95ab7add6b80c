"""Rows that fold: columns on their grids, batches of rows to sums over them, and the sums of all rows to pairs."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.compare import Summed, compare
from renyi.allpairs.edges import Edges
from renyi.allpairs.row_sample import RowSample, drawn_rows
from renyi.allpairs.stack import Values
from renyi.allpairs.streaming.column_stats import Counted
from renyi.allpairs.streaming.variables import BatchVariable, CellVariable, VectorVariable, heaviest_of
from renyi.allpairs.streaming.vectors import CountedVector, values_changed
from renyi.allpairs.sums import Sums, reaches_beyond_corner
from renyi.allpairs.tiles import tiles_of
from renyi.compute.arrays import Array
from renyi.compute.threads import stream
from renyi.errors import InputError
from renyi.pair.independence import Permutations
from renyi.pair.series import note_of_sums
from renyi.pair.settings import Settings

# Tables are made anew in every process, which takes less than to send them, and kept for the plans used last.
_MOST_PLANS = 4
# Rows of vectors that are worked on together at least, whatever the budget.
_FEWEST_ROWS = 1024
_made: dict[str, dict[str, Any]] = {}
_lock = RLock()


def _groups(variables: Sequence[BatchVariable]) -> list[ColumnGroup]:
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


@dataclass(eq=False)
class Plan:
    """What is compared with what, on which grids: all that a batch needs to be folded. It can be sent anywhere.

    `targets` are columns that all others are compared with; without any, all are compared with one another. The sums of
    no tile take more than `most_bytes`. A plan may be for some of the tiles alone; that for the first one keeps a
    `sample` of so many rows, of all columns.
    """

    counted: tuple[Counted | CountedVector, ...]
    targets: tuple[Counted | CountedVector, ...]
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
    def x(self) -> list[BatchVariable]:
        """The columns that are compared."""
        return self._once("x", partial(self._variables, self.counted))  # type: ignore[no-any-return]

    @property
    def y(self) -> list[BatchVariable]:
        """What they are compared with."""
        return self._once("y", partial(self._variables, self.targets)) if self.targets else self.x

    def _variables(self, counted: Sequence[Counted | CountedVector]) -> list[BatchVariable]:
        return [
            CellVariable.of(column, self.settings, self.n_rows)
            if isinstance(column, Counted)
            else VectorVariable.of(column, self.settings, self.n_rows)
            for column in counted
        ]

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
    def shape(self) -> tuple[Any, ...]:
        """What plans have in common whose sums can be added."""
        cells = tuple((column.keys, len(column.counts)) for column in (*self.counted, *self.targets))
        return self.which, self.most_bytes, self.n_rows, cells

    @property
    def n_tiles(self) -> int:
        """Tiles of all pairs, also of those that this plan is not for."""
        return len(self._once("tiles", self._tiles))

    @property
    def _variables_read(self) -> set[BatchVariable]:
        """Those of the tiles, and all vectors: how heavy their rows are has a say in every tile."""
        of_tiles = {v for tile in self.tiles for side in tile for v in side.variables if isinstance(v, BatchVariable)}
        return of_tiles | self._vectors

    @property
    def n_bytes(self) -> int:
        """Memory that the sums of all tiles take."""
        return sum(_bytes_of_tile(x, y) for x, y in self.tiles)

    @property
    def rows_at_once(self) -> int | None:
        """Rows whose functions, where they are vectors', take half of what the sums of a tile may."""
        dimensions = [v.prepared.basis.dimension + v.scales.basis.dimension for v in self._vectors]
        return max(_FEWEST_ROWS, self.most_bytes // (2 * 8 * sum(dimensions))) if dimensions else None

    @property
    def _vectors(self) -> set[VectorVariable]:
        return {v for v in (*self.x, *self.y) if isinstance(v, VectorVariable)}

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
        rows: dict[str, Any] = {v.key: v.rows(*(parts[own] for own in v.counted.keys)) for v in self._variables_read}
        groups: dict[int, ColumnGroup] = {}

        def over(side: ColumnGroup) -> ColumnGroup:
            if id(side) not in groups:
                found = [rows[variable.key] for variable in side.variables if isinstance(variable, BatchVariable)]
                if side.scales.is_vector:
                    tables = [(coefficient, nested) for _, coefficient, nested in found]
                    groups[id(side)] = side.over_vectors(tables, [seen.missing for seen, _, _ in found], n_rows)
                else:
                    values = Values(np.stack([standard for _, standard in found]))
                    groups[id(side)] = side.over([codes for codes, _ in found], values)
            return groups[id(side)]

        sums = tuple(Sums.of_batch(over(x), over(y)) for x, y in self.tiles)
        variables = self._variables_read
        counts = {v.key: v.seen(rows[v.key]) for v in variables}
        heaviest = {v.key: heaviest_of(*rows[v.key][1:]) for v in variables if isinstance(v, VectorVariable)}
        neighbours = {v.key: v.neighbours(rows[v.key][0]) for v in variables if isinstance(v, CellVariable)}
        return BatchSums(n_rows, sums, counts, heaviest, self._drawn(parts, n_rows), neighbours)

    def note_on_order(self, neighbours: Mapping[str, Array], /) -> str:
        """What is said where columns resemble their own previous row within batches; empty where they do not."""
        variables = {v.key: v for v in (*self.x, *self.y)}
        columns = [
            (v.column.name, v.counted.type == "date", neighbours[key])
            for key, v in variables.items()
            if isinstance(v, CellVariable)
        ]
        return note_of_sums(columns, len(variables))

    @property
    def has_sample(self) -> bool:
        """Whether this plan, of all that are for the same table, keeps some rows."""
        return bool(self.sample) and (self.which is None or 0 in self.which)

    def _drawn(self, parts: Mapping[str, Any], n_rows: int) -> RowSample:
        """Some of the rows, of all columns."""
        shown = {v.key: v for v in (*self.x, *self.y)} if self.has_sample else {}
        cells = {key: [parts[own] for own in v.counted.keys] for key, v in shown.items()}
        which, priorities = drawn_rows(
            [cell for own in cells.values() for cell in own], n_rows, self.n_rows, self.sample
        )
        drawn = {key: v.shown_rows(which, *cells[key]) for key, v in shown.items()}
        return RowSample(
            priorities,
            {key: values for key, (values, _) in drawn.items()},
            {key: missing for key, (_, missing) in drawn.items()},
        )

    def check(self, folded: "BatchSums", /) -> None:
        """Refuse sums over other rows than those that the grids were made for."""
        if folded.n_rows != self.n_rows:
            raise InputError(
                f"the first pass saw {self.n_rows:,} rows and the second {folded.n_rows:,}: pass the same rows in both"
            )
        for variable in self._variables_read:
            if not np.array_equal(folded.counts[variable.key][:-1], variable.counted.counts):
                raise values_changed(variable.column.name)

    def _weighed(self, folded: "BatchSums") -> "Plan":
        """The same, where the heaviest rows of vectors are known."""
        if not folded.heaviest:
            return self

        def told(column: Counted | CountedVector) -> Counted | CountedVector:
            heaviest = folded.heaviest.get(column.keys[0])
            return replace(column, heaviest=heaviest) if isinstance(column, CountedVector) else column

        counted, targets = (tuple(map(told, side)) for side in (self.counted, self.targets))
        return replace(self, counted=counted, targets=targets, key=uuid4().hex)

    def edges(self, folded: "BatchSums", permutations: Permutations, /) -> Edges:
        """All pairs, from the sums over all rows, and a sample of the rows."""
        self.check(folded)
        edges = self._weighed(folded)._all_edges(folded, permutations)
        if not self.has_sample:
            return edges
        rows = folded.sample.smallest(self.sample)
        left = [variable.drawn(rows) for variable in self.x]
        return replace(edges, x=left, y=[variable.drawn(rows) for variable in self.y] if self.targets else left)

    def _all_edges(self, folded: "BatchSums", permutations: Permutations) -> Edges:
        parts = []
        for k, ((x, y), sums) in enumerate(zip(self.tiles, folded.sums, strict=True)):
            parts.append(self._edges(x, y, Summed(sums), permutations))
            needed = {variable for tile in self.tiles[k + 1 : k + 2] for side in tile for variable in side.variables}
            for variable in {*x.variables, *y.variables} - needed:
                variable.forget()
        return Edges.joined(parts)

    def _edges(self, x: ColumnGroup, y: ColumnGroup, rows: Summed, permutations: Permutations) -> Edges:
        """The pairs of one tile: what needs its sums is asked while these are there."""
        places = [{int(p): k for k, p in enumerate(side.positions)} for side in (x, y)]
        # A table that is compared with itself is one, also where plans were let go of between two looks at it.
        left = self.x
        right = self.y if self.targets else left
        found = compare(x, y, rows, permutations)
        return Edges(left, right, found, pair=lambda i, j: rows.pair(x, y, places[0][i], places[1][j])).settled()


def _bytes_of_tile(x: ColumnGroup, y: ColumnGroup) -> int:
    n_pairs = len(x.positions) * len(y.positions)
    dimensions = [side.scales.basis.dimension for side in (x, y)]
    nested = dimensions[0] * dimensions[1] if reaches_beyond_corner(x, y) else x.corner.dimension * y.corner.dimension
    left = 0
    if not (x.is_complete and y.is_complete):
        nested = dimensions[0] * dimensions[1]
        left = sum(_left_of(side) * len(other.positions) for side, other in ((x, y), (y, x)))
    return 8 * (n_pairs * (x.coefficient.dimension * y.coefficient.dimension + nested + sum(dimensions) + 5) + left)


def _left_of(side: ColumnGroup) -> int:
    """Numbers that say what the rows of another column leave of all columns of a side."""
    if not side.scales.is_vector:
        return sum(side.corner.sizes)
    return len(side.positions) * sum(
        dimension * (dimension + 3) // 2 for dimension in (side.coefficient.dimension, side.corner.dimension)
    )


@dataclass(frozen=True, eq=False)
class BatchSums:
    """Sums over some rows, for every tile, how many rows every cell has, and how heavy the heaviest of vectors are.

    And some of the rows, if these are kept, and sums over rows and those before them.
    """

    n_rows: int
    sums: tuple[Sums, ...]
    counts: dict[str, NDArray[np.int64]]
    heaviest: dict[str, tuple[Array, ...]]
    sample: RowSample
    neighbours: dict[str, Array]

    def __add__(self, other: "BatchSums") -> "BatchSums":
        return BatchSums(
            self.n_rows + other.n_rows,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            {key: counts + other.counts[key] for key, counts in self.counts.items()},
            {key: tuple(map(np.maximum, heaviest, other.heaviest[key])) for key, heaviest in self.heaviest.items()},
            self.sample + other.sample,
            {key: sums + other.neighbours[key] for key, sums in self.neighbours.items()},
        )
