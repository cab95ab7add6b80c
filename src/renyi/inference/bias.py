"""What chance alone would show, taken off a coefficient, and how sure the rest is."""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis import Basis
from renyi.execution.roots import root_between
from renyi.inference.blocks import largest_root
from renyi.inference.roy import null_median
from renyi.spectrum import canonical_directions, cross_products

__all__ = ["LARGEST_LEVERAGE", "LARGEST_LEVERAGE_OF_NUMBERS", "debias", "null_level", "standard_error"]

Array: TypeAlias = NDArray[np.float64]

# Roy's law is trusted while the product of the largest leverages stays below this; smooth functions of a number, on
# either side, spread what single rows weigh. docs/design.md, "Leverage".
LARGEST_LEVERAGE, LARGEST_LEVERAGE_OF_NUMBERS = 0.03, 0.5
# As many shuffles as a budget of multiplications allows, within bounds; each counts twice.
_FEWEST_SHUFFLES, _MOST_SHUFFLES, _SHUFFLED_WORK = 50, 200, 10**7


def debias(correlation: float, level: float, /) -> float:
    """A largest canonical correlation, less what independent data would show; may be negative, down to −1.

    With m the level of ρ₁² under independence, v = (ρ₁² − m)/(1 − m) takes the place of ρ₁² as the adjusted R² takes
    that of R², and sign(v)·√|v| is its correlation.
    """
    if level >= 1.0:
        return 0.0  # chance alone correlates the two perfectly: the data say nothing
    excess = max(-1.0, (correlation**2 - level) / (1.0 - level))
    return float(np.copysign(np.sqrt(abs(excess)), excess))


def null_level(x: Basis, y: Basis, /) -> float:
    """The level of ρ₁² that independent data with these bases show.

    The median of Roy's law, unless single rows weigh heavily on both sides: then the law fails, and the level comes
    from random pairings of the rows.
    """
    limit = LARGEST_LEVERAGE_OF_NUMBERS if x.is_of_number or y.is_of_number else LARGEST_LEVERAGE
    if x.largest_leverage * y.largest_leverage <= limit:
        return null_median(x.rank, y.rank, x.n_samples)
    # Rows are put into an order of their own first, so that the order of the data does not matter.
    ordered = x.in_order(), y.in_order()
    is_shared = x.ordered is not None and y.ordered is not None
    return _shared_level(*ordered) if is_shared else _zero_mean_level(_paired_at_random(*ordered))


@lru_cache(maxsize=64)
def _shared_level(x: Basis, y: Basis) -> float:
    """The level of two columns without ties, which all such columns of this length share."""
    return _zero_mean_level(_paired_at_random(x, y))


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
        return float(np.mean([debias(np.sqrt(square), level) for square in squares]))

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
