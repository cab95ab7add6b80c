"""Calls in a process of their own, which may hang or die without ending the campaign."""

import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

# Seconds in which a call must answer, however busy the machine is; then its process is ended.
_PATIENCE = 180.0


def _work(seed: int, numbers: range, pipe: Any) -> None:
    """Make calls one after the other, and say what came of each."""
    import matplotlib

    matplotlib.use("agg")
    from .judging import judged

    pipe.send(None)
    for number in numbers:
        pipe.send((number, judged(seed, number)))


def outcomes(
    seed: int, numbers: range, *, work: Callable[..., None] = _work, patience: float = _PATIENCE, start: str = "spawn"
) -> Iterator[tuple[int, Any, str]]:
    """Every call with its outcome; one that ends its process, or hangs, has none but a reason."""
    context = multiprocessing.get_context(start)
    while numbers:
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=work, args=(seed, numbers, there), daemon=False)
        worker.start()
        there.close()
        reason = ""
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
            reason = f"ended its process, with exit code {worker.exitcode}"
        if reason:
            yield numbers[0], None, reason
            numbers = numbers[1:]
        worker.kill()
        worker.join()
