"""P-values of series: what two columns that remember their own past show at every lag, by random phases.

A series that is shifted in a circle against another keeps its memory and loses what it has to do with the other one.
Shifts turn the phases of its Fourier coefficients, and leave their sizes alone. With phases that are uniform and
independent, as those of a stationary series nearly are, and sizes as they were seen, the products of functions of the
two have mean 0, a covariance that is known exactly (the mean over all shifts, Bartlett's formula), and tails that are
lighter than normal ones where few frequencies carry them. A block of k products, whitened by that covariance, has a
squared length W, and W/ν a Beta(k/2, (ν − k)/2) distribution, ν from the fourth moment of W. For rows without memory ν
is about n/2, for an AR(1) with coefficient 0.9 about n/25: how many rows such series are worth.

Blocks are combined as those of independent rows are (`multiscale`). Which ones are looked at depends on the sizes of
Fourier coefficients alone, which say nothing of dependence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter1d
from scipy.special import betainc, betaln, gammaincc, gammaln

from renyi.compute.arrays import Array
from renyi.inference import multiscale
from renyi.inference.multiscale import Block

Spectrum = NDArray[np.complex128]

# Of a number its leading functions are looked at, of categories and vectors as many.
MOST_FUNCTIONS = 6
_BLOCKS: tuple[Block, ...] = ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (6, 1), (1, 6), (2, 2), (4, 4))
# A block of k products is looked at if the series are worth so many rows, 4 + 4k. With 4 + 2k the size at 1 % is up to
# 0.025 at n = 100; with 8 + 8k a parabola of 200 rows of an AR(1) with coefficient 0.9 is found in 0.47 of samples
# rather than 0.92. The first block is always looked at.
_ROWS_FOR_BLOCK, _ROWS_FOR_PRODUCT = 4.0, 4.0
_LARGEST_SHARE = 1.0 - 1e-9
# A window of lags is worth more where p-values are small than on average, since peaks are narrower the higher they are:
# this share of the way, on a scale of logarithms, from what it is worth on average to its number of lags.
_NARROWER = 0.3


@dataclass(frozen=True, eq=False)
class Spectra:
    """Fourier coefficients (functions, frequencies) of a column's functions over time, one array a series.

    A panel has several series, each with its own number of rows; a single one has one.
    """

    parts: tuple[Spectrum, ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, functions: Array, lengths: Sequence[int], /) -> "Spectra":
        """From functions (rows, functions) of rows in order of time, one series after the other."""
        ends = np.cumsum(lengths)[:-1]
        parts = tuple(np.fft.rfft(part.T, axis=1) for part in np.split(functions, ends))
        return cls(parts, tuple(lengths))

    @property
    def n_functions(self) -> int:
        """Functions of the column."""
        return len(self.parts[0])


class Shifts:
    """Two columns in time: evidence of their dependence at any lag.

    A lag of l compares x at t with y at t + l.
    """

    def __init__(self, x: Spectra, y: Spectra, /) -> None:
        self._lengths = x.lengths
        # The mean of a series is not moved by shifts, and is left out.
        self._weights = [_weights(n) for n in x.lengths]
        self._crossed = [np.conj(a)[:, np.newaxis] * b for a, b in zip(x.parts, y.parts, strict=True)]
        family = ((min(a, x.n_functions), min(b, y.n_functions)) for a, b in _BLOCKS)
        self._family = tuple(dict.fromkeys(family))

    @cached_property
    def _parts(self) -> "list[_Block]":
        """Blocks that are trusted, the first one always."""
        parts = [_Block(block, self._crossed, self._weights) for block in self._family]
        return [part for k, part in enumerate(parts) if k == 0 or part.is_trusted]

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
        evidence = self._evidence([part.at(lag, self._lengths) for part in self._parts])
        return float(self._log_pvalue(evidence)), self.blocks[int(np.argmax(evidence))]

    def everywhere(self) -> Array:
        """Logarithms of the p-values at all shifts 0, 1, … of a single series."""
        return self._log_pvalue(self._evidence([part.everywhere(self._lengths[0]) for part in self._parts]))

    def _evidence(self, log_p: Sequence[Array]) -> Array:
        return np.asarray(multiscale.log_weights(self.blocks) - np.stack(log_p, axis=-1))

    def _log_pvalue(self, evidence: Array) -> Array:
        log_mean = multiscale.log_harmonic_mean(evidence)
        return np.minimum(multiscale.log_pvalue_of_many_rows(log_mean, self.blocks), 0.0)


class _Block:
    """Some leading functions of both sides: their products, whitened by the covariance over all shifts."""

    def __init__(self, block: Block, crossed: Sequence[Spectrum], weights: Sequence[Array], /) -> None:
        a, b = block
        self.block, self.k = block, a * b
        self._weights = weights
        products = [part[:a, :b].reshape(a * b, -1) for part in crossed]
        # Rows of either part, scaled so that their products add up to the covariance of the real part.
        roots = [np.sqrt(w) * z for w, z in zip(weights, products, strict=True)]
        real = np.concatenate([part for z in roots for part in (z.real, z.imag)], axis=1)
        size = np.sqrt(np.mean(real**2)) or 1.0
        values, vectors = np.linalg.eigh(real @ real.T)
        kept = values > 1e-10 * max(values[-1], size)
        self.k = int(np.count_nonzero(kept))
        whiten = (vectors[:, kept] / np.sqrt(values[kept])).T
        self._products = [whiten @ z for z in products]

    @cached_property
    def n_effective(self) -> float:
        """ν: the number of independent rows whose products have tails as light.

        A frequency adds A cos θ + B sin θ to the products, whose fourth cumulant has a closed form.
        """
        cumulant = 0.0
        for weight, z in zip(self._weights, self._products, strict=True):
            a, b = weight * z.real, weight * z.imag
            aa, bb, ab = (np.einsum("kf,kf->f", left, right) for left, right in ((a, a), (b, b), (a, b)))
            cumulant += float(np.sum(3 / 8 * (aa**2 + bb**2) + aa * bb / 4 + ab**2 / 2))
        return 2.0 * self.k * (self.k + 2) / cumulant

    @property
    def is_trusted(self) -> bool:
        return self.n_effective >= _ROWS_FOR_BLOCK + _ROWS_FOR_PRODUCT * self.k

    def at(self, lag: int, lengths: Sequence[int], /) -> Array:
        """Logarithm of the p-value at one lag."""
        total = np.zeros(self.k)
        for weight, z, n in zip(self._weights, self._products, lengths, strict=True):
            turn = np.exp(2j * np.pi * lag / n * np.arange(z.shape[1])) if lag else 1.0
            total += np.real(z * turn) @ weight
        return self._log_sf(np.asarray(total @ total))

    def everywhere(self, n: int, /) -> Array:
        """The same at all shifts of a single series."""
        z = self._products[0].copy()
        z[:, 0] = 0.0
        products = n * np.fft.irfft(z, n, axis=1)
        return self._log_sf(np.einsum("kn,kn->n", products, products))

    def _log_sf(self, lengths: Array) -> Array:
        nu = max(self.n_effective, self.k + 1.0)
        by_phases = log_beta_sf(np.minimum(lengths / nu, _LARGEST_SHARE), self.k / 2, (nu - self.k) / 2)
        # Four moments say little of the far tail. The χ² distribution of many frequencies is an upper bound of it; no
        # p-value is below the square of that one.
        return np.maximum(by_phases, 2.0 * log_chi_squared_sf(lengths, self.k))


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


def of_strongest(log_pvalues: Array, max_lag: int, /) -> tuple[float, float]:
    """Logarithm of the p-value of the smallest one within a window of lags, and how many lags the window is worth.

    `log_pvalues` are those of all shifts. The smallest of m independent p-values exceeds p with probability (1 − p)^m;
    that of a window has an m between 1 and its lags, which is estimated from the windows around all shifts.
    """
    n, width = len(log_pvalues), 2 * max_lag + 1
    smallest = np.exp(minimum_filter1d(log_pvalues, width, mode="wrap"))
    worth = float(np.clip(1.0 / np.mean(-np.log1p(-np.minimum(smallest, 1.0 - 1e-12))), 1.0, min(width, n)))
    best = float(log_pvalues[window(n, max_lag)].min())
    worth = worth ** (1.0 - _NARROWER) * min(width, n) ** _NARROWER
    return log_of_smallest(best, worth), worth


def log_of_smallest(log_pvalue: float, worth: float, /) -> float:
    """Logarithm of 1 − (1 − p)^m."""
    if log_pvalue < -30.0:
        return min(log_pvalue + float(np.log(worth)), 0.0)
    return float(np.log(-np.expm1(worth * np.log1p(-min(np.exp(log_pvalue), 1.0 - 1e-16)))))


def window(n: int, max_lag: int, /) -> NDArray[np.intp]:
    """Positions of the lags −max … max among the shifts of n rows."""
    return np.arange(-max_lag, max_lag + 1) % n
