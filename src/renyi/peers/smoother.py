"""Friedman's super smoother: lines fitted in running windows, of which every place chooses its own width.

J. H. Friedman 1984, "A variable span smoother", https://doi.org/10.2172/1447470. All smoothing is of rows (m, n) whose
places are sorted by x; what depends on x alone is computed once, so that a smooth costs a few cumulative sums.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPANS", "Smoother", "smoother"]

Array: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]
Index: TypeAlias = NDArray[np.intp]

# Shares of the rows in a window, which the paper calls tweeter, midrange and woofer.
SPANS = (0.05, 0.2, 0.5)
# A window narrower than this share of the middle half of x gets a level and no slope.
_NARROW = 1e-3
_LEAST_RATIO, _LARGEST_RATIO = 1e-7, 1e3
# A line that passes through its own point says nothing about how well it predicts it.
_LEAST_FREEDOM = 1e-12


class Windows(NamedTuple):
    """Windows of one width, cut at the ends of the data but never shorter there.

    The line at place j is `level[j]` times the window's sum of values plus `slope[j]` times that of x times values.
    """

    width: int
    half: int
    level: Array
    slope: Array
    # 1/(1 − leverage), by which leaving a point out makes its residual larger.
    inflation: Array
    # Whether the last point is alone on its line: its residual is then taken from its neighbour.
    last_is_free: bool


@dataclass(frozen=True, eq=False)
class Smoother:
    """What sorted x leaves to know: places of windows, weights of values in them, and ties.

    Attributes
    ----------
    x : ndarray
        Sorted, with its median at 0.
    windows : tuple of Windows
        For each of the spans.
    ties : ndarray or None
        For every place its number among distinct values; None where all are distinct.
    firsts : ndarray
        Where each distinct value begins.
    """

    x: Array
    windows: tuple[Windows, ...]
    ties: Index | None
    firsts: Index

    def __call__(self, values: Array, *, bass: float) -> Array:
        """Smooth rows (m, n); 0 < bass <= 10 favours the wide windows."""
        tweeter, midrange, _ = self.windows
        cumulated = self._cumulated(values)
        fits = np.empty((len(SPANS), *values.shape))
        residuals = np.empty_like(fits)
        for window, fit, residual in zip(self.windows, fits, residuals, strict=True):
            self._lines(window, cumulated, out=fit)
            _left_out(window, values, fit, out=residual)
            self._average_ties(fit)
        self._smooth(midrange, residuals)
        spans = _best_spans(residuals, bass)
        self._smooth(midrange, spans)
        mixed = _between(spans, fits)
        self._smooth(tweeter, mixed)
        return mixed

    def _smooth(self, window: Windows, values: Array) -> None:
        """Replace values by the lines of one width."""
        self._lines(window, self._cumulated(values), out=values)
        self._average_ties(values)

    def _cumulated(self, values: Array) -> Complex:
        """Sums of values (real) and of x times values (imaginary) from the middle to every place.

        As one complex number they cost the time of one. Counted from the middle, what is far out does not round what
        is near.
        """
        n = values.shape[-1]
        middle = n // 2
        sums = np.empty((*values.shape[:-1], n + 1), dtype=np.complex128)
        left, right = sums[..., :middle], sums[..., middle + 1 :]
        sums[..., middle] = 0.0
        np.negative(values[..., :middle], out=left.real)
        np.multiply(left.real, self.x[:middle], out=left.imag)
        np.copyto(right.real, values[..., middle:])
        np.multiply(right.real, self.x[middle:], out=right.imag)
        np.cumsum(left[..., ::-1], axis=-1, out=left[..., ::-1])
        np.cumsum(right, axis=-1, out=right)
        return sums

    def _lines(self, window: Windows, cumulated: Complex, *, out: Array) -> None:
        """The line of every place's window, at that place."""
        n, width = len(self.x), window.width
        inner = slice(window.half, window.half + n - width + 1)
        sums = cumulated[..., width:] - cumulated[..., : n + 1 - width]
        np.multiply(sums.real, window.level[inner], out=out[..., inner])
        sloped = sums.imag * window.slope[inner]
        out[..., inner] += sloped
        for ends, which in ((slice(inner.start), 0), (slice(inner.stop, n), -1)):
            edge = sums[..., which, None]
            out[..., ends] = edge.real * window.level[ends] + edge.imag * window.slope[ends]

    def _average_ties(self, values: Array) -> None:
        """Give places of equal x the mean of their values."""
        if self.ties is None:
            return
        sums = np.add.reduceat(values, self.firsts, axis=-1)
        sums /= np.diff(self.firsts, append=len(self.x))
        np.take(sums, self.ties, axis=-1, out=values)


def smoother(x: Array) -> Smoother:
    """All that smoothing over sorted x needs; x is not constant."""
    middle = np.median(x)
    x = x - middle
    is_first = np.ones(len(x), dtype=np.bool_)
    np.not_equal(x[1:], x[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    ties = None if len(firsts) == len(x) else np.cumsum(is_first) - 1
    least = (_NARROW * _middle_half(x)) ** 2
    return Smoother(x, tuple(_windows(x, span, least) for span in SPANS), ties, firsts)


def _middle_half(x: Array) -> float:
    """The distance that the middle half of sorted x covers, or more if that is all ties."""
    n = len(x)
    # Places are counted from 1 and rounded down, as in Friedman's program.
    low, high = max(n // 4, 1), max(3 * (n // 4), 1)
    widen = np.arange(n)
    distances = x[np.minimum(high + widen, n) - 1] - x[np.maximum(low - widen, 1) - 1]
    return float(distances[np.argmax(distances > 0)])


def _windows(x: Array, span: float, least: float) -> Windows:
    n = len(x)
    half = max(int(0.5 * span * n + 0.5), 2)
    width = min(2 * half + 1, n)
    half = min(half, n - 1)
    inside, means, squares = _moments(x, width)
    window = np.clip(np.arange(n) - half, 0, n - width)
    reference, mean, square = inside[window], means[window], squares[window]
    distance = (x - reference) - mean
    slope = np.zeros(n)
    np.divide(distance, square, out=slope, where=square > least)
    freedom = 1.0 - 1.0 / width - slope * distance
    inflation = np.zeros(n)
    np.divide(1.0, freedom, out=inflation, where=freedom > _LEAST_FREEDOM)
    level = 1.0 / width - slope * (reference + mean)
    return Windows(width, half, level, slope, inflation, bool(inflation[-1] == 0.0))


def _moments(x: Array, width: int) -> tuple[Array, Array, Array]:
    """For every window a point inside, the mean from there, and the sum of squares around the mean.

    Blocks of the same width meet once in every window, and sums run from there to both sides: no term comes from
    outside, so that ties far out have squares of exactly 0.
    """
    n_windows = len(x) - width + 1
    n_blocks = -(-len(x) // width) + 1
    blocks = np.pad(x, (0, n_blocks * width - len(x)), mode="edge").reshape(n_blocks, width)
    after = blocks - blocks[:, :1]
    # A window that is a block has nothing before the meeting point.
    before = blocks[:-1] - blocks[1:, :1]
    before[:, 0] = 0.0
    sums = []
    for power in (1, 2):
        onward = np.cumsum(after**power, axis=1).ravel()
        back = np.cumsum(before[:, :0:-1] ** power, axis=1)[:, ::-1]
        back = np.pad(back, ((0, 0), (1, 0))).ravel()
        sums.append(back[:n_windows] + onward[width - 1 : width - 1 + n_windows])
    first, second = sums
    meeting = -(-np.arange(n_windows) // width) * width
    return x[meeting], first / width, second - first**2 / width


def _left_out(window: Windows, values: Array, fit: Array, *, out: Array) -> None:
    """Sizes of the residuals of points left out of their own lines."""
    np.subtract(values, fit, out=out)
    np.abs(out, out=out)
    out *= window.inflation
    if window.last_is_free:
        out[..., -1] = out[..., -2]


def _best_spans(residuals: Array, bass: float) -> Array:
    """The span whose residuals are smallest, drawn to the widest the more the less that matters."""
    narrow, _, wide = residuals
    spans = np.full(narrow.shape, SPANS[0])
    least = narrow.copy()
    for span, residual in zip(SPANS[1:], residuals[1:], strict=True):
        np.copyto(spans, span, where=residual < least)
        np.minimum(least, residual, out=least)
    if bass > 0:
        drawn = least < wide
        ratio = np.zeros_like(least)
        np.divide(least, wide, out=ratio, where=drawn & (wide != 0))
        # Where lines fall below 0 it may be large, and no number is lost by a bound.
        np.clip(ratio, _LEAST_RATIO, _LARGEST_RATIO, out=ratio)
        np.power(ratio, 10.0 - bass, out=ratio)
        ratio *= drawn
        spans += (SPANS[2] - spans) * ratio
    return spans


def _between(spans: Array, fits: Array) -> Array:
    """The fits of three spans, interpolated to the span of every place."""
    narrow, middle, wide = fits
    up = np.clip((spans - SPANS[1]) / (SPANS[2] - SPANS[1]), 0.0, 1.0)
    down = np.clip((SPANS[1] - spans) / (SPANS[1] - SPANS[0]), 0.0, 1.0)
    wide -= middle
    narrow -= middle
    wide *= up
    narrow *= down
    middle += wide
    middle += narrow
    return middle
