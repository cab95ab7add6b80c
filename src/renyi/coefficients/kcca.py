"""Kernel canonical correlation: the largest correlation of smooth functions of both sides, regularised."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist

from renyi.coefficients.base import Measure, Statement
from renyi.compute.arrays import Array, Index, in_parts
from renyi.errors import InputError, brief, is_number, must_be

# Rows from which the width is taken: half a million distances.
_ROWS_FOR_WIDTH = 1000
# What the factor of a kernel and the directions left out of it may change in the operator of a side.
_TOLERANCE = 1e-6
# With less, the residuals of a factor that is good to this tolerance would be rounding.
_LEAST_REGULARISATION = 1e-8
# Columns of a factor: of n rows all r for which n·r² is at most the first, and 500 in any case, unless there are more
# numbers in them than the last, but 50 at least.
_MOST_WORK, _MANY_PIVOTS, _FEWEST_PIVOTS, _MOST_NUMBERS = 2e9, 500, 50, 2**26
# Values are at most 1 when they are divided by the width, and squares of the quotients have to be floats.
_SMALLEST_WIDTH = 1e-150
# Numbers of reordered rows that are held at a time.
_NUMBERS_IN_A_BATCH = 2**23
# Up to so many columns the products of bases are formed, and their singular values taken.
_FEW_COLUMNS = 32
# Of Lanczos' steps: how often the largest value is looked at, the change at which it stands, and a step of nothing.
_STEPS, _STANDS, _NOTHING = 4, 1e-9, 1e-14


@dataclass(frozen=True)
class Kcca(Measure[Array]):
    """Kernel canonical correlation, with Gaussian kernels; a prepared side is its regularised basis (n, r).

    The largest correlation that functions of x and of y can have over the sample, where every function pays for its
    roughness. It lies in [0, 1): above 0 also for independent data, and below 1 by the regularisation.

    Parameters
    ----------
    width : float or None, default None
        Width w of the kernels exp(−‖a − b‖²/(2w²)) of both sides, in the units of the data. None takes, for each side,
        the median of the distances between its rows that are not 0; above 1,000 rows those between 1,000 rows that are
        evenly spaced in the order of the values (of vectors: by the first coordinate, then the second, …), which for
        normal numbers differs by 0.3 %.
    regularisation : float, default 0.002
        ε in the equation below, at least 10⁻⁸; Bach and Jordan's κ is 2ε.

    Notes
    -----
    With K and L the centred kernel matrices, it is the largest singular value of K(K + nεI)⁻¹ L(L + nεI)⁻¹ (Bach and
    Jordan 2002, section 3.2, where it is the first canonical correlation).

    K is replaced by a pivoted incomplete Cholesky factor, which stops when the trace that is left of K is below
    10⁻⁶·ε·n. This changes the operator K(K + nεI)⁻¹ by 10⁻⁶ at most, and directions that it shrinks to less than 10⁻⁶
    are left out: the coefficient is exact to 4·10⁻⁶. For a number some 20 columns do. The factor ends in any case at r
    columns with nr² = 2·10⁹ (from 8,000 rows on at 500, from 134,000 on at 2²⁶/n, but at least 50), so that all data of
    up to 1,259 rows are exact, and larger ones unless they have many coordinates or tails so heavy that hundreds of
    rows lie alone. With 10 normal coordinates the coefficient was then too small by up to 0.0001 at 2,000 rows and
    0.0005 at 3,000, with 20 by 0.0014 at 2,000. Rows are put in the order of their values first, so that theirs does
    not matter.

    The coordinates of a vector should have a common scale, since their distances are taken as they are.

    Of 100 draws of 500 rows, the mean coefficient and the largest (of independent sides) or smallest (of dependent
    ones, whose noise is 0.05·N(0,1)), by ε (`benchmarks/studies/kcca.py`):

    ============================  =============  =============  =============  =============  =============
    sample                        0.02           0.01           0.005          0.002          0.001
    ============================  =============  =============  =============  =============  =============
    independent uniform           0.073 (0.128)  0.087 (0.142)  0.100 (0.157)  0.116 (0.171)  0.126 (0.181)
    independent normal            0.085 (0.134)  0.106 (0.153)  0.125 (0.189)  0.150 (0.245)  0.168 (0.291)
    independent Cauchy            0.099 (0.162)  0.136 (0.205)  0.180 (0.248)  0.268 (0.381)  0.384 (0.507)
    independent in 3 dimensions   0.100 (0.134)  0.138 (0.176)  0.177 (0.218)  0.228 (0.281)  0.268 (0.324)
    linear                        0.863 (0.851)  0.922 (0.913)  0.953 (0.947)  0.973 (0.969)  0.980 (0.977)
    parabola                      0.774 (0.762)  0.867 (0.859)  0.922 (0.916)  0.958 (0.955)  0.972 (0.968)
    sine, one period              0.832 (0.815)  0.898 (0.885)  0.940 (0.931)  0.971 (0.966)  0.983 (0.980)
    sine, two periods             0.427 (0.398)  0.534 (0.507)  0.619 (0.586)  0.698 (0.661)  0.748 (0.712)
    circle                        0.635 (0.607)  0.764 (0.742)  0.846 (0.830)  0.908 (0.895)  0.934 (0.923)
    ============================  =============  =============  =============  =============  =============

    With 0.002 all independent pairs stay below 0.4. What is rougher than a sine of one period needs a smaller width.

    References
    ----------
    F. Bach and M. Jordan 2002, Kernel independent component analysis, https://doi.org/10.1162/153244303768966085

    D. Hardoon, S. Szedmak and J. Shawe-Taylor 2004, Canonical correlation analysis: an overview with application to
    learning methods, https://doi.org/10.1162/0899766042321814

    Examples
    --------
    >>> import numpy as np, renyi
    >>> x = np.linspace(-1, 1, 200)
    >>> round(renyi.measure("kcca")(x, x**2), 2)
    0.97
    """

    name: ClassVar[str] = "kcca"
    statement: ClassVar[Statement] = Statement(
        title="Kernel canonical correlation",
        takes_vectors=True,
        parameters="width of the kernels, regularisation",
        cost="n",
        reference="F. Bach and M. Jordan 2002, https://doi.org/10.1162/153244303768966085",
    )

    width: float | None = None
    regularisation: float = 0.002

    def __post_init__(self) -> None:
        if self.width is not None and not _is_positive(self.width):
            raise must_be("width", "a number above 0 in the units of the data, or None for their median", self.width)
        if not _is_positive(self.regularisation) or self.regularisation < _LEAST_REGULARISATION:
            raise InputError(
                f"regularisation must be at least {_LEAST_REGULARISATION:g}, got {brief(self.regularisation)}: without "
                "it every coefficient is 1; pass 0.002, the default"
            )

    def prepare(self, values: Array, /) -> Array:
        rows = values.reshape(len(values), -1)
        order = np.lexsort(rows.T[::-1])
        # By a power of 2, which is exact, so that neither huge nor tiny numbers have squares out of range.
        exponent = -math.frexp(float(np.abs(rows).max()))[1]
        ordered = np.ldexp(rows[order], exponent)
        width = _median_distance(ordered) if self.width is None else math.ldexp(float(self.width), exponent)
        regular = _regular_basis(ordered / max(width, _SMALLEST_WIDTH), float(self.regularisation))
        basis = np.empty_like(regular)
        basis[order] = regular
        return basis

    def combine(self, x: Array, y: Array, /) -> float:
        if min(x.shape[1], y.shape[1]) > _FEW_COLUMNS:
            return float(self.permuted(x, y, np.arange(len(x))[np.newaxis])[0])
        return float(_largest_singular_values(x.T @ y))

    def reordered(self, side: Array, order: Index, /) -> Array:
        return side[order]

    def permuted(self, x: Array, y: Array, orders: Index, /) -> Array:
        if min(x.shape[1], y.shape[1]) > _FEW_COLUMNS:
            return np.minimum(_largest_by_steps(x, y, orders), 1.0)
        if y.shape[1] > x.shape[1]:
            # The side of fewer columns is the one to move.
            return self.permuted(y, x, np.argsort(orders, axis=1))
        size = max(1, _NUMBERS_IN_A_BATCH // y.size)
        products = [x.T @ y[some] for some in in_parts(orders, size)]
        return _largest_singular_values(np.concatenate(products))

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        # A factor, what it was before its last column, and its product, at a time; a prepared side beside them.
        return 4 * 8 * n * _most_pivots(n)


def _is_positive(value: Any) -> bool:
    return is_number(value) and 0.0 < float(value) < math.inf


def _median_distance(ordered: Array) -> float:
    """The median of the positive distances of rows, or of some that include the first and the last."""
    n = len(ordered)
    if n > _ROWS_FOR_WIDTH:
        ordered = ordered[np.linspace(0, n - 1, _ROWS_FOR_WIDTH).round().astype(np.intp)]
    # In one dimension without squares, of which tiny ones would vanish.
    distances = pdist(ordered, "cityblock" if ordered.shape[1] == 1 else "euclidean")
    positive = distances[distances > 0]
    return float(np.median(positive)) if len(positive) else 0.0


def _regular_basis(points: Array, regularisation: float) -> Array:
    """Q of a side: Q Qᵀ is the square of K(K + nεI)⁻¹, for a Gaussian kernel of width 1."""
    n = len(points)
    factor = _kernel_factor(points, regularisation)
    factor -= factor.mean(axis=1, keepdims=True)
    sizes, directions = np.linalg.eigh(factor @ factor.T)
    sizes = np.maximum(sizes, 0.0)
    # K = F Fᵀ = U S Uᵀ with U = F V S^(−½), of which S/(S + nε) is left: nothing is divided by a small number.
    shrinkage = sizes / (sizes + n * regularisation)
    kept = shrinkage >= min(_TOLERANCE, shrinkage[-1])
    scaled = directions * (np.sqrt(sizes) / (sizes + n * regularisation))
    return np.ascontiguousarray(factor.T @ scaled[:, kept][:, ::-1])


def _kernel_factor(points: Array, regularisation: float) -> Array:
    """Fᵀ (r, n) with K ≈ F Fᵀ by Cholesky's steps, always at the row whose residual is largest."""
    n = len(points)
    enough = _TOLERANCE * regularisation * n
    residual = np.ones(n)
    factor = np.empty((min(32, n), n))
    for j in range(_most_pivots(n)):
        pivot = int(residual.argmax())
        if j and residual.sum() <= enough:
            return factor[:j]
        if j == len(factor):
            factor = np.concatenate((factor, np.empty_like(factor)))
        column = np.exp(-0.5 * np.sum((points - points[pivot]) ** 2, axis=1))
        column -= factor[:j, pivot] @ factor[:j]
        factor[j] = column / math.sqrt(residual[pivot])
        # Rounding must neither make a residual negative nor a pivot come again.
        residual = np.maximum(residual - factor[j] ** 2, 0.0)
        residual[pivot] = 0.0
    return factor[: _most_pivots(n)]


def _most_pivots(n: int) -> int:
    within_memory = max(_FEWEST_PIVOTS, min(_MANY_PIVOTS, _MOST_NUMBERS // n))
    return min(n, max(within_memory, math.isqrt(int(_MOST_WORK // n))))


def _largest_singular_values(products: Array) -> Array:
    """Largest singular value of matrices (..., a, b)."""
    return np.asarray(np.minimum(np.linalg.norm(products, 2, axis=(-2, -1)), 1.0))


def _largest_by_steps(x: Array, y: Array, orders: Index) -> Array:
    """Largest singular values of xᵀ y[order], for every order, by Lanczos' method.

    No product of bases is formed: y[order] v is (y v)[order], so that one step for all orders is four products of
    matrices, however they are ordered. Two dozen steps are enough, since the columns of the bases decay.
    """
    rows = orders.T
    direction = np.random.default_rng(0).standard_normal((y.shape[1], len(orders)))
    direction /= np.linalg.norm(direction, axis=0)
    before = np.zeros_like(direction)
    diagonal: list[Array] = []
    beside: list[Array] = []
    size = largest = np.zeros(len(orders))
    for step in range(1, y.shape[1] + 1):
        there = x @ (x.T @ np.take_along_axis(y @ direction, rows, axis=0))
        back = np.empty_like(there)
        np.put_along_axis(back, rows, there, axis=0)
        image = y.T @ back - size * before
        diagonal.append(np.sum(image * direction, axis=0))
        if step % _STEPS == 0 or step == y.shape[1]:
            found = _largest_of_tridiagonals(np.array(diagonal), np.array(beside))
            if (found - largest <= _STANDS * found).all():
                return np.sqrt(found)
            largest = found
        image -= diagonal[-1] * direction
        size = np.linalg.norm(image, axis=0)
        size = np.where(size > _NOTHING, size, 0.0)
        beside.append(size)
        before, direction = direction, np.asarray(np.divide(image, size, out=np.zeros_like(image), where=size > 0))
    return np.sqrt(largest)


def _largest_of_tridiagonals(diagonal: Array, beside: Array) -> Array:
    """Largest eigenvalues of symmetric matrices, from their diagonals (k, m) and what is beside them (k − 1, m)."""
    steps = np.arange(len(diagonal))
    matrices = np.zeros((diagonal.shape[1], len(steps), len(steps)))
    matrices[:, steps, steps] = diagonal.T
    matrices[:, steps[1:], steps[:-1]] = beside.T
    return np.asarray(np.linalg.eigvalsh(matrices)[:, -1], dtype=np.float64)
