"""The command line: parse, call, print. Numbers are computed elsewhere, and loaded only when a command runs."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from renyi.data.reader import Column
    from renyi.data.table import Table
    from renyi.experiments.gallery import Scored
    from renyi.experiments.summary import Summary
    from renyi.report.summary import Result
    from renyi.report.text.pair import PairFound

__all__ = ["app"]

app = typer.Typer(
    name="renyi",
    help="Find, measure and test non-linear dependence in data.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_SHOWN = 20

# What several commands take.
File = Annotated[str, typer.Argument(metavar="FILE", help="CSV, JSON, Parquet or Arrow, plain or gzip; - is stdin.")]
Separator = Annotated[str | None, typer.Option("--sep", help="Separator of a CSV; found by itself.")]
Nulls = Annotated[list[str] | None, typer.Option("--null", help="Cells that mean missing, beside NA. Repeatable.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of the text.")]
Types = Annotated[
    list[str] | None, typer.Option("--type", metavar="COL=KIND", help="KIND: number, category or skip. Repeatable.")
]
Given = Annotated[list[str] | None, typer.Option("--given", metavar="COL", help="Column to hold fixed. Repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
# __main__ looks for it, since it also matters where parsing fails.
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback if something fails.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from renyi import __version__

        typer.echo(f"renyi {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# A whole table.


@app.command()
def scan(
    file: File,
    *,
    target: Annotated[str | None, typer.Option(metavar="COL", help="Every column against this one only.")] = None,
    given: Given = None,
    measure: Annotated[str, typer.Option(help="The coefficient.")] = "rdc",
    fdr: Annotated[float | None, typer.Option(help="False discovery rate, by default 0.05.")] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Dependences to show; 20, with --json all.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="F", help="Write all pairs as CSV; - is stdout.")] = None,
    html: Annotated[str | None, typer.Option(metavar="F", help="Write a page to look at and to send.")] = None,
    as_json: AsJson = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Tell columns that are nearly the same one by one.")] = False,
    missing: Annotated[str, typer.Option(help="pairwise, listwise or raise.")] = "pairwise",
    memory: Annotated[str, typer.Option(help="A file that takes more is read in batches.")] = "1GB",
    sep: Separator = None,
    null: Nulls = None,
    encoding: Encoding = None,
    types: Types = None,
    debug: Debug = False,
) -> None:
    """Rank the dependences between all columns of a table, at a false discovery rate."""
    _check_scan(target, given, fdr, measure, as_json and csv == "-")
    _check_target("--csv", csv, file)
    _check_page(html, file)
    kinds = _kinds(types)
    frame = _read_in_batches(file, memory, sep, null, encoding, has_page=html is not None)
    if frame is None:
        frame = _read(file, sep, null, encoding)
    import renyi

    settings: dict[str, Any] = {"measure": measure, "missing": missing, "types": kinds, "progress": True}
    settings["memory"] = memory
    found = (
        renyi.matrix(frame, **settings)
        if target is None
        else renyi.screen(frame, target, given=given or None, **settings)
    )
    if csv is not None:
        _write_csv(found, csv)
    if html is not None:
        found.report(html, q=fdr, title="" if file == "-" else Path(file).name)
    if as_json:
        from renyi.report.records import json_of, record_of

        _print(json_of({"file": file} | record_of(found, q=found.rate(fdr), top=top)))
    elif csv != "-":
        _show(found, top=top or _SHOWN, q=found.rate(fdr), fold=not unfold)
    if html is not None:
        _console(stderr=True).print(f"Report: {html}", style="dim", markup=False, highlight=False, soft_wrap=True)


def _check_scan(
    target: str | None, given: list[str] | None, fdr: float | None, measure: str, both_to_stdout: bool
) -> None:
    """Refuse what cannot be met before any work is done."""
    from renyi.errors import InputError

    if given and target is None:
        raise InputError("--given holds columns fixed for one target: name it by --target")
    if fdr is not None and not 0.0 < fdr <= 1.0:
        raise InputError(f"--fdr {fdr:g} is no false discovery rate: pass a number above 0, at most 1")
    if fdr is not None and measure != "rdc":
        _check_law(measure, fdr)
    if both_to_stdout:
        raise InputError("--csv - and --json would both write to standard output: name a file for the CSV")


def _check_law(measure: str, fdr: float) -> None:
    """Refuse a rate of findings where nothing is tested."""
    import renyi

    if not renyi.measure(measure).has_law:
        raise renyi.InputError(
            f"--fdr {fdr:g} with --measure {measure}, which ranks pairs without testing them: leave --fdr out, or "
            "choose a measure with a law, such as rdc"
        )


def _check_target(option: str, target: str | None, file: str) -> None:
    """Refuse a place where nothing can be written, or where it would replace what is read."""
    if target in (None, "-"):
        return
    from renyi.errors import InputError
    from renyi.report.files import check_writable

    path = Path(str(target))
    check_writable(path)
    if file != "-" and path.exists() and Path(file).exists() and path.samefile(file):
        raise InputError(f"{option} {target} is the file that is read, which would be lost: name another")


def _check_page(html: str | None, file: str) -> None:
    """Refuse a page that cannot be made, before any work is done."""
    if html is None:
        return
    from renyi.errors import InputError
    from renyi.report.html.page import check_renderable

    if html == "-":
        raise InputError("--html - would print a page that is to be opened: name a file")
    check_renderable()
    _check_target("--html", html, file)


def _write_csv(found: "Result", target: str) -> None:
    from renyi.report.files import written_whole
    from renyi.report.records import csv_of
    from renyi.tables.screening import Screening

    text = csv_of(found.to_frame() if isinstance(found, Screening) else found.to_edges())
    if target == "-":
        _print(text.rstrip("\n"))
        return
    with written_whole(Path(target)) as part:
        part.write_text(text, encoding="utf-8", newline="")


def _show(found: "Result", *, top: int, q: float, fold: bool) -> None:
    """The headline, the ranked table, and what a reader should know beside it."""
    from renyi.report.summary import called, headline, lines_of, remarks
    from renyi.report.text.terminal import legend, table_of_lines
    from renyi.tables.screening import Screening

    console, by_target = _console(), isinstance(found, Screening)
    lines = lines_of(found, top + 1, q=q, fold=fold)
    more = [f"the {top:,} strongest are shown: --top and --csv have more"] if len(lines) > top else []
    lines = lines[:top]
    console.print(headline(found, q=q), markup=False, highlight=False, soft_wrap=True)
    if lines:
        console.print()
        console.print(table_of_lines(lines, console, value=called(found), by_target=by_target))
        console.print()
    for sentence in [*legend(lines, console, by_target=by_target), *more, *remarks(found)]:
        console.print(sentence, style="dim", markup=False, highlight=False, soft_wrap=True)


# One pair.


@app.command()
def pair(
    file: File,
    x: Annotated[str, typer.Argument(metavar="X", help="A column.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another one.")],
    *,
    given: Given = None,
    plot: Annotated[Path | None, typer.Option(metavar="F", help="Draw the pair into a .png, .pdf or .svg.")] = None,
    as_json: AsJson = False,
    sep: Separator = None,
    null: Nulls = None,
    encoding: Encoding = None,
    types: Types = None,
    debug: Debug = False,
) -> None:
    """Test two columns of a table, and say what kind of dependence there is."""
    if plot is not None:
        from renyi.report.figures.style import check_picture

        check_picture(plot)
    frame, kinds = _read(file, sep, null, encoding), _kinds(types)
    found = _test_pair(_pick(frame, kinds, x, y, given or []))
    if plot is not None:
        import renyi
        from renyi.report.figures.style import save

        save(renyi.transformations(found.x, found.y, missing="pairwise").plot(), plot)
    if as_json:
        from renyi.report.records import json_of

        _print(json_of({"file": file} | found.record()))
        return
    console = _console()
    for label, text in found.lines():
        console.print(f"{label:>12}  {text}", markup=False, highlight=False, soft_wrap=True)


@dataclass(frozen=True, eq=False)
class _Picked:
    """The columns that a pair needs, typed as in a scan."""

    table: "Table"
    x: "Column"
    y: "Column"
    given: "list[Column]"


def _pick(frame: Any, kinds: dict[str, str], x: str, y: str, given: list[str]) -> _Picked:
    from renyi.data.table import as_table, check_known
    from renyi.errors import InputError

    named = {"X": x, "Y": y} | {f"--given {name}": name for name in given}
    for role, name in named.items():
        check_known(name, frame.columns, "the table", role.partition(" ")[0])
    if len(set(named.values())) < len(named):
        raise InputError("X, Y and --given name one column twice: each has its own part")
    for name in kinds:
        check_known(name, frame.columns, "the table", "--type")
    wanted = {name: kind for name, kind in kinds.items() if name in named.values()}
    table = as_table(frame.select(list(named.values())), types=wanted)  # type: ignore[arg-type]
    for name, reason in table.skipped.items():
        raise InputError(f"{name!r} cannot be measured: {reason}")
    columns = {column.name: column for column in table.columns}
    return _Picked(table, columns[x], columns[y], [columns[name] for name in given])


def _test_pair(picked: _Picked) -> "PairFound":
    import renyi
    from renyi.report.text.pair import PairFound

    x, y, table = picked.x, picked.y, picked.table
    if picked.given:
        result = renyi.conditional_test(x, y, picked.given, missing="listwise")
        given = tuple(column.name for column in picked.given)
        return PairFound(x, y, table.types, result, table.n_rows, given)
    result = renyi.independence_test(x, y, missing="pairwise")
    linear = renyi.matrix({x.name: x, y.name: y}).edges
    return PairFound(
        x, y, table.types, result, table.n_rows, pearson=float(linear.pearson[0]), spearman=float(linear.spearman[0])
    )


# What needs no file.


@app.command()
def demo(debug: Debug = False) -> None:
    """Scan a made-up table whose dependences are known, beside what Pearson's correlation sees of them."""
    import renyi
    from renyi.experiments.demo import RELATED, demo_table, n_by_pearson

    found = renyi.matrix(demo_table(1000, seed=0), progress=True)
    _show(found, top=_SHOWN, q=0.05, fold=True)
    edges = found.edges.take(found.ranked(0.05)).found
    pairs = {(found.names[i], found.names[j]) for i, j in zip(edges.i.tolist(), edges.j.tolist(), strict=True)}
    right = len(pairs.intersection(RELATED))
    _console().print(
        f"\nBy construction {len(RELATED)} pairs are related and no others: renyi found {right} of them and "
        f"{len(pairs) - right} others, Pearson's correlation at the same rate finds {n_by_pearson(found)}.",
        highlight=False,
    )


@app.command()
def gallery(
    picture: Annotated[Path | None, typer.Option(metavar="F", help="Draw them into a .png, .pdf or .svg.")] = None,
    rows: Annotated[int, typer.Option("--rows", "-n", min=100, help="Rows of each association.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data.")] = 0,
    debug: Debug = False,
) -> None:
    """Show the paper's fourteen associations with Pearson, Spearman and RDC side by side."""
    if picture is not None:
        from renyi.report.figures.style import check_picture

        check_picture(picture)
    from renyi.experiments.gallery import score_gallery

    scored = score_gallery(rows, seed=seed)
    console = _console()
    console.print(_gallery_table(scored, rows))
    console.print("Chance alone lifts RDC above 0; the debiased value is near 0 on average.", style="dim")
    if picture is not None:
        from renyi.experiments.figures import plot_gallery
        from renyi.report.figures.style import save

        save(plot_gallery(scored), picture)
        console.print(f"Picture: {picture}", markup=False, highlight=False, soft_wrap=True)


def _gallery_table(scored: "list[Scored]", rows: int) -> "RichTable":
    from rich import box
    from rich.table import Table

    table = Table(title=f"Fourteen associations, {rows:,} rows each", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("association", no_wrap=True)
    for name in ("|Pearson|", "|Spearman|", "RDC", "debiased"):
        table.add_column(name, justify="right", min_width=max(5, len(name)), no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in scored:
        table.add_row(
            row.name,
            f"{abs(row.pearson):.2f}",
            f"{abs(row.spearman):.2f}",
            f"[bold]{row.rdc:.2f}[/]",
            f"{row.debiased:.2f}".replace("-", "−"),
            _remark(row),
            end_section=row.ends_row,
        )
    return table


def _remark(row: "Scored") -> str:
    """What a reader should see at a glance."""
    if not row.dependent:
        return "[dim]independent[/]"
    missed = max(abs(row.pearson), abs(row.spearman)) < 0.2
    return "[green]nonlinear[/]" if missed else ""


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="power, times, gallery or selection.")],
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Small counts: minutes, not hours.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go.")] = Path("renyi-experiments"),
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="The data sets, for selection.")] = None,
    measures: Annotated[str | None, typer.Option(metavar="A,B", help="Only these measures.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores.")] = None,
    draw_only: Annotated[bool, typer.Option("--draw-only", help="Draw what an earlier run has found.")] = False,
    debug: Debug = False,
) -> None:
    """Run one of the paper's experiments, or go on with it: results as JSON, tables and figures."""
    from renyi.experiments.reproduce import Request
    from renyi.experiments.reproduce import reproduce as run

    names = None if measures is None else [name.strip() for name in measures.split(",") if name.strip()]
    errors, console = _console(stderr=True), _console()
    found = run(
        Request(experiment, out, quick, seed, names, jobs, data, draw_only),
        say=lambda text: errors.print(text, style="dim", markup=False, highlight=False, soft_wrap=True),
    )
    for summary in found.summaries:
        console.print(_summary_table(summary))
        for note in summary.notes:
            console.print(note, style="dim", markup=False, highlight=False, soft_wrap=True)
    console.print(f"\nFiles: {', '.join(map(str, found.paths))}", markup=False, highlight=False, soft_wrap=True)


def _summary_table(summary: "Summary") -> "RichTable":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(summary.title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for j, name in enumerate(summary.header):
        table.add_column(Text(name), justify="right" if j else "left", no_wrap=not j, overflow="fold")
    for row in summary.rows:
        table.add_row(*map(Text, row))
    return table


# Reading and printing.


def _kinds(types: list[str] | None) -> dict[str, str]:
    """The types that were asked for."""
    from renyi.errors import InputError

    kinds = {}
    for wish in types or []:
        name, _, kind = wish.rpartition("=")
        if not name or kind not in ("number", "category", "skip"):
            raise InputError(f"--type {wish} is no type of a column: pass NAME=number, NAME=category or NAME=skip")
        kinds[name] = kind
    return kinds


def _read_in_batches(
    file: str,
    memory: str,
    separator: str | None,
    nulls: list[str] | None,
    encoding: str | None,
    *,
    has_page: bool,
) -> Any:
    """One file or many that are read in batches; None for one that is loaded."""
    from renyi.data.files.batches import is_large, text_files
    from renyi.errors import InputError
    from renyi.tables.accumulator import bytes_of

    budget = bytes_of(memory)
    if file == "-" or not is_large(file, budget):
        return None
    if has_page:
        raise InputError(
            f"--html shows rows, and {file} is read in batches within --memory {memory}: pass more, or leave --html out"
        )
    texts = text_files(file, budget, separator=separator, null_values=nulls or (), encoding=encoding)
    _print_notes(() if texts is None else texts.notes)
    return texts or file


def _read(file: str, separator: str | None, nulls: list[str] | None, encoding: str | None) -> Any:
    """The table; what reading had to decide goes to standard error."""
    from renyi.data.files.table_files import read_table

    source = read_table(file, separator=separator, null_values=nulls or (), encoding=encoding)
    _print_notes(source.notes)
    return source.frame


def _print_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        _console(stderr=True).print(note, style="dim", markup=False, highlight=False, soft_wrap=True)


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr)


def _print(text: str) -> None:
    """Text for other programs, in UTF-8 whatever the terminal takes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()
