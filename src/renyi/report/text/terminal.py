"""Results in a terminal: plain text for a console, and tables with Rich for the command line."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from renyi.report import summary
from renyi.report.summary import Line, Result, width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_SHOWN = 10
_LONGEST_NAME = 28
_BAR = 6
# What speaks for itself has no header.
_SILENT = ("bar", "trend", "mark")
_EIGHTHS = " ▏▎▍▌▋▊▉█"
# Names in fewer cells cannot be told apart: what says least gives way to them.
_NARROWEST_NAME = 16
# Below this even the numbers would have to give way, and those are what people came for.
_SHORTEST_NAME = 5


# Plain text.


def text_of(result: Result, /) -> str:
    """A result on a screen: what was looked at, the strongest dependences, what was left out."""
    by_target = result.target is not None
    hint = ".top(n) has more, .plot() draws all" if hasattr(result, "plot") else ".top(n) has more"
    lines = summary.lines_of(result, _SHOWN + 1)
    header = [*(["column"] if by_target else ["x", "y"]), summary.called(result), "trend", "p", "q", "n", ""]
    rows = [header, *(_plain(line, by_target) for line in lines[:_SHOWN])] if lines else []
    more = [hint] if len(lines) > _SHOWN else []
    signs = ["; ".join(said)] if (said := summary.signs_of(lines[:_SHOWN])) and not by_target else []
    order = [summary.ranking(result)] if len(lines) > 1 and summary.ranking(result) else []
    said = [*_aligned(rows), *signs, *more, *order, *summary.notes_of(result), *summary.remarks(result)]
    return "\n".join([f"{type(result).__name__}: {summary.headline(result)}", *said])


def _plain(line: Line, by_target: bool) -> list[str]:
    names = [summary.short(name, _LONGEST_NAME) for name in ([line.x] if by_target else [line.x, line.partner])]
    # Signs that every code page has, since people print results into files.
    trend = {1: "+", -1: "-", 0: ""}[line.trend]
    return [
        *names,
        summary.number(line.value),
        trend,
        summary.pvalue(line.p),
        summary.pvalue(line.q),
        f"{line.n:,}",
        line.mark,
    ]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Cells in columns, two blanks apart: the names and the last one to the left, numbers to the right."""
    if not rows:
        return []
    n_names = len(rows[0]) - 6
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            cell + " " * (wide - width(cell)) if j < n_names or j == len(row) - 1 else " " * (wide - width(cell)) + cell
            for j, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"  {'  '.join(padded)}".rstrip())
    return lines


# Tables with Rich.


@dataclass(frozen=True)
class _Part:
    """A column of a table: its header, its cells, and how they look."""

    header: str
    cells: list[str]
    style: str = ""
    justify: Literal["left", "right"] = "right"

    @property
    def wide(self) -> int:
        return max(map(width, self.cells if self.header in _SILENT else [self.header, *self.cells]))


def table_of_lines(
    lines: list[Line], console: "Console", /, *, value: str = "strength", by_target: bool = False
) -> "Table":
    """Ranked dependences, as wide as the terminal is; against one target they have one name each."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = [[line.x for line in lines]] + ([] if by_target else [[line.partner for line in lines]])
    parts = _parts_of(lines, value, draws=_draws(console))
    least = sum(min(_longest(column), _NARROWEST_NAME) for column in names)
    room = console.width - _taken(parts, len(names))
    for header in ("bar", "p", "n", "mark", "trend"):
        if room < least:
            parts = [part for part in parts if part.header != header]
            room = console.width - _taken(parts, len(names))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for header in ["column"] if by_target else ["x", "y"]:
        table.add_column(header, no_wrap=True)
    for part in parts:
        table.add_column("" if part.header in _SILENT else part.header, justify=part.justify, no_wrap=True)
    shown = _fitted(names, max(room, _SHORTEST_NAME * len(names)))
    for row, line in enumerate(lines):
        cells = [Text(column[row], style="dim" if line.sign and j else "") for j, column in enumerate(shown)]
        # As Text, in which brackets of a name are brackets.
        table.add_row(*cells, *(Text(part.cells[row], style=part.style) for part in parts))
    return table


def legend(lines: list[Line], console: "Console", /, *, by_target: bool = False) -> list[str]:
    """What the signs in a table mean, of those that are there."""
    trends = "arrows" if _draws(console) else "+ and -"
    signs = {
        "; ".join(summary.signs_of(lines)): not by_target and bool(summary.signs_of(lines)),
        f"{trends}: rises or falls on the whole": any(line.trend for line in lines),
        "nonlinear: Pearson and Spearman miss most of it": any(line.is_nonlinear for line in lines),
    }
    said = "; ".join(sign for sign, is_there in signs.items() if is_there)
    return [said] if said else []


def _draws(console: "Console") -> bool:
    """Whether the terminal has more than letters."""
    return console.encoding.startswith("utf")


def _parts_of(lines: list[Line], value: str, *, draws: bool) -> list[_Part]:
    """The numbers beside the names; arrows and bars where the terminal has them."""
    trends = {1: "↑", -1: "↓", 0: ""} if draws else {1: "+", -1: "-", 0: ""}
    parts = [
        _Part(value, [summary.number(line.value) for line in lines], "bold"),
        _Part("bar", [_bar(line.strength) for line in lines], "blue", "left"),
        _Part("trend", [trends[line.trend] for line in lines]),
        _Part("p", [summary.pvalue(line.p) for line in lines], "dim"),
        _Part("q", [summary.pvalue(line.q) for line in lines]),
        _Part("n", [f"{line.n:,}" for line in lines], "dim"),
        _Part("mark", [line.mark for line in lines], "green", "left"),
    ]
    if all(math.isnan(line.p) for line in lines):  # a measure without a null distribution
        parts = [part for part in parts if part.header not in ("p", "q")]
    return [part for part in parts if any(part.cells) and (draws or part.header != "bar")]


def _taken(parts: list[_Part], n_names: int) -> int:
    """Cells that the numbers take, and the two blanks between columns."""
    return sum(part.wide for part in parts) + 2 * (len(parts) + n_names - 1)


def _longest(names: list[str]) -> int:
    return max((width(summary.short(name, 10**6)) for name in names), default=0)


def _fitted(names: list[list[str]], room: int) -> list[list[str]]:
    """Names shortened to the room there is; a column that needs less than its share leaves it to the other."""
    share = -(-room // len(names))
    taken = [min(_longest(column), share) for column in names]
    limits = [room - (sum(taken) - own) for own in taken]
    return [[summary.short(name, limit) for name in column] for column, limit in zip(names, limits, strict=True)]


def _bar(value: float) -> str:
    """A bar from 0 to 1, as long as the value says."""
    eighths = 0 if math.isnan(value) else round(8 * _BAR * min(max(value, 0.0), 1.0))
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(_BAR)
