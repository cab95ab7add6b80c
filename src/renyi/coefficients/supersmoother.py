"""Friedman's super smoother: lines fitted in running windows, of which every place chooses its own width.

J. H. Friedman 1984, "A variable span smoother", https://doi.org/10.2172/1447470. All smoothing is of rows (m, n) whose
places are sorted by x; what depends on x alone is computed once, so that a smooth costs a few cumulative sums.

Windows begin and end among equal x, whose order means nothing. Friedman's program takes the one that its sorting
leaves; here every tie counts as the mean of all, which gives the lines that all orders of them give on average.
"""

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index

Complex: TypeAlias = NDArray[np.complex128]
_Kind = TypeVar("_Kind", np.float64, np.complex128)

# Shares of the rows in a window, which the paper calls tweeter, midrange and woofer.
SPANS = (0.05, 0.2, 0.5)
# A window narrower than this share of the middle half of x gets a level and no slope.
_NARROW = 1e-3
_LEAST_RATIO, _LARGEST_RATIO = 1e-7, 1e3
# A line that passes through its own point says nothing about how well it predicts it.
_LEAST_FREEDOM = 1e-12
# Residuals this small are 0, lest rounding chooses among spans that all fit.
_ROUNDING = 1e-12


class Windows(NamedTuple):
    """Windows of one width, cut at the ends of the data but never shorter there."""

    width: int
    half: int
    # The line at place j is the real part of this times the window's sum of z + i·x·z.
    weights: Complex
    # 1/(1 − leverage), by which leaving a point out makes its residual larger; for ties the mean.
    inflation: Array
    # Whether the last point is alone on its line: its residual is then taken from its neighbour.
    last_is_free: bool


class Scratch:
    """Memory that smooths of up to m rows share; to touch it for the first time costs more than to compute in it."""

    def __init__(self, m: int, n: int) -> None:
        self.sums = np.empty((m, n + 1), dtype=np.complex128)
        self.lines = np.empty((m, n), dtype=np.complex128)
        self.fits = np.empty((len(SPANS), m, n))
        self.residuals = np.empty((len(SPANS), m, n))
        self.spans = np.empty((m, n))

    def first(self, m: int) -> "Scratch":
        """The part for m rows."""
        part = copy(self)
        part.sums, part.lines, part.spans = self.sums[:m], self.lines[:m], self.spans[:m]
        part.fits, part.residuals = self.fits[:, :m], self.residuals[:, :m]
        return part


@dataclass(frozen=True, eq=False)
class Smoother:
    """What sorted x leaves to know: places of windows, weights of values in them, and ties.

    Attributes
    ----------
    moments : ndarray
        1 + i·x, with the median of x at 0, and a minus in the lower half.
    windows : tuple of Windows
        For each of the spans.
    ties : ndarray or None
        For every place its number among distinct values; None where all are distinct.
    firsts : ndarray
        Where each distinct value begins.
    """

    moments: Complex
    windows: tuple[Windows, ...]
    ties: Index | None
    firsts: Index

    def __call__(self, values: Array, scratch: Scratch, /, *, bass: float) -> Array:
        """Smooth rows (m, n), into a part of scratch; 0 < bass <= 10 favours the wide windows."""
        tweeter, midrange, _ = self.windows
        self._cumulate(self._levels(values, out=scratch.spans), scratch)
        for window, fit, residual in zip(self.windows, scratch.fits, scratch.residuals, strict=True):
            self._lines(window, scratch, out=fit)
            self._levels(fit, out=fit)
            self._left_out(window, values, fit, out=residual)
        for residual in scratch.residuals:
            self._smooth(midrange, residual, scratch)
        _best_spans(scratch.residuals, bass, out=scratch.spans)
        self._smooth(midrange, scratch.spans, scratch)
        mixed = _between(scratch.spans, scratch.fits)
        self._smooth(tweeter, mixed, scratch)
        return mixed

    def _smooth(self, window: Windows, values: Array, scratch: Scratch) -> None:
        """Replace values by the lines of one width."""
        self._cumulate(values, scratch)
        self._lines(window, scratch, out=values)
        self._levels(values, out=values)

    def _cumulate(self, values: Array, scratch: Scratch) -> None:
        """Sums of values z and of x·z from the middle to every place, as z + i·x·z: one pass for both.

        Counted from the middle, what is far out does not round what is near.
        """
        middle = len(self.moments) // 2
        left, right = scratch.sums[:, middle - 1 :: -1], scratch.sums[:, middle + 1 :]
        np.multiply(values[:, middle - 1 :: -1], self.moments[middle - 1 :: -1], out=left)
        np.multiply(values[:, middle:], self.moments[middle:], out=right)
        np.cumsum(left, axis=1, out=left)
        np.cumsum(right, axis=1, out=right)
        scratch.sums[:, middle] = 0.0

    def _lines(self, window: Windows, scratch: Scratch, *, out: Array) -> None:
        """The line of every place's window, at that place."""
        n, start = len(self.moments), window.half
        stop = start + n - window.width + 1
        sums, lines = scratch.sums, scratch.lines
        np.subtract(sums[:, window.width :], sums[:, : n + 1 - window.width], out=lines[:, start:stop])
        lines[:, :start] = lines[:, start : start + 1]
        lines[:, stop:] = lines[:, stop - 1 : stop]
        np.multiply(lines, window.weights, out=lines)
        np.copyto(out, lines.real)

    def _left_out(self, window: Windows, values: Array, fit: Array, *, out: Array) -> None:
        """Sizes of the residuals of points left out of their own lines."""
        np.subtract(values, fit, out=out)
        np.abs(out, out=out)
        out *= window.inflation
        self._levels(out, out=out)
        if window.last_is_free:
            out[..., -1] = out[..., -2]

    def _levels(self, values: Array, *, out: Array) -> Array:
        """Values with their mean for places of equal x; the values themselves, untouched, where all x are distinct."""
        if self.ties is None:
            return values
        sums = np.add.reduceat(values, self.firsts, axis=1)
        sums /= np.diff(self.firsts, append=len(self.ties))
        return np.take(sums, self.ties, axis=1, out=out, mode="clip")


def smoother(x: Array) -> Smoother:
    """All that smoothing over sorted x needs; x has its median at 0 and is not constant."""
    moments: Complex = np.asarray(1.0 + 1j * x, dtype=np.complex128)
    moments[: len(x) // 2] *= -1.0
    is_first = np.ones(len(x), dtype=np.bool_)
    np.not_equal(x[1:], x[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    ties = None if len(firsts) == len(x) else np.cumsum(is_first) - 1
    least = (_NARROW * _middle_half(x)) ** 2
    found = Smoother(moments, tuple(_windows(x, span, least) for span in SPANS), ties, firsts)
    for window in found.windows:
        found._levels(window.inflation[None], out=window.inflation[None])
    return found


def _middle_half(x: Array) -> float:
    """The distance that the middle half of sorted x covers, or more if that is all ties."""
    n = len(x)
    # Places are counted from 1 and rounded down, as in Friedman's program.
    low, high = max(n // 4, 1), max(3 * (n // 4), 1)
    steps = np.arange(1 if x[high - 1] > x[low - 1] else n)
    distances = x[np.minimum(high + steps, n) - 1] - x[np.maximum(low - steps, 1) - 1]
    return float(distances[np.argmax(distances > 0)])


def _windows(x: Array, span: float, least: float) -> Windows:
    n = len(x)
    half = max(int(0.5 * span * n + 0.5), 2)
    width = min(2 * half + 1, n)
    half = min(half, n - 1)
    points, moments = _moments(x, width)
    inside, sums = _at_places(points, half, n), _at_places(moments, half, n)
    mean = sums.real / width
    squares = mean * sums.real
    np.subtract(sums.imag, squares, out=squares)
    distance = x - inside
    distance -= mean
    slope, inflation = np.zeros(n), np.zeros(n)
    np.divide(distance, squares, out=slope, where=squares > least)
    distance *= slope
    freedom = np.subtract(1.0 - 1.0 / width, distance, out=distance)
    np.divide(1.0, freedom, out=inflation, where=freedom > _LEAST_FREEDOM)
    # The line is Σz/width + slope·(Σxz − mean·Σz), with the mean from the middle of x; what is not needed any more
    # makes room.
    mean += inside
    mean *= slope
    weights = sums
    np.subtract(1.0 / width, mean, out=weights.real)
    np.negative(slope, out=weights.imag)
    return Windows(width, half, weights, inflation, bool(inflation[-1] == 0.0))


def _at_places(found: NDArray[_Kind], half: int, n: int) -> NDArray[_Kind]:
    """What was found for windows, at the places that they are for: the first and the last are for many."""
    spread = np.empty(n, dtype=found.dtype)
    stop = half + len(found)
    spread[:half], spread[half:stop], spread[stop:] = found[0], found, found[-1]
    return spread


def _moments(x: Array, width: int) -> tuple[Array, Complex]:
    """For every window a point p inside, and the sum of x − p (real) and of its squares (imaginary).

    Blocks of the same width meet once in every window, and sums run from there to both sides: no term comes from
    outside, so that ties far out have squares of exactly 0.
    """
    n_windows = len(x) - width + 1
    n_blocks = -(-len(x) // width) + 1
    blocks = np.full((n_blocks, width), x[-1])
    blocks.ravel()[: len(x)] = x
    onward, back = np.empty(blocks.shape, dtype=np.complex128), np.empty(blocks[1:].shape, dtype=np.complex128)
    np.subtract(blocks, blocks[:, :1], out=onward.real)
    np.subtract(blocks[:-1], blocks[1:, :1], out=back.real)
    for sums in (onward, back[:, ::-1]):
        np.multiply(sums.real, sums.real, out=sums.imag)
        np.cumsum(sums, axis=1, out=sums)
    # A window that is a block has nothing before the meeting point.
    back[:, 0] = 0.0
    blocks[:] = blocks[:, :1].copy()
    ends = slice(width - 1, width - 1 + n_windows)
    onward.ravel()[ends] += back.ravel()[:n_windows]
    return blocks.ravel()[ends], onward.ravel()[ends]


def _best_spans(residuals: Array, bass: float, *, out: Array) -> None:
    """The span whose residuals are smallest, drawn to the widest the more the less that matters; changes residuals."""
    for residual in residuals:
        np.copyto(residual, 0.0, where=np.abs(residual, out=out) < _ROUNDING)
    least, middle, wide = residuals
    np.multiply(middle < least, SPANS[1] - SPANS[0], out=out)
    out += SPANS[0]
    np.minimum(least, middle, out=least)
    np.copyto(out, SPANS[2], where=wide < least)
    if bass == 0:
        return
    is_settled = wide <= least
    ratio = middle
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        np.divide(least, wide, out=ratio)
    # Lines may fall below 0, and their ratio be of any size.
    np.maximum(ratio, _LEAST_RATIO, out=ratio)
    np.minimum(ratio, _LARGEST_RATIO, out=ratio)
    np.power(ratio, 10.0 - bass, out=ratio)
    np.copyto(ratio, 0.0, where=is_settled)
    np.subtract(SPANS[2], out, out=least)
    least *= ratio
    out += least


def _between(spans: Array, fits: Array) -> Array:
    """The fits of three spans, interpolated to the span of every place; changes both."""
    narrow, middle, wide = fits
    narrow -= middle
    wide -= middle
    spans -= SPANS[1]
    for difference, width in ((narrow, SPANS[0] - SPANS[1]), (wide, SPANS[2] - SPANS[1])):
        share = spans / width
        np.maximum(share, 0.0, out=share)
        np.minimum(share, 1.0, out=share)
        share *= difference
        middle += share
    return np.asarray(middle)
