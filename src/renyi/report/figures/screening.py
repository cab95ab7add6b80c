"""Every column against one target as a picture: bars of their strengths."""

from typing import Any

import numpy as np

from renyi.errors import count
from renyi.report.figures.style import BLUE, GREY, ORANGE, check_axes, in_style
from renyi.report.summary import called, rate, short, told_apart
from renyi.tables.screening import Screening

_MOST_BARS, _LONGEST_NAME = 40, 28
_PALE = "#d9d9d9"


@in_style
def plot_screening(pyplot: Any, found: Screening, /, ax: Any = None) -> Any:
    """Draw the strongest columns as bars; what is no finding is pale and has no number."""
    check_axes(ax)
    names = told_apart(found.names, _LONGEST_NAME)[:_MOST_BARS]
    strength, is_found = np.nan_to_num(found.strength[: len(names)]), found.qvalues[: len(names)] <= found.fdr
    if not found.edges.has_null:
        is_found = np.ones(len(names), dtype=bool)
    is_nonlinear = found.edges.is_nonlinear[found.ranked()][: len(names)] & is_found
    if ax is None:
        _, ax = pyplot.subplots(figsize=(6.4, 1.3 + 0.26 * len(names)), layout="compressed")
    places = np.arange(len(names))
    ax.barh(places, strength, height=0.72, color=np.where(is_found, BLUE, _PALE))
    for place in np.flatnonzero(is_found).tolist():
        text = ax.annotate(
            f"{strength[place]:.2f}",
            (strength[place], place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
        if is_nonlinear[place]:
            ax.annotate("◆", (1, 0.5), (4, 0), xycoords=text, textcoords="offset points", va="center", color=ORANGE)
    ax.set_yticks(places, names)
    ax.tick_params(length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, max(1.0, 1.08 * strength.max(initial=0.0)))
    ax.set_xlabel(called(found))
    _explain(ax, found, is_found, bool(is_nonlinear.any()))
    return ax.figure


def _explain(ax: Any, found: Screening, is_found: Any, has_nonlinear: bool) -> None:
    """What was found, and below it how to read the bars."""
    held = f" given {', '.join(map(short, found.given))}" if found.given else ""
    title = f"{short(found.target)}{held}: {count(found.n_found(), 'dependence')} in {count(found.n_tests, 'test')}"
    ax.set_title(title if found.edges.has_null else f"{short(found.target)}{held}", loc="left", pad=19)
    notes = [] if is_found.all() else [f"pale: no finding at an FDR of {rate(found.fdr)}"]
    if len(found.names) > _MOST_BARS:
        notes.append(f"the {_MOST_BARS} strongest of {len(found.names):,} columns")
    start = 0
    if has_nonlinear:
        ax.annotate("◆ nonlinear", (0, 1), (0, 6), "axes fraction", "offset points", color=ORANGE, fontsize=8)
        start = 62
    ax.annotate(", ".join(notes), (0, 1), (start, 6), "axes fraction", "offset points", color=GREY, fontsize=8)
