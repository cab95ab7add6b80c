"""Every column of a table against one target: what `renyi.screen` gives."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Index
from renyi.inference.false_discovery import Correction
from renyi.pair import showing
from renyi.tables.dependence import Dependence, dependence_of
from renyi.tables.result import Shown, TableResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    coefficient, values, debiased, strength, pvalues, qvalues, n_samples, pearson, spearman : ndarray
        As in `DependenceMatrix`, in the order of `names`.
    types, skipped, pooled, n_rows, notes
        As in `DependenceMatrix`.
    """

    _internal = tuple(name for name in TableResult._internal if name not in ("target", "given"))

    target: str = ""
    given: tuple[str, ...] = ()

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

    def __getitem__(self, name: str, /) -> Dependence:
        """One column and the target, by its name."""
        names = [self.edges.x[i].column.name for i in self.edges.found.i.tolist()]
        pair = tuple(map(str, name)) if isinstance(name, tuple) else ()
        if self.target in pair and len(pair) == 2:
            name = pair[0] if pair[1] == self.target else pair[1]
        self._check_compared(name, names)
        return dependence_of(self, names.index(str(name)), self.given)

    def to_frame(self, what: Shown = "strength", /) -> Any:
        """One number of every column as a frame of one column, strongest first; `to_long` has all numbers.

        Parameters
        ----------
        what : {"strength", "coefficient", "p", "q", "n"}, default "strength"
            Which number.
        """
        return self._labelled(what, self.names, (self.target,))

    def top(self, n: int = 20, *, fdr: float | None = None) -> Any:
        """The strongest columns at a false discovery rate, by default 0.05, as a frame."""
        return self._frame(self._found(n, fdr)[:n])

    def plot(self, *, ax: Any = None) -> "Figure":
        """Draw the strengths as bars, strongest first; what is no finding is pale and has no number.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return cast("Figure", showing.report().plot_screening(self, ax=ax))
