"""Whatever the user has to typed columns with missing masks. The only place that validates data."""

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from renyi.errors import InputError
from renyi.execution.arrays import in_memory
from renyi.labels import Encoded, as_series, encode, encode_array, encode_series, tidy

__all__ = [
    "Column",
    "Kind",
    "Mask",
    "as_array",
    "as_column",
    "as_columns",
    "as_floats",
    "categorical",
    "check_choice",
    "count",
    "encode_labels",
    "read_categories",
    "read_cells",
]

Kind = Literal["number", "vector", "category"]
Mask: TypeAlias = NDArray[np.bool_]

# A category has a table of levels × levels numbers.
_MOST_LEVELS = 5000
# Whole numbers up to here are exact as floats.
_EXACT = 2**53


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """One variable: numbers (n,), vectors (n, d), or the codes (n,) of a category with its levels.

    Dates and durations are numbers; so are ordered categories, as codes that rise with their levels. `name` is the
    user's, or the argument's where there is none. Where `missing` is True the value is a placeholder. A column that was
    declared by the user keeps the `index` of its Series, so that rows are not paired wrongly.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    missing: Mask | None = None
    levels: tuple[Hashable, ...] = ()
    coordinates: tuple[str, ...] = ()
    argument: str = ""
    index: Any = None

    @property
    def label(self) -> str:
        """How messages name the column."""
        if not self.argument or self.argument == self.name:
            return self.name or "the column"
        return f"{self.argument} (column {self.name!r})"

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        detail = {
            "number": "numbers" if not self.levels else f"{len(self.levels)} ordered levels",
            "vector": f"vectors of {self.values.shape[-1]} coordinates",
            "category": f"a category of {len(self.levels)} levels",
        }[self.kind]
        n_missing = 0 if self.missing is None else np.count_nonzero(self.missing)
        return f"<{self.label}: {detail}, {len(self):,} rows, {n_missing:,} missing>"

    def take(self, rows: Mask, /) -> "Column":
        """The column on the rows where the mask is True."""
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, values=self.values[rows], missing=missing, index=None)

    def complete(self) -> "Column":
        """The column on its observed rows."""
        return self if self.missing is None else replace(self.take(~self.missing), missing=None)


def check_choice(value: Any, choices: Any, name: str) -> None:
    """Refuse a value that is not one of the strings of a Literal."""
    if not isinstance(value, str) or value not in get_args(choices):
        valid = ", ".join(repr(choice) for choice in get_args(choices))
        raise InputError(f"{name}={value!r} is unknown: choose one of {valid}")


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it takes one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_floats(values: NDArray[Any], /) -> NDArray[np.float64]:
    """Values as floats, up to a shift of every coordinate: what has more digits keeps them without its smallest.

    Large whole numbers and times are exact where they are less than 2⁵³ apart. Floats of more than 64 bits may leave
    the range, and are infinite or equal then.
    """
    match values.dtype.kind:
        case "M" | "m" | "i":
            whole = values.view(np.int64) if values.dtype.kind in "Mm" else values.astype(np.int64)
            # What lies further apart than the type reaches is right again without a sign.
            return np.asarray((whole - whole.min(axis=0)).view(np.uint64), dtype=np.float64)
        case "u":
            return np.asarray(values - values.min(axis=0), dtype=np.float64)
        case "f" if values.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                return np.asarray(values - values.min(axis=0), dtype=np.float64)
        case _:
            return np.asarray(values, dtype=np.float64)


# One column.


def as_column(data: Any, argument: str, /) -> Column:
    """One column from an array, a list, or a column or frame of pandas, Polars or Arrow, passed as `argument`."""
    if isinstance(data, Column):
        return replace(data, argument=argument, name=data.name or argument)
    if isinstance(data, np.ndarray):
        return _from_array(data, None, argument)
    if isinstance(data, (list, tuple, range)):
        return _from_sequence(data, argument)
    wrapped = _as_narwhals(data, argument)
    if wrapped is None:
        return _from_array(as_array(data, argument), None, argument)
    if hasattr(wrapped, "columns"):
        return _from_frame(wrapped, argument)
    return _from_series(wrapped, argument)


def as_columns(data: Any, argument: str, /) -> list[Column]:
    """One or several columns: those of a frame, of a list or of a dict, each by its own type, or a single one."""
    if isinstance(data, dict):
        return [as_column(column, f"{argument}[{name!r}]") for name, column in data.items()]
    # A list of numbers is one column, one of rows a matrix; what knows its own type is a column among others.
    if isinstance(data, (list, tuple)) and data and all(_stands_alone(part) for part in data):
        return [as_column(column, f"{argument}[{i}]") for i, column in enumerate(data)]
    wrapped: Any = None
    if not isinstance(data, (np.ndarray, list, tuple, range, Column)):
        wrapped = _as_narwhals(data, argument)
    if hasattr(wrapped, "columns"):
        return [_from_series(series, argument) for series in wrapped.iter_columns()]
    return [as_column(data, argument)]


def _stands_alone(part: Any) -> bool:
    return hasattr(part, "__len__") and not isinstance(part, (str, bytes, list, tuple))


def _as_narwhals(data: Any, argument: str) -> Any:
    """A narwhals Series or DataFrame, or None if `data` belongs to no frame library."""
    import narwhals.stable.v2 as nw

    try:
        wrapped = nw.from_native(as_series(data), allow_series=True, pass_through=True)
    except Exception as error:
        raise InputError(f"{argument} cannot be read as a table: {error}") from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(f"{argument} is lazy and a pair needs values: call .collect() first")
    return wrapped if isinstance(wrapped, (nw.Series, nw.DataFrame)) else None


def as_array(data: Any, argument: str, /) -> NDArray[Any]:
    """What is no column of a frame as an array: tensors of any device, and all that NumPy reads."""
    try:
        return np.asarray(in_memory(data))
    except Exception as error:
        raise InputError(f"{argument}, a {type(data).__name__}, cannot be turned into an array: {error}") from error


def _from_sequence(data: Sequence[Any], argument: str) -> Column:
    """Lists say "missing" by None; without them they are arrays."""
    if not isinstance(data, range) and any(value is None for value in data):
        missing = np.array([value is None for value in data])
        observed = [value for value in data if value is not None]
        if not observed:
            raise InputError(f"{argument} has no observed value: there is nothing to measure")
        return _from_array(_with_gaps(_exact_array(observed, argument), missing), missing, argument)
    return _from_array(_exact_array(data, argument), None, argument)


def _exact_array(data: Sequence[Any], argument: str) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{argument} has rows of different lengths: every row needs the same coordinates") from error
    # NumPy turns whole numbers beside floats, or beyond 64 bits, into floats, and neighbours into ties.
    if array.dtype.kind in "fO" and any(_is_inexact(value) for value in data):
        raise InputError(f"{argument} mixes large whole numbers with others, which would round them: pass an array")
    return _dates(array) if array.dtype.kind == "O" and array.ndim == 1 else array


def _is_inexact(value: Any) -> bool:
    """Whether this is, or a row has, a whole number that a float would round."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_inexact, value))
    return isinstance(value, (int, np.integer)) and abs(int(value)) > _EXACT


def _dates(array: NDArray[Any]) -> NDArray[Any]:
    """Dates and durations of Python as those of NumPy; other objects stay as they are."""
    for kind, type_ in ((datetime.date, "datetime64[us]"), (datetime.timedelta, "timedelta64[us]")):
        if all(isinstance(value, kind) and not _says_more(value) for value in array):
            # A missing one of pandas, which is a date too, equals nothing.
            return np.array([value if value == value else None for value in array], dtype=type_)  # noqa: PLR0124
    return array


def _says_more(value: Any) -> bool:
    """Whether a time has a zone, or, as those of pandas, more digits than Python's have."""
    return any(getattr(value, name, None) for name in ("tzinfo", "nanosecond", "nanoseconds")) and value == value  # noqa: PLR0124


def _with_gaps(observed: NDArray[Any], missing: Mask) -> NDArray[Any]:
    """The observed values, which keep their type, with zeros in the places where there are none."""
    values = np.zeros((len(missing), *observed.shape[1:]), dtype=observed.dtype)
    values[~missing] = observed
    return values


def _from_frame(frame: Any, argument: str) -> Column:
    parts = [_from_series(series, argument) for series in frame.iter_columns()]
    if not parts:
        raise InputError(f"{argument} is a frame without columns: there is nothing to measure")
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.kind == "vector" or (part.kind == "category" and part.levels != (False, True)):
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
    values = np.column_stack([part.values for part in parts])
    for part in parts:
        if part.values.dtype.kind in "iu" and values.dtype.kind == "f" and np.abs(part.values).max() > _EXACT:
            raise InputError(f"{part.label} has whole numbers that floats beside it would round: rescale it")
    masks = [part.missing for part in parts if part.missing is not None]
    missing = np.logical_or.reduce(masks) if masks else None
    return Column(argument, "vector", values, missing, coordinates=tuple(part.name for part in parts))


def _from_series(series: Any, argument: str) -> Column:
    import narwhals.stable.v2 as nw

    name = "" if series.name is None else str(series.name)
    label = f"{argument} (column {name!r})" if name else argument
    if len(series) == 0:
        raise InputError(f"{label} is empty: pass at least 2 rows")
    if isinstance(series.dtype, nw.String):
        raise _text(label)
    try:
        if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
            column = _from_categories(series)
        else:
            column = _from_values(series, label)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{label} has the type {series.dtype}, which cannot be measured: {error}") from error
    return replace(column, name=name or argument, argument=argument)


def _from_values(series: Any, label: str) -> Column:
    column = _from_array(*read_cells(series), label)
    if column.missing is not None and column.missing.all():
        raise InputError(f"{label} has no observed value: there is nothing to measure")
    return column


def read_cells(series: Any, /) -> tuple[NDArray[Any], Mask | None]:
    """The cells of a narwhals Series as an array that keeps their type, and where it only holds their place.

    Decimals and integers of 128 bits are floats, times of the day nanoseconds since midnight; NaN speaks for itself.
    """
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_decimal() or isinstance(dtype, (nw.Int128, nw.UInt128)):
        series, dtype = series.cast(nw.Float64), nw.Float64()
    elif isinstance(dtype, nw.Time):
        series = _nanoseconds(series)
    if dtype.is_float():
        array = series.to_numpy()
        if array.dtype.kind == "f":
            return array, None
    missing = np.array(series.is_null().to_numpy())
    if not missing.any():
        return series.to_numpy(), None
    if missing.all():
        return np.zeros(len(missing)), missing
    return _with_gaps(series.filter(~series.is_null()).to_numpy(), missing), missing


def _nanoseconds(series: Any) -> Any:
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native):
        # Only Arrow has times in pandas, and narwhals leaves them in the unit they have.
        series = nw.from_native(native.astype("time64[ns][pyarrow]"), series_only=True)
    return series.cast(nw.Time).cast(nw.Int64)


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
    array = np.asarray(array)
    values, kind = _numbers(array, label)
    gaps = _gaps(array, [mask for mask in (missing, masked) if mask is not None], label)
    if array.ndim == 2 and array.shape[1] == 1:
        values = values[:, 0]
    levels = (False, True) if kind == "category" else ()
    return Column(label, "vector" if values.ndim == 2 else kind, values, gaps, levels)


def _gaps(array: NDArray[Any], known: list[Mask], label: str) -> Mask | None:
    """Rows with a missing value, or None if there are none; infinities are refused."""
    masks = [_by_row(mask) for mask in known]
    if array.dtype.kind in "Mm":
        masks.append(_by_row(np.isnat(array)))
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            _refuse_infinite(array, masks, label)
            masks.append(_by_row(~finite))
    gaps = np.logical_or.reduce(masks) if masks else None
    return gaps if gaps is not None and gaps.any() else None


def _by_row(cells: Mask) -> Mask:
    return np.asarray(cells.any(axis=1)) if cells.ndim == 2 else cells


def _refuse_infinite(array: NDArray[Any], missing: list[Mask], label: str) -> None:
    infinite = np.isinf(array)
    for rows in missing:
        infinite[rows] = False
    if infinite.any():
        row, *coordinate = np.unravel_index(np.argmax(infinite), array.shape)
        where = f"row {row:,}" + "".join(f", coordinate {j}" for j in coordinate)
        raise InputError(f"{label} has an infinite value in {where}: replace it by a number, or by NaN")


def _numbers(array: NDArray[Any], label: str) -> tuple[NDArray[Any], Kind]:
    """The values in a type that sorts as they do, and what they are."""
    match array.dtype.kind:
        case "i" | "u" | "f" | "M" | "m":
            return array.astype(array.dtype.newbyteorder("="), copy=False), "number"
        case "b" if array.ndim == 1:
            return array.astype(np.intp), "category"
        case "b":
            return array.astype(np.uint8), "number"
        case "U" | "S" | "T":
            raise _text(label)
        case "c":
            raise InputError(f"{label} holds complex numbers, which have no order: pass the real and imaginary parts")
        case "O":
            raise _objects(array, label)
        case _:
            raise InputError(f"{label} has the type {array.dtype}, which has no order: convert it to numbers")


def _text(label: str) -> InputError:
    return InputError(
        f"{label} holds text, and text has no order to rank: declare it with renyi.categorical, or convert it to "
        "numbers"
    )


def _objects(array: NDArray[Any], label: str) -> InputError:
    if all(isinstance(value, str) for value in array.flat):
        return _text(label)
    numbers = (int, float, np.number)
    row, value = next(
        ((row, value) for row, value in enumerate(array.flat) if not isinstance(value, numbers)), (0, array.flat[0])
    )
    return InputError(
        f"{label} has the type object (row {row // (array.size // len(array)):,} holds {value!r}, a "
        f"{type(value).__name__}): convert it, for example by .astype(float), or declare it with renyi.categorical"
    )


# Categories.


def categorical(x: Any, /, *, name: str = "") -> Column:
    """Declare a column to be a category, whatever its type.

    Text is refused by the functions for pairs, and numbers are taken as quantities; this says that the values are
    labels without order or distance.

    Parameters
    ----------
    x : array-like of shape (n,)
        Labels: text, numbers, booleans or a mixture. None and NaN are missing.
    name : str, optional
        The name used in messages and plots; by default the column's own.

    Returns
    -------
    Column
        Accepted wherever a column is.

    Raises
    ------
    InputError
        If `x` is empty, is not one-dimensional, or has more than 5,000 levels.

    Examples
    --------
    >>> import renyi
    >>> species = renyi.categorical(["cat", "dog", "cat", "owl"])
    >>> species.levels
    ('cat', 'dog', 'owl')
    """
    if isinstance(x, Column):
        if x.kind != "category":
            raise InputError(f"{x!r} is no column of labels: pass the labels themselves")
        return replace(x, name=name or x.name)
    encoded, own_name = encode_labels(x)
    # Lists have a method of that name.
    index = getattr(x, "index", None)
    return replace(_category(*encoded, name or own_name), index=index if hasattr(index, "equals") else None)


def encode_labels(x: Any, /) -> tuple[Encoded, str]:
    """Labels as codes, missing mask and levels, however many; and the name of their column."""
    x = in_memory(x)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "iufbUS" and not isinstance(x, np.ma.MaskedArray):
        return encode_array(x), ""
    labels, name = _labels(x)
    return encode(labels), name


def _category(codes: NDArray[np.intp], missing: Mask, levels: tuple[Hashable, ...], name: str) -> Column:
    if len(codes) == 0:
        raise InputError("there are no labels: pass at least one")
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"{name or 'the category'} has {len(levels):,} levels, and more than {_MOST_LEVELS:,} cannot be compared: "
            "merge rare ones, or leave it out if it names the rows"
        )
    return Column(name, "category", codes, missing if missing.any() else None, levels)


def _from_categories(series: Any) -> Column:
    """A categorical column; an ordered one as numbers that rise with its levels."""
    (codes, missing, levels), ordered = read_categories(series)
    if ordered:
        return Column("", "number", codes, missing if missing.any() else None, levels)
    return _category(*tidy(codes, missing, levels), series.name or "")


def read_categories(series: Any, /) -> tuple[Encoded, bool]:
    """The codes, missing mask and levels of a categorical narwhals Series, and whether the levels are ordered."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native) and hasattr(native.dtype, "categories"):
        codes, levels = native.cat.codes.to_numpy().astype(np.intp), tuple(native.cat.categories.tolist())
        missing = codes < 0
        return (np.where(missing, 0, codes), missing, levels), bool(native.cat.ordered)
    if hasattr(native, "unify_dictionaries"):
        merged = native.unify_dictionaries().combine_chunks()
        codes = merged.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.intp)
        return (codes, series.is_null().to_numpy(), tuple(merged.dictionary.to_pylist())), native.type.ordered
    if nw.dependencies.is_polars_series(native):
        return encode_series(series.cast(nw.String)), False
    return encode(series.to_list()), False


def _labels(x: Any) -> tuple[list[Any], str]:
    """The labels of a column as Python values, and its name."""
    if isinstance(x, (list, tuple)):
        return list(x), ""
    series = None if isinstance(x, np.ndarray) else _as_narwhals(x, "the category")
    if series is not None and not hasattr(series, "columns"):
        return series.to_list(), "" if series.name is None else str(series.name)
    shape = series.shape if series is not None else np.shape(x) if isinstance(x, np.ndarray) else ()
    if len(shape) != 1:
        arrived = f"has the shape {shape}" if shape else f"is a {type(x).__name__}"
        raise InputError(f"what was passed as a category {arrived}, but a category is one column: pass n labels")
    return x.tolist(), ""
