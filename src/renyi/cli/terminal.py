"""What commands share: arguments, reading a table, printing."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.segment import Segment

    from renyi.data.files.streams import Stream
    from renyi.data.notes import Source


# Sentences about reading that are printed at most.
_MOST_NOTES = 20
# Cells of a line that no screen has to hold.
_NO_TERMINAL = 10_000

# What several commands take.
File = Annotated[str, typer.Argument(metavar="FILE", help="CSV, JSON, Parquet or Arrow, plain or gzip; - is stdin.")]
Separator = Annotated[str | None, typer.Option("--sep", help="Separator of a CSV; detected by default.")]
Nulls = Annotated[list[str] | None, typer.Option("--null", help="Cells that mean missing, besides NA. Repeatable.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of the text.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of a CSV is data, not names.")]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COL=KIND",
        help="KIND: number, category, date, skip, or labels in order: low<high. Repeatable.",
    ),
]
Given = Annotated[list[str] | None, typer.Option("--given", metavar="COL", help="Column to hold fixed. Repeatable.")]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COL", help="Rows are a series in the order of this column: p-values by shifts."),
]
InOrder = Annotated[bool, typer.Option("--in-order", help="Rows are a series in their order: p-values by shifts.")]
Together = Annotated[
    str | None,
    typer.Option(
        "--groups", metavar="COL", help="Rows with the same label belong together; with --time, each is a series."
    ),
]
Detrend = Annotated[str | None, typer.Option("--detrend", help="difference or linear: remove a trend first.")]
Period = Annotated[
    list[int] | None,
    typer.Option("--period", metavar="N", help="Remove a season of so many rows. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Least = Annotated[float, typer.Option(help="With --fail-on: only findings at least this large, 0 to 1.")]


def in_time(time: str | None, in_order: bool, groups: str | None, detrend: str | None, period: list[int] | None) -> Any:
    """How rows depend on one another, as functions take it."""
    from renyi.errors import InputError

    if time is not None and in_order:
        raise InputError("--time and --in-order are two ways to order rows: pass one of them")
    order = True if in_order else time
    return {"time": order, "groups": groups, "detrend": detrend, "period": period or None}


# The least by default; and the exit code where something is found that a pipeline should stop at.
LEAST, FOUND = 0.1, 3
# __main__ looks for it, since it also matters where parsing fails.
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback if something fails.")]


def check_fails(fail_on: str | None, known: "Sequence[str]", least: float) -> None:
    """Refuse what a pipeline cannot stop at."""
    from renyi.errors import InputError

    if fail_on is not None and fail_on not in known:
        raise InputError(f"--fail-on {fail_on} is unknown: pass one of {', '.join(known)}")
    if not 0.0 <= least <= 1.0:
        raise InputError(f"--least {least:g} is not a distance: pass a number from 0 to 1")


def stop_on(n_found: int, said: str) -> None:
    """Exit with 3 where something is found that a pipeline should stop at."""
    if n_found:
        say(f"{said} or more", console_of(stderr=True))
        raise typer.Exit(FOUND)


def kinds_of(types: list[str] | None) -> dict[str, str | list[str]]:
    """The types that were asked for."""
    from typing import get_args

    from renyi.data.types import Stated
    from renyi.errors import InputError

    kinds: dict[str, str | list[str]] = {}
    for override in types or []:
        name, _, kind = override.rpartition("=")
        if name and "<" in kind:
            kinds[name] = kind.split("<")
            continue
        if not name or kind not in get_args(Stated):
            known = ", ".join(f"NAME={kind}" for kind in get_args(Stated)[:4])
            raise InputError(
                f"--type {override} is not a type of a column: pass {known}, or ordered labels, as NAME='low<high'"
            )
        kinds[name] = kind
    return kinds


def check_outputs(file: str, outputs: Mapping[str, str | Path | None]) -> None:
    """Refuse options whose files would take the place of what is read, or of one another, before any work is done."""
    named = {option: Path(path) for option, path in outputs.items() if path is not None and str(path) != "-"}
    if named:
        from renyi.data.files.places import files_of
        from renyi.report.files import check_apart

        check_apart(named, [] if file == "-" else files_of(file))


def options_of(separator: str | None, nulls: list[str] | None, encoding: str | None, no_header: bool) -> dict[str, Any]:
    """How a file is to be read, as `Request.of` takes it."""
    return {"separator": separator, "null_values": nulls or (), "encoding": encoding, "has_names": not no_header}


def read_within(memory: str, file: str, options: dict[str, Any]) -> "Source | Stream":
    """The table, or what gives its batches, of one file or many, where it does not fit into so much memory.

    What reading had to decide goes to standard error.
    """
    from renyi.data.files.batches import within
    from renyi.tables.budget import bytes_of

    found = within(file, bytes_of(memory), **options)
    print_notes(found.notes)
    return found


def read_columns(memory: str, file: str, options: dict[str, Any], named: Mapping[str, str]) -> "Source":
    """A table of which columns were named, by what names them, and no other ones if it is read in batches."""
    from renyi.data.files.streams import Stream, begun
    from renyi.data.notes import Source
    from renyi.data.table import check_known
    from renyi.errors import InputError, load
    from renyi.tables.budget import bytes_of

    found = read_within(memory, file, options)
    known = found.names() if isinstance(found, Stream) else found.frame.columns
    for role, name in named.items():
        check_known(name, known, "the table", role.partition(" ")[0])
    if isinstance(found, Source):
        return found
    part = begun(found.only(list(dict.fromkeys(named.values()))), bytes_of(memory))
    if isinstance(part, Stream):
        raise InputError(
            f"the columns of this pair do not fit into --memory {memory}: pass more, or scan the file with --target, "
            "which reads it in batches"
        )
    frame = part.frame if isinstance(part, Source) else part
    pl = load("polars", extra="cli")
    return Source(frame if isinstance(frame, pl.DataFrame) else pl.from_arrow(frame), found.notes)


def print_notes(notes: "Sequence[str]") -> None:
    """What reading decided, on standard error."""
    more = [f"{len(notes) - _MOST_NOTES:,} more notes: --json has all"] if len(notes) > _MOST_NOTES else []
    for note in [*notes[:_MOST_NOTES], *more]:
        say(note, console_of(stderr=True))


def say(text: str, console: "Console", style: str = "dim") -> None:
    """Print a sentence as it is: brackets are brackets, and the terminal breaks it where it ends."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def console_of(*, stderr: bool = False) -> "Console":
    """Where a command prints: as wide as the terminal is, or as what is said where it is a file or a pipe."""
    from rich.console import Console

    from renyi.errors import printable

    class Printable(Console):
        def render(self, renderable: Any, options: Any = None) -> "Iterator[Segment]":
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    console = Printable(stderr=stderr)
    return console if console.is_terminal or "COLUMNS" in os.environ else Printable(stderr=stderr, width=_NO_TERMINAL)


def print_text(text: str) -> None:
    """Text for other programs, in UTF-8 whatever the terminal takes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()
