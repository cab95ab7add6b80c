"""P-values of many pairs at once, by the law: what `blocks` says of one pair, over arrays."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.inference.blocks import (
    FEW_ROWS,
    LARGEST_ROOT,
    LEVEL,
    MOST_FITTED,
    Block,
    leverages_on_few_rows,
    log_harmonic_mean,
    log_pvalue,
    log_weights,
)
from renyi.inference.roy import MANY_ROOTS, log_sf, log_sf_of_many

__all__ = ["log_pvalues"]

Array: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]


def log_pvalues(
    roots: Array,
    blocks: Sequence[Block],
    /,
    *,
    n: Counts,
    leverages: tuple[Array, Array],
    log_arrangements: Array,
    are_numbers: bool,
    share: float,
    largest: Array | float,
) -> tuple[Array, Mask]:
    """Logarithms of p-values, NaN where no block can be trusted, and whether all within reach can.

    `roots` (pairs, blocks) are those of each pair, `leverages` (rank, pairs) the largest ones of both sides, `n` the
    rows of each pair, `share` and `largest` what the product of two leverages is held against.
    """
    log_p = np.full(roots.shape, np.nan)
    is_trusted = np.zeros(roots.shape, dtype=bool)
    are_all = np.ones(len(roots), dtype=bool)
    of_x, of_y = (_on_few_rows(side, n) for side in leverages)
    for i, (a, b) in enumerate(blocks):
        is_far = (a + b >= n - 1) | ((n < FEW_ROWS) & (a + b > MOST_FITTED * n))
        near = slice(None) if not is_far.any() else np.flatnonzero(~is_far)
        products = of_x[a - 1, near] * of_y[b - 1, near]
        log_p[near, i], is_trusted[near, i] = _law_and_trust(roots[near, i], products / share**2, (a, b), n[near])
        is_trusted[near, i] &= products <= np.broadcast_to(largest, n.shape)[near]
        are_all[near] &= is_trusted[near, i]
    found = np.full(len(roots), np.nan)
    # Pairs that trust the same blocks share the law of their combination.
    for rows, pattern in _by_value(is_trusted @ (1 << np.arange(len(blocks)))):
        kept = [i for i in range(len(blocks)) if pattern >> i & 1]
        if kept:
            family = [blocks[i] for i in kept]
            means = log_harmonic_mean(log_weights(family) - log_p[rows][:, kept])
            found[rows] = log_pvalue(
                means, family, n=n[rows], are_numbers=are_numbers, log_arrangements=log_arrangements[rows]
            )
    return found, are_all


def _on_few_rows(leverages: Array, n: Counts) -> Array:
    """Leverages as the law counts them on few rows."""
    few = np.flatnonzero(n < FEW_ROWS)
    if len(few) == 0:
        return leverages
    counted = leverages.copy()
    for rows, length in _by_value(n[few]):
        counted[:, few[rows]] = leverages_on_few_rows(leverages[:, few[rows]], length)
    return counted


def _law_and_trust(roots: Array, bounds: Array, block: Block, n: Counts) -> tuple[Array, Mask]:
    """Logarithm of the p-value of a block, and whether its leverages are within Roy's critical correlation."""
    # The critical root is above the mean of a beta law with as many degrees of freedom as the longer side has.
    is_trusted = bounds <= max(block) / (n - 1)
    near = np.flatnonzero(~is_trusted & (bounds < 1.0))
    is_trusted[near] = _log_sf(np.minimum(bounds[near], LARGEST_ROOT), block, n[near]) >= np.log(LEVEL)
    return _log_sf(roots, block, n), is_trusted


def _log_sf(roots: Array, block: Block, n: Counts) -> Array:
    """The law of few roots as it is, of many by tables."""
    if len(roots) >= MANY_ROOTS:
        return log_sf_of_many(roots, *block, n)
    log_p = np.empty(len(roots))
    for rows, length in _by_value(n):
        log_p[rows] = log_sf(roots[rows], *block, length)
    return log_p


def _by_value(values: Counts) -> list[tuple[NDArray[np.intp] | slice, int]]:
    """Positions of every distinct value."""
    if len(values) == 0:
        return []
    if (values == values[0]).all():
        return [(slice(None), int(values[0]))]
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=values[order[0]] - 1))
    return [(rows, int(values[rows[0]])) for rows in np.split(order, starts[1:])]
