"""Null distributions of all canonical correlations at once: Bartlett's, and the weighted χ² of kernel tests."""

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr

from renyi.basis.basis import Basis
from renyi.compute.arrays import Array
from renyi.compute.roots import root_between


def bartlett(correlations: Array, dimensions: tuple[int, int], n_samples: int, /) -> tuple[float, float]:
    """Statistic and log p-value of −(n − 1 − (a + b + 1)/2) Σ log(1 − ρ²) ~ χ²(ab) (paper, section 3.4).

    Perfect correlations are taken as the largest number below 1, which keeps the statistic finite.
    """
    a, b = dimensions
    squares = np.minimum(correlations**2, 1.0 - 2.0**-53)
    statistic = float(-(n_samples - 1 - (a + b + 1) / 2) * np.sum(np.log1p(-squares)))
    return statistic, log_gamma_sf(a * b / 2, statistic / 2)


def log_gamma_sf(shape: float, x: float, /) -> float:
    """Logarithm of the upper tail of a gamma distribution, also where the tail itself is no number any more."""
    tail = float(gammaincc(shape, x))
    if tail > 1e-290:
        return float(np.log(tail))
    # Γ(a, x) = x^a e^−x / (x + 1 − a − 1(1−a)/(x + 3 − a − 2(2−a)/(x + 5 − a − …))), from the inside out.
    fraction = x + 401 - shape
    for k in range(200, 0, -1):
        fraction = x + 2 * k - 1 - shape - k * (k - shape) / fraction
    return float(shape * np.log(x) - x - gammaln(shape) - np.log(fraction))


def spectral(cross: Array, x: Basis, y: Basis, /) -> tuple[float, float]:
    """Statistic n·‖cov(Φx, Φy)‖² of the features themselves and its log p-value (Zhang et al. 2012).

    Independent data give a sum of χ²(1), weighted by the products of the eigenvalues of the two covariances.
    """
    loadings = x.loadings, y.loadings
    statistic = float(x.n_samples * np.sum((loadings[0].T @ cross @ loadings[1]) ** 2))
    variances = [np.linalg.eigvalsh(loading @ loading.T) for loading in loadings]
    return statistic, log_weighted_chi_square_sf(statistic, np.multiply.outer(*variances).ravel())


def log_weighted_chi_square_sf(value: float, weights: Array, /) -> float:
    """Upper tail of Σ w χ²(1) by the saddle point (Lugannani and Rice 1980), as its logarithm."""
    if value <= 1e-12 * weights.sum():
        return 0.0
    # In units of the largest weight: the root is found to so many digits after the point.
    value, weights = value / weights.max(), weights[weights > 1e-12 * weights.max()] / weights.max()
    mean, spread = weights.sum(), np.sqrt(2 * np.sum(weights**2))
    # Right at the mean the formula is 0/0 there; a step aside it is smooth.
    if abs(value - mean) < 1e-4 * spread:
        value = mean + 1e-4 * spread

    def slope(z: float) -> float:
        return float(np.sum(weights / (1 - 2 * z * weights)) - value)

    top = 0.5
    # Here every weight adds less than value/(2·len), in all less than the value that is subtracted.
    bottom = -len(weights) / value
    z = root_between(slope, bottom, top * (1 - 1e-14))
    cumulant = -0.5 * np.sum(np.log1p(-2 * z * weights))
    w = np.sign(z) * np.sqrt(max(2 * (z * value - cumulant), 0.0))
    v = z * np.sqrt(2 * np.sum((weights / (1 - 2 * z * weights)) ** 2))
    # In the form of Barndorff-Nielsen, whose logarithm is at hand however far the tail.
    return float(log_ndtr(-(w + np.log(v / w) / w)))
