"""What changed between tables, in a terminal: plain text for a console, and tables with Rich for the command line."""

from typing import TYPE_CHECKING

from renyi.change.parts import Comparisons
from renyi.change.result import Comparison
from renyi.errors import count
from renyi.report import change
from renyi.report.summary import number, pvalue, short, width

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 10
_LONGEST_NAME = 28
_LONGEST_WORDS = 70


def text_of_comparison(found: Comparison, /) -> str:
    """A comparison on a screen: what changed in columns, what in pairs, what was left out."""
    columns, pairs = _column_rows(found, _SHOWN, 0.05), _pair_rows(found, _SHOWN, 0.05)
    said = [f"Comparison: {change.headline(found)}"]
    said += aligned([["column", "moved", "q", ""], *columns]) if columns else []
    said += aligned([["x", "y", "before", "after", "moved", "q", ""], *pairs]) if pairs else []
    n_columns, n_pairs = found.n_found()
    said += (
        [".top(n) has more, .plot() draws all, .report(path) writes a page"] if max(n_columns, n_pairs) > _SHOWN else []
    )
    return "\n".join([*said, *change.sentences(found)[1:], *change.remarks(found)])


def text_of_comparisons(found: Comparisons, /) -> str:
    """The parts of a table on a screen."""
    rows = [["part", "against", "rows", "columns", "pairs", "p"]]
    for part, one in found.comparisons.items():
        columns, pairs = one.n_found()
        rows.append(
            [short(part), short(one.labels[0]), f"{one.n_rows[1]:,}", str(columns), str(pairs), pvalue(one.together)]
        )
    said = [f"Comparisons: {count(len(found.parts), 'part')} by {short(found.by)}", *aligned(rows)]
    if found.when is not None:
        said.append(
            f"strongest evidence for a change from {found.when.part} on, p = {pvalue(found.when.p)} over all splits"
        )
    said += [f"{found.sampled}."] if found.sampled else []
    return "\n".join(said)


def _column_rows(found: Comparison, n: int, q: float) -> list[list[str]]:
    rows = []
    for place in found.ranked_columns(q)[:n].tolist():
        one = found.of_columns[place]
        name = short(one.column, _LONGEST_NAME)
        rows.append([name, number(one.moved, 2), pvalue(float(found.column_qvalues[place])), _fitting(one.words)])
    return rows


def _fitting(words: str) -> str:
    """As many of the findings on a column as fit beside it, the first one in any case."""
    kept, *more = words.split("; ")
    for part in more:
        if width(kept) + width(part) + 2 > _LONGEST_WORDS:
            break
        kept += f"; {part}"
    return short(kept, _LONGEST_WORDS)


def _pair_rows(found: Comparison, n: int, q: float) -> list[list[str]]:
    pairs, rows = found.of_pairs, []
    for place in found.ranked_pairs(q)[:n].tolist():
        names = [short(found.names[k], _LONGEST_NAME) for k in (pairs.i[place], pairs.j[place])]
        numbers = [number(float(values[place]), 2) for values in (pairs.before, pairs.after, pairs.moved)]
        rows.append([*names, *numbers, pvalue(float(found.pair_qvalues[place])), pairs.kind(place)])
    return rows


def aligned(rows: list[list[str]], /) -> list[str]:
    """Cells in columns, two blanks apart: names and words to the left, numbers to the right."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    is_number = [all(_looks_like_number(cell) for cell in column[1:]) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            " " * (wide - width(cell)) + cell if right else cell + " " * (wide - width(cell))
            for cell, wide, right in zip(row, widths, is_number, strict=True)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines


def _looks_like_number(cell: str) -> bool:
    return bool(cell) and (cell[0].isdigit() or cell[0] in "<−-+–") and not any(c.isalpha() and c != "e" for c in cell)


def print_comparison(found: Comparison, console: "Console", /, *, q: float, top: int) -> None:
    """A comparison with Rich."""
    from rich.text import Text

    for sentence in change.sentences(found, q=q):
        console.print(Text(sentence), highlight=False)
    columns, pairs = _column_rows(found, top, q), _pair_rows(found, top, q)
    if columns:
        print_table(console, ["column", "moved", "q", "what changed"], columns)
    if pairs:
        print_table(console, ["x", "y", *found.labels, "moved", "q", "dependence"], pairs)
    for remark in change.remarks(found):
        console.print(Text(remark), style="dim", highlight=False)


def print_table(console: "Console", header: list[str], rows: list[list[str]], /) -> None:
    """Rows with Rich."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for j, name in enumerate(header):
        is_number = all(_looks_like_number(row[j]) for row in rows)
        table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
