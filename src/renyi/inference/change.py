"""Whether the dependence of two columns is the same in two tables, from sums over rows.

Each table has ranks of its own, so that only the copula counts. With f and g functions of the ranks of either column,
C = cov(f, g) is an estimate whose error is the mean of the influences of single rows: f·g less its mean, plus what a
row moves by entering the ranks of all the others. Those influences are products of few functions: cosines of ranks,
whose products are cosines, or indicators of levels. Hence the covariance of all entries of C follows from mean
products of these functions, and the test needs no row; docs/validation/change.md, "The test".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc

from renyi.compute.arrays import Array, Index, Mask
from renyi.inference.multiscale import Block, log_harmonic_mean, log_pvalue_of_many_rows, log_weights

# Functions that are compared, and functions whose sums are taken: the constant, and twelve more.
COMPARED = 4
SPANNED = 13
# Beyond this wave conditional means, and what rows move by entering the ranks, are taken as 0: with 20 waves
# covariances of smooth dependences stay the same to 1 %.
SMOOTHEST = 8

_OF_NUMBERS: tuple[Block, ...] = ((1, 1), (2, 2), (3, 3), (4, 4), (3, 1), (1, 3))
_AGAINST_LEVELS = (1, 2, 4)
# Of the covariance without ranks this share is added: where one column nearly is a function of the other, ranks cancel
# nearly all variance, and what is left is not known that well. A column that the other explains but for the share
# `_UNEXPLAINED` counts as such a function; benchmarks/studies/change_sizes.py.
_RIDGE, _RIDGE_OF_FUNCTIONS, _UNEXPLAINED = 0.003, 0.3, 0.1
# Of the covariance of independent columns this share is added where one has levels: within a level the other column may
# have a single value, and no variance at all. So it is where one column nearly is a function of the other and
# covariances come from fewer rows: products of their functions are then linearly dependent, nearly, and a little
# differently so among all rows.
_FLOOR = 0.01
# Ranks bend C by terms of order 1/n, which do not cancel where one table is larger. They are taken off, and as
# uncertain as this many times their square.
_BEND = 3.0
# Of a small table beside one so many times larger, only blocks of one function on either side keep their size.
_SMALL, _LARGER = 200, 4.0
# Rows of the smaller table below which nothing is tested.
FEWEST_ROWS = 50
_SMALLEST = 1e-300
# Of 4 × 4 independent entries the square of the largest singular value is this share of the sum of all squares.
_LARGEST_OF_NOISE = 0.65


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of the columns of two tables within the span of those whose sums are known, for a batch of columns.

    `weights` (tables, columns, compared, spanned) make the compared functions in either table, `pooled` those of both
    together. `times` (columns, compared, spanned, spanned) multiplies a compared function by a spanned one; `entering`
    is what a row adds to the ranks, or shares of levels, of the others; `bending` and `crossing` give the bias of
    ranks. The first `sizes` functions of a column are compared, in their order where it `is_ordered`.
    """

    weights: Array
    pooled: Array
    times: Array
    entering: Array
    bending: Array
    crossing: Array
    sizes: Index
    is_ordered: Mask
    has_levels: Mask

    def take(self, columns: Index, /) -> "Functions":
        """Those of some columns."""
        return Functions(
            self.weights[:, columns],
            self.pooled[columns],
            self.times[columns],
            self.entering[columns],
            self.bending[columns],
            self.crossing[columns],
            self.sizes[columns],
            self.is_ordered[columns],
            self.has_levels[columns],
        )


@dataclass(frozen=True, eq=False)
class Own:
    """What is known of columns by themselves, for a batch of them.

    Rows of either table in `n` (tables, columns), central `moments` of the spanned functions over both tables together,
    and the inverse root of the covariance of the compared ones in `whitening`.
    """

    n: Array
    moments: Array
    whitening: Array

    @classmethod
    def empty(cls, columns: int, /) -> "Own":
        """Room for so many columns."""
        shape = (columns, COMPARED, COMPARED)
        return cls(np.zeros((2, columns)), np.zeros((columns, SPANNED, SPANNED)), np.zeros(shape))

    def put(self, columns: slice, pooled: Array, sums: Array, n: Array, /) -> None:
        """Some columns: weights of compared functions, sums (tables, columns, spanned, spanned), and rows."""
        self.n[:, columns], self.moments[columns] = n, _central(sums.sum(axis=0))
        self.whitening[columns] = _whitening(pooled, self.moments[columns])

    def take(self, columns: Index, /) -> "Own":
        """Those of some columns."""
        return Own(self.n[:, columns], self.moments[columns], self.whitening[columns])


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows of two tables for a batch of pairs.

    Products of the spanned functions of x and y (tables, pairs, spanned, spanned) on their common rows, and either
    column by itself. Where `both` is over fewer rows, and `times` as large as it came, products of the leading
    functions over all rows are in `compared`.
    """

    both: Array
    of_x: Own
    of_y: Own
    compared: Array
    times: Array

    def take(self, pairs: Index, /) -> "Sums":
        """Those of some pairs."""
        sides = self.of_x.take(pairs), self.of_y.take(pairs)
        return Sums(self.both[:, pairs], *sides, self.compared[:, pairs], self.times)


def changes(x: Functions, y: Functions, sums: Sums, /) -> tuple[Array, Array]:
    """Logarithms of p-values of equal dependence, and by how much the correlation of some functions differs at most.

    The largest difference is debiased, never below 0, and 1 where it is more. NaN where too few rows are common in a
    table.
    """
    n = sums.compared[:, :, 0, 0]
    found, moved = np.full((2, n.shape[1]), np.nan)
    known = np.flatnonzero((n.min(axis=0) >= FEWEST_ROWS) & (x.sizes > 0) & (y.sizes > 0))
    if len(known) == 0:
        return found, moved
    if len(known) < n.shape[1]:
        x, y = x.take(known), y.take(known)
        sums, n = sums.take(known), n[:, known]
    difference, covariance = _difference(x, y, sums)
    is_small, freedom = _is_small(n), _freedom(n, sums.times)
    keys = ((x.sizes * 8 + y.sizes) * 2 + x.is_ordered) * 2 + y.is_ordered
    for key in np.unique(keys * 2 + is_small).tolist():
        some = np.flatnonzero(keys * 2 + is_small == key)
        blocks = _family(x, y, int(some[0]), bool(is_small[some[0]]))
        found[known[some]] = _combined(difference[some], covariance[some], freedom[some], blocks)
    moved[known] = _largest_difference(sums, difference, covariance)
    return found, moved


def _largest_difference(sums: Sums, difference: Array, covariance: Array) -> Array:
    """By how much the correlation of some function of x and some function of y differs, less what chance shows."""
    pairs = len(difference)
    left, right = sums.of_x.whitening, sums.of_y.whitening
    largest = np.linalg.norm(left @ difference.reshape(pairs, COMPARED, COMPARED) @ right, ord=2, axis=(1, 2))
    squares = [side @ side for side in (left, right)]
    noise = np.einsum("pabcd,pac,pbd->p", covariance.reshape(pairs, *(COMPARED,) * 4), *squares, optimize=True)
    return np.asarray(np.clip(np.sqrt(np.maximum(largest**2 - _LARGEST_OF_NOISE * noise, 0.0)), 0.0, 1.0))


def _whitening(weights: Array, moments: Array) -> Array:
    """The inverse root of the covariance of compared functions, 0 where there are none."""
    values, directions = np.linalg.eigh(weights @ moments @ weights.transpose(0, 2, 1))
    kept = values > 1e-6 * np.maximum(values[:, -1:], 1e-12)
    roots = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    return np.asarray((directions * roots[:, np.newaxis, :]) @ directions.transpose(0, 2, 1))


def _is_small(n: Array) -> Mask:
    smaller = n.min(axis=0)
    return np.asarray((smaller < _SMALL) & (n.max(axis=0) > _LARGER * smaller))


def _freedom(n: Array, times: Array) -> Array:
    """How many rows the covariance is worth, less the two means."""
    return np.asarray(n.sum(axis=0) ** 2 / (n * times[:, np.newaxis]).sum(axis=0) - 2.0)


def _family(x: Functions, y: Functions, pair: int, is_small: bool) -> tuple[Block, ...]:
    """Blocks of leading functions; levels have no order, and are compared all at once."""
    sizes = int(x.sizes[pair]), int(y.sizes[pair])
    ordered = bool(x.is_ordered[pair]), bool(y.is_ordered[pair])
    if all(ordered):
        blocks: Sequence[Block] = _OF_NUMBERS
    else:
        sides = [_AGAINST_LEVELS if own else (size,) for own, size in zip(ordered, sizes, strict=True)]
        blocks = [(a, b) for a in sides[0] for b in sides[1]]
    if is_small and len(narrow := [block for block in blocks if min(block) == 1]) > 0:
        blocks = narrow
    return tuple(dict.fromkeys((min(a, sizes[0]), min(b, sizes[1])) for a, b in blocks))


# One pair after the other would take a millisecond each: all are products of small matrices.


def _difference(x: Functions, y: Functions, sums: Sums) -> tuple[Array, Array]:
    """The difference of the products C of two tables (pairs, compared²), and its covariance if they are equal."""
    n, k = sums.compared[:, :, 0, 0], sums.compared.shape[-1]
    means = sums.compared / n[..., np.newaxis, np.newaxis]
    of_tables = [_products(x.weights[t, :, :, :k], y.weights[t, :, :, :k], means[t]) for t in range(2)]
    total = n.sum(axis=0)
    pooled = _Influences.of(x, y, sums)
    bend = pooled.bias() * (1.0 / n[0] - 1.0 / n[1])[:, np.newaxis]
    found = (of_tables[0] - of_tables[1]).reshape(len(total), -1) - bend
    # Gaps: ranks have more rows than the pair has.
    shares = n / sums.of_x.n, n / sums.of_y.n
    covariance = pooled.covariance([(1.0 / n[t], shares[0][t], shares[1][t]) for t in range(2)])
    freedom = (1.0 + 2.0 / _freedom(n, sums.times))[:, np.newaxis, np.newaxis]
    return found, covariance * freedom + _BEND * bend[:, :, np.newaxis] * bend[:, np.newaxis, :]


def _products(x: Array, y: Array, means: Array) -> Array:
    """Covariances of compared functions, given mean products of spanned ones."""
    return np.asarray(x @ _centred(means) @ y.transpose(0, 2, 1))


def _centred(means: Array) -> Array:
    """Mean products less the products of means."""
    return np.asarray(means - means[:, :, :1] * means[:, :1, :])


@dataclass(frozen=True, eq=False)
class _Influences:
    """Influences of rows on the products of pairs, with the mean products of both tables together."""

    x: Functions
    y: Functions
    means: Array
    of_tables: Array
    moments: tuple[Array, Array]
    are_fewer_rows: bool

    @classmethod
    def of(cls, x: Functions, y: Functions, sums: Sums) -> "_Influences":
        both = sums.both.sum(axis=0)
        means = both / both[:, :1, :1], sums.both / sums.both[:, :, :1, :1]
        return cls(x, y, *means, (sums.of_x.moments, sums.of_y.moments), bool((sums.times > 1.0).any()))

    @cached_property
    def centred(self) -> Array:
        return _centred(self.means)

    def covariance(self, tables: Sequence[tuple[Array, Array, Array]]) -> Array:
        """Covariance of the difference of the products of two tables, each with 1/n and the shares of common rows."""
        plain, (on_x, on_y), (own_x, own_y), both = self._parts()
        unexplained = np.minimum(*(self._unexplained(_centred(means)) for means in self.of_tables))
        are_functions = unexplained < _UNEXPLAINED
        ridge = np.where(are_functions, _RIDGE_OF_FUNCTIONS, _RIDGE)
        is_floored = self.x.has_levels | self.y.has_levels | (are_functions & self.are_fewer_rows)
        floor = np.where(is_floored, _FLOOR, 0.0)
        independent = self._independent()
        total = np.zeros_like(plain)
        for one, of_x, of_y in tables:
            for factor, part in (
                (one * (1.0 + ridge), plain),
                (one * floor, independent),
                (one * of_x, on_x + own_x),
                (one * of_y, on_y + own_y),
                (one * of_x * of_y, both),
            ):
                total += factor[:, np.newaxis, np.newaxis] * part
        return total

    def _parts(self) -> tuple[Array, tuple[Array, Array], tuple[Array, Array], Array]:
        """Covariances of influences: of products, of products with what rows add to the ranks of x or y, of these."""
        centred, means = self.centred, self.means
        pairs = len(means)
        times_x, times_y, squares_x, squares_y = self._centred_times()
        found = (self.x.pooled @ centred @ self.y.pooled.transpose(0, 2, 1)).reshape(pairs, -1)
        fourth = (squares_x @ means @ squares_y.transpose(0, 2, 1)).reshape(pairs, *(COMPARED,) * 4)
        plain = fourth.transpose(0, 1, 3, 2, 4).reshape(pairs, COMPARED**2, COMPARED**2)
        plain = plain - found[:, :, np.newaxis] * found[:, np.newaxis, :]
        # What a row adds, as spanned functions of x and y (pairs, spanned, compared²).
        left = (centred @ self.y.pooled.transpose(0, 2, 1))[:, np.newaxis]
        right = (self.x.pooled @ centred)[:, np.newaxis]
        adds_x = (self.x.entering @ left).transpose(0, 2, 1, 3).reshape(pairs, SPANNED, -1)
        adds_y = (self.y.entering @ right.transpose(0, 1, 3, 2)).transpose(0, 2, 3, 1).reshape(pairs, SPANNED, -1)
        with_x = (times_x @ left).transpose(0, 1, 3, 2).reshape(pairs, -1, SPANNED)
        with_y = (times_y @ right.transpose(0, 1, 3, 2)).transpose(0, 3, 1, 2).reshape(pairs, -1, SPANNED)
        with_x = with_x - found[:, :, np.newaxis] * means[:, np.newaxis, :, 0]
        with_y = with_y - found[:, :, np.newaxis] * means[:, np.newaxis, 0, :]
        crossed = adds_x.transpose(0, 2, 1) @ centred @ adds_y
        own = [
            adds.transpose(0, 2, 1) @ moments @ adds
            for adds, moments in ((adds_x, self.moments[0]), (adds_y, self.moments[1]))
        ]
        return plain, (_twice(with_x @ adds_x), _twice(with_y @ adds_y)), (own[0], own[1]), _twice(crossed)

    def _centred_times(self) -> tuple[Array, Array, Array, Array]:
        """Centred functions times spanned ones, and times one another (pairs, compared², spanned)."""
        made = []
        for side, means in ((self.x, self.means[:, :, 0]), (self.y, self.means[:, 0, :])):
            centres = np.einsum("pas,ps->pa", side.pooled, means)
            times = side.times.copy()
            every = np.arange(SPANNED)
            times[:, :, every, every] -= centres[:, :, np.newaxis]
            weights = side.pooled.copy()
            weights[:, :, 0] -= centres
            made.append((times, (weights[:, np.newaxis] @ times).reshape(len(means), -1, SPANNED)))
        return made[0][0], made[1][0], made[0][1], made[1][1]

    def _independent(self) -> Array:
        """The covariance that products of independent columns would have."""
        sides = [
            side.pooled @ moments @ side.pooled.transpose(0, 2, 1)
            for side, moments in zip((self.x, self.y), self.moments, strict=True)
        ]
        joint: Array = np.einsum("pac,pbd->pabcd", *sides)
        return joint.reshape(len(self.means), COMPARED**2, COMPARED**2)

    def _unexplained(self, centred: Array) -> Array:
        """The least share of a compared function of one column that spanned functions of the other leave in a table.

        Both together would not show it: where one column is a function of the other, it is another one by ranks in
        each, by as much as ranks have an error.
        """
        left = []
        for side, moments, other, cross in (
            (self.y, self.moments[1], self.moments[0], centred @ self.y.pooled.transpose(0, 2, 1)),
            (self.x, self.moments[0], self.moments[1], (self.x.pooled @ centred).transpose(0, 2, 1)),
        ):
            variance = np.einsum("pas,pst,pat->pa", side.pooled, moments, side.pooled, optimize=True)
            scales = np.diagonal(other, axis1=1, axis2=2)
            with np.errstate(divide="ignore", invalid="ignore"):
                explained = np.where(scales > 1e-12, 1.0 / scales, 0.0)[:, np.newaxis, :] @ cross**2
                share = np.where(variance > 1e-12, explained[:, 0] / variance, 0.0)
            left.append(1.0 - share.max(axis=1))
        return np.asarray(np.minimum(*left))

    def bias(self) -> Array:
        """What ranks bend the products by, times n: E[½(u(1 − u)f′)′g], the same for y, and what both do together."""
        centred = self.centred
        on_x = self.x.bending @ centred @ self.y.pooled.transpose(0, 2, 1)
        on_y = self.x.pooled @ centred @ self.y.bending.transpose(0, 2, 1)
        # E[f′g′·(H − uv)] with H the joint distribution, a double sum over waves k, l of C_kl·sines.
        pairs = len(centred)
        of_x_rows = (self.x.crossing.reshape(pairs, -1, SPANNED) @ self.means).reshape(pairs, COMPARED, -1)
        of_y_rows = (centred[:, np.newaxis] @ self.y.crossing).reshape(pairs, COMPARED, -1)
        crossed = of_x_rows @ of_y_rows.transpose(0, 2, 1)
        return np.asarray((on_x + on_y + crossed).reshape(pairs, -1))


def _central(sums: Array) -> Array:
    """Central mean products of the spanned functions of a column on its own rows."""
    return _centred(sums / sums[:, :1, :1])


def _twice(products: Array) -> Array:
    return products + products.transpose(0, 2, 1)


def _combined(difference: Array, covariance: Array, freedom: Array, blocks: Sequence[Block]) -> Array:
    """Logarithms of p-values: Wald's form of every block as Hotelling has it, by their weighted harmonic mean."""
    log_p = []
    for a, b in blocks:
        which = (np.arange(a)[:, np.newaxis] * COMPARED + np.arange(b)).ravel()
        entries = difference[:, which, np.newaxis]
        forms = _forms(covariance[:, which[:, np.newaxis], which], entries)
        log_p.append(_log_sf(forms, a * b, freedom))
    evidence = log_weights(blocks) - np.stack(log_p, axis=-1)
    return log_pvalue_of_many_rows(log_harmonic_mean(evidence), blocks)


def _forms(matrices: Array, vectors: Array) -> Array:
    """Wald's forms v′S⁻¹v, scaled so that small variances count as large ones do."""
    scales = np.sqrt(np.maximum(np.diagonal(matrices, axis1=1, axis2=2), 1e-300))[:, :, np.newaxis]
    return _scaled_forms(matrices / (scales * scales.transpose(0, 2, 1)), vectors / scales)


def _scaled_forms(matrices: Array, vectors: Array) -> Array:
    """Forms of correlation matrices; what rounding alone decides in them is left out."""
    least = 1e-9
    try:
        # It is a tenth of the work of eigenvalues, and fails where one is below `least`.
        np.linalg.cholesky(matrices - least * np.eye(matrices.shape[1]))
    except np.linalg.LinAlgError:
        half = len(matrices) // 2
        if half:
            return np.concatenate(
                [_scaled_forms(matrices[part], vectors[part]) for part in (np.s_[:half], np.s_[half:])]
            )
        values, directions = np.linalg.eigh(matrices)
        turned = (directions.transpose(0, 2, 1) @ vectors)[..., 0]
        return np.asarray(
            (np.where(values > least, 1.0, 0.0) / np.where(values > least, values, 1.0) * turned**2).sum(axis=1)
        )
    return np.asarray(np.maximum((vectors * np.linalg.solve(matrices, vectors)).sum(axis=(1, 2)), 0.0))


def _log_sf(forms: Array, dimension: int, freedom: Array) -> Array:
    """Logarithm of the probability that Hotelling's T² exceeds these."""
    second = freedom - dimension + 1.0
    found = betainc(second / 2.0, dimension / 2.0, freedom / (freedom + forms))
    return np.asarray(np.log(np.maximum(found, _SMALLEST)))


# Functions of ranks: cosines √2·cos kπu.


@dataclass(frozen=True, eq=False)
class SmoothTables:
    """What `Functions` have of a number with many values, the same for all."""

    weights: Array
    times: Array
    entering: Array
    bending: Array
    crossing: Array


@lru_cache(maxsize=1)
def smooth_tables() -> SmoothTables:
    """Products, integrals and derivatives of cosines, in cosines."""
    weights, bending = np.zeros((2, COMPARED, SPANNED))
    times, entering, crossing = np.zeros((3, COMPARED, SPANNED, SPANNED))
    half = np.sqrt(0.5)
    for a in range(1, COMPARED + 1):
        f = a - 1
        weights[f, a] = 1.0
        times[f, 0, a] = 1.0
        entering[f, a, 0] = -1.0
        for k in range(1, SMOOTHEST + 1):
            # √2 cos aπu · √2 cos kπu, and the same with f′ integrated from u to 1, and with the sines of both.
            below = 1.0 if a == k else half
            times[f, k, a + k] += half
            times[f, k, abs(a - k)] += below
            crossing[f, k, abs(a - k)] -= a / k * below
            if a + k <= SMOOTHEST:
                crossing[f, k, a + k] += a / k * half
            if a + k <= SMOOTHEST:
                entering[f, a + k, k] -= a * half / (a + k)
            if a != k:
                entering[f, abs(a - k), k] -= a * half / (a - k)
        bending[f] = _bent(a)
    return SmoothTables(weights, times, entering, bending, crossing)


def _bent(a: int) -> Array:
    """½(u(1 − u)f′)′ for f = √2·cos aπu, in cosines."""
    n = 4096
    u = (np.arange(n) + 0.5) / n
    first, second = -a * np.pi * np.sin(a * np.pi * u), -((a * np.pi) ** 2) * np.cos(a * np.pi * u)
    bent = np.sqrt(0.5) * ((1.0 - 2.0 * u) * first + u * (1.0 - u) * second)
    waves = np.sqrt(2.0) * np.cos(np.pi * np.outer(np.arange(SPANNED), u))
    waves[0] = 1.0
    return np.asarray(waves @ bent / n)
