"""Labels of any kind to codes and sorted levels."""

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.errors import InputError

# Codes, missing mask and levels; codes of missing labels are 0 and mean nothing.
Encoded: TypeAlias = tuple[NDArray[np.intp], NDArray[np.bool_], tuple[Hashable, ...]]


def encode_array(labels: NDArray[Any], /) -> Encoded:
    """Encode numbers, booleans or text; NaN is missing."""
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)
    levels, observed = np.unique(labels[~missing], return_inverse=True)
    codes = np.zeros(len(labels), dtype=np.intp)
    codes[~missing] = observed
    return codes, missing, tuple(levels.tolist())


def encode(labels: list[Any], /) -> Encoded:
    """Encode arbitrary labels, sorted within each of their types."""
    missing = np.fromiter((is_missing(label) for label in labels), dtype=bool, count=len(labels))
    try:
        levels: list[Any] = list({label for label, absent in zip(labels, missing, strict=True) if not absent})
    except (TypeError, ValueError) as error:  # durations of NumPy without a unit raise the second
        raise InputError("some labels are lists or arrays, which cannot be told apart: use text or numbers") from error
    levels = in_order(levels)
    index = {label: code for code, label in enumerate(levels)}
    codes = [0 if absent else index[label] for label, absent in zip(labels, missing, strict=True)]
    return np.array(codes, dtype=np.intp), missing, tuple(levels)


def encode_series(text: Any, /) -> Encoded:
    """Encode a narwhals Series of text by the means of its own library."""
    import narwhals.stable.v2 as nw

    missing = np.array(text.is_null().to_numpy())
    # A Series of pandas may have no name, by which older narwhals replaces.
    observed = text.filter(~text.is_null()).alias("text")
    # Sorted here and not by the library, so that the order is the same for all of them.
    levels = sorted(observed.unique().to_list())
    codes = np.zeros(len(missing), dtype=np.intp)
    if levels:
        numbers = observed.replace_strict(levels, list(range(len(levels))), return_dtype=nw.Int64)
        codes[~missing] = numbers.to_numpy()
    return codes, missing, tuple(levels)


def tidy(codes: NDArray[np.intp], missing: NDArray[np.bool_], levels: tuple[Hashable, ...], /) -> Encoded:
    """The same labels with only the levels that occur, in order."""
    # A dictionary of Arrow may name a level twice: both codes are of one level.
    observed = codes[~missing] if missing.any() else codes
    named = {code: levels[code] for code in np.flatnonzero(np.bincount(observed, minlength=len(levels))).tolist()}
    kept = in_order(list(dict.fromkeys(named.values())))
    place = {level: code for code, level in enumerate(kept)}
    moved = np.zeros(len(levels), dtype=np.intp)
    moved[list(named)] = [place[level] for level in named.values()]
    return (moved[codes] if kept else codes), missing, tuple(kept)


def in_order(levels: list[Any], /) -> list[Any]:
    """Levels sorted within each of their types."""
    try:
        return sorted(levels, key=lambda label: (type(label).__name__, label))
    except (TypeError, OverflowError):  # the second of dates of NumPy in units far apart
        return sorted(levels, key=lambda label: (type(label).__name__, repr(label)))


def is_missing(label: Any) -> bool:
    """None, NaN, NaT, the NA of pandas and masked cells: what differs from itself, or refuses to say."""
    if label is None or label is np.ma.masked:
        return True
    try:
        return bool(label != label)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        return True
    except ValueError:  # an array, which is no label at all
        return False
