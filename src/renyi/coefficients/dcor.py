"""Distance correlation: of scalars in O(n log n), of vectors block by block."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import sqrt
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.special import log_ndtr

from renyi.coefficients.base import Measure, Statement, Tail
from renyi.coefficients.kernels import row_pairs
from renyi.coefficients.kernels.null import FEWEST_ROWS, Centred, largest_eigenvalues, log_pvalue
from renyi.coefficients.kernels.row_pairs import MOST_KEPT, Margins, RowPairs, centred_sum, unbiased_sum
from renyi.coefficients.kernels.sorted_distances import SortedScalars, distance_products, sort_scalars
from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, check_flag
from renyi.inference.multiscale import FEW_ROWS
from renyi.inference.permutation import ROUNDING

_Rows: TypeAlias = SortedScalars | RowPairs

# Vectors are compared pair by pair: minutes beyond.
_MOST_VECTORS = 100_000
_LEAST_UNBIASED = 4
# What one pair of rows may add to a statistic whose standard deviation is at most √2.
_MOST_REMOTE = 1.0
# A variance so small against the sum it is left of is 0, but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _Side:
    """Distances of one side: sorted scalars or all pairs of rows, with the margins and the two distance variances."""

    rows: _Rows
    margins: Margins
    variance: float
    unbiased_variance: float

    @cached_property
    def centred(self) -> Centred:
        """What theory for few rows needs of the centred matrix, with its sign turned: no eigenvalue is below 0."""
        n = len(self.margins.deviations)
        distances = _as_pairs(self.rows).block(slice(0, n), slice(0, n))
        centred = distances.mean(axis=0) - distances
        spectrum = largest_eigenvalues(centred - centred.mean(axis=1)[:, None])
        return Centred(-self.margins.centred_diagonal(), self.variance, spectrum)


@dataclass(frozen=True)
class Dcor(Measure[_Side]):
    """Distance correlation: 0 in the limit if and only if the sides are independent, 1 for a linear map.

    Parameters
    ----------
    unbiased : bool, default False
        The bias-corrected *square* of the distance correlation, a ratio of U-statistics (R's `energy::bcdcor`). Its
        mean is near 0 for independent sides, so that it can be negative, whatever the range stated of the default. It
        needs four rows. A side that differs from a constant in one row alone has no such variance; the value is then 0.
    exponent : float, default 1.0
        Distances are raised to this power, above 0 and below 2.

    Notes
    -----
    The default is the V-statistic, √(dCov²/√(dVar_x·dVar_y)), as `energy::dcor` of R has it. Scalars with exponent 1
    take O(n log n) time and O(n) memory; all others O(n²) time in blocks of fixed memory (up to 1,024 rows all
    distances are kept), and more than 100,000 rows are refused there. Categories of more than two levels count as
    indicators.

    The p-value of `test` is P(χ²₁ − 1 ≥ n·C), C being the bias-corrected square (Shen, Panda and Vogelstein 2022): an
    upper bound of the limit for p below 0.3. Where the most remote rows of both sides, meeting by chance, would alone
    add more than 1 to n·C (heavy tails and rare values: there, p-values below 0.0001 came up to ten times too often),
    it is by permutation. With fewer than 50 rows the bound is too light (size 0.07 for 0.05 at 10 rows, 0.06 at 20),
    and the null distribution is that of `Hsic`, a weighted sum of χ²₁ with the moments of all orders of the rows, from
    12 rows on. Columns of two values each are counted. How often independent columns are found is in
    docs/validation/measures.md.

    References
    ----------
    G. J. Székely, M. L. Rizzo and N. K. Bakirov 2007, https://doi.org/10.1214/009053607000000505
    C. Shen, S. Panda and J. T. Vogelstein 2022, https://doi.org/10.1080/10618600.2021.1938585

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 100)
    >>> round(Dcor()(x, x**2), 3)
    0.492
    """

    name: ClassVar[str] = "dcor"
    statement: ClassVar[Statement] = Statement(
        title="distance correlation",
        takes_vectors=True,
        parameters="an exponent (default 1)",
        cost="n log n",
        null="chi-squared bound",
        reference="G. J. Székely, M. L. Rizzo and N. K. Bakirov 2007, https://doi.org/10.1214/009053607000000505",
    )

    unbiased: bool = False
    exponent: float = 1.0

    def __post_init__(self) -> None:
        check_flag(self.unbiased, "unbiased")
        if isinstance(self.exponent, bool) or not isinstance(self.exponent, (int, float)) or not 0 < self.exponent < 2:
            raise InputError(
                f"exponent={self.exponent!r} is not between 0 and 2, where distance correlation sees every dependence: "
                "pass a number in between, such as 1.0"
            )

    @property
    def is_phi_of_flags(self) -> bool:
        return not self.unbiased

    def prepare(self, values: Array, /) -> _Side:
        n = len(values)
        if self.unbiased and n < _LEAST_UNBIASED:
            raise InputError(f"unbiased=True with {n} rows: its divisor is n(n − 3): pass at least 4 rows")
        points = row_pairs.standardised(values).points
        if points.shape[1] == 1 and self.exponent == 1:
            scalars = sort_scalars(points[:, 0])
            sums = scalars.row_sums()
            # (x_i − x_j)² has no absolute value: its sum is that of squares about the mean, which is 0.
            squares = 2.0 * n * float(scalars.values @ scalars.values) - 2.0 * float(scalars.values.sum()) ** 2
            return _side(scalars, Margins(sums - sums.mean(), float(sums.sum()), 0.0), squares)
        if n > _MOST_VECTORS:
            raise InputError(
                f"dcor of {n:,} rows, of vectors or with an exponent, compares all pairs of rows, which is refused "
                f"beyond {_MOST_VECTORS:,}: pass fewer rows (a random sample), or measure by 'rdc'"
            )
        pairs = row_pairs.keep(RowPairs(points, partial(_power, exponent=self.exponent)))
        return _side(pairs, *row_pairs.margins(pairs))

    def combine(self, x: _Side, y: _Side, /) -> float:
        return float(self._coefficients(x, y, None)[0])

    def reordered(self, side: _Side, order: Index, /) -> _Side:
        return replace(side, rows=side.rows.reordered(order), margins=side.margins.reordered(order))

    def permuted(self, x: _Side, y: _Side, orders: Index, /) -> Array:
        return self._coefficients(x, y, orders)

    def rounding(self, x: _Side, y: _Side, value: float, /) -> float:
        # The root of a number magnifies what this is off by, most where it is 0.
        return ROUNDING if self.unbiased else ROUNDING / (value + sqrt(ROUNDING))

    def null_tail(self, x: _Side, y: _Side, value: float, /) -> Tail | None:
        n = len(x.margins.deviations)
        # There the bound is too light (size 0.07 at 10 rows, 0.06 at 20, for 0.05), and all eigenvalues are at hand.
        if n < FEW_ROWS:
            return self._tail_of_few_rows(x, y)
        if x.unbiased_variance * y.unbiased_variance == 0.0 or n * _of_remote_rows(x, y) > _MOST_REMOTE:
            return None
        corrected = value
        if not self.unbiased:
            covariance = np.asarray(value**2 * np.sqrt(x.variance) * np.sqrt(y.variance))
            shared = np.asarray(x.margins.deviations @ y.margins.deviations)
            unbiased = unbiased_sum(covariance, x.margins, y.margins, shared)
            corrected = float(_ratio(unbiased, x.unbiased_variance, y.unbiased_variance))
        return Tail(n * corrected, _log_tail(n * corrected))

    def _tail_of_few_rows(self, x: _Side, y: _Side) -> Tail | None:
        """By all eigenvalues, and the mean and variance over all orders of the rows."""
        n = len(x.margins.deviations)
        if n < FEWEST_ROWS or x.variance * y.variance == 0.0:
            return None
        shared = np.asarray(x.margins.deviations @ y.margins.deviations)
        total = float(centred_sum(_products(x.rows, y.rows, None), x.margins, y.margins, shared)[0])
        found = log_pvalue(total, x.centred, y.centred)
        return None if found is None else Tail(total / n, found)

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        if n_coordinates == 1 and self.exponent == 1:
            return 250 * n
        return 8 * min(n, MOST_KEPT) ** 2 * 4 + 64 * n

    def _coefficients(self, x: _Side, y: _Side, orders: Index | None) -> Array:
        """The coefficients of x with y in each of several orders, or as it is."""
        deviations = y.margins.deviations[None] if orders is None else y.margins.deviations[orders]
        shared = deviations @ x.margins.deviations
        covariances = centred_sum(_products(x.rows, y.rows, orders), x.margins, y.margins, shared)
        if self.unbiased:
            covariances = unbiased_sum(covariances, x.margins, y.margins, shared)
            return _ratio(covariances, x.unbiased_variance, y.unbiased_variance)
        return np.sqrt(np.maximum(_ratio(covariances, x.variance, y.variance), 0.0))


def _side(rows: _Rows, edges: Margins, squares: float) -> _Side:
    """A side with its two variances, from the sum of squared distances."""
    shared, product = np.asarray(edges.deviations @ edges.deviations), np.asarray(squares)
    variance = centred_sum(product, edges, edges, shared)
    unbiased = float(unbiased_sum(variance, edges, edges, shared)) if len(edges.deviations) >= _LEAST_UNBIASED else 0.0
    return _Side(rows, edges, float(variance), unbiased if unbiased > _ROUNDING * squares else 0.0)


def _log_tail(statistic: float) -> float:
    """Log P(χ²₁ − 1 ≥ statistic): both tails of a normal, so that nothing underflows."""
    return float(np.log(2.0) + log_ndtr(-np.sqrt(statistic + 1.0))) if statistic > -1.0 else 0.0


def _of_remote_rows(x: _Side, y: _Side) -> float:
    """What the most remote row of x adds to the squared correlation where it meets that of y: a chance of 1/n."""
    most = [np.abs(side.margins.centred_diagonal()).max() / np.sqrt(side.variance) for side in (x, y)]
    return float(most[0] * most[1])


def _ratio(covariances: Array, x_variance: float, y_variance: float) -> Array:
    """Covariances over the root of both variances; 0 where one of these is."""
    scale = np.sqrt(x_variance) * np.sqrt(y_variance)
    return np.clip(covariances / scale, -1.0, 1.0) if scale > 0.0 else np.zeros_like(covariances)


def _products(x: _Rows, y: _Rows, orders: Index | None) -> Array:
    """Sums of products of distances, the short way where both sides are sorted scalars."""
    if isinstance(x, SortedScalars) and isinstance(y, SortedScalars):
        return distance_products(x, y, np.arange(len(x.values))[None] if orders is None else orders)
    return row_pairs.products(_as_pairs(x), _as_pairs(y), orders)


def _as_pairs(rows: _Rows) -> RowPairs:
    """All pairs of rows, for a partner that has nothing else."""
    if isinstance(rows, RowPairs):
        return rows
    return row_pairs.keep(RowPairs(rows.rows[:, None], partial(_power, exponent=1.0)))


def _power(squared: Array, exponent: float) -> Array:
    """Distances to a power, from squared ones, in place."""
    np.sqrt(squared, out=squared)
    return squared if exponent == 1 else np.power(squared, exponent, out=squared)
