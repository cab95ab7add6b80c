"""What changed between two tables as one HTML file that holds all it needs, loads nothing and runs no script."""

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from renyi.change.result import Comparison
from renyi.errors import load
from renyi.report import change
from renyi.report.html.page import asset, environment_of_pages, policy_of, write_document
from renyi.report.summary import number, pvalue, short

_SHOWN, _FIRST_SHOWN = 10, 20
_NUMBER = "text-align:right;padding:2px 10px;font-variant-numeric:tabular-nums"
_NAME = "text-align:left;padding:2px 10px"


def write_comparison(found: Comparison, path: str | PathLike[str], q: float, title: str, /) -> Path:
    """Write what changed, as JSON where the name of the file ends so, else as a page; and say where it is."""
    return write_document(path, lambda: change.document_of(found, q, title), page_of_change)


def page_of_change(document: dict[str, Any], /) -> str:
    """The page of a comparison."""
    jinja2, environment = load("jinja2", extra="report"), environment_of_pages()
    environment.filters |= {
        "number": lambda value: number(value, 2),
        "p": lambda value: "–" if value is None else pvalue(value),
        "short": short,
    }
    style = asset("style.css") + asset("change.css")
    page: str = environment.get_template("change.html").render(
        document=document,
        shown=_FIRST_SHOWN,
        style=jinja2.utils.markupsafe.Markup(style),
        policy=policy_of(None, style),
    )
    return page


def html_of_comparison(found: Comparison, /) -> str:
    """A comparison in a notebook: what changed in columns, what in pairs."""
    said = [f"<div><b>{escape(change.headline(found))}</b></div>"]
    pairs = found.of_pairs
    columns = [
        [one.column, number(one.moved, 2), pvalue(float(found.column_qvalues[k])), one.words]
        for k in found.ranked_columns(0.05)[:_SHOWN].tolist()
        for one in [found.of_columns[k]]
    ]
    rows = [
        [
            f"{short(found.names[pairs.i[k]])} – {short(found.names[pairs.j[k]])}",
            number(float(pairs.moved[k]), 2),
            pvalue(float(found.pair_qvalues[k])),
            found.pair_words(k),
        ]
        for k in found.ranked_pairs(0.05)[:_SHOWN].tolist()
    ]
    for first, cells in (("column", columns), ("pair", rows)):
        if cells:
            said.append(_table([first, "moved", "q", "what changed"], cells))
    small = "".join(f"<div>{escape(text)}</div>" for text in [*change.sentences(found)[1:], *change.remarks(found)])
    return f'<div>{"".join(said)}<div style="opacity:0.7;font-size:90%">{small}</div></div>'


def _table(header: list[str], rows: list[list[str]]) -> str:
    head, *body = (_cells(row, tag) for row, tag in ((header, "th"), *((row, "td") for row in rows)))
    parts = f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>"
    return f'<table style="border-collapse:collapse;margin:6px 0">{parts}</table>'


def _cells(row: list[str], tag: str) -> str:
    styles = (_NAME, _NUMBER, _NUMBER, _NAME)
    cells = (f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(row, styles, strict=True))
    return f"<tr>{''.join(cells)}</tr>"
