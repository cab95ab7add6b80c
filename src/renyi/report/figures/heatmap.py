"""A matrix of dependences as a picture, similar columns beside one another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.compute.arrays import Array, Mask
from renyi.errors import count, load
from renyi.report.clusters import orders
from renyi.report.figures.style import GREY, ORANGE, in_style
from renyi.report.summary import called, rate, short
from renyi.tables.dependence_matrix import DependenceMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "Blues"
_UNKNOWN, _SELF = "#b8b8b8", "#ececec"
_Q = 0.05
# How far cells without a finding fade into the paper.
_FADED = 0.65
_MOST_NUMBERS, _MOST_DOTS, _MOST_NAMES = 15, 80, 80
_LONGEST_NAME = 24


@in_style
def plot_matrix(pyplot: Any, matrix: DependenceMatrix, /, ax: Any = None) -> Any:
    """Draw strengths in shades; what is no finding at 5 % fades, and dots mark what is not linear."""
    columns = matrix.names if matrix.other_names is None else matrix.other_names
    rows_first, columns_first = orders(matrix.strength, is_square=matrix.other_names is None)
    at, marks = np.ix_(rows_first, columns_first), _nonlinear(matrix)
    if ax is None:
        _, ax = pyplot.subplots(figsize=_size(len(matrix.names), len(columns)), layout="compressed")
    figure = ax.figure
    ax.imshow(_shades(pyplot, matrix)[at], interpolation="nearest", aspect="equal")
    widest = max(len(matrix.names), len(columns))
    if widest <= _MOST_NUMBERS:
        _write(ax, matrix.strength[at], matrix.qvalues[at], is_square=matrix.other_names is None)
    if widest <= _MOST_DOTS:
        _dot(ax, marks[at], in_corner=widest <= _MOST_NUMBERS)
    name_axis(ax.xaxis, [columns[j] for j in columns_first], upright=False)
    name_axis(ax.yaxis, [matrix.names[i] for i in rows_first], upright=True)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0 if widest <= _MOST_NAMES else 2)
    _explain(ax, matrix, with_dots=widest <= _MOST_DOTS and bool(marks.any()))
    scale = pyplot.cm.ScalarMappable(pyplot.Normalize(0, 1), _COLOURS)
    bar = figure.colorbar(scale, ax=ax, shrink=0.6, pad=0.02, label=called(matrix))
    bar.outline.set_visible(False)
    return figure


# What is drawn.


def _shades(pyplot: Any, matrix: DependenceMatrix) -> Array:
    """A colour for every cell."""
    values = np.clip(matrix.strength, 0.0, 1.0)
    colours = np.array(pyplot.get_cmap(_COLOURS)(np.nan_to_num(values)))[..., :3]
    # What is no finding, or was not tested, fades.
    faded = ~(matrix.qvalues <= _Q)
    colours[faded] += _FADED * (1.0 - colours[faded])
    to_rgb = load("matplotlib.colors", extra="report").to_rgb
    colours[np.isnan(values)] = to_rgb(_UNKNOWN)
    if matrix.other_names is None:
        np.einsum("iij->ij", colours)[:] = to_rgb(_SELF)
    return colours


def _write(ax: "Axes", values: Array, qvalues: Array, *, is_square: bool) -> None:
    """The numbers, in ink that stands out; the diagonal says nothing of two columns."""
    for (i, j), value in np.ndenumerate(values):
        if np.isnan(value) or (is_square and i == j):
            continue
        is_found = qvalues[i, j] <= _Q
        ink = "white" if is_found and value > 0.55 else "black" if is_found else "#8a8a8a"
        size = 9 if len(values) <= 10 else 7.5
        ax.text(j, i, f"{value:.2f}".replace("-", "−"), ha="center", va="center", fontsize=size, color=ink)


def _nonlinear(matrix: DependenceMatrix) -> Mask:
    edges = matrix.edges
    i, j = edges.found.i, edges.found.j
    marks = np.zeros(matrix.values.shape, dtype=bool)
    marks[i, j] = edges.is_nonlinear & (matrix.edge_qvalues <= _Q)
    return marks | marks.T if matrix.other_names is None else marks


def _dot(ax: "Axes", marks: Mask, *, in_corner: bool) -> None:
    """Dots where linear coefficients see less than half."""
    i, j = np.nonzero(marks)
    shift = 0.34 if in_corner else 0.0
    size = 14 if in_corner else max(2.0, 400 / max(marks.shape))
    ax.scatter(j + shift, i - shift, s=size, color=ORANGE, linewidths=0)


def _explain(ax: "Axes", matrix: DependenceMatrix, *, with_dots: bool) -> None:
    """What was found, and below it how to read the cells."""
    ax.set_title(f"{count(matrix.n_found(_Q), 'dependence')} in {count(matrix.n_tests, 'test')}", loc="left", pad=19)
    notes = [f"pale: no finding at an FDR of {rate(_Q)}"]
    if np.isnan(matrix.strength).any():
        notes.append("grey: not measured")
    if with_dots:
        ax.annotate("● nonlinear", (0, 1), (0, 6), "axes fraction", "offset points", color=ORANGE, fontsize=8)
    start = 62 if with_dots else 0
    ax.annotate(", ".join(notes), (0, 1), (start, 6), "axes fraction", "offset points", color=GREY, fontsize=8)


def name_axis(axis: Any, names: list[str], *, upright: bool) -> None:
    """Names along an axis: smaller where they are many, and then only some."""
    every = -(-len(names) // _MOST_NAMES)
    shown = np.arange(0, len(names), every)
    size = float(np.clip(520 / max(len(shown), 1), 5.5, 9.5))
    turned = (
        {}
        if upright
        else {"rotation": 90}
        if len(names) > 30
        else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    )
    axis.set_ticks(shown, [short(names[k], _LONGEST_NAME) for k in shown], fontsize=size, **turned)


def _size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Inches: half an inch a column while they are few, and a page at most."""
    tall, wide = (float(np.clip(0.55 * n, 2.4, 10.0)) for n in (n_rows, n_columns))
    return wide + 2.6, tall + 1.5
