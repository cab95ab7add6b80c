"""Small multiples of curves, one for each measure: power, errors, times.

Of power and times two curves are coloured and named where they are, and all others are grey.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS, Pattern
from renyi.experiments.runs import Record
from renyi.experiments.selection import curves
from renyi.experiments.times import PAPER, PAPER_SIZES
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Okabe and Ito's other colours: people with any colour vision tell them apart, and line styles help.
_GREEN, _SKY, _AMBER, _PINK, _BLACK = "#009E73", "#56B4E9", "#E69F00", "#CC79A7", "#000000"


@dataclass(frozen=True)
class Look:
    """How a measure is drawn, and what the legend calls it."""

    title: str
    colour: str
    dashes: Any = "-"
    width: float = 1.2
    front: int = 2

    def line(self) -> dict[str, Any]:
        """For `Axes.plot`."""
        return {
            "color": self.colour,
            "linestyle": self.dashes,
            "linewidth": self.width,
            "zorder": self.front,
            "label": self.title,
        }


_DASHED, _DOTTED, _MIXED = (0, (5, 2)), (0, (1, 1.3)), (0, (5, 1.5, 1, 1.5))
_LOOKS = {
    "auto": Look("renyi's test (auto)", ORANGE, width=2.6, front=5),
    "rdc": Look("RDC", BLUE, width=2.6, front=4),
    "rdc(k=10, s=0.2)": Look("RDC as in the paper", BLUE, (0, (3, 1.2)), width=1.9, front=4),
    "ace": Look("ACE", _GREEN),
    "xi": Look("Chatterjee's ξ", _GREEN, _DASHED),
    "dcor": Look("dCor", _AMBER),
    "mic": Look("MIC", _PINK),
    "mutual_info": Look("mutual information", _PINK, _DASHED),
    "hsic": Look("HSIC (MMD)", _SKY),
    "chsic": Look("copula HSIC (CMMD)", _SKY, _DASHED),
    "kcca": Look("KCCA", _SKY, _DOTTED),
    "cca": Look("CCA", GREY, _MIXED),
    "pearson": Look("Pearson", GREY),
    "spearman": Look("Spearman", GREY, _DASHED),
    "kendall": Look("Kendall", GREY, _DOTTED),
}
_SPARE = [(_BLACK, dashes) for dashes in ("-", _DASHED, _DOTTED, _MIXED)]


def looks(labels: Sequence[str], /) -> dict[str, Look]:
    """A look for each label, ours first, the rest as in the list; unknown ones in black."""
    known = [label for label in _LOOKS if label in labels]
    others = [label for label in labels if label not in _LOOKS]
    spare = {label: Look(label, *_SPARE[i % len(_SPARE)]) for i, label in enumerate(others)}
    return {label: _LOOKS[label] for label in known} | spare


# Curves that others are compared with, where they are drawn.
_OURS = ("auto", "rdc")
_OTHERS = "#AAAAAA"
# Enough for fifteen names.
_STEPS = 300


def _beside(labels: Sequence[str], /) -> dict[str, Look]:
    """Looks in which two curves stand out from the others."""
    return {
        label: look if label in _OURS else replace(look, colour=_OTHERS, width=1.0, front=2)
        for label, look in looks(labels).items()
    }


def _name(ax: "Axes", x: float, y: float, look: Look, **place: Any) -> "Text":
    """The name of a curve in its colour, legible above others."""
    from matplotlib.patheffects import withStroke

    colour = GREY if look.colour == _OTHERS else look.colour
    text = ax.annotate(look.title, (x, y), textcoords="offset points", color=colour, annotation_clip=False, **place)
    text.set(path_effects=[withStroke(linewidth=3, foreground="white")], zorder=6)
    return text


def _note_on_grey(figure: "Figure", drawn: dict[str, Look]) -> None:
    others = [look.title for label, look in drawn.items() if label not in _OURS]
    if others and len(others) < len(drawn):
        figure.supxlabel(f"grey: {', '.join(others)}", fontsize=9, color=GREY)


def _legend(figure: "Figure", axes: "list[Axes]", *, per_row: int = 8) -> None:
    """One legend below all panels."""
    lines = [(str(line.get_label()), line) for ax in axes for line in ax.get_lines()]
    handles = {label: line for label, line in lines if not label.startswith("_")}
    if not handles:  # as where no run came to an end
        return
    n_columns = -(-len(handles) // -(-len(handles) // per_row))  # rows of equal length
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=n_columns, frameon=False, fontsize=9
    )


def _grid(pyplot: Any, n_panels: int, per_row: int, size: tuple[float, float]) -> tuple["Figure", list["Axes"]]:
    """Panels in rows; cells that are left over stay empty."""
    per_row = min(per_row, n_panels)
    n_rows = -(-n_panels // per_row)
    figure, axes = pyplot.subplots(
        n_rows, per_row, figsize=(size[0] * per_row, size[1] * n_rows + 0.8), layout="constrained", squeeze=False
    )
    for ax in axes.flat[n_panels:]:
        ax.set_visible(False)
    return figure, list(axes.flat[:n_panels])


def _name_axes(axes: "list[Axes]", x: str, y: str) -> None:
    """Names at the outer panels alone."""
    for ax in axes:
        place = ax.get_subplotspec()
        if place is not None and place.is_first_col():
            ax.set_ylabel(y)
        if place is not None and place.rowspan.stop * place.get_gridspec().ncols + place.colspan.start >= len(axes):
            ax.set_xlabel(x)


# Power.


def plot_power(record: Record, /, *, extra: bool = False) -> "Figure | None":
    """Power against noise for the paper's patterns, or for the others; None where there are no results of them."""
    known = {key[0] for key in record.rows}
    patterns = [pattern for pattern in (EXTRA_PATTERNS if extra else PATTERNS) if pattern.name in known]
    return _power(record, patterns) if patterns else None


@in_style
def _power(pyplot: Any, record: Record, patterns: list[Pattern]) -> "Figure":
    figure, axes = _grid(pyplot, len(patterns), 4 if len(patterns) > 6 else 3, (3.4, 2.6))
    drawn = _beside([measure for _, _, measure in record.rows])
    for ax, pattern in zip(axes, patterns, strict=True):
        for label, look in drawn.items():
            points = sorted(
                (level, row["power"])
                for (name, level, measure), row in record.rows.items()
                if name == pattern.name and measure == label
            )
            if points:
                ax.plot(*zip(*points, strict=True), **look.line())
        ax.set_title(pattern.name, loc="left", x=0.16, y=1.06)
        ax.set(xlim=(0, None), ylim=(-0.02, 1.04), yticks=[0, 0.5, 1])
        ax.axhline(0.05, color=GREY, linewidth=0.7, linestyle=":", zorder=1)
        _inset(ax, pattern)
    n = record.settings["n"]
    most = max(row["repetitions"] for row in record.rows.values())
    figure.suptitle(f"Power at the 5 % level against noise: {n:,} rows, up to {most:,} repetitions", fontsize=13)
    _name_axes(axes, "noise level", "power")
    if any(label in drawn for label in _OURS):
        _name_ours(axes, drawn)
        _note_on_grey(figure, drawn)
    else:
        _legend(figure, axes)
    return figure


def _name_ours(axes: "list[Axes]", drawn: dict[str, Look]) -> None:
    """Name two curves on their way down, the outer one to its right, in the panel that leaves room on both sides."""
    places: list[tuple[float, Axes, str, float, float]] = []
    for ax in axes:
        for line in ax.get_lines():
            label = next((label for label in _OURS if label in drawn and drawn[label].title == line.get_label()), None)
            if label is not None:
                levels, power = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
                near = int(np.abs(power - (0.62 if label == _OURS[0] else 0.35)).argmin())
                off = abs(levels[near] / levels[-1] - 0.5) if power.min() < 0.35 else 1.0
                places.append((off, ax, label, levels[near], power[near]))
    sums = {ax: sum(off for off, at, *_ in places if at is ax) for ax in axes}
    best = min(axes, key=lambda ax: sums[ax])
    for _, ax, label, x, y in places:
        place = {"xytext": (7, 3), "ha": "left"} if label == _OURS[0] else {"xytext": (-6, -9), "ha": "right"}
        if ax is best:
            _name(ax, x, y, drawn[label], fontsize=9, fontweight="bold", **place).set_in_layout(False)


def _inset(ax: "Axes", pattern: Pattern) -> None:
    """The pattern without noise, in a little box beside the title, where no curve passes."""
    inset = ax.inset_axes((0.0, 1.03, 0.13, 0.17))
    x = np.linspace(0.001, 1, 400)
    y = np.stack([pattern.curve(x, np.full(x.shape, sign)) for sign in (-1.0, 1.0)])
    inset.plot(x, y.T, color=GREY, linewidth=1)
    inset.set(xticks=[], yticks=[])
    inset.margins(0.12)
    inset.spines[:].set_visible(True)
    inset.spines[:].set(color="#BBBBBB", linewidth=0.7)


# Times.


@in_style
def plot_times(pyplot: Any, record: Record, /) -> "Figure":
    """Seconds against rows, both in powers of ten, ours beside the paper's."""
    figure, axes = _grid(pyplot, 2, 2, (5.4, 4.6))
    ours, theirs = axes
    drawn = _beside(list(dict.fromkeys([*(measure for _, measure in record.rows), *PAPER])))
    ends: dict[Any, list[tuple[float, float, Look]]] = {ours: [], theirs: []}
    measured = {measure for _, measure in record.rows}
    for label, look in drawn.items():
        points = [(n, row["seconds"]) for (n, measure), row in record.rows.items() if measure == label]
        points = sorted(point for point in points if point[1] is not None)
        if points:
            ours.plot(*zip(*points, strict=True), marker="o", markersize=4, **look.line())
            ends[ours].append((*points[-1], look))
        if label in PAPER and label in measured:
            seconds = PAPER[label]
            theirs.plot(PAPER_SIZES[: len(seconds)], seconds, marker="o", markersize=4, **look.line())
            ends[theirs].append((PAPER_SIZES[len(seconds) - 1], seconds[-1], look))
    for ax, title in ((ours, "measured here"), (theirs, "the paper's table")):
        ax.set(xscale="log", yscale="log", title=title, xlabel="rows")
        ax.grid(True, color="#E4E4E4", linewidth=0.6)
        ax.axhline(record.settings["cancelled_after"] if ax is ours else 600, color=GREY, linewidth=0.8, linestyle=":")
    low, high = (f([ax.get_ylim()[i] for ax in axes]) for i, f in enumerate((min, max)))
    for ax in axes:
        ax.set(xlim=(PAPER_SIZES[0] * 0.7, PAPER_SIZES[-1] * 1.4), ylim=(low, high))
        _name_ends(ax, ends[ax])
    ours.set_ylabel("seconds a pair")
    figure.suptitle("Time for one pair of independent uniform scalars (dotted: runs were cancelled)", fontsize=13)
    return figure


def _name_ends(ax: "Axes", ends: "list[tuple[float, float, Look]]") -> None:
    """Name curves at their ends, those that end at the same number of rows one above the other."""
    apart = 0.045 * np.log10(ax.get_ylim()[1] / ax.get_ylim()[0])
    for x in {x for x, _, _ in ends}:
        column = sorted((np.log10(y), k) for k, (at, y, _) in enumerate(ends) if at == x)
        heights = np.array([height for height, _ in column])
        for _ in range(_STEPS):  # neighbours that are too near push one another away
            push = np.maximum(apart - np.diff(heights), 0.0) / 2
            heights[:-1] -= push
            heights[1:] += push
        for height, (_, k) in zip(heights, column, strict=True):
            weight = "bold" if ends[k][2].colour != _OTHERS else "normal"
            _name(ax, x, 10**height, ends[k][2], xytext=(6, 0), va="center", fontsize=8, fontweight=weight)


# Errors of the regressor.


@in_style
def plot_selection(pyplot: Any, record: Record, /) -> "Figure":
    """Normalised errors against the number of features, a panel for each data set, with standard errors."""
    names = list(dict.fromkeys(data for data, _, _ in record.rows))
    figure, axes = _grid(pyplot, len(names), 4, (3.2, 2.4))
    drawn = looks(list(dict.fromkeys(measure for _, _, measure in record.rows)))
    for ax, name in zip(axes, names, strict=True):
        for label, look in drawn.items():
            means, spread, n_splits = curves(record, name, label)
            if not n_splits:
                continue
            at, error = np.arange(1, len(means) + 1), spread / np.sqrt(n_splits)
            ax.plot(at, means, **look.line())
            ax.fill_between(at, means - error, means + error, color=look.colour, alpha=0.12, linewidth=0)
        ax.set_title(name)
        ax.set_xticks(range(1, record.settings["features"] + 1))
    _name_axes(axes, "features", "NMSE")
    n_splits = record.settings["splits"]
    figure.suptitle(
        f"Error of a Gaussian process on features chosen by dependence: means of {n_splits} random halves "
        "(bands: standard errors)",
        fontsize=13,
    )
    _legend(figure, axes)
    return figure
