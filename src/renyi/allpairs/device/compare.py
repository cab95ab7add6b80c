"""All pairs of columns on a device, a tile at a time, into matrices in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.compare import SHUFFLES, Found, by_itself
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.device.ranking import Ranked
from renyi.allpairs.device.stack import DeviceStack
from renyi.allpairs.edges import LARGEST_PVALUE, MOST_LOOKED_AT, SMALLEST_PVALUE, Edges, traits
from renyi.allpairs.tiles import tiles_of
from renyi.compute.devices import EXTRA, free_bytes, relieved
from renyi.compute.fetching import Fetching
from renyi.compute.progress import watched
from renyi.errors import load
from renyi.inference.debias import LIGHT, effective_rows, largest_leverage, null_level, plain_rows
from renyi.inference.roy import null_median
from renyi.pair.prepare import Prepared

__all__ = ["MatrixEdges", "compared"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Tensor: TypeAlias = Any

# Columns of a tile at most: products are as fast as they get, and finished rows come back while others are worked on.
_MOST_COLUMNS = 2048
# Numbers that a pair takes while it is compared: sums, what is taken of them, and what spectra need beside.
_NUMBERS_OF_PAIR = 700
_MATRICES = ("coefficient", "log_pvalue", "pvalues", "pearson", "spearman")
# What a column has with itself; nothing is tested there.
_OWN = {"coefficient": 1.0, "pearson": 1.0, "spearman": 1.0}


def compared(x: Ranked, y: Ranked | None = None, /, *, progress: bool) -> "MatrixEdges":
    """All pairs of columns of x with one another, or with those of y."""
    own = x.groups()
    others = None if y is None else y.groups()
    shape = len(x.variables), len((y or x).variables)
    device = x.codes.device
    shuffled: list[tuple[int, int]] = []
    carrying: dict[tuple[int, int], float] = {}
    with Fetching(_MATRICES, shape, device) as fetching:
        tiles = list(tiles_of(own, others, most=_MOST_COLUMNS, room=lambda a, b: _columns_of_tile(device)))
        last = _last_tiles(tiles, len(x.variables), is_square=y is None)
        for t, (a, b) in enumerate(watched(tiles, len(tiles), "Comparing pairs", shown=progress)):
            for tile in _tiles_that_fit(a, b):
                shuffled.extend(tile.shuffled)
                carrying.update(tile.carrying)
                for name, block in tile.matrices.items():
                    fetching.put(name, tile.rows, tile.columns, block, both_ways=y is None)
            fetching.fetch(np.flatnonzero(last == t))
    ranks_x, ranks_y = _ranks(own, shape[0]), _ranks(others or own, shape[1])
    found = FoundMatrix(fetching.matrices, int(x.codes.shape[1]), ranks_x, ranks_y, y is None, shuffled, carrying)
    return MatrixEdges(x.variables, (y or x).variables, cast(Found, found))


def _last_tiles(tiles: Sequence[tuple[ColumnGroup, ColumnGroup]], n_rows: int, *, is_square: bool) -> Index:
    """For every row of the matrices the last tile that has some of it."""
    last = np.zeros(n_rows, dtype=np.intp)
    for t, (a, b) in enumerate(tiles):
        last[a.positions] = t
        if is_square:
            last[b.positions] = t
    return last


def _ranks(groups: Sequence[ColumnGroup], n_columns: int) -> Index:
    """Those of the bases of every column."""
    ranks = np.empty(n_columns, dtype=np.intp)
    for group in groups:
        ranks[group.positions] = group.coefficient.rank
    return ranks


def _columns_of_tile(device: Any) -> int:
    return max(1, int(np.sqrt(free_bytes(device) / (8 * _NUMBERS_OF_PAIR))))


@dataclass(frozen=True, eq=False)
class _Tile:
    """What was found on the pairs of some columns, as matrices on a device."""

    rows: Index
    columns: Index
    matrices: dict[str, Tensor]
    shuffled: list[tuple[int, int]]
    carrying: dict[tuple[int, int], float]


def _tiles_that_fit(x: ColumnGroup, y: ColumnGroup) -> Iterator[_Tile]:
    """All pairs of a tile, in smaller ones where the device is full."""
    torch = load("torch", extra=EXTRA)
    try:
        yield _compare(x, y)
        return
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
    if max(len(x.positions), len(y.positions)) == 1:
        with relieved(_rows_of(x).device, "one pair of columns"):
            yield _compare(x, y)
        return
    halves = _halves(x)
    for k, part in enumerate(halves):
        for other in halves[k:] if y is x else _halves(y):
            yield from _tiles_that_fit(part, other)


def _rows_of(group: ColumnGroup) -> DeviceStack:
    return cast(DeviceStack, group.coefficient)


def _halves(group: ColumnGroup) -> list[ColumnGroup]:
    n = len(group.positions)
    edges = sorted({0, n // 2, n})
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges)]


def _compare(x: ColumnGroup, y: ColumnGroup) -> _Tile:
    """Values and p-values of all pairs; of columns with themselves both triangles are the same."""
    torch = load("torch", extra=EXTRA)
    device = _rows_of(x).device
    shape = len(x.positions), len(y.positions)
    if y is x:
        i, j = torch.triu_indices(*shape, 1, device=device)
    else:
        i, j = (
            index.ravel() for index in torch.meshgrid(*(torch.arange(n, device=device) for n in shape), indexing="ij")
        )
    pairs = CompletePairs(x, y, i, j)
    is_there = ~torch.isnan(pairs.coefficient)
    log_pvalue = torch.where(is_there, pairs.log_pvalue, torch.nan)
    shuffled = _shuffle(x, y, (i, j), log_pvalue, torch.isnan(log_pvalue) & is_there)
    carrying = _rows_carrying(x, y, (i, j), pairs, log_pvalue)
    flat = {
        "coefficient": pairs.coefficient,
        "log_pvalue": log_pvalue,
        "pvalues": torch.exp(log_pvalue).clamp(min=SMALLEST_PVALUE),
        "pearson": pairs.pearson,
        "spearman": pairs.first,
    }
    if y is not x:
        matrices = {name: values.reshape(shape) for name, values in flat.items()}
        return _Tile(x.positions, y.positions, matrices, shuffled, carrying)
    matrices = {}
    for name, values in flat.items():
        matrix = torch.full(shape, _OWN.get(name, torch.nan), dtype=values.dtype, device=device)
        matrix[i, j] = values
        matrix[j, i] = values
        matrices[name] = matrix
    return _Tile(x.positions, y.positions, matrices, shuffled, carrying)


def _shuffle(
    x: ColumnGroup, y: ColumnGroup, index: tuple[Tensor, Tensor], /, log_pvalue: Tensor, which: Tensor
) -> list[tuple[int, int]]:
    """Test pairs that have no law by themselves, by shuffles on the device; those that were shuffled."""
    (i, j), shuffled = index, []
    shuffles = replace(SHUFFLES, device=log_pvalue.device)
    for k in which.nonzero().ravel().tolist():
        a, b = int(i[k]), int(j[k])

        def pair(a: int = a, b: int = b) -> tuple[Prepared, Prepared, None]:
            return _with_rows(x, a), _with_rows(y, b), None

        result = by_itself(pair, shuffles)
        log_pvalue[k] = np.nan if result is None else result.log_pvalue
        if result is not None and result.calibration == "shuffles":
            shuffled.append((int(x.positions[a]), int(y.positions[b])))
    return shuffled


def _rows_carrying(
    x: ColumnGroup, y: ColumnGroup, index: tuple[Tensor, Tensor], pairs: CompletePairs, log_pvalue: Tensor
) -> dict[tuple[int, int], float]:
    """How many rows carry the strongest pairs in which single ones weigh much, by the positions of their columns."""
    torch = load("torch", extra=EXTRA)
    (weights_x, _), (weights_y, _) = traits(x.variables), traits(y.variables)
    limit = LIGHT * x.n_rows**2
    if weights_x.max() * weights_y.max() <= limit:
        return {}
    i, j = index
    left, right = (torch.as_tensor(side, device=log_pvalue.device) for side in (weights_x, weights_y))
    is_heavy = (left[i] * right[j] > limit) & (log_pvalue <= np.log(LARGEST_PVALUE))
    which = is_heavy.nonzero().ravel()
    weights = (left[i] * right[j])[which].cpu().numpy()
    # As `Edges.rows_carrying` has it: what is not looked at has the fewest rows that must carry it, negative.
    places = zip(
        x.positions[i[which].cpu().numpy()].tolist(), y.positions[j[which].cpu().numpy()].tolist(), strict=True
    )
    found = dict(zip(places, (-np.maximum(x.n_rows / np.sqrt(weights), 1.0)).tolist(), strict=True))
    if len(which) > MOST_LOOKED_AT:
        which = which[torch.argsort(-pairs.coefficient[which], stable=True)[:MOST_LOOKED_AT]]
    crosses = torch.as_tensor(pairs.cross)[which].double().cpu().numpy()
    for cross, a, b in zip(crosses, i[which].tolist(), j[which].tolist(), strict=True):
        rows = effective_rows(x.variables[a].prepared.basis, y.variables[b].prepared.basis, cross)
        found[int(x.positions[a]), int(y.positions[b])] = rows
    return found


def _with_rows(group: ColumnGroup, column: int) -> Prepared:
    """A column with the cell of every row in memory."""
    prepared, codes = group.variables[column].prepared, _rows_of(group).codes_of(column)
    basis, nested = (replace(part, codes=codes, counts=None) for part in (prepared.basis, prepared.scales.basis))
    return Prepared(basis, replace(prepared.scales, basis=nested))


@dataclass(frozen=True, eq=False)
class FoundMatrix:
    """What `Found` has, as matrices of all pairs; as vectors only when asked for.

    `ranks_x` and `ranks_y` are those of the bases of every column.
    """

    matrices: dict[str, Array]
    n_rows: int
    ranks_x: Index
    ranks_y: Index
    is_square: bool
    shuffled: list[tuple[int, int]]
    carrying: dict[tuple[int, int], float]

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

    @property
    def n(self) -> Index:
        """Rows of every pair."""
        return np.full(len(self.i), self.n_rows)

    @property
    def ranks(self) -> NDArray[np.int32]:
        """Those of the two bases of every pair."""
        return np.column_stack((self.ranks_x[self.i], self.ranks_y[self.j])).astype(np.int32)

    @property
    def heavier(self) -> None:
        """All rows are common."""
        return None

    @property
    def is_shuffled(self) -> NDArray[np.bool_]:
        """Which p-values come from shuffles."""
        are_shuffled = np.zeros(len(self.i), dtype=bool)
        are_shuffled[self._places(self.shuffled)] = True
        return are_shuffled

    @property
    def rows_carrying(self) -> Array:
        """How many rows carry every pair."""
        rows = plain_rows(self.n)
        rows[self._places(list(self.carrying))] = list(self.carrying.values())
        return rows

    def _places(self, pairs: list[tuple[int, int]]) -> Index:
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
        return self.flat("coefficient")

    @cached_property
    def log_pvalue(self) -> Array:
        """Logarithms of p-values."""
        return self.flat("log_pvalue")

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation."""
        return self.flat("pearson")

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation."""
        return self.flat("spearman")

    def flat(self, name: str, /) -> Array:
        """One number for every pair."""
        matrix = self.matrices[name]
        return matrix[self.i, self.j] if self.is_square else matrix.ravel()


@dataclass(frozen=True, eq=False)
class MatrixEdges(Edges):
    """Pairs that were found as matrices."""

    @property
    def _matrices(self) -> FoundMatrix:
        return cast(FoundMatrix, self.found)

    def spread(self, name: str, /) -> Array | None:
        return self._matrices.matrices.get(name)

    @cached_property
    def pvalues(self) -> Array:
        return self._matrices.flat("pvalues")

    @cached_property
    def rows_carrying(self) -> Array:
        return self._matrices.rows_carrying

    def look_at(self, which: Index, /) -> None:
        """That was done where the rows are."""

    def _levels(self) -> Array:
        """Ranks and rows say it all, but for the few pairs in which single rows weigh too much."""
        found = self._matrices
        sides = [np.unique(ranks, return_inverse=True) for ranks in (found.ranks_x, found.ranks_y)]
        (of_x, which_x), (of_y, which_y) = sides
        n = found.n_rows
        # Where two fill the rows there is no coefficient.
        levels = np.array(
            [[null_median(a, b, n) if a + b < n else np.nan for b in of_y.tolist()] for a in of_x.tolist()]
        )
        of_pairs = np.asarray(levels[which_x[found.i], which_y[found.j]])
        (weights_x, _), (weights_y, _) = traits(self.x), traits(self.y)
        most = largest_leverage(2, n) * n**2
        if weights_x.max() * weights_y.max() > most:
            is_heavy = (weights_x[found.i] * weights_y[found.j] > most) & np.isfinite(found.coefficient)
            for k in np.flatnonzero(is_heavy).tolist():
                of_pairs[k] = null_level(*self._bases(k))
        return of_pairs
