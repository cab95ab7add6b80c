"""The strongest of many lags: its p-value, by random phases.

P-values at neighbouring lags resemble one another, the more so the longer two series remember. How small the smallest
one in a window of lags is by chance is drawn: series with the sizes of Fourier coefficients that were seen and random
phases (`shifts`) have such a window around every shift. The smallest p-values of those, on the scale −log(1 − p), are
about Weibull distributed: independent ones would be exponential, with the number of lags as rate.

Where single rows weigh too much for tails as far out as that takes, as two rare events do, the p-value is an upper
bound: the share of all shifts that show as much as the strongest lag, times the number of lags.
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
# Random phases say a little too little of few rows, and less of columns with two functions, as three levels have: so
# many rows more, in benchmarks/studies/lag_sizes.py. Without it sizes at 5 % and n = 100 are 0.054 to 0.076, and 0.082.
_FEW_ROWS, _FEW_VALUES, _FEW_FUNCTIONS = 35.0, 80.0, 3
# Numbers that are worked on at once.
_AT_ONCE = 2**21
# Below, 1 − p is 1.
_LOWEST = -30.0
_LEVEL = 0.05
# How much a row may weigh, of what it may at one lag. Two flags that have 0.8 of that are called dependent at one of 49
# lags in 0.07 to 0.08 of samples at a level of 0.05, with 1.3 in 0.12, with 1.8 in 0.21, with 2.8 in 0.31.
_SHARE = 0.6


@dataclass(frozen=True, eq=False)
class Window:
    """Two series at the lags −max … max: logarithms of p-values at each, and of the smallest one.

    A smallest one of 0.05 takes one as small as `log_critical` at some lag. `is_bound` says that `log_pvalue` is an
    upper bound.
    """

    log_pvalues: Array
    log_pvalue: float
    log_critical: float
    is_bound: bool = False

    @property
    def max_lag(self) -> int:
        """The longest lag."""
        return len(self.log_pvalues) // 2

    @property
    def strongest(self) -> int:
        """The lag with the smallest p-value, of equal ones that nearest to 0."""
        lags = np.arange(-self.max_lag, self.max_lag + 1)
        return int(lags[np.lexsort((np.abs(lags), self.log_pvalues))[0]])


def around(shifts: Shifts, max_lag: int, rng: np.random.Generator, /) -> Window:
    """All lags of two columns up to the longest one, and the strongest of them."""
    observed = shifts.window(max_lag)
    if not shifts.is_light(_SHARE):
        lags = np.arange(-max_lag, max_lag + 1)
        return Window(observed, shifts.log_bound(lags), float(np.log(_LEVEL / len(lags))), is_bound=True)
    smallest = Smallest.of(_drawn(shifts, max_lag, rng), len(observed), _too_small(shifts))
    return Window(observed, smallest.log_pvalue(float(observed.min())), smallest.log_critical(_LEVEL))


def _too_small(shifts: Shifts) -> float:
    """By what factor smallest p-values of few rows are too small."""
    return 1.0 + (_FEW_VALUES if shifts.n_functions < _FEW_FUNCTIONS else _FEW_ROWS) / shifts.n_rows


def _drawn(shifts: Shifts, max_lag: int, rng: np.random.Generator) -> Array:
    """Logarithms of the smallest p-values in windows of series with phases at random."""
    width, reach = 2 * max_lag + 1, shifts.reach
    # Phases and their opposites are drawn together.
    n_pairs = max(1, int(np.ceil(_WINDOWS * width / (2 * reach))))
    at_once = max(1, _AT_ONCE // (2 * reach * shifts.n_products))
    found = [shifts.smallest_drawn(width, min(at_once, n_pairs - start), rng) for start in range(0, n_pairs, at_once)]
    return np.concatenate(found)


@dataclass(frozen=True)
class Smallest:
    """The distribution of the smallest p-value in a window of lags.

    With h = log(−log(1 − p)), which is log p where p is small, that of the smallest one is `place` + `slope` · h. It is
    never that of fewer than one lag, nor of more independent ones than there are lags, `most` in all.
    """

    place: float
    slope: float
    most: float

    @classmethod
    def of(cls, drawn: Array, n_lags: int, too_small: float = 1.0, /) -> "Smallest":
        """From logarithms of smallest p-values of series without relation, by mean and spread of their h.

        Where p-values are `too_small` by some factor, so many more of them were looked at.
        """
        scale = _hazard(drawn)
        spread = float(scale.std())
        slope = _DEVIATION / spread if spread > 0.0 else 1.0
        return cls(np.log(too_small) - _EULER - slope * float(scale.mean()), slope, n_lags * too_small)

    @property
    def _last_seen(self) -> float:
        return (_hazard_of(_SEEN) - self.place) / self.slope

    def log_pvalue(self, log_p: float, /) -> float:
        """Logarithm of the probability of so small a p-value at some lag."""
        at, seen = float(_hazard(np.array([log_p]))[0]), self._last_seen
        steepness = self.slope if at > seen else min(self.slope, 1.0)
        found = self.place + self.slope * seen + steepness * (at - seen)
        found = float(np.clip(found, at, at + np.log(self.most)))
        return found if found < _LOWEST else float(np.log(-np.expm1(-np.exp(min(found, 5.0)))))

    def log_critical(self, level: float, /) -> float:
        """Logarithm of the p-value at one lag for which the smallest one has such a p-value."""
        wanted = _hazard_of(level)
        at = float(np.clip((wanted - self.place) / self.slope, wanted - np.log(self.most), wanted))
        return float(np.log(-np.expm1(-np.exp(at))))


def _hazard_of(p: float) -> float:
    return float(np.log(-np.log1p(-p)))


def _hazard(log_p: Array) -> Array:
    """log(−log(1 − p)) of logarithms of p."""
    p = np.exp(np.clip(log_p, _LOWEST, -1e-12))
    return np.asarray(np.where(log_p < _LOWEST, log_p, np.log(-np.log1p(-p))))
