"""The strongest of very many pairs, kept while they come in, and false discovery rates that count all of them."""

import numpy as np

from renyi.allpairs.edges import MOST_LOOKED_AT, Edges
from renyi.compute.arrays import Array, Index
from renyi.inference.false_discovery import Correction

# Cells of log p: a q-value from their upper edges is too large by 0.2 % at most, never too small.
_WIDTH, _LOWEST = 0.002, -750.0
_N_CELLS = round(-_LOWEST / _WIDTH)
# Which p-value has the rate that is asked for is known in the end only. The strongest of every stratum of this many
# cells are kept until then, so that those without a chance cannot crowd out the others.
_STRATUM = 50
_LEAST_TO_SORT = 2**17


class TopPairs:
    """Takes what tiles have found and keeps the pairs that come first in the ranking.

    Which rows carry a pair is looked at in the end; until then some more are kept than are asked for.
    """

    def __init__(self, *, top: int | None, threshold: float | None, fdr: float, correction: Correction) -> None:
        self._top, self._threshold, self._fdr, self._correction = top, threshold, fdr, correction
        self._kept: list[Edges] = []
        self._n_kept = self._n_sorted = 0
        self._histogram = np.zeros(_N_CELLS, dtype=np.int64)

    def update(self, edges: Edges, /) -> None:
        """Look at some more pairs."""
        log_pvalues = edges.found.log_pvalue
        self._histogram += np.bincount(_cells(log_pvalues[np.isfinite(log_pvalues)]), minlength=_N_CELLS)
        # A q-value is never below its p-value.
        edges = edges.take(np.flatnonzero(log_pvalues <= np.log(self._fdr)))
        if self._threshold is not None:
            edges = edges.take(np.flatnonzero(edges.strength >= self._threshold))
        self._kept.append(edges)
        self._n_kept += len(edges)
        if self._top is not None and self._n_kept > max(_LEAST_TO_SORT, 2 * self._n_sorted):
            self._kept = [self._strongest_of_strata(self._top + MOST_LOOKED_AT)]
            self._n_kept = self._n_sorted = len(self._kept[0])

    def _strongest_of_strata(self, top: int) -> Edges:
        """As many of every stratum as are asked for in all."""
        edges = Edges.joined(self._kept)
        strata = _cells(edges.found.log_pvalue) // _STRATUM
        order = np.lexsort((-edges.lower, strata))
        starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
        place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        return edges.take(order[place < top])

    def result(self) -> tuple[Edges, Array, tuple[int, int]]:
        """The pairs at the rate that was asked for, strongest first, their q-values, how many tests and findings."""
        edges = Edges.joined(self._kept)
        rates = self.qvalues(edges.found.log_pvalue, self._correction)
        edges.look_at(np.flatnonzero(rates <= self._fdr))
        order = np.lexsort((edges.found.j, edges.found.i, edges.found.log_pvalue, -edges.lower))
        which = order[rates[order] <= self._fdr][: self._top]
        return edges.take(which), rates[which], (int(self._histogram.sum()), self._n_found())

    def qvalues(self, log_pvalue: Array, correction: Correction, /) -> Array:
        """Adjusted p-values, counting every pair that was tested."""
        adjusted = self._adjusted(correction)
        found = np.full(len(log_pvalue), np.nan)
        made = np.isfinite(log_pvalue)
        # What underflows is no rate of 0, and no rate is below its p-value.
        smallest = np.maximum(np.exp(log_pvalue[made]), np.finfo(np.float64).tiny)
        found[made] = np.clip(adjusted[_cells(log_pvalue[made])], smallest, 1.0)
        return found

    def _n_found(self) -> int:
        """Pairs at the rate that was asked for, among all that were tested."""
        if not self._histogram.any():
            return 0
        return int(self._histogram[self._adjusted(self._correction) <= self._fdr].sum())

    def _adjusted(self, correction: Correction) -> Array:
        """Adjusted p-values of all cells."""
        n_tests = int(self._histogram.sum())
        upper = np.exp(_LOWEST + _WIDTH * np.arange(1, _N_CELLS + 1))
        if correction == "bonferroni":
            adjusted = upper * n_tests
        else:
            factor = float(np.sum(1.0 / np.arange(1, n_tests + 1))) if correction == "by" else 1.0
            rates = factor * n_tests * upper / np.maximum(np.cumsum(self._histogram), 1)
            # A larger p-value never has a smaller rate, so the best one from here on counts.
            adjusted = np.minimum.accumulate(rates[::-1])[::-1]
        return np.asarray(np.minimum(adjusted, 1.0))


def _cells(log_pvalue: Array) -> Index:
    """The cell of every logarithm, whose upper edge is not below it."""
    return np.clip(np.ceil((log_pvalue - _LOWEST) / _WIDTH).astype(np.intp) - 1, 0, _N_CELLS - 1)
