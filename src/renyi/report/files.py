"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from renyi.errors import InputError

__all__ = ["check_writable", "written_whole"]


def check_writable(path: Path, /) -> None:
    """Refuse a path that no file can be written to, before any work is done."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path} cannot be written: its folder does not exist")


@contextmanager
def written_whole(path: Path, /) -> Iterator[Path]:
    """A place beside the file to write to, which becomes the file once all is written."""
    target = path.resolve()  # a link stays a link
    if target.exists() and not target.is_file():
        yield target  # a device or a pipe, which nothing may take the place of
        return
    part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
