"""Chatterjee's coefficient: how far y is a function of x, by how little its ranks jump along x."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from renyi.coefficients.base import Measure, Statement, Tail
from renyi.compute.arrays import Array, Index
from renyi.compute.sorting import inverse
from renyi.errors import check_flag
from renyi.inference.multiscale import FEW_ROWS

# The normal distribution is used from so many rows on, if there are no ties; where the rows that do not have the most
# frequent y, squared, are so many times those that do; and where ties in x leave so much of the variance. What it is
# worth there is in the Notes.
_FEWEST_ROWS, _BALANCE, _VARIANCE_LEFT = 20, 15, 0.65


class Moments(NamedTuple):
    """What the mean and the variance under permutations need of a symmetric matrix with an empty diagonal."""

    total: float
    squares: float
    squared_rows: float


@dataclass(frozen=True, eq=False)
class Ranked:
    """A side in both roles: its groups of equal values in their order, and its ranks #{j: x_j ≤ x_i}."""

    ranks: Array
    order: Index
    counts: Index

    @cached_property
    def has_ties(self) -> bool:
        """Whether some value occurs twice."""
        return len(self.counts) < len(self.ranks)

    @cached_property
    def spread(self) -> float:
        """Σ l(n − l) for l_i = #{j: x_j ≥ x_i}, what the jumps of the ranks are compared with."""
        n, reached = len(self.ranks), np.cumsum(self.counts)
        above = (n - reached + self.counts).astype(np.float64)
        return float(np.sum(self.counts * above * (n - above)))

    @cached_property
    def of_order(self) -> "Moments":
        """Of the chances that two rows follow each other when this side gives the order."""
        return _moments_of_order(self.counts)

    @cached_property
    def of_ranks(self) -> "Moments":
        """Of the differences |r_i − r_j| of ranks."""
        n, sizes = len(self.ranks), self.counts.astype(np.float64)
        ranks = np.cumsum(sizes)
        sums = np.cumsum(sizes * ranks)
        rows = ranks * (2.0 * ranks - n) - 2.0 * sums + sums[-1]
        centred = ranks - sums[-1] / n
        squares = 2.0 * n * np.sum(sizes * centred**2)
        return Moments(float(np.sum(sizes * rows)), float(squares), float(np.sum(sizes * rows**2)))

    @cached_property
    def layouts(self) -> list["Layout"]:
        """How the mean jump over all orders within groups is summed; empty without ties."""
        return _layouts(self.counts) if self.has_ties else []


class Layout(NamedTuple):
    """Runs of positions within which ranks are sorted, and the weight of every position then."""

    runs: Index
    weights: Array


@dataclass(frozen=True)
class Xi(Measure[Ranked]):
    """Chatterjee's coefficient ξ of y given x: 1 in the limit where y is a function of x, 0 under independence.

    It has a direction, and no sign: values below 0, down to −½, or −1 where y has ties, say that neighbours along x
    differ more than chance would have it, and count as none.

    Parameters
    ----------
    symmetric : bool, default False
        Take the larger of both directions.

    Notes
    -----
    With the rows in the order of x, r_i = #{j: y_j ≤ y_i} and l_i = #{j: y_j ≥ y_i}, it is
    1 − n Σ|r_{i+1} − r_i| / (2 Σ l_i(n − l_i)). Without ties in y it is 1 − 3 Σ|r_{i+1} − r_i|/(n² − 1), of which the
    largest value is (n − 2)/(n + 1).

    Rows with the same x have no order. Chatterjee breaks such ties at random; here the sum is its mean over all orders
    of the rows within ties, so that neither chance nor the order of the data enters. Two different rows of a group of m
    follow each other with probability 2/m (in either order), and rows of neighbouring groups of m and m' rows with
    1/(mm'), so that only sums of abs(r_i − r_j) over pairs within groups, and within two neighbouring ones together,
    are needed: three sorts. Without ties in x there is one order, and this is the coefficient as published and in
    `scipy.stats.chatterjeexi`.

    The p-value is that of a normal distribution of mean 0, which is exact for permutations, and of the exact variance
    over all permutations for the ties that x and y have (ξ is a sum of products over pairs of rows: Mantel 1967), to
    which Chatterjee's, 2/(5n) without ties, tends. For the larger of both directions it is that of two independent
    ones, which they are in the limit (Zhang 2023). Where the null distribution does not hold, y is permuted: below 20
    rows, and with ties below 50; where most rows have the same y; and where ties in x leave less than 0.65 of the
    variance. A mean over so many orders is far more precise, and skewed. How often independent sides were found, in
    100,000 permutations (`benchmarks/studies/xi.py`):

    ==============  ==========================  =========================
    rows, ties      5 %, 1 %, 0.1 %             larger of both directions
    ==============  ==========================  =========================
    50              0.052, 0.011, 0.0012        0.052, 0.011, 0.0012
    100             0.051, 0.011, 0.0011        0.051, 0.011, 0.0012
    500             0.051, 0.010, 0.0010        0.051, 0.010, 0.0011
    50, 30 % of x   0.052, 0.012, 0.0016        0.052, 0.011, 0.0011
    50, 5 values y  0.052, 0.012, 0.0014        permutations
    50, 2 values y  0.058, 0.007, 0.0009        permutations
    50, 5 values x  permutations (by theory     permutations
                    0.069, 0.028, 0.0097)
    ==============  ==========================  =========================

    References
    ----------
    S. Chatterjee 2021, A new coefficient of correlation, https://doi.org/10.1080/01621459.2020.1758115

    N. Mantel 1967, The detection of disease clustering and a generalized regression approach, Cancer Research 27

    Q. Zhang 2023, On the asymptotic null distribution of the symmetrized Chatterjee's correlation coefficient,
    https://doi.org/10.1016/j.spl.2022.109759

    Examples
    --------
    >>> import numpy as np, renyi
    >>> x = np.random.default_rng(0).random(200)
    >>> y = (x - 0.5) ** 2
    >>> xi = renyi.measure("xi")
    >>> round(xi(x, y), 2), round(xi(y, x), 2)
    (0.97, 0.29)
    """

    name: ClassVar[str] = "xi"
    nanoseconds_per_row: ClassVar[int] = 10
    statement: ClassVar[Statement] = Statement(
        title="Chatterjee's coefficient",
        is_invariant=True,
        range=(-1.0, 1.0),
        cost="n log n",
        null="normal, with the moments of permutations",
        reference="S. Chatterjee 2021, https://doi.org/10.1080/01621459.2020.1758115",
        is_symmetric=False,
    )

    symmetric: bool = False

    def __post_init__(self) -> None:
        check_flag(self.symmetric, "symmetric")

    def prepare(self, values: Array, /) -> Ranked:
        _, codes, counts = np.unique(values.ravel(), return_inverse=True, return_counts=True)
        ranks = np.cumsum(counts)[codes].astype(np.float64)
        return Ranked(ranks, np.argsort(codes, kind="stable"), counts)

    def combine(self, x: Ranked, y: Ranked, /) -> float:
        there = _coefficients(x, y, y.ranks[x.order])
        value = np.maximum(there, _coefficients(y, x, x.ranks[y.order])) if self.symmetric else there
        return float(value)

    def reordered(self, side: Ranked, order: Index, /) -> Ranked:
        ranks = side.ranks[order]
        return replace(side, ranks=ranks, order=np.argsort(ranks, kind="stable"))

    def permuted(self, x: Ranked, y: Ranked, orders: Index, /) -> Array:
        there = _coefficients(x, y, y.ranks[orders[:, x.order]])
        if not self.symmetric:
            return there
        return np.maximum(there, _coefficients(y, x, x.ranks[inverse(orders)[:, y.order]]))

    def null_tail(self, x: Ranked, y: Ranked, value: float, /) -> Tail | None:
        if not _theory_holds(x, y) or (self.symmetric and not _theory_holds(y, x)):
            return None
        log_pvalue = log_ndtr(-value / _variance(x, y) ** 0.5)
        if self.symmetric:
            # Of two independent ones: 1 − (1 − p)(1 − p'), of which each is at its own variance.
            other = log_ndtr(-value / _variance(y, x) ** 0.5)
            log_pvalue = np.logaddexp(log_pvalue, other + log_ndtr(value / _variance(x, y) ** 0.5))
        return Tail(value, float(log_pvalue))

    def undirected(self) -> "Xi":
        return Xi(symmetric=True)


def _theory_holds(x: Ranked, y: Ranked) -> bool:
    """Whether ξ of y given x is close to normal under independence."""
    n, most = len(x.ranks), int(y.counts.max())
    if n < (FEW_ROWS if x.has_ties or y.has_ties else _FEWEST_ROWS) or (n - most) ** 2 < _BALANCE * most:
        return False
    if not x.has_ties:
        return True
    without_ties = _moments_of_order(np.ones(n, dtype=np.intp))
    return _variance(x, y) >= _VARIANCE_LEFT * _permuted_variance(without_ties, y.of_ranks, n) * _unit(y)


def _variance(x: Ranked, y: Ranked) -> float:
    """Variance of ξ of y given x over all orders of the rows of y, of which the mean is 0; for 4 rows or more."""
    return _permuted_variance(x.of_order, y.of_ranks, len(x.ranks)) * _unit(y)


def _unit(y: Ranked) -> float:
    """What turns the variance of the sum of jumps into that of ξ."""
    return (len(y.ranks) / (2.0 * y.spread)) ** 2


def _coefficients(x: Ranked, y: Ranked, ranks: Array) -> Array:
    """ξ of y given x, from ranks of y (..., n) in the order of x."""
    n = ranks.shape[-1]
    # Σ|r_{i+1} − r_i| in the order of x, as a mean over all orders of rows of the same x.
    jumps = np.zeros(ranks.shape[:-1]) if x.has_ties else np.abs(np.diff(ranks, axis=-1)).sum(axis=-1)
    for runs, weights in x.layouts:
        # Runs are sorted apart, by adding more than any rank for every run before.
        offset = runs * (n + 1.0)
        jumps += (np.sort(ranks + offset, axis=-1) - offset) @ weights
    return np.asarray(1.0 - n * jumps / (2.0 * y.spread))


def _layouts(counts: Index) -> list[Layout]:
    """Three ways to lay runs over groups of these sizes: each group, two from the first on, two from the second on.

    Sorted increasingly, Σ_{i<j}|r_i − r_j| over a run of m is Σ (2k − m + 1) r_k for k = 0 … m − 1. Between two groups
    it is what both have together, less what each has in itself.
    """
    between = _between(counts)
    pairs, shifted = np.arange(0, len(counts), 2), np.concatenate(([0], np.arange(1, len(counts), 2)))
    return [
        _layout(counts, 2.0 / counts - between[:-1] - between[1:]),
        _layout(np.add.reduceat(counts, pairs), between[1::2]),
        _layout(np.add.reduceat(counts, shifted), between[::2]),
    ]


def _between(counts: Index) -> Array:
    """The chance that rows of two neighbouring groups follow each other; 0 before the first and after the last."""
    sizes = np.concatenate(([np.inf], counts, [np.inf]))
    return np.asarray(1.0 / (sizes[:-1] * sizes[1:]))


def _layout(sizes: Index, factors: Array) -> Layout:
    """Runs of these sizes, whose sums over pairs are multiplied by these factors."""
    runs = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(runs)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Layout(runs, (2.0 * within - sizes[runs] + 1.0) * factors[runs])


def _moments_of_order(counts: Index) -> Moments:
    """Of the chances that two rows follow each other, for groups of these sizes."""
    sizes = counts.astype(np.float64)
    n_beside = 2.0 - (np.arange(len(sizes)) == 0) - (np.arange(len(sizes)) == len(sizes) - 1)
    rows = (2.0 * (sizes - 1.0) + n_beside) / sizes
    squares = np.sum(4.0 * (sizes - 1.0) / sizes) + 2.0 * np.sum(_between(counts))
    return Moments(2.0 * (np.sum(sizes) - 1.0), float(squares), float(np.sum(sizes * rows**2)))


def _permuted_variance(a: Moments, b: Moments, n: int) -> float:
    """Variance of Σ_{i<j} a_ij b_ij over all orders of the rows of b (Mantel 1967)."""
    pairs = n * (n - 1.0)
    # Two pairs of rows are the same, or have a row in common, or none.
    same = 2.0 * a.squares * b.squares
    one = 4.0 * (a.squared_rows - a.squares) * (b.squared_rows - b.squares) / (n - 2.0)
    none = np.prod([m.total**2 - 4.0 * m.squared_rows + 2.0 * m.squares for m in (a, b)]) / ((n - 2.0) * (n - 3.0))
    return float((same + one + none - (a.total * b.total) ** 2 / pairs) / pairs / 4.0)
