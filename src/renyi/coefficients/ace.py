"""Alternating conditional expectations: how well one variable explains another, both transformed to that end."""

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from renyi.coefficients.base import Measure, Statement
from renyi.coefficients.supersmoother import Scratch, Smoother, smoother
from renyi.compute.arrays import Array, Index, Mask, in_parts
from renyi.compute.sorting import inverse
from renyi.errors import ConvergenceWarning, check_flag, check_integer, is_number, must_be

# Iteration ends when R² has moved by no more than the tolerance over as many iterations.
_STILL = 3
# Of moves smaller than rounding there may be no end: as many take 2.3 s for the permutations of 60 rows.
_MOST_ITERATIONS = 1000
_FLAT = 1e-10
# Values of permutations that are smoothed together: they stay in the cache.
_BATCH_VALUES = 2**15


@dataclass(frozen=True, eq=False)
class Side:
    """A column sorted: its smoother, its standardised values, and where every row went."""

    smoother: Smoother
    values: Array
    order: Index
    places: Index


@dataclass(frozen=True)
class Ace(Measure[Side]):
    """The square root of the share of y's transformation that x's transformation explains.

    Both transformations are smooths, and each is fitted in turn until that share, R², stands still. The value is 0
    where nothing is found and 1 for a noiseless relation. Sides may not change places: y is the response, from whose
    values the iteration starts.

    Parameters
    ----------
    tolerance : float, default 0.01
        Iteration ends when R² has moved by no more than this over three iterations.
    max_iterations : int, default 20
        Iterations at most, up to 1,000; `renyi.ConvergenceWarning` tells when they were not enough.
    bass : float, default 5
        From 0 (every place has the width of window that predicts best) to 10 (the smoothest).
    symmetric : bool, default False
        Whether to take the larger of both directions.

    Notes
    -----
    The same numbers as `ace` of R's acepack, where no values are tied. Where they are, acepack's value depends on the
    order in which its sorting leaves them, in the third digit; this one is about the mean of those, in any order of
    rows the same.

    References
    ----------
    L. Breiman and J. H. Friedman 1985, "Estimating optimal transformations for multiple regression and correlation",
    https://doi.org/10.1080/01621459.1985.10478157

    Examples
    --------
    >>> import numpy as np, renyi
    >>> x = np.linspace(-1, 1, 200)
    >>> ace = renyi.measure("ace")
    >>> round(ace(x, np.cos(3 * x)), 3)
    1.0
    """

    tolerance: float = 0.01
    max_iterations: int = 20
    bass: float = 5.0
    symmetric: bool = False

    name: ClassVar[str] = "ace"
    statement: ClassVar[Statement] = Statement(
        title="maximal correlation by alternating conditional expectations",
        parameters="tolerance",
        cost="n log n",
        reference="L. Breiman and J. H. Friedman 1985, https://doi.org/10.1080/01621459.1985.10478157",
        is_symmetric=False,
    )

    def __post_init__(self) -> None:
        if not is_number(self.tolerance) or not 0 < self.tolerance < np.inf:
            raise must_be("tolerance", "a number above 0, such as 0.01", self.tolerance)
        check_integer(self.max_iterations, "max_iterations", 1, _MOST_ITERATIONS)
        if not is_number(self.bass) or not 0 <= self.bass <= 10:
            raise must_be("bass", "a number from 0 to 10", self.bass)
        check_flag(self.symmetric, "symmetric")

    def prepare(self, values: Array, /) -> Side:
        values = values.ravel()
        order = np.argsort(values, kind="stable")
        ordered = _scaled(values[order])
        centred = ordered - ordered.mean()
        return Side(smoother(ordered), centred / np.sqrt(np.mean(centred**2)), order, inverse(order))

    def combine(self, x: Side, y: Side, /) -> float:
        squared, is_still = self._squares(x, y, y.places[x.order][None])
        if not is_still[0]:
            warnings.warn(
                f"ace has not settled after {self.max_iterations} iterations: R² still moves by more than "
                f"{self.tolerance:g}; raise max_iterations or the tolerance",
                ConvergenceWarning,
                stacklevel=3,
            )
        return float(np.sqrt(squared[0]))

    def reordered(self, side: Side, order: Index, /) -> Side:
        places = side.places[order]
        return replace(side, order=inverse(places), places=places)

    def permuted(self, x: Side, y: Side, orders: Index, /) -> Array:
        step = max(1, _BATCH_VALUES // len(x.order))
        # `take` leaves every permutation in one piece, to be summed as alone; an index would not.
        batches = (np.take(some, x.order, axis=1) for some in in_parts(orders, step))
        found = [self._squares(x, y, y.places[batch])[0] for batch in batches]
        return np.asarray(np.sqrt(np.concatenate(found)))

    def undirected(self) -> "Ace":
        return replace(self, symmetric=True)

    def _squares(self, x: Side, y: Side, places: Index) -> tuple[Array, Mask]:
        """R² of pairs, the sorted y of each in its own `places` (m, n) by sorted x; and whether it stood still."""
        places = _ties_in_order(x, y, places)
        squared, is_still = self._alternated(x, y, places)
        if self.symmetric:
            swapped, is_swapped_still = self._alternated(y, x, inverse(places))
            squared, is_still = np.maximum(squared, swapped), is_still & is_swapped_still
        return np.clip(squared, 0.0, 1.0), is_still

    def _alternated(self, x: Side, y: Side, places: Index) -> tuple[Array, Mask]:
        """Smooth the response over x and the fit over y, in turn; rows leave as they come to stand."""
        m, n = places.shape
        squared, is_still = np.zeros(m), np.zeros(m, dtype=np.bool_)
        response = y.values[places]
        # Where no smooth explains anything, the line does.
        fit = x.values * _mean(response * x.values)[:, None]
        explained = np.empty_like(fit)
        rows, share, past = np.arange(m), np.zeros(m), np.full((_STILL, m), np.inf)
        to_x, to_y = _flat(places), _flat(inverse(places))
        scratch = whole = Scratch(m, n)
        for iteration in range(self.max_iterations):
            smooth = _centred(x.smoother(response, scratch, bass=self.bass))
            raised = _share(response, smooth, scratch) > share
            fit[raised] = smooth[raised]
            np.take(fit, to_y, out=explained, mode="clip")
            size = _size(explained, scratch)
            smooth = _centred(y.smoother(explained, scratch, bass=self.bass))
            is_flat = _standardise(smooth, _FLAT * size, scratch)
            share = np.where(is_flat, 0.0, _share(smooth, explained, scratch))
            past[iteration % _STILL] = share
            # A smooth that explains no more is refused, and everything stays as it is.
            ends = is_flat | (~raised & (iteration > 0)) | (np.ptp(past, axis=0) <= self.tolerance)
            squared[rows], is_still[rows] = share, ends
            if ends.all():
                break
            np.take(smooth, to_x, out=response, mode="clip")
            if ends.any():
                stays = ~ends
                rows, share, past, places = rows[stays], share[stays], past[:, stays], places[stays]
                response, fit, explained = response[stays], fit[stays], explained[stays]
                to_x, to_y = _flat(places), _flat(inverse(places))
                scratch = whole.first(len(rows))
        return squared, is_still


def _scaled(values: Array) -> Array:
    """Sorted values about their median, the furthest of size about 1."""
    # By powers of 2, which round nothing; twice, for values far from 0 that differ little.
    for _ in range(2):
        largest = max(abs(values[0]), abs(values[-1]))
        values = np.ldexp(values, -1 - np.frexp(largest)[1])
        values -= 0.5 * (values[(len(values) - 1) // 2] + values[len(values) // 2])
    return values


def _ties_in_order(x: Side, y: Side, places: Index) -> Index:
    """The same pairs, ties of each side in the order of the other; rows that are equal in both are alike.

    Means of ties do not depend on their order but by rounding, which may decide between spans that predict as well.
    """
    if x.smoother.ties is not None:
        places = np.argsort(x.smoother.ties[inverse(places)], axis=1, kind="stable")
    if y.smoother.ties is not None:
        places = inverse(np.argsort(y.smoother.ties[places], axis=1, kind="stable"))
    return places


def _flat(places: Index) -> Index:
    """Places within rows as places in the whole."""
    m, n = places.shape
    return np.asarray(places + n * np.arange(m)[:, None])


def _centred(rows: Array) -> Array:
    rows -= _mean(rows)[:, None]
    return rows


def _mean(rows: Array) -> Array:
    """Means of rows, each as alone to the last bit; products of matrices and `einsum` would round by their number."""
    return np.asarray(rows.mean(axis=1))


def _size(rows: Array, scratch: Scratch) -> Array:
    """Root mean squares."""
    return np.sqrt(_mean(np.multiply(rows, rows, out=scratch.spans)))


def _standardise(rows: Array, least: Array, scratch: Scratch) -> Mask:
    """Divide centred rows by their sizes, but for those no larger than `least`, which are told."""
    size = _size(rows, scratch)
    is_flat = size <= least
    rows /= np.where(is_flat, 1.0, size)[:, None]
    return is_flat


def _share(response: Array, fit: Array, scratch: Scratch) -> Array:
    """The share of a response of variance 1 that a fit explains."""
    left = np.subtract(response, fit, out=scratch.spans)
    return 1.0 - _mean(np.multiply(left, left, out=left))
