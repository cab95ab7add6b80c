"""What chance alone would show, taken off a coefficient, and how sure the rest is."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_directions, cross_products
from renyi.compute.roots import root_between
from renyi.inference.multiscale import largest_root
from renyi.inference.roy import null_median

__all__ = ["debias", "debias_all", "largest_leverage", "null_level", "standard_error", "strengths"]

Array: TypeAlias = NDArray[np.float64]

# Roy's law is trusted while the product of the largest leverages stays below this. Smooth functions of a number spread
# what single rows weigh: it may be larger with one number, and larger still with two. See
# docs/internals/decisions.md, "Leverage".
_LARGEST_LEVERAGES = (0.03, 0.1, 0.4)
# Of two numbers on fewer rows nothing is claimed, and tables with gaps have very many of them.
_FEWEST_ROWS_OF_NUMBERS = 200
# As many shuffles as a budget of multiplications allows, within bounds; each counts twice.
_FEWEST_SHUFFLES, _MOST_SHUFFLES, _SHUFFLED_WORK = 50, 200, 10**7


def debias(correlation: float, level: float, /) -> float:
    """A largest canonical correlation, less what independent data would show; may be negative, down to −1.

    With m the level of ρ₁² under independence, v = (ρ₁² − m)/(1 − m) takes the place of ρ₁² as the adjusted R² takes
    that of R², and sign(v)·√|v| is its correlation.
    """
    return float(debias_all(np.array([correlation]), np.array([level]))[0])


def debias_all(correlations: Array, levels: Array, /) -> Array:
    """The same for many; NaN stays NaN."""
    # Where chance alone correlates two perfectly the data say nothing.
    has_room = levels < 1.0
    excess = np.maximum((correlations**2 - levels) / np.where(has_room, 1.0 - levels, 1.0), -1.0)
    return np.where(has_room | np.isnan(levels), np.copysign(np.sqrt(np.abs(excess)), excess), 0.0)


def strengths(debiased: Array, log_pvalues: Array, n: NDArray[np.intp], /) -> Array:
    """How strong dependences are, 0 at the least: debiased coefficients, or what tests have seen where that is more.

    A test looks at few functions where few are enough and at rougher ones too, a coefficient always at all of its own,
    so that it may show nothing of what the test finds. A p-value stands for the correlation r of two numbers that have
    it, by Fisher's artanh r = z(p/2)/√(n − 3), which is debiased by that of p = 1/2, the median of chance. The test
    pays for all the scales it looked at, and Fisher's r is too small where it is large: what the coefficient sees as
    well it says itself.
    """
    is_seen = log_pvalues < np.log(0.5)
    error = 1.0 / np.sqrt(np.maximum(n[is_seen] - 3, 1))
    seen, chance = (np.tanh(-ndtri_exp(log_p - np.log(2.0)) * error) for log_p in (log_pvalues[is_seen], np.log(0.5)))
    found = np.where(debiased <= 0.0, 0.0, debiased)
    found[is_seen] = np.maximum(found[is_seen], debias_all(seen, chance**2))
    return found


def null_level(x: Basis, y: Basis, /) -> float:
    """The level of ρ₁² that independent data with these bases show.

    The median of Roy's law, unless single rows weigh heavily on both sides: then the law fails, and the level comes
    from random pairings of the rows.
    """
    if x.largest_leverage * y.largest_leverage <= largest_leverage(x.is_of_number + y.is_of_number, x.n_samples):
        return null_median(x.rank, y.rank, x.n_samples)
    # Rows are put into an order of their own first, so that the order of the data does not matter.
    return _zero_mean_level(_paired_at_random(x.in_order(), y.in_order()))


def largest_leverage(n_numbers: NDArray[np.intp] | int, n_samples: NDArray[np.intp] | int, /) -> Array:
    """Up to which product of the largest leverages the law serves if so many of two variables are numbers."""
    has_limit = np.less(n_numbers, 2) | np.greater_equal(n_samples, _FEWEST_ROWS_OF_NUMBERS)
    return np.where(has_limit, np.take(_LARGEST_LEVERAGES, n_numbers), np.inf)


def _paired_at_random(x: Basis, y: Basis) -> Array:
    """ρ₁² of random pairings of the rows, from shuffles that n alone decides.

    Every shuffle is used with its inverse, so that the order of x and y does not matter.
    """
    n = x.n_samples
    work = n * x.rank * y.rank
    rng = np.random.default_rng(n)
    crosses = []
    for _ in range(min(_MOST_SHUFFLES, max(_FEWEST_SHUFFLES, _SHUFFLED_WORK // work))):
        shuffle = rng.permutation(n)
        crosses += [cross_products(x, y.take(rows)) for rows in (shuffle, np.argsort(shuffle))]
    return np.clip(largest_root(np.array(crosses)), 0.0, 1.0)


def _zero_mean_level(squares: Array) -> float:
    """The level that makes the debiased values of a null sample average to zero; 1 if none does."""

    def mean(level: float) -> float:
        return float(np.mean(debias_all(np.sqrt(squares), np.full(len(squares), level))))

    low, high = float(squares.min()), min(float(squares.max()), 1.0 - 1e-9)
    if low >= high:
        return low
    return 1.0 if mean(high) > 0.0 else root_between(mean, low, high)


def standard_error(x: Basis, y: Basis, /, *, debiased: float) -> float:
    """Standard error of a strong coefficient.

    A row moves the correlation ρ of f and g by f·g − ρ(f² + g²)/2, up to 1/n, and the spread of that holds for any
    data; normal ones have 1 − ρ². The larger of the two is taken, over the rows that fitting f and g has left.
    """
    left, correlations, right = canonical_directions(cross_products(x, y))
    f, g, correlation = x.along(left[:, 0]), y.along(right[:, 0]), correlations[0]
    influence = f * g - correlation * (f**2 + g**2) / 2
    return float(max(np.std(influence), 1.0 - debiased**2) / np.sqrt(x.n_samples - x.rank - y.rank))
