"""Pearson's and Spearman's correlations, and their null distribution over all orders of the rows."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from renyi.basis.canonical import cross_products
from renyi.basis.nested import TIES_OF_LEVELS
from renyi.basis.orthonormal import standardised
from renyi.basis.random_features import FIXED_DRAW, Seed
from renyi.basis.ranks import mean_ranks
from renyi.coefficients.base import Measure, Side, Statement, Tail
from renyi.coefficients.rows import Rows
from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.eigenvalues import largest_root
from renyi.compute.threads import stream
from renyi.data.align import as_pair
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.inference.correlation_null import log_heavier, log_skewed, shape_of_correlation
from renyi.inference.multiscale import FEW_ROWS, LARGEST_ROOT, is_trusted
from renyi.inference.permutation import ROUNDING, Permuted, permuted_pvalue
from renyi.inference.roy import are_many, log_sf, log_sf_of_many

# Where null distributions of many rows hold (docs/validation/measures.md, "How often independent columns are found").
# The heaviest rows of both sides, once they meet, make at most this much of what is critical at 5 %; the skewness over
# all orders of the rows is at most this; and the fourth cumulant is within these of what is expected. Where it is less
# the null distribution finds too little.
_TRUSTED_SHARE = 1.2
# Two columns that hardly ever leave one value each have correlations in steps, which must be small.
_TRUSTED_SHARE_OF_LEVELS = 0.15
_LARGEST_SKEWNESS = 1.0
_EXCESS = -0.1, 0.06
# On fewer rows there are too few orders for a null distribution, and permutations take no time.
FEWEST_ROWS = 12
PERMUTED_NUMBERS = 2**18


@dataclass(frozen=True, eq=False)
class Scores:
    """One side of a correlation: numbers of mean 0 and length 1, and their powers, summed once for all partners."""

    values: Array

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def heaviest(self) -> float:
        """The largest share of one row."""
        return float(np.max(self.values**2))

    @cached_property
    def cubes(self) -> float:
        """Sum of cubes."""
        return float((self.values * self.values) @ self.values)

    @cached_property
    def fourths(self) -> float:
        """Sum of fourth powers."""
        squares = self.values**2
        return float(squares @ squares)

    @cached_property
    def has_levels(self) -> bool:
        """Whether the values hardly ever leave one."""
        return Rows(self.values).ties > TIES_OF_LEVELS

    def reordered(self, order: Index, /) -> "Scores":
        """Row i is row order[i] of these, and all sums are the same."""
        return Scores(self.values[order])


@dataclass(frozen=True)
class Pearson(Measure[Scores]):
    """The linear correlation, in [−1, 1]; a prepared side has mean 0 and length 1.

    Student's t is exact where one side is normal, and close to it for most. Where both sides are skewed so is the
    correlation of independent columns: its skewness over all orders of the rows is known, and a gamma distribution has
    it too. Columns of two values are counted. Where a few rows decide, and for ties on fewer than 50 rows, p-values
    come from permutations.
    """

    name: ClassVar[str] = "pearson"
    is_phi_of_flags = True
    nanoseconds_per_row: ClassVar[int] = 10
    cells_at_once: ClassVar[int] = 2**22
    statement: ClassVar[Statement] = Statement(
        title="Pearson's correlation",
        is_nonlinear=False,
        range=(-1.0, 1.0),
        cost="n",
        null="Student's t, skewed as permutations are",
        reference="K. Pearson 1895, https://doi.org/10.1098/rspl.1895.0041",
        has_sign=True,
    )

    def prepare(self, values: Array, /) -> Scores:
        return Scores(standardised(values.ravel()))

    def combine(self, x: Scores, y: Scores, /) -> float:
        return float(np.clip(x.values @ y.values, -1.0, 1.0))

    def reordered(self, side: Scores, order: Index, /) -> Scores:
        return side.reordered(order)

    def permuted(self, x: Scores, y: Scores, orders: Index, /) -> Array:
        return np.asarray(np.clip(np.take(y.values, orders) @ x.values, -1.0, 1.0))

    def every_pair(self, x: Sequence[Scores], y: Sequence[Scores], /) -> Array:
        left = np.stack([side.values for side in x])
        # The same array twice is recognised by BLAS as half the work.
        right = left if y is x else np.stack([side.values for side in y])
        products = left @ right.T
        return np.clip(products, -1.0, 1.0, out=products)

    def null_tails(
        self, x: Sequence[Side[Scores]], y: Sequence[Side[Scores]], pairs: tuple[Index, Index], values: Array, /
    ) -> Array:
        n = len(x[0])
        log_pvalues = np.full(len(values), np.nan)
        if n < FEW_ROWS:
            return log_pvalues
        a, b = (_Traits.of(sides).at(index) for sides, index in zip((x, y), pairs, strict=True))
        heaviest, are_flags = a.heaviest * b.heaviest, a.is_flag & b.is_flag
        shape = shape_of_correlation(a.cubes * b.cubes, (a.fourths, b.fourths), n)
        # Of two columns that hold one value in most rows the steps matter too, which is looked at pair by pair.
        are_flags |= a.has_levels & b.has_levels
        is_plain = ~are_flags & shape.is_symmetric & (_EXCESS[0] <= shape.excess) & (shape.excess <= _EXCESS[1])
        # Trust falls with the heaviest rows, few of which are looked at to find how far it goes.
        plain = np.flatnonzero(is_plain)
        plain = plain[np.argsort(heaviest[plain])]
        plain = plain[: bisect_left(plain, True, key=lambda pair: not _is_trusted(float(heaviest[pair]), n))]
        floors = -np.minimum(a.log_arrangements, b.log_arrangements)
        log_pvalues[plain] = np.maximum(_log_sf_of_squares(np.minimum(values[plain] ** 2, 1.0), n), floors[plain])
        return log_pvalues

    def null_tail(self, x: Scores, y: Scores, value: float, /) -> Tail | None:
        # The two-sided tail of t is that of the squared correlation, the largest root of dimensions 1 and 1.
        log_pvalue = log_pvalue_of_correlation(x, y, float(log_sf(min(value**2, 1.0), 1, 1, len(x))))
        return None if log_pvalue is None else Tail(abs(value), log_pvalue)

    def by_permutation(
        self, x: Side[Scores], y: Side[Scores], value: float, /, *, n_resamples: int, seed: Seed = FIXED_DRAW
    ) -> Permuted:
        scores = ((side.rows, side.prepared.values[:, np.newaxis] * np.sqrt(len(side))) for side in (x, y))
        return permuted_roots(*scores, n_resamples=n_resamples, seed=seed)


@dataclass(frozen=True)
class Spearman(Pearson):
    """Pearson's correlation of ranks, ties sharing the mean of theirs: a monotone trend, in [−1, 1].

    A prepared side is the ranks with mean 0 and length 1. P-values are as for Pearson's, from 18 rows on: on fewer
    their fourth moment is too far from that of t.
    """

    name: ClassVar[str] = "spearman"
    cells_at_once: ClassVar[int] = Measure.cells_at_once
    statement: ClassVar[Statement] = replace(
        Pearson.statement,
        title="Spearman's rank correlation",
        is_invariant=True,
        cost="n log n",
        reference="C. Spearman 1904, https://doi.org/10.2307/1412159",
    )

    def prepare(self, values: Array, /) -> Scores:
        return Scores(standardised(mean_ranks(values.ravel())))

    def null_tails(
        self, x: Sequence[Side[Scores]], y: Sequence[Side[Scores]], pairs: tuple[Index, Index], values: Array, /
    ) -> Array:
        return np.maximum(super().null_tails(x, y, pairs, values), log_smallest(len(x[0])))

    def null_tail(self, x: Scores, y: Scores, value: float, /) -> Tail | None:
        found = super().null_tail(x, y, value)
        return None if found is None else found._replace(log_pvalue=max(found.log_pvalue, log_smallest(len(x))))


def correlation_of(measure: Pearson, x: Column, y: Column, /) -> float:
    """A correlation of two columns on the rows that both have, NaN where one has no order or is constant there."""
    if measure.refusal(x) or measure.refusal(y):
        return np.nan
    try:
        sides = (measure.prepare(measure.numbers_of(side)) for side in as_pair(x, y, missing="listwise"))
        return measure.combine(*sides)
    except InputError:
        return np.nan


class _Traits(NamedTuple):
    """What the null distribution of a pair asks of each of many sides."""

    heaviest: Array
    cubes: Array
    fourths: Array
    log_arrangements: Array
    is_flag: Mask
    has_levels: Mask

    @classmethod
    def of(cls, sides: Sequence[Side[Scores]]) -> "_Traits":
        # Equal rows are found by sorting.
        traits = stream(cls._of_one, sides, at_once=1 + Measure.cells_at_once // len(sides[0]))
        return cls._make(map(np.array, zip(*traits, strict=True)))

    @staticmethod
    def _of_one(side: Side[Scores]) -> tuple[float | bool, ...]:
        scores, rows = side.prepared, side.rows
        has_levels = rows.ties > TIES_OF_LEVELS
        sums = scores.heaviest, scores.cubes, scores.fourths
        return *sums, rows.log_arrangements, rows.flagged is not None, has_levels

    def at(self, index: Index) -> "_Traits":
        return _Traits._make(trait[index] for trait in self)


def _log_sf_of_squares(squares: Array, n: int) -> Array:
    """The null distribution of squared correlations, few as it is, and many by tables where these reach."""
    if not are_many(len(squares)):
        return log_sf(squares, 1, 1, n)
    is_within = squares <= LARGEST_ROOT
    log_p = np.empty(len(squares))
    log_p[is_within] = log_sf_of_many(squares[is_within], 1, 1, n)
    log_p[~is_within] = log_sf(squares[~is_within], 1, 1, n)
    return log_p


def _is_trusted(heaviest: float, n: int) -> bool:
    return is_trusted(heaviest, (1, 1), n, share=_TRUSTED_SHARE)


def log_pvalue_of_correlation(x: Scores, y: Scores, log_pvalue: float, /) -> float | None:
    """A two-sided p-value of many rows, as a logarithm, for scores that are skewed; None where theory does not hold."""
    n = len(x)
    if n < FEWEST_ROWS or not _is_trusted(x.heaviest * y.heaviest, n):
        return None
    are_steps_small = is_trusted(x.heaviest * y.heaviest, (1, 1), n, share=_TRUSTED_SHARE_OF_LEVELS)
    if not are_steps_small and x.has_levels and y.has_levels:
        return None
    skewness, excess = shape_of_correlation(x.cubes * y.cubes, (x.fourths, y.fourths), n)
    if skewness > _LARGEST_SKEWNESS or not _EXCESS[0] <= excess <= _EXCESS[1]:
        return None
    skewed = log_skewed(log_pvalue, skewness)
    # On few rows the excess is that of most data, ranks above all, and on many it is small.
    return float(log_heavier(skewed, max(excess, 0.0) / 6.0)) if n < FEW_ROWS else skewed


def permuted_roots(x: tuple[Rows, Array], y: tuple[Rows, Array], /, *, n_resamples: int, seed: Seed) -> Permuted:
    """The p-value of the largest correlation of two sets of scores, orthonormal over the rows, by permuting these."""
    bases = [rows.basis(scores) for rows, scores in (x, y)]
    return permuted_pvalue(
        bases[0],
        bases[1],
        _largest_correlations,
        observed=float(_largest_correlations(cross_products(bases[0], bases[1]))),
        rounding=ROUNDING,
        n_resamples=n_resamples,
        seed=seed.for_rows(len(x[0])),
    )


def _largest_correlations(cross: Array) -> Array:
    """Not their squares, whose rounding vanishes next to 0."""
    return np.asarray(np.sqrt(np.maximum(largest_root(cross), 0.0)))


def log_smallest(n: int) -> float:
    """Log of 2/n!: two of all orders agree or disagree in every pair, so that no test of ranks has a smaller p."""
    return float(min(np.log(2.0) - gammaln(n + 1.0), 0.0))
