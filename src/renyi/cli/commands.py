"""The command `renyi`, and which commands it has."""

from typing import Annotated

import typer

from renyi.cli.compare import compare
from renyi.cli.lags import lags
from renyi.cli.pair import pair
from renyi.cli.paper import demo, gallery, reproduce
from renyi.cli.scan import scan

app = typer.Typer(
    name="renyi",
    help="Find, measure and test non-linear dependence in data.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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


for _command in (scan, pair, compare, lags, demo, gallery, reproduce):
    app.command()(_command)
