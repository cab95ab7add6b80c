from .document import ReportOptions as ReportOptions
from .figures.heatmap import plot_matrix as plot_matrix
from .figures.transformations import plot_transformations as plot_transformations
from .html.notebook import html_of as html_of
from .html.page import write_report as write_report
from .text.terminal import text_of as text_of

__all__ = [
    "ReportOptions",
    "html_of",
    "plot_matrix",
    "plot_transformations",
    "text_of",
    "write_report",
]
