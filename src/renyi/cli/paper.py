"""What needs no file: `renyi demo`, and the paper's experiments by `renyi gallery` and `renyi reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from renyi.cli.scan import SHOWN, show
from renyi.cli.terminal import Debug, console_of, say

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from renyi.experiments.gallery import Scored
    from renyi.experiments.summary import Summary


def demo(debug: Debug = False) -> None:
    """Scan a made-up table whose dependences are known, beside what Pearson's correlation sees of them."""
    import renyi
    from renyi.experiments.demo import RELATED, demo_table, n_by_pearson

    found = renyi.matrix(demo_table(1000, seed=0), progress=True)
    show(found, top=SHOWN, q=0.05, fold=True)
    edges = found.edges.take(found.ranked(0.05)).found
    pairs = {(found.names[i], found.names[j]) for i, j in zip(edges.i.tolist(), edges.j.tolist(), strict=True)}
    right = len(pairs.intersection(RELATED))
    console_of().print(
        f"\nBy construction {len(RELATED)} pairs are related and no others: renyi found {right} of them and "
        f"{len(pairs) - right} others, Pearson's correlation at the same rate finds {n_by_pearson(found, 0.05)}.",
        highlight=False,
    )


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
    console = console_of()
    console.print(_gallery_table(scored, rows))
    console.print("Chance alone lifts RDC above 0; the strength is without that.", style="dim")
    if picture is not None:
        from renyi.experiments.figures import plot_gallery
        from renyi.report.figures.style import save

        save(plot_gallery(scored), picture)
        say(f"Picture: {picture}", console, style="")


def _gallery_table(scored: "list[Scored]", rows: int) -> "RichTable":
    from rich import box
    from rich.table import Table

    table = Table(title=f"Fourteen associations, {rows:,} rows each", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("association", no_wrap=True)
    for name in ("|Pearson|", "|Spearman|", "RDC", "strength"):
        table.add_column(name, justify="right", min_width=max(5, len(name)), no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in scored:
        table.add_row(
            row.name,
            f"{abs(row.pearson):.2f}",
            f"{abs(row.spearman):.2f}",
            f"[bold]{row.rdc:.2f}[/]",
            row.strength,
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
    errors, console = console_of(stderr=True), console_of()
    found = run(Request(experiment, out, quick, seed, names, jobs, data, draw_only), say=lambda text: say(text, errors))
    for summary in found.summaries:
        console.print(_summary_table(summary))
        for note in summary.notes:
            say(note, console)
    say(f"\nFiles: {', '.join(map(str, found.paths))}", console, style="")


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
