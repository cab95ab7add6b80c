"""The exceptions and warnings that users see, and the small checks that raise them.

Every exception is also a built-in one that habits expect.
"""

import importlib
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard, get_args

# A message is read by people, whatever was passed: what is longer is cut in its middle, since a message begins with
# what arrived and ends with what to do.
_LONGEST_MESSAGE, _LONGEST_VALUE, _LONGEST_NAME = 1000, 80, 40
# Pictures of control characters, but for those between words and lines.
_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
_CONTROLS |= dict.fromkeys(range(128, 160), 0xFFFD)


def bounded(text: str, /, most: int = _LONGEST_MESSAGE) -> str:
    """A text of at most so many characters, cut in its middle."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def printable(text: str, /) -> str:
    """A text as a terminal may show it: names of files and columns may hold codes that change its colours or title."""
    return text.translate(_CONTROLS)


def brief(value: Any, /) -> str:
    """A value as messages show it."""
    try:
        return bounded(repr(value), _LONGEST_VALUE)
    except Exception:  # whole numbers of thousands of digits, or what others made
        return f"a {type(value).__name__} that cannot be shown"


class RenyiError(Exception):
    """Base class of every exception that renyi raises on purpose; messages have at most 1,000 characters."""

    def __init__(self, message: object = "") -> None:
        super().__init__(bounded(printable(str(message))))


class InputError(RenyiError, ValueError):
    """Data or settings that cannot give a meaningful answer."""


class MissingExtraError(RenyiError, ImportError):
    """An optional library is not installed; the message names the extra to install."""


class CalibrationWarning(UserWarning):
    """The null distribution behind a p-value does not hold for these data."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it converged."""


def load(module: str, /, *, extra: str | None) -> Any:
    """Import an optional `module`, or raise an error that names the extra which installs it, None for its own name."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        wanted = library if extra is None else f"'renyi[{extra}]'"
        raise MissingExtraError(f"{library} is not installed and this call needs it: pip install {wanted}") from error


def is_integer(value: Any, /) -> TypeGuard[int]:
    """Whether this is a whole number, and neither a boolean nor a duration."""
    return isinstance(value, Integral) and not isinstance(value, bool) and not is_of_kind(value, "m")


def is_number(value: Any, /) -> TypeGuard[float]:
    """Whether this is a real number that floats reach, and neither a boolean nor a duration, as NumPy's whole ones."""
    if not isinstance(value, Real) or isinstance(value, bool) or is_of_kind(value, "m"):
        return False
    try:
        return float(value) is not None
    except OverflowError:
        return False


def is_of_kind(value: Any, kind: str, /) -> bool:
    """Whether this has a type of NumPy of that kind, which is not imported for it."""
    return bool(getattr(getattr(value, "dtype", None), "kind", "") == kind)


def check_choice(value: Any, choices: Any, name: str, /) -> None:
    """Refuse a value that is not one of the strings of a Literal."""
    if not isinstance(value, str) or value not in get_args(choices):
        valid = ", ".join(repr(choice) for choice in get_args(choices))
        raise InputError(f"{name}={brief(value)} is unknown: choose one of {valid}")


def must_be(name: str, what: str, value: Any, /) -> InputError:
    """The refusal of an argument: its name, what it must be, and what came."""
    return InputError(f"{name} must be {what}, got {brief(value)}")


def check_text(value: Any, name: str, /) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise must_be(name, "text", value)


def are_several(value: Any, /) -> TypeGuard[Iterable[Any]]:
    """Whether this can be gone through, and is no text and no array without an axis."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "shape", None) != ()


def check_flag(value: Any, name: str, /) -> None:
    """Refuse what is neither True nor False."""
    is_flag = isinstance(value, bool) or (is_of_kind(value, "b") and value.shape == ())
    if not is_flag:
        raise must_be(name, "True or False", value)


def as_path(value: Any, name: str = "path", /) -> Path:
    """The place of a file or folder; what cannot name one is refused."""
    if not isinstance(value, (str, PathLike)) or "\0" in str(value):
        raise must_be(name, "the name of a file or folder, or a path", value)
    return Path(value)


def check_integer(value: Any, name: str, /, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least this, and at most that; anything else is refused."""
    if not is_integer(value) or value < least or (most is not None and value > most):
        reach = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise must_be(name, f"an integer {reach}", value)
    return int(value)


def count(number: int, noun: str, /) -> str:
    """A number with its noun, in the plural where it takes one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cut(text: object, /) -> str:
    """A name or a cell as sentences show it: in quotes, and not too long."""
    shown = str(text)
    return repr(shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…")


def some(names: Iterable[object], mark: str = ", ", /) -> str:
    """The first three of them, and how many more there are."""
    listed = list(names)
    return mark.join(map(cut, listed[:3])) + (f" and {len(listed) - 3:,} more" if len(listed) > 3 else "")


def difference(names: Collection[str], known: Collection[str], /) -> str:
    """What some names lack of those that are known, and have besides; nothing where they are the same."""
    lacking, new = sorted(set(known) - set(names)), sorted(set(names) - set(known))
    said = [f"lacks {some(lacking)}"] if lacking else []
    return " and ".join([*said, f"has {some(new)} besides"] if new else said)
