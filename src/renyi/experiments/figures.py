"""Figures like the paper's, drawn from results."""

from typing import TYPE_CHECKING, Any

from renyi.experiments.gallery import Scored
from renyi.extras import load
from renyi.report.plots import BLUE, GREY, STYLE, shown_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_gallery"]

_PER_ROW = 7


def plot_gallery(scored: list[Scored], /) -> "Figure":
    """Little scatter plots in rows of seven, with the coefficients below each."""
    pyplot = load("matplotlib.pyplot", extra="report")
    n_rows = -(-len(scored) // _PER_ROW)
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            n_rows, _PER_ROW, figsize=(13.5, 2.35 * n_rows + 0.3), layout="constrained", squeeze=False
        )
        figure.get_layout_engine().set(h_pad=0.12)
        for ax, row in zip(axes.flat, scored, strict=False):
            _draw(ax, row)
        figure.suptitle(
            f"RDC (large) beside |Pearson| and |Spearman|: fourteen associations of {len(scored[0].x):,} points",
            fontsize=12,
        )
    return shown_once(pyplot, figure)


def _draw(ax: "Axes", row: Scored) -> None:
    ax.scatter(row.x, row.y, s=2, color=BLUE, alpha=0.5, linewidths=0, rasterized=True)
    ax.set_title(row.name, fontsize=9, color=GREY)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    below: dict[str, Any] = {"transform": ax.transAxes, "ha": "center", "va": "top"}
    ax.text(0.5, -0.04, f"{row.rdc:.2f}", fontsize=15, color=BLUE, **below)
    linear = f"Pearson {abs(row.pearson):.2f}  Spearman {abs(row.spearman):.2f}"
    ax.text(0.5, -0.24, linear, fontsize=7.5, color=GREY, **below)
