"""What the user holds after comparing the columns of a table."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.edges import ALIAS, Edges
from renyi.errors import InputError
from renyi.inference.discovery import Correction, adjust

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from matplotlib.figure import Figure

    from renyi.frames import Table

__all__ = ["DependenceMatrix", "Screening", "rate_for"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Said = TypeVar("Said")

# What is reported where nobody asks for another rate.
_RATE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class _OfTable:
    """What results on tables share: the pairs that were looked at, and where they came from."""

    edges: Edges = field(repr=False)
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    pooled: Mapping[str, int]
    n_rows: int
    correction: Correction
    new_frame: Callable[[dict[str, Any]], Any] = field(repr=False)

    # What has all pairs as rows of a frame.
    _pairs_by: ClassVar[str] = "to_edges()"

    def __getstate__(self) -> dict[str, Any]:
        # Views of mappings have no copies. What is derived is derived again: it is read-only, which copies are not.
        state = {own.name: getattr(self, own.name) for own in fields(self)}
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        said = {name: MappingProxyType(state[name]) for name in ("types", "skipped", "pooled")}
        self.__dict__.update(state | said)

    @cached_property
    def edge_qvalues(self) -> Array:
        """Adjusted p-values of the pairs, over the tests really made."""
        return adjust(self.edges.pvalues, self.correction)

    @property
    def n_tests(self) -> int:
        """Tests made."""
        return int(np.count_nonzero(np.isfinite(self.edges.pvalues)))

    def n_found(self, q: float = 0.05) -> int:
        """Dependences at a false discovery rate of q; none where nothing is tested."""
        return int(np.count_nonzero(self.edge_qvalues <= _checked_rate(q)))

    def rate(self, q: float | None, /) -> float:
        """The false discovery rate that is asked for, by default 0.05; refused where nothing is tested."""
        return rate_for(q, self.edges.measure, has_law=self.edges.has_law)

    def ranked(self, rate: float | None = None, /) -> Index:
        """Positions of the pairs, strongest first, those at a false discovery rate alone; not tested they are all."""
        edges, found = self.edges, self.edges.found
        kept = np.arange(len(edges))
        if rate is not None and edges.has_law:
            kept = np.flatnonzero(self.edge_qvalues <= rate)
        # What could not be measured comes last, equal ones in the order of the table.
        strength = np.where(np.isnan(edges.strength), -np.inf, edges.strength)
        order = np.lexsort((found.j[kept], found.i[kept], edges.log_pvalues[kept], -strength[kept]))
        return np.asarray(kept[order])

    @property
    def n_shuffled(self) -> int:
        """Tests whose p-value comes from shuffles, and cannot be below `edges.smallest_shuffled`."""
        return int(np.count_nonzero(self.edges.is_shuffled))

    def report(
        self,
        path: "str | PathLike[str]",
        *,
        q: float | None = None,
        title: str = "",
        pairs: "Sequence[tuple[str, str]]" = (),
        rows: int = 1000,
    ) -> "Path":
        """Write all that was found into one file that others can open: a page, or its data.

        Parameters
        ----------
        path : str or path
            The file: JSON where it ends in .json (docs/report-schema.md), else a page that needs no network.
        q : float, optional
            False discovery rate at which a pair counts as found, by default 0.05; refused where nothing is tested.
        title : str, optional
            What the page is called.
        pairs : sequence of (str, str), optional
            Pairs to show with their functions f and g, beside the 200 strongest.
        rows : int, default 1000
            Rows of the table at most whose values go into the file; 0 for none.

        Returns
        -------
        Path
            The file that was written.
        """
        from renyi.report.document import Wishes
        from renyi.report.page import write_report

        reasons = [variable.why_no_rows for variable in self.edges.x if variable.why_no_rows]
        if reasons:
            raise InputError(
                f"a report shows rows, and those of this table {reasons[0]}, or write the pairs by {self._pairs_by}"
            )

        return write_report(self, path, Wishes(self.rate(q), title, pairs, rows))  # type: ignore[arg-type]

    def _frame(self, which: Index) -> Any:
        return self.edges.take(which).to_frame(self.new_frame, qvalues=self.edge_qvalues[which])


@dataclass(frozen=True, eq=False, repr=False)
class DependenceMatrix(_OfTable):
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
        The same, less what independent data would show; NaN for measures other than the RDC.
    pvalues, qvalues : ndarray
        P-values, and adjusted for the tests really made; NaN on the diagonal and where no test was made.
    n_samples : ndarray
        Rows that both columns have.
    pearson, spearman : ndarray
        Linear and monotone correlation beside it; NaN for categories of more than two levels, and vectors. With missing
        cells Spearman's ranks are those over each column's own rows; beside other measures, over the common rows.
    types, skipped : mapping
        What each column was taken for, and why others were left out.
    pooled : mapping
        Categories of which rare levels were taken together, and how many.
    n_rows : int
        Rows of the table.
    n_tests, n_shuffled : int
        Tests made, and how many of them have a p-value from shuffles, which cannot be below 0.0001 (by measures other
        than the RDC: less in tables of many tests).
    """

    names: tuple[str, ...] = ()
    other_names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, table: "Table", other: "Table | None", edges: Edges, /, *, correction: Correction
    ) -> "DependenceMatrix":
        """From the pairs of one table, or of two."""
        parts, first = (table,) if other is None else (table, other), {*table.types, *table.skipped}
        return cls(
            edges=edges,
            types=_together([part.types for part in parts], first),
            skipped=_together([part.skipped for part in parts], first),
            pooled=_together([part.pooled for part in parts], first),
            n_rows=table.n_rows,
            correction=correction,
            new_frame=table.new_frame,
            names=tuple(column.name for column in table.columns),
            other_names=None if other is None else tuple(column.name for column in other.columns),
        )

    @cached_property
    def values(self) -> Array:
        """Coefficients."""
        return self._spread("coefficient", self.edges.own)

    @cached_property
    def debiased(self) -> Array:
        """Coefficients, less what independent data would show."""
        return self._spread("debiased", 1.0 if self.edges.measure == "rdc" else np.nan)

    @cached_property
    def strength(self) -> Array:
        """What pairs are ranked by: debiased coefficients, or the sizes of those of another measure."""
        return self._spread("strength", self.edges.own)

    @cached_property
    def pvalues(self) -> Array:
        """P-values of independence."""
        return self._spread("pvalues", np.nan)

    @cached_property
    def qvalues(self) -> Array:
        """P-values, adjusted."""
        return self._matrix_of(self.edge_qvalues, np.nan)

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation."""
        return self._spread("pearson", 1.0)

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation."""
        return self._spread("spearman", 1.0)

    @cached_property
    def n_samples(self) -> NDArray[np.intp]:
        """Rows that both columns have."""
        own = [variable.n_samples for variable in self.edges.x]
        counts = self._matrix_of(self.edges.found.n, own).astype(np.intp)
        counts.setflags(write=False)
        return counts

    def _spread(self, name: str, diagonal: Any) -> Array:
        """What was found on the pairs as a matrix that cannot be written to."""
        spread = self.edges.spread(name)
        if spread is None:
            holder = self.edges if hasattr(self.edges, name) else self.edges.found
            return self._matrix_of(getattr(holder, name), diagonal)
        spread.setflags(write=False)
        return spread

    def _matrix_of(self, values: NDArray[Any], diagonal: Any) -> Array:
        """Values of the pairs as a matrix that cannot be written to."""
        i, j = self.edges.found.i, self.edges.found.j
        if self.other_names is not None:
            spread = np.full((len(self.names), len(self.other_names)), np.nan)
            spread[i, j] = values
        else:
            spread = np.full((len(self.names), len(self.names)), np.nan)
            spread[i, j] = spread[j, i] = values
            np.fill_diagonal(spread, diagonal)
        spread.setflags(write=False)
        return spread

    def top(self, n: int = 20, *, q: float | None = None, fold: bool = True) -> Any:
        """The strongest dependences at a false discovery rate of q, as a frame.

        Parameters
        ----------
        n : int, default 20
            Rows at most.
        q : float, optional
            False discovery rate, by default 0.05; refused where nothing is tested, and all pairs are ranked.
        fold : bool, default True
            Tell columns that are nearly the same (coefficient above 0.99, and neither says more than the other; beside
            other measures, Spearman's above 0.99) as one: the first speaks for all, and one row names the others.

        Returns
        -------
        frame
            In the kind of frame that came in, sorted by the debiased coefficient: `x`, `y`, `coefficient`, `debiased`,
            `pearson`, `spearman`, `nonlinear` (a linear coefficient would have missed it), `p`, `q`, `n`; folded also
            `stands_for`, the number of pairs that a row stands for.
        """
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise InputError(f"n={n!r} makes no sense: pass a whole number of rows, 1 or more")
        ranked = self.ranked(self.rate(q))
        if not fold:
            return self._frame(ranked[:n])
        kept, names, sizes = self.folded(ranked)
        shown = slice(0, int(n))
        edges = self.edges.take(kept[shown])

        def with_aliases(columns: dict[str, Any]) -> Any:
            return self.new_frame(
                {**columns, "y": np.array(names[shown], dtype=str), "stands_for": np.array(sizes[shown], dtype=np.intp)}
            )

        return edges.to_frame(with_aliases, qvalues=self.edge_qvalues[kept[shown]])

    def folded(self, ranked: Index, /) -> tuple[Index, list[str], list[int]]:
        """Of ranked pairs one for each pair of clusters; what to call its second side, and how many pairs it is."""
        if self.other_names is not None:
            return ranked, [self.other_names[j] for j in self.edges.found.j[ranked]], [1] * len(ranked)
        leaders, found = self._leaders(ranked), self.edges.found
        lines: dict[tuple[int, int], list[int]] = {}
        for edge in ranked.tolist():
            ends = leaders[found.i[edge]], leaders[found.j[edge]]
            lines.setdefault((min(ends), max(ends)), []).append(edge)
        told = []
        for (a, b), edges in lines.items():
            # The leaders speak for their clusters, if their own pair is among the ranked ones.
            spoken = (edge for edge in edges if found.i[edge] == a and (a == b or found.j[edge] == b))
            edge = next(spoken, edges[0])
            aliases = [name for name, leader in zip(self.names, leaders, strict=True) if leader == a][1:]
            told.append((edge, ", ".join(aliases) if a == b else self.names[found.j[edge]], len(edges)))
        # Who speaks for a line may be weaker than the line was, hence once more by strength.
        told.sort(key=lambda line: -self.edges.strength[line[0]])
        return np.array([edge for edge, _, _ in told], dtype=np.intp), [y for _, y, _ in told], [n for _, _, n in told]

    def _leaders(self, ranked: Index) -> list[int]:
        """For every column the first one that it is nearly the same as, which may be itself."""
        near: dict[int, set[int]] = {}
        found = self.edges.found
        for edge in filter(self.edges.is_alias, ranked[np.abs(found.coefficient[ranked]) > ALIAS].tolist()):
            i, j = int(found.i[edge]), int(found.j[edge])
            near.setdefault(i, set()).add(j)
            near.setdefault(j, set()).add(i)
        leaders: list[int] = []
        for column in range(len(self.names)):
            closest = (k for k in sorted(near.get(column, ())) if k < column and leaders[k] == k)
            leaders.append(next(closest, column))
        return leaders

    def to_frame(self) -> Any:
        """The coefficients as a frame, as `df.corr()` has them; frames without an index have the names in front."""
        columns = self.names if self.other_names is None else self.other_names
        frame = self.new_frame(
            {"": np.array(self.names, dtype=str), **{name: self.values[:, j] for j, name in enumerate(columns)}}
        )
        return frame.set_index("").rename_axis(None) if hasattr(frame, "set_index") else frame

    def strongest(self, *, top: int | None, threshold: float | None, q: float | None) -> Any:
        """The strongest pairs as a frame, at most so many, and none below a threshold."""
        ranked = self.ranked(self.rate(q))
        kept = ranked if threshold is None else ranked[self.edges.strength[ranked] >= threshold]
        return self._frame(kept[:top])

    def to_edges(self) -> Any:
        """All pairs as rows of a frame, strongest first by the debiased coefficient."""
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
        from renyi.report.heatmap import plot_matrix

        return plot_matrix(self, ax=ax)

    def __repr__(self) -> str:
        from renyi.report.terminal import text_of_matrix

        return text_of_matrix(self)

    def _repr_html_(self) -> str:
        from renyi.report.notebook import html_of_matrix

        return html_of_matrix(self)


@dataclass(frozen=True, eq=False, repr=False)
class Screening(_OfTable):
    """Dependence of every column on one target, strongest first, from `renyi.screen`.

    Attributes
    ----------
    target : str
        The target; `given` what was held fixed.
    names : tuple of str
        The other columns, strongest first by the debiased coefficient.
    values, debiased, pvalues, qvalues, n_samples, pearson, spearman : ndarray
        As in `DependenceMatrix`, in the order of `names`.
    types, skipped, pooled, n_rows
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
        """Coefficients, less what independent data would show."""
        return self._sorted(self.edges.debiased)

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
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise InputError(f"n={n!r} makes no sense: pass a whole number of rows, 1 or more")
        return self._frame(self.ranked(self.rate(q))[:n])

    def __repr__(self) -> str:
        from renyi.report.terminal import text_of_screening

        return text_of_screening(self)

    def _repr_html_(self) -> str:
        from renyi.report.notebook import html_of_screening

        return html_of_screening(self)


def _together(parts: "Sequence[Mapping[str, Said]]", first: Collection[str]) -> "Mapping[str, Said]":
    """What is said of the columns of one table or two; names that the first has too are told apart in the second."""
    said = dict(parts[0])
    for name, what in (parts[1] if len(parts) > 1 else {}).items():
        said[f"{name} (other)" if name in first else name] = what
    return MappingProxyType(said)


def rate_for(q: float | None, measure: str, /, *, has_law: bool) -> float:
    """The false discovery rate that is asked for of a measure, by default 0.05; refused where nothing is tested."""
    if q is not None and not has_law:
        raise InputError(
            f"q={q!r} is a false discovery rate, and {measure} ranks pairs without testing them: leave q out, or "
            "choose a measure with a law, such as 'rdc'"
        )
    return _checked_rate(_RATE if q is None else q)


def _checked_rate(q: Any, /) -> float:
    """A false discovery rate, if it is one."""
    if not isinstance(q, (int, float, np.number)) or isinstance(q, bool) or not 0.0 < q <= 1.0:
        raise InputError(f"q={q!r} is no false discovery rate: pass a number above 0, at most 1")
    return float(q)
