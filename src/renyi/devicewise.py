"""All pairs of columns on a device, a tile at a time, into matrices in memory."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.alike import Alike
from renyi.edges import SMALLEST_PVALUE, Edges
from renyi.execution.devices import EXTRA, free_bytes, relieved
from renyi.execution.progress import watched
from renyi.extras import load
from renyi.independence import Prepared
from renyi.inference.roy import null_median
from renyi.pairwise import CompletePairs
from renyi.resident import ResidentStack
from renyi.tensors import Ranked
from renyi.tiles import SHUFFLES, Found, by_itself, tiles_of

__all__ = ["MatrixEdges", "compared"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Tensor: TypeAlias = Any

# Columns of a tile at most: products are as fast as they get, and a tile comes back while the next one is worked on.
_MOST_COLUMNS = 2048
# Numbers that a pair takes while it is compared: sums, what is taken of them, and what spectra need beside.
_NUMBERS_OF_PAIR = 700
# Tiles that wait to be fetched, and threads that do.
_MOST_WAITING, _N_THREADS = 3, 4
_MATRICES = ("coefficient", "log_pvalue", "pvalues", "pearson", "spearman")


def compared(x: Ranked, y: Ranked | None = None, /, *, progress: bool) -> "MatrixEdges":
    """All pairs of columns of x with one another, or with those of y."""
    own = x.groups()
    others = None if y is None else y.groups()
    shape = len(x.variables), len((y or x).variables)
    found = FoundMatrix.empty(shape, int(x.codes.shape[1]), own, others)
    device = x.codes.device
    tiles = list(tiles_of(own, others, most_columns=lambda a, b: _columns_of_tile(device)))
    with _Fetching(found, device) as fetching:
        for a, b in watched(tiles, len(tiles), "Comparing pairs", shown=progress):
            for tile in _tiles_that_fit(a, b):
                fetching.put(tile)
    return MatrixEdges(x.variables, (y or x).variables, cast(Found, found))


def _columns_of_tile(device: Any) -> int:
    return max(1, min(_MOST_COLUMNS, int(np.sqrt(free_bytes(device) / (8 * _NUMBERS_OF_PAIR)))))


@dataclass(frozen=True, eq=False)
class _Tile:
    """What was found on the pairs of some columns, as matrices on a device."""

    rows: Index
    columns: Index
    matrices: dict[str, Tensor]
    shuffled: list[tuple[int, int]]


def _tiles_that_fit(x: Alike, y: Alike) -> Iterator[_Tile]:
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


def _rows_of(group: Alike) -> ResidentStack:
    return cast(ResidentStack, group.coefficient)


def _halves(group: Alike) -> list[Alike]:
    n = len(group.positions)
    edges = sorted({0, n // 2, n})
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges)]


def _compare(x: Alike, y: Alike) -> _Tile:
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
    flat = {
        "coefficient": pairs.coefficient,
        "log_pvalue": log_pvalue,
        "pvalues": torch.exp(log_pvalue).clamp(min=SMALLEST_PVALUE),
        "pearson": pairs.pearson,
        "spearman": pairs.first,
    }
    if y is not x:
        matrices = {name: values.reshape(shape) for name, values in flat.items()}
        return _Tile(x.positions, y.positions, matrices, shuffled)
    matrices = {}
    for name, values in flat.items():
        matrix = torch.full(shape, torch.nan, dtype=values.dtype, device=device)
        matrix[i, j] = values
        matrix[j, i] = values
        matrices[name] = matrix
    return _Tile(x.positions, y.positions, matrices, shuffled)


def _shuffle(
    x: Alike, y: Alike, index: tuple[Tensor, Tensor], /, log_pvalue: Tensor, which: Tensor
) -> list[tuple[int, int]]:
    """Test pairs that have no law by themselves, by shuffles on the device; those that were shuffled."""
    (i, j), shuffled = index, []
    shuffles = replace(SHUFFLES, device=log_pvalue.device)
    for k in which.nonzero().ravel().tolist():
        a, b = int(i[k]), int(j[k])

        def pair(a: int = a, b: int = b) -> tuple[Prepared, Prepared, None]:
            return _with_rows(x, a), _with_rows(y, b), None

        log_pvalue[k], is_shuffled = by_itself(pair, shuffles)
        if is_shuffled:
            shuffled.append((int(x.positions[a]), int(y.positions[b])))
    return shuffled


def _with_rows(group: Alike, column: int) -> Prepared:
    """A column with the cell of every row in memory."""
    prepared, codes = group.variables[column].prepared, _rows_of(group).codes_of(column)
    basis, nested = (replace(part, codes=codes, counts=None) for part in (prepared.basis, prepared.scales.basis))
    return Prepared(basis, replace(prepared.scales, basis=nested))


class _Fetching:
    """Tiles on their way into matrices in memory, while the device goes on with the next ones."""

    def __init__(self, found: "FoundMatrix", device: Any, /) -> None:
        self._found, self._device = found, device
        self._pool = ThreadPoolExecutor(_N_THREADS)
        self._waiting: deque[list[Future[None]]] = deque()

    def __enter__(self) -> "_Fetching":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            while self._waiting:
                self._finish()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def put(self, tile: _Tile, /) -> None:
        """Fetch a tile when the device is done with it."""
        self._found.shuffled.extend(tile.shuffled)
        done = None
        if self._device.type == "cuda":
            torch = load("torch", extra=EXTRA)
            done = torch.cuda.Event()
            done.record(torch.cuda.current_stream(self._device))
        work = [self._pool.submit(self._fetch, tile, name, done) for name in tile.matrices]
        self._waiting.append(work)
        if len(self._waiting) > _MOST_WAITING:
            self._finish()

    def _finish(self) -> None:
        for future in self._waiting.popleft():
            future.result()

    def _fetch(self, tile: _Tile, name: str, done: Any) -> None:
        matrix = tile.matrices[name]
        if done is None:
            self._found.put(name, tile.rows, tile.columns, matrix.numpy(), matrix.T.numpy())
            return
        torch = load("torch", extra=EXTRA)
        stream = torch.cuda.Stream(self._device)
        stream.wait_event(done)
        with torch.cuda.stream(stream):
            here = matrix.cpu()
            turned = matrix.T.contiguous().cpu() if self._found.is_square else here.T
        self._found.put(name, tile.rows, tile.columns, here.numpy(), turned.numpy())


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
    shuffled: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def empty(
        cls, shape: tuple[int, int], n_rows: int, x: Sequence[Alike], y: Sequence[Alike] | None, /
    ) -> "FoundMatrix":
        """Nothing yet."""
        ranks = [np.empty(size, dtype=np.intp) for size in shape]
        for side, groups in zip(ranks, (x, x if y is None else y), strict=True):
            for group in groups:
                side[group.positions] = group.coefficient.rank
        return cls({name: np.empty(shape) for name in _MATRICES}, n_rows, ranks[0], ranks[1], y is None)

    def put(self, name: str, rows: Index, columns: Index, block: Array, turned: Array, /) -> None:
        """Write what a tile has, and what its reverse has where that is the same."""
        matrix = self.matrices[name]
        matrix[_where(rows, columns)] = block
        if self.is_square:
            matrix[_where(columns, rows)] = turned

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
    def is_shuffled(self) -> NDArray[np.bool_]:
        """Which p-values come from shuffles."""
        shape = self.matrices["coefficient"].shape
        pairs = {(min(p), max(p)) if self.is_square else p for p in self.shuffled}
        among = np.ravel_multi_index(tuple(zip(*pairs, strict=True)), shape) if pairs else np.empty(0, dtype=np.intp)
        return np.isin(np.ravel_multi_index((self.i, self.j), shape), among)

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


def _where(rows: Index, columns: Index) -> Any:
    """A block of a matrix, as slices if its places follow one another."""
    if all(len(index) and index[-1] - index[0] == len(index) - 1 for index in (rows, columns)):
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return np.ix_(rows, columns)


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

    def _levels(self) -> Array:
        """Of numbers the law holds whatever single rows weigh, so that ranks and rows say it all."""
        found = self._matrices
        sides = [np.unique(ranks, return_inverse=True) for ranks in (found.ranks_x, found.ranks_y)]
        (of_x, which_x), (of_y, which_y) = sides
        levels = np.array([[null_median(int(a), int(b), found.n_rows) for b in of_y] for a in of_x])
        return np.asarray(levels[which_x[found.i], which_y[found.j]])
