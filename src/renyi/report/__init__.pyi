from .document import ReportOptions as ReportOptions
from .figures.heatmap import plot_matrix as plot_matrix
from .figures.transformations import plot_transformations as plot_transformations
from .html.notebook import html_of_matrix as html_of_matrix
from .html.notebook import html_of_screening as html_of_screening
from .html.page import write_report as write_report
from .text.terminal import text_of_matrix as text_of_matrix
from .text.terminal import text_of_screening as text_of_screening

__all__ = [
    "ReportOptions",
    "html_of_matrix",
    "html_of_screening",
    "plot_matrix",
    "plot_transformations",
    "text_of_matrix",
    "text_of_screening",
    "write_report",
]
