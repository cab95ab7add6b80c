"""All pairs of columns of a table: what `renyi.matrix` gives."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Index
from renyi.inference.false_discovery import Correction
from renyi.pair import showing
from renyi.tables.result import TableResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from renyi.data.table import Table


class Fold(NamedTuple):
    """A line of what was found: the pair that speaks for it, and all pairs it stands for.

    `sign` is "=" where y are columns nearly the same as x, "~" where all of them agree in some level.
    """

    edge: int
    y: tuple[str, ...]
    edges: tuple[int, ...]
    sign: str


@dataclass(frozen=True, eq=False, repr=False)
class DependenceMatrix(TableResult):
    """Dependence of all pairs of columns, from `renyi.matrix`.

    Attributes
    ----------
    names : tuple of str
        Columns that were compared; `other_names` those of the other table, if there was one.
    values : ndarray
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

    names: tuple[str, ...] = ()
    other_names: tuple[str, ...] | None = None

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

    def top(self, n: int = 20, *, fdr: float | None = None, fold: bool = True) -> Any:
        """The strongest dependences at a false discovery rate, as a frame.

        Parameters
        ----------
        n : int, default 20
            Rows at most.
        fdr : float, optional
            False discovery rate, by default 0.05; refused where nothing is tested, and all pairs are ranked.
        fold : bool, default True
            Tell columns that are nearly the same as one: the first speaks for all, and one row names the others.
            Numbers are the same where Spearman's correlation is at least 0.997 in size, categories where levels
            correspond one to one on nearly all rows, and so are codes and names; most rows of both must be common.
            Three or more categories that all agree in some level (as "no internet service") have one row, too.

        Returns
        -------
        frame
            In the kind of frame that came in, sorted by what the strength is at least, given how many rows carry it:
            `x`, `y`, `coefficient`, `debiased`, `strength`, `pearson`, `spearman`, `nonlinear` (a linear coefficient
            would have missed it), `p`, `q`, `n`, `remark` (what the strength is without the one or two rows that carry
            it, counted from 0; mostly empty); folded also `stands_for`, the number of pairs that a row stands for.
        """
        ranked = self._found(n, fdr)
        if not fold:
            return self._frame(ranked[:n])
        lines = self.folded(ranked)[: int(n)]
        kept = np.array([line.edge for line in lines], dtype=np.intp)
        partners = np.array([", ".join(line.y) for line in lines], dtype=str)
        sizes = np.array([len(line.edges) for line in lines], dtype=np.intp)

        def with_aliases(columns: dict[str, Any]) -> Any:
            return self.new_frame({**columns, "y": partners, "stands_for": sizes})

        return self.edges.take(kept).to_frame(with_aliases, qvalues=self.edge_qvalues[kept])

    def folded(self, ranked: Index, /) -> "list[Fold]":
        """Of ranked pairs one line for each pair of clusters, and one for columns that all agree in a level."""
        if self.other_names is not None:
            return [Fold(edge, (self.other_names[self.edges.found.j[edge]],), (edge,), "") for edge in ranked.tolist()]
        leaders, found = self._leaders(ranked), self.edges.found
        agreeing = self._agreeing(ranked, leaders)
        lines: dict[tuple[int, int], list[int]] = {}
        for edge in ranked.tolist():
            ends = leaders[found.i[edge]], leaders[found.j[edge]]
            firsts = agreeing.get(ends[0]), agreeing.get(ends[1])
            if ends[0] != ends[1] and firsts[0] is not None and firsts[0] == firsts[1]:
                ends = -1, firsts[0]
            lines.setdefault((min(ends), max(ends)), []).append(edge)
        told = []
        for (a, b), edges in lines.items():
            if a < 0:
                others = tuple(self.names[column] for column, first in agreeing.items() if first == b != column)
                edge = next(edge for edge in edges if b in (found.i[edge], found.j[edge]))
                told.append(Fold(edge, others, tuple(edges), "~"))
                continue
            # The leaders speak for their clusters, if their own pair is among the ranked ones.
            spoken = (edge for edge in edges if found.i[edge] == a and (a == b or found.j[edge] == b))
            edge = next(spoken, edges[0])
            aliases = tuple(name for name, leader in zip(self.names, leaders, strict=True) if leader == a)[1:]
            partners = aliases if a == b else (self.names[found.j[edge]],)
            told.append(Fold(edge, partners, tuple(edges), "=" if a == b else ""))
        # Who speaks for a line may be weaker than the line was, hence once more.
        lower = self.edges.lower
        return sorted(told, key=lambda line: -lower[line.edge])

    def _agreeing(self, ranked: Index, leaders: list[int]) -> dict[int, int]:
        """Categories of which any two agree in some level on nearly all rows, three or more: the first one of each.

        Columns that all say "no internet service" for the same customers correlate perfectly in that, whatever else
        they hold: all their pairs would be told with a strength of 1 before anything else.
        """
        found = self.edges.found
        near: dict[int, set[int]] = {}
        for edge in ranked[self.edges.may_agree(ranked)].tolist():
            i, j = int(found.i[edge]), int(found.j[edge])
            if leaders[i] == i and leaders[j] == j and self.edges.agrees(edge):
                near.setdefault(i, set()).add(j)
                near.setdefault(j, set()).add(i)
        groups: list[list[int]] = []
        for column in sorted(near):
            group = next((group for group in groups if near[column].issuperset(group)), None)
            if group is None:
                groups.append([column])
            else:
                group.append(column)
        return {column: group[0] for group in groups if len(group) > 2 for column in group}

    def _leaders(self, ranked: Index) -> list[int]:
        """For every column the first one that it is nearly the same as, which may be itself."""
        near: dict[int, list[tuple[int, int]]] = {}
        found = self.edges.found
        for edge in ranked[self.edges.may_be_alias(ranked)].tolist():
            near.setdefault(int(found.j[edge]), []).append((int(found.i[edge]), edge))
        leaders: list[int] = []
        for column in range(len(self.names)):
            # Of a hundred copies each is compared with the first alone.
            firsts = ((k, edge) for k, edge in sorted(near.get(column, ())) if leaders[k] == k)
            leaders.append(next((k for k, edge in firsts if self.edges.is_alias(edge)), column))
        return leaders

    def to_frame(self) -> Any:
        """The coefficients as a frame, as `df.corr()` has them; frames without an index have the names in front."""
        columns = self.names if self.other_names is None else self.other_names
        frame = self.new_frame(
            {"": np.array(self.names, dtype=str), **{name: self.values[:, j] for j, name in enumerate(columns)}}
        )
        return frame.set_index("").rename_axis(None) if hasattr(frame, "set_index") else frame

    def strongest(self, *, top: int | None, threshold: float | None, fdr: float | None) -> Any:
        """The strongest pairs as a frame, at most so many, and none below a threshold."""
        ranked = self.ranked(self.rate(fdr))
        kept = ranked if threshold is None else ranked[self.edges.strength[ranked] >= threshold]
        return self._frame(kept[:top])

    def to_edges(self) -> Any:
        """All pairs as rows of a frame, in the order of `top`."""
        return self._frame(self.ranked())

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
