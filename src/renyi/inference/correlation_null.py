"""Correlations of randomly paired rows: their moments, which are exact, and the null distributions that these give.

Whatever the two columns hold, all orders of the rows of one against those of the other give a correlation of mean 0 and
variance 1/(n − 1). Its skewness and its fourth moment depend on those of the columns (Pitman 1937,
https://doi.org/10.2307/2983647). Two columns of two values each have a table of which all ways can be counted.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, gammainc, ndtri_exp

from renyi.compute.arrays import Array, at_least, namespace
from renyi.inference.classical import log_gamma_sf

# Below, skewness changes p-values of 10⁻⁶ by less than a fifth, and the symmetric distribution is left as it is.
_SYMMETRIC = 0.03
_TINY = 1e-12
# Probabilities of overlaps fall off so fast that so many standard deviations, and a few more, are all of a tail.
_REACH, _FEW = 12.0, 64


class Shape(NamedTuple):
    """Skewness of a correlation over all orders of the rows, and its fourth cumulant beyond what is expected.

    Expected is that of Student's t for independent normals, and what a gamma distribution of the same skewness has
    besides.
    """

    skewness: Any
    excess: Any

    @property
    def is_symmetric(self) -> Any:
        """Whether `log_skewed` leaves p-values as they are."""
        return self.skewness < _SYMMETRIC


def shape_of_correlation(cubes: Any, fourths: tuple[Any, Any], n: int, /) -> Shape:
    """The shape for n rows, 4 or more, whose scores have mean 0 and length 1; of many pairs where these are arrays.

    `cubes` is the product of both sums of cubes, `fourths` are both sums of fourth powers.
    """
    skewness = cubes * n * np.sqrt(n - 1.0) / (n - 2.0)
    beyond = [n * (n + 1.0) * fourth - 3.0 * (n - 1.0) for fourth in fourths]
    fourth = 3.0 / ((n - 1.0) * (n + 1.0)) + beyond[0] * beyond[1] / ((n + 1.0) * n * (n - 1.0) * (n - 2.0) * (n - 3.0))
    excess = fourth * (n - 1.0) ** 2 - 3.0 + 6.0 / (n + 1.0) - 1.5 * skewness**2
    return Shape(abs(skewness), excess)


def log_skewed(log_pvalue: float, skewness: float, /) -> float:
    """A two-sided p-value of a symmetric distribution, as a logarithm, for a statistic that is skewed.

    The statistic is read as a normal deviate z of that p-value; both tails at z are then those of a gamma distribution
    of mean 0 and variance 1 with this skewness (Pearson's type III).
    """
    if skewness < _SYMMETRIC or log_pvalue >= 0.0:
        return log_pvalue
    z = -float(ndtri_exp(log_pvalue - np.log(2.0)))
    shape = 4.0 / skewness**2
    upper, lower = shape + 2.0 * z / skewness, shape - 2.0 * z / skewness
    log_upper = log_gamma_sf(shape, upper)
    share = float(gammainc(shape, lower)) if lower > 0.0 else 0.0
    return min(float(np.logaddexp(log_upper, np.log(share))) if share > 0.0 else log_upper, 0.0)


def log_heavier(log_pvalue: Array | float, curvature: Array | float, /) -> Array:
    """A p-value of a heavier tail: log p + c·(log p)², continued by its tangent where that gets flat.

    A fourth cumulant κ beyond that of the distribution has c = κ/6: it adds κz⁴/24 to the logarithm of a density, at
    z² = −2 log p.
    """
    # The slope 1 + 2c·log p falls from 1 to a half here.
    turn = -0.25 / at_least(curvature, _TINY)
    tangent = turn + curvature * turn**2 + 0.5 * (log_pvalue - turn)
    found: Array = namespace(log_pvalue).where(log_pvalue > turn, log_pvalue + curvature * log_pvalue**2, tangent)
    return found


def log_of_overlap(n: int, sizes: tuple[int, int], overlap: int, /) -> float:
    """Log of the chance that two random sets of these sizes among n overlap by a number as far from the mean as this.

    It is the hypergeometric distribution, summed over all overlaps that give as large a correlation of two flags, of
    either sign.
    """
    a, b = sizes
    # In whole numbers, so that an overlap as far on the other side is seen as that.
    away = abs(n * overlap - a * b)
    if away == 0:
        return 0.0
    lowest, highest = max(0, a + b - n), min(a, b)
    first_above, last_below = -(-(a * b + away) // n), (a * b - away) // n
    spread = np.sqrt(a * (b / n) * (1.0 - a / n) * (n - b) / max(n - 1.0, 1.0))
    reach = int(_REACH * spread) + _FEW
    above = np.arange(first_above, min(highest, first_above + reach) + 1)
    below = np.arange(max(lowest, last_below - reach), last_below + 1)
    log_p = _log_hypergeometric(np.concatenate((below, above)).astype(np.float64), a, b, n)
    largest = float(log_p.max())
    return min(largest + float(np.log(np.exp(log_p - largest).sum())), 0.0)


def _log_hypergeometric(overlap: Array, a: int, b: int, n: int) -> Array:
    return np.asarray(
        _log_choose(float(a), overlap) + _log_choose(float(n - a), b - overlap) - _log_choose(float(n), float(b))
    )


def _log_choose(n: float, k: Array | float) -> Array:
    return np.asarray(-betaln(n - k + 1.0, k + 1.0) - np.log(n + 1.0))
