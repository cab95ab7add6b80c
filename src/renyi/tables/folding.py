"""Ranked pairs of columns, of which nearly the same are told as one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.compute.arrays import Index
from renyi.errors import InputError, brief, check_flag
from renyi.tables.dependence import Dependence, dependence_of
from renyi.tables.result import Fold, TableResult


@dataclass(frozen=True, eq=False, repr=False)
class Folding(TableResult):
    """Pairs of the columns of one table, or of two."""

    _internal = tuple(name for name in TableResult._internal if name != "other_names")

    names: tuple[str, ...] = ()
    other_names: tuple[str, ...] | None = None

    def __getitem__(self, names: tuple[str, str], /) -> Dependence:
        """One pair of columns, by their names."""
        if not isinstance(names, tuple) or len(names) != 2:
            raise InputError(f"found[{brief(names)}] is not a pair of columns: write found['age', 'income']")
        sides = self.names, self.names if self.other_names is None else self.other_names
        x, y = map(str, names)
        if (x not in sides[0] or y not in sides[1]) and y in sides[0] and x in sides[1]:
            x, y = y, x
        for name, side in zip((x, y), sides, strict=True):
            self._check_compared(name, side)
        found, (i, j) = self.edges.found, (sides[0].index(x), sides[1].index(y))
        at = (found.i == i) & (found.j == j)
        if self.other_names is None:
            at |= (found.i == j) & (found.j == i)
        places = np.flatnonzero(at)
        if not len(places):
            raise InputError(f"({x!r}, {y!r}) is {self._why_not(x, y)}")
        return dependence_of(self, int(places[0]))

    def _why_not(self, x: str, y: str) -> str:
        """Why there is no pair of two columns that were compared."""
        return "one column: name two" if x == y else "no pair that was compared"

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
            `x`, `y`, `strength`, `coefficient`, `debiased`, `pearson`, `spearman`, `nonlinear` (a linear coefficient
            would have missed it), `p`, `q`, `n`, `remark` (what the strength is without the one or two rows that carry
            it, counted from 0; mostly empty); folded also `stands_for`, the number of pairs that a row stands for.
        """
        ranked = self._found(n, fdr)
        check_flag(fold, "fold")
        if not fold:
            return self._frame(ranked[:n])
        lines = self.folded(ranked)[: int(n)]
        kept = np.array([line.edge for line in lines], dtype=np.intp)
        partners = np.array([", ".join(line.y) for line in lines], dtype=str)
        sizes = np.array([len(line.edges) for line in lines], dtype=np.intp)

        def with_aliases(columns: dict[str, Any]) -> Any:
            return self.new_frame({**columns, "y": partners, "stands_for": sizes})

        return self.edges.take(kept).to_frame(with_aliases, qvalues=self.edge_qvalues[kept])

    def folded(self, ranked: Index, /) -> list[Fold]:
        """Of ranked pairs one line for each pair of clusters, and one for columns that all agree in a level."""
        if self.other_names is not None:
            return self.one_by_one(ranked)
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
