"""Draw docs/images/growth.png: time against rows, columns and cores, with slopes."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import RESULTS
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style, save
from tables import DOCS

# Slopes are of lines through the sizes from here on, where what every call takes no longer counts.
_ROWS_FROM, _COLUMNS_FROM = 100_000, 1_000
_OF_CORES = {
    "300, float64": ("300 columns", BLUE),
    "600, float64": ("600 columns", ORANGE),
    "300, 30 % missing, float64": ("300, 30 % missing", GREY),
}


def found(name: str) -> Any:
    """The recorded results of a script."""
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _of_sizes(ax: Any, rows: Sequence[dict[str, float]], by: str, least: int) -> None:
    """One line, and the slope of its large sizes."""
    sizes, seconds = ([row[key] for row in rows] for key in (by, "processor"))
    large = [k for k, size in enumerate(sizes) if size >= least]
    of_large = slope([sizes[k] for k in large], [seconds[k] for k in large])
    ax.loglog(sizes, seconds, "o-", color=BLUE, ms=4)
    ends = np.array([sizes[large[0]], sizes[large[-1]]])
    beside = 0.5 * seconds[large[-1]] * (ends / ends[1]) ** of_large
    ax.loglog(ends, beside, color=GREY, lw=1, ls="--")
    ax.text(0.97, 0.05, f"slope {of_large:.2f}", ha="right", color=GREY, transform=ax.transAxes)


def _of_cores(ax: Any, tables: dict[str, Any]) -> None:
    """A line for every table, and one that falls as the number of cores rises."""
    for name, (label, color) in _OF_CORES.items():
        cores, seconds = zip(*((int(n), took) for n, took in tables[name]["seconds"].items()), strict=True)
        ax.loglog(cores, seconds, "o-", color=color, ms=4, label=f"{label}: slope −{-slope(cores, seconds):.2f}")
        ax.loglog(cores, seconds[0] / np.array(cores), color=color, lw=0.7, ls=":")
    ax.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    ax.legend(frameon=False, fontsize=8, loc="lower left")


@in_style
def plot_growth(pyplot: Any) -> Any:
    """Three panels with one axis of seconds."""
    figure, axes = pyplot.subplots(1, 3, figsize=(9.5, 3.6), layout="constrained", sharey=True)
    growth = found("growth")
    _of_sizes(axes[0], growth["rows"], "rows", _ROWS_FROM)
    _of_sizes(axes[1], growth["columns"], "columns", _COLUMNS_FROM)
    _of_cores(axes[2], found("cores")["as it is"]["tables"])
    axes[0].set(title="matrix, 20 columns", xlabel="rows", ylabel="seconds of the processor; by cores on the clock")
    axes[1].set(title="pairs, 100 rows", xlabel="columns")
    axes[2].set(title="matrix, 10,000 rows", xlabel="cores")
    for axis in (axes[0].xaxis, axes[1].xaxis, axes[0].yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        axis.set_minor_formatter("")
    axes[0].set_xticks([row["rows"] for row in growth["rows"]][::2])
    axes[2].minorticks_off()
    return figure


if __name__ == "__main__":
    save(plot_growth(), DOCS / "images/growth.png")
