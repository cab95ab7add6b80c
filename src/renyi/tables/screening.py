"""Every column of a table against one target: what `renyi.screen` gives."""

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, is_integer
from renyi.inference.false_discovery import Correction
from renyi.pair import showing
from renyi.tables.result import TableResult

if TYPE_CHECKING:
    from renyi.data.table import Table

__all__ = ["Screening"]


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
        return cls(
            edges=edges,
            types=MappingProxyType(dict(table.types)),
            skipped=MappingProxyType(dict(table.skipped)),
            pooled=MappingProxyType(dict(table.pooled)),
            n_rows=table.n_rows,
            notes=table.notes.sentences(),
            correction=correction,
            new_frame=table.new_frame,
            target=target,
            given=given,
        )

    @cached_property
    def _order(self) -> Index:
        return self.ranked()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns, strongest first."""
        return tuple(self.edges.x[i].column.name for i in self.edges.found.i[self._order])

    @property
    def values(self) -> Array:
        """Coefficients."""
        return self._sorted(self.edges.found.coefficient)

    @property
    def debiased(self) -> Array:
        """Coefficients, less what independent data would show; around 0 of either sign where nothing is there."""
        return self._sorted(self.edges.debiased)

    @property
    def strength(self) -> Array:
        """How strong dependences are, as in `DependenceMatrix.strength`; the order is that of their lower ends."""
        return self._sorted(self.edges.strength)

    @property
    def pvalues(self) -> Array:
        """P-values of independence, given what is held fixed."""
        return self._sorted(self.edges.pvalues)

    @property
    def qvalues(self) -> Array:
        """P-values, adjusted."""
        return self._sorted(self.edge_qvalues)

    @property
    def n_samples(self) -> NDArray[Any]:
        """Rows used."""
        return self._sorted(self.edges.found.n)

    @property
    def pearson(self) -> Array:
        """Pearson's correlation."""
        return self._sorted(self.edges.pearson)

    @property
    def spearman(self) -> Array:
        """Spearman's correlation."""
        return self._sorted(self.edges.spearman)

    def _sorted(self, values: NDArray[Any]) -> NDArray[Any]:
        ordered = values[self._order]
        ordered.setflags(write=False)
        return ordered

    def to_frame(self) -> Any:
        """One row a column, strongest first, in the kind of frame that came in."""
        return self._frame(self._order)

    def top(self, n: int = 20, *, q: float | None = None) -> Any:
        """The strongest columns at a false discovery rate of q, by default 0.05, as a frame."""
        if not is_integer(n) or n < 1:
            raise InputError(f"n={n!r} makes no sense: pass a whole number of rows, 1 or more")
        return self._frame(self.ranked(self.rate(q))[:n])

    def __repr__(self) -> str:
        return str(showing.report().text_of(self))

    def _repr_html_(self) -> str:
        return str(showing.report().html_of(self))
