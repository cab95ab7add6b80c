"""Dependence against lag as a picture: one pair with the band of chance, or the strongest lags of many."""

from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.errors import InputError, load
from renyi.report.figures.heatmap import name_axis
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style
from renyi.report.summary import number, pvalue, rate, short
from renyi.series.result import Lags

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Q = 0.05
_LEADS, _STRENGTH = "RdBu_r", "Blues"
_NOTHING = "#dfe2e5"
_FADED = 0.75
_MOST_ROWS, _MOST_NUMBERS = 40, 14
_BAND = "#e4e7ea"


@in_style
def plot_lags(pyplot: Any, found: Lags, pair: int | None, /) -> Any:
    """Draw one pair by its place, or all."""
    if pair is not None:
        figure, ax = pyplot.subplots(figsize=(7.2, 3.4), layout="compressed")
        draw_pair(ax, found, pair)
        return figure
    return _by_target(pyplot, found) if found.target is not None else _square(pyplot, found)


def draw_pair(ax: "Axes", found: Lags, pair: int, /) -> None:
    """Strengths at all lags, the band in which chance keeps them, and the strongest lag."""
    pairs, lag = found.of_pairs, int(found.of_pairs.lag[pair])
    x, y = short(found.names[pairs.i[pair]]), short(found.names[pairs.j[pair]])
    strength = pairs.strength[pair]
    is_found = found.pvalues[pair] <= _Q
    ax.axhspan(0.0, float(pairs.band[pair]), color=_BAND, linewidth=0)
    ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    ax.vlines(found.lags, 0.0, strength, color=BLUE, linewidth=1.2)
    ax.scatter(found.lags, strength, s=14, color=BLUE, zorder=3, linewidths=0)
    at = lag + found.max_lag
    ax.scatter([lag], [strength[at]], s=46, color=ORANGE if is_found else GREY, zorder=4, linewidths=0)
    ax.set_xlim(-found.max_lag - 0.8, found.max_lag + 0.8)
    ax.set_ylim(0.0, max(1.15 * float(strength.max()), 1.3 * float(pairs.band[pair]), 0.1))
    ax.set_xlabel(f"← {x} follows {y}    lag in rows    {x} leads {y} →")
    ax.set_ylabel("strength")
    told = short(found.direction(pair), 70) if lag else "strongest at the same time"
    ax.set_title(
        f"{told}: {number(float(strength[at]), 2)}, p = {pvalue(float(found.pvalues[pair]))}", loc="left", pad=16
    )
    ax.annotate(
        "grey: where chance keeps nearly all lags",
        (0, 1),
        (0, 4),
        "axes fraction",
        "offset points",
        color=GREY,
        fontsize=8,
    )


def _by_target(pyplot: Any, found: Lags) -> Any:
    """Columns below one another, strengths by lag in shades."""
    ranked = found.ranked()[:_MOST_ROWS]
    pairs = found.of_pairs
    figure, ax = pyplot.subplots(
        figsize=(8.0, float(np.clip(0.34 * len(ranked) + 1.6, 2.6, 12.0))), layout="compressed"
    )
    shades = np.array(pyplot.get_cmap(_STRENGTH)(np.clip(pairs.strength[ranked], 0.0, 1.0)))[..., :3]
    is_faded = found.qvalues[ranked] > _Q
    shades[is_faded] += _FADED * (1.0 - shades[is_faded])
    edge = found.max_lag + 0.5
    ax.imshow(shades, interpolation="nearest", aspect="auto", extent=(-edge, edge, len(ranked) - 0.5, -0.5))
    rows = np.arange(len(ranked))[~is_faded]
    ax.scatter(pairs.lag[ranked][~is_faded], rows, s=16, color=ORANGE, linewidths=0)
    name_axis(ax.yaxis, [found.names[k] for k in pairs.i[ranked].tolist()], upright=True)
    ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_xlabel(f"← column follows    lag in rows    column leads {short(found.target or '')} →")
    _explain(ax, found, "● strongest lag; pale: no finding")
    _scale(pyplot, ax, _STRENGTH, (0.0, 1.0), "strength")
    return figure


def _square(pyplot: Any, found: Lags) -> Any:
    """All pairs: by how many rows the column of a line leads that of a row."""
    names = found.names
    if len(names) > 2 * _MOST_ROWS:
        raise InputError(
            f"{len(names):,} columns are too many for one picture of lags: pass a pair to .plot(x, y), or read .top()"
        )
    pairs = found.of_pairs
    n = len(names)
    lead, strength, is_found = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    lead[pairs.i, pairs.j], lead[pairs.j, pairs.i] = pairs.lag, -pairs.lag
    own = pairs.strength[np.arange(len(found)), pairs.lag + found.max_lag]
    for values, of_pairs in ((strength, own), (is_found, found.qvalues <= _Q)):
        values[pairs.i, pairs.j] = values[pairs.j, pairs.i] = of_pairs
    side = float(np.clip(0.45 * n, 2.6, 10.0))
    figure, ax = pyplot.subplots(figsize=(side + 2.6, side + 1.5), layout="compressed")
    shades = np.array(pyplot.get_cmap(_LEADS)(0.5 + lead / (2.0 * found.max_lag)))[..., :3]
    shades[~is_found] = load("matplotlib.colors", extra="report").to_rgb(_NOTHING)
    np.einsum("iij->ij", shades)[:] = 1.0
    ax.imshow(shades, interpolation="nearest", aspect="equal")
    if n <= _MOST_NUMBERS:
        for i, j in zip(*np.nonzero(is_found), strict=True):
            ink = "white" if abs(lead[i, j]) > 0.6 * found.max_lag else "black"
            text = f"{lead[i, j]:+.0f}".replace("-", "−").replace("+0", "0").replace("−0", "0")
            ax.text(j, i, f"{text}\n{strength[i, j]:.2f}", ha="center", va="center", fontsize=7.5, color=ink)
    name_axis(ax.xaxis, list(names), upright=False)
    name_axis(ax.yaxis, list(names), upright=True)
    _explain(ax, found, "lag and strength; grey: no finding" if n <= _MOST_NUMBERS else "grey: no finding")
    _scale(pyplot, ax, _LEADS, (-float(found.max_lag), float(found.max_lag)), "rows by which the line's column leads")
    return figure


def _explain(ax: "Axes", found: Lags, says: str) -> None:
    """What was found, and below it how to read the cells."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_title(f"{found.n_found(_Q):,} of {len(found):,} pairs at some lag", loc="left", pad=19)
    notes = f"{says} at an FDR of {rate(_Q)}"
    ax.annotate(notes, (0, 1), (0, 6), "axes fraction", "offset points", color=GREY, fontsize=8)


def _scale(pyplot: Any, ax: "Axes", colours: str, span: tuple[float, float], label: str) -> None:
    scale = pyplot.cm.ScalarMappable(pyplot.Normalize(*span), colours)
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.7, pad=0.02, label=label)
    bar.outline.set_visible(False)
