"""Results in a notebook: a small static piece of HTML, in which every name is text."""

import math
from html import escape

from renyi.report import summary
from renyi.report.summary import Line, Result

_SHOWN = 10
_LONGEST_NAME = 40
_NUMBER = "text-align:right;padding:2px 10px;font-variant-numeric:tabular-nums"
_NAME = "text-align:left;padding:2px 10px"
# A shade that lets black and white letters stand out alike.
_SHADE = "0,114,178"


def html_of(result: Result, /) -> str:
    """A result in a notebook: what was looked at, the strongest dependences, what was left out."""
    names = ["x", "y"] if result.target is None else ["column"]
    lines = summary.lines_of(result, _SHOWN + 1)
    said = [f"<div><b>{escape(summary.headline(result))}</b></div>"]
    if lines:
        head = "".join(_cell(name, _NAME, "th") for name in names)
        head += "".join(_cell(name, _NUMBER, "th") for name in (summary.called(result), "trend", "p", "q", "n"))
        rows = "".join(f"<tr>{_row(line, len(names))}</tr>" for line in lines[:_SHOWN])
        table = f"<thead><tr>{head}{_cell('', _NAME, 'th')}</tr></thead><tbody>{rows}</tbody>"
        said.append(f'<table style="border-collapse:collapse;margin:6px 0">{table}</table>')
    more = summary.signs_of(lines[:_SHOWN]) if result.target is None else []
    more += [".top(n) has more"] if len(lines) > _SHOWN else []
    more += [summary.ranking(result)] if len(lines) > 1 and summary.ranking(result) else []
    small = "".join(
        f"<div>{escape(remark)}</div>" for remark in [*more, *summary.notes_of(result), *summary.remarks(result)]
    )
    return f'<div>{"".join(said)}<div style="opacity:0.7;font-size:90%">{small}</div></div>'


def _row(line: Line, n_names: int) -> str:
    shown = [line.x, line.partner][:n_names]
    strength = 0.0 if math.isnan(line.strength) else min(max(line.strength, 0.0), 1.0)
    shaded = f"{_NUMBER};background:rgba({_SHADE},{0.5 * strength:.2f})"
    return "".join(
        [
            *(_cell(summary.short(name, _LONGEST_NAME), _NAME) for name in shown),
            _cell(summary.number(line.value), shaded),
            _cell({1: "↑", -1: "↓", 0: ""}[line.trend], _NUMBER),
            *(_cell(text, _NUMBER) for text in (summary.pvalue(line.p), summary.pvalue(line.q), f"{line.n:,}")),
            _cell(line.mark, _NAME),
        ]
    )


def _cell(text: str, style: str, tag: str = "td") -> str:
    # The letters of a name decide its direction, and no other cell's.
    return f'<{tag} style="{style}"><bdi>{escape(text)}</bdi></{tag}>'
