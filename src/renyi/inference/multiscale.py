"""Many scales to one p-value: the blocks of a pair of nested bases, which of them hold, and their combination.

A block (a, b) takes the leading a functions of x and b of y; its largest canonical correlation has Roy's distribution.
Blocks (a, 1) see y as a curve over x with a degrees of freedom, (1, b) the reverse, (a, 2) curves with two branches and
changes of spread, square blocks what is no function either way. The blocks are combined by their weighted harmonic
mean, and the null distribution of that mean depends on them through one number.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

import numpy as np

from renyi.basis.canonical import corner_and_edges, cross_products
from renyi.basis.nested import MANY_LEVELS, Scales, leverages_without_ties
from renyi.compute.arrays import Array, Counts, Index, as_floats, at_least, interpolated, like, namespace, stacked
from renyi.compute.eigenvalues import largest_root
from renyi.compute.threads import share
from renyi.inference.correlation_null import log_heavier
from renyi.inference.roy import LARGEST_DIMENSION, log_sf, root_of_many

Block: TypeAlias = tuple[int, int]
# Roots, dimensions and rows to logarithms of p-values.
LogTail: TypeAlias = Callable[[Array, int, int, int], Array]

OF_NUMBERS: tuple[Block, ...] = (
    *((1, 1), (3, 1), (1, 3), (6, 1), (1, 6), (20, 1), (1, 20)),
    *((2, 2), (6, 2), (2, 6)),
    *((4, 4), (8, 8)),
)
# Leading functions of a number against all levels of a category, and against a vector.
_AGAINST_CATEGORY = (1, 2, 6, 20)
_AGAINST_VECTOR = (1, 2, 6)

# At 1 monotone curves lose up to 0.06 of power to Pearson's correlation, at 2 waves lose as much;
# benchmarks/studies/power.py.
WEIGHT_FALL = 1.5

# A root above this is taken as this one: the rest would be rounding, which logarithms of p-values magnify.
LARGEST_ROOT = 1.0 - 1e-9

# Blocks of two numbers that are more than one function wide either way lie within this corner.
CORNER = 8

# A block is trusted while the geometric mean of the largest leverages is at most this share of Roy's critical
# correlation at the 5 % level; docs/explanation/test.md, "Leverage". Rare levels put it all on a few rows.
TRUSTED_SHARE = 0.4
_TRUSTED_SHARE_OF_LEVELS = 0.25
_BEARABLE = 1.0
# Two categories of many levels have wide blocks, whose critical correlation is large, and many rare cells: there no row
# may move an entry of the products by more than its standard error; docs/internals/decisions.md, "Many levels".
_MOST_OF_ONE_ROW = 1.0
# Of logarithms of p-values: what tables of them and their inverses leave is less.
_MARGIN = 0.01
# On fewer rows than this there is a null distribution for numbers with few ties alone: other p-values are too few and
# far between.
FEW_ROWS = 50
# A block that leaves fewer rows free than a fifth of these few can fit rows that are tied in both columns.
MOST_FITTED = 0.8
LEVEL = 0.05

# Null distribution of the weighted harmonic mean H of p-values: H = p/M^φ(p) with φ = c·p^a·(1 − p)^b, M the effective
# number of blocks; fitted in benchmarks/studies/calibration.py.
_SIZE, _RISE, _FALL = 0.968, 0.401, 0.265
# Columns of few rows without ties have log p + c·(log p)² in place of log p; from the same study.
_LARGEST_CURVATURE, _CURVATURE = 0.0075, 0.42
# Where the null distribution is inverted; φ is below 10⁻⁷ beyond.
_LOG_P = -np.concatenate((np.linspace(40.0, 4.0, 400), 4.0 * np.linspace(1.0, 0.0, 400)[1:] ** 2))


def family(x: Scales, y: Scales, /, *, n: int | None = None) -> tuple[Block, ...]:
    """The blocks to look at: a function of kinds, dimensions and n (by default the rows of x) alone."""
    dimensions = x.basis.dimension, y.basis.dimension
    are_numbers = x.is_number and y.is_number
    blocks = OF_NUMBERS if are_numbers else [(a, b) for a in _sizes(x, y) for b in _sizes(y, x)]
    reach = MANY_LEVELS if x.is_category and y.is_category else LARGEST_DIMENSION
    return within_reach(
        ((min(a, dimensions[0]), min(b, dimensions[1])) for a, b in blocks), n or x.basis.n_samples, reach=reach
    )


def within_reach(blocks: Iterable[Block], n: int, /, *, reach: int = LARGEST_DIMENSION) -> tuple[Block, ...]:
    """Blocks as Roy's distribution can take them, each once.

    Of two categories with many levels, or two very wide vectors, the last columns of either are left out in turn: of
    categories all levels have a null distribution of their own (`contingency`).
    """
    reachable = (part for a, b in blocks for part in (((a, b),) if min(a, b) <= reach else ((reach, b), (a, reach))))
    return tuple((a, b) for a, b in dict.fromkeys(reachable) if a + b < n - 1)


def _sizes(scales: Scales, other: Scales) -> Sequence[int]:
    if scales.is_number:
        return _AGAINST_CATEGORY if other.is_category else _AGAINST_VECTOR
    return scales.sizes


def trusted(blocks: Sequence[Block], x: Scales, y: Scales, /) -> tuple[Block, ...]:
    """Blocks for which Roy's distribution holds: no single row weighs too much. The products have no say."""
    n = x.basis.n_samples
    if n < FEW_ROWS:
        if not x.has_few_ties_beside(y):
            return ()
        blocks = [(a, b) for a, b in blocks if a + b <= MOST_FITTED * n]
    of_x, of_y = (leverages_on_few_rows(scales.leverages, n) for scales in (x, y))
    return light(blocks, (of_x, of_y), n, share=share_of(x, y), most=largest_leverages(x, y, n))


def bearable(blocks: Sequence[Block], x: Scales, y: Scales, /) -> tuple[Block, ...]:
    """Blocks to permute where none can be trusted: those in which two heavy rows that meet are no finding.

    Permutations are valid for any blocks. But if such a meeting reaches Roy's critical correlation it happens among the
    permutations as well, and hides what the other blocks would show. If it does in every block, all of them are left.
    """
    return light(blocks, (x.leverages, y.leverages), x.basis.n_samples, share=_BEARABLE) or tuple(blocks)


def light(
    blocks: Iterable[Block], leverages: tuple[Array, Array], n: int, /, *, share: float, most: Array | float = np.inf
) -> tuple[Block, ...]:
    """Blocks of which the largest leverages, by the number of leading functions of either side, are trusted."""
    of_x, of_y = leverages
    products = {(a, b): of_x[a - 1] * of_y[b - 1] for a, b in blocks}
    return tuple(
        block for block, product in products.items() if product <= most and is_trusted(product, block, n, share=share)
    )


def leverages_on_few_rows(leverages: Array, n: int, /) -> Array:
    """Largest leverages (dimension, …). Ties spread them over more rows, but on few rows that gains a block nothing."""
    if n >= FEW_ROWS:
        return leverages
    fewest = np.zeros(len(leverages))  # beyond the functions of a number there is nothing to compare with
    known = leverages_without_ties(n)[: len(leverages)]
    fewest[: len(known)] = known
    found: Array = at_least(leverages, like(fewest.reshape(-1, *(1,) * (leverages.ndim - 1)), leverages))
    return found


def share_of(x: Scales, y: Scales, /) -> float:
    """The share of Roy's critical correlation that leverages may have."""
    return share_of_levels(x.has_levels or y.has_levels)


def share_of_levels(has_levels: bool, /) -> float:
    """The same, by whether a side has levels."""
    return _TRUSTED_SHARE_OF_LEVELS if has_levels else TRUSTED_SHARE


def largest_leverages(x: Scales, y: Scales, n: Counts | int, /) -> Array | float:
    """What the product of two leverages may be at most, whatever the critical correlation."""
    return _MOST_OF_ONE_ROW**2 / n if x.is_category and y.is_category else np.inf


def is_trusted(leverages: float, block: Block, n: int, /, *, share: float) -> bool:
    """Whether the root λ of the product of two leverages is at most this share of Roy's critical correlation."""
    root = leverages / share**2
    return bool(root < 1.0) and _within_critical(float(root), block, n)


@lru_cache(maxsize=4096)
def _within_critical(root: float, block: Block, n: int) -> bool:
    # Asked of the null distribution itself, without inverting it.
    return bool(log_sf(np.array(root), *block, n) >= np.log(LEVEL))


def products(x: Scales, y: Scales, /) -> Array:
    """Products of two nested bases, as far as the blocks of their family reach."""
    if x.is_number and y.is_number:
        return corner_and_edges(x.basis, y.basis, corner=CORNER)
    return cross_products(x.basis, y.basis)


@dataclass(frozen=True, eq=False)
class NestedProducts:
    """Products of two nested bases for a batch of pairs, as far as their blocks reach.

    `corner` (…, a, b) has the leading functions of both sides, `of_x` (…, dimension) all of x with the first of y,
    `of_y` all of y with the first of x.
    """

    corner: Array
    of_x: Array
    of_y: Array

    def take(self, pairs: Index, /) -> "NestedProducts":
        """Those of some of the pairs."""
        return NestedProducts(self.corner[pairs], self.of_x[pairs], self.of_y[pairs])

    def roots(self, blocks: Sequence[Block], /, *, root: Callable[[Array], Array] = largest_root) -> Array:
        """Largest squared canonical correlation of every block, as the last axis, or what `root` says of them."""
        squares_of_x, squares_of_y = (edge**2 for edge in (self.of_x, self.of_y))

        def of_block(block: Block) -> Array:
            a, b = block
            if b == 1:
                return cast(Array, squares_of_x[..., :a].sum(-1))
            return cast(Array, squares_of_y[..., :b].sum(-1)) if a == 1 else root(self.corner[..., :a, :b])

        # The widest first, which take longest.
        widest = sorted(blocks, key=min, reverse=True)
        roots = dict(zip(widest, share(of_block, widest, are_short_calls=True), strict=True))
        if not roots:  # too few rows for any block
            nothing: Array = like(np.empty((*self.of_x.shape[:-1], 0)), self.of_x)
            return nothing
        found: Array = namespace(self.of_x).clip(
            as_floats(stacked([roots[block] for block in blocks])), 0.0, LARGEST_ROOT
        )
        return found


def block_roots(cross: Array, blocks: Sequence[Block], /, *, root: Callable[[Array], Array] = largest_root) -> Array:
    """Largest squared canonical correlation of every block, as the last axis; `cross` may be a batch of products."""
    return NestedProducts(cross, cross[..., :, 0], cross[..., 0, :]).roots(blocks, root=root)


def least_roots(log_evidence: Array, blocks: Sequence[Block], n: int, /) -> Array:
    """Roots (…, blocks) of which at least one block has its own where the evidence of all together is so large.

    It is no larger than that of the block with most, times their number. Rather too small than too large.
    """
    levels = log_weights(blocks) - log_evidence[..., np.newaxis] + np.log(len(blocks)) + _MARGIN
    return np.stack([root_of_many(levels[..., i], *block, n) for i, block in enumerate(blocks)], axis=-1)


@lru_cache(maxsize=1024)
def _log_mean_above(log_p: float, blocks: tuple[Block, ...], n: int, are_numbers: bool) -> float:
    """A harmonic mean from which on p-values are above this one, −∞ where none is known."""
    means = _log_means(effective_number(blocks))
    above = log_pvalue(means, blocks, n=n, are_numbers=are_numbers, log_arrangements=np.inf) > log_p + _MARGIN
    return float(means[np.argmax(above)]) if above.any() else -np.inf


def largest_roots_above(log_p: float, blocks: Sequence[Block], n: int, /, *, are_numbers: bool) -> Array:
    """Roots of the blocks: where all of a pair are below its p-value is above this one. Rather too small."""
    log_mean = _log_mean_above(log_p, tuple(blocks), n, are_numbers)
    # Any shares of the evidence that add up to 1 would do; by these fewest independent pairs have a root above its own.
    log_shares = log_weights(blocks) / 2.0
    log_shares -= np.log(np.exp(log_shares).sum())
    levels = log_weights(blocks) + log_mean - log_shares + _MARGIN
    if not np.isfinite(log_mean):
        return np.zeros(len(blocks))
    return np.array([root_of_many(levels[i], *block, n) for i, block in enumerate(blocks)])


def log_evidence(roots: Array, blocks: Sequence[Block], n: int, /, *, log_tail: LogTail = log_sf) -> Array:
    """Logarithm of the weight of every block over its p-value; their sum is 1/H, and the largest one spoke."""
    log_p = stacked([log_tail(roots[..., i], a, b, n) for i, (a, b) in enumerate(blocks)])
    evidence: Array = like(log_weights(blocks), log_p) - log_p
    return evidence


def log_harmonic_mean(evidence: Array, /) -> Array:
    """Logarithm of H = 1/Σ(w/p)."""
    xp = namespace(evidence)
    highest = xp.amax(evidence, axis=-1, keepdims=True)
    log_mean: Array = -highest[..., 0] - xp.log(xp.exp(evidence - highest).sum(axis=-1))
    return log_mean


def log_pvalue(
    log_mean: Array | float,
    blocks: Sequence[Block],
    /,
    *,
    n: Counts | int,
    are_numbers: bool,
    log_arrangements: Array | float,
) -> Array:
    """Logarithm of the probability of a harmonic mean as small as this one, from independent data.

    No p-value of permuted rows could be smaller than one over the number of arrangements; no other one is either.
    """
    log_p = log_pvalue_of_many_rows(log_mean, blocks)
    found: Array = at_least(_of_few_rows(log_p, n) if are_numbers else log_p, -log_arrangements)
    return found


def log_pvalue_of_pair(log_mean: Array | float, blocks: Sequence[Block], x: Scales, y: Scales, /) -> Array:
    """The same for one pair."""
    return log_pvalue(
        log_mean,
        blocks,
        n=x.basis.n_samples,
        are_numbers=x.is_number and y.is_number,
        log_arrangements=min(x.log_arrangements, y.log_arrangements),
    )


def log_pvalue_of_many_rows(log_mean: Array | float, blocks: Sequence[Block], /) -> Array:
    """The same, in the limit of many rows: the null distribution of blocks of independent normals."""
    return log_pvalue_of_worth(log_mean, effective_number(blocks))


def log_pvalue_of_worth(log_mean: Array | float, number: float, /) -> Array:
    """The same of blocks that are worth so many independent ones."""
    means = _log_means(number)
    found: Array = namespace(log_mean).where(
        log_mean < means[0], log_mean, interpolated(log_mean, means, np.asarray(_LOG_P))
    )
    return found


def _of_few_rows(log_p: Array, n: Counts | int) -> Array:
    """The tail of few rows, which is heavier."""
    return log_heavier(log_p, namespace(n).clip(_CURVATURE / n, None, _LARGEST_CURVATURE))


def log_weights(blocks: Sequence[Block], /, *, fall: float = WEIGHT_FALL) -> Array:
    """Logarithms of the weights, which add up to 1: the simpler, the more, by the freedom of the longer side."""
    weights = np.array([max(block) for block in blocks]) ** -fall
    return np.asarray(np.log(weights / weights.sum()))


@lru_cache(maxsize=1024)
def _log_means(number: float) -> Array:
    p = np.exp(_LOG_P)
    return np.asarray(_LOG_P - np.log(number) * _SIZE * p**_RISE * (1.0 - p) ** _FALL)


def effective_number(blocks: Sequence[Block], /) -> float:
    """How many independent blocks these are worth: 1 over their mean correlation.

    The correlation of two blocks is that of the sums of squares in them, the entries they share over the geometric
    mean of the entries they have.
    """
    return _effective_number(tuple(blocks))


@lru_cache(maxsize=1024)
def _effective_number(blocks: tuple[Block, ...]) -> float:
    a, b = np.array(blocks, dtype=np.float64).T
    shared = np.minimum.outer(a, a) * np.minimum.outer(b, b) / np.sqrt(np.multiply.outer(a * b, a * b))
    return number_worth(np.exp(log_weights(blocks)), shared)


def number_worth(weights: Array, shared: Array, /) -> float:
    """How many independent blocks those of such weights are worth, by what they share of their entries."""
    return float(1.0 / (weights @ shared @ weights))
