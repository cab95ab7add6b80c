"""Dependence over time as a picture."""

from typing import Any

import numpy as np

from renyi.report.figures.style import BLUE, GREY, in_style
from renyi.report.summary import short
from renyi.series.rolling import Rolling

_LEVEL = 0.05


@in_style
def plot_rolling(pyplot: Any, found: Rolling, /) -> Any:
    """Draw strength at the end of every window, dots filled where the window's p-value is below 0.05."""
    figure, ax = pyplot.subplots(figsize=(7.2, 3.2), layout="compressed")
    is_low = found.pvalues < _LEVEL
    ax.plot(found.end, found.strength, color=BLUE, linewidth=1.0, zorder=1)
    faces = np.where(is_low, BLUE, "white").tolist()
    ax.scatter(found.end, found.strength, s=16, c=faces, edgecolors=BLUE, linewidths=0.9, zorder=2)
    highest = float(np.nanmax(found.strength)) if np.isfinite(found.strength).any() else 0.0
    ax.set_ylim(0.0, max(1.15 * highest, 0.1))
    ax.set_ylabel("strength")
    is_stamp = found.end.dtype.kind in "Mm"
    ax.set_xlabel("last stamp of the window" if is_stamp else "last row of the window")
    names = " and ".join(short(name) for name in found.names)
    ax.set_title(f"{names}, windows of {found.window:,} rows", loc="left", pad=16)
    ax.annotate(
        "filled: p below 0.05 in that window by itself; windows that overlap are not independent",
        (0, 1),
        (0, 4),
        "axes fraction",
        "offset points",
        color=GREY,
        fontsize=8,
    )
    return figure
