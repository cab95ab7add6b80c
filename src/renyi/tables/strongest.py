"""The strongest pairs of columns of a table: what `renyi.pairs` gives."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Array
from renyi.inference.false_discovery import FDR, Correction
from renyi.tables.folding import Folding

if TYPE_CHECKING:
    from renyi.data.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Folding):
    """The strongest pairs of columns of a table, from `renyi.pairs`.

    Attributes
    ----------
    names : tuple of str
        Columns that were compared.
    fdr : float
        The false discovery rate that was asked for.
    n_tests, n_all_found : int
        Tests made, and dependences found in them at this rate; the strongest of these were kept.
    coefficient, values, debiased, strength, pvalues, qvalues, n_samples, pearson, spearman : ndarray
        As in `DependenceMatrix`, for the pairs that were kept, in the order of `to_frame()`.
    types, skipped, pooled, n_rows, notes
        As in `DependenceMatrix`.
    """

    fdr: float = FDR
    n_tests: int = 0
    n_all_found: int = 0
    rates: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(
        cls,
        table: "Table",
        edges: Edges,
        rates: Array,
        /,
        *,
        correction: Correction,
        fdr: float,
        counts: tuple[int, int],
    ) -> "Pairs":
        """From the pairs that were kept, their q-values, and how many tests there were and how many found something."""
        return cls(
            edges=edges,
            **cls._told([table]),
            correction=correction,
            names=tuple(column.name for column in table.columns),
            fdr=fdr,
            n_tests=counts[0],
            n_all_found=counts[1],
            rates=rates,
        )

    def __len__(self) -> int:
        return len(self.edges)

    @cached_property
    def edge_qvalues(self) -> Array:
        """Adjusted p-values of the pairs, over all tests that were made."""
        return self.rates

    def _shaped(self, name: str, diagonal: Any) -> NDArray[Any]:
        return np.asarray(self._of_pairs(name)[self.ranked()])

    def _why_not(self, x: str, y: str) -> str:
        if x == y:
            return super()._why_not(x, y)
        return "not among the strongest pairs, which alone were kept: pass a larger top=, or fdr=1, or use renyi.matrix"

    def to_frame(self) -> Any:
        """The pairs as rows of a frame, strongest first: the same as `to_long()`."""
        return self.to_long()
