"""Mutual information as scikit-learn estimates it: by nearest neighbours, and by counting where values are labels."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from renyi.coefficients.base import Measure, Statement
from renyi.compute.arrays import Array, Index
from renyi.compute.threads import loops_on_one_core
from renyi.data.column import Column
from renyi.errors import InputError, check_integer, load

# Of the tiny noise by which scikit-learn parts equal values.
_SEED = 0


class Side(NamedTuple):
    """Numbers about 0, or the codes of labels, which have neither order nor distance."""

    values: NDArray[Any]
    are_labels: bool


@dataclass(frozen=True)
class MutualInfo(Measure[Side]):
    """Mutual information in nats, by the nearest neighbours of every row; it needs the extra `sklearn`.

    It is 0 where the estimate is not above 0, as for half of all independent pairs, and has no upper end. Categories of
    any number of levels, booleans, and numbers of two values are labels, of which rows are counted.

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

    Labels and numbers: ψ(n) + mean ψ(k_i) − mean ψ(n_i) − mean ψ(m_i + 1), n_i the rows of the same label, k_i the
    smaller of k and n_i − 1, and m_i the rows that are nearer than the k_i-th neighbour of the same label; rows whose
    label occurs once are left out (Ross 2014, `sklearn.feature_selection.mutual_info_classif`). Labels and labels: the
    information of the table of counts.

    The formula is symmetric. The noise is not: it differs by side and by row, and decides where values or distances are
    equal (rounded numbers, counts). So that neither the order of rows nor that of sides matters, rows are sorted by x,
    then y, or by y, then x, whichever of the two comes first when compared as bytes in memory. Elsewhere noise decides
    nothing, and the estimate is scikit-learn's for any order.

    The p-value is by permutation.

    References
    ----------
    A. Kraskov, H. Stögbauer and P. Grassberger 2004, Estimating mutual information,
    https://doi.org/10.1103/PhysRevE.69.066138
    B. C. Ross 2014, Mutual information between discrete and continuous data sets,
    https://doi.org/10.1371/journal.pone.0087357

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
        range=(0.0, math.inf),
        parameters="number of neighbours",
        cost="n log n",
        reference="A. Kraskov, H. Stögbauer and P. Grassberger 2004, https://doi.org/10.1103/PhysRevE.69.066138",
    )

    n_neighbors: int = 3

    def __post_init__(self) -> None:
        check_integer(self.n_neighbors, "n_neighbors")

    def refusal(self, column: Column, /) -> str:
        """Why this measure cannot take a column; categories may have any number of levels."""
        return "" if column.is_category else super().refusal(column)

    def numbers_of(self, column: Column, /) -> Array:
        """A complete column; codes of a category stay whole numbers, which says that they are labels."""
        return cast(Array, column.values) if column.is_category else super().numbers_of(column)

    def prepare(self, values: Array, /) -> Side:
        _estimators()
        labels = np.unique(values.ravel(), return_inverse=True)[1].ravel()
        if values.dtype.kind != "f" or labels.max() == 1:
            return Side(labels, are_labels=True)
        if len(values) <= self.n_neighbors:
            raise InputError(
                f"there are {len(values)} rows and n_neighbors={self.n_neighbors}, which a row does not have: pass at "
                f"least {self.n_neighbors + 1} rows, or fewer n_neighbors"
            )
        return Side(_centred(values.ravel()), are_labels=False)

    def combine(self, x: Side, y: Side, /) -> float:
        if x.are_labels and y.are_labels:
            return max(float(load("sklearn.metrics", extra="sklearn").mutual_info_score(x.values, y.values)), 0.0)
        if x.are_labels or y.are_labels:
            return self._of_labels(*((y.values, x.values) if x.are_labels else (x.values, y.values)))
        pairs = _sorted_rows(x.values, y.values), _sorted_rows(y.values, x.values)
        first, second = min(pairs, key=lambda pair: pair.tobytes())
        (found,) = _estimators().mutual_info_regression(
            first[:, np.newaxis], second, discrete_features=False, n_neighbors=self.n_neighbors, random_state=_SEED
        )
        return float(found)

    def reordered(self, side: Side, order: Index, /) -> Side:
        return side._replace(values=side.values[order])

    def permuted(self, x: Side, y: Side, orders: Index, /) -> Array:
        # 999 permutations of 6 rows, whose neighbours scikit-learn looks up in parallel: 1 s, and 3.6 s on two cores.
        with loops_on_one_core():
            return super().permuted(x, y, orders)

    def _of_labels(self, numbers: Array, labels: Index) -> float:
        """Of numbers with labels."""
        if np.bincount(labels).max() < 2:
            raise InputError(
                "no two rows have the same label, so that no label has neighbours: pass labels that occur more often"
            )
        rows = np.lexsort((labels, numbers))
        (found,) = _estimators().mutual_info_classif(
            numbers[rows, np.newaxis],
            labels[rows],
            discrete_features=False,
            n_neighbors=self.n_neighbors,
            random_state=_SEED,
        )
        return float(found)


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
