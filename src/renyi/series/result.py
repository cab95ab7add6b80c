"""What the user holds: dependence at every lag, and the strongest lag of every pair."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, brief, check_integer
from renyi.inference.false_discovery import FDR, Correction, adjust, check_rate
from renyi.pair import showing

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from matplotlib.figure import Figure

_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class LaggedPairs:
    """Pairs of columns x and y, by their places among `names`, and what they show at the lags −max … max.

    `lag` is the strongest, `log_pvalue` that of the strongest of all. `n_effective` is how many independent rows a pair
    is worth, `band` the strength below which chance keeps nearly all lags.
    """

    i: Index
    j: Index
    coefficient: Array
    strength: Array
    log_pvalues: Array
    n: Index
    lag: Index
    log_pvalue: Array
    n_effective: Array
    band: Array


@dataclass(frozen=True, eq=False, repr=False)
class Lags(showing.Record):
    """Dependence at every lag, from `renyi.lags`.

    Attributes
    ----------
    names : tuple of str
        Columns that were compared; `target` the one that all others were compared with, or None.
    max_lag : int
        The longest lag, in rows.
    n_rows, n_series : int
        Rows of the table, and how many series they are.
    types, skipped : mapping
        Types of the columns that were compared, and why others were not.
    notes : tuple of str
        What reading decided, what was taken out of the columns, and which of them wander as random walks do.
    """

    _internal = "new_frame", "of_pairs", "pvalues", "qvalues", "ranked", "direction", "place"

    names: tuple[str, ...]
    target: str | None
    max_lag: int
    of_pairs: LaggedPairs
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    n_rows: int
    n_series: int
    correction: Correction
    new_frame: Callable[[dict[str, Any]], Any] = field(repr=False)

    def __repr__(self) -> str:
        return str(showing.report().text_of_lags(self))

    def _repr_html_(self) -> str:
        return str(showing.report().html_of_lags(self))

    @cached_property
    def pvalues(self) -> Array:
        """P-values of the strongest lag of every pair, all lags counted."""
        return np.maximum(np.exp(self.of_pairs.log_pvalue), _SMALLEST)

    @cached_property
    def qvalues(self) -> Array:
        """The same, adjusted for all pairs."""
        return adjust(self.pvalues, self.correction)

    @property
    def lags(self) -> Index:
        """All lags, from −max_lag to max_lag."""
        return np.arange(-self.max_lag, self.max_lag + 1)

    def __len__(self) -> int:
        return len(self.of_pairs.i)

    def n_found(self, fdr: float = FDR) -> int:
        """Pairs that depend on one another at some lag, at a false discovery rate."""
        return len(self.ranked(check_rate(fdr)))

    def ranked(self, q: float | None = None, /) -> Index:
        """Places of the pairs, strongest first; at a false discovery rate, if one is given."""
        kept = np.arange(len(self)) if q is None else np.flatnonzero(self.qvalues <= q)
        strength = self._at_strongest(self.of_pairs.strength)[kept]
        order = np.lexsort((self.of_pairs.log_pvalue[kept], -np.round(strength, 6)))
        return np.asarray(kept[order], dtype=np.intp)

    def _at_strongest(self, values: Any) -> Any:
        return values[np.arange(len(self)), self.of_pairs.lag + self.max_lag]

    def direction(self, pair: int, /) -> str:
        """Which column of a pair comes first at the strongest lag, in words."""
        pairs = self.of_pairs
        x, y, lag = self.names[pairs.i[pair]], self.names[pairs.j[pair]], int(pairs.lag[pair])
        return f"{x} {'leads' if lag > 0 else 'follows'} {y} by {abs(lag):,}" if lag else "same time"

    def place(self, x: str, y: str, /) -> int:
        """The place of a pair, in either order."""
        for name in (x, y):
            if name not in self.names:
                raise InputError(f"{brief(name)} is not a column that was compared: choose two of .names")
        pairs = self.of_pairs
        for k, (i, j) in enumerate(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)):
            if {self.names[i], self.names[j]} == {x, y}:
                return k
        raise InputError(f"{brief(x)} and {brief(y)} were not compared with one another: choose a pair of .to_frame()")

    def to_frame(self) -> Any:
        """One row for every pair: `x`, `y`, the strongest `lag`, `direction`, `coefficient`, `strength`, `p`, `q`, `n`.

        A positive lag says that y follows x: x at a row is compared with y so many rows later. `p` is that of the
        strongest of all lags, and not of this one alone.
        """
        return self._frame(self.ranked())

    def top(self, n: int = 20, *, fdr: float | None = None) -> Any:
        """The strongest pairs at a false discovery rate, by default 0.05, as `to_frame` has them."""
        check_integer(n, "n")
        return self._frame(self.ranked(check_rate(FDR if fdr is None else fdr))[:n])

    def _frame(self, which: Index) -> Any:
        pairs = self.of_pairs
        return self.new_frame(
            {
                "x": self._names(pairs.i[which]),
                "y": self._names(pairs.j[which]),
                "lag": pairs.lag[which],
                "direction": np.array([self.direction(k) for k in which.tolist()], dtype=str),
                **{name: self._at_strongest(getattr(pairs, name))[which] for name in ("coefficient", "strength")},
                "p": self.pvalues[which],
                "q": self.qvalues[which],
                "n": self._at_strongest(pairs.n)[which],
            }
        )

    def _names(self, places: Index) -> Any:
        return np.array([self.names[k] for k in places.tolist()], dtype=str)

    def to_long(self) -> Any:
        """One row for every pair and lag: `x`, `y`, `lag`, `coefficient`, `strength`, `p` of this lag alone, `n`."""
        pairs, width = self.of_pairs, 2 * self.max_lag + 1
        return self.new_frame(
            {
                "x": self._names(np.repeat(pairs.i, width)),
                "y": self._names(np.repeat(pairs.j, width)),
                "lag": np.tile(self.lags, len(self)),
                "coefficient": pairs.coefficient.ravel(),
                "strength": pairs.strength.ravel(),
                "p": np.maximum(np.exp(pairs.log_pvalues.ravel()), _SMALLEST),
                "n": pairs.n.ravel(),
            }
        )

    def plot(self, x: str | None = None, y: str | None = None) -> "Figure":
        """Draw dependence against lag for one pair, or the strongest lags of many.

        Parameters
        ----------
        x, y : str, optional
            A pair; needed where there are several, to see one of them. With a target its partner is enough.

        Returns
        -------
        matplotlib.figure.Figure
            Of one pair: strengths at all lags, with the band in which chance keeps nearly all of them. Of
            several: strengths by lag for each column with the target, or which of two columns leads and by how much.
        """
        return cast("Figure", showing.report().plot_lags(self, self._asked(x, y)))

    def _asked(self, x: str | None, y: str | None) -> int | None:
        if y is None and x is not None:
            if self.target is None:
                raise InputError("a plot of one pair needs both columns: pass .plot(x, y)")
            y = self.target
        if x is None:
            return 0 if len(self) == 1 else None
        return self.place(x, cast("str", y))

    def report(self, path: "str | PathLike[str]", *, fdr: float | None = None, title: str = "") -> "Path":
        """Write what was found into one file that others can open: a page with a chart of lags, or its data.

        Parameters
        ----------
        path : str or path
            The file: JSON where it ends in .json, else a page that needs no network.
        fdr : float, optional
            False discovery rate at which a pair counts as found, by default 0.05.
        title : str, optional
            What the page is called.

        Returns
        -------
        Path
            The file that was written.
        """
        rate = check_rate(FDR if fdr is None else fdr)
        return cast("Path", showing.report().write_lags(self, path, rate, title))
