"""Calls in a process of their own, which may hang or die without ending the campaign."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

# Seconds in which a call must answer, however busy the machine is; then its process is ended.
_PATIENCE = 180.0


def _work(seed: int, numbers: range, pipe: Any, log: str) -> None:
    """Make calls one after the other, and say what came of each; libraries write what they have to say into a file."""
    with open(log, "ab") as file:
        os.dup2(file.fileno(), 2)
    import matplotlib

    matplotlib.use("agg")
    from .judging import judged

    pipe.send(None)
    for number in numbers:
        pipe.send((number, judged(seed, number)))


def outcomes(
    seed: int,
    numbers: range,
    *,
    work: Callable[..., None] = _work,
    patience: float = _PATIENCE,
    start: str = "spawn",
) -> Iterator[tuple[int, Any, str]]:
    """Every call with its outcome; one that ends its process, or hangs, has none but a reason."""
    context = multiprocessing.get_context(start)
    while numbers:
        here, there = context.Pipe(duplex=False)
        reason = ""
        with tempfile.NamedTemporaryFile(prefix="fuzz-") as log:
            worker = context.Process(target=work, args=(seed, numbers, there, log.name))
            worker.start()
            there.close()
            try:
                while numbers:
                    if not here.poll(patience):
                        reason = f"no answer in {patience:.0f} s"
                        break
                    said = here.recv()
                    if said is not None:
                        yield said[0], said[1], ""
                        numbers = numbers[1:]
            except EOFError:
                worker.join(10)
                reason = f"ended its process, with exit code {worker.exitcode}{_last_words(log)}"
            if reason:
                yield numbers[0], None, reason
                numbers = numbers[1:]
            worker.kill()
            worker.join()


def _last_words(log: BinaryIO) -> str:
    """The end of what a process wrote to standard error."""
    said = log.read()[-2000:].decode("utf-8", "replace").strip()
    return f"\n{said}" if said else ""
