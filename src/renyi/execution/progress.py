"""A progress bar for whoever watches: only in a terminal, and only if Rich is there."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["watched"]

Item = TypeVar("Item")


def watched(items: Iterable[Item], total: int, title: str, /, *, shown: bool) -> Iterator[Item]:
    """The same items, with a bar on standard error as they come."""
    if not shown or not sys.stderr.isatty():
        yield from items
        return
    from renyi.extras import load

    load("rich", extra="cli")
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=title, total=total, console=Console(stderr=True), transient=True)
