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
) -> tuple[Array, Mask]:
    """Logarithms of p-values, NaN where no block can be trusted, and whether all within reach can.

    `roots` (pairs, blocks) are those of each pair, `leverages` (rank, pairs) the largest ones of both sides, `n` the
    rows of each pair.
    """
    log_p = np.full(roots.shape, np.nan)
    is_trusted = np.zeros(roots.shape, dtype=bool)
    are_all = np.ones(len(roots), dtype=bool)
    for rows, length in _by_value(n):
        of_x, of_y = (leverages_on_few_rows(side[:, rows], length) for side in leverages)
        for i, (a, b) in enumerate(blocks):
            if a + b < length - 1 and (length >= FEW_ROWS or a + b <= MOST_FITTED * length):
                log_p[rows, i], is_trusted[rows, i] = _law_and_trust(
                    roots[rows, i], of_x[a - 1] * of_y[b - 1] / share**2, (a, b), length
                )
                are_all[rows] &= is_trusted[rows, i]
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


def _law_and_trust(roots: Array, bounds: Array, block: Block, n: int) -> tuple[Array, Mask]:
    """Logarithm of the p-value of a block, and whether its leverages are within Roy's critical correlation."""
    # The critical root is above the mean of a beta law with as many degrees of freedom as the longer side has.
    is_trusted = bounds <= max(block) / (n - 1)
    near = np.flatnonzero(~is_trusted & (bounds < 1.0))
    law = log_sf_of_many if len(roots) >= MANY_ROOTS else log_sf
    log_p = law(np.concatenate((roots, np.minimum(bounds[near], LARGEST_ROOT))), *block, n)
    is_trusted[near] = log_p[len(roots) :] >= np.log(LEVEL)
    return log_p[: len(roots)], is_trusted


def _by_value(values: Counts) -> list[tuple[NDArray[np.intp] | slice, int]]:
    """Positions of every distinct value."""
    if len(values) == 0:
        return []
    if (values == values[0]).all():
        return [(slice(None), int(values[0]))]
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=values[order[0]] - 1))
    return [(rows, int(values[rows[0]])) for rows in np.split(order, starts[1:])]
