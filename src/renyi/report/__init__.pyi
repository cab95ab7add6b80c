from .document import ReportOptions as ReportOptions
from .figures.change import plot_comparison as plot_comparison
from .figures.heatmap import plot_matrix as plot_matrix
from .figures.lags import plot_lags as plot_lags
from .figures.rolling import plot_rolling as plot_rolling
from .figures.screening import plot_screening as plot_screening
from .figures.transformations import plot_transformations as plot_transformations
from .graph import graph_of as graph_of
from .html.change import html_of_comparison as html_of_comparison
from .html.change import write_comparison as write_comparison
from .html.lags import html_of_lags as html_of_lags
from .html.lags import write_lags as write_lags
from .html.notebook import html_of as html_of
from .html.page import write_report as write_report
from .text.change import text_of_comparison as text_of_comparison
from .text.change import text_of_comparisons as text_of_comparisons
from .text.lags import text_of_lags as text_of_lags
from .text.pair import text_of_dependence as text_of_dependence
from .text.pair import text_of_test as text_of_test
from .text.terminal import text_of as text_of

__all__ = [
    "ReportOptions",
    "graph_of",
    "html_of",
    "html_of_comparison",
    "html_of_lags",
    "plot_comparison",
    "plot_lags",
    "plot_matrix",
    "plot_rolling",
    "plot_screening",
    "plot_transformations",
    "text_of",
    "text_of_comparison",
    "text_of_comparisons",
    "text_of_dependence",
    "text_of_lags",
    "text_of_test",
    "write_comparison",
    "write_lags",
    "write_report",
]
