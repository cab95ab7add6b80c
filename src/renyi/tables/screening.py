"""Every column of a table against one target: what `renyi.screen` gives."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Index
from renyi.inference.false_discovery import Correction
from renyi.tables.result import TableResult

if TYPE_CHECKING:
    from renyi.data.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Screening(TableResult):
    """Dependence of every column on one target, strongest first, from `renyi.screen`.

    Attributes
    ----------
    target : str
        The target; `given` what was held fixed.
    names : tuple of str
        The other columns, strongest first: by what the strength is at least, given how many rows carry it.
    values, debiased, strength, pvalues, qvalues, n_samples, pearson, spearman : ndarray
        As in `DependenceMatrix`, in the order of `names`.
    types, skipped, pooled, n_rows, notes
        As in `DependenceMatrix`.
    """

    target: str = ""
    given: tuple[str, ...] = ()

    _pairs_by = "to_frame()"

    @classmethod
    def of(
        cls, table: "Table", target: str, given: tuple[str, ...], edges: Edges, /, *, correction: Correction
    ) -> "Screening":
        """From the pairs of every column with the target."""
        return cls(edges=edges, **cls._told([table]), correction=correction, target=target, given=given)

    @cached_property
    def _order(self) -> Index:
        return self.ranked()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns, strongest first."""
        return tuple(self.edges.x[i].column.name for i in self.edges.found.i[self._order])

    def _shaped(self, name: str, diagonal: Any) -> NDArray[Any]:
        return np.asarray(self._of_pairs(name)[self._order])

    def to_frame(self) -> Any:
        """One row a column, strongest first, in the kind of frame that came in."""
        return self._frame(self._order)

    def top(self, n: int = 20, *, fdr: float | None = None) -> Any:
        """The strongest columns at a false discovery rate, by default 0.05, as a frame."""
        return self._frame(self._found(n, fdr)[:n])
