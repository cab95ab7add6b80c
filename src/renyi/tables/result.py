"""What results on tables share: the pairs that were compared, their q-values, the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from renyi.allpairs.edges import Edges
from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, brief, is_number
from renyi.inference.false_discovery import Correction, adjust
from renyi.pair import showing

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path


__all__ = ["TableResult", "rate_for"]


# What is reported where nobody asks for another rate.
_RATE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class TableResult:
    """What results on tables share: the pairs that were looked at, and where they came from."""

    edges: Edges = field(repr=False)
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    pooled: Mapping[str, int]
    n_rows: int
    notes: tuple[str, ...]
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

    def __dir__(self) -> list[str]:
        return showing.public_names(
            self, "edge_qvalues", "edges", "folded", "new_frame", "of", "ranked", "rate", "strongest"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The coefficients, for NumPy."""
        # They cannot be written to, and a copy can.
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def values(self) -> Array:
        """Coefficients."""
        raise NotImplementedError

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
        """Positions of the pairs, those at a false discovery rate alone; not tested they are all.

        First comes the one whose strength is largest at least, as far as the rows that carry it can tell.
        """
        edges, found = self.edges, self.edges.found
        kept = np.arange(len(edges))
        if rate is not None and edges.has_law:
            kept = np.flatnonzero(self.edge_qvalues <= rate)
        # What could not be measured comes last, equal ones in the order of the table.
        edges.look_at(kept)
        lower = edges.lower[kept]
        lower = np.where(np.isnan(lower), -np.inf, lower)
        order = np.lexsort((found.j[kept], found.i[kept], edges.log_pvalues[kept], -lower))
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
        reasons = [variable.why_no_rows for variable in self.edges.x if variable.why_no_rows]
        if reasons:
            raise InputError(
                f"a report shows rows, and those of this table {reasons[0]}, or write the pairs by {self._pairs_by}"
            )

        room = showing.report()
        return cast("Path", room.write_report(self, path, room.ReportOptions(self.rate(q), title, pairs, rows)))

    def _frame(self, which: Index) -> Any:
        return self.edges.take(which).to_frame(self.new_frame, qvalues=self.edge_qvalues[which])


def rate_for(q: float | None, measure: str, /, *, has_law: bool) -> float:
    """The false discovery rate that is asked for of a measure, by default 0.05; refused where nothing is tested."""
    if q is not None and not has_law:
        raise InputError(
            f"q={brief(q)} is a false discovery rate, and {measure} ranks pairs without testing them: leave q out, or "
            "choose a measure with a law, such as 'rdc'"
        )
    return _checked_rate(_RATE if q is None else q)


def _checked_rate(q: Any, /) -> float:
    """A false discovery rate, if it is one."""
    if not is_number(q) or not 0.0 < q <= 1.0:
        raise InputError(f"q={brief(q)} is no false discovery rate: pass a number above 0, at most 1")
    return float(q)
