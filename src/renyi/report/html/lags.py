"""Dependence at many lags as one HTML file that holds all it needs, loads nothing and runs no script."""

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from renyi.errors import load
from renyi.report import lags
from renyi.report.html.page import asset, environment_of_pages, policy_of, write_document
from renyi.report.summary import number, pvalue
from renyi.series.result import Lags

_SHOWN = 10
_NUMBER = "text-align:right;padding:2px 10px;font-variant-numeric:tabular-nums"
_NAME = "text-align:left;padding:2px 10px"


def write_lags(found: Lags, path: str | PathLike[str], q: float, title: str, /) -> Path:
    """Write what was found, as JSON where the name of the file ends so, else as a page; and say where it is."""
    return write_document(path, lambda: lags.document_of(found, q, title), page_of_lags)


def page_of_lags(document: dict[str, Any], /) -> str:
    """The page of lags."""
    jinja2, environment = load("jinja2", extra="report"), environment_of_pages()
    environment.filters |= {
        "number": lambda value: number(value, 2),
        "p": lambda value: pvalue(value) if value is not None else "–",
    }
    style = asset("style.css") + asset("change.css") + asset("lags.css")
    page: str = environment.get_template("lags.html").render(
        document=document, style=jinja2.utils.markupsafe.Markup(style), policy=policy_of(None, style)
    )
    return page


def html_of_lags(found: Lags, /) -> str:
    """Lags in a notebook: the strongest pairs, each with its direction."""
    said = [f"<div><b>{escape(lags.headline(found))}</b></div>"]
    rows = [lags.row(found, k) for k in found.ranked(0.05)[:_SHOWN].tolist()]
    if rows:
        header = ["x", "y", "strongest", "strength", "p", "q"]
        cells = [
            [one["x"], one["y"], one["direction"], number(one["strength"], 2), pvalue(one["p"]), pvalue(one["q"])]
            for one in rows
        ]
        head, *body = (_cells(row, tag) for row, tag in ((header, "th"), *((row, "td") for row in cells)))
        parts = f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>"
        said.append(f'<table style="border-collapse:collapse;margin:6px 0">{parts}</table>')
    more = [".top(n) has more, .plot() draws all"] if found.n_found() > _SHOWN else []
    small = "".join(f"<div>{escape(text)}</div>" for text in [*more, lags.legend(found), *lags.remarks(found)])
    return f'<div>{"".join(said)}<div style="opacity:0.7;font-size:90%">{small}</div></div>'


def _cells(row: list[str], tag: str) -> str:
    styles = (_NAME, _NAME, _NAME, _NUMBER, _NUMBER, _NUMBER)
    cells = (
        f'<{tag} style="{style}"><bdi>{escape(cell)}</bdi></{tag}>' for cell, style in zip(row, styles, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
