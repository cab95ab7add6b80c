"""The null distribution of distance covariance and HSIC: sums of products of two centred matrices over all orders."""

from dataclasses import dataclass

import numpy as np

from renyi.compute.arrays import Array
from renyi.inference.classical import log_weighted_chi_square_sf
from renyi.inference.multiscale import FEW_ROWS

# On fewer rows there are too few orders for a null distribution, and permutations take no time.
FEWEST_ROWS = 12
# What one pair of rows may add to the sum, in standard deviations; and on few rows, where hardly any are equal.
_MOST_REMOTE, _MOST_REMOTE_OF_FEW = 0.7, 1.5
_MOST_EIGENVALUES, _LEAST_EIGENVALUE = 60, 1e-6
# A variance so small against the square of the mean is 0, but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Centred:
    """What the null distribution needs of a centred matrix: its diagonal, the sum of its squared entries, its largest
    eigenvalues.

    Eigenvalues may be in units of their own.
    """

    diagonal: Array
    squares: float
    spectrum: Array

    @property
    def remotest(self) -> float:
        """The largest entry of the diagonal."""
        return float(np.abs(self.diagonal).max())


def largest_eigenvalues(matrix: Array, /) -> Array:
    """Those of a positive matrix that matter."""
    values = np.linalg.eigvalsh(matrix)[-_MOST_EIGENVALUES:]
    return np.asarray(values[values > _LEAST_EIGENVALUE * values[-1]])


def log_pvalue(total: float, x: Centred, y: Centred, /) -> float | None:
    """Logarithm of the p-value of a sum of products; None where single rows weigh too much.

    The limit, a sum of χ²₁ weighted by the products of the eigenvalues, gives the shape; these very data give the mean
    and the variance over all orders of the rows.
    """
    mean, variance = permutation_moments(x, y)
    if variance <= _ROUNDING * mean**2:
        # Where all rows are equally far apart every order has the same sum.
        return 0.0
    most = _MOST_REMOTE_OF_FEW if len(x.diagonal) < FEW_ROWS else _MOST_REMOTE
    if x.remotest * y.remotest > most * np.sqrt(variance):
        return None
    weights = np.multiply.outer(x.spectrum, y.spectrum).ravel()
    deviation = (total - mean) / np.sqrt(variance)
    return log_weighted_chi_square_sf(float(weights.sum() + deviation * np.sqrt(2.0 * (weights @ weights))), weights)


def permutation_moments(x: Centred, y: Centred, /) -> tuple[float, float]:
    """Mean and variance of the sum over all orders of y, for 4 rows or more (Kazi-Aoual et al. 1995)."""
    n = len(x.diagonal)
    (t, t2, s2), (u, u2, r2) = (_traces(side) for side in (x, y))
    mean = t * u / (n - 1)
    first = 2 * ((n - 1) * t2 - t**2) * ((n - 1) * u2 - u**2) / ((n - 1.0) ** 2 * (n + 1) * (n - 2))
    rest = (n * (n + 1) * s2 - (n - 1) * (t**2 + 2 * t2)) * (n * (n + 1) * r2 - (n - 1) * (u**2 + 2 * u2))
    return mean, first + rest / ((n + 1.0) * n * (n - 1) * (n - 2) * (n - 3))


def _traces(side: Centred) -> tuple[float, float, float]:
    """The trace, that of the square, and the sum of the squared diagonal."""
    return float(side.diagonal.sum()), side.squares, float(side.diagonal @ side.diagonal)
