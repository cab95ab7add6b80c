"""A progress bar for whoever watches: only in a terminal, and only if Rich is there."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from renyi.errors import check_flag, load

Item = TypeVar("Item")


def watched(items: Iterable[Item], total: int, title: str, /, *, shown: bool) -> Iterator[Item]:
    """The same items, with a bar on standard error as they come."""
    console = _console(shown=shown)
    if console is None:
        yield from items
        return
    from rich.progress import track

    yield from track(items, description=title, total=total, console=console, transient=True)


def watched_rows(batches: Iterable[Item], total: int | None, title: str, /, *, shown: bool) -> Iterator[Item]:
    """The same batches, with a bar of their rows, and how many these are in a second."""
    console = _console(shown=shown)
    if console is None:
        yield from batches
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, speed="")
        for batch in batches:
            yield batch
            bar.advance(task, _n_rows(batch))
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, speed=f"{speed:,.0f} rows/s" if speed else "")


def _console(*, shown: bool) -> Any:
    """Standard error, if somebody watches it."""
    check_flag(shown, "progress")
    if not shown or not sys.stderr.isatty():
        return None
    load("rich", extra="cli")
    from rich.console import Console

    return Console(stderr=True)


def _n_rows(batch: object) -> int:
    """Rows of a frame, an array or a dict of columns."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return int(shape[0])
    return len(next(iter(batch.values()), ())) if isinstance(batch, dict) else 0
