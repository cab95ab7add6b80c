"""The columns of a report as plain data: how they are named and typed, and their values on some of the rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable
from renyi.basis.ranks import joint_ranks
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column, as_seconds
from renyi.report.summary import short, told_apart

_LONGEST_LABEL, _LONGEST_SHORT = 60, 22
# Beyond these a browser's axis has no room left for differences.
_LARGEST, _SMALLEST = 1e300, 1e-300
# The axis leaves out this share at either end where that makes it several times shorter.
_OUTER = 0.005
_MUCH_SHORTER = 3.0


def label_of(name: str, /) -> str:
    """How a name is shown: on one line, what does not print spelled out, and blanks at its ends made visible."""
    return _visible(short(name, _LONGEST_LABEL))


def labels_of(names: Sequence[str], /) -> list[dict[str, str]]:
    """How the columns of a table are shown: `label` where there is room, `short` elsewhere, told apart in both."""
    labels, shorts = (
        [_visible(shown) for shown in told_apart(names, limit)] for limit in (_LONGEST_LABEL, _LONGEST_SHORT)
    )
    return [{"label": label, "short": shown} for label, shown in zip(labels, shorts, strict=True)]


def _visible(shown: str) -> str:
    inner = shown.strip(" ")
    if not inner:
        return "␣" * len(shown) or "(no name)"
    start = len(shown) - len(shown.lstrip(" "))
    return "␣" * start + inner + "␣" * (len(shown) - start - len(inner))


def variable_record(
    variable: Variable, shown: dict[str, str], kind: str, side: str, rows: Index | None, /
) -> dict[str, Any]:
    """One column: how it is shown, what it is, and its values on the rows that were drawn, if any."""
    column = variable.shown
    record: dict[str, Any] = {
        "name": column.name,
        **shown,
        "type": kind,
        "side": side,
        "missing": variable.n_rows - variable.n_samples,
        "is_number": column.is_number,
        "levels": [label_of(str(level)) for level in column.levels] or None,
        "limits": None,
        "is_clipped": False,
        "sample": None,
    }
    if not column.is_vector and not column.levels:
        *limits, is_clipped = limits_of(column)
        record |= {"limits": significant(np.array(limits)), "is_clipped": is_clipped}
    if not column.is_vector and rows is not None:
        values, gaps = drawable(column)[rows], None if column.missing is None else column.missing[rows]
        record["sample"] = _sample(values, gaps, is_coded=bool(column.levels))
    return record


def drawable(column: Column, /) -> Array:
    """Numbers of a page's axis: dates in milliseconds since 1970, durations in seconds, levels as codes."""
    values = column.values
    if values.dtype.kind == "M":
        return values.astype("datetime64[us]").astype(np.int64) / 1e3
    if values.dtype.kind == "m":
        return as_seconds(values)
    numbers = within_reach(values)
    return np.where(np.abs(numbers) < _SMALLEST, 0.0, numbers)


def within_reach(values: NDArray[Any], /) -> Array:
    """Numbers as floats that an axis has room for, also long ones beyond all others."""
    with np.errstate(over="ignore"):
        return np.clip(values.astype(np.float64), -_LARGEST, _LARGEST)


def limits_of(column: Column, /) -> tuple[float, float, bool]:
    """Where the axis of a number ends, and whether a few far values lie beyond."""
    values = drawable(column.complete())
    if not len(values):
        return 0.0, 1.0, False
    low, inner_low, inner_high, high = np.quantile(values, [0.0, _OUTER, 1.0 - _OUTER, 1.0])
    if inner_high > inner_low and high - low > _MUCH_SHORTER * (inner_high - inner_low):
        room = 0.05 * (inner_high - inner_low)
        return max(low, inner_low - room), min(high, inner_high + room), True
    return float(low), float(high), False


def cells_of(values: Array, low: float, high: float, n_cells: int, /) -> Index:
    """The cell of every value among equal ones between two limits; what lies beyond is in the outer ones."""
    width = high - low
    if not width > 0.0:
        return np.zeros(len(values), dtype=np.intp)
    return np.clip((values - low) / width * n_cells, 0, n_cells - 1).astype(np.intp)


def followed(column: Column, scores: Array, /) -> tuple[list[str], Array]:
    """The coordinates of a vector, and how far the rank of each correlates with scores of the rows."""
    ranks = joint_ranks(column.values)
    centred = ranks - ranks.mean(axis=0)
    correlations = (centred / np.maximum(centred.std(axis=0), 1e-12)).T @ scores / len(ranks)
    return list(column.coordinates or map(str, range(len(correlations)))), correlations


# Numbers that are short as text.


def plain(values: NDArray[Any], decimals: int, /) -> list[float | None]:
    """Rounded numbers, None for those that are not known."""
    rounded = np.round(np.asarray(values, dtype=np.float64), decimals) + 0.0
    return [value if math.isfinite(value) else None for value in rounded.tolist()]


def significant(values: Array, /) -> list[float]:
    """Numbers with six digits, or as many more as tell them apart where they are alike."""
    if not len(values):
        return []
    sizes = np.log10(np.where(values == 0.0, 1.0, np.abs(values)))
    spread = float(values.max() - values.min())
    finest = math.log10(spread) if spread > 0.0 else math.inf
    digits = np.clip(np.ceil(sizes - finest) + 6, 6, 17).astype(int)
    rounded = (float(f"{v:.{d}g}") for v, d in zip(values.tolist(), digits.tolist(), strict=True))
    # Whole numbers as such, which saves a point and a zero.
    return [int(value) if value.is_integer() and abs(value) < 1e15 else value for value in rounded]


def _sample(values: Array, gaps: Mask | None, *, is_coded: bool) -> Sequence[float | None]:
    observed = values if gaps is None else values[~gaps]
    known: list[float] = observed.astype(int).tolist() if is_coded else significant(observed)
    if gaps is None:
        return known
    rest = iter(known)
    return [None if gap else next(rest) for gap in gaps.tolist()]
