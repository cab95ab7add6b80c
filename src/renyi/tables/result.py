"""What results on tables share: the pairs that were compared, their q-values, the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Array, Index
from renyi.data.table import check_known
from renyi.errors import InputError, brief, check_choice, check_integer
from renyi.inference.false_discovery import FDR, Correction, adjust, check_rate
from renyi.pair import showing

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from renyi.data.table import Table


# What a frame of all pairs can show, and the arrays that have it.
Shown = Literal["strength", "coefficient", "p", "q", "n"]
_ATTRIBUTES = {"strength": "strength", "coefficient": "coefficient", "p": "pvalues", "q": "qvalues", "n": "n_samples"}
# What is said of columns by their names.
_SAID = ("types", "skipped", "pooled")


class Fold(NamedTuple):
    """A line of what was found: the pair that speaks for it, and all pairs it stands for.

    `sign` is "=" where y are columns nearly the same as x, "~" where all of them agree in some level.
    """

    edge: int
    y: tuple[str, ...]
    edges: tuple[int, ...]
    sign: str


@dataclass(frozen=True, eq=False, repr=False)
class TableResult(showing.Record):
    """What results on tables share: the pairs that were looked at, and where they came from."""

    _internal: ClassVar[tuple[str, ...]] = (
        "edge_qvalues",
        "edges",
        "folded",
        "given",
        "new_frame",
        "of",
        "one_by_one",
        "other_names",
        "ranked",
        "rate",
        "rates",
        "target",
    )

    edges: Edges = field(repr=False)
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    pooled: Mapping[str, int]
    n_rows: int
    notes: tuple[str, ...]
    correction: Correction
    new_frame: Callable[[dict[str, Any]], Any] = field(repr=False)

    def __repr__(self) -> str:
        return str(showing.report().text_of(self))

    def _repr_html_(self) -> str:
        return str(showing.report().html_of(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The coefficients, for NumPy."""
        # They cannot be written to, and a copy can.
        return np.array(self.coefficient, dtype=dtype, copy=copy)

    @staticmethod
    def _told(parts: "Sequence[Table]") -> dict[str, Any]:
        """What is said of the columns of one table or two; names that the first has are told apart in the second."""
        table, known = parts[0], {*parts[0].types, *parts[0].skipped}
        told: dict[str, Any] = {}
        for name in _SAID:
            said = dict(getattr(table, name))
            for other in parts[1:]:
                said |= {f"{own} (other)" if own in known else own: what for own, what in getattr(other, name).items()}
            told[name] = MappingProxyType(said)
        notes = tuple(sentence for part in parts for sentence in part.notes.sentences())
        return {**told, "n_rows": table.n_rows, "notes": notes, "new_frame": table.new_frame}

    @property
    def target(self) -> str | None:
        """The column that all others were compared with, if there is one."""
        return None

    @property
    def given(self) -> tuple[str, ...]:
        """What was held fixed."""
        return ()

    @property
    def other_names(self) -> tuple[str, ...] | None:
        """Columns of another table that those of the first were compared with, if there is one."""
        return None

    def one_by_one(self, ranked: Index, /) -> list[Fold]:
        """A line for each of some pairs."""
        y, j = self.edges.y, self.edges.found.j
        return [Fold(edge, (y[j[edge]].column.name,), (edge,), "") for edge in ranked.tolist()]

    def folded(self, ranked: Index, /) -> list[Fold]:
        """The same, where pairs that say nearly the same share one."""
        return self.one_by_one(ranked)

    @cached_property
    def coefficient(self) -> Array:
        """Coefficients."""
        return self._laid_out("coefficient", self.edges.own)

    @property
    def values(self) -> Array:
        """The same as `coefficient`."""
        return self.coefficient

    @cached_property
    def debiased(self) -> Array:
        """Coefficients, less what independent data would show; around 0 of either sign where nothing is there."""
        return self._laid_out("debiased", 1.0 if self.edges.measure == "rdc" else np.nan)

    @cached_property
    def strength(self) -> Array:
        """How strong dependences are: debiased coefficients, or the sizes of those of another measure.

        Never below 0: where the test has seen more, it is the correlation of two numbers with the same p-value.
        """
        return self._laid_out("strength", self.edges.own)

    @cached_property
    def pvalues(self) -> Array:
        """P-values of independence, given what is held fixed."""
        return self._laid_out("pvalues", np.nan)

    @cached_property
    def qvalues(self) -> Array:
        """P-values, adjusted."""
        return self._laid_out("qvalues", np.nan)

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation."""
        return self._laid_out("pearson", 1.0)

    @cached_property
    def spearman(self) -> Array:
        """Spearman's correlation."""
        return self._laid_out("spearman", 1.0)

    @cached_property
    def n_samples(self) -> Index:
        """Rows that both columns have."""
        return self._laid_out("n", [variable.n_samples for variable in self.edges.x])

    def _laid_out(self, name: str, diagonal: Any) -> NDArray[Any]:
        """What is known of pairs, and of columns with themselves, as the result has it: to be read alone."""
        shaped = self._shaped(name, diagonal)
        shaped.setflags(write=False)
        return shaped

    def _shaped(self, name: str, diagonal: Any) -> NDArray[Any]:
        raise NotImplementedError

    def _of_pairs(self, name: str) -> NDArray[Any]:
        """What is known of every pair, wherever it is kept."""
        if name == "qvalues":
            return self.edge_qvalues
        found: NDArray[Any] = getattr(self.edges if hasattr(self.edges, name) else self.edges.found, name)
        return found

    @cached_property
    def edge_qvalues(self) -> Array:
        """Adjusted p-values of the pairs, over the tests really made."""
        return adjust(self.edges.pvalues, self.correction)

    @property
    def fdr(self) -> float:
        """The false discovery rate at which a pair counts as found, unless another one is asked for."""
        return FDR

    @property
    def n_tests(self) -> int:
        """Tests made."""
        return int(np.count_nonzero(np.isfinite(self.edges.pvalues)))

    def n_found(self, fdr: float | None = None) -> int:
        """Number of dependences at a false discovery rate, by default 0.05; none where nothing is tested."""
        return int(np.count_nonzero(self.edge_qvalues <= check_rate(self.fdr if fdr is None else fdr)))

    def rate(self, fdr: float | None, /) -> float:
        """The false discovery rate that is asked for, by default 0.05; refused where nothing is tested."""
        return rate_for(fdr, self.edges.measure, has_null=self.edges.has_null, usual=self.fdr)

    def ranked(self, rate: float | None = None, /) -> Index:
        """Positions of the pairs, those at a false discovery rate alone; not tested they are all.

        First comes the one whose strength is largest at least, as far as the rows that carry it can tell.
        """
        edges, found = self.edges, self.edges.found
        kept = np.arange(len(edges))
        if rate is not None and edges.has_null:
            kept = np.flatnonzero(self.edge_qvalues <= rate)
        # What could not be measured comes last, equal ones in the order of the table.
        edges.look_at(kept)
        lower = edges.lower[kept]
        lower = np.where(np.isnan(lower), -np.inf, lower)
        order = np.lexsort((found.j[kept], found.i[kept], edges.log_pvalues[kept], -lower))
        return np.asarray(kept[order])

    @property
    def n_permuted(self) -> int:
        """Tests whose p-value comes from permutations, and cannot be below `edges.smallest_permuted`."""
        return int(np.count_nonzero(self.edges.is_permuted))

    def report(
        self,
        path: "str | PathLike[str]",
        *,
        fdr: float | None = None,
        title: str = "",
        pairs: "Sequence[tuple[str, str]]" = (),
        rows: int = 1000,
    ) -> "Path":
        """Write all that was found into one file that others can open: a page, or its data.

        Parameters
        ----------
        path : str or path
            The file: JSON where it ends in .json (docs/reference/report-schema.md), else a page that needs no network.
        fdr : float, optional
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
        reasons = [variable.why_no_rows for variable in self.edges.x if variable.why_no_rows]
        if reasons:
            raise InputError(
                f"a report shows rows, and those of this table {reasons[0]}, or write the pairs by to_long()"
            )

        room = showing.report()
        return cast("Path", room.write_report(self, path, room.ReportOptions(self.rate(fdr), title, pairs, rows)))

    def _found(self, n: int, fdr: float | None) -> Index:
        """The pairs at a rate, strongest first, of which a number of rows is wanted."""
        check_integer(n, "n")
        return self.ranked(self.rate(fdr))

    def _check_compared(self, name: Any, names: Sequence[str]) -> None:
        """Refuse what is no name of a column that was compared, with the reason or with names that come close."""
        if str(name) not in names and str(name) in self.skipped:
            raise InputError(f"{name!r} was left out: {self.skipped[name]}")
        check_known(str(name), names, "the result", "found[...]")

    def to_long(self) -> Any:
        """All pairs as rows of a frame, strongest first, with what is known of each.

        Returns
        -------
        frame
            In the kind of frame that came in: `x`, `y`, `strength`, `coefficient`, `debiased`, `pearson`, `spearman`,
            `nonlinear` (a linear coefficient would have missed it), `p`, `q`, `n` and `remark` (what the strength is
            without the one or two rows that carry it, counted from 0).
        """
        return self._frame(self.ranked())

    def to_networkx(self, *, fdr: float | None = None) -> Any:
        """The findings as a graph of networkx: columns are nodes, dependences edges without a direction.

        Parameters
        ----------
        fdr : float, optional
            False discovery rate at which a pair is an edge, by default 0.05; refused where nothing is tested, and all
            pairs are edges.

        Returns
        -------
        networkx.Graph
            With all columns that were compared, also those without an edge. A node has `column_type`; of two tables
            also `bipartite`, 0 or 1, and " (other)" in names of the second that the first has too. An edge has
            `strength`, `coefficient`, `debiased`, `pearson`, `spearman`, `nonlinear`, `p`, `log10_p`, `q`, `n` and
            `remark`, as in `to_long`; the graph `measure`, `fdr` and what was `given`.
        """
        return showing.report().graph_of(self, self.rate(fdr))

    def _labelled(self, what: Shown, rows: tuple[str, ...], columns: tuple[str, ...]) -> Any:
        """One number of every pair, with names for rows and columns."""
        check_choice(what, Shown, "what")
        shaped: NDArray[Any] = getattr(self, _ATTRIBUTES[what])
        shaped = shaped.reshape(len(rows), len(columns))
        frame = self.new_frame(
            {"": np.array(rows, dtype=str), **{name: shaped[:, j] for j, name in enumerate(columns)}}
        )
        return frame.set_index("").rename_axis(None) if hasattr(frame, "set_index") else frame

    def _frame(self, which: Index) -> Any:
        return self.edges.take(which).to_frame(self.new_frame, qvalues=self.edge_qvalues[which])


def rate_for(fdr: float | None, measure: str, /, *, has_null: bool, usual: float = FDR) -> float:
    """The false discovery rate that is asked for of a measure, by default 0.05; refused where nothing is tested."""
    if fdr is not None and not has_null:
        raise InputError(
            f"fdr={brief(fdr)} is a false discovery rate, and {measure} ranks pairs without testing: leave it out, "
            "or choose a measure with a null distribution, such as 'rdc'"
        )
    return check_rate(usual if fdr is None else fdr)
