"""One run at a time on one file of results."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from renyi.errors import InputError


@contextmanager
def locked(path: Path, /) -> Iterator[None]:
    """Hold a lock beside a file, or refuse where another process holds it.

    The system holds it for this process, and lets go of it however the process ends: a file that is left behind locks
    nothing.
    """
    beside = path.with_name(f".{path.stem}.lock")
    descriptor = _acquired(beside)
    if descriptor is None:
        raise InputError(
            f"{path} is being written by another run{_holder(beside)}: wait until it ends, or name another folder"
        )
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        with suppress(OSError):  # Windows removes no file that is open
            beside.unlink()
        os.close(descriptor)


def _acquired(path: Path) -> int | None:
    """A locked descriptor of the file at this path; None where another process has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        # Whoever held the lock before may have removed the file after it was opened here.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether the lock was free, and is ours now."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder(path: Path) -> str:
    with suppress(OSError):
        return f" (process {path.read_text()})"
    return ""
