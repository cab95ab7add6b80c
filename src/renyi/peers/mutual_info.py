"""Mutual information by nearest neighbours, as scikit-learn estimates it."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.coefficient import is_integer
from renyi.errors import InputError
from renyi.extras import load
from renyi.peers.protocol import Measure, Statement

__all__ = ["MutualInfo"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]

# Of the tiny noise by which scikit-learn parts equal values.
_SEED = 0


@dataclass(frozen=True)
class MutualInfo(Measure[Array]):
    """Mutual information in nats, by the nearest neighbours of every row; it needs the extra `sklearn`.

    It is 0 where the estimate is not above 0, as for half of all independent pairs, and has no upper end.

    Parameters
    ----------
    n_neighbors : int, default 3
        Neighbours of a row; with more of them the estimate varies less and is more biased.

    Notes
    -----
    The first estimator of Kraskov and others: ψ(n) + ψ(k) − mean ψ(m_x + 1) − mean ψ(m_y + 1), at least 0, where m_x
    and m_y count the rows whose x, or y, is nearer than the k-th neighbour is in both together, by
    `sklearn.feature_selection.mutual_info_regression`. This scales both sides to a variance of 1 and adds noise of
    10⁻¹⁰ so that no values are equal; of numbers far from 0, noise of 10⁻¹⁰ of these. Here values are centred first, so
    that the noise is always small against their spread.

    The formula is symmetric. The noise is not: it differs by side and by row, and decides where values or distances are
    equal (rounded numbers, counts). So that neither the order of rows nor that of sides matters, rows are sorted by x,
    then y, or by y, then x, whichever of the two comes first when compared as bytes in memory. Elsewhere noise decides
    nothing, and the estimate is scikit-learn's for any order.

    The p-value is by shuffles.

    References
    ----------
    A. Kraskov, H. Stögbauer and P. Grassberger 2004, Estimating mutual information,
    https://doi.org/10.1103/PhysRevE.69.066138

    Examples
    --------
    >>> import numpy as np, renyi
    >>> x = np.random.default_rng(0).random(200)
    >>> round(renyi.measure("mutual_info")(x, (x - 0.5) ** 2), 2)
    2.66
    """

    name: ClassVar[str] = "mutual_info"
    statement: ClassVar[Statement] = Statement(
        title="Mutual information",
        is_nonlinear=True,
        takes_vectors=False,
        is_invariant=False,
        range=(0.0, math.inf),
        parameters="number of neighbours",
        cost="n log n",
        law="shuffles",
        reference="A. Kraskov, H. Stögbauer and P. Grassberger 2004, https://doi.org/10.1103/PhysRevE.69.066138",
    )

    n_neighbors: int = 3

    def __post_init__(self) -> None:
        if not is_integer(self.n_neighbors) or self.n_neighbors < 1:
            raise InputError(f"n_neighbors={self.n_neighbors!r} makes no sense: pass a whole number above 0")

    def prepare(self, values: Array, /) -> Array:
        _estimators()
        if len(values) <= self.n_neighbors:
            raise InputError(
                f"there are {len(values)} rows and n_neighbors={self.n_neighbors}, which a row does not have: pass at "
                f"least {self.n_neighbors + 1} rows, or fewer n_neighbors"
            )
        return _centred(values.ravel())

    def combine(self, x: Array, y: Array, /) -> float:
        first, second = min(_sorted_rows(x, y), _sorted_rows(y, x), key=lambda pair: pair.tobytes())
        (found,) = _estimators().mutual_info_regression(
            first[:, np.newaxis], second, discrete_features=False, n_neighbors=self.n_neighbors, random_state=_SEED
        )
        return float(found)

    def reordered(self, side: Array, order: Index, /) -> Array:
        return side[order]


def _estimators() -> Any:
    return load("sklearn.feature_selection", extra="sklearn")


def _sorted_rows(x: Array, y: Array) -> Array:
    """Both sides (2, n), sorted by x, then y."""
    rows = np.lexsort((y, x))
    return np.stack((x[rows], y[rows]))


def _centred(values: Array) -> Array:
    """Values around 0, of size 1: neither huge nor tiny numbers leave the range of floats on the way."""
    near_one = np.ldexp(values, -math.frexp(float(np.abs(values).max()))[1])
    # The median does not depend on the order of rows, as the rounding of a mean does.
    centred = near_one - np.median(near_one)
    # Both zeros are one number in memory.
    return np.asarray(centred / np.abs(centred).max() + 0.0)
