"""Whether two columns are what a user would call the same one: metres and feet, x and x rounded, codes and names.

How strong a dependence is says nothing of that: x and x² have a coefficient of 1, and neither is the other.
"""

import numpy as np

from renyi.allpairs.column_group import Variable
from renyi.basis.basis import Basis
from renyi.compute.arrays import Array

# Numbers are the same from this size of Spearman's correlation on; levels where the square of it is explained. Read off
# the pairs of 41 real tables (benchmarks/studies/same_columns.py): above lie radius and area of a cell nucleus
# (0.9996), a time and its hour (0.998), length and width of a diamond (0.998); below its weight and its length (0.996),
# a quartile and a median of the same prices (0.9948), pages paged out and pages freed (0.994), and a normal x with
# noise of a tenth of its standard deviation (0.994). Rounding to 13 values of equal share leaves 0.997.
SAME = 0.997
# Ranks of single precision know correlations to this.
_ROUNDING = 1e-6
# Beyond one value there may be a single other one on either side, of whose variance rounding leaves less than this.
_LEAST_DETAIL = 1e-12


def are_same_numbers(x: Variable, y: Variable, spearman: float, /) -> bool:
    """Whether two numbers rise or fall together, also where most rows have one value and ranks see little of the rest.

    Purchases in one row of twenty, all else 0, have |Spearman| = 0.999 with any other column that is 0 in the same
    rows. Hence what is missing to 1 is measured by the part of the ranks' variance that lies beyond such a value.
    """
    missing = 1.0 - abs(spearman)
    if missing <= _ROUNDING:
        return True
    details = [side.detail for side in (x, y) if side.detail > _LEAST_DETAIL]
    return missing <= (1.0 - SAME) * min(details, default=1.0)


def are_same_levels(x: Basis, y: Basis, cross: Array, /) -> bool:
    """Whether levels of a category are those of another one, or the values of a number, on nearly all rows.

    `cross` has the mean products of the two bases. One side must follow from a category on the other, and hold as much
    information: what follows from something and says as much is the same.
    """
    entropies = [_entropy(side) for side in (x, y)]
    if min(entropies) < SAME**2 * max(entropies):
        return False
    if x.is_of_number:
        x, y, cross = y, x, cross.T
    # All functions of a number count alike, levels as many rows as they have (Goodman and Kruskal's tau).
    functions = np.eye(y.dimension) if y.is_of_number else y.loadings
    left = 1.0 - np.sum((cross @ functions) ** 2) / np.sum(functions**2)
    # So many levels explain a part of anything.
    freedom = max(x.n_samples - 1 - x.dimension, 1) / (x.n_samples - 1)
    return bool(left <= (1.0 - SAME**2) * freedom)


def share_a_level(x: Basis, y: Basis, cross: Array, /) -> bool:
    """Whether a level of one category and a level of another one are the same rows, but for a few."""
    shares_x, shares_y = (_shares(side) for side in (x, y))
    # How often two levels meet beyond chance, over what chance would be.
    excess = x.table @ cross @ y.table.T
    odds = [np.sqrt(shares / np.maximum(1.0 - shares, np.finfo(float).tiny)) for shares in (shares_x, shares_y)]
    return bool(np.max(odds[0][:, np.newaxis] * excess * odds[1]) >= SAME)


def _shares(side: Basis) -> Array:
    counts = side.cell_counts
    if counts is None:
        raise ValueError("vectors have no levels")
    return np.asarray(counts / counts.sum())


def _entropy(side: Basis) -> float:
    shares = _shares(side)
    shares = shares[shares > 0.0]
    return float(-np.sum(shares * np.log(shares)))
