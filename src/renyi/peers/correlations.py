"""Pearson's, Spearman's and Kendall's correlation, with their signs."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import frexp, ldexp, sqrt
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from renyi.copula import middles, quantise
from renyi.execution.threads import stream
from renyi.features import Seed
from renyi.inference.blocks import FEW_ROWS, LARGEST_ROOT, is_trusted, largest_root
from renyi.inference.pairings import log_heavier, log_skewed, shape_of_correlation
from renyi.inference.roy import are_many, log_sf, log_sf_of_many
from renyi.inference.shuffles import Shuffled, shuffled_pvalue
from renyi.peers.protocol import Law, Measure, Side, Statement, entropy_of
from renyi.peers.rows import Rows
from renyi.scales import TIES_OF_LEVELS
from renyi.spectrum import cross_products

__all__ = ["Kendall", "Pearson", "Scores", "Spearman", "log_pvalue_of_correlation", "shuffled_roots", "standardised"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.int64]

# Where laws of many rows hold (docs/measures.md, "How often independent columns are found"). The heaviest rows of both
# sides, once they meet, make at most this much of what is critical at 5 %; the skewness over all orders of the rows is
# at most this; and the fourth cumulant is within these of what is expected. Where it is less the law finds too little.
_TRUSTED_SHARE = 1.2
# Two columns that hardly ever leave one value each have correlations in steps, which must be small.
_TRUSTED_SHARE_OF_LEVELS = 0.15
_LARGEST_SKEWNESS = 1.0
_EXCESS = -0.1, 0.06
# On fewer rows there are too few orders for a law, and shuffles take no time; Kendall's with ties needs more.
_FEWEST_ROWS, _FEWEST_TIED = 12, 34
# A table of counts costs less than sorting while it has no more cells than there are rows.
_CELLS_PER_ROW = 1
# Runs of up to 2³ numbers are compared place by place before any are merged.
_LOG_SHORT_RUN = 3
_SHUFFLED_NUMBERS = 2**18
# Numbers near the smallest there are grow by no more, which is enough for their squares.
_MOST_DOUBLINGS = 1000


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
    correlation of independent columns: its skewness over all orders of the rows is known, and a gamma law has it too.
    Columns of two values are counted. Where a few rows decide, and for ties on fewer than 50 rows, p-values come from
    shuffles.
    """

    name: ClassVar[str] = "pearson"
    nanoseconds_per_row: ClassVar[int] = 10
    cells_at_once: ClassVar[int] = 2**22
    statement: ClassVar[Statement] = Statement(
        title="Pearson's correlation",
        is_nonlinear=False,
        takes_vectors=False,
        is_invariant=False,
        range=(-1.0, 1.0),
        parameters="none",
        cost="n",
        law="Student's t, skewed as shuffles are",
        reference="K. Pearson 1895, https://doi.org/10.1098/rspl.1895.0041",
        has_sign=True,
    )

    @property
    def is_phi_of_flags(self) -> bool:
        return True

    def prepare(self, values: Array, /) -> Scores:
        return Scores(standardised(values.ravel()))

    def combine(self, x: Scores, y: Scores, /) -> float:
        return float(np.clip(x.values @ y.values, -1.0, 1.0))

    def reordered(self, side: Scores, order: Index, /) -> Scores:
        return side.reordered(order)

    def shuffled(self, x: Scores, y: Scores, orders: Index, /) -> Array:
        return np.asarray(np.clip(np.take(y.values, orders) @ x.values, -1.0, 1.0))

    def every_pair(self, x: Sequence[Scores], y: Sequence[Scores], /) -> Array:
        left = np.stack([side.values for side in x])
        # The same array twice is recognised by BLAS as half the work.
        right = left if y is x else np.stack([side.values for side in y])
        products = left @ right.T
        return np.clip(products, -1.0, 1.0, out=products)

    def every_law(
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

    def law(self, x: Scores, y: Scores, value: float, /) -> Law | None:
        # The two-sided tail of t is that of the squared correlation, the largest root of ranks 1 and 1.
        log_pvalue = log_pvalue_of_correlation(x, y, float(log_sf(min(value**2, 1.0), 1, 1, len(x))))
        return None if log_pvalue is None else Law(abs(value), log_pvalue)

    def by_shuffles(
        self, x: Side[Scores], y: Side[Scores], value: float, /, *, n_resamples: int, seed: Seed | None = None
    ) -> Shuffled:
        scores = ((side.rows, side.prepared.values[:, np.newaxis] * np.sqrt(len(side))) for side in (x, y))
        return shuffled_roots(*scores, n_resamples=n_resamples, seed=seed)


@dataclass(frozen=True)
class Spearman(Pearson):
    """Pearson's correlation of ranks, ties sharing the mean of theirs: a monotone trend, in [−1, 1].

    A prepared side is the ranks with mean 0 and length 1. P-values are as for Pearson's, from 18 rows on: on fewer
    their fourth moment is too far from that of t.
    """

    name: ClassVar[str] = "spearman"
    cells_at_once: ClassVar[int] = Measure.cells_at_once
    statement: ClassVar[Statement] = Statement(
        title="Spearman's rank correlation",
        is_nonlinear=False,
        takes_vectors=False,
        is_invariant=True,
        range=(-1.0, 1.0),
        parameters="none",
        cost="n log n",
        law="Student's t, skewed as shuffles are",
        reference="C. Spearman 1904, https://doi.org/10.2307/1412159",
        has_sign=True,
    )

    def prepare(self, values: Array, /) -> Scores:
        copula = quantise(values.ravel())
        return Scores(standardised(np.take(copula.middles, copula.codes)))

    def every_law(
        self, x: Sequence[Side[Scores]], y: Sequence[Side[Scores]], pairs: tuple[Index, Index], values: Array, /
    ) -> Array:
        return np.maximum(super().every_law(x, y, pairs, values), _log_smallest(len(x[0])))

    def law(self, x: Scores, y: Scores, value: float, /) -> Law | None:
        found = super().law(x, y, value)
        return None if found is None else found._replace(log_pvalue=max(found.log_pvalue, _log_smallest(len(x))))


@dataclass(frozen=True, eq=False)
class Ranked:
    """One side for Kendall: the place of every row among the distinct values, and how many rows share each."""

    codes: Index
    counts: Index

    @property
    def has_ties(self) -> bool:
        return len(self.counts) < len(self.codes)

    @property
    def n_untied(self) -> int:
        """Pairs of rows that differ."""
        return int(_pairs(len(self.codes)) - np.sum(_pairs(self.counts)))

    @cached_property
    def scores(self) -> Scores:
        """Mean ranks."""
        return Scores(standardised(np.take(middles(self.counts), self.codes)))


@dataclass(frozen=True)
class Kendall(Measure[Ranked]):
    """Kendall's τ_b: how many more pairs of rows agree in their order than disagree, in [−1, 1].

    Ties in either side make the pairs fewer that could agree. Without ties the p-value is exact below 50 rows, and
    normal beyond, with the variance that ties leave and the skewness of Spearman's correlation, which is that of τ_b
    where a side has two values. Columns of two values each are counted. With ties on fewer than 50 rows, or where
    nearly all values are equal, p-values come from shuffles.
    """

    name: ClassVar[str] = "kendall"
    statement: ClassVar[Statement] = Statement(
        title="Kendall's rank correlation τ_b",
        is_nonlinear=False,
        takes_vectors=False,
        is_invariant=True,
        range=(-1.0, 1.0),
        parameters="none",
        cost="n log n",
        law="normal, skewed as shuffles are; exact on few rows",
        reference="M. G. Kendall 1938, https://doi.org/10.1093/biomet/30.1-2.81",
        has_sign=True,
    )

    @property
    def is_phi_of_flags(self) -> bool:
        return True

    def prepare(self, values: Array, /) -> Ranked:
        copula = quantise(values.ravel())
        return Ranked(copula.codes.astype(np.intp), copula.counts)

    def combine(self, x: Ranked, y: Ranked, /) -> float:
        return float(_tau(_excess(x, y, y.codes[np.newaxis]), x, y)[0])

    def reordered(self, side: Ranked, order: Index, /) -> Ranked:
        return Ranked(side.codes[order], side.counts)

    def shuffled(self, x: Ranked, y: Ranked, orders: Index, /) -> Array:
        step = max(1, _SHUFFLED_NUMBERS // len(x.codes))
        parts = [orders[start : start + step] for start in range(0, len(orders), step)]
        return np.concatenate([_tau(_excess(x, y, np.take(y.codes, part)), x, y) for part in parts])

    def law(self, x: Ranked, y: Ranked, value: float, /) -> Law | None:
        n = len(x.codes)
        excess = round(abs(value) * np.sqrt(x.n_untied) * np.sqrt(y.n_untied))
        has_ties = x.has_ties or y.has_ties
        n_against = (_pairs(n) - excess) // 2
        if not has_ties and (n < FEW_ROWS or n_against <= 1):
            return Law(abs(value), _log_exact(n, n_against))
        log_pvalue = float(min(np.log(2.0) + log_ndtr(-excess / np.sqrt(_variance(x.counts, y.counts))), 0.0))
        skewed = None if n < _FEWEST_TIED else log_pvalue_of_correlation(x.scores, y.scores, log_pvalue)
        return None if skewed is None else Law(abs(value), max(skewed, _log_smallest(n)))

    def by_shuffles(
        self, x: Side[Ranked], y: Side[Ranked], value: float, /, *, n_resamples: int, seed: Seed | None = None
    ) -> Shuffled:
        # Against two values Kendall's coefficient is Spearman's up to a factor, and takes a small part of the time.
        if x.rows.flagged is None and y.rows.flagged is None:
            return super().by_shuffles(x, y, value, n_resamples=n_resamples, seed=seed)
        scores = ((side.rows, side.prepared.scores.values[:, np.newaxis] * np.sqrt(len(side))) for side in (x, y))
        return shuffled_roots(*scores, n_resamples=n_resamples, seed=seed)


def standardised(values: Array, /) -> Array:
    """Values with mean 0 and length 1, whatever their size; they are not all equal."""
    # A power of 2 costs no digits, and keeps sums of the largest and squares of the smallest numbers in range.
    size = frexp(max(float(values.max()), -float(values.min())))[1]
    centred = values * ldexp(1.0, -max(size, -_MOST_DOUBLINGS))
    # What hardly varies is centred exactly the second time, when its size is gone.
    for _ in range(2):
        centred -= np.add.reduce(centred) / len(centred)
    centred /= sqrt(centred @ centred)
    return centred


class _Traits(NamedTuple):
    """What the law of a pair asks of each of many sides."""

    heaviest: Array
    cubes: Array
    fourths: Array
    log_arrangements: Array
    is_flag: NDArray[np.bool_]
    has_levels: NDArray[np.bool_]

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
    """The law of squared correlations, few as it is, and many by tables where these reach."""
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
    """A two-sided p-value of many rows, as a logarithm, for scores that are skewed; None where no law holds."""
    n = len(x)
    if n < _FEWEST_ROWS or not _is_trusted(x.heaviest * y.heaviest, n):
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


def shuffled_roots(x: tuple[Rows, Array], y: tuple[Rows, Array], /, *, n_resamples: int, seed: Seed | None) -> Shuffled:
    """The p-value of the largest correlation of two sets of scores, orthonormal over the rows, by shuffling these."""
    bases = [rows.basis(scores) for rows, scores in (x, y)]
    return shuffled_pvalue(
        bases[0],
        bases[1],
        largest_root,
        observed=float(largest_root(cross_products(bases[0], bases[1]))),
        n_resamples=n_resamples,
        seed=entropy_of(len(x[0]), seed),
    )


def _log_smallest(n: int) -> float:
    """Log of 2/n!: two of all orders agree or disagree in every pair, so that no test of ranks has a smaller p."""
    return float(min(np.log(2.0) - gammaln(n + 1.0), 0.0))


def _pairs(count: Any) -> Any:
    return count * (count - 1) // 2


def _tau(excess: Counts, x: Ranked, y: Ranked) -> Array:
    return np.asarray(np.clip(excess / np.sqrt(x.n_untied) / np.sqrt(y.n_untied), -1.0, 1.0))


def _excess(x: Ranked, y: Ranked, codes: Index) -> Counts:
    """Pairs of rows in the same order less those in the opposite one, of x with each of several orders (m, n) of y."""
    if len(x.counts) * len(y.counts) <= _CELLS_PER_ROW * len(x.codes):
        return np.array([_excess_of_table(_table(x, y, row)) for row in codes])
    if not x.has_ties:
        along = np.empty_like(codes)
        along[:, x.codes] = codes
        return np.asarray(y.n_untied - 2 * inversions(along))
    if not y.has_ties:
        along = np.empty_like(codes)
        np.put_along_axis(along, codes, np.broadcast_to(x.codes, codes.shape), axis=1)
        return np.asarray(x.n_untied - 2 * inversions(along))
    # Rows by x, then by y, so that no pair equal in x counts as inverted.
    keys = np.sort(x.codes * len(y.counts) + codes, axis=1)
    repeated = np.array([np.sum(_pairs(np.unique(row, return_counts=True)[1])) for row in keys])
    untied = x.n_untied + y.n_untied - _pairs(len(x.codes)) + repeated
    return np.asarray(untied - 2 * inversions(keys % len(y.counts)))


def _table(x: Ranked, y: Ranked, codes: Index) -> Index:
    shape = len(x.counts), len(y.counts)
    return np.bincount(x.codes * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)


def _excess_of_table(table: Index) -> int:
    """From a table of counts: every cell with those further on in both, less those further on in x alone."""
    after = np.zeros_like(table)
    after[:-1] = np.cumsum(table[:0:-1], axis=0)[::-1]
    above, below = np.zeros_like(table), np.zeros_like(table)
    above[:, :-1] = np.cumsum(after[:, :0:-1], axis=1)[:, ::-1]
    below[:, 1:] = np.cumsum(after[:, :-1], axis=1)
    return int(np.sum(table * (above - below)))


def inversions(rows: Index, /) -> Counts:
    """Pairs of places i < j with a larger number at i, in every row (m, n), by merging runs of doubling length."""
    m, n = rows.shape
    n_runs = 1 << max(0, (n - 1).bit_length() - _LOG_SHORT_RUN)
    width = -(-n // n_runs)
    # Places beyond the end have the largest number and are inverted with none; a spare bit will say which half.
    largest = int(rows.max()) + 1
    # 16 bits would be sorted by radix, which costs more than a merge on short runs.
    dtype = np.uint32 if largest < 2**31 else np.uint64
    runs = np.full((m, n_runs * width), largest, dtype=dtype)
    runs[:, :n] = rows
    runs = runs.reshape(m, n_runs, width)
    total = np.zeros(m, dtype=np.int64)
    for lag in range(1, width):
        total += np.count_nonzero(runs[:, :, :-lag] > runs[:, :, lag:], axis=(1, 2))
    runs.sort(axis=2)
    while runs.shape[1] > 1:
        runs <<= 1
        runs[:, 1::2] += 1
        width = runs.shape[2]
        runs = runs.reshape(m, -1, 2 * width)
        runs.sort(axis=2, kind="stable")
        # A number of the right half has been overtaken by those of the left that exceed it: fewer places before it.
        places = (runs & 1) * np.arange(2 * width, dtype=dtype)
        total += runs.shape[1] * (width * width + _pairs(width)) - places.sum(axis=(1, 2), dtype=np.int64)
        runs >>= 1
    return total


def _variance(x: Index, y: Index) -> float:
    """Variance of the excess of independent data whose values occur so often (Kendall 1970, chapter 4)."""
    n = float(x.sum())
    (x1, x2, x3), (y1, y2, y3) = _tied_sums(x), _tied_sums(y)
    ordered = n * (n - 1)
    return float((ordered * (2 * n + 5) - x1 - y1) / 18 + x2 * y2 / (2 * ordered) + x3 * y3 / (9 * ordered * (n - 2)))


def _tied_sums(counts: Index) -> tuple[float, float, float]:
    """Sums over groups of t equal values of t(t−1)(2t+5), t(t−1) and t(t−1)(t−2)."""
    t = counts.astype(np.float64)
    pairs = t * (t - 1)
    return float(pairs @ (2 * t + 5)), float(pairs.sum()), float(pairs @ (t - 2))


def _log_exact(n: int, n_against: int) -> float:
    """Log of the two-sided p-value of so many discordant pairs, no more than half of all, without ties."""
    # Counts of orders by their inversions: the next row adds 0, 1, … as many as there are rows before it. They are
    # divided by all orders on the way, so that nothing overflows.
    shares = np.zeros(n_against + 1)
    shares[0] = 1.0
    for j in range(2, n + 1):
        cumulated = np.cumsum(shares)
        cumulated[j:] -= cumulated[:-j].copy()
        shares = cumulated / j
    if n_against <= 1:
        # Of all orders 1, or n with one inversion, which underflows for many rows.
        return min(float(np.log(2.0) + n_against * np.log(n) - gammaln(n + 1.0)), 0.0)
    return float(min(np.log(2.0 * shares.sum()), 0.0))
