"""P-values of the combined blocks by permutation, of all pairs on as many rows at once.

Pairs on as many rows share their orders. Functions of all of them are padded with zeros to one width, so that a block
of every pair takes one call of NumPy; and of a permutation no more is found than whether it reaches the statistic of
its pair. In single precision, and by how much evidence the roots of a cell have at least and at most, that is plain of
nearly all permutations; blocks that ask for eigenvalues wait until the others leave it open. The rest are looked at in
full.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.eigenvalues import are_roots_below, bounds_of_planes, roots_of_planes
from renyi.inference.multiscale import LARGEST_ROOT, Block, block_roots, log_weights
from renyi.inference.permutation import ROUNDING_OF_LOGARITHMS, Entropy, Permuted, Tally, random_orders, reaches
from renyi.inference.roy import log_sf_of_many

# In single precision.
Roughly: TypeAlias = NDArray[Any]

# Orders at once: as many as there were before, up to so many; and bytes of the functions in these orders, which with
# their products stay in the cache.
_MOST_ORDERS, _BYTES_AT_ONCE = 4096, 2**25
# Cells of roots, and what single precision leaves of a root, ten times over.
_CELLS, _ROUNDING = 512, 2e-5
# What single precision leaves of sums of evidence, in units of what was observed, and what counts as reaching it.
_SURELY = 1.002
_NOTHING = 1e-30
# Permutations that are looked at in full at once.
_IN_FULL = 4096


class Observed(NamedTuple):
    """A pair whose rows are to be permuted: functions (rows, functions) of both sides, blocks, and the statistic.

    Rows of a side are in an order that depends on what it holds alone, and the sides too.
    """

    x: Array
    y: Array
    blocks: tuple[Block, ...]
    statistic: float


def permuted_together(pairs: Sequence[Observed], /, *, n_resamples: int, seed: Entropy) -> list[Permuted]:
    """P-values of pairs on as many rows, each as it is by itself."""
    # Pairs with the same blocks lie together, so that few calls take them.
    order = sorted(range(len(pairs)), key=lambda k: (pairs[k].x.shape, pairs[k].y.shape, pairs[k].blocks))
    together, tally = _Together([pairs[k] for k in order]), Tally(len(pairs))
    for orders in _growing(random_orders(together.n_rows, n_resamples, seed)):
        unresolved = tally.unresolved
        if len(unresolved) == 0:
            break
        places = np.ascontiguousarray(orders.T), np.ascontiguousarray(np.argsort(orders, axis=1).T)
        tally.add(unresolved, together.reached(unresolved, *places))
    found = tally.found
    return [found[k] for k in np.argsort(order).tolist()]


def _growing(batches: Iterator[Index]) -> Iterator[Index]:
    """The same orders in fewer batches, which grow: most answers are clear after a few permutations."""
    n_before, waiting = 0, list[Index]()
    for batch in batches:
        waiting.append(batch)
        if (n_waiting := sum(map(len, waiting))) >= min(n_before, _MOST_ORDERS):
            yield np.concatenate(waiting)
            n_before += n_waiting
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


class _Products(NamedTuple):
    """Products of permuted functions: of leading ones (pairs, of y, of x, orders), and of all with the first."""

    corner: Roughly
    of_x: Roughly
    of_y: Roughly

    def planes(self, which: Index | slice, a: int, b: int) -> Roughly:
        """Entries (b, a, pairs · orders) of the leading functions of some of the pairs."""
        entries = np.moveaxis(self.corner[which, :b, :a], 0, 2)
        return entries.reshape(b, a, -1)

    def roots(self, which: Index | slice, a: int, b: int) -> Roughly:
        """Largest roots (pairs, orders) of a block that is one or two functions wide."""
        if min(a, b) > 1:
            return roots_of_planes(self.planes(which, a, b)).reshape(-1, self.corner.shape[-1])
        entries = self.of_x[which, :a] if b == 1 else self.of_y[which, :b]
        return np.asarray(np.einsum("paq,paq->pq", entries, entries))


class _Cells(NamedTuple):
    """What evidence the roots of a block have, cell by cell: at least and at most, in units of what a pair observed.

    Cells are of equal size in 1 − √(1 − root), since evidence is steep where roots are large; one more is of roots that
    are 1. Logarithms of weights are over what was observed, NaN where a pair does not have the block; `highest` are
    logarithms of 1/p at the upper ends of the cells.
    """

    log_weights: Array
    has: Mask
    highest: Array
    low: Roughly
    high: Roughly

    @classmethod
    def of(cls, block: Block, n_rows: int, log_weights: Array) -> "_Cells":
        """Of all pairs, by logarithms of weights over what was observed."""
        edges = 1.0 - (1.0 - np.minimum(np.arange(_CELLS + 2) / _CELLS, 1.0)) ** 2
        roots = np.clip(np.concatenate((edges[:-1] - _ROUNDING, edges[1:] + _ROUNDING)), 0.0, LARGEST_ROOT)
        log_p = log_sf_of_many(roots, *block, n_rows).reshape(2, -1)
        # What reaches the observed evidence by far needs no number.
        low, high = (
            np.exp(np.minimum(log_weights[:, np.newaxis] - own, 1.0), dtype=np.float32).ravel() for own in log_p
        )
        return cls(log_weights, ~np.isnan(log_weights), -log_p[1], low, high)

    @staticmethod
    def at(roots: Roughly, pairs: Index) -> Index:
        """The cells of roots (pairs, …) of some pairs."""
        cells = ((1.0 - np.sqrt(np.maximum(1.0 - roots, 0.0))) * _CELLS).astype(np.intp)
        cells += pairs.reshape(-1, *(1,) * (roots.ndim - 1)) * (_CELLS + 1)
        return cells

    def least_roots(self, evidence: Roughly, pairs: Index) -> Roughly:
        """Roots of some pairs below which they have less evidence than this."""
        wanted = np.log(np.maximum(evidence, _NOTHING)) - self.log_weights[pairs]
        edges = np.searchsorted(self.highest, wanted).astype(np.float32) / _CELLS
        return np.asarray(1.0 - (1.0 - np.minimum(edges, 1.0)) ** 2)


class _Slow(NamedTuple):
    """A block of some pairs whose roots take long: entries of its products, and what evidence they have at most."""

    cells: _Cells
    planes: Roughly
    pairs: Index
    names: Index
    most: Roughly

    @classmethod
    def of(cls, cells: _Cells, planes: Roughly, pairs: Index, some: Index, shape: tuple[int, ...]) -> "_Slow":
        """Of pairs by their places among some, by bounds."""
        names = some[pairs]
        bounds = bounds_of_planes(planes).reshape(len(pairs), shape[1])
        return cls(cells, planes, pairs, names, np.take(cells.high, cells.at(bounds, names)))

    def hold_against(self, low: Roughly, high: Roughly, shares: Roughly) -> None:
        """Whether roots fall short of the share of evidence with which all such blocks together would be too little."""
        place, order, planes = self._open(low, high)
        if len(place):
            pair, before = self.pairs[place], self.most[place, order]
            share = shares[pair, order]
            is_less = are_roots_below(planes, self.cells.least_roots(share, self.names[place])) & (share < before)
            self.most[place, order] = np.where(is_less, share, before)
            high[pair, order] += self.most[place, order] - before

    def look_at(self, low: Roughly, high: Roughly) -> None:
        """The roots themselves, where nothing else says enough."""
        place, order, planes = self._open(low, high)
        if len(place):
            pair, at = self.pairs[place], self.cells.at(roots_of_planes(planes), self.names[place])
            low[pair, order] += self.cells.low[at]
            high[pair, order] += self.cells.high[at] - self.most[place, order]

    def _open(self, low: Roughly, high: Roughly) -> tuple[Index, Index, Roughly]:
        """Which pairs in which orders may reach what was observed or not, and their entries."""
        which, n_orders = _plainly(self.pairs), low.shape[1]
        open_ones = np.flatnonzero((low[which] < _SURELY) & (high[which] >= 1.0 / _SURELY))
        return open_ones // n_orders, open_ones % n_orders, np.take(self.planes, open_ones, axis=2)


class _Together:
    """Pairs on as many rows: their functions, and which of them have a block."""

    def __init__(self, pairs: Sequence[Observed], /) -> None:
        self.n_rows = len(pairs[0].x)
        self._statistic = np.array([pair.statistic for pair in pairs])
        blocks = [block for pair in pairs for block in pair.blocks]
        # Of blocks of one function against many products with the first function are enough.
        self._corner = tuple(max((block[k] for block in blocks if min(block) > 1), default=1) for k in (0, 1))
        self._edges = tuple(max((block[k] for block in blocks if min(block) == 1), default=1) for k in (0, 1))
        sizes = [max(pair) for pair in zip(self._corner, self._edges, strict=True)]
        self._x = _padded([pair.x for pair in pairs], sizes[0]) / self.n_rows
        self._y = _padded([pair.y for pair in pairs], sizes[1])
        self._roughly: tuple[Roughly, Roughly] = self._x.astype(np.float32), self._y.astype(np.float32)
        weights = [dict(zip(p.blocks, log_weights(p.blocks) - p.statistic, strict=True)) for p in pairs]
        # The narrow blocks first, whose roots take less time.
        distinct = sorted(set(blocks), key=lambda block: (min(block), block))
        self._cells = {
            block: _Cells.of(block, self.n_rows, np.array([own.get(block, np.nan) for own in weights]))
            for block in distinct
        }

    def reached(self, some: Index, orders: Index, inverse: Index, /) -> Mask:
        """Which statistics (pairs, orders) of some pairs in these orders reach the observed ones."""
        reached, is_open = np.zeros((2, len(some), orders.shape[1]), dtype=bool)
        at_once = max(1, _BYTES_AT_ONCE // (4 * orders.size * (self._corner[1] + 1)))
        for start in range(0, len(some), at_once):
            part = slice(start, start + at_once)
            low, high = self._evidence(some[part], orders, inverse)
            reached[part] = low >= _SURELY
            is_open[part] = ~reached[part] & (high >= 1.0 / _SURELY)
        pair, order = np.divmod(np.flatnonzero(is_open), orders.shape[1])
        for start in range(0, len(pair), _IN_FULL):
            own, which = pair[start : start + _IN_FULL], order[start : start + _IN_FULL]
            reached[own, which] = self._reached_in_full(some[own], orders.T[which])
        return np.asarray(reached)

    def _evidence(self, some: Index, orders: Index, inverse: Index) -> tuple[Roughly, Roughly]:
        """What evidence some pairs have in these orders at least, and at most where that may be enough."""
        products = self._products(some, orders, inverse)
        low: Roughly
        high: Roughly
        low, high = np.zeros((2, len(some), orders.shape[1]), dtype=np.float32)
        own = {block: np.flatnonzero(cells.has[some]) for block, cells in self._cells.items()}
        for block, which in own.items():
            if min(block) <= 2 and len(which):
                cells, at_once = self._cells[block], _plainly(which)
                at = cells.at(products.roots(at_once, *block), some[which])
                low[at_once] += np.take(cells.low, at)
                high[at_once] += np.take(cells.high, at)
        slow = [
            _Slow.of(self._cells[block], products.planes(_plainly(which), *block), which, some, high.shape)
            for block, which in own.items()
            if min(block) > 2 and len(which)
        ]
        if slow:
            n_slow = np.sum([cells.has[some] for block, cells in self._cells.items() if min(block) > 2], axis=0)
            shares = (1.0 / _SURELY - high) / np.maximum(n_slow, 1)[:, np.newaxis].astype(np.float32)
            for of_block in slow:
                high[of_block.pairs] += of_block.most
            for of_block in slow:
                of_block.hold_against(low, high, shares)
            for of_block in slow:
                of_block.look_at(low, high)
        return low, high

    def _reached_in_full(self, pairs: Index, orders: Index) -> Mask:
        """Whether pairs reach what was observed, each in an order of its own."""
        cross = self._x[pairs] @ self._y[pairs[:, np.newaxis], :, orders]
        evidence = np.zeros(len(pairs))
        for block, cells in self._cells.items():
            which = np.flatnonzero(cells.has[pairs])
            if len(which):
                log_p = log_sf_of_many(block_roots(cross[which], (block,))[:, 0], *block, self.n_rows)
                evidence[which] += np.exp(np.minimum(cells.log_weights[pairs[which]] - log_p, 1.0))
        observed = self._statistic[pairs]
        return reaches(np.log(evidence) + observed, observed, rounding=ROUNDING_OF_LOGARITHMS)

    def _products(self, some: Index, orders: Index, inverse: Index) -> _Products:
        x, y = (side[some] for side in self._roughly)
        (a, b), (edge_a, edge_b) = self._corner, self._edges
        permuted = np.take(y[:, :b], orders, axis=2, mode="clip")
        return _Products(
            x[:, np.newaxis, :a] @ permuted,
            x[:, :edge_a] @ permuted[:, 0],
            y[:, :edge_b] @ np.take(x[:, 0], inverse, axis=1, mode="clip"),
        )


def _plainly(places: Index) -> Index | slice:
    """Places as a slice, if they follow one another, which copies nothing."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def _padded(functions: Sequence[Array], size: int) -> Array:
    """The leading functions of columns (columns, functions, rows), and zeros."""
    found = np.zeros((len(functions), size, len(functions[0])))
    for own, column in zip(found, functions, strict=True):
        own[: min(size, column.shape[1])] = column.T[:size]
    return found
