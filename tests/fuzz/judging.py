"""What may come of a call: a result, or a refusal in renyi's words."""

import logging
import os
import sys
import tempfile
import threading
import time
import traceback
import warnings
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import renyi

from . import calls, cells, invariants, lines, orders  # noqa: F401  # makers register themselves
from .drawing import MAKERS, Call, Draw, quietly

# Seconds of the processor that one call may take; sizes are such that most take milliseconds.
MOST_SECONDS = 12.0
# A result is asked for again so often.
_TWICE = 0.15
# What shows all that it holds.
_SHOWN = (
    pl.DataFrame,
    pl.Series,
    pa.Table,
    pa.Array,
    pa.ChunkedArray,
    renyi.Column,
    list,
    tuple,
    range,
    str,
    int,
    float,
)


class Outcome(NamedTuple):
    """What came of a call: what it was, "result" or the kind of its refusal, and what was wrong, if anything."""

    name: str
    words: str
    kind: str
    seconds: float
    wrong: str


def public_names() -> set[str]:
    """Everything that the campaign has to call."""
    import renyi.sklearn

    own = set(renyi.__all__) - {"causal", "sklearn"}
    within = {f"{room}.{name}" for room in ("causal", "sklearn") for name in getattr(renyi, room).__all__}
    # Accessors are modules that are imported by who wants them; the last is the command.
    return own | within | {"pandas", "polars", "renyi"}


def made(seed: int, number: int, folder: Path) -> tuple[str, Call, Draw]:
    """The call of this number: the name that it is about, and what it does."""
    draw = Draw(np.random.default_rng([seed, number]), folder)
    every = [(name, maker, weight) for name, makers in sorted(MAKERS.items()) for maker, weight in makers]
    shares = np.cumsum([weight for _, _, weight in every])
    chosen = int(np.searchsorted(shares, draw.rng.random() * shares[-1], side="right"))
    name, maker, _ = every[min(chosen, len(every) - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return name, maker(draw), draw


def judged(seed: int, number: int) -> Outcome:
    """Make one call and judge what comes of it."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, chdir(folder):
        try:
            name, call, draw = made(seed, number, Path(folder))
        except Exception as error:
            # A library that holds no such cells is no mistake of ours.
            return Outcome("", f"its maker failed: {error}", "none", 0.0, "")
        before = [_printed(data) for data in call.inputs]
        start = time.process_time()
        kind, wrong = _outcome(call, is_twice=call.settled and draw.chance(_TWICE))
        seconds = time.process_time() - start
        after = [_printed(data) for data in call.inputs]
        if not wrong and before != after:
            wrong = "the call changed its input"
        if not wrong and seconds > MOST_SECONDS:
            wrong = f"took {seconds:.1f} s of the processor"
    return Outcome(name, call.words, kind, seconds, wrong)


def _outcome(call: Call, *, is_twice: bool) -> tuple[str, str]:
    """The kind of the outcome, and what is wrong with it."""
    stray: list[str] = []
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook = lambda args: stray.append(f"in a thread: {args.exc_type.__name__}: {args.exc_value}")
    sys.unraisablehook = lambda args: stray.append(f"in a finaliser: {args.exc_value!r}")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer, error = call.run(), None
            if is_twice and _told(answer) != (again := _told(call.run())):
                stray.append(f"not the same twice: {_told(answer)[:300]}, then {again[:300]}")
        except BaseException as found:
            answer, error = None, found
        finally:
            threading.excepthook, sys.unraisablehook = hooks
    kind = "result" if error is None else type(error).__name__
    if error is not None and not _is_allowed(error):
        return kind, "".join(traceback.format_exception(error))
    foreign = [w for w in warned if not issubclass(w.category, renyi.CalibrationWarning | renyi.ConvergenceWarning)]
    foreign = [w for w in foreign if not _of_scikit_learn(w.filename)]
    if foreign:
        return kind, "\n".join(f"{w.category.__name__}: {w.message} ({w.filename}:{w.lineno})" for w in foreign)
    return kind, "\n".join(stray)


def _is_allowed(error: BaseException) -> bool:
    """Whether an exception is a refusal as it should be."""
    if isinstance(error, renyi.RenyiError):
        return bool(str(error).strip()) and isinstance(error, renyi.InputError | renyi.MissingExtraError)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    own = [k for k, file in enumerate(files) if f"{os.sep}renyi{os.sep}" in file]
    if isinstance(error, TypeError) and not own:
        return True  # arguments that do not fit the signature
    # Estimators check data as scikit-learn does, in its words.
    below = files[own[-1] + 1 if own else 0 :]
    return isinstance(error, TypeError | ValueError) and any(map(_of_scikit_learn, below))


def _of_scikit_learn(filename: str) -> bool:
    return f"{os.sep}site-packages{os.sep}sklearn{os.sep}" in filename


def _told(answer: Any) -> str:
    """A result as text, to the digits that do not depend on the order of sums."""
    if isinstance(answer, float):
        return f"{answer:.9g}"
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        return str([f"{value:.9g}" for value in answer.ravel()])
    if isinstance(answer, tuple):
        return str([_told(part) for part in answer])
    return repr(answer)


def _printed(data: Any) -> Any:
    """The same, where what holds the data can show it."""
    return quietly(_print_of, data, lambda data: type(data).__name__)


def _print_of(data: Any) -> Any:
    """What a change of an argument would change; iterators and objects of others are only named."""
    if isinstance(data, np.ndarray):
        return data.dtype.str, data.shape, repr(data.tolist())
    if isinstance(data, pd.DataFrame):
        return [str(name) for name in data.columns], [_print_of(data.iloc[:, k]) for k in range(data.shape[1])]
    if isinstance(data, pd.Series):
        return str(data.dtype), str(data.name), repr(data.index.tolist()), repr(data.tolist())
    if isinstance(data, dict):
        return [(repr(key), _print_of(value)) for key, value in data.items()]
    return repr(data) if isinstance(data, _SHOWN) else type(data).__name__


logging.disable(logging.CRITICAL)
