"""Kendall's tau-b: counted in O(n log n), with its null distribution for few rows and for ties."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from renyi.basis.orthonormal import standardised
from renyi.basis.random_features import FIXED_DRAW, Seed
from renyi.basis.ranks import middles, quantise
from renyi.coefficients.base import Measure, Side, Statement, Tail
from renyi.coefficients.pearson import (
    PERMUTED_NUMBERS,
    Scores,
    Spearman,
    log_pvalue_of_correlation,
    log_smallest,
    permuted_roots,
)
from renyi.compute.arrays import Array, Index, in_parts
from renyi.inference.multiscale import FEW_ROWS
from renyi.inference.permutation import Permuted

Counts: TypeAlias = NDArray[np.int64]

# Kendall's with ties needs more rows for its null distribution.
_FEWEST_TIED = 34
# A table of counts costs less than sorting while it has no more cells than there are rows.
_CELLS_PER_ROW = 1
# Runs of up to 2³ numbers are compared place by place before any are merged.
_LOG_SHORT_RUN = 3


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
    nearly all values are equal, p-values come from permutations.
    """

    name: ClassVar[str] = "kendall"
    is_phi_of_flags = True
    statement: ClassVar[Statement] = replace(
        Spearman.statement,
        title="Kendall's rank correlation τ_b",
        null="normal, skewed as permutations are; exact on few rows",
        reference="M. G. Kendall 1938, https://doi.org/10.1093/biomet/30.1-2.81",
    )

    def prepare(self, values: Array, /) -> Ranked:
        copula = quantise(values.ravel())
        return Ranked(copula.codes.astype(np.intp), copula.counts)

    def combine(self, x: Ranked, y: Ranked, /) -> float:
        return float(_tau(_excess(x, y, y.codes[np.newaxis]), x, y)[0])

    def reordered(self, side: Ranked, order: Index, /) -> Ranked:
        return Ranked(side.codes[order], side.counts)

    def permuted(self, x: Ranked, y: Ranked, orders: Index, /) -> Array:
        step = max(1, PERMUTED_NUMBERS // len(x.codes))
        parts = (np.take(y.codes, part) for part in in_parts(orders, step))
        return np.concatenate([_tau(_excess(x, y, codes), x, y) for codes in parts])

    def null_tail(self, x: Ranked, y: Ranked, value: float, /) -> Tail | None:
        n = len(x.codes)
        excess = round(abs(value) * np.sqrt(x.n_untied) * np.sqrt(y.n_untied))
        has_ties = x.has_ties or y.has_ties
        n_against = (_pairs(n) - excess) // 2
        if not has_ties and (n < FEW_ROWS or n_against <= 1):
            return Tail(abs(value), _log_exact(n, n_against))
        log_pvalue = float(min(np.log(2.0) + log_ndtr(-excess / np.sqrt(_variance(x.counts, y.counts))), 0.0))
        skewed = None if n < _FEWEST_TIED else log_pvalue_of_correlation(x.scores, y.scores, log_pvalue)
        return None if skewed is None else Tail(abs(value), max(skewed, log_smallest(n)))

    def by_permutation(
        self, x: Side[Ranked], y: Side[Ranked], value: float, /, *, n_resamples: int, seed: Seed = FIXED_DRAW
    ) -> Permuted:
        # Against two values Kendall's coefficient is Spearman's up to a factor, and takes a small part of the time.
        if x.rows.flagged is None and y.rows.flagged is None:
            return super().by_permutation(x, y, value, n_resamples=n_resamples, seed=seed)
        scores = ((side.rows, side.prepared.scores.values[:, np.newaxis] * np.sqrt(len(side))) for side in (x, y))
        return permuted_roots(*scores, n_resamples=n_resamples, seed=seed)


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
