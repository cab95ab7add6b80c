"""All pairs of columns on a device, a tile at a time, into matrices in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.compare import PERMUTATIONS, FoundPairs, Pair, compare
from renyi.allpairs.device.groups import groups_on_device
from renyi.allpairs.device.ranking import Ranked
from renyi.allpairs.device.rows import RowsOnDevice
from renyi.allpairs.edges import LARGEST_PVALUE, MOST_LOOKED_AT, SMALLEST_PVALUE, Edges, Looked
from renyi.allpairs.same import SAME
from renyi.allpairs.tiles import tiles_of
from renyi.compute.arrays import Array, Index, Mask, flat_places, gathered, in_memory, is_tensor, pair_index
from renyi.compute.devices import EXTRA, free_bytes, relieved
from renyi.compute.fetching import Fetching
from renyi.compute.progress import watched
from renyi.errors import load
from renyi.inference.debias import LIGHT, largest_leverage
from renyi.pair.independence import Crosses

Tensor: TypeAlias = Any

# Columns of a tile at most: products are as fast as they get, and finished rows come back while others are worked on.
_MOST_COLUMNS = 2048
# Tiles begin at columns so far apart, or several times that: products of 1,667 columns took 1.7 times as long.
_ALIGNED = 64
# Numbers that a pair takes while it is compared: sums, what is taken of them, and what spectra need beside; with gaps
# Gram matrices of both sides as well, and their factors.
_NUMBERS_OF_PAIR, _NUMBERS_WITH_GAPS = 700, 4000
_MATRICES = ("coefficient", "log_pvalue", "pvalues", "pearson", "spearman")
# Those that are asked for after values and p-values, if at all.
_LATER = ("log_pvalue", "pearson", "spearman")
# What differs from pair to pair where cells are missing; else the columns say it.
_OF_GAPS = ("n", "dimension_x", "dimension_y", "heavier")
# Seen from the other column.
_TURNED = {"dimension_x": "dimension_y", "dimension_y": "dimension_x"}
# What a column has with itself; nothing is tested there.
_OWN = {"coefficient": 1.0, "pearson": 1.0, "spearman": 1.0}


class _Comparison:
    """All pairs of columns of x with one another, or with those of y."""

    def __init__(self, x: Ranked, y: Ranked | None, /) -> None:
        self.x, self.y, self.device = x, x if y is None else y, x.device
        self.is_square = y is None
        every = (*x.variables, *self.y.variables)
        self.has_gaps = not all(variable.is_complete for variable in every)
        own = groups_on_device(x, has_gaps=self.has_gaps)
        others = None if y is None else groups_on_device(y, has_gaps=self.has_gaps)
        self._rows = RowsOnDevice()
        self._traits = [
            (np.array([v.heaviest for v in side.variables]), np.array([v.is_plain_number for v in side.variables]))
            for side in (x, self.y)
        ]
        self._doubtful: list[tuple[FoundPairs, Array]] = []
        self._permutations = replace(PERMUTATIONS, device=self.device)
        room = max(
            _NUMBERS_WITH_GAPS if self.has_gaps else _NUMBERS_OF_PAIR, *map(_numbers_of, (*own, *(others or ())))
        )
        most = max(1, int(np.sqrt(free_bytes(self.device) / (8 * room))))
        self.tiles = list(tiles_of(own, others, most=_MOST_COLUMNS, room=lambda a, b: most, aligned=_ALIGNED))

    def found(self, x: ColumnGroup, y: ColumnGroup, /) -> Iterator[tuple[ColumnGroup, ColumnGroup, FoundPairs]]:
        """All pairs of a tile, in smaller ones where the device is full."""
        torch = load("torch", extra=EXTRA)
        try:
            yield x, y, compare(x, y, self._rows, self._permutations)
            return
        except torch.OutOfMemoryError:
            self._rows = RowsOnDevice()
            torch.cuda.empty_cache()
        if max(len(x.positions), len(y.positions)) == 1:
            with relieved(self.device, "one pair of columns"):
                yield x, y, compare(x, y, self._rows, self._permutations)
            return
        halves = _halves(x)
        for k, part in enumerate(halves):
            for other in halves[k:] if y is x else _halves(y):
                yield from self.found(part, other)

    def looked(self, x: ColumnGroup, y: ColumnGroup, found: FoundPairs, /) -> Looked:
        """What the rows of single pairs tell, while they are here; those of complete columns may wait."""
        which = self._to_look_at(x, y, found)
        if which is None:
            return Looked()
        some = FoundPairs.of(found, which)
        if is_tensor(found.coefficient) and self._are_cells(x, y):
            sums = self._rows.sums(x, y).coefficient
            columns = pair_index((len(x.positions), len(y.positions)), sums, above=y is x)
            crosses = gathered(sums, *(index[which] for index in columns))
            self._doubtful.append((some, in_memory(crosses).astype(np.float64) / x.n_rows))
            return Looked()
        places = [{int(p): k for k, p in enumerate(side.positions)} for side in (x, y)]
        return self._look(some, lambda i, j: self._rows.pair(x, y, places[0][i], places[1][j]))

    def looked_in_the_end(self) -> Looked:
        """The same of pairs that have waited: the strongest of all, however these were cut into tiles."""
        if not self._doubtful:
            return Looked()
        crosses: dict[tuple[int, int], Array] = {}
        for some, products in self._doubtful:
            crosses |= dict(zip(zip(some.i.tolist(), some.j.tolist(), strict=True), products, strict=True))
        every = FoundPairs.joined([some for some, _ in self._doubtful])
        self._doubtful = []

        def pair(i: int, j: int) -> Pair:
            prepared = self.x.variables[i].prepared, self.y.variables[j].prepared
            return *prepared, Crosses(crosses[i, j], crosses[i, j])

        return self._look(every, pair)

    def _look(self, some: FoundPairs, pair: Callable[[int, int], Pair]) -> Looked:
        return Edges(self.x.variables, self.y.variables, some, pair=pair).look()

    def _are_cells(self, x: ColumnGroup, y: ColumnGroup) -> bool:
        """Whether cells and products tell all of pairs, without a look at rows."""
        return x.is_complete and y.is_complete and not (x.scales.is_vector or y.scales.is_vector)

    def _to_look_at(self, x: ColumnGroup, y: ColumnGroup, found: FoundPairs) -> Any:
        """Pairs of which the rows may have to say something: single ones weigh much, or levels may be the same."""
        torch = load("torch", extra=EXTRA)
        has_levels = x.scales.is_category or y.scales.is_category
        weights = [of[side.positions] for (of, _), side in zip(self._traits, (x, y), strict=True)]
        are_cells = self._are_cells(x, y)
        if are_cells and not has_levels and weights[0].max() * weights[1].max() <= LIGHT * x.n_rows**2:
            return None
        coefficient = torch.as_tensor(found.coefficient)
        i, j, n = (torch.as_tensor(part, device=coefficient.device) for part in (found.i, found.j, found.n))
        of_x, of_y = (torch.as_tensor(of, device=coefficient.device) for of, _ in self._traits)
        heavier = torch.as_tensor(found.heavier, device=coefficient.device)
        weight, square = of_x[i] * of_y[j] * heavier, n.double() ** 2
        log_pvalue = torch.as_tensor(found.log_pvalue)
        doubtful = (weight > LIGHT * square) & (log_pvalue <= np.log(LARGEST_PVALUE))
        if are_cells and not (x.scales.is_category and y.scales.is_category):
            doubtful = _strongest(doubtful, coefficient, log_pvalue)
        n_numbers = sum(int(are[side.positions].min()) for (_, are), side in zip(self._traits, (x, y), strict=True))
        limit = float(largest_leverage(n_numbers, x.n_rows))
        wanted = doubtful | ((weight > limit * square) & ~torch.isnan(coefficient))
        if has_levels:
            wanted |= coefficient >= SAME
        which = wanted.nonzero().ravel()
        if len(which) == 0:
            return None
        return which if coefficient is found.coefficient else which.numpy()


def _numbers_of(group: ColumnGroup) -> int:
    """Numbers that a pair takes of such columns, which are more than usual where they have many levels."""
    return int(4 * group.scales.basis.dimension**2)


def _halves(group: ColumnGroup) -> list[ColumnGroup]:
    n = len(group.positions)
    edges = sorted({0, n // 2, n})
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges)]


def _strongest(doubtful: Tensor, coefficient: Tensor, log_pvalue: Tensor) -> Tensor:
    """Those of which no more are looked at can be: of one number of rows, strength is that of either or both."""
    torch = load("torch", extra=EXTRA)
    if int(doubtful.sum()) <= 2 * MOST_LOOKED_AT:
        return doubtful
    kept = torch.zeros_like(doubtful)
    for evidence in (coefficient, -log_pvalue):
        kept[torch.where(doubtful, evidence.double(), -torch.inf).topk(MOST_LOOKED_AT).indices] = True
    return kept


def compared(x: Ranked, y: Ranked | None = None, /, *, progress: bool) -> Edges:
    """All pairs of columns of x with one another, or with those of y."""
    work = _Comparison(x, y)
    shape = len(x.variables), len(work.y.variables)
    names = (*_MATRICES, *(_OF_GAPS if work.has_gaps else ()))
    permuted: list[tuple[int, int]] = []
    looked: list[Looked] = []
    with Fetching(names, shape, work.device, later=_LATER) as fetching:
        last = _last_tiles(work.tiles, shape[0], is_square=work.is_square)
        for t, tile in enumerate(watched(work.tiles, len(work.tiles), "Comparing pairs", shown=progress)):
            for a, b, found in work.found(*tile):
                looked.append(work.looked(a, b, found))
                drawn = FoundPairs.of(found, flat_places(found.is_permuted))
                permuted.extend(zip(drawn.i.tolist(), drawn.j.tolist(), strict=True))
                blocks = _Blocks(a, b, found, work.device)
                for name in names:
                    fetching.put(name, a.positions, b.positions, blocks.of(name))
                    if work.is_square and b is not a:
                        fetching.put(name, b.positions, a.positions, blocks.of(_TURNED.get(name, name)).T)
            fetching.fetch(np.flatnonzero(last == t))
        looked.append(work.looked_in_the_end())
        for side in (x, work.y):
            side.finish()
    dimensions = [np.array([v.prepared.basis.dimension for v in side.variables]) for side in (x, work.y)]
    matrix = FoundMatrix(
        fetching.matrices, int(x.codes.shape[1]), (dimensions[0], dimensions[1]), work.is_square, permuted
    )
    return Edges(x.variables, work.y.variables, matrix, looked=Looked.joined(looked, is_square=work.is_square))


def compared_in_tiles(x: Ranked, /, *, progress: bool) -> Iterator[Edges]:
    """The same, some pairs at a time, so that those that are not wanted need not be kept."""
    work = _Comparison(x, None)
    x.finish()
    for tile in watched(work.tiles, len(work.tiles), "Comparing pairs", shown=progress):
        for a, b, found in work.found(*tile):
            looked = Looked.joined([work.looked(a, b, found), work.looked_in_the_end()], is_square=True)
            yield replace(Edges.of(x.variables, x.variables, [FoundPairs.of(found)]), looked=looked)


def _last_tiles(tiles: Sequence[tuple[ColumnGroup, ColumnGroup]], n_rows: int, *, is_square: bool) -> Index:
    """For every row of the matrices the last tile that has some of it."""
    last = np.zeros(n_rows, dtype=np.intp)
    for t, (a, b) in enumerate(tiles):
        last[a.positions] = t
        if is_square:
            last[b.positions] = t
    return last


class _Blocks:
    """What was found on the pairs of a tile, as matrices on a device."""

    def __init__(self, x: ColumnGroup, y: ColumnGroup, found: FoundPairs, device: Any, /) -> None:
        self._found, self._device, self._is_square = found, device, y is x
        self._shape = len(x.positions), len(y.positions)

    def of(self, name: str, /) -> Tensor:
        """One number of all pairs; of columns with themselves both triangles are alike, but for turned dimensions."""
        torch = load("torch", extra=EXTRA)
        values = self._values(name)
        if not self._is_square:
            return values.reshape(self._shape)
        i, j = torch.triu_indices(*self._shape, 1, device=self._device)
        matrix = torch.full(self._shape, _OWN.get(name, torch.nan), dtype=values.dtype, device=self._device)
        matrix[i, j] = values
        matrix[j, i] = self._values(_TURNED[name]) if name in _TURNED else values
        return matrix

    def _values(self, name: str) -> Tensor:
        torch = load("torch", extra=EXTRA)
        if name in _TURNED:
            values = self._found.dimensions[:, list(_TURNED).index(name)]
        else:
            values = getattr(self._found, "log_pvalue" if name == "pvalues" else name)
        values = torch.as_tensor(values, device=self._device).double()
        return torch.exp(values).clamp(min=SMALLEST_PVALUE) if name == "pvalues" else values


@dataclass(frozen=True, eq=False)
class FoundMatrix:
    """What `Found` has, as matrices of all pairs; as vectors only when asked for.

    `own_ranks` are those of the bases of every column, on either side.
    """

    matrices: dict[str, Array]
    n_rows: int
    own_dimensions: tuple[Index, Index]
    is_square: bool
    permuted: list[tuple[int, int]]

    def matrix(self, name: str, /) -> Array | None:
        """All pairs and columns with themselves."""
        return self.matrices[name] if name in _MATRICES else None

    @cached_property
    def _index(self) -> tuple[Index, Index]:
        shape = self.matrices["coefficient"].shape
        if self.is_square:
            i, j = np.triu_indices(shape[0], 1)
            return i, j
        i, j = (index.ravel() for index in np.indices(shape))
        return i, j

    @property
    def i(self) -> Index:
        """Rows of the matrices."""
        return self._index[0]

    @property
    def j(self) -> Index:
        """Columns of the matrices."""
        return self._index[1]

    @cached_property
    def n(self) -> Index:
        """Rows of every pair."""
        return self._flat("n").astype(np.intp) if "n" in self.matrices else np.full(len(self.i), self.n_rows)

    @cached_property
    def dimensions(self) -> NDArray[np.int32]:
        """Those of the two bases of every pair."""
        if "n" in self.matrices:
            return np.column_stack((self._flat("dimension_x"), self._flat("dimension_y"))).astype(np.int32)
        return np.column_stack((self.own_dimensions[0][self.i], self.own_dimensions[1][self.j])).astype(np.int32)

    @cached_property
    def heavier(self) -> Array | None:
        """By how much single rows may weigh more than among all."""
        return self._flat("heavier") if "heavier" in self.matrices else None

    @property
    def is_permuted(self) -> Mask:
        """Which p-values come from permutations."""
        are_permuted = np.zeros(len(self.i), dtype=bool)
        are_permuted[self.places(self.permuted)] = True
        return are_permuted

    def places(self, pairs: Sequence[tuple[int, int]], /) -> Index:
        """Where pairs of columns, in any order, are among all of them."""
        if not pairs:
            return np.empty(0, dtype=np.intp)
        a, b = np.array([(min(p), max(p)) if self.is_square else p for p in pairs], dtype=np.intp).T
        n_columns = self.matrices["coefficient"].shape[1]
        # Above the diagonal row a begins after a rows that are shorter by one each.
        return np.asarray(a * n_columns - a * (a + 1) // 2 + b - a - 1 if self.is_square else a * n_columns + b)

    @cached_property
    def coefficient(self) -> Array:
        """Coefficients."""
        return self._flat("coefficient")

    @cached_property
    def log_pvalue(self) -> Array:
        """Logarithms of p-values."""
        return self._flat("log_pvalue")

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation."""
        return self._flat("pearson")

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation."""
        return self._flat("spearman")

    def _flat(self, name: str) -> Array:
        """One number for every pair."""
        matrix = self.matrices[name]
        return matrix[self.i, self.j] if self.is_square else matrix.ravel()
