"""`renyi compare`: what changed between two tables, for people and for pipelines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from renyi.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from renyi.change.parts import Comparisons
    from renyi.change.result import Comparison

_SHOWN = 20


def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A table: CSV, JSON, Parquet or Arrow.")],
    after: Annotated[str | None, typer.Argument(metavar="AFTER", help="The other table; none with --by.")] = None,
    *,
    by: Annotated[str | None, typer.Option(metavar="COL", help="Compare the parts of one table instead.")] = None,
    against: Annotated[str, typer.Option(help="With --by: previous or others.")] = "previous",
    fdr: Annotated[float, typer.Option(help="False discovery rate.")] = 0.05,
    top: Annotated[int, typer.Option(min=1, help="Changes to show.")] = _SHOWN,
    html: Annotated[str | None, typer.Option(metavar="F", help="Write a report for the browser.")] = None,
    as_json: terminal.AsJson = False,
    fail_on: Annotated[
        str | None, typer.Option(help="columns, pairs or any: exit with code 3 if these changed.")
    ] = None,
    least: terminal.Least = terminal.LEAST,
    measure: Annotated[str, typer.Option(help="What strengths are measured by.")] = "rdc",
    memory: Annotated[str, typer.Option(help="Of a file that takes more, pairs are compared on a sample.")] = "1GB",
    sample: Annotated[int, typer.Option(metavar="N", min=2, help="Rows of that sample.")] = 100_000,
    sep: terminal.Separator = None,
    null: terminal.Nulls = None,
    encoding: terminal.Encoding = None,
    no_header: terminal.NoHeader = False,
    types: terminal.Types = None,
    debug: terminal.Debug = False,
) -> None:
    """Find what changed between two tables: columns, and the dependences of pairs."""
    _check(after, by, html, fail_on, least)
    for file in filter(None, (before, after)):
        terminal.check_outputs(file, {"--html": html})
    import renyi
    from renyi.inference.false_discovery import check_rate

    rate, options = check_rate(fdr), terminal.options_of(sep, null, encoding, no_header)
    tables = [terminal.read_within(memory, file, options) for file in (before, after) if file is not None]
    settings: dict[str, Any] = {
        "types": terminal.kinds_of(types),
        "measure": measure,
        "memory": memory,
        "sample": sample,
        "progress": True,
    }
    found = renyi.compare(*tables, by=by, against=against, **settings)  # type: ignore[arg-type]
    if isinstance(found, renyi.Comparisons):
        _show_parts(found, rate, as_json)
        _stop(list(found.comparisons.values()), fail_on, rate, least)
        return
    if html is not None:
        found.report(html, fdr=rate, title=f"{Path(before).name} → {Path(str(after)).name}")
        terminal.say(f"Report: {html}", terminal.console_of(stderr=True))
    if as_json:
        from renyi.report.change import record_of
        from renyi.report.records import json_of

        terminal.print_text(json_of({"before": before, "after": after, **record_of(found, rate, None)}))
    else:
        from renyi.report.text.change import print_comparison

        print_comparison(found, terminal.console_of(), q=rate, top=top)
    _stop([found], fail_on, rate, least)


def _check(after: str | None, by: str | None, html: str | None, fail_on: str | None, least: float) -> None:
    """Refuse what cannot be met before any work is done."""
    from renyi.errors import InputError

    if (after is None) == (by is None):
        raise InputError("pass two tables, or one and --by a column that says which part a row is in")
    if html is not None:
        if by is not None:
            raise InputError("--html is for two tables: leave it out, or compare the two parts of interest")
        from renyi.report.html.page import check_report

        check_report(Path(html))
    terminal.check_fails(fail_on, ("columns", "pairs", "any"), least)


def _show_parts(found: "Comparisons", rate: float, as_json: bool) -> None:
    if not as_json:
        terminal.say(repr(found), terminal.console_of(), style="")
        return
    from renyi.report.change import record_of
    from renyi.report.records import json_of

    parts = [{"part": part, **record_of(one, rate, None)} for part, one in found.comparisons.items()]
    when = None if found.when is None else {"part": found.when.part, "p": found.when.p}
    terminal.print_text(json_of({"by": found.by, "against": found.against, "when": when, "parts": parts}))


def _stop(found: "Sequence[Comparison]", fail_on: str | None, rate: float, least: float) -> None:
    """Exit with 3 where something changed that a pipeline should stop at."""
    if fail_on is None:
        return
    counts = [one.n_found(rate, least=least) for one in found]
    columns, pairs = (sum(part) for part in zip(*counts, strict=True))
    stops = {"columns": columns, "pairs": pairs, "any": columns + pairs}
    terminal.stop_on(stops[fail_on], f"{columns:,} changes of columns and {pairs:,} of dependences moved by {least:g}")
