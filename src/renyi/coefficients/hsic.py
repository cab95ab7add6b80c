"""The Hilbert-Schmidt independence criterion with Gaussian kernels, on the data and on their copula."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np

from renyi.basis.ranks import joint_ranks
from renyi.coefficients.base import Measure, Statement, Tail
from renyi.coefficients.kernels import row_pairs
from renyi.coefficients.kernels.gaussian import drawn_together, gaussian, gaussian_less_1, median_distance, short_factor
from renyi.coefficients.kernels.null import FEWEST_ROWS, Centred, largest_eigenvalues, log_pvalue
from renyi.coefficients.kernels.row_pairs import MOST_KEPT, Margins, RowPairs, centred_sum, unbiased_sum
from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, check_flag, is_number
from renyi.inference.permutation import ROUNDING

_LEAST_UNBIASED = 4
# Columns of a factor at most; where the kernel has no such factor, all pairs of so many rows are compared at most.
_MOST_COLUMNS = 200
_MOST_PAIRED = 50_000
# The null distribution needs the shape of the two spectra alone.
_MOST_FOR_SPECTRUM = 500
# Rows that are all this near to one another, in widths, have a kernel of nearly 1, of which the digits are behind the
# point. Where they are this close it is linear to 8 digits, as many as rounding would leave; closer than the least, the
# coefficient is the same and its terms would vanish.
_NEAR, _CLOSE, _CLOSEST = 0.3, 1e-4, 1e-30
_SMALLEST, _LARGEST = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
# A variance so small against the sum it is left of is 0, but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class _Side:
    """The kernel matrix of one side: its centred factor where that is short, else all pairs of rows."""

    rows: RowPairs
    factor: Array | None
    margins: Margins
    variance: float
    unbiased_variance: float

    @cached_property
    def centred(self) -> Centred:
        """What theory needs of the centred matrix; of many rows without a factor, eigenvalues are those of some."""
        if self.factor is not None:
            spectrum = largest_eigenvalues(self.factor.T @ self.factor)
        else:
            n = len(self.rows.points)
            some = RowPairs(self.rows.points[:: -(-n // _MOST_FOR_SPECTRUM)], self.rows.entry)
            everything = slice(0, len(some.points))
            kernel = some.block(everything, everything)
            centred = kernel - kernel.mean(axis=0)
            spectrum = largest_eigenvalues(centred - centred.mean(axis=1)[:, None])
        return Centred(self.margins.centred_diagonal(), self.variance, spectrum)


@dataclass(frozen=True)
class Hsic(Measure[_Side]):
    """The Hilbert-Schmidt independence criterion with Gaussian kernels, which see every dependence as n grows.

    By default HSIC(x, y)/√(HSIC(x, x)·HSIC(y, y)), in [0, 1]: the cosine of the two centred kernel matrices, also known
    as centred kernel alignment. It is 1 where y is x up to shift, scale and sign, and of the order 1/n for independent
    sides. No root is taken, so that it stands to the *square* of distance correlation as one kernel to another.

    Parameters
    ----------
    unbiased : bool, default False
        The U-statistic (Song et al. 2012), whose mean is 0 for independent sides, so that it can be negative, whatever
        the range stated of the default. It needs four rows.
    normalised : bool, default True
        False gives the criterion itself: tr(KHLH)/n², or the U-statistic; both shrink with the width of the kernels.
    width : float or None, default None
        w of the kernel exp(−d²/(2w²)), in units of the data, for both sides. None is the median of the distances
        between rows i < j of each side; where half of these or more are 0, the median of the others. Beyond 10,000
        numbers (1,000 vectors) it is taken of so many, evenly spaced in their sorted order, not in that of the rows.
        Widths far beyond the data leave a linear kernel, and of scalars the square of Pearson's correlation.

    Notes
    -----
    The kernel matrix of scalars is that of a few dozen features to 13 digits, found by a pivoted Cholesky factor; time
    and memory are then linear in n, and a permutation costs one small product. Where 200 features (or n/4) do not do,
    as for vectors and for heavy tails of many rows, all pairs of rows are compared in blocks of fixed memory (up to
    1,024 rows the matrices are kept); this takes quadratic time and is refused beyond 50,000 rows.

    The p-value of `test` is that of a weighted sum of χ²₁, the weights being products of the eigenvalues of the two
    matrices (Gretton et al. 2009, Zhang et al. 2012), moved and stretched to the exact mean and variance of the
    statistic over all orders of the rows (Kazi-Aoual et al. 1995). A gamma distribution of the same moments is far too
    light in the tail (by 3.5 times at p = 0.001, and more than 10 times at 0.0001, for 200 uniforms or normals). With
    fewer than 12 rows, with ties on fewer than 50, or where the most remote rows of both sides, meeting by chance,
    would alone add 0.7 standard deviations (1.5 on fewer than 50 rows), it is by permutation. Columns of two values
    each are counted. docs/validation/measures.md has sizes for many kinds of columns. At 5 % and 1 %, in 6,000
    simulations (1,500 for vectors and for 1,000 rows), they are:

    - 50 rows: 0.047 and 0.007 for uniforms, 0.047 and 0.008 for normals, 0.051 and 0.010 for Student's t with 1.5
      degrees of freedom, 0.054 and 0.013 for Cauchy's, 0.052 and 0.009 for vectors of 3 normals;
    - 200 rows: 0.049 and 0.008, 0.046 and 0.008, 0.051 and 0.011, 0.053 and 0.013, 0.051 and 0.011;
    - 1,000 rows: 0.046 and 0.005 for uniforms, 0.056 and 0.011 for normals, 0.058 and 0.011 for Student's t.

    References
    ----------
    A. Gretton, O. Bousquet, A. Smola and B. Schölkopf 2005, https://doi.org/10.1007/11564089_7
    L. Song, A. Smola, A. Gretton, J. Bedo and K. Borgwardt 2012, https://www.jmlr.org/papers/v13/song12a.html
    F. Kazi-Aoual, S. Hitier, R. Sabatier and J.-D. Lebreton 1995, https://doi.org/10.1016/0167-9473(94)00064-2
    K. Zhang, J. Peters, D. Janzing and B. Schölkopf 2011, https://arxiv.org/abs/1202.3775

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 100)
    >>> round(Hsic()(x, x**2), 3)
    0.32
    """

    name: ClassVar[str] = "hsic"
    statement: ClassVar[Statement] = Statement(
        title="Hilbert-Schmidt independence criterion",
        takes_vectors=True,
        parameters="the width of the kernel (default: median distance)",
        cost="n, or n² for heavy tails and vectors",
        null="weighted chi-squared",
        reference="A. Gretton et al. 2005, https://doi.org/10.1007/11564089_7",
    )

    unbiased: bool = False
    normalised: bool = True
    width: float | None = None

    def __post_init__(self) -> None:
        for setting in ("unbiased", "normalised"):
            check_flag(getattr(self, setting), setting)
        width = self.width
        if width is not None and not (is_number(width) and 0 < width < np.inf):
            raise InputError(
                f"width={width!r} is not a width of a kernel: pass a number above 0, in units of the data, or None for "
                "the median of the distances"
            )

    @property
    def is_phi_of_flags(self) -> bool:
        return not self.unbiased and self.width is None

    def prepare(self, values: Array, /) -> _Side:
        n = len(values)
        if self.unbiased and n < _LEAST_UNBIASED:
            raise InputError(f"unbiased=True with {n} rows: its divisor is n(n − 3): pass at least 4 rows")
        points = self._points(values)
        reach = float(np.abs(points).max())
        if reach <= _CLOSE:
            return _side_of_close(points)
        pairs = RowPairs(points, gaussian_less_1 if reach <= _NEAR else gaussian)
        factor = short_factor(points, _most_columns(n))
        if factor is not None:
            return _side_of_factor(pairs, factor)
        if n > _MOST_PAIRED:
            raise InputError(
                f"{self.name} of {n:,} rows, of vectors or heavy tails, compares all pairs of rows, which is refused "
                f"beyond {_MOST_PAIRED:,}: pass fewer rows (a random sample), or measure by 'rdc'"
            )
        pairs = row_pairs.keep(pairs)
        edges, squares = row_pairs.margins(pairs)
        shared = np.asarray(edges.deviations @ edges.deviations)
        return _side(pairs, None, edges, float(centred_sum(np.asarray(squares), edges, edges, shared)))

    def combine(self, x: _Side, y: _Side, /) -> float:
        return float(self._coefficients(x, y, None)[0])

    def reordered(self, side: _Side, order: Index, /) -> _Side:
        factor = None if side.factor is None else side.factor[order]
        return replace(side, rows=side.rows.reordered(order), factor=factor, margins=side.margins.reordered(order))

    def permuted(self, x: _Side, y: _Side, orders: Index, /) -> Array:
        return self._coefficients(x, y, orders)

    def rounding(self, x: _Side, y: _Side, value: float, /) -> float:
        # The criterion itself shrinks with the width of the kernels.
        largest = 1.0 if self.normalised else sqrt(x.variance) * sqrt(y.variance) / len(x.margins.deviations) ** 2
        return ROUNDING * largest

    def null_tail(self, x: _Side, y: _Side, value: float, /) -> Tail | None:
        n = len(x.margins.deviations)
        if n < FEWEST_ROWS or x.variance * y.variance == 0.0:
            return None
        total = float(_centred_sums(x, y, None)[0])
        found = log_pvalue(total, x.centred, y.centred)
        return None if found is None else Tail(total / n, found)

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        # Two factors, one being built; or two matrices that are kept, and a permuted one; or blocks.
        return 3 * 8 * n * _most_columns(n) + 3 * 8 * min(n, MOST_KEPT) ** 2

    def _points(self, values: Array) -> Array:
        """Rows in units of the width."""
        points, size, exponent = row_pairs.standardised(values, about_median=True)
        if self.width is None:
            return drawn_together(points, median_distance(points))
        # In units of the largest number. A width that is none in these is as good as the smallest or the largest.
        with np.errstate(over="ignore", under="ignore"):
            width = float(np.ldexp(self.width / size, -exponent))
        widest = 1.0 / _CLOSEST if self.normalised else _LARGEST
        return drawn_together(points, min(max(width, _SMALLEST), widest))

    def _coefficients(self, x: _Side, y: _Side, orders: Index | None) -> Array:
        """The coefficients of x with y in each of several orders, or as it is."""
        n = len(x.margins.deviations)
        sums = _centred_sums(x, y, orders)
        scale, x_variance, y_variance = float(n) ** 2, x.variance, y.variance
        if self.unbiased:
            sums = unbiased_sum(sums, x.margins, y.margins, _shared(x, y, orders))
            scale, x_variance, y_variance = n * (n - 3.0), x.unbiased_variance, y.unbiased_variance
        if not self.normalised:
            return sums / scale
        scale = np.sqrt(x_variance) * np.sqrt(y_variance)
        return np.clip(sums / scale, -1.0 if self.unbiased else 0.0, 1.0) if scale > 0.0 else np.zeros_like(sums)


def _most_columns(n: int) -> int:
    """How long a factor may be: up to 200 columns while it has 10⁸ entries, and 64 at least of very many rows."""
    return min(_MOST_COLUMNS, n // 4, max(64, 10**8 // n))


def _shared(x: _Side, y: _Side, orders: Index | None) -> Array:
    deviations = y.margins.deviations[None] if orders is None else y.margins.deviations[orders]
    return np.asarray(deviations @ x.margins.deviations)


def _centred_sums(x: _Side, y: _Side, orders: Index | None) -> Array:
    """n² times the biased criterion, y being in each of several orders, or as it is."""
    if x.factor is not None and y.factor is not None:
        turned = x.factor.T
        factors = [y.factor] if orders is None else (y.factor[order] for order in orders)
        return np.array([np.sum((turned @ factor) ** 2) for factor in factors])
    return centred_sum(row_pairs.products(x.rows, y.rows, orders), x.margins, y.margins, _shared(x, y, orders))


def _side_of_close(points: Array) -> _Side:
    """Where all rows are close: 1 − d²/2 is the kernel, and its centred matrix that of the inner products of rows."""
    centred = points - points.mean(axis=0)
    squares = np.sum(centred**2, axis=1)
    n, total = len(centred), float(squares.sum())
    # The kernel less 1, which changes nothing, for a constant is centred away.
    edges = Margins(-0.5 * n * (squares - total / n), -n * total, 0.0)
    return _side(RowPairs(points, gaussian_less_1), centred, edges, float(np.sum((centred.T @ centred) ** 2)))


def _side_of_factor(pairs: RowPairs, factor: Array) -> _Side:
    diagonal, n = float(pairs.entry(np.zeros(1))[0]), len(factor)
    sums = factor @ factor.sum(axis=0) - n * (1.0 - diagonal)
    edges = Margins(sums - sums.mean(), float(sums.sum()), diagonal)
    centred = factor - factor.mean(axis=0)
    return _side(pairs, centred, edges, float(np.sum((centred.T @ centred) ** 2)))


def _side(pairs: RowPairs, factor: Array | None, edges: Margins, variance: float) -> _Side:
    n = len(edges.deviations)
    shared = np.asarray(edges.deviations @ edges.deviations)
    unbiased = float(unbiased_sum(np.asarray(variance), edges, edges, shared)) if n >= _LEAST_UNBIASED else 0.0
    # Of the size of what is subtracted on the way.
    least = _ROUNDING * (edges.total / n) ** 2
    return _Side(pairs, factor, edges, variance if variance > least else 0.0, unbiased if unbiased > least else 0.0)


@dataclass(frozen=True)
class CopulaHsic(Hsic):
    """HSIC of the ranks, by the empirical cdf of every coordinate: ties share the rank of their last member.

    Strictly increasing maps of any coordinate leave it as it is. The width is that of the ranks, in (0, 1]; without
    ties their median distance is about 1 − 1/√2, whatever the data, and 15 features are enough for any number of rows.

    Parameters
    ----------
    unbiased, normalised, width
        As for `Hsic`.
    """

    name: ClassVar[str] = "chsic"
    statement: ClassVar[Statement] = replace(
        Hsic.statement,
        title="Hilbert-Schmidt independence criterion of the copula",
        is_invariant=True,
        cost="n log n",
        reference="B. Póczos, Z. Ghahramani, J. Schneider 2012, https://doi.org/10.48550/arXiv.1206.4682",
    )

    def _points(self, values: Array) -> Array:
        return super()._points(joint_ranks(values.reshape(len(values), -1)))
