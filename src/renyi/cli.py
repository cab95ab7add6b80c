"""The command line: parse, call, print. Numbers are computed elsewhere, and loaded only when a command runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from renyi.experiments.gallery import Scored

__all__ = ["app"]

app = typer.Typer(
    name="renyi",
    help="Find, measure and test non-linear dependence in data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from renyi import __version__

        typer.echo(f"renyi {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    picture: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("renyi-demo.png"),
    rows: Annotated[int, typer.Option("--rows", "-n", min=100, help="Rows of each association.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data.")] = 0,
) -> None:
    """Show the paper's fourteen associations with Pearson, Spearman and RDC side by side."""
    from renyi.experiments.figures import plot_gallery
    from renyi.experiments.gallery import score_gallery
    from renyi.report.plots import check_picture, save

    check_picture(picture)
    scored = score_gallery(rows, seed=seed)
    console = Console()
    console.print(_gallery_table(scored, rows))
    console.print("Chance alone lifts RDC above 0; the debiased value is near 0 on average.", style="dim")
    save(plot_gallery(scored), picture)
    console.print(f"Picture: {picture}", soft_wrap=True)


def _gallery_table(scored: "list[Scored]", rows: int) -> Table:
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
