"""What changed between two tables: columns, pairs, and one p-value for all of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from renyi.change.columns import ColumnChange
from renyi.compute.arrays import Array, Index, Mask
from renyi.errors import check_choice, check_integer, is_number, must_be
from renyi.inference.false_discovery import FDR, Correction, adjust, check_rate
from renyi.pair import showing
from renyi.tables.dependence_matrix import DependenceMatrix

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from matplotlib.figure import Figure

# A dependence that is no stronger is none in words, and one that moves by no more has another form at most.
_NO_STRENGTH, _SAME_STRENGTH, _TREND = 0.1, 0.05, 0.1


@dataclass(frozen=True, eq=False)
class PairChanges:
    """All pairs of common columns, by their positions among `names`: what changed, and how strong they were and are."""

    i: Index
    j: Index
    moved: Array
    pvalues: Array
    before: Array
    after: Array
    spearman_before: Array
    spearman_after: Array

    @property
    def change(self) -> Array:
        """By how much the strength changed."""
        return self.after - self.before

    def kind(self, pair: int, /) -> str:
        """What became of a dependence, in a word or two; nothing where chance alone may have moved it."""
        if not self.pvalues[pair] <= FDR:
            return ""
        before, after = float(self.before[pair]), float(self.after[pair])
        trends = float(self.spearman_before[pair]), float(self.spearman_after[pair])
        rules = {
            "turned": min(map(abs, trends)) >= _TREND and trends[0] * trends[1] < 0,
            "not measured in both": np.isnan(before) or np.isnan(after),
            "appeared": before < _NO_STRENGTH <= after,
            "vanished": after < _NO_STRENGTH <= before,
            "other form": abs(after - before) <= _SAME_STRENGTH,
            "stronger": after > before,
            "weaker": True,
        }
        return next(kind for kind, applies in rules.items() if applies)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(showing.Record):
    """What changed between two tables, from `renyi.compare`.

    Attributes
    ----------
    columns : frame
        What changed in columns, strongest first: `column`, `what` ("values", "missing" cells or new "levels"), `moved`
        with its 95 % interval `low` to `high`, `p`, `q`, `words`.
    pairs : frame
        What changed in dependences, most evident first: `x`, `y`, `kind` ("appeared", "vanished", "stronger", "weaker",
        "turned", "other form"), strengths `before` and `after`, `change`, `moved`, `p`, `q`.
    together : float
        The p-value of "nothing changed at all".
    labels : tuple of str
        What the two tables are called.
    names : tuple of str
        Common columns that were compared.
    only_before, only_after : tuple of str
        Columns that one table has alone.
    retyped : mapping
        Columns that are of another type in each, with the types.
    types, skipped : mapping
        Types of the columns that were compared, and why others were not.
    n_rows : tuple of int
        Rows of the two tables; `sampled` says which of them were read as a sample, and how large it is.
    notes : tuple of str
        What reading decided.
    """

    _internal = (
        "column_qvalues",
        "matrices",
        "new_frame",
        "of_columns",
        "of_pairs",
        "pair_qvalues",
        "ranked_columns",
        "ranked_pairs",
    )

    names: tuple[str, ...]
    labels: tuple[str, str]
    n_rows: tuple[int, int]
    of_columns: tuple[ColumnChange, ...]
    of_pairs: PairChanges
    matrices: tuple[DependenceMatrix | None, DependenceMatrix | None]
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    retyped: Mapping[str, str]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    notes: tuple[str, ...]
    correction: Correction
    new_frame: Callable[[dict[str, Any]], Any] = field(repr=False)
    sampled: str = ""
    are_equal: bool = False

    def __repr__(self) -> str:
        return str(showing.report().text_of_comparison(self))

    def _repr_html_(self) -> str:
        return str(showing.report().html_of_comparison(self))

    @cached_property
    def column_qvalues(self) -> Array:
        """P-values of columns, adjusted."""
        return adjust(np.array([change.p for change in self.of_columns]), self.correction)

    @cached_property
    def pair_qvalues(self) -> Array:
        """P-values of pairs, adjusted."""
        return adjust(self.of_pairs.pvalues, self.correction)

    @property
    def together(self) -> float:
        """The p-value of "nothing changed at all": Simes' of columns and of pairs, twice the smaller one."""
        parts = [
            float(np.nanmin(adjust(p, "bh")))
            for p in (np.array([change.p for change in self.of_columns]), self.of_pairs.pvalues)
            if np.isfinite(p).any()
        ]
        return min(1.0, len(parts) * min(parts)) if parts else float("nan")

    def ranked_columns(self, q: float | None = None, least: float = 0.0, /) -> Index:
        """Changes of columns, first those that moved furthest at least; at a false discovery rate, if one is given."""
        low, moved = (np.array([getattr(change, name) for change in self.of_columns]) for name in ("low", "moved"))
        kept = np.flatnonzero(_is_found(self.column_qvalues, q) & _is_far(moved, least))
        return np.asarray(kept[np.lexsort((-moved[kept], -np.round(low[kept], 6)))], dtype=np.intp)

    def ranked_pairs(self, q: float | None = None, least: float = 0.0, /) -> Index:
        """Changes of pairs, first those that moved furthest; at a false discovery rate, if one is given."""
        moved = self.of_pairs.moved
        kept = np.flatnonzero(_is_found(self.pair_qvalues, q) & _is_far(moved, least))
        furthest = np.where(np.isnan(moved[kept]), -1.0, np.round(moved[kept], 6))
        return np.asarray(kept[np.lexsort((self.of_pairs.pvalues[kept], -furthest))], dtype=np.intp)

    def n_found(self, fdr: float = FDR, *, least: float = 0.0) -> tuple[int, int]:
        """How many columns' and how many pairs' changes are found at a false discovery rate, and moved so far."""
        rate = check_rate(fdr)
        return len(self.ranked_columns(rate, least)), len(self.ranked_pairs(rate, least))

    @property
    def columns(self) -> Any:
        """What changed in columns, as a frame."""
        return self.new_frame(self._column_rows(self.ranked_columns()))

    @property
    def pairs(self) -> Any:
        """What changed in pairs, as a frame."""
        return self.new_frame(self._pair_rows(self.ranked_pairs()))

    def _column_rows(self, which: Index) -> dict[str, Array]:
        changes = [self.of_columns[k] for k in which]
        numbers = {
            name: np.array([getattr(change, name) for change in changes], dtype=float)
            for name in ("moved", "low", "high", "p")
        }
        return {
            "column": np.array([change.column for change in changes], dtype=str),
            "what": np.array([change.what for change in changes], dtype=str),
            **numbers,
            "q": self.column_qvalues[which],
            "words": np.array([change.words for change in changes], dtype=str),
        }

    def _pair_rows(self, which: Index) -> dict[str, Array]:
        pairs = self.of_pairs
        return {
            "x": np.array([self.names[k] for k in pairs.i[which]], dtype=str),
            "y": np.array([self.names[k] for k in pairs.j[which]], dtype=str),
            "kind": np.array([pairs.kind(k) for k in which.tolist()], dtype=str),
            "before": pairs.before[which],
            "after": pairs.after[which],
            "change": pairs.change[which],
            "moved": pairs.moved[which],
            "p": pairs.pvalues[which],
            "q": self.pair_qvalues[which],
        }

    def top(self, n: int = 20, *, fdr: float | None = None, least: float = 0.0) -> Any:
        """What changed most at a false discovery rate, columns and pairs in one frame.

        Parameters
        ----------
        n : int, default 20
            Rows at most.
        fdr : float, optional
            False discovery rate, by default 0.05.
        least : float, default 0.0
            Changes that moved by less are left out: on many rows the smallest change is found.

        Returns
        -------
        frame
            `x`, `y` (empty for a column), `what` ("values", "missing", "levels", "dependence"), `moved`, `p`, `q` and
            `words`, those that moved furthest first.
        """
        n = check_integer(n, "n")
        rate = check_rate(FDR if fdr is None else fdr)
        return self._both(self.ranked_columns(rate, least), self.ranked_pairs(rate, least), n)

    def to_frame(self) -> Any:
        """All that was compared, columns and pairs in one frame, as `top` has them."""
        return self._both(self.ranked_columns(), self.ranked_pairs(), None)

    def _both(self, columns: Index, pairs: Index, n: int | None) -> Any:
        of_columns, of_pairs = self._column_rows(columns), self._pair_rows(pairs)
        rows = {
            "x": (of_columns["column"], of_pairs["x"]),
            "y": (np.full(len(columns), "", dtype=str), of_pairs["y"]),
            "what": (of_columns["what"], np.array(["dependence"] * len(pairs), dtype=str)),
            **{name: (of_columns[name], of_pairs[name]) for name in ("moved", "p", "q")},
            "words": (of_columns["words"], np.array([self.pair_words(k) for k in pairs.tolist()], dtype=str)),
        }
        joined = {name: np.concatenate(parts) for name, parts in rows.items()}
        order = np.argsort(-np.nan_to_num(joined["moved"], nan=-1.0), kind="stable")[:n]
        return self.new_frame({name: part[order] for name, part in joined.items()})

    def pair_words(self, pair: int, /) -> str:
        """A change of a pair, in words."""
        check_integer(pair, "pair", 0, len(self.of_pairs.pvalues) - 1)
        pairs, kind = self.of_pairs, self.of_pairs.kind(pair)
        if kind == "turned":
            return f"turned: Spearman {pairs.spearman_before[pair]:+.2f} → {pairs.spearman_after[pair]:+.2f}"
        return f"{kind}: {pairs.before[pair]:.2f} → {pairs.after[pair]:.2f}" if kind else ""

    def plot(self) -> "Figure":
        """Draw three heatmaps: strengths before and after, and how far dependences moved, which are found in full ink.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return cast("Figure", showing.report().plot_comparison(self))

    def report(self, path: "str | PathLike[str]", *, fdr: float | None = None, title: str = "") -> "Path":
        """Write what changed into one file that others can open: a page, or its data.

        Parameters
        ----------
        path : str or path
            The file: JSON where it ends in .json, else a page that needs no network.
        fdr : float, optional
            False discovery rate at which a change counts as found, by default 0.05.
        title : str, optional
            What the page is called.

        Returns
        -------
        Path
            The file that was written.
        """
        rate = check_rate(FDR if fdr is None else fdr)
        return cast("Path", showing.report().write_comparison(self, path, rate, title))


def _is_found(qvalues: Array, q: float | None) -> Mask:
    return np.ones(len(qvalues), dtype=bool) if q is None else np.asarray(qvalues <= q)


def _is_far(moved: Array, least: float) -> Mask:
    if not is_number(least):
        raise must_be("least", "a number from 0 to 1", least)
    return np.asarray(~(moved < least))


def check_correction(correction: Any, /) -> None:
    """Refuse a correction that is not known."""
    check_choice(correction, Correction, "correction")
