"""What a column adds to those already chosen where rows are series: p-values by random phases of what is left."""

from collections.abc import Sequence

import numpy as np

from renyi.compute.arrays import Array
from renyi.data.column import Column
from renyi.data.time import Timeline
from renyi.inference.shifts import Shifts, Spectra
from renyi.selection.candidates import Candidate
from renyi.selection.gain import CUT, EXPLAINED, FACTORS, Gains, either, joined, orthonormal


class GainsInTime(Gains):
    """The same search for rows in time.

    What the chosen leave of a candidate and of the target are compared as two series given others are
    (`inference.shifts`). Candidates times functions of one chosen column after the other share half of the error rate.

    Parameters
    ----------
    candidates, target, n_threads
        As in `Gains`.
    line : Timeline
        The order of the rows, and which series they belong to. Levels of series do not count.
    """

    def __init__(
        self, candidates: Sequence[Candidate], target: Column, line: Timeline, /, *, n_threads: int = 1
    ) -> None:
        super().__init__(candidates, target, n_threads=n_threads)
        self._line, self._target_has_levels = line, self._has_levels
        starts = np.repeat(np.arange(len(line.lengths)), line.lengths)
        self._span = np.zeros((len(line.lengths), line.n_rows))
        self._span[starts, line.order] = 1.0 / np.sqrt(np.take(line.lengths, starts))
        self._residual = orthonormal(self._target, self._span, cut=EXPLAINED)

    def of_singles(self, which: Sequence[int], /) -> Array:
        """Logarithm of the p-value of every candidate named."""
        if self.is_explained:
            return np.zeros(len(which))
        span, residual = self._over_time(self._span), self._over_time(self._residual, self._target_has_levels)
        products = [
            self._over_time(self._products[start : start + FACTORS]) for start in range(0, len(self._products), FACTORS)
        ]

        def log_pvalue(j: int) -> float:
            candidate = self._candidates[j]
            own = orthonormal(np.asarray(self._functions.functions(j), dtype=np.float64), self._span, cut=CUT)
            if not len(own):
                return 0.0
            x = self._over_time(own, candidate.has_levels)
            alone = Shifts(x, residual, span=span).at(0)[0]
            if not products:
                return alone
            log_p = [Shifts(x, one, span=span).at(0)[0] + np.log(len(products)) for one in products]
            return float(min(0.0, min(alone, *log_p) + np.log(2.0)))

        return np.array([log_pvalue(j) for j in which])

    def _pair(self, i: int, j: int) -> float:
        gaps = either(self._candidates[i].gaps, self._candidates[j].gaps)
        own, products = (np.asarray(part, dtype=np.float64) for part in self._products_of(i, j, gaps))
        left = orthonormal(products, joined(self._span, orthonormal(own, self._span, cut=CUT)), cut=CUT)
        if not len(left):
            return 0.0
        has_levels = self._candidates[i].has_levels or self._candidates[j].has_levels
        sides = self._over_time(left, has_levels), self._over_time(self._residual, self._target_has_levels)
        return Shifts(*sides, span=self._over_time(self._span)).at(0)[0]

    def _over_time(self, functions: Array, has_levels: bool = False) -> Spectra:
        """Fourier coefficients of orthonormal functions (functions, rows)."""
        return Spectra.of(functions[:, self._line.order].T, self._line.lengths, has_levels=has_levels)
