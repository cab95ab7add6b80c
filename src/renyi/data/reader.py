"""One column from whatever the user has. What cannot be measured is refused with the reason and a remedy."""

import datetime
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Mask, in_memory
from renyi.data.categories import from_categories
from renyi.data.column import Column, Kind
from renyi.data.exact import EXACT, RoundingError, is_rounded_by_floats, is_wide
from renyi.data.frames import as_narwhals, period_starts, read_cells, with_gaps
from renyi.errors import InputError, brief

# Of a coordinate, in words that follow its name.
ROUNDED = "has whole numbers that floats beside it would round: rescale it"


def as_column(data: Any, argument: str, /) -> Column:
    """One column from an array, a list, or a column or frame of pandas, Polars or Arrow, passed as `argument`."""
    if isinstance(data, Column):
        return replace(data, argument=argument, name=data.name or argument)
    if isinstance(data, np.ndarray):
        return _from_array(data, None, argument)
    if isinstance(data, (list, tuple, range)):
        return _from_sequence(data, argument)
    wrapped = as_narwhals(data, argument)
    if wrapped is None:
        return _from_array(as_array(data, argument), None, argument)
    if hasattr(wrapped, "columns"):
        return _from_frame(wrapped, argument)
    return _from_series(wrapped, argument)


def as_columns(data: Any, argument: str, /) -> list[Column]:
    """One or several columns: those of a frame, of a list or of a dict, each by its own type, or a single one."""
    if isinstance(data, dict):
        named = ((str(name), as_column(column, f"{argument}[{name!r}]")) for name, column in data.items())
        return [replace(column, name=name, argument=argument) for name, column in named]
    # A list of numbers is one column, one of rows a matrix; what knows its own type is a column among others.
    if isinstance(data, (list, tuple)) and data and all(_stands_alone(part) for part in data):
        return [as_column(column, f"{argument}[{i}]") for i, column in enumerate(data)]
    wrapped: Any = None
    if not isinstance(data, (np.ndarray, list, tuple, range, Column)):
        wrapped = as_narwhals(data, argument)
    if hasattr(wrapped, "columns"):
        return [_from_series(series, argument) for series in wrapped.iter_columns()]
    return [as_column(data, argument)]


def _stands_alone(part: Any) -> bool:
    return hasattr(part, "__len__") and not isinstance(part, (str, bytes, list, tuple))


def as_array(data: Any, argument: str, /) -> NDArray[Any]:
    """What is not a column of a frame as an array: tensors of any device, and all that NumPy reads."""
    try:
        return np.asarray(in_memory(without_masked(data)))
    except Exception as error:
        raise InputError(f"{argument}, a {type(data).__name__}, cannot be turned into an array: {error}") from error


def _from_sequence(data: Sequence[Any], argument: str) -> Column:
    """Lists say "missing" by None, or by NumPy's masked; without them they are arrays."""
    if not isinstance(data, range) and any(value is None or value is np.ma.masked for value in data):
        missing = np.array([value is None or value is np.ma.masked for value in data])
        observed = [value for value, is_gap in zip(data, missing, strict=True) if not is_gap]
        if not observed:
            raise InputError(f"{argument} has no observed value: there is nothing to measure")
        return _from_array(with_gaps(_exact_array(observed, argument), missing), missing, argument)
    return _from_array(_exact_array(data, argument), None, argument)


def without_masked(data: Any, /) -> Any:
    """Lists, also within lists, with NaN in place of NumPy's masked, of which NumPy warns; all else as it is."""
    if not isinstance(data, (list, tuple, deque)):
        return float("nan") if data is np.ma.masked else data
    return [without_masked(part) for part in data] if any(map(_has_masked, data)) else data


def _has_masked(part: Any) -> bool:
    return any(map(_has_masked, part)) if isinstance(part, (list, tuple, deque)) else part is np.ma.masked


def _exact_array(data: Sequence[Any], argument: str) -> NDArray[Any]:
    try:
        array = np.asarray(without_masked(data))
    except (ValueError, OverflowError) as error:
        raise InputError(f"{argument} has rows of different lengths: every row needs the same coordinates") from error
    # NumPy turns whole numbers beside floats, or beyond 64 bits, into floats, and neighbours into ties.
    if array.dtype.kind in "fO" and any(map(is_rounded_by_floats, data)):
        raise InputError(f"{argument} mixes large whole numbers with others, which would round them: pass an array")
    return _dates(array) if array.dtype.kind == "O" and array.ndim == 1 else array


def _dates(array: NDArray[Any]) -> NDArray[Any]:
    """Dates and durations of Python, and periods of pandas, as those of NumPy; other objects stay as they are."""
    if all(type(value).__name__ == "Period" for value in array):
        return period_starts(array.tolist())
    for kind, type_ in ((datetime.date, "datetime64[us]"), (datetime.timedelta, "timedelta64[us]")):
        if all(isinstance(value, kind) and not _says_more(value) for value in array):
            # A missing one of pandas, which is a date too, equals nothing.
            return np.array([value if value == value else None for value in array], dtype=type_)  # noqa: PLR0124
    return array


def _says_more(value: Any) -> bool:
    """Whether a time has a zone, or, as those of pandas, more digits than Python's have."""
    return any(getattr(value, name, None) for name in ("tzinfo", "nanosecond", "nanoseconds")) and value == value  # noqa: PLR0124


def _from_frame(frame: Any, argument: str) -> Column:
    parts = [_from_series(series, argument) for series in frame.iter_columns()]
    if not parts:
        raise InputError(f"{argument} is a frame without columns: there is nothing to measure")
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.is_vector or (part.is_category and part.levels != (False, True)):
            raise InputError(
                f"{part.label} is a {part.kind}, and a vector takes only numbers: encode it or leave it out"
            )
    kinds = {part.values.dtype.kind for part in parts}
    for part in parts:
        if part.values.dtype.kind in "Mm" and len(kinds) > 1:
            raise InputError(
                f"{part.label} holds dates or durations, which have no type in common with the other coordinates: pass "
                "it as a number, such as days since the first"
            )
    vector, rounded = as_one(argument, parts)
    if rounded is not None:
        raise InputError(f"{rounded.label} {ROUNDED}")
    return vector


def as_one(name: str, parts: Sequence[Column], /) -> tuple[Column, Column | None]:
    """Columns of numbers as one of vectors, and the first of them that the others' type would round.

    A row that lacks a coordinate is missing.
    """
    values = np.column_stack([part.values for part in parts])
    masks = [part.missing for part in parts if part.missing is not None]
    missing = np.logical_or.reduce(masks) if masks else None
    rounded = (part for part in parts if values.dtype.kind == "f" and part.values.dtype.kind in "iu")
    first = next((part for part in rounded if is_wide(part.values.astype(np.float64))), None)
    return Column(name, "vector", values, missing, coordinates=tuple(part.name for part in parts)), first


def no_coordinate(vector: str, part: str, kind: str, /) -> InputError:
    """For something else than numbers in a vector."""
    return InputError(
        f"vectors[{vector!r}] has {part!r}, a {kind}, and the parts of a vector are numbers: leave it out"
    )


def _from_series(series: Any, argument: str) -> Column:
    import narwhals.stable.v2 as nw

    name = "" if series.name is None else str(series.name)
    label = f"column {brief(name)}" if name else argument
    if len(series) == 0:
        raise InputError(f"{label} is empty: pass at least 2 rows")
    if isinstance(series.dtype, nw.String):
        raise _text(label)
    try:
        if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
            column = from_categories(series)
        else:
            column = _from_values(series, label)
    except RoundingError as error:
        raise InputError(f"{label} {error}") from error
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{label} has the type {series.dtype}, which cannot be measured: {error}") from error
    return replace(column, name=name or argument, argument=argument)


def _from_values(series: Any, label: str) -> Column:
    cells, missing, is_rounded = read_cells(series)
    column = replace(_from_array(cells, missing, label), is_rounded=is_rounded)
    if column.missing is not None and column.missing.all():
        raise InputError(f"{label} has no observed value: there is nothing to measure")
    return column


def _from_array(array: NDArray[Any], missing: Mask | None, label: str) -> Column:
    if array.ndim == 0:
        raise InputError(
            f"{label} is a single {type(array.item()).__name__}: pass an array of values, one for each row"
        )
    if array.ndim > 2:
        raise InputError(f"{label} has the shape {array.shape}: pass n values, or n rows of d coordinates")
    if array.size == 0:
        raise InputError(f"{label} is empty (shape {array.shape}): pass at least 2 rows and 1 coordinate")
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    masks = [mask for mask in (missing, masked) if mask is not None]
    array = np.asarray(array)
    column = measurable(array, masks, label, lambda infinite: _infinite(infinite, label))
    if column is None:
        raise _without_order(array, label)
    return column


def measurable(
    array: NDArray[Any], masks: Sequence[Mask], name: str, refusal: Callable[[Mask], Exception], /
) -> Column | None:
    """A column of numbers, dates, durations or booleans, or of vectors (n, d); None for any other type of cells.

    `masks` are what is known to be missing, and `refusal` what to raise given where infinite numbers are: whoever asks
    for one column, or for those of a table that can be measured, says so in other words.
    """
    kind: Kind = "number"
    match array.dtype.kind:
        case "i" | "u" | "f" | "M" | "m":
            values = array.astype(array.dtype.newbyteorder("="), copy=False)
        case "b" if array.ndim == 1:
            values, kind = array.astype(np.intp), "category"
        case "b":
            values = array.astype(np.uint8)
        case _:
            return None
    gaps = _gaps(array, [_by_row(mask) for mask in masks], refusal)
    if array.ndim == 2 and array.shape[1] == 1:
        values = values[:, 0]
    levels = (False, True) if kind == "category" else ()
    return Column(name, "vector" if values.ndim == 2 else kind, values, gaps, levels)


def _gaps(array: NDArray[Any], masks: list[Mask], refusal: Callable[[Mask], Exception]) -> Mask | None:
    """Rows with a missing value, or None if there are none."""
    if array.dtype.kind in "Mm":
        masks.append(_by_row(np.isnat(array)))
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            infinite = np.isinf(array)
            for rows in masks:
                infinite[rows] = False
            if infinite.any():
                raise refusal(infinite)
            masks.append(_by_row(~finite))
    gaps = np.logical_or.reduce(masks) if masks else None
    return gaps if gaps is not None and gaps.any() else None


def _by_row(cells: Mask) -> Mask:
    return np.asarray(cells.any(axis=1)) if cells.ndim == 2 else cells


def _infinite(infinite: Mask, label: str) -> InputError:
    row, *coordinate = np.unravel_index(np.argmax(infinite), infinite.shape)
    where = f"row {row:,}" + "".join(f", coordinate {j}" for j in coordinate)
    return InputError(f"{label} has an infinite value in {where}: replace it by a number, or by NaN")


def _without_order(array: NDArray[Any], label: str) -> InputError:
    match array.dtype.kind:
        case "U" | "S" | "T":
            return _text(label)
        case "c":
            return InputError(f"{label} holds complex numbers, which have no order: pass the real and imaginary parts")
        case "O":
            return _objects(array, label)
        case _:
            return InputError(f"{label} has the type {array.dtype}, which has no order: convert it to numbers")


def _text(label: str) -> InputError:
    return InputError(
        f"{label} holds text, and text has no order to rank: declare it by renyi.categorical(...), or convert it to "
        "numbers"
    )


def _objects(array: NDArray[Any], label: str) -> InputError:
    if all(isinstance(value, str) for value in array.flat):
        return _text(label)
    numbers = (int, float, np.number)
    row, value = next(
        ((row, value) for row, value in enumerate(array.flat) if not isinstance(value, numbers)), (0, array.flat[0])
    )
    by = ".astype(float)"
    if any(
        is_rounded_by_floats(value) or (isinstance(value, Decimal) and value.is_finite() and abs(value) > EXACT)
        for value in array.flat
    ):
        by = ".astype(np.int64), after subtracting the smallest where they are larger than that"
    return InputError(
        f"{label} has the type object (row {row // (array.size // len(array)):,} holds {value!r}, a "
        f"{type(value).__name__}): convert it, for example by {by}, or declare it with renyi.categorical"
    )
