"""P-values of the combined blocks by permutation, of all pairs on as many rows at once.

Pairs on as many rows share their orders. Functions of all of them are padded with zeros to one width, so that a block
of every pair takes one call of NumPy; and of a permutation no more is found than whether it reaches the statistic of
its pair: blocks that ask for eigenvalues wait until the others leave that open.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.eigenvalues import bounds_of_planes, roots_of_planes
from renyi.inference.multiscale import LARGEST_ROOT, Block, log_weights
from renyi.inference.permutation import ROUNDING_OF_LOGARITHMS, Entropy, Permuted, Tally, random_orders
from renyi.inference.roy import log_sf_of_many, root_of_many

# Orders at once: as many as there were before, up to so many; and bytes of the functions in these orders, which with
# their products stay in the cache.
_MOST_ORDERS, _BYTES_AT_ONCE = 2048, 2**23
# A permutation that has less than this share of the evidence falls short unless another block brings half of the rest.
_LITTLE = 0.5
# Of logarithms of p-values: what inverting tables leaves is less.
_MARGIN = 0.01


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
    together = _Together([pairs[k] for k in order])
    tally = Tally(together.statistic, ROUNDING_OF_LOGARITHMS)
    for orders in _growing(random_orders(together.n_rows, n_resamples, seed)):
        unresolved = tally.unresolved
        if len(unresolved) == 0:
            break
        places = np.ascontiguousarray(orders.T), np.ascontiguousarray(np.argsort(orders, axis=1).T)
        at_once = max(1, _BYTES_AT_ONCE // (8 * orders.size * together.width))
        for some in np.split(unresolved, range(at_once, len(unresolved), at_once)):
            tally.add(some, together.statistics(some, *places))
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

    corner: Array
    of_x: Array
    of_y: Array

    def planes(self, which: Index, a: int, b: int) -> Array:
        """Entries (a, b, pairs · orders) of the leading functions of some of the pairs."""
        entries = np.moveaxis(self.corner[which, :b, :a], 0, 2)
        return entries.reshape(b, a, -1)

    def roots(self, which: Index, a: int, b: int) -> Array:
        """Largest roots (pairs, orders) of a block that is one or two functions wide."""
        if min(a, b) > 1:
            return roots_of_planes(self.planes(which, a, b)).reshape(len(which), -1)
        entries = self.of_x[which, :a] if b == 1 else self.of_y[which, :b]
        return np.asarray(np.einsum("paq,paq->pq", entries, entries))


class _Together:
    """Pairs on as many rows: their functions, and which of them have a block."""

    def __init__(self, pairs: Sequence[Observed], /) -> None:
        self.n_rows = len(pairs[0].x)
        self.statistic = np.array([pair.statistic for pair in pairs])
        blocks = [block for pair in pairs for block in pair.blocks]
        # Of blocks of one function against many products with the first function are enough.
        self._corner = tuple(max((block[k] for block in blocks if min(block) > 1), default=1) for k in (0, 1))
        edges = [max((block[k] for block in blocks if min(block) == 1), default=1) for k in (0, 1)]
        sizes = [max(pair) for pair in zip(self._corner, edges, strict=True)]
        self._edges = edges
        self._x = _padded([pair.x for pair in pairs], sizes[0]) / self.n_rows
        self._y = _padded([pair.y for pair in pairs], sizes[1])
        self.width = self._corner[1] + 1
        self._weights = self._by_block([dict(zip(p.blocks, log_weights(p.blocks), strict=True)) for p in pairs])
        self._quick = [block for block in self._weights if min(block) <= 2]
        self._slow = [block for block in self._weights if min(block) > 2]
        n_blocks = np.array([len(pair.blocks) for pair in pairs])
        self._least = self._roots_of_evidence(list(self._weights), 1.0 / n_blocks)
        n_slow = np.sum([self._has(block) for block in self._slow], axis=0)
        self._least_of_rest = self._roots_of_evidence(self._slow, (1.0 - _LITTLE) / np.maximum(n_slow, 1))

    def statistics(self, some: Index, orders: Index, inverse: Index, /) -> Array:
        """Statistics (pairs, orders) of some pairs in these orders; less than they are where they fall short."""
        products = self._products(some, orders, inverse)
        own = {block: np.flatnonzero(self._has(block)[some]) for block in self._weights}
        planes = {block: products.planes(own[block], *block) for block in self._slow if len(own[block])}
        quick = {block: products.roots(own[block], *block) for block in self._quick if len(own[block])}
        slow = {block: bounds_of_planes(entries).reshape(-1, orders.shape[1]) for block, entries in planes.items()}
        # Where no block has its share, all together fall short.
        may_reach = np.zeros((len(some), orders.shape[1]), dtype=bool)
        for block, roots in (quick | slow).items():
            may_reach[own[block]] |= roots >= self._least[block][some[own[block]], np.newaxis]
        evidence = np.zeros(may_reach.shape)
        for block, roots in quick.items():
            self._add(evidence, block, (own[block], some), roots, may_reach)
        # Nor do those that have little, where no other block has its share of the rest.
        is_much = evidence >= _LITTLE
        for block, bounds in slow.items():
            is_much[own[block]] |= bounds >= self._least_of_rest[block][some[own[block]], np.newaxis]
        may_reach &= is_much & (evidence < 1.0)
        for block, entries in planes.items():
            roots = np.zeros(slow[block].shape)
            which = np.flatnonzero(may_reach[own[block]])
            if len(which):
                roots.ravel()[which] = roots_of_planes(np.take(entries, which, axis=2))
                self._add(evidence, block, (own[block], some), roots, may_reach)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(evidence) + self.statistic[some, np.newaxis])

    def _has(self, block: Block) -> Mask:
        """Which pairs have a block."""
        return np.asarray(~np.isnan(self._weights[block]))

    def _roots_of_evidence(self, blocks: Sequence[Block], shares: Array) -> dict[Block, Array]:
        """Roots by which the blocks of every pair have such shares of what was observed, or somewhat less."""
        levels = {block: self._weights[block] - self.statistic - np.log(shares) + _MARGIN for block in blocks}
        return {block: root_of_many(np.nan_to_num(level), *block, self.n_rows) for block, level in levels.items()}

    def _products(self, some: Index, orders: Index, inverse: Index) -> _Products:
        x, y = self._x[some], self._y[some]
        (a, b), (edge_a, edge_b) = self._corner, self._edges
        permuted = np.take(y[:, :b], orders, axis=2, mode="clip")
        return _Products(
            x[:, np.newaxis, :a] @ permuted,
            x[:, :edge_a] @ permuted[:, 0],
            y[:, :edge_b] @ np.take(x[:, 0], inverse, axis=1, mode="clip"),
        )

    def _add(self, evidence: Array, block: Block, pairs: tuple[Index, Index], roots: Array, where: Mask) -> None:
        """Weight over p-value of the roots of a block, in units of what was observed, where it may count."""
        own, some = pairs
        where = where[own]
        if not where.any():
            return
        rest = np.broadcast_to((self._weights[block] - self.statistic)[some[own], np.newaxis], where.shape)[where]
        log_p = log_sf_of_many(np.minimum(roots[where], LARGEST_ROOT), *block, self.n_rows)
        more = np.zeros(where.shape)
        # What reaches the observed one by far needs no number.
        more[where] = np.exp(np.minimum(rest - log_p, 1.0))
        evidence[own] += more

    def _by_block(self, weights: Sequence[dict[Block, float]]) -> dict[Block, Array]:
        """Logarithms of weights of the pairs by their block, NaN of those that do not have it."""
        distinct = dict.fromkeys(block for own in weights for block in own)
        return {block: np.array([own.get(block, np.nan) for own in weights]) for block in distinct}


def _padded(functions: Sequence[Array], size: int) -> Array:
    """The leading functions of columns (columns, functions, rows), and zeros."""
    found = np.zeros((len(functions), size, len(functions[0])))
    for own, column in zip(found, functions, strict=True):
        own[: min(size, column.shape[1])] = column.T[:size]
    return found
