"""P-values of series: what two columns that remember their own past show at every lag, by random phases.

A series that is shifted in a circle against another keeps its memory and loses what it has to do with the other one.
Shifts turn the phases of its Fourier coefficients, and leave their sizes alone. With phases that are uniform and
independent, as those of a stationary series nearly are, and sizes as they were seen, the products of functions of the
two have mean 0, a covariance that is known exactly (the mean over all shifts, Bartlett's formula), and tails that are
lighter than normal ones where few frequencies carry them. A block of k products, whitened by that covariance, has a
squared length W, and W/ν a Beta(k/2, (ν − k)/2) distribution, ν from the fourth moment of W. For rows without memory ν
is about n/2, for an AR(1) with coefficient 0.9 about n/25: how many rows such series are worth. A single product is a
sum of cosines, whose tail is known (`cosine_sums`).

A circle has a seam, where the end of a series meets its beginning: pairs of rows that are far apart count as near, with
nothing in common. Circles that are shifted have two seams, those at lag 0 have one, and products vary more there: 1.2
times as much for an AR(1) with coefficient 0.97 on 100 rows. Lengths are divided by that.

Blocks are combined as those of independent rows are (`multiscale`). Which ones are looked at depends on the sizes of
Fourier coefficients and on how much single rows weigh, which say nothing of dependence. Where single rows weigh too
much in every block, as two rare events do, the p-value is the share of all shifts that show as much.

What a regression leaves of two series at the same rows has products that vary more than those of shifts: the span of
the regression is orthogonal to both at lag 0 alone. Of a noise with random phases in x, what is seen in y goes through
with the size of y's residuals, while the size of the noise itself is that of x's residuals over the share of its
frequency that the span leaves. Sizes of products are divided by the root of that share.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d
from scipy.special import betainc, betaln, gammaincc, gammaln

from renyi.compute.arrays import Array, Index
from renyi.inference import multiscale
from renyi.inference.cosine_sums import CosineSum
from renyi.inference.multiscale import Block

Spectrum = NDArray[np.complex128]

# Of a number its leading functions are looked at, of categories and vectors as many.
MOST_FUNCTIONS = 6
_BLOCKS: tuple[Block, ...] = ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (6, 1), (1, 6), (2, 2), (4, 4))
# A block of k products is looked at if the series are worth so many rows, 4 + 4k. With 4 + 2k the size at 1 % is up to
# 0.025 at n = 100; with 8 + 8k a parabola of 200 rows of an AR(1) with coefficient 0.9 is found in 0.47 of samples
# rather than 0.92. The first block is always looked at.
_ROWS_FOR_BLOCK, _ROWS_FOR_PRODUCT = 4.0, 4.0
# Blocks with several functions of both sides are further from random phases: worth 20 to 52 rows, the share of p-values
# of (2, 2) below 0.001 is 0.002 to 0.003, by random phases 0.0013 to 0.0023; of other blocks it is the same. From
# 64 + 2k rows on it is right, but then spreads that vary together are not seen at n = 100: 0.18 of hyppo's nonlinear
# processes rather than 1.00.
_ROWS_FOR_SQUARE, _ROWS_FOR_ITS_PRODUCT = 28.0, 2.0
# Blocks with a product that is looked at alone where the series are not worth enough rows for all of them.
_ALONE: tuple[Block, ...] = ((2, 1), (1, 2), (2, 2))
# Weights of blocks fall faster than those of independent rows; docs/internals/decisions.md, "Series".
_WEIGHT_FALL = 3.0
# Lags at which two series have less in common, of what they have at lag 0, say nothing of the seam. Sizes at 5 % of an
# AR(1) with coefficient 0.97 and n = 100 are 0.085 without the seam, 0.052 with it, 0.043 if lags of 0.05 count; of one
# with 0.9 and n = 200 0.052, 0.046 and 0.041 (2,000 pairs).
_LEAST_COMMON = 0.1
_LARGEST_SHARE = 1.0 - 1e-9
# What a span leaves of a frequency is taken as this much at least.
_LEAST_LEFT = 0.05
# Evidence that differs from the observed one by less is equal.
_EQUAL = 1e-9
# Entries of a table of p-values, and the smallest one in it.
_TABLE, _SMALLEST = 128, -690.0


@dataclass(frozen=True, eq=False)
class Spectra:
    """Fourier coefficients (functions, frequencies) of a column's functions over time, one array a series.

    A panel has several series, each with its own number of rows; a single one has one. `leverages` has the largest
    share of one row in the leading 1, 2, … functions.
    """

    parts: tuple[Spectrum, ...]
    lengths: tuple[int, ...]
    leverages: Array
    has_levels: bool = False

    @classmethod
    def of(cls, functions: Array, lengths: Sequence[int], /, *, has_levels: bool = False) -> "Spectra":
        """From functions (rows, functions) of rows in order of time, one series after the other."""
        ends = np.cumsum(lengths)[:-1]
        parts = tuple(np.fft.rfft(part.T, axis=1) for part in np.split(functions, ends))
        squares = functions**2
        shares = squares / np.maximum(squares.sum(axis=0), np.finfo(np.float64).tiny)
        return cls(parts, tuple(lengths), np.cumsum(shares, axis=1).max(axis=0, initial=0.0), has_levels)

    @property
    def n_functions(self) -> int:
        """Functions of the column."""
        return len(self.parts[0])

    @cached_property
    def autocovariances(self) -> tuple[Array, ...]:
        """Of the first function of every series bent into a circle, at all lags, times the number of rows."""
        squares = (np.concatenate(([0.0], np.abs(part[0, 1:]) ** 2)) for part in self.parts)
        return tuple(np.fft.irfft(square, n) for square, n in zip(squares, self.lengths, strict=True))


class Shifts:
    """Two columns in time: evidence of their dependence at any lag.

    A lag of l compares x at t with y at t + l. `span` are orthonormal functions of which both were rid, row by row;
    products of functions vary by `errors`, times more than by chance alone.
    """

    def __init__(self, x: Spectra, y: Spectra, /, *, span: Spectra | None = None, errors: Array | None = None) -> None:
        self._lengths = x.lengths
        # The mean of a series is not moved by shifts, and is left out.
        self._weights = [_weights(n) for n in x.lengths]
        self._crossed = [np.conj(a)[:, np.newaxis] * b for a, b in zip(x.parts, y.parts, strict=True)]
        self._without_seam = _without_seam(x, y)
        self.n_functions = min(x.n_functions, y.n_functions)
        # As large as chance makes them, which of series that were rid of a span is more than is seen.
        self._by_chance = self._crossed
        if span is not None:
            self._by_chance = [z / root for z, root in zip(self._by_chance, _roots_left(span), strict=True)]
        if errors is not None:
            self._by_chance = [z * errors[:, :, np.newaxis] for z in self._by_chance]
        family = dict.fromkeys((min(a, x.n_functions), min(b, y.n_functions)) for a, b in _BLOCKS)
        self._leverages = x.leverages, y.leverages
        self._share = multiscale.share_of_levels(x.has_levels or y.has_levels)
        self._light = self._light_among(family, self._share)
        self._first = next(iter(family))

    def _light_among(self, blocks: Iterable[Block], share: float) -> tuple[Block, ...]:
        return multiscale.light(blocks, self._leverages, self.n_rows, share=share)

    def is_light(self, share: float = 1.0, /) -> bool:
        """Whether no single row weighs too much in the first block, or more than a share of that."""
        return bool(self._light_among([self._first], share * self._share))

    @cached_property
    def _parts(self) -> "list[_Block]":
        """Blocks that are trusted, the first one always."""
        coefficients = self._crossed, self._by_chance, self._weights
        found = [_Block(self._first, *coefficients)]
        for block in self._light:
            if block != self._first:
                parts = (
                    _Block(block, *coefficients, is_alone=is_alone)
                    for is_alone in (False, True)[: 1 + (block in _ALONE)]
                )
                found += [part for part in parts if part.is_trusted][:1]
        return found

    @cached_property
    def _log_weights(self) -> Array:
        return multiscale.log_weights(self.blocks, fall=_WEIGHT_FALL)

    @cached_property
    def _n_blocks(self) -> float:
        """How many independent blocks these are worth."""
        shared = [
            [len(a.pairs & b.pairs) / np.sqrt(len(a.pairs) * len(b.pairs)) for b in self._parts] for a in self._parts
        ]
        return multiscale.number_worth(np.exp(self._log_weights), np.array(shared))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which blocks are looked at."""
        return tuple(part.block for part in self._parts)

    @property
    def n_effective(self) -> float:
        """How many independent rows the two are worth, by their first functions."""
        return self._parts[0].n_effective

    def at(self, lag: int, /) -> tuple[float, Block]:
        """Logarithm of the p-value at one lag, and the block with most evidence."""
        if not self.is_light():
            return float(self._log_rank(np.array([lag]))[0]), self._first
        evidence = self._evidence([np.asarray(part.length_at(lag, self._lengths)) for part in self._parts], lag)
        return float(self._log_pvalue(evidence)), self.blocks[int(np.argmax(evidence))]

    # Many lags at once: products of all functions that blocks look at, at every shift, by one transform each.

    @cached_property
    def _looked_at(self) -> list[Block]:
        """Pairs of functions that some block has."""
        return sorted(set().union(*(part.pairs for part in self._parts)))

    @property
    def n_products(self) -> int:
        """Pairs of functions that some block has."""
        return len(self._looked_at)

    @property
    def n_rows(self) -> int:
        """Rows of all series."""
        return sum(self._lengths)

    @property
    def reach(self) -> int:
        """Shifts that all series have."""
        return min(self._lengths)

    def everywhere(self) -> Array:
        """Logarithms of the p-values at the shifts 0, 1, … that all series have."""
        return self._from(0, self.reach)

    def window(self, max_lag: int, /) -> Array:
        """Logarithms of the p-values at the lags −max … max."""
        return self._from(-max_lag, 2 * max_lag + 1)

    def _from(self, first: int, n: int) -> Array:
        if not self.is_light():
            return self._log_rank(np.arange(first, first + n))
        products = self._summed(n, first, None)
        lengths = [self._lengths_in(part, products) for part in self._parts]
        return self._log_pvalue(self._evidence(lengths, np.arange(first, first + n)))

    def log_bound(self, lags: Index, /) -> float:
        """Logarithm of an upper bound of the p-value of the strongest of some lags: their number by that of one."""
        return min(float(self._log_rank(lags).min() + np.log(len(lags))), 0.0)

    def _log_rank(self, lags: Index) -> Array:
        """Logarithms of the shares of all shifts at which the first block shows as much as at some lags."""
        first = self._parts[0]
        everywhere = np.sort(self._lengths_in(first, self._summed(self.reach, 0, None)))
        observed = np.array([first.length_at(int(lag), self._lengths) for lag in lags])
        as_much = self.reach - np.searchsorted(everywhere, observed * (1.0 - _EQUAL))
        # At a lag itself there is as much.
        return np.asarray(np.log(np.maximum(as_much, 1) / self.reach))

    def smallest_drawn(self, width: int, n_pairs: int, rng: np.random.Generator, /) -> Array:
        """Logarithms of the smallest p-value in windows of so many lags, around all shifts, of series without relation.

        These have random phases, `n_pairs` times, and their opposites, so that x and y can change places.
        """
        phases = []
        for n in self._lengths:
            turns = np.exp(2j * np.pi * rng.random((n_pairs, n // 2 + 1)))
            if n % 2 == 0:  # the highest frequency has a sign alone
                turns[:, -1] = np.where(turns[:, -1].real < 0.0, -1.0, 1.0)
            phases.append(np.concatenate((turns, np.conj(turns))))
        products = self._summed(self.reach, 0, phases)
        evidence = np.zeros(products.shape[1:])
        for part, weight in zip(self._parts, self._log_weights, strict=True):
            evidence += np.exp(weight - part.log_sf_of_many(self._lengths_in(part, products))).reshape(evidence.shape)
        largest = maximum_filter1d(evidence, width, axis=1, mode="wrap")
        if len(self._lengths) > 1:  # of several series the last shift is not next to the first
            largest = largest[:, width // 2 : self.reach - width // 2]
        return self._combined(-np.log(largest.ravel()))

    def _summed(self, n: int, first: int, phases: Sequence[Spectrum] | None) -> Array:
        """Products (functions, draws, n) from the first shift on, added up over the series."""
        i, j = np.array(self._looked_at).T
        n_draws = 1 if phases is None else len(phases[0])
        total = np.zeros((self.n_products, n_draws, n))
        products = self._crossed if phases is None else self._by_chance
        for k, (crossed, length) in enumerate(zip(products, self._lengths, strict=True)):
            for row, z in enumerate(crossed[i, j]):
                centred = np.concatenate(([0.0], z[1:]))  # without the mean
                field = length * np.fft.irfft(centred if phases is None else phases[k] * centred, length, axis=-1)
                total[row] += np.take(np.atleast_2d(field), np.arange(first, first + n) % length, axis=1)
        return total

    def _lengths_in(self, part: "_Block", products: Array) -> Array:
        """Squared lengths of the whitened products of a block, at all draws and shifts."""
        place = {pair: k for k, pair in enumerate(self._looked_at)}
        own = products[[place[pair] for pair in sorted(part.pairs)]]
        white = part.whiten @ own.reshape(len(own), -1)
        return np.asarray(np.einsum("kn,kn->n", white, white))

    def _evidence(self, lengths: Sequence[Array], lags: Index | int) -> Array:
        """Of every block, from squared lengths of its products as they were seen at some lags."""
        more = self._without_seam[np.abs(lags)]
        log_p = [part.log_sf(own / more) for part, own in zip(self._parts, lengths, strict=True)]
        return np.asarray(self._log_weights - np.stack(log_p, axis=-1))

    def _log_pvalue(self, evidence: Array) -> Array:
        return self._combined(multiscale.log_harmonic_mean(evidence))

    def _combined(self, log_mean: Array) -> Array:
        return np.minimum(multiscale.log_pvalue_of_worth(log_mean, self._n_blocks), 0.0)


class _Block:
    """Some leading functions of both sides: their products, whitened by the covariance over all shifts.

    Of one that is alone only the product of the last functions.
    """

    def __init__(
        self,
        block: Block,
        crossed: Sequence[Spectrum],
        by_chance: Sequence[Spectrum],
        weights: Sequence[Array],
        /,
        *,
        is_alone: bool = False,
    ) -> None:
        a, b = block
        self.block, self._is_alone, self._weights = block, is_alone, weights
        first, second = (a - 1, b - 1) if is_alone else (0, 0)
        self.pairs = frozenset((i, j) for i in range(first, a) for j in range(second, b))
        seen, products = (
            [part[first:a, second:b].reshape(len(self.pairs), -1) for part in parts] for parts in (crossed, by_chance)
        )
        # Rows of either part, scaled so that their products add up to the covariance of the real part.
        roots = [np.sqrt(w) * z for w, z in zip(weights, products, strict=True)]
        real = np.concatenate([part for z in roots for part in (z.real, z.imag)], axis=1)
        size = np.sqrt(np.mean(real**2)) or 1.0
        values, vectors = np.linalg.eigh(real @ real.T)
        kept = values > 1e-10 * max(values[-1], size)
        whiten = (vectors[:, kept] / np.sqrt(values[kept])).T
        self.k = len(whiten)
        # Directions that many frequencies carry come first: there tails are those of a normal distribution.
        self.whiten = _by_frequencies([whiten @ z for z in products], weights) @ whiten
        self._products = [self.whiten @ z for z in products]
        self._seen = self._products if crossed is by_chance else [self.whiten @ z for z in seen]

    @cached_property
    def n_effective(self) -> float:
        """ν: the number of independent rows whose products have tails as light."""
        return self._n_effective(self.k)

    def _n_effective(self, k: int) -> float:
        """That of the first directions.

        A frequency adds A cos θ + B sin θ to the products, whose fourth cumulant has a closed form.
        """
        if not k:
            return 0.0
        cumulant = 0.0
        for weight, z in zip(self._weights, self._products, strict=True):
            a, b = weight * z[:k].real, weight * z[:k].imag
            aa, bb, ab = (np.einsum("kf,kf->f", left, right) for left, right in ((a, a), (b, b), (a, b)))
            cumulant += float(np.sum(3 / 8 * (aa**2 + bb**2) + aa * bb / 4 + ab**2 / 2))
        return 2.0 * k * (k + 2) / cumulant

    @cached_property
    def _leading(self) -> list[tuple[int, float]]:
        """How many leading directions, and how many rows they are worth: a tail is at least that of each such part."""
        return [(k, max(self._n_effective(k), k + 1.0)) for k in dict.fromkeys((1, 2, 4, self.k)) if k <= self.k]

    @cached_property
    def _sum_of_cosines(self) -> CosineSum:
        """What a single whitened product is at random phases."""
        both = [(np.abs(z[0]) * weight, weight == 1.0) for z, weight in zip(self._products, self._weights, strict=True)]
        amplitudes, signs = (
            np.concatenate([a[~is_sign] for a, is_sign in both]),
            np.concatenate([a[is_sign] for a, is_sign in both]),
        )
        return CosineSum.of(amplitudes, signs)

    @property
    def is_trusted(self) -> bool:
        least = _ROWS_FOR_BLOCK + _ROWS_FOR_PRODUCT * self.k
        if min(self.block) > 1 and not self._is_alone:
            least = max(least, _ROWS_FOR_SQUARE + _ROWS_FOR_ITS_PRODUCT * self.k)
        return self.n_effective >= least

    def length_at(self, lag: int, lengths: Sequence[int], /) -> float:
        """Squared length of the whitened products at one lag."""
        total = np.zeros(self.k)
        for weight, z, n in zip(self._weights, self._seen, lengths, strict=True):
            turn = np.exp(2j * np.pi * lag / n * np.arange(z.shape[1])) if lag else 1.0
            total += np.real(z * turn) @ weight
        return float(total @ total)

    def log_sf_of_many(self, lengths: Array, /) -> Array:
        """Logarithms of p-values of many squared lengths, from a table; none is below the smallest number."""
        # By the length itself the logarithm is nearly a parabola, of which the table is wrong by 10⁻³.
        at = np.linspace(0.0, np.sqrt(lengths.max()) * (1.0 + 1e-9), _TABLE)
        table = np.maximum(self.log_sf(at**2), _SMALLEST)
        place = np.sqrt(lengths) * (1.0 / at[1] if at[1] else 0.0)
        left = place.astype(np.intp)
        return np.asarray(table[left] + (place - left) * np.append(np.diff(table), 0.0)[left])

    def log_sf(self, lengths: Array, /) -> Array:
        """Logarithms of p-values of squared lengths."""
        if not self.k:  # the two have no frequency in common, and products of all shifts are 0
            return np.zeros(np.shape(lengths))
        if self.k == 1:
            parts = [self._sum_of_cosines.log_sf(np.sqrt(lengths))]
        else:
            parts = [
                log_beta_sf(np.minimum(lengths / nu, _LARGEST_SHARE), k / 2, (nu - k) / 2) for k, nu in self._leading
            ]
        # Four moments say little of the far tail. The χ² distribution of many frequencies is an upper bound of it; no
        # p-value is below the square of that one.
        return np.asarray(np.maximum(np.max(parts, axis=0), 2.0 * log_chi_squared_sf(lengths, self.k)))


def _by_frequencies(white: Sequence[Spectrum], weights: Sequence[Array]) -> Array:
    """A rotation of whitened products to directions that fewer and fewer frequencies carry."""
    fourth = np.zeros((len(white[0]), len(white[0])))
    for z, weight in zip(white, weights, strict=True):
        scaled = z * (weight * np.sqrt(np.einsum("kf,kf->f", z, np.conj(z)).real))
        fourth += (scaled @ np.conj(scaled).T).real
    return np.asarray(np.linalg.eigh(fourth)[1].T)


def _roots_left(span: Spectra) -> list[Array]:
    """Roots of the share of every frequency that an orthonormal span leaves, one array a series."""
    return [
        np.sqrt(np.maximum(1.0 - np.sum(np.abs(part) ** 2, axis=0) / n, _LEAST_LEFT))
        for part, n in zip(span.parts, span.lengths, strict=True)
    ]


def _without_seam(x: Spectra, y: Spectra) -> Array:
    """Variances of a product at lags 0, 1, … over those of the circles into which series are bent, by first functions.

    Of pairs of rows d apart, d that join the end of a circle to its beginning have nothing in common. Two circles that
    are shifted by less than d have that many fewer of them than two that are shifted further, which shifts have.
    """
    reach = min(x.lengths)
    seen, more = 0.0, np.zeros(reach)
    for own, other, n in zip(x.autocovariances, y.autocovariances, x.lengths, strict=True):
        common, apart = own * other, np.minimum(np.arange(n), n - np.arange(n))
        seen += float(np.sum(common))
        counted = np.bincount(apart, np.where(common > _LEAST_COMMON * common[0], common, 0.0))
        # Of every lag l the sum of (d − l)·counted over all d above it.
        beyond = np.cumsum(counted[::-1])[::-1]
        more += (np.cumsum(beyond[::-1])[::-1] - beyond)[apart[:reach]] / n
    return np.maximum(1.0 + more / seen, 1.0) if seen > 0.0 else np.ones(reach)


def _weights(n: int) -> Array:
    """How often each frequency of a real series of n rows occurs; the mean is left out."""
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 0.0
    if n % 2 == 0:
        weights[-1] = 1.0
    return weights


def log_beta_sf(share: Array, a: float, b: float, /) -> Array:
    """Logarithm of the upper tail of a Beta(a, b) distribution."""
    with np.errstate(divide="ignore"):
        found = np.log(betainc(b, a, 1.0 - share))
    if np.isinf(found).any():  # below the smallest number: the leading term of the tail
        leading = b * np.log1p(-share) + (a - 1) * np.log(np.maximum(share, 1e-300)) - np.log(b) - betaln(a, b)
        found = np.where(np.isinf(found), leading, found)
    return np.asarray(found)


def log_chi_squared_sf(values: Array, k: int, /) -> Array:
    """Logarithm of the upper tail of a χ² distribution with k degrees of freedom."""
    half = np.asarray(values) / 2.0
    with np.errstate(divide="ignore"):
        found = np.log(gammaincc(k / 2, half))
    if np.isinf(found).any():
        leading = -half + (k / 2 - 1) * np.log(np.maximum(half, 1.0)) - gammaln(k / 2)
        found = np.where(np.isinf(found), leading, found)
    return np.asarray(found)
