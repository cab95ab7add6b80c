"""Dependence at many lags in a terminal: plain text for a console, and tables with Rich for the command line."""

from typing import TYPE_CHECKING

from renyi.report import lags
from renyi.report.summary import number, pvalue, short
from renyi.report.text.change import aligned, print_table
from renyi.series.result import Lags

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 10
_LONGEST_NAME = 28


def text_of_lags(found: Lags, /) -> str:
    """Lags on a screen: what was compared, the strongest pairs, what is to be known beside it."""
    rows = rows_of(found, _SHOWN, 0.05)
    said = [f"Lags: {lags.headline(found)}"]
    said += aligned([_header(found), *rows]) if rows else []
    said += [".top(n) has more, .plot() draws all"] if found.n_found() > _SHOWN else []
    return "\n".join([*said, *([lags.legend(found)] if rows else []), *lags.remarks(found)])


def _header(found: Lags) -> list[str]:
    return [*(["column"] if found.target is not None else ["x", "y"]), "strongest", "lag", "strength", "p", "q"]


def rows_of(found: Lags, n: int, q: float, /) -> list[list[str]]:
    """The strongest pairs as cells."""
    rows = []
    for k in found.ranked(q)[:n].tolist():
        one = lags.row(found, k)
        names = [short(one[side], _LONGEST_NAME) for side in (("x",) if found.target is not None else ("x", "y"))]
        numbers = [
            f"{one['lag']:+d}".replace("+0", "0"),
            number(one["strength"], 2),
            pvalue(one["p"]),
            pvalue(one["q"]),
        ]
        rows.append([*names, words(one["lag"], "" if found.target is not None else names[0]), *numbers])
    return rows


def words(lag: int, name: str, /) -> str:
    """A lag in words, of the first column of a row, which is named where another one is in the row."""
    if lag == 0:
        return "same time"
    return f"{name} {'leads' if lag > 0 else 'follows'} by {abs(lag):,}".lstrip()


def print_lags(found: Lags, console: "Console", /, *, q: float, top: int) -> None:
    """Lags with Rich."""
    from rich.text import Text

    console.print(Text(f"{lags.headline(found, q=q)}."), highlight=False)
    rows = rows_of(found, top, q)
    if rows:
        print_table(console, _header(found), rows)
        console.print(Text(lags.legend(found)), style="dim", highlight=False)
    if found.n_found(q) > top:
        console.print(Text(f"the {top:,} strongest are shown: --top and --csv have more"), style="dim", highlight=False)
    for remark in lags.remarks(found):
        console.print(Text(remark), style="dim", highlight=False)
