"""Files that appear whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from renyi.errors import InputError

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def check_writable(path: Path, /) -> None:
    """Refuse a path that no file can be written to, before any work is done."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path} cannot be written: its folder does not exist")
    if path.exists() and not (path.stat().st_mode & _WRITABLE and os.access(path, os.W_OK)):
        raise InputError(f"{path} is there and may not be written to: name another file, or change its permissions")


def check_apart(outputs: Mapping[str, Path], inputs: Sequence[Path], /) -> None:
    """Refuse outputs, by their options, of which one would take the place of an input or of another output."""
    seen: dict[str, Path] = {}
    for option, path in outputs.items():
        if any(_is_same(path, file) for file in inputs):
            raise InputError(f"{option} {path} is a file that is read, which would be lost: name another")
        for other, taken in seen.items():
            if _is_same(path, taken):
                raise InputError(f"{other} {taken} and {option} {path} are one file, so one would be lost: name two")
        seen[option] = path


def _is_same(one: Path, other: Path) -> bool:
    """Whether writing to one place replaces what lies in the other, through links and on disks that know no case."""
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)  # nothing of a device or a pipe is lost
    # What is not there yet has a name alone, and the file system may take two cases of it for one.
    is_new = not one.exists() and not other.exists()
    return is_new and str(one.resolve()).casefold() == str(other.resolve()).casefold()


@contextmanager
def written_whole(path: Path, /) -> Iterator[Path]:
    """A place beside the file to write to, which becomes the file, with the permissions it had, once all is written."""
    check_writable(path)
    target = path.resolve()  # a link stays a link
    if target.exists() and not target.is_file():
        yield target  # a device or a pipe, which nothing may take the place of
        return
    # Of a name that nobody knows beforehand, and there for sure: nobody can have put a link in its place.
    part = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    part.touch(exist_ok=False)
    try:
        yield part
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
