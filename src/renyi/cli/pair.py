"""`renyi pair`: two columns of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from renyi.cli import terminal

if TYPE_CHECKING:
    from renyi.data.table import Table
    from renyi.report.text.pair import PairFound


def pair(
    file: terminal.File,
    x: Annotated[str, typer.Argument(metavar="X", help="A column.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another one.")],
    *,
    given: terminal.Given = None,
    plot: Annotated[Path | None, typer.Option(metavar="F", help="Draw the pair into a .png, .pdf or .svg.")] = None,
    time: terminal.Time = None,
    in_order: terminal.InOrder = False,
    groups: terminal.Together = None,
    detrend: terminal.Detrend = None,
    period: terminal.Period = None,
    as_json: terminal.AsJson = False,
    memory: Annotated[str, typer.Option(help="Of a file that takes more, only the columns named are read.")] = "1GB",
    sep: terminal.Separator = None,
    null: terminal.Nulls = None,
    encoding: terminal.Encoding = None,
    no_header: terminal.NoHeader = False,
    types: terminal.Types = None,
    debug: terminal.Debug = False,
) -> None:
    """Test two columns of a table, and say what kind of dependence there is."""
    if plot is not None:
        from renyi.report.figures.style import check_picture

        check_picture(plot)
    terminal.check_outputs(file, {"--plot": plot})
    kinds = terminal.kinds_of(types)
    asked = terminal.in_time(time, in_order, groups, detrend, period)
    named = {"X": x, "Y": y} | {f"--given {name}": name for name in given or []}
    beside = {f"--{role}": asked[role] for role in ("time", "groups") if isinstance(asked[role], str)}
    beside |= {f"--type {name}": name for name in kinds}
    options = terminal.options_of(sep, null, encoding, no_header)
    source = terminal.read_columns(memory, file, options, named | beside)
    settings = _settings(source.frame, asked)
    table = _pick(source.frame, kinds, named)
    notes = table.notes.sentences()
    terminal.print_notes(notes)
    found = _test_pair(table, x, y, given or [], settings)
    if plot is not None:
        import renyi
        from renyi.report.figures.style import save

        save(renyi.transformations(found.x, found.y, missing="pairwise").plot(), plot)
    if as_json:
        from renyi.report.records import json_of

        terminal.print_notes(found.result.notes)
        terminal.print_text(
            json_of({"file": file} | found.record() | {"notes": [*source.notes, *notes, *found.result.notes]})
        )
        return
    console = terminal.console_of()
    for label, text in found.lines():
        terminal.say(f"{label:>12}  {text}", console, style="")


def _pick(frame: Any, kinds: dict[str, Any], named: dict[str, str]) -> "Table":
    """The columns that a pair needs, typed as in a scan."""
    from renyi.data.table import as_table
    from renyi.errors import InputError

    if len(set(named.values())) < len(named):
        raise InputError("X, Y and --given name one column twice: each has its own part")
    wanted = {name: kind for name, kind in kinds.items() if name in named.values()}
    table = as_table(frame.select(list(named.values())), types=wanted)
    for name, reason in table.skipped.items():
        raise InputError(f"{name!r} cannot be measured: {reason}")
    return table


def _settings(frame: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """How rows depend on one another, with the cells of the columns that were named."""
    from renyi.data.table import as_table
    from renyi.errors import InputError

    for role in ("time", "groups"):
        name = asked[role]
        if not isinstance(name, str):
            continue
        cells = frame[name]
        if role == "time":  # as in a scan, where text may spell dates
            table = as_table(frame.select([name]))
            if not table.columns:
                raise InputError(f"--time {name} cannot be read: {table.skipped[name]}")
            (cells,) = table.columns
        asked = asked | {role: cells}
    return asked


def _test_pair(table: "Table", named_x: str, named_y: str, given: list[str], settings: dict[str, Any]) -> "PairFound":
    import renyi
    from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
    from renyi.report.text.pair import PairFound

    columns = {column.name: column for column in table.columns}
    x, y = columns[named_x], columns[named_y]
    if given:
        result = renyi.conditional_test(x, y, [columns[name] for name in given], missing="listwise", **settings)
        return PairFound(x, y, table.types, result, table.n_rows, tuple(given))
    result = renyi.independence_test(x, y, missing="pairwise", **settings)
    pearson, spearman = (correlation_of(measure, x, y) for measure in (Pearson(), Spearman()))
    return PairFound(x, y, table.types, result, table.n_rows, pearson=pearson, spearman=spearman)
