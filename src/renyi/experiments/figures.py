"""Figures like the paper's, drawn from results."""

from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.compute.arrays import Array
from renyi.experiments.curves import looks
from renyi.experiments.gallery import GALLERY, Scored, gallery_samples
from renyi.experiments.runs import Record
from renyi.experiments.summary import number
from renyi.report.figures.style import BLUE, GREY, in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_ROW = 7
_NOISE = "#A6A6A6"


@in_style
def plot_gallery(pyplot: Any, scored: list[Scored], /) -> Any:
    """Little scatter plots in rows of seven, with the strength and the coefficients below each; noise is grey."""
    n_rows = -(-len(scored) // _PER_ROW)
    figure, axes = pyplot.subplots(
        n_rows, _PER_ROW, figsize=(13.5, 2.35 * n_rows + 0.3), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(h_pad=0.12)
    for ax, row in zip(axes.flat, scored, strict=False):
        _draw(ax, row)
    figure.suptitle(
        f"Strength (large) beside |Pearson| and |Spearman|: fourteen associations of {len(scored[0].x):,} points; "
        "grey where the test sees nothing",
        fontsize=12,
    )
    return figure


def _draw_points(ax: "Axes", name: str, x: Array, y: Array, colour: str = BLUE) -> None:
    ax.scatter(x, y, s=2, color=colour, alpha=0.5, linewidths=0, rasterized=True)
    ax.set_title(name, fontsize=9, color=GREY)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def _draw(ax: "Axes", row: Scored) -> None:
    _draw_points(ax, row.name, row.x, row.y, BLUE if row.is_found else _NOISE)
    below: dict[str, Any] = {"transform": ax.transAxes, "ha": "center", "va": "top"}
    ax.text(0.5, -0.04, row.strength, fontsize=15, color=BLUE if row.is_found else GREY, **below)
    linear = f"Pearson {abs(row.pearson):.2f}  Spearman {abs(row.spearman):.2f}"
    ax.text(0.5, -0.24, linear, fontsize=7.5, color=GREY, **below)


# All measures.


@in_style
def plot_all_measures(pyplot: Any, record: Record, /) -> Any:
    """The associations in rows of seven, and below each its value by every measure, darker where it is large."""
    measures = looks(list(dict.fromkeys(measure for _, measure in record.rows)))
    samples = gallery_samples(record.settings["n"], seed=record.settings["seed"])
    n_rows, height = -(-len(GALLERY) // _PER_ROW), 0.19 * len(measures)
    heights = [1.75, height, 0.12]  # points, numbers, a gap
    figure, axes = pyplot.subplots(
        len(heights) * n_rows,
        _PER_ROW,
        figsize=(13.5, n_rows * sum(heights) + 0.8),
        layout="constrained",
        squeeze=False,
        height_ratios=heights * n_rows,
    )
    figure.get_layout_engine().set(h_pad=0.03, w_pad=0.04, wspace=0, hspace=0)
    for gap in axes[2::3].flat:
        gap.set_visible(False)
    for j, (association, (x, y)) in enumerate(zip(GALLERY, samples, strict=True)):
        row, column = len(heights) * (j // _PER_ROW), j % _PER_ROW
        _draw_points(axes[row, column], association.name, x, y)
        values = {m: record.rows.get((association.name, m), {}).get("value") for m in measures}
        _draw_values(axes[row + 1, column], values)
        if column == 0:
            titles = [look.title for look in measures.values()]
            axes[row + 1, column].set_yticks(range(len(titles)), titles, fontsize=8.5)
    figure.suptitle(f"Fourteen associations of {record.settings['n']:,} points, by every measure", fontsize=13)
    return figure


def _draw_values(ax: "Axes", values: dict[str, float | None]) -> None:
    """A column of numbers on shades of their size, ours in bold."""
    sizes = np.array([[np.nan if value is None else abs(value)] for value in values.values()], dtype=np.float64)
    # Not the whole range of the map: black numbers have to stay legible, also on what has no upper end.
    ax.imshow(np.minimum(sizes, 1), cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for i, (measure, value) in enumerate(values.items()):
        weight = "bold" if measure == "rdc" else "normal"
        ax.text(0, i, number(value), ha="center", va="center", fontsize=8.5, fontweight=weight)
    ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
