"""A matrix of dependences as a picture, similar columns beside one another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.compute.arrays import Array, Index, Mask
from renyi.errors import count, load
from renyi.report.clusters import orders
from renyi.report.figures.style import GREY, ORANGE, check_axes, in_style
from renyi.report.summary import called, rate, told_apart
from renyi.tables.dependence_matrix import DependenceMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "Blues"
UNKNOWN, SELF, PAPER = "#b8b8b8", "#ececec", "#ffffff"
_Q = 0.05
# How far cells without a finding fade into the paper.
_FADED = 0.65
# On colours of more luminance black stands out more than white, and either by 4.5 to 1 at least (WCAG 2.2).
_BRIGHT = 0.179
_MOST_NUMBERS, _MOST_NAMES = 30, 80
# Of more marks than these the strongest are drawn: what is marked has to be rare to be seen.
_MOST_MARKS = 40
_LONGEST_NAME = 24


@in_style
def plot_matrix(pyplot: Any, matrix: DependenceMatrix, /, ax: Any = None) -> Any:
    """Draw strengths in shades, each pair once; no findings at 5 % fade, and diamonds mark what is not linear."""
    check_axes(ax)
    columns = matrix.names if matrix.other_names is None else matrix.other_names
    rows_first, columns_first = orders(matrix.strength, is_square=matrix.other_names is None)
    at = np.ix_(rows_first, columns_first)
    is_shown = np.ones((len(matrix.names), len(columns)), dtype=bool)
    if matrix.other_names is None:
        is_shown = np.tri(len(columns), k=-1, dtype=bool)
    if ax is None:
        _, ax = pyplot.subplots(figsize=_size(len(matrix.names), len(columns)), layout="compressed")
    figure = ax.figure
    ax.imshow(_shades(pyplot, matrix)[at], interpolation="nearest", aspect="equal")
    if matrix.other_names is None:
        hide_above(ax, len(columns))
    widest = max(len(matrix.names), len(columns))
    if widest <= _MOST_NUMBERS:
        write(ax, matrix.strength[at], is_shown & (matrix.qvalues[at] <= _Q))
    n_missed = _mark(ax, matrix, rows_first, columns_first, in_corner=widest <= _MOST_NUMBERS)
    name_axis(ax.xaxis, [columns[j] for j in columns_first], upright=False)
    name_axis(ax.yaxis, [matrix.names[i] for i in rows_first], upright=True)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0 if widest <= _MOST_NAMES else 2)
    _explain(ax, matrix, n_missed)
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
    colours[np.isnan(values)] = to_rgb(UNKNOWN)
    if matrix.other_names is None:
        np.einsum("iij->ij", colours)[:] = to_rgb(SELF)
    return colours


def hide_above(ax: "Axes", n: int, /) -> None:
    """Show each pair once: of a square picture in axes what is above the diagonal becomes paper."""
    image = ax.images[0]
    colours = np.array(image.get_array())
    colours[np.triu_indices(n, 1)] = 1.0
    image.set_data(colours)


def write(ax: "Axes", values: Array, is_written: Mask, /) -> None:
    """Numbers of findings, in the ink that stands out from the picture in axes."""
    colours = np.asarray(ax.images[0].get_array(), dtype=np.float64)
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    is_bright = linear @ [0.2126, 0.7152, 0.0722] > _BRIGHT
    for i, j in np.argwhere(is_written).tolist():
        ink = "black" if is_bright[i, j] else "white"
        size = 9 if len(values) <= 10 else 7.5 if len(values) <= 22 else 6
        ax.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", fontsize=size, color=ink)


def _mark(ax: "Axes", matrix: DependenceMatrix, rows: Index, columns: Index, /, *, in_corner: bool) -> tuple[int, int]:
    """Diamonds where linear coefficients see less than half: how many are drawn, and how many there are."""
    edges = matrix.edges
    missed = np.flatnonzero(edges.is_nonlinear & (matrix.edge_qvalues <= _Q))
    n_missed = len(missed)
    if n_missed > _MOST_MARKS:
        missed = missed[np.argsort(-edges.lower[missed], kind="stable")[:_MOST_MARKS]]
    places = np.argsort(rows)[edges.found.i[missed]], np.argsort(columns)[edges.found.j[missed]]
    if matrix.other_names is None:
        places = np.maximum(*places), np.minimum(*places)
    shift = 0.34 if in_corner else 0.0
    # However small the cells are, a diamond is large enough to be seen as one.
    size = float(np.clip((420 if in_corner else 600) / max(matrix.values.shape), 14.0, 28.0))
    ax.scatter(places[1] + shift, places[0] - shift, s=size, marker="D", color=ORANGE, linewidths=0.6, edgecolors=PAPER)
    return len(missed), n_missed


def _explain(ax: "Axes", matrix: DependenceMatrix, n_missed: tuple[int, int]) -> None:
    """What was found, and below it how to read the cells."""
    ax.set_title(f"{count(matrix.n_found(_Q), 'dependence')} in {count(matrix.n_tests, 'test')}", loc="left", pad=19)
    notes = [f"pale: no finding at an FDR of {rate(_Q)}"]
    if np.isnan(matrix.strength).any():
        notes.append("grey: not measured")
    drawn, missed = n_missed
    legend = "◆ nonlinear" if drawn == missed else f"◆ the {drawn} strongest of {missed:,} nonlinear"
    if missed:
        ax.annotate(legend, (0, 1), (0, 6), "axes fraction", "offset points", color=ORANGE, fontsize=8)
    start = 8 + 4.6 * len(legend) if missed else 0
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
    cut = told_apart(names, _LONGEST_NAME)
    axis.set_ticks(shown, [cut[k] for k in shown], fontsize=size, **turned)


def _size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Inches: half an inch a column while they are few, and a page at most."""
    tall, wide = (float(np.clip(0.55 * n, 2.4, 10.0)) for n in (n_rows, n_columns))
    return wide + 2.6, tall + 1.5
