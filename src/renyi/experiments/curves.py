"""Small multiples of curves, one for each measure: power, errors, times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS, Pattern
from renyi.experiments.runs import Record
from renyi.extras import load
from renyi.report.plots import BLUE, GREY, ORANGE, STYLE, shown_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_power"]

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


def _legend(figure: "Figure", axes: Any) -> None:
    """One legend below all panels."""
    handles = {handle.get_label(): handle for ax in axes for handle in ax.get_lines() if handle.get_label()[0] != "_"}
    n_columns = min(len(handles), 8)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=n_columns, frameon=False, fontsize=9)


def _grid(n_panels: int, per_row: int, size: tuple[float, float]) -> tuple[Any, "Figure", list["Axes"]]:
    """Panels in rows; cells that are left over stay empty."""
    pyplot = load("matplotlib.pyplot", extra="report")
    per_row = min(per_row, n_panels)
    n_rows = -(-n_panels // per_row)
    figure, axes = pyplot.subplots(
        n_rows, per_row, figsize=(size[0] * per_row, size[1] * n_rows + 0.8), layout="constrained", squeeze=False
    )
    for ax in axes.flat[n_panels:]:
        ax.set_visible(False)
    return pyplot, figure, list(axes.flat[:n_panels])


def _in_style(draw: "Callable[[], tuple[Any, Figure]]") -> "Figure":
    pyplot = load("matplotlib.pyplot", extra="report")
    with pyplot.rc_context(STYLE):
        return shown_once(*draw())


# Power.


def plot_power(record: Record, /, *, extra: bool = False) -> "Figure | None":
    """Power against noise for the paper's patterns, or for the others; None where there are no results of them."""
    known = {key[0] for key in record.rows}
    patterns = [pattern for pattern in (EXTRA_PATTERNS if extra else PATTERNS) if pattern.name in known]
    return _in_style(lambda: _power(record, patterns)) if patterns else None


def _power(record: Record, patterns: list[Pattern]) -> "tuple[Any, Figure]":
    pyplot, figure, axes = _grid(len(patterns), 4 if len(patterns) > 6 else 3, (3.4, 2.6))
    drawn = looks([measure for _, _, measure in record.rows])
    for ax, pattern in zip(axes, patterns, strict=True):
        for label, look in drawn.items():
            points = sorted(
                (level, row["power"])
                for (name, level, measure), row in record.rows.items()
                if name == pattern.name and measure == label
            )
            if points:
                ax.plot(*zip(*points, strict=True), **look.line())
        ax.set_title(pattern.name)
        ax.set(xlim=(0, None), ylim=(-0.02, 1.04), yticks=[0, 0.5, 1])
        ax.axhline(0.05, color=GREY, linewidth=0.7, linestyle=":", zorder=1)
        _inset(ax, pattern)
    n = record.settings["n"]
    most = max(row["repetitions"] for row in record.rows.values())
    figure.suptitle(f"Power at the 5 % level against noise: {n:,} rows, up to {most:,} repetitions", fontsize=13)
    figure.supxlabel("noise level", fontsize=10)
    figure.supylabel("power", fontsize=10)
    _legend(figure, axes)
    return pyplot, figure


def _inset(ax: "Axes", pattern: Pattern) -> None:
    """The pattern without noise, in a little box."""
    inset = ax.inset_axes((0.79, 0.71, 0.21, 0.27), zorder=6)
    x = np.linspace(0.001, 1, 400)
    y = np.stack([pattern.curve(x, np.full(x.shape, sign)) for sign in (-1.0, 1.0)])
    inset.plot(x, y.T, color=GREY, linewidth=1)
    inset.set(xticks=[], yticks=[])
    inset.margins(0.12)
    inset.spines[:].set_visible(True)
    inset.spines[:].set(color="#BBBBBB", linewidth=0.7)
