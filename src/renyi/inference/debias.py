"""What chance alone would show, taken off a coefficient, and how sure the rest is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, ndtri_exp

from renyi.basis.basis import Basis, restrict
from renyi.basis.canonical import canonical_directions, cross_products, largest_correlation
from renyi.basis.nested import MANY_LEVELS
from renyi.compute.arrays import Array, Index
from renyi.compute.eigenvalues import largest_root
from renyi.compute.roots import root_between
from renyi.inference import contingency
from renyi.inference.roy import log_sf, null_median

# Roy's distribution is trusted while the product of the largest leverages stays below this. Smooth functions of a
# number spread what single rows weigh: it may be larger with one number, and larger still with two. See
# docs/internals/decisions.md, "Leverage".
_LARGEST_LEVERAGES = (0.03, 0.1, 0.4)
# Of two numbers on fewer rows nothing is claimed, and tables with gaps have very many of them.
_FEWEST_ROWS_OF_NUMBERS = 200
# As many permutations as a budget of multiplications allows, within bounds; each counts twice.
_FEWEST_PERMUTATIONS, _MOST_PERMUTATIONS, _PERMUTED_WORK = 50, 200, 10**7
# The largest root of many functions varies little: of 400 × 400 levels three permutations give the level to 0.015.
_FEW_FUNCTIONS, _FEWEST_OF_MANY = 40, 3

# Few rows may carry a pair where the product of the largest leverages on both sides is above this: fewer than ten. Two
# numbers without ties are below it from 740 rows on.
LIGHT = 0.01
# A root that is less by so much has a weight of 1/e.
_NEARLY_AS_MUCH = 0.01
# Of functions whose fourth moment is that of a normal variable, this many rows count as one.
_FOURTH_MOMENT = 3.0
# Of so many functions either way which come first is left to chance, and all take seconds to find.
_VERY_MANY = 128
# One-sided 95 %.
_CHANCE, _REACH = 0.05, 1.6449
# A pair that fewer rows carry, which is one or two of them, is told with what it is without them.
FEW_ROWS = 2.5


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


def strengths(debiased: Array, log_pvalues: Array, n: Array | Index, /, *, most: Array | float = 1.0) -> Array:
    """How strong dependences are, 0 at the least: debiased coefficients, or what tests have seen where that is more.

    A test looks at few functions where few are enough and at rougher ones too, a coefficient always at all of its own,
    so that it may show nothing of what the test finds. A p-value stands for the correlation r of two numbers that have
    it, by Fisher's artanh r = z(p/2)/√(n − 3), which is debiased by that of p = 1/2, the median of chance. The test
    pays for all the scales it looked at, and Fisher's r is too small where it is large: what the coefficient sees as
    well it says itself. It is never more than the `most` there may be (`most_of_categories`).
    """
    is_seen = log_pvalues < np.log(0.5)
    error = 1.0 / np.sqrt(np.maximum(n[is_seen] - 3, 1))
    seen, chance = (np.tanh(-ndtri_exp(log_p - np.log(2.0)) * error) for log_p in (log_pvalues[is_seen], np.log(0.5)))
    found = np.where(debiased <= 0.0, 0.0, debiased)
    seen = np.minimum(debias_all(seen, chance**2), np.broadcast_to(most, found.shape)[is_seen])
    found[is_seen] = np.maximum(found[is_seen], seen)
    return found


def most_of_categories(coefficients: Array, debiased: Array, dimensions: NDArray[np.integer[Any]], /) -> Array:
    """What the strength of two categories is at most: their coefficient sees all that the test does.

    The test of many levels (dimensions (pairs, 2)) adds up thousands of cells, of which the coefficient is one
    direction: there the debiased coefficient says how strong that is.
    """
    are_many = dimensions.min(axis=1) > MANY_LEVELS
    return np.where(are_many & (debiased > 0.0), debiased, coefficients)


def null_level(x: Basis, y: Basis, /) -> float:
    """The level of ρ₁² that independent data with these bases show.

    The median of Roy's distribution, unless single rows weigh heavily on both sides: then that fails, and the level
    comes from random pairings of the rows. Where those of a vector were read in batches there are none to pair.
    """
    limit = largest_leverage(x.is_of_number + y.is_of_number, x.n_samples)
    if x.largest_leverage * y.largest_leverage <= limit or not (x.is_kept and y.is_kept):
        return null_median(x.dimension, y.dimension, x.n_samples)
    # Rows are put into an order of their own first, so that the order of the data does not matter.
    return _zero_mean_level(_paired_at_random(x.in_order(), y.in_order()))


def largest_leverage(n_numbers: Index | int, n_samples: Index | int, /) -> Array:
    """Up to which product of the largest leverages theory serves if so many of two variables are numbers."""
    has_limit = np.less(n_numbers, 2) | np.greater_equal(n_samples, _FEWEST_ROWS_OF_NUMBERS)
    return np.where(has_limit, np.take(_LARGEST_LEVERAGES, n_numbers), np.inf)


def _paired_at_random(x: Basis, y: Basis) -> Array:
    """ρ₁² of random pairings of the rows, from permutations that n alone decides.

    Every permutation is used with its inverse, so that the order of x and y does not matter.
    """
    n = x.n_samples
    work, smaller = n * x.dimension * y.dimension, min(x.dimension, y.dimension)
    fewest = _FEWEST_PERMUTATIONS
    if smaller > _FEW_FUNCTIONS:
        fewest = max(_FEWEST_OF_MANY, round(fewest * (_FEW_FUNCTIONS / smaller) ** 2))
    rng = np.random.default_rng(n)
    roots: list[float] = []
    for _ in range(min(_MOST_PERMUTATIONS, max(fewest, _PERMUTED_WORK // work))):
        order = rng.permutation(n)
        crosses = [cross_products(x, y.take(rows)) for rows in (order, np.argsort(order))]
        roots += largest_root(np.array(crosses)).tolist()
    return np.clip(roots, 0.0, 1.0)


def _zero_mean_level(squares: Array) -> float:
    """The level that makes the debiased values of a null sample average to zero; 1 if none does."""

    def mean(level: float) -> float:
        return float(np.mean(debias_all(np.sqrt(squares), np.full(len(squares), level))))

    low, high = float(squares.min()), min(float(squares.max()), 1.0 - 1e-9)
    if low >= high:
        return low
    return 1.0 if mean(high) > 0.0 else root_between(mean, low, high)


def interval(x: Basis, y: Basis, /, *, debiased: float, level: float, n_explained: int) -> tuple[float, float]:
    """Ends of a confidence interval of a coefficient that many rows carry (benchmarks/studies/intervals.py).

    A row moves the correlation ρ of f and g by f·g − ρ(f² + g²)/2, up to 1/n, and the spread of that holds for any
    data; normal ones have 1 − ρ². The larger of the two is taken, over the rows that fitting f and g has left.
    """
    cross = cross_products(x, y)
    left, correlations, right = canonical_directions(cross)
    f, g, correlation = x.along(left[:, 0]), y.along(right[:, 0]), float(correlations[0])
    are_categories = x.order is not None and y.order is not None
    n, tail = x.n_samples, (1.0 - level) / 2.0
    spread = max(float(np.std(f * g - correlation * (f**2 + g**2) / 2)), 1.0 - max(debiased, 0.0) ** 2)
    reach = float(ndtri(1.0 - tail)) * spread / np.sqrt(n - x.dimension - y.dimension) * np.sqrt(n / (n - n_explained))
    low = debiased - reach
    if are_categories and min(x.dimension, y.dimension) > 1:
        # Several roots of two categories may be equal, and the largest of their estimates is too large then. Their mean
        # is not, once what chance adds to it is taken off.
        mean = (float(np.sum(correlations**2)) - x.dimension * y.dimension / (n - 1)) / min(x.dimension, y.dimension)
        low = min(low, np.sqrt(max(mean, 0.0)) - reach)
    if are_categories and min(x.dimension, y.dimension) > MANY_LEVELS:
        log_pvalue = contingency.log_pvalue(cross, (x.dimension, y.dimension), x, y)
    else:
        log_pvalue = float(log_sf(np.array(correlation**2), x.dimension, y.dimension, n - n_explained))
    if log_pvalue > np.log(tail):
        low = 0.0
    # Rows that agree without an exception may come from a population in which some do not.
    low = min(max(low, 0.0), tail ** (1.0 / effective_rows(x, y, cross)))
    # Where dependence is weak debiasing takes off too much, but the coefficient itself is never too small by much.
    return float(low), float(min(1.0, max(debiased + reach, correlation + reach / 2.0)))


def too_few_rows(rows: float, n_samples: int, /) -> bool:
    """Whether so few rows carry a coefficient that nothing is known of how far it may be off.

    Intervals of flags that 10 rows carry cover 0.88 in place of 0.95, from 20 on 0.92 and more; on few rows those of
    functions that all rows carry cover from 10 on.
    """
    return rows < min(max(n_samples / 6.0, 10.0), 20.0)


# What a pair is ranked by (benchmarks/studies/ranking.py compares it with others).


def effective_rows(x: Basis, y: Basis, cross: Array, /) -> float:
    """How many rows carry the coefficient of two bases with these mean products.

    1/Σw² for the shares w of single rows in the variances of f and of g, by their geometric mean: k rows that alone
    differ from all others are k. How many rows every cell has is enough to know it.
    """
    return float(x.n_samples / np.sqrt(np.prod([_mean_square(*side) for side in _weights(x, y, cross)])))


def without_heaviest(x: Basis, y: Basis, n_rows: int, /) -> tuple[Index, float]:
    """The rows that carry most of a coefficient, and its strength on the others."""
    of_rows = [
        cells if side.codes is None else cells[side.codes] for side, cells in _weights(x, y, cross_products(x, y))
    ]
    weights = of_rows[0] + of_rows[1]
    heaviest = np.sort(np.argsort(-weights, kind="stable")[:n_rows])
    is_left = np.ones(len(weights), dtype=bool)
    is_left[heaviest] = False
    return heaviest, _strength_of(restrict(x, is_left), restrict(y, is_left))


def _strength_of(x: Basis, y: Basis) -> float:
    """The debiased coefficient, 0 where nothing is left that varies or as many functions as rows."""
    if 0 in (x.dimension, y.dimension) or x.dimension + y.dimension >= x.n_samples:
        return 0.0
    return max(debias(largest_correlation(cross_products(x, y)), null_level(x, y)), 0.0)


def plain_rows(n_samples: Index, /) -> Array:
    """The same where no row weighs much, which takes no look at the pair: that of normal variables."""
    return n_samples / _FOURTH_MOMENT


def _weights(x: Basis, y: Basis, cross: Array) -> tuple[tuple[Basis, Array], tuple[Basis, Array]]:
    """Of either side what every cell weighs in the coefficient, 1 on average.

    f² and g², and those of functions that correlate nearly as much and would take their place: equal roots leave it to
    rounding which functions come first. Of very many functions all are taken to do so.
    """
    if min(cross.shape) >= _VERY_MANY:
        return (x, np.sum(x.table**2, axis=1) / x.dimension), (y, np.sum(y.table**2, axis=1) / y.dimension)
    left, correlations, right = canonical_directions(cross)
    shares = np.exp((correlations - correlations[0]) / _NEARLY_AS_MUCH)
    shares /= shares.sum()
    n_roots = len(shares)
    return (x, (x.table @ left[:, :n_roots]) ** 2 @ shares), (y, (y.table @ right[:, :n_roots]) ** 2 @ shares)


def _mean_square(basis: Basis, weights: Array) -> float:
    if not basis.is_kept:
        return _FOURTH_MOMENT  # of a vector in batches no row can be looked at
    counts = basis.cell_counts
    return float(np.mean(weights**2) if counts is None else counts @ weights**2 / basis.n_samples)


def lower_end(strength: Array, rows: Array, /) -> Array:
    """What the strength is at least, one-sided at 95 %, where so many rows carry it.

    The lower end for normal data, 1.64·(1 − s²)/√rows below, does not know that rows which agree without an exception
    may still be few: rows of a population in which a share of 0.05^(1/rows) agrees do so too, one time in twenty.
    """
    rows = np.maximum(rows, 1.0)
    below = strength - _REACH * (1.0 - np.maximum(strength, 0.0) ** 2) / np.sqrt(rows)
    return np.where(below > 0.0, below * _CHANCE ** (1.0 / rows), below)
