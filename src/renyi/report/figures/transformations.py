"""The data of a pair, its copula, and the transformations behind its coefficient, as a figure."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.ranks import joint_ranks
from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
from renyi.compute.arrays import Array
from renyi.data.column import Column, as_seconds
from renyi.errors import load
from renyi.pair.result import CategoryTransformation, RankTransformation, Transformations
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style, shortened
from renyi.report.variables import followed, within_reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 5000
_MOST_BARS = 20
_MOST_TICKS = 12


@in_style
def plot_transformations(pyplot: Any, found: Transformations, /) -> Any:
    """The data with f over them, the copula, f(x) against g(y); f, g, and what other coefficients see."""
    left, right = _Side(found.x, found.f, "f", seed=0), _Side(found.y, found.g, "g", seed=1)
    figure, axes = pyplot.subplots(2, 3, figsize=(11.5, 7.0), layout="constrained")
    (data, copula, both), (f, g, beside) = axes
    _cloud(data, left.values, right.values, BLUE)
    left.label(data.xaxis, left.name)
    right.label(data.yaxis, right.name)
    is_fitted = _over(data, left, right)
    has_axes = left.has_axis and right.has_axis
    data.set_title("data" if has_axes else "data, vectors by their function", loc="left")
    if is_fitted:
        data.set_title(f"f({left.name}), scaled to the data", loc="right", color=ORANGE, fontsize=9)
    _cloud(copula, left.ranks, right.ranks, BLUE)
    left.label(copula.xaxis, left.rank_name)
    right.label(copula.yaxis, right.rank_name)
    copula.set_title("copula", loc="left")
    _cloud(both, left.spread, right.spread, ORANGE)
    both.set(xlabel=left.function_name, ylabel=right.function_name)
    both.set_title(f"f against g: correlation {found.correlation:.3f}", loc="left")
    left.draw(f)
    right.draw(g)
    _beside(beside, found)
    figure.suptitle(
        f"{shortened(found.x.name)} and {shortened(found.y.name)}, {found.n_samples:,} rows",
        fontsize=13,
    )
    return figure


def _over(ax: "Axes", x: "_Side", y: "_Side") -> bool:
    """The function f over the data, moved and stretched to the scale of y; not where either side has none."""
    if not (x.has_axis and y.column.is_number):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        slope = float(np.mean((y.values - y.values.mean()) * x.transformed))
        fitted = float(y.values.mean()) + slope * x.transformed
    if not np.isfinite(fitted).all():  # numbers near the largest there are
        return False
    order = np.argsort(x.column.values, kind="stable")
    if x.column.is_number:
        thinned = order[np.linspace(0, len(order) - 1, min(len(order), 2000)).astype(int)]
        ax.plot(x.values[thinned], fitted[thinned], color=ORANGE, linewidth=2)
        return True
    codes, first = np.unique(x.column.values, return_index=True)
    ax.hlines(fitted[first], codes - 0.38, codes + 0.38, color=ORANGE, linewidth=2.5)
    return True


def _beside(ax: "Axes", found: Transformations) -> None:
    """The coefficient beside others, as far as a pair has them: what these miss is seen."""
    values = {"RDC": found.correlation, "strength": max(found.debiased, 0.0)}
    if found.x.is_number and found.y.is_number:
        values |= {"|Spearman|": abs(correlation_of(Spearman(), found.x, found.y))}
        values |= {"|Pearson|": abs(correlation_of(Pearson(), found.x, found.y))}
    names, sizes = list(values), np.array(list(values.values()))
    colours = [ORANGE if name in ("RDC", "strength") else GREY for name in names]
    ax.barh(range(len(names)), sizes, color=colours, height=0.6)
    for place, size in enumerate(sizes.tolist()):
        ax.text(size + 0.02, place, f"{size:.2f}" if np.isfinite(size) else "–", va="center")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(0, 1.15), xticks=[0, 0.5, 1], ylim=(len(names) - 0.5 + max(0, 4 - len(names)), -0.5))
    ax.set_title("beside other coefficients" if len(names) > 2 else "how strong it is", loc="left")


class _Side:
    """How one variable is drawn: as it is, as ranks, and through its function."""

    def __init__(
        self, column: Column, function: RankTransformation | CategoryTransformation, letter: str, *, seed: int
    ) -> None:
        self.column, self.function, self.letter = column, function, letter
        self.name, self.function_name = shortened(column.name), f"{letter}({shortened(column.name)})"
        self.rank_name = f"{self.name}, ranked"
        self.has_axis = not column.is_vector
        # Points of one level are spread, in the same way at every drawing.
        jitter = np.random.default_rng(seed).uniform(-0.3, 0.3, len(column))
        if isinstance(function, CategoryTransformation):
            self.transformed = function.of_levels(column.levels)[column.values]
            self.spread = self.transformed + 0.1 * jitter
            self.values = self.ranks = column.values + jitter
            self.rank_name = self.name
            return
        self.transformed = self.spread = function.of_ranks(joint_ranks(column.values.reshape(len(column), -1)))
        if column.is_vector:
            # A vector has no axis of its own: its function stands for it.
            self.values, self.name = self.transformed, self.function_name
            self.rank_name = f"{self.name}, ranked"
        else:
            self.values = _drawable(column.values)
        self.ranks = joint_ranks(self.values.reshape(-1, 1))[:, 0]

    def label(self, axis: Any, name: str) -> None:
        """Name an axis, the levels of a category on it, and dates as dates."""
        axis.set_label_text(name)
        is_ranked = name == self.rank_name and self.column.is_number
        if self.column.levels and not is_ranked:
            shown = np.unique(np.linspace(0, len(self.column.levels) - 1, _MOST_TICKS).round().astype(int))
            turned = axis.axis_name == "x" and len(shown) > 3
            labels = [shortened(str(self.column.levels[code])) for code in shown]
            axis.set_ticks(shown, labels, **({"rotation": 45, "ha": "right"} if turned else {}))
        elif self.column.values.dtype.kind == "M" and not is_ranked:
            axis.axis_date()
            dates = load("matplotlib.dates", extra="report")
            # With three or more at the least there are spans of months that no interval divides into five.
            axis.set_major_locator(locator := dates.AutoDateLocator(minticks=2, maxticks=5))
            axis.set_major_formatter(dates.ConciseDateFormatter(locator))

    def draw(self, ax: "Axes") -> None:
        """The function itself: a curve, or a bar for every level or coordinate."""
        if isinstance(self.function, CategoryTransformation):
            ax.set_title(f"{self.letter}, a score for every level", loc="left")
            scores = self.function.scores
            _bars(ax, [str(level) for level in scores], np.array(list(scores.values())), self.function_name)
        elif self.has_axis:
            ax.set_title(f"{self.letter}, a function of {self.name}", loc="left")
            order = np.argsort(self.values, kind="stable")
            thinned = order[np.linspace(0, len(order) - 1, min(len(order), 2000)).astype(int)]
            ax.plot(self.values[thinned], self.transformed[thinned], color=ORANGE, linewidth=2)
            self.label(ax.xaxis, self.name)
            ax.set_ylabel(self.function_name)
        else:
            ax.set_title(f"what {self.letter} follows", loc="left")
            names, correlations = followed(self.column, self.transformed)
            _bars(ax, names, correlations, f"correlation of its rank with {self.function_name}")
            ax.set_ylabel("coordinate")


def _drawable(values: NDArray[Any]) -> Array:
    """Dates in Matplotlib's days, durations in seconds, all else as floats."""
    if values.dtype.kind == "M":
        return np.asarray(load("matplotlib.dates", extra="report").date2num(values), dtype=np.float64)
    if values.dtype.kind == "m":
        return as_seconds(values)
    return within_reach(values)


def _bars(ax: "Axes", labels: list[str], values: Array, label: str) -> None:
    """Horizontal bars in the order of the vertical axis beside them; of many, those that reach farthest."""
    shown = np.sort(np.argsort(-np.abs(values), kind="stable")[:_MOST_BARS])
    ax.barh(range(len(shown)), values[shown], color=ORANGE)
    ax.set_yticks(range(len(shown)), [shortened(labels[j]) for j in shown], fontsize=9 if len(shown) <= 12 else 6.5)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_xlabel(label if len(shown) == len(values) else f"{label}, {_MOST_BARS} of {len(values)}")


def _cloud(ax: "Axes", x: Array, y: Array, colour: str) -> None:
    """Points, or where there are many their density: none is left out."""
    if len(x) <= _MOST_POINTS:
        few = len(x) <= 500
        ax.scatter(x, y, s=9 if few else 4, color=colour, alpha=0.8 if few else 0.4, linewidths=0)
    else:
        shades = "Blues" if colour == BLUE else "Oranges"
        ax.hexbin(x, y, gridsize=60, bins="log", cmap=shades, mincnt=1, vmin=0.2, linewidths=0.1)
