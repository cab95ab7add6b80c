"""All pairs of columns of a table: what `renyi.matrix` gives."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.inference.false_discovery import Correction
from renyi.pair import showing
from renyi.tables.folding import Folding
from renyi.tables.result import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from renyi.data.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class DependenceMatrix(Folding):
    """Dependence of all pairs of columns, from `renyi.matrix`.

    Attributes
    ----------
    names : tuple of str
        Columns that were compared; `other_names` those of the other table, if there was one.
    coefficient, values : ndarray
        Coefficients in [0, 1], 1 on the diagonal; NaN where two columns have too few rows in common. Of another measure
        they have its range, and on the diagonal what it says of a column and itself on the column's own rows, which
        need not be 1; NaN where it says nothing.
    debiased : ndarray
        The same, less what independent data would show; NaN for measures other than the RDC. Of either sign where
        nothing is there.
    strength : ndarray
        What pairs are shown with, never below 0: `debiased`, or the correlation of two numbers with the same p-value
        where the test sees more; of another measure the size of its coefficient. Pairs are ranked by what it is at
        least, given how many rows carry it.
    pvalues, qvalues : ndarray
        P-values, and adjusted for the tests really made; NaN on the diagonal and where no test was made.
    n_samples : ndarray
        Rows that both columns have.
    pearson, spearman : ndarray
        Linear and monotone correlation beside it; NaN for categories of more than two levels, and vectors. With missing
        cells Spearman's ranks are those over each column's own rows; beside other measures, over the common rows, which
        is the usual value (`renyi.measure("spearman")` has it for any pair).
    types, skipped : mapping
        What each column was taken for, and why others were left out.
    pooled : mapping
        Categories of which rare levels were taken together, and how many.
    n_rows : int
        Rows of the table.
    notes : tuple of str
        What reading had to decide, in sentences: text that is dates or numbers, cells that count as missing, names.
    n_tests, n_permuted : int
        Tests made, and how many of them have a p-value from permutations, which cannot be below 0.0001 (by measures
        other than the RDC: less in tables of many tests).
    """

    @classmethod
    def of(
        cls, table: "Table", other: "Table | None", edges: Edges, /, *, correction: Correction
    ) -> "DependenceMatrix":
        """From the pairs of one table, or of two."""
        return cls(
            edges=edges,
            **cls._told([table] if other is None else [table, other]),
            correction=correction,
            names=tuple(column.name for column in table.columns),
            other_names=None if other is None else tuple(column.name for column in other.columns),
        )

    def _shaped(self, name: str, diagonal: Any) -> NDArray[Any]:
        spread = self.edges.spread(name)
        if spread is not None:
            return spread
        values, i, j = self._of_pairs(name), self.edges.found.i, self.edges.found.j
        unknown = 0 if values.dtype.kind == "i" else np.nan
        if self.other_names is not None:
            spread = np.full((len(self.names), len(self.other_names)), unknown, dtype=values.dtype)
            spread[i, j] = values
            return spread
        spread = np.full((len(self.names), len(self.names)), unknown, dtype=values.dtype)
        spread[i, j] = spread[j, i] = values
        np.fill_diagonal(spread, diagonal)
        return spread

    def to_frame(self, what: Shown = "strength", /) -> Any:
        """One number of every pair as a frame, labelled by the columns, as `df.corr()` has them.

        Parameters
        ----------
        what : {"strength", "coefficient", "p", "q", "n"}, default "strength"
            Which number. Strengths are never below 0, also of pairs that are no findings; `debiased` has them signed.

        Returns
        -------
        frame
            In the kind of frame that came in; of pandas, or else Polars, for arrays and dicts. Frames without an index
            have the names in front.
        """
        return self._labelled(what, self.names, self.names if self.other_names is None else self.other_names)

    def plot(self, *, ax: Any = None) -> "Figure":
        """Draw the coefficients as a heatmap, similar columns beside one another.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return cast("Figure", showing.report().plot_matrix(self, ax=ax))
