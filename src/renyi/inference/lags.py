"""The strongest of many lags: its p-value, by random phases.

P-values at neighbouring lags resemble one another, the more so the longer two series remember. How small the smallest
one in a window of lags is by chance is drawn: series with the sizes of Fourier coefficients that were seen and phases at
random (`shifts`) have such a window around every shift. The smallest p-values of those, on the scale −log(1 − p), are
about Weibull distributed: independent ones would be exponential, with the number of lags as rate.
"""

from dataclasses import dataclass

import numpy as np

from renyi.compute.arrays import Array
from renyi.inference.shifts import Shifts

# Windows that are drawn for every pair. They fix the rate of the distribution to 1/√200, 7 %.
_WINDOWS = 200
# Where fewer windows than one in a hundred are so extreme their distribution is an extrapolation, and p-values fall no
# faster than those at single lags.
_SEEN = 0.01
# Of a Gumbel distribution: its standard deviation, and how far its mean is from its mode.
_DEVIATION, _EULER = np.pi / np.sqrt(6.0), 0.5772156649
# Numbers that are worked on at once.
_AT_ONCE = 2**21


@dataclass(frozen=True, eq=False)
class Window:
    """Two series at the lags −max … max: logarithms of p-values at each, and of the smallest one."""

    log_pvalues: Array
    log_pvalue: float
    worth: float

    @property
    def max_lag(self) -> int:
        """The longest lag."""
        return len(self.log_pvalues) // 2

    @property
    def strongest(self) -> int:
        """The lag with the smallest p-value, the one nearest to 0 of several."""
        lags = np.arange(-self.max_lag, self.max_lag + 1)
        return int(lags[np.lexsort((np.abs(lags), self.log_pvalues))[0]])


def around(shifts: Shifts, max_lag: int, rng: np.random.Generator, /) -> Window:
    """All lags of two columns up to the longest one, and the strongest of them."""
    observed = shifts.window(max_lag)
    smallest = _drawn(shifts, max_lag, rng)
    log_p, worth = log_pvalue_of_smallest(float(observed.min()), smallest, len(observed))
    return Window(observed, log_p, worth)


def _drawn(shifts: Shifts, max_lag: int, rng: np.random.Generator) -> Array:
    """Logarithms of the smallest p-values in windows of series with phases at random."""
    width, reach = 2 * max_lag + 1, shifts.reach
    # Phases and their opposites are drawn together, so that x and y can change places.
    n_pairs = max(1, int(np.ceil(_WINDOWS * width / (2 * reach))))
    at_once = max(1, _AT_ONCE // (2 * reach * shifts.n_products))
    found = []
    for start in range(0, n_pairs, at_once):
        found.append(shifts.smallest_drawn(width, min(at_once, n_pairs - start), rng))
    return np.concatenate(found)


def log_pvalue_of_smallest(log_pvalue: float, drawn: Array, n_lags: int, /) -> tuple[float, float]:
    """Logarithm of the probability of such a small p-value in a window, and how many independent lags that is worth.

    `drawn` are logarithms of smallest p-values of independent series. That of one lag alone is a lower bound, that of as
    many independent ones as there are lags an upper one.
    """
    scale = _log_hazard(drawn)
    spread = float(scale.std())
    slope = _DEVIATION / spread if spread > 0.0 else 1.0
    place = -_EULER - slope * float(scale.mean())
    at = float(_log_hazard(np.array([log_pvalue]))[0])
    seen = (np.log(-np.log1p(-_SEEN)) - place) / slope
    log_hazard = place + slope * at if at > seen else place + slope * seen + min(slope, 1.0) * (at - seen)
    log_hazard = float(np.clip(log_hazard, at, at + np.log(n_lags)))
    return _log_probability(log_hazard), float(np.exp(log_hazard - at))


def _log_hazard(log_pvalues: Array) -> Array:
    """log(−log(1 − p)), which is log p where p is small."""
    p = np.exp(np.minimum(log_pvalues, -1e-12))
    return np.asarray(np.where(log_pvalues < -30.0, log_pvalues, np.log(-np.log1p(-np.maximum(p, 1e-300)))))


def _log_probability(log_hazard: float) -> float:
    """The way back: log(1 − exp(−e^h))."""
    return log_hazard if log_hazard < -30.0 else float(np.log(-np.expm1(-np.exp(min(log_hazard, 5.0)))))
