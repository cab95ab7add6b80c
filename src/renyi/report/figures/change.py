"""What changed between two tables as a picture: strengths before and after, and how far dependences moved."""

from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.change.result import Comparison
from renyi.compute.arrays import Array
from renyi.errors import InputError
from renyi.report.clusters import orders
from renyi.report.figures.heatmap import SELF, UNKNOWN, hide_above, name_axis, write
from renyi.report.figures.style import GREY, in_style
from renyi.report.summary import rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Q = 0.05
_STRENGTH, _MOVED = "Blues", "Oranges"
_FADED = 0.65
_MOST_NUMBERS = 12


@in_style
def plot_comparison(pyplot: Any, found: Comparison, /) -> Any:
    """Draw three heatmaps side by side, columns in the same order."""
    n = len(found.names)
    if n < 2:
        raise InputError("a plot shows pairs of columns, and one column was compared: read .columns instead")
    pairs = found.of_pairs
    values = [_square(n, found, part) for part in (pairs.before, pairs.after, pairs.moved)]
    q = _square(n, found, found.pair_qvalues)
    strongest = np.fmax(np.nan_to_num(values[0]), np.nan_to_num(values[1]))
    np.fill_diagonal(strongest, 1.0)
    order, _ = orders(strongest, is_square=True)
    at = np.ix_(order, order)
    side = float(np.clip(0.42 * n, 2.2, 7.0))
    figure, axes = pyplot.subplots(1, 3, figsize=(3 * side + 2.4, side + 1.7), layout="compressed")
    for ax, shown, title, colours in zip(
        axes, values, (*found.labels, "moved"), (_STRENGTH, _STRENGTH, _MOVED), strict=True
    ):
        is_faded = ~(q <= _Q) if colours == _MOVED else np.zeros((n, n), dtype=bool)
        _draw(pyplot, ax, shown[at], is_faded[at], colours)
        ax.set_title(title, loc="left")
        name_axis(ax.xaxis, [found.names[k] for k in order], upright=False)
        name_axis(ax.yaxis, [found.names[k] for k in order] if ax is axes[0] else [""] * n, upright=True)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        scale = pyplot.cm.ScalarMappable(pyplot.Normalize(0, 1), colours)
        bar = figure.colorbar(scale, ax=ax, shrink=0.6, pad=0.02)
        bar.outline.set_visible(False)
    axes[2].annotate(
        f"pale: no finding at an FDR of {rate(_Q)}",
        (1, 1),
        (0, 4),
        "axes fraction",
        "offset points",
        color=GREY,
        fontsize=8,
        ha="right",
    )
    return figure


def _square(n: int, found: Comparison, values: Array) -> Array:
    whole = np.full((n, n), np.nan)
    whole[found.of_pairs.i, found.of_pairs.j] = whole[found.of_pairs.j, found.of_pairs.i] = values
    return whole


def _draw(pyplot: Any, ax: "Axes", values: Array, is_faded: Any, colours: str) -> None:
    shades = np.array(pyplot.get_cmap(colours)(np.nan_to_num(np.clip(values, 0.0, 1.0))))[..., :3]
    shades[is_faded] += _FADED * (1.0 - shades[is_faded])
    to_rgb = pyplot.matplotlib.colors.to_rgb
    shades[np.isnan(values)] = to_rgb(UNKNOWN)
    np.einsum("iij->ij", shades)[:] = to_rgb(SELF)
    ax.imshow(shades, interpolation="nearest", aspect="equal")
    hide_above(ax, len(values))
    if len(values) <= _MOST_NUMBERS:
        write(ax, values, np.tri(len(values), k=-1, dtype=bool) & np.isfinite(values) & ~is_faded)
