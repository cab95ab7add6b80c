"""P-values of many pairs at once, by theory: what `blocks` says of one pair, over arrays."""

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from renyi.compute.arrays import Array, Counts, Index, Mask, by_value, flat_places, like, namespace, stacked
from renyi.inference.multiscale import (
    FEW_ROWS,
    LARGEST_ROOT,
    LEVEL,
    MOST_FITTED,
    Block,
    largest_roots_above,
    leverages_on_few_rows,
    log_harmonic_mean,
    log_pvalue,
    log_weights,
)
from renyi.inference.roy import log_sf, log_sf_by_rows, log_sf_of_many


def log_pvalues(
    roots: Array,
    blocks: Sequence[Block],
    /,
    *,
    n: Counts | int,
    leverages: tuple[Array, Array],
    log_arrangements: Array,
    are_numbers: bool,
    share: float,
    largest: Array | float,
    tabulated: bool,
) -> tuple[Array, Mask]:
    """Logarithms of p-values, NaN where no block can be trusted, and whether all within reach can.

    `roots` (pairs, blocks) are those of each pair, `leverages` (dimension, pairs) the largest ones of both sides, `n`
    the rows of each pair, `share` and `largest` what the product of two leverages is held against. What is the same for
    all pairs may be there once. Roots may be tensors, and then whatever is of each pair is as well. Null distributions
    are `tabulated` where these are some of many (`are_many`).
    """
    if not blocks:  # too few rows for any
        return like(np.full(len(roots), np.nan), roots), like(np.ones(len(roots), dtype=bool), roots)
    log_p, is_trusted = [], []
    of_x, of_y = (_on_few_rows(side, n) for side in leverages)
    for i, block in enumerate(blocks):
        products = of_x[block[0] - 1] * of_y[block[1] - 1]
        tail, holds = _within_reach(roots[:, i], products / share**2, block, n, tabulated)
        log_p.append(tail)
        is_trusted.append(holds & (products <= largest))
    found = namespace(roots).full_like(roots[:, 0], np.nan)
    # Pairs that trust the same blocks share the null distribution of their combination.
    for rows, pattern in by_value(sum(holds * 2**i for i, holds in enumerate(is_trusted))):
        kept = [i for i in range(len(blocks)) if pattern >> i & 1]
        if kept:
            found[rows] = _combined(
                stacked([log_p[i][rows] for i in kept]),
                [blocks[i] for i in kept],
                _some(n, rows),
                _some(log_arrangements, rows),
                are_numbers=are_numbers,
            )
    return found, _all_within_reach(is_trusted, blocks, n)


def may_reach(
    roots: Array,
    blocks: Sequence[Block],
    log_p: float,
    /,
    *,
    n: int,
    leverages: tuple[Array, Array],
    are_numbers: bool,
    share: float,
    largest: Array | float,
    tabulated: bool,
) -> tuple[Mask, Mask]:
    """Which of many pairs may have a p-value as small as this, and which have a null distribution at all.

    `roots` may be too large, but not too small. What is compared is roots: null distributions are not looked up.
    """
    of_x, of_y = (_on_few_rows(side, n) for side in leverages)
    is_trusted = []
    for a, b in blocks:
        products = of_x[a - 1] * of_y[b - 1]
        is_light = within_critical(products / share**2, (a, b), n, tabulated=tabulated) & (products <= largest)
        is_trusted.append(is_light & (not _is_far((a, b), n)))
    may, has_null = np.zeros(len(roots), dtype=bool), np.zeros(len(roots), dtype=bool)
    for rows, pattern in by_value(sum((holds * 2**i for i, holds in enumerate(is_trusted)), np.zeros(1, dtype=int))):
        kept = [i for i in range(len(blocks)) if pattern >> i & 1]
        if kept:
            limits = largest_roots_above(log_p, [blocks[i] for i in kept], n, are_numbers=are_numbers)
            may[rows] = reduce(operator.or_, (roots[rows, i] >= limit for i, limit in zip(kept, limits, strict=True)))
            has_null[rows] = True
    return may, has_null


def log_pvalues_by_dimension(
    roots: Array,
    blocks: Sequence[Block],
    dimensions: Any,
    /,
    *,
    n: Counts,
    leverages: tuple[Array, Array],
    few_ties: Mask,
    log_arrangements: Array,
    share: float,
    tabulated: bool,
) -> Array:
    """The same for pairs of numbers of which every one has its own dimensions (pairs, 2), and ends its blocks there.

    On few rows pairs without few ties have none.
    """
    sizes, keys = _own_sizes(blocks, dimensions)
    of_x, of_y = (_on_few_rows(side, n) for side in leverages)
    log_p, is_trusted = np.full(roots.shape, np.nan), np.zeros(roots.shape, dtype=bool)
    may_be = few_ties | (n >= FEW_ROWS)
    for all_pairs, of_blocks, block in _distinct(keys):
        pairs, which = (places[may_be[all_pairs]] for places in (all_pairs, of_blocks))
        if len(pairs) == 0:
            continue
        products = of_x[block[0] - 1, pairs] * of_y[block[1] - 1, pairs]
        tail = _within_reach(roots[pairs, which], products / share**2, block, n[pairs], tabulated)
        log_p[pairs, which], is_trusted[pairs, which] = tail
    found = np.full(len(roots), np.nan)
    for some, kept in _by_pattern(dimensions, is_trusted):
        family = [(int(a), int(b)) for a, b in sizes[some[0], kept]]
        found[some] = _combined(log_p[some][:, kept], family, n[some], log_arrangements[some], are_numbers=True)
    return found


def observed_by_dimension(
    roots: Array, blocks: Sequence[Block], dimensions: Any, n: int, leverages: tuple[Array, Array], /
) -> Iterator[tuple[Index, tuple[Block, ...], Array]]:
    """What is to be permuted of pairs of numbers on n rows, of which every one has its own dimensions (pairs, 2).

    Places of pairs, the blocks that all of them are to be permuted by (`multiscale.bearable`), and logarithms of the
    harmonic means of these. Pairs that have too few rows for any block are left out.
    """
    sizes, keys = _own_sizes(blocks, dimensions)
    log_p, bears, is_there = np.full(roots.shape, np.nan), *np.zeros((2, *roots.shape), dtype=bool)
    for pairs, which, block in _distinct(keys):
        if sum(block) >= n - 1 or min(block) == 0:
            continue
        products = leverages[0][block[0] - 1, pairs] * leverages[1][block[1] - 1, pairs]
        bears[pairs, which] = within_critical(products, block, n, tabulated=True) & (products < 1.0)
        log_p[pairs, which], is_there[pairs, which] = log_sf_of_many(roots[pairs, which], *block, n), True
    bears |= is_there & ~bears.any(axis=1, keepdims=True)
    for some, kept in _by_pattern(dimensions, bears):
        family = tuple((int(a), int(b)) for a, b in sizes[some[0], kept])
        yield some, family, log_harmonic_mean(log_weights(family) - log_p[some][:, kept])


def _own_sizes(blocks: Sequence[Block], dimensions: Any) -> tuple[Any, Index]:
    """Sizes (pairs, blocks, 2) of blocks that end at the dimensions of a pair, and one number for each of these."""
    sizes = np.minimum(np.array(blocks), dimensions[:, np.newaxis])
    return sizes, sizes[..., 0] * 2**16 + sizes[..., 1]


def _distinct(keys: Index) -> Iterator[tuple[Index, Index, Block]]:
    """Pairs that have a block, which of theirs it is, and its sizes; of those that end alike the first one counts."""
    for places, key in by_value(keys.ravel()):
        pairs, which = np.unravel_index(np.arange(keys.size)[places], keys.shape)
        is_first = np.argmax(keys[pairs] == key, axis=1) == which
        yield pairs[is_first], which[is_first], (key >> 16, key & (2**16 - 1))


def _by_pattern(dimensions: Any, holds: Mask) -> Iterator[tuple[Index, list[int]]]:
    """Places of pairs of the same dimensions for which the same blocks hold, if any does."""
    n_blocks = holds.shape[1]
    patterns = (dimensions[:, 0] * 64 + dimensions[:, 1]) << n_blocks | holds @ 2 ** np.arange(n_blocks)
    for rows, pattern in by_value(patterns):
        kept = [i for i in range(n_blocks) if pattern >> i & 1]
        if kept:
            yield np.arange(len(holds))[rows], kept


def _combined(
    log_p: Array, family: Sequence[Block], n: Counts | int, log_arrangements: Array, *, are_numbers: bool
) -> Array:
    """Logarithms of p-values of pairs from those of the same blocks, as the last axis."""
    evidence = like(log_weights(family), log_p) - log_p
    return log_pvalue(
        log_harmonic_mean(evidence), family, n=n, are_numbers=are_numbers, log_arrangements=log_arrangements
    )


def _some(values: Any, rows: Any) -> Any:
    """What some of the pairs have; numbers that are there once are those of all."""
    return values if np.ndim(values) == 0 or len(values) == 1 else values[rows]


def _on_few_rows(leverages: Array, n: Counts | int) -> Array:
    """Leverages as the null distribution counts them on few rows."""
    if isinstance(n, int):
        return leverages if n >= FEW_ROWS else leverages_on_few_rows(leverages, n)
    few = flat_places(n < FEW_ROWS)
    if len(few) == 0:
        return leverages
    counted = leverages + 0.0
    for rows, length in by_value(n[few]):
        counted[:, few[rows]] = leverages_on_few_rows(leverages[:, few[rows]], length)
    return counted


def _is_far(block: Block, n: Counts | int) -> Any:
    """Whether a block asks more of so many rows than they have."""
    return (sum(block) >= n - 1) | ((n < FEW_ROWS) & (sum(block) > MOST_FITTED * n))


def _all_within_reach(is_trusted: Sequence[Mask], blocks: Sequence[Block], n: Counts | int) -> Mask:
    """Whether every block within reach is trusted."""
    near = [
        holds if isinstance(n, int) else holds | _is_far(block, n)
        for holds, block in zip(is_trusted, blocks, strict=True)
        if not (isinstance(n, int) and _is_far(block, n))
    ]
    return reduce(operator.and_, near) if near else np.ones(1, dtype=bool)


def _within_reach(roots: Array, bounds: Array, block: Block, n: Counts | int, tabulated: bool) -> tuple[Array, Mask]:
    """The null distribution of a block and whether it is trusted, not where it is out of reach."""
    is_far = _is_far(block, n)
    if not (is_far if isinstance(n, int) else bool(is_far.any())):
        return _tail_and_trust(roots, bounds, block, n, tabulated)
    log_p, is_trusted = namespace(roots).full_like(roots, np.nan), bounds < 0.0
    if isinstance(n, int):
        return log_p, is_trusted
    near = flat_places(~is_far)
    is_trusted = namespace(roots).zeros_like(roots, dtype=bool)
    if len(near):
        log_p[near], is_trusted[near] = _tail_and_trust(roots[near], _some(bounds, near), block, n[near], tabulated)
    return log_p, is_trusted


def _tail_and_trust(roots: Array, bounds: Array, block: Block, n: Counts | int, tabulated: bool) -> tuple[Array, Mask]:
    """Logarithm of the p-value of a block, and whether its leverages are within Roy's critical correlation."""
    return _log_sf(roots, block, n, tabulated), within_critical(bounds, block, n, tabulated=tabulated)


def within_critical(bounds: Array, block: Block, n: Counts | int, /, *, tabulated: bool) -> Mask:
    """`multiscale.is_trusted` over arrays; bounds are products of leverages over the squared share."""
    # The critical root is above the mean of a beta distribution with as many degrees of freedom as the longer side has.
    is_trusted = bounds <= max(block) / (n - 1)
    near = ~is_trusted & (bounds < 1.0)
    if bool(near.any()):
        highest = namespace(bounds).clip(bounds[near], None, LARGEST_ROOT)
        is_trusted[near] = _log_sf(highest, block, _some(n, near), tabulated) >= np.log(LEVEL)
    return is_trusted


def _log_sf(roots: Array, block: Block, n: Counts | int, tabulated: bool) -> Array:
    """The null distribution of few roots as it is, of many by tables."""
    if namespace(roots) is not np or tabulated:
        return log_sf_of_many(roots, *block, n)
    return log_sf(roots, *block, n) if isinstance(n, int) else log_sf_by_rows(roots, *block, n)
