"""The null distribution of the largest canonical correlation of independent data: Roy's largest root."""

from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc

from renyi.compute import kernels
from renyi.compute.arrays import (
    Array,
    Counts,
    Lookup,
    as_floats,
    as_places,
    at_least,
    by_value,
    in_memory,
    like,
    namespace,
)
from renyi.compute.roots import root_between
from renyi.compute.splines import spline
from renyi.errors import InputError
from renyi.inference.double_wishart import LARGEST_BELOW_ONE, DoubleWishart, LargestRoot, log_beta, log_tail

# The table of the null distribution takes 0.6 s at this smaller dimension, and the cube of it beyond.
LARGEST_DIMENSION = 200
# Medians are exact up to this dimension, and beyond it close to saturation, where the Tracy-Widom limit fails.
_LARGEST_EXACT_MEDIAN = 40
_SATURATION = 0.9
_TRACY_WIDOM_MEDIAN = -1.2685
# Close to underflow SciPy's incomplete beta function leaves off and the logarithm is integrated directly.
_SMALLEST_P = 1e-290
_LOWEST_LOGIT, _HIGHEST_LOGIT = -90.0, 36.7
# The closed forms take 1 to 4 µs a root, which a table of them pays for from so many roots on.
MANY_ROOTS = 4096
_KNOTS, _LARGEST_KNOT, _LARGEST_INTERPOLATED = 2048, 1.0 - 1e-9, 20
# One function against an even number b has a sum of b/2 terms, which for n up to 10⁸ are all below 10³⁰⁰.
_LARGEST_SUM = 64
# Closed forms are taken at so many nodes on each of the parts that these shares of a table begin, and not at its knots.
_NODES, _PARTS = 65, (0.0, 0.25, 0.5, 1.0)
# Numbers of rows that have a table of their own: all below, and from there on by this step of log(n − 26), so that
# tables lie closer where there are few rows and null distributions change faster: between them logarithms of p are off
# by 2·10⁻⁷ at most, from 64 rows on.
_FEW_ROWS, _NODE_STEP, _NODE_START = 64, 0.05, 26


def log_sf(roots: ArrayLike, dimension_x: int, dimension_y: int, n_samples: int, /) -> Array:
    """Log P(ρ₁² > root) for independent data: the natural logarithm of Roy's p-value.

    It is 0 at a root of 0 and falls from there on. A root of 1 counts as the largest number below 1, from which it may
    have been rounded up, so that no p-value is 0.

    Parameters
    ----------
    roots
        Squared canonical correlations, of any shape.
    dimension_x, dimension_y
        Dimensions of the two whitened bases.
    n_samples
        Number of rows; centring takes one degree of freedom.

    Returns
    -------
    numpy.ndarray
        The logarithms, in the shape of `roots`.

    Raises
    ------
    InputError
        If the dimensions leave no freedom in the rows, or if both are above 200.

    Notes
    -----
    For s, the smaller dimension, of 1 it is a beta distribution, for 2 a closed form in two of them. From 3 on it is
    tabulated: Pfaffians where p > e⁻¹⁷, the expected Euler characteristic below. The first root for given dimensions
    and n takes 1 ms for s = 4, 3 ms for s = 20 and 10 ms for s = 40, any other one 20 µs, or 0.1 µs in an array. The
    relative error of p is below 2e-9 wherever p > e⁻¹⁰⁰⁰⁰, for n up to 10⁸ and a larger dimension up to 10⁵; dimensions
    in the millions leave 1e-6.

    References
    ----------
    Chiani, M. (2016). Distribution of the largest root of a matrix for Roy's test in multivariate analysis of variance.
    Journal of Multivariate Analysis 143. https://doi.org/10.1016/j.jmva.2015.10.007
    Aomoto, K. (1987). Jacobi polynomials associated with Selberg integrals. SIAM Journal on Mathematical Analysis 18.
    https://doi.org/10.1137/0518042

    Examples
    --------
    >>> log_sf([0.0, 0.1, 0.9], 4, 4, 100).round(3)
    array([  0.   ,  -0.78 , -95.997])
    """
    a, b = _checked_dimensions(dimension_x, dimension_y, n_samples)
    values = np.asarray(roots, dtype=np.float64)
    clipped = np.maximum(np.minimum(values.ravel(), LARGEST_BELOW_ONE), 0.0)
    log_p = _tabulated(a, b, n_samples).log_sf(clipped) if a > 2 else _closed_form(clipped, a, b, n_samples)
    return log_p.reshape(values.shape)


def log_sf_of_many(roots: Array, dimension_x: int, dimension_y: int, n_samples: int | Counts, /) -> Array:
    """`log_sf` of very many roots (m,) up to 1 − 10⁻⁹, read from tables, which moves p by 1e-8 at most.

    Each root may have its own number of rows: tables stand for some numbers of rows, and those between are interpolated
    from the four nearest. Worth it from `MANY_ROOTS` roots on.
    """
    if isinstance(n_samples, int):
        smallest = largest = n_samples
    else:
        smallest, largest = int(n_samples.min()), int(n_samples.max())
    a, b = _checked_dimensions(dimension_x, dimension_y, smallest)
    if _is_sum(a, b):
        return _log_sf_of_even(roots, b, n_samples if isinstance(n_samples, int) else as_floats(n_samples))
    if b > _LARGEST_INTERPOLATED:
        here = in_memory(roots)
        lengths = np.broadcast_to(in_memory(n_samples), here.shape)
        found: Array = like(log_sf_by_rows(here.ravel(), a, b, lengths.ravel()).reshape(here.shape), roots)
        return found
    if smallest == largest or isinstance(n_samples, int):
        return _interpolated(a, b, smallest)(roots)
    return _at_many_lengths(roots, a, b, n_samples)


def log_sf_by_rows(roots: Array, dimension_x: int, dimension_y: int, n_samples: Counts, /) -> Array:
    """`log_sf` where each root has its own number of rows; closed forms take them all at once."""
    a, b = _checked_dimensions(dimension_x, dimension_y, int(n_samples.min(initial=2**62)))
    log_p: Array = np.empty(len(roots))
    if len(roots) == 0:
        return log_p
    if _is_sum(a, b):
        return _log_sf_of_even(np.clip(roots, 0.0, LARGEST_BELOW_ONE), b, n_samples)
    if a > 2:
        for rows, n in by_value(n_samples):
            log_p[rows] = log_sf(roots[rows], a, b, n)
        return log_p
    return _closed_form(np.clip(roots, 0.0, LARGEST_BELOW_ONE), a, b, n_samples)


def root_of_many(log_p: Array, dimension_x: int, dimension_y: int, n_samples: int, /) -> Array:
    """Roots of which `log_sf_of_many` is about this, 0 where all are smaller; nothing is known of large dimensions."""
    a, b = _checked_dimensions(dimension_x, dimension_y, n_samples)
    return _interpolated(a, b, n_samples).root_at(log_p) if b <= _LARGEST_INTERPOLATED else np.zeros_like(log_p)


def are_many(n_roots: int, /) -> bool:
    """Whether tables of the null distribution pay for so many roots."""
    return n_roots >= MANY_ROOTS


def _nodes_at(n: Counts) -> Counts:
    """The place of the node at or below each number of rows; few rows have nodes of their own."""
    xp = namespace(n)
    share = (at_least(as_floats(n), _FEW_ROWS) - _NODE_START) / (_FEW_ROWS - _NODE_START)
    beyond = as_places(xp.log(share) / _NODE_STEP)
    found: Counts = xp.where(n < _FEW_ROWS, n, _FEW_ROWS + beyond)
    return found


def _node(place: int) -> int:
    if place < _FEW_ROWS:
        return place
    return int(np.rint(_NODE_START + (_FEW_ROWS - _NODE_START) * np.exp(_NODE_STEP * (place - _FEW_ROWS))))


def _at_many_lengths(roots: Array, a: int, b: int, n: Counts) -> Array:
    """`log_sf` at numbers of rows of each root: its own table, or the cubic in log n through the four around it."""
    xp, places, lengths = namespace(roots), _nodes_at(n), as_floats(n)
    distinct = xp.unique(places).tolist()
    around = (place + k for place in distinct for k in ((0,) if place < _FEW_ROWS else (-1, 0, 1, 2)))
    tables = _tables(a, b, tuple(sorted(set(around))))
    odds = roots / (1.0 - roots)
    variable = xp.arcsinh(xp.sqrt(lengths * odds))
    if distinct[-1] < _FEW_ROWS:
        total = tables.at(places, variable)
    elif distinct[0] >= _FEW_ROWS:
        total = tables.between(places, variable, xp.log(lengths))
    else:
        total, few = xp.empty_like(variable), places < _FEW_ROWS
        total[few] = tables.at(places[few], variable[few])
        total[~few] = tables.between(places[~few], variable[~few], xp.log(lengths[~few]))
    found: Array = xp.clip(total - (lengths - (a + b)) / 2 * xp.log1p(odds), None, 0.0)
    return found


@lru_cache(maxsize=4096)
def critical_root(level: float, dimension_x: int, dimension_y: int, n_samples: int, /) -> float:
    """The root that the largest squared canonical correlation of independent data exceeds with probability `level`.

    It is 1 where float64 has no number close enough to 1: almost as many dimensions as rows, and a small level.
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"a level of {level} is not a probability between 0 and 1: pass 0.05, say")
    log_level = float(np.log(level))

    def excess(logit: float) -> float:
        return float(log_sf(_expit(logit), dimension_x, dimension_y, n_samples)) - log_level

    if excess(_HIGHEST_LOGIT) > 0.0:
        return 1.0
    return _expit(root_between(excess, _LOWEST_LOGIT, _HIGHEST_LOGIT))


def null_median(dimension_x: int, dimension_y: int, n_samples: int, /) -> float:
    """Median of the largest squared canonical correlation of independent data (Roy's largest root)."""
    a, b = sorted((dimension_x, dimension_y))
    is_saturated = a + b > _SATURATION * n_samples
    if a > _LARGEST_EXACT_MEDIAN and not is_saturated:
        return _tracy_widom_median(a, b, n_samples)
    return critical_root(0.5, a, b, n_samples)


def _checked_dimensions(dimension_x: int, dimension_y: int, n_samples: int) -> tuple[int, int]:
    """The smaller and the larger dimension, if there is a null distribution for them."""
    a, b = sorted((dimension_x, dimension_y))
    if a + b >= n_samples:
        raise InputError(
            f"dimensions {a} and {b} leave no freedom in {n_samples:,} rows: pass more rows, or a smaller k"
        )
    if a > LARGEST_DIMENSION:
        raise InputError(
            f"dimensions {a} and {b} are too large for the null distribution of the largest correlation, which takes a "
            f"smaller dimension up to {LARGEST_DIMENSION}: pass a smaller k"
        )
    return a, b


def _closed_form(roots: Array, a: int, b: int, n_samples: int | Counts) -> Array:
    return _log_sf_of_one(roots, b, n_samples) if a == 1 else _log_sf_of_two(roots, b, n_samples)


def _is_sum(a: int, b: int) -> bool:
    """Whether the null distribution is a finite sum."""
    return a == 1 and b % 2 == 0 and b <= _LARGEST_SUM


def _log_sf_of_even(roots: Array, b: int, n_samples: int | Counts) -> Array:
    """A beta distribution with b/2 whole: (1−r)^q Σ (q)_k/k! r^k over k below b/2, a sum of positive terms."""
    xp, q = namespace(roots), (n_samples - 1 - b) / 2
    total = xp.ones_like(roots)
    for k in range(b // 2 - 1, 0, -1):
        total *= roots * ((q + (k - 1)) / k)
        total += 1.0
    found: Array = xp.clip(q * xp.log1p(-roots) + xp.log(total), None, 0.0)
    return found


def _log_sf_of_one(roots: Array, b: int, n_samples: int | Counts) -> Array:
    """A beta distribution."""
    p = betaincc(b / 2, (n_samples - 1 - b) / 2, roots)
    is_far = p < _SMALLEST_P
    if not is_far.any():
        return np.asarray(np.log(p))
    log_p = np.log(np.where(is_far, 1.0, p))
    of_far = np.broadcast_to(n_samples, roots.shape)[is_far]
    tails = np.empty(len(of_far))
    for rows, n in by_value(of_far):
        tails[rows] = log_tail(roots[is_far][rows], DoubleWishart(1, b, n))
    log_p[is_far] = tails
    return log_p


def _log_sf_of_two(roots: Array, b: int, n_samples: int | Counts) -> Array:
    """With p = α + 1, q = β + 1 and I the regularised incomplete beta function, the sum of two positive terms.

    P(θ₁ > x) = 1 − I_x(2p, 2q) + B(p, q)/(2 B(2p, 2q)) x^p (1−x)^q I_x(p, q), from the joint density by parts. The
    first term is negligible long before it underflows, since it falls like the square of the second.
    """
    p, q = (b - 1) / 2, (n_samples - b - 2) / 2
    distinct, which = np.unique(q, return_inverse=True)
    ratios = [log_beta(p, own) - log_beta(2 * p, 2 * own) - np.log(2.0) for own in distinct.tolist()]
    log_ratio = np.array(ratios)[which]
    with np.errstate(divide="ignore"):
        first = np.log(betaincc(2 * p, 2 * q, roots))
        second = log_ratio + p * np.log(roots) + q * np.log1p(-roots) + np.log(betainc(p, q, roots))
    return np.asarray(np.minimum(np.logaddexp(first, second), 0.0))


@lru_cache(maxsize=4096)
def _tabulated(a: int, b: int, n_samples: int) -> LargestRoot:
    return LargestRoot(DoubleWishart(a, b, n_samples))


def _is_smooth(a: int, b: int, n: int) -> bool:
    """Whether a closed form at few nodes says what it is at all knots of a table.

    Null distributions of many functions rise too steeply, and with more rows rounding at one end would spoil the other.
    """
    return (a <= 2 and b <= 6 and n <= 4096) or (a == 1 and b <= 20 and n <= 512)


class _Interpolated:
    """The null distribution on equal steps of asinh(√(n·r/(1−r))), without the power of 1 − r with which it ends."""

    def __init__(self, a: int, b: int, n_samples: int, /) -> None:
        self._n, self._power = n_samples, (n_samples - a - b) / 2
        end = float(self._variable(np.array(_LARGEST_KNOT / (1.0 - _LARGEST_KNOT))))

        def without_power(variable: Array) -> Array:
            odds = np.sinh(variable) ** 2 / n_samples
            roots = np.minimum(odds / (1.0 + odds), LARGEST_BELOW_ONE)
            log_p = _log_sf_of_even(roots, b, n_samples) if _is_sum(a, b) else log_sf(roots, a, b, n_samples)
            return log_p - self._power * np.log1p(-roots)

        shares = np.linspace(0.0, 1.0, _KNOTS)
        if _is_smooth(a, b, n_samples) and not _is_sum(a, b):
            nodes, at_knots = _node_shares()
            values = without_power(nodes.ravel() * end).reshape(nodes.shape)
            smooth = np.concatenate([part @ own for part, own in zip(at_knots, values, strict=True)])
            smooth[0] = 0.0
        else:
            smooth = without_power(shares * end)
        self._end, self._smooth = end, smooth
        self.steps_per_unit = (_KNOTS - 1) / end
        self.coefficients = spline(smooth, self.steps_per_unit)
        self._coefficients = Lookup(self.coefficients)

    def __call__(self, roots: Array, /) -> Array:
        odds = roots / (1.0 - roots)
        xp = namespace(odds)
        found: Array = xp.clip(self.at(self._variable(odds)) - self._power * xp.log1p(odds), None, 0.0)
        return found

    def root_at(self, log_p: Array, /) -> Array:
        """Where the null distribution has this value, between two knots that do."""
        own, odds = self._at_knots
        # From the smallest on; 0 where it is not below 0.
        odds = np.where(log_p < 0.0, np.interp(log_p, own[::-1], odds[::-1]), 0.0)
        return np.asarray(odds / (1.0 + odds))

    @cached_property
    def _at_knots(self) -> tuple[Array, Array]:
        """The null distribution and the odds of the roots at all knots."""
        odds = np.sinh(np.linspace(0.0, self._end, _KNOTS)) ** 2 / self._n
        return self._smooth - self._power * np.log1p(odds), odds

    def at(self, variable: Array, /) -> Array:
        """What is tabulated, the null distribution without its last power."""
        return _cubic(self._coefficients, variable, self.steps_per_unit)

    def _variable(self, odds: Array) -> Array:
        xp = namespace(odds)
        found: Array = xp.arcsinh(xp.sqrt(self._n * odds))
        return found


@cache
def _node_shares() -> tuple[Array, list[Array]]:
    """Shares of a table at which closed forms are taken (parts, nodes), and what makes values at its knots of these."""
    from numpy.polynomial import chebyshev

    places, shares = chebyshev.chebpts1(_NODES), np.linspace(0.0, 1.0, _KNOTS)
    series = 2.0 / _NODES * chebyshev.chebvander(places, _NODES - 1).T
    series[0] /= 2.0
    nodes, at_knots = [], []
    for k, (start, stop) in enumerate(pairwise(_PARTS)):
        nodes.append(start + (places + 1.0) / 2.0 * (stop - start))
        own = shares[(shares >= start if k == 0 else shares > start) & (shares <= stop)]
        at_knots.append(chebyshev.chebvander(2.0 * (own - start) / (stop - start) - 1.0, _NODES - 1) @ series)
    return np.stack(nodes), at_knots


@lru_cache(maxsize=4096)
def _interpolated(a: int, b: int, n_samples: int) -> _Interpolated:
    return _Interpolated(a, b, n_samples)


def _cubic(coefficients: Lookup, variable: Array, steps_per_unit: Array | float, start: Counts | int = 0) -> Array:
    """A spline at values of its variable, whose steps begin at this row of the coefficients."""
    position = variable * steps_per_unit
    step = namespace(position).clip(as_places(position), None, _KNOTS - 2)
    beyond = (position - step) / steps_per_unit
    cubic, square, slope, value = coefficients.at(start + step)
    found: Array = ((cubic * beyond + square) * beyond + slope) * beyond + value
    return found


class _Tables:
    """Null distributions at several numbers of rows, by their places among the nodes, one below the other."""

    def __init__(self, a: int, b: int, places: tuple[int, ...], /) -> None:
        tables = [_interpolated(a, b, _node(place)) for place in places]
        self._coefficients = Lookup(np.concatenate([table.coefficients for table in tables]))
        # Of every place, as far as it has a table: steps, log n, and which table it is.
        known = np.zeros((places[-1] + 1, 3))
        known[list(places)] = [
            (table.steps_per_unit, np.log(_node(place)), k)
            for k, (place, table) in enumerate(zip(places, tables, strict=True))
        ]
        self._known = Lookup(known)

    def at(self, places: Counts, variable: Array, /) -> Array:
        """At nodes."""
        steps, _, table = self._known.at(places)
        return _cubic(self._coefficients, variable, steps, as_places(table) * (_KNOTS - 1))

    def between(self, places: Counts, variable: Array, log_n: Array, /) -> Array:
        """Between a node and the next, by the cubic in log n through these and their neighbours."""
        tables = (part.table(variable) for part in (self._known, self._coefficients))
        by_kernel = kernels.between(variable, log_n, places, *tables, steps=_KNOTS - 1)
        if by_kernel is not None:
            return cast(Array, by_kernel)
        nodes = [self._known.at(places + k) for k in (-1, 0, 1, 2)]
        total: Array = namespace(variable).zeros_like(variable)
        for k, (steps, own, table) in enumerate(nodes):
            weight = 1.0
            for other in (at for i, (_, at, _) in enumerate(nodes) if i != k):
                weight = weight * ((log_n - other) / (own - other))
            total += weight * _cubic(self._coefficients, variable, steps, as_places(table) * (_KNOTS - 1))
        return total


# A set of tables of 30 numbers of rows takes 2 MB.
@lru_cache(maxsize=64)
def _tables(a: int, b: int, places: tuple[int, ...]) -> _Tables:
    return _Tables(a, b, places)


def _expit(logit: float) -> float:
    return float(1.0 / (1.0 + np.exp(-logit)))


def _tracy_widom_median(a: int, b: int, n_samples: int) -> float:
    """Johnstone's approximation (2008) to the median of the largest root, on the logit scale."""
    freedom = n_samples - 2
    gamma = 2 * np.arcsin(np.sqrt((a - 0.5) / freedom))
    phi = 2 * np.arcsin(np.sqrt((b - 0.5) / freedom))
    centre = 2 * np.log(np.tan((phi + gamma) / 2))
    spread = (16 / freedom**2 / (np.sin(phi + gamma) ** 2 * np.sin(phi) * np.sin(gamma))) ** (1 / 3)
    return _expit(centre + _TRACY_WIDOM_MEDIAN * spread)
