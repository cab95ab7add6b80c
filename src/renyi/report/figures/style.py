"""What all figures share: colours that everybody tells apart, style, and files that appear whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from renyi.errors import InputError, load
from renyi.report.files import check_writable, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREY", "ORANGE", "STYLE", "check_picture", "save", "shown_once"]

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


def save(figure: "Figure", path: Path, /) -> None:
    """Write a figure to a file, its kind named by the ending, and let it go."""
    pyplot = load("matplotlib.pyplot", extra="report")
    with written_whole(path) as part:
        figure.savefig(part, format=path.suffix.removeprefix(".").lower())
    pyplot.close(figure)


def shown_once(pyplot: Any, figure: "Figure") -> "Figure":
    """A figure that a notebook shows once: it draws open figures, and also what a cell returns."""
    if "inline" in pyplot.get_backend():
        pyplot.close(figure)
    return figure
