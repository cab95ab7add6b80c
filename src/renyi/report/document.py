"""A result on a table as plain data, for a page and for programs; docs/reference/report-schema.md has the schema."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from renyi import __version__
from renyi.allpairs.column_group import Variable
from renyi.allpairs.row_sample import sampled_rows
from renyi.compute.arrays import Array, Index, Mask
from renyi.errors import InputError, are_several, brief, check_integer, check_text
from renyi.report.clusters import orders
from renyi.report.network import network_of
from renyi.report.pictures import Lines, lines_of_pairs, pictures_of
from renyi.report.sentences import beside_numbers, drawn_from, missed, sentences
from renyi.report.summary import LONGEST_NOTE, Result, called, short
from renyi.report.variables import label_of, labels_of, plain, variable_record
from renyi.report.views import Axis, view_of
from renyi.tables.dependence_matrix import DependenceMatrix

SCHEMA = 2
# What a page still opens quickly with: all pairs of 500 columns.
_MOST_PAIRS, _MOST_DRAWN = 125_000, 500
_MOST_CELLS = 400_000
_N_DETAILED = 200


@dataclass(frozen=True)
class ReportOptions:
    """What a report is to have: its rate, title, pairs to show in detail beside the strongest, and rows to show."""

    q: float = 0.05
    title: str = ""
    pairs: Sequence[tuple[str, str]] = ()
    rows: int = 1000

    def __post_init__(self) -> None:
        check_integer(self.rows, "rows", 0)
        check_text(self.title, "title")
        # What can be gone through once only is kept, and what has no truth of its own is empty or not.
        pairs: list[Any] = list(self.pairs) if are_several(self.pairs) else [None]
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
            raise InputError(f"pairs={brief(self.pairs)} are no pairs of columns: pass [('age', 'income'), ...]")
        object.__setattr__(self, "pairs", [(str(first), str(second)) for first, second in pairs])


def document_of(result: Result, options: ReportOptions, /) -> dict[str, Any]:
    """The result as dicts, lists, texts and numbers."""
    return _Summary(result, options).document()


def _is_aside(note: str) -> bool:
    """Whether a note says nothing of p-values; those that do come first, since all else rests on them."""
    return "p-value" not in note


class _Summary:
    """Columns numbered from 0, those of the other side after the first; pairs strongest first, findings at the top."""

    def __init__(self, result: Result, options: ReportOptions) -> None:
        self.result, self.options, self.edges = result, options, result.edges
        self.is_square = self.edges.y is self.edges.x
        self.shift = 0 if self.is_square else len(self.edges.x)
        self.variables: list[Variable] = [*self.edges.x, *(() if self.is_square else self.edges.y)]
        self.asked = self._asked()
        ranked = result.ranked()
        if self.edges.has_null:
            # Few rows make strong pairs that mean nothing.
            ranked = ranked[np.argsort(~(result.edge_qvalues[ranked] <= options.q), kind="stable")]
        beyond = np.isin(ranked[_MOST_PAIRS:], self.asked)
        self.kept = np.concatenate((ranked[:_MOST_PAIRS], ranked[_MOST_PAIRS:][beyond]))
        self.x, self.y = self.edges.found.i[self.kept], self.edges.found.j[self.kept] + self.shift
        self.is_found = (
            result.edge_qvalues[self.kept] <= options.q if self.edges.has_null else np.ones(len(self.kept), dtype=bool)
        )

    def document(self) -> dict[str, Any]:
        result, edges, options = self.result, self.edges, self.options
        shown = labels_of([variable.column.name for variable in self.variables])
        return {
            "schema": SCHEMA,
            "made_by": f"renyi {__version__}",
            "title": label_of(options.title or "Dependences"),
            "kind": self._kind,
            "measure": edges.measure,
            "value": called(result),
            "has_tests": edges.has_null,
            "rows": result.n_rows,
            "target": None if result.target is None else label_of(result.target),
            "given": [label_of(name) for name in result.given],
            "correction": result.correction,
            "fdr": options.q,
            "tests": result.n_tests,
            "found": result.n_found(options.q),
            "lines": int(np.count_nonzero(self.lines.speaks & self.is_found)),
            "missed": int(np.count_nonzero(missed(result, q=options.q))),
            "summary": [*sentences(result, q=options.q), *drawn_from(result)],
            "remarks": [*beside_numbers(result, q=options.q), *drawn_from(result)],
            "left_out": [{"name": label_of(name), "reason": reason} for name, reason in result.skipped.items()],
            "pooled": [{"name": label_of(name), "levels": n} for name, n in result.pooled.items()],
            "notes": [short(note, LONGEST_NOTE) for note in sorted(result.notes, key=_is_aside)],
            "drawn": self.n_drawn,
            "sampled": len(self.rows),
            "columns": [self._column(k, shown[k]) for k in range(len(self.variables))],
            "n_pairs": len(edges),
            "pairs": self._pairs(),
            "folded": [[int(place), int(self.lines.speaker[place])] for place in np.flatnonzero(~self.lines.speaks)],
            "signs": [[place, sign] for place, sign in enumerate(self.lines.signs) if sign],
            "pictures": self.pictures,
            "heatmap": self._heatmap(),
            "network": self._network(),
            "details": self._details(),
        }

    @property
    def _kind(self) -> str:
        return "screening" if self.result.target is not None else "matrix" if self.is_square else "two tables"

    def _asked(self) -> list[int]:
        """Positions of the pairs asked for, by the names of their columns."""
        places = [{v.column.name: k for k, v in enumerate(side)} for side in (self.edges.x, self.edges.y)]
        i, j = self.edges.found.i.tolist(), self.edges.found.j.tolist()
        found = {ends: edge for edge, ends in enumerate(zip(i, j, strict=True))} if self.options.pairs else {}
        asked = []
        for a, b in self.options.pairs:
            ends = ((places[0].get(first), places[1].get(second)) for first, second in ((a, b), (b, a)))
            edge = next((found[end] for end in ends if end in found), None)
            if edge is None:
                raise InputError(f"pairs has ({a!r}, {b!r}), which was not compared: name two columns that were")
            asked.append(edge)
        return asked

    # The columns.

    @cached_property
    def rows(self) -> Index:
        """Rows whose values are shown, fewer where there are many columns."""
        most = min(int(self.options.rows), _MOST_CELLS // min(len(self.variables), _MOST_DRAWN))
        return sampled_rows(self.n_drawn, most)

    @property
    def n_drawn(self) -> int:
        """Rows that pictures are drawn of."""
        return len(self.variables[0].shown)

    @cached_property
    def drawn(self) -> list[int]:
        """Columns that are drawn: those of the strongest pairs, in the order of the table."""
        if len(self.variables) <= _MOST_DRAWN:
            return list(range(len(self.variables)))
        asked = [
            int(k) for edge in self.asked for k in (self.edges.found.i[edge], self.edges.found.j[edge] + self.shift)
        ]
        seen = dict.fromkeys([*asked, *np.column_stack((self.x, self.y)).ravel().tolist()])
        return sorted(list(seen)[:_MOST_DRAWN])

    @cached_property
    def _is_drawn(self) -> Mask:
        return np.isin(np.arange(len(self.variables)), self.drawn)

    def _column(self, k: int, shown: dict[str, str]) -> dict[str, Any]:
        variable, types = self.variables[k], self.result.types
        name, is_first = variable.column.name, self.is_square or k < self.shift
        kind = types.get(name, variable.column.kind)
        if self._kind == "two tables" and not is_first:
            kind = types.get(f"{name} (other)", kind)
        rows = self.rows if self._is_drawn[k] and len(self.rows) else None
        return variable_record(variable, shown, kind, "x" if is_first else "y", rows)

    # The pairs.

    @cached_property
    def is_missed(self) -> Mask:
        """Which of the kept pairs linear coefficients miss."""
        return np.asarray(missed(self.result, q=self.options.q)[self.kept])

    @cached_property
    def lines(self) -> Lines:
        """Which of the kept pairs are told as one."""
        return lines_of_pairs(self.result, self.kept, self.is_found)

    @cached_property
    def pictures(self) -> dict[str, list[int]]:
        """What the page opens with."""
        ends = list(zip(self.x.tolist(), self.y.tolist(), strict=True))
        if self.result.target is not None:  # the target is in all of them
            ends = [(x, x) for x, _ in ends]
        return pictures_of(ends, self.lines, self.is_found, self.is_missed)

    def _pairs(self) -> dict[str, Any]:
        kept, edges, is_rdc = self.kept, self.edges, self.edges.measure == "rdc"
        with np.errstate(divide="ignore"):
            log_q = np.log10(self.result.edge_qvalues[kept])
        return {
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            "coefficient": plain(edges.found.coefficient[kept], 4),
            "debiased": plain(edges.debiased[kept], 4) if is_rdc else None,
            "strength": plain(edges.strength[kept], 4),
            "pearson": plain(edges.pearson[kept], 4) if is_rdc else None,
            "spearman": plain(edges.spearman[kept], 4) if is_rdc else None,
            "log10_p": plain(edges.log_pvalues[kept] / np.log(10), 3) if edges.has_null else None,
            "log10_q": plain(log_q, 3) if edges.has_null else None,
            "n": edges.found.n[kept].tolist(),
            "found": self.is_found.astype(int).tolist(),
            "missed": self.is_missed.astype(int).tolist(),
            "remark": [edges.remark(edge) for edge in kept.tolist()] if is_rdc else None,
        }

    def _heatmap(self) -> dict[str, Any] | None:
        """Columns in an order in which neighbours are alike; against one target there is nothing to order."""
        if not isinstance(self.result, DependenceMatrix):
            return None
        drawn = np.array(self.drawn)
        strength = self._strength_between(drawn)
        if self.is_square:
            across, _ = orders(strength, is_square=True)
            first = second = drawn[across].tolist()
        else:
            n_first = int(np.count_nonzero(drawn < self.shift))
            across, down = orders(strength[:n_first, n_first:], is_square=False)
            first, second = drawn[:n_first][across].tolist(), drawn[n_first:][down].tolist()
        known = self.edges.strength[np.isfinite(self.edges.strength)]
        unbounded = np.isnan(self.edges.largest) and len(known)
        return {"rows": first, "columns": second, "scale": round(float(known.max()), 4) if unbounded else 1.0}

    def _strength_between(self, drawn: Index) -> Array:
        """Strengths of the kept pairs between the columns that are drawn."""
        place = np.full(len(self.variables), -1)
        place[drawn] = np.arange(len(drawn))
        which = np.flatnonzero((place[self.x] >= 0) & (place[self.y] >= 0))
        i, j = place[self.x[which]], place[self.y[which]]
        between = np.full((len(drawn), len(drawn)), np.nan)
        between[i, j] = between[j, i] = self.edges.strength[self.kept[which]]
        return between

    def _network(self) -> dict[str, Any] | None:
        if self.result.target is not None:
            return None
        strength = self.edges.strength[self.kept]
        are_two = self.lines.speaks & np.array([sign != "=" for sign in self.lines.signs], dtype=bool)
        which = np.flatnonzero(
            are_two & self.is_found & (strength > 0) & self._is_drawn[self.x] & self._is_drawn[self.y]
        )
        ends = list(zip(self.x[which].tolist(), self.y[which].tolist(), strict=True))
        network = network_of(ends)
        return network and {**network, "edges": which[network["edges"]].tolist()}

    def _details(self) -> list[dict[str, Any]]:
        """The strongest pairs, those asked for, and those that the page opens with."""
        is_known = np.isfinite(self.edges.strength[self.kept])
        strongest = np.flatnonzero(is_known)[:_N_DETAILED].tolist()
        place_of = {edge: place for place, edge in enumerate(self.kept.tolist())}
        axes: dict[int, Axis] = {}

        def axis(k: int) -> Axis:
            return axes.setdefault(k, Axis(self.variables[k]))

        is_whole = len(self.rows) == self.n_drawn
        places: Iterable[int] = dict.fromkeys(
            [*strongest, *(place_of[edge] for edge in self.asked), *chain.from_iterable(self.pictures.values())]
        )
        strength = self.edges.strength[self.kept]
        linear = np.full(len(strength), np.nan)
        if self.edges.measure == "rdc":
            linear = np.fmax(np.abs(self.edges.pearson), np.abs(self.edges.spearman))[self.kept]
        return [
            {
                "pair": place,
                **view_of(
                    axis(int(self.x[place])),
                    axis(int(self.y[place])),
                    is_whole=is_whole,
                    strength=float(strength[place]),
                    linear=float(linear[place]),
                ),
            }
            for place in places
        ]
