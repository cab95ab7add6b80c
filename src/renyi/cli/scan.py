"""`renyi scan`: the dependences between all columns of a table."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from renyi.cli import terminal

if TYPE_CHECKING:
    from renyi.report.summary import Result

SHOWN = 20


def scan(
    file: terminal.File,
    *,
    target: Annotated[str | None, typer.Option(metavar="COL", help="Every column against this one only.")] = None,
    given: terminal.Given = None,
    measure: Annotated[str, typer.Option(help="The coefficient.")] = "rdc",
    fdr: Annotated[float | None, typer.Option(help="False discovery rate, by default 0.05.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Dependences to show: 20, or all with --json.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="F", help="Write all pairs as CSV; - is stdout.")] = None,
    html: Annotated[str | None, typer.Option(metavar="F", help="Write a report for the browser.")] = None,
    as_json: terminal.AsJson = False,
    fail_on: Annotated[
        str | None, typer.Option(help="pairs or any: exit with code 3 if a dependence is found.")
    ] = None,
    least: terminal.Least = terminal.LEAST,
    unfold: Annotated[bool, typer.Option("--unfold", help="List columns that are nearly the same separately.")] = False,
    time: terminal.Time = None,
    in_order: terminal.InOrder = False,
    groups: terminal.Together = None,
    exchange: Annotated[
        str, typer.Option(help="With --groups: permute rows within groups, or whole groups.")
    ] = "within",
    detrend: terminal.Detrend = None,
    period: terminal.Period = None,
    any_order: Annotated[bool, typer.Option("--any-order", help="The order of rows means nothing.")] = False,
    missing: Annotated[str, typer.Option(help="pairwise, listwise or raise.")] = "pairwise",
    memory: Annotated[str, typer.Option(help="A file that takes more is read in batches.")] = "1GB",
    sample: Annotated[
        int, typer.Option(metavar="N", min=0, help="Rows that --html shows of a file read in batches.")
    ] = 10_000,
    max_levels: Annotated[int, typer.Option(metavar="N", help="Most levels of a category to keep.")] = 2000,
    sep: terminal.Separator = None,
    null: terminal.Nulls = None,
    encoding: terminal.Encoding = None,
    no_header: terminal.NoHeader = False,
    types: terminal.Types = None,
    debug: terminal.Debug = False,
) -> None:
    """Rank the dependences between all columns of a table, at a false discovery rate."""
    _check_scan(target, given, fdr, measure, as_json and csv == "-")
    terminal.check_fails(fail_on, ("pairs", "any"), least)
    if fail_on is not None and measure != "rdc":
        _check_null(measure, "--fail-on")
    terminal.check_outputs(file, {"--csv": csv, "--html": html})
    _check_files(csv, html, sample)
    settings: dict[str, Any] = {"types": terminal.kinds_of(types), "measure": measure, "missing": missing}
    settings |= {"memory": memory, "sample": sample, "max_levels": max_levels, "progress": True}
    settings |= terminal.in_time(time, in_order, groups, detrend, period)
    settings |= {"exchange": exchange, "order": None if any_order else "check"}
    table = terminal.read_within(memory, file, terminal.options_of(sep, null, encoding, no_header))
    import renyi

    compare = renyi.matrix if target is None else partial(renyi.screen, target=target, given=given or None)
    found = compare(table, **settings)
    said = getattr(table, "notes", ())
    terminal.print_notes([note for note in found.notes if note not in said])
    if csv is not None:
        _write_csv(found, csv)
    if html is not None:
        found.report(html, fdr=fdr, title="" if file == "-" else Path(file).name)
    if as_json:
        from renyi.report.records import json_of, record_of

        terminal.print_text(json_of({"file": file} | record_of(found, q=found.rate(fdr), top=top)))
    elif csv != "-":
        show(found, top=top or SHOWN, q=found.rate(fdr), fold=not unfold)
    if html is not None:
        terminal.say(f"Report: {html}", terminal.console_of(stderr=True))
    if fail_on is not None:
        edges = found.edges
        far = int(((found.edge_qvalues <= found.rate(fdr)) & (edges.strength >= least)).sum())
        terminal.stop_on(far, f"{far:,} of {len(edges.strength):,} dependences are found with a strength of {least:g}")


def _check_scan(
    target: str | None, given: list[str] | None, fdr: float | None, measure: str, both_to_stdout: bool
) -> None:
    """Refuse what cannot be met before any work is done."""
    from renyi.errors import InputError

    if given and target is None:
        raise InputError("--given holds columns fixed for one target: name it by --target")
    if fdr is not None and not 0.0 < fdr <= 1.0:
        raise InputError(f"--fdr must be a number above 0, at most 1, got {fdr:g}")
    if fdr is not None and measure != "rdc":
        _check_null(measure, f"--fdr {fdr:g}")
    if both_to_stdout:
        raise InputError("--csv - and --json would both write to standard output: name a file for the CSV")


def _check_null(measure: str, asked: str) -> None:
    """Refuse an option about findings where nothing is tested."""
    import renyi

    if not renyi.measure(measure).has_null:
        raise renyi.InputError(
            f"{asked} with --measure {measure}, which ranks pairs without testing them: leave that "
            "out, or choose a measure with a null distribution, such as rdc"
        )


def _check_files(csv: str | None, html: str | None, sample: int) -> None:
    """Refuse a CSV or a page that cannot be written, before any work is done."""
    if csv is not None and csv != "-":
        from renyi.report.files import check_writable

        check_writable(Path(csv))
    if html is None:
        return
    from renyi.errors import InputError
    from renyi.report.html.page import check_report

    if html == "-":
        raise InputError("--html - would print a page that is to be opened: name a file")
    if not sample:
        raise InputError("--html draws rows, and --sample 0 keeps none: pass more, or leave --html out")
    check_report(Path(html))


def _write_csv(found: "Result", target: str) -> None:
    from renyi.report.files import written_whole
    from renyi.report.records import csv_of

    text = csv_of(found.to_long())
    if target == "-":
        terminal.print_text(text.rstrip("\n"))
        return
    with written_whole(Path(target)) as part:
        part.write_text(text, encoding="utf-8", newline="")


def show(found: "Result", *, top: int, q: float, fold: bool) -> None:
    """The headline, the ranked table, and what a reader should know beside it."""
    from renyi.report.summary import called, headline, lines_of, ranking, remarks
    from renyi.report.text.terminal import legend, table_of_lines

    console, by_target = terminal.console_of(), found.target is not None
    lines = lines_of(found, top + 1, q=q, fold=fold)
    more = [f"the {top:,} strongest are shown: --top and --csv have more"] if len(lines) > top else []
    more += [ranking(found)] if len(lines) > 1 and ranking(found) else []
    lines = lines[:top]
    terminal.say(headline(found, q=q), console, style="")
    if lines:
        console.print()
        console.print(table_of_lines(lines, console, value=called(found), by_target=by_target))
        console.print()
    for sentence in [*legend(lines, console, by_target=by_target), *more, *remarks(found)]:
        terminal.say(sentence, console)
