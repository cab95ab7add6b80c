"""What all figures share: colours that everybody tells apart, style, and files that appear whole or not at all."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from renyi.errors import InputError, load, must_be
from renyi.report.files import check_writable, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Wanted = ParamSpec("Wanted")

# Colours that people with any colour vision tell apart (Okabe and Ito).
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "font.size": 9.5,
    "figure.dpi": 110,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "savefig.dpi": 200,
}


def check_picture(path: Path, /) -> None:
    """Refuse a path that no picture can be written to, before any work is done."""
    kinds = load("matplotlib.backend_bases", extra="report").FigureCanvasBase.filetypes
    if path.suffix.removeprefix(".").lower() not in kinds:
        raise InputError(f"{path} does not name a kind of picture: end it in .png, .pdf or .svg")
    check_writable(path)


def shortened(name: str, longest: int = 32, /) -> str:
    """A name of at most so many letters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def save(figure: "Figure", path: Path, /) -> None:
    """Write a figure to a file, its kind named by the ending, and let it go."""
    pyplot = load("matplotlib.pyplot", extra="report")
    with written_whole(path) as part:
        figure.savefig(part, format=path.suffix.removeprefix(".").lower())
    pyplot.close(figure)


def check_axes(ax: Any, /) -> None:
    """Refuse what is no place to draw in."""
    if ax is not None and not isinstance(ax, load("matplotlib.axes", extra="report").Axes):
        raise must_be("ax", "axes of Matplotlib, or None for a figure of its own", ax)


def in_style(draw: Callable[Concatenate[Any, Wanted], Any], /) -> "Callable[Wanted, Figure]":
    """A function that draws with Matplotlib's pyplot, its first argument, in the style of all figures.

    A notebook shows the figure once: it draws open figures, and also what a cell returns.
    """

    @wraps(draw)
    def drawn(*wanted: Wanted.args, **options: Wanted.kwargs) -> "Figure":
        pyplot = load("matplotlib.pyplot", extra="report")
        with pyplot.rc_context(STYLE):
            figure: Figure = draw(pyplot, *wanted, **options)
        if "inline" in pyplot.get_backend():
            pyplot.close(figure)
        return figure

    return drawn
