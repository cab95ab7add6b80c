"""`renyi lags`: which column of a table in time leads which."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from renyi.cli import terminal

if TYPE_CHECKING:
    from renyi.series.result import Lags

_SHOWN = 20


def lags(
    file: terminal.File,
    *,
    max_lag: Annotated[int, typer.Option(metavar="N", min=1, help="The longest lag, in rows.")],
    time: Annotated[str | None, typer.Option(metavar="COL", help="Stamps to order rows by; as they are.")] = None,
    target: Annotated[str | None, typer.Option(metavar="COL", help="Every column against this one only.")] = None,
    groups: Annotated[str | None, typer.Option(metavar="COL", help="Which series a row is in, as in a panel.")] = None,
    detrend: Annotated[str | None, typer.Option(help="difference or linear: remove a trend first.")] = None,
    period: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Remove a season of so many rows. Repeatable.")
    ] = None,
    fdr: Annotated[float, typer.Option(help="False discovery rate.")] = 0.05,
    top: Annotated[int | None, typer.Option(min=1, help="Pairs to show; 20, with --json all.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="F", help="Write every pair and lag as CSV; - is stdout.")] = None,
    html: Annotated[str | None, typer.Option(metavar="F", help="Write a report for the browser.")] = None,
    as_json: terminal.AsJson = False,
    memory: Annotated[str, typer.Option(help="A file that takes more is refused.")] = "1GB",
    sep: terminal.Separator = None,
    null: terminal.Nulls = None,
    encoding: terminal.Encoding = None,
    no_header: terminal.NoHeader = False,
    types: terminal.Types = None,
    debug: terminal.Debug = False,
) -> None:
    """Find at which lags time series depend on each other, and which of them leads."""
    _check(csv, html, as_json)
    terminal.check_outputs(file, {"--csv": csv, "--html": html})
    import renyi
    from renyi.inference.false_discovery import check_rate

    rate, kinds = check_rate(fdr), terminal.kinds_of(types)
    table = terminal.read_within(memory, file, terminal.options_of(sep, null, encoding, no_header))
    settings: dict[str, Any] = {"max_lag": max_lag, "time": True if time is None else time, "groups": groups}
    settings |= {"detrend": detrend, "period": period or None, "types": kinds, "memory": memory, "progress": True}
    found = renyi.lags(table, target, **settings)
    if csv is not None:
        _write(found, csv)
    if html is not None:
        found.report(html, fdr=rate, title="" if file == "-" else Path(file).name)
        terminal.say(f"Report: {html}", terminal.console_of(stderr=True))
    if as_json:
        from renyi.report.lags import record_of
        from renyi.report.records import json_of

        terminal.print_text(json_of({"file": file} | record_of(found, rate, top)))
    elif csv != "-":
        from renyi.report.text.lags import print_lags

        print_lags(found, terminal.console_of(), q=rate, top=top or _SHOWN)


def _check(csv: str | None, html: str | None, as_json: bool) -> None:
    """Refuse what cannot be written before any work is done."""
    from renyi.errors import InputError

    if csv == "-" and as_json:
        raise InputError("--csv - and --json would both write to standard output: name a file for the CSV")
    if csv is not None and csv != "-":
        from renyi.report.files import check_writable

        check_writable(Path(csv))
    if html is not None:
        from renyi.report.html.page import check_report

        check_report(Path(html))


def _write(found: "Lags", target: str) -> None:
    from renyi.report.files import written_whole
    from renyi.report.records import csv_of

    text = csv_of(found.to_long())
    if target == "-":
        terminal.print_text(text.rstrip("\n"))
        return
    with written_whole(Path(target)) as part:
        part.write_text(text, encoding="utf-8", newline="")
