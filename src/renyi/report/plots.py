"""Pictures with Matplotlib, for notebooks and slides."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.columns import Column
from renyi.copula import joint_ranks
from renyi.extras import load
from renyi.results import CategoryTransformation, RankTransformation, Transformations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREY", "ORANGE", "STYLE", "plot_transformations", "save", "shown_once"]

Array: TypeAlias = NDArray[np.float64]

# Colours that people with any colour vision tell apart (Okabe and Ito).
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "font.size": 9.5,
    "figure.dpi": 110,
    "savefig.dpi": 200,
}

_MOST_POINTS = 5000
_MOST_BARS = 20


def save(figure: "Figure", path: Path, /) -> None:
    """Write a figure to a file, its kind named by the ending, and let it go."""
    pyplot = load("matplotlib.pyplot", extra="report")
    figure.savefig(path)
    pyplot.close(figure)


def plot_transformations(found: Transformations, /) -> "Figure":
    """The data, its copula, f, g, and f(x) against g(y)."""
    pyplot = load("matplotlib.pyplot", extra="report")
    left, right = _Side(found.x, found.f, "f"), _Side(found.y, found.g, "g")
    with pyplot.rc_context(STYLE):
        figure, (data, copula, f, g, both) = pyplot.subplots(1, 5, figsize=(16, 3.5), layout="constrained")
        _cloud(data, left.values, right.values, BLUE)
        _cloud(copula, left.ranks, right.ranks, BLUE)
        left.draw(f)
        right.draw(g)
        _cloud(both, left.transformed, right.transformed, ORANGE)
        for ax in (data, copula):
            left.label(ax.xaxis)
            right.label(ax.yaxis)
        data.set(title="data", xlabel=left.name, ylabel=right.name)
        copula.set(title="copula", xlabel=f"{left.name}, ranked", ylabel=f"{right.name}, ranked")
        both.set(title="f against g", xlabel=f"f({found.x.name})", ylabel=f"g({found.y.name})")
        figure.suptitle(
            f"{found.x.name} and {found.y.name}: f and g correlate by {found.correlation:.3f}"
            f"{_linear(found.x, found.y)}, {found.n_samples:,} rows",
            fontsize=13,
        )
    return shown_once(pyplot, figure)


def shown_once(pyplot: Any, figure: "Figure") -> "Figure":
    """A figure that a notebook shows once: it draws open figures, and also what a cell returns."""
    if "inline" in pyplot.get_backend():
        pyplot.close(figure)
    return figure


def _linear(x: Column, y: Column) -> str:
    if x.kind != "number" or y.kind != "number":
        return ""
    pearson = np.corrcoef(x.values.astype(np.float64), y.values.astype(np.float64))[0, 1]
    return f" (Pearson {pearson:+.2f})"


class _Side:
    """How one variable is drawn: as it is, as ranks, and through its function."""

    def __init__(self, column: Column, function: RankTransformation | CategoryTransformation, letter: str) -> None:
        self.column, self.function, self.letter = column, function, letter
        self.name = column.name
        if isinstance(function, CategoryTransformation):
            by_code = np.array([function.scores.get(level, np.nan) for level in column.levels])
            self.transformed = by_code[column.values]
            self.values = self.ranks = column.values + _jitter(len(column))
        else:
            self.transformed = function(column.values)
            # A vector has no axis of its own: its function stands for it.
            self.values = column.values if column.kind == "number" else self.transformed
            self.ranks = joint_ranks(self.values.reshape(-1, 1))[:, 0]
        if column.kind == "vector":
            self.name = f"{letter}({column.name})"

    def label(self, axis: Any) -> None:
        """Name the levels of a category on its axis."""
        if self.column.kind == "category":
            axis.set_ticks(range(len(self.column.levels)), [str(level) for level in self.column.levels])

    def draw(self, ax: "Axes") -> None:
        """The function itself: a curve, or a bar for every level or coordinate."""
        name = self.column.name
        ax.set_title(f"{self.letter}, a function of {name}")
        if self.column.kind == "number":
            order = np.argsort(self.values, kind="stable")
            thinned = order[np.linspace(0, len(order) - 1, min(len(order), 2000)).astype(int)]
            ax.plot(self.values[thinned], self.transformed[thinned], color=ORANGE, linewidth=2)
            ax.set(xlabel=name, ylabel=f"{self.letter}({name})")
        elif isinstance(self.function, CategoryTransformation):
            scores = self.function.scores
            _bars(ax, [str(level) for level in scores], np.array(list(scores.values())), f"{self.letter}({name})")
        else:
            ranks = joint_ranks(self.column.values)
            centred = ranks - ranks.mean(axis=0)
            spread = np.maximum(centred.std(axis=0), 1e-12)
            correlations = (centred / spread).T @ self.transformed / len(ranks)
            label = f"its rank's correlation with {self.letter}({name})"
            names = self.column.coordinates or [str(j) for j in range(len(correlations))]
            _bars(ax, list(names), correlations, label)
            ax.set_ylabel("coordinate")


def _bars(ax: "Axes", labels: list[str], values: Array, label: str) -> None:
    """Horizontal bars, the first on top; of many, those that reach farthest."""
    shown = np.sort(np.argsort(-np.abs(values), kind="stable")[:_MOST_BARS])
    ax.barh(range(len(shown)), values[shown], color=ORANGE)
    ax.set_yticks(range(len(shown)), [labels[j] for j in shown])
    ax.invert_yaxis()
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_xlabel(label if len(shown) == len(values) else f"{label} ({_MOST_BARS} largest of {len(values)})")


def _cloud(ax: "Axes", x: Array, y: Array, colour: str) -> None:
    """Points, or where there are many their density: none is left out."""
    if len(x) <= _MOST_POINTS:
        alpha = 0.8 if len(x) <= 500 else 0.4
        ax.scatter(x, y, s=9 if len(x) <= 500 else 4, color=colour, alpha=alpha, linewidths=0)
    else:
        ax.hexbin(
            x,
            y,
            gridsize=60,
            bins="log",
            cmap="Blues" if colour == BLUE else "Oranges",
            mincnt=1,
            vmin=0.2,
            linewidths=0.1,
        )


def _jitter(n: int) -> Array:
    """Offsets that spread points of one level, the same at every drawing (a golden-ratio sequence)."""
    return np.asarray(0.6 * (np.arange(n) * 0.6180339887498949 % 1.0 - 0.5), dtype=np.float64)
