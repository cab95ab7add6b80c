"""Labels of any kind to codes and sorted levels."""

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.errors import InputError

__all__ = ["Encoded", "encode", "encode_array"]

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
    missing = np.fromiter((_is_missing(label) for label in labels), dtype=bool, count=len(labels))
    try:
        levels = list({label for label, absent in zip(labels, missing, strict=True) if not absent})
    except TypeError as error:
        raise InputError("some labels are lists or arrays, which cannot be told apart: use text or numbers") from error
    try:
        levels.sort(key=lambda label: (type(label).__name__, label))
    except TypeError:
        levels.sort(key=lambda label: (type(label).__name__, repr(label)))
    index = {label: code for code, label in enumerate(levels)}
    codes = [0 if absent else index[label] for label, absent in zip(labels, missing, strict=True)]
    return np.array(codes, dtype=np.intp), missing, tuple(levels)


def _is_missing(label: Any) -> bool:
    """None, NaN, NaT, the NA of pandas and masked cells: what differs from itself, or refuses to say."""
    if label is None or label is np.ma.masked:
        return True
    try:
        return bool(label != label)  # noqa: PLR0124
    except (TypeError, ArithmeticError):
        return True
    except ValueError:  # an array, which is no label at all
        return False
