"""Whatever the user has to typed columns with missing masks. The only place that validates data."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from renyi.errors import InputError

__all__ = ["Column", "Kind", "Missing", "as_column", "as_pair", "categorical", "check_choice", "common_rows"]

Kind = Literal["number", "vector", "category"]
Missing = Literal["raise", "pairwise", "listwise"]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """One variable: numbers (n,), vectors (n, d), or the codes (n,) of a category with its levels.

    `name` is the user's, or the argument's where there is none; `label` names the column in messages. Where `missing`
    is True the value is a placeholder and means nothing.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    missing: Mask | None = None
    levels: tuple[Hashable, ...] = ()
    coordinates: tuple[str, ...] = ()
    argument: str = ""

    @property
    def label(self) -> str:
        """How messages name the column."""
        if not self.argument or self.argument == self.name:
            return self.name
        return f"{self.argument} (column {self.name!r})"

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        detail = {
            "number": "numbers",
            "vector": f"vectors of {self.values.shape[-1]} coordinates",
            "category": f"a category of {len(self.levels)} levels",
        }[self.kind]
        n_missing = 0 if self.missing is None else np.count_nonzero(self.missing)
        return f"<{self.label}: {detail}, {len(self):,} rows, {n_missing:,} missing>"

    def take(self, rows: Mask, /) -> "Column":
        """The column on the rows where the mask is True."""
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, values=self.values[rows], missing=missing)

    def complete(self) -> "Column":
        """The column on its observed rows."""
        return self if self.missing is None else replace(self.take(~self.missing), missing=None)


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
        If `x` is empty or not one-dimensional.

    Examples
    --------
    >>> import renyi
    >>> species = renyi.categorical(["cat", "dog", "cat", "owl"])
    >>> species.levels
    ('cat', 'dog', 'owl')
    """
    if isinstance(x, Column) and x.kind == "category":
        return replace(x, name=name or x.name)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.size and x.dtype.kind in "iufbUS":
        missing = x != x  # noqa: PLR0124 (NaN is what differs from itself)
        distinct, codes = np.unique(x, return_inverse=True)
        levels = tuple(distinct[distinct == distinct].tolist())  # noqa: PLR0124
    else:
        labels, own_name = _labels(x)
        name = name or own_name
        codes, missing, levels = _encode(labels)
    return Column(name, "category", np.where(missing, 0, codes), missing if missing.any() else None, levels)


def _labels(x: Any) -> tuple[list[Any], str]:
    """The labels of a column as Python values, and its name."""
    series = None if isinstance(x, (np.ndarray, list, tuple)) else _as_narwhals(x)
    if series is not None and not hasattr(series, "columns"):
        labels, name = series.to_list(), series.name if isinstance(series.name, str) else ""
    else:
        shape = np.shape(np.asarray(x, dtype=object)) if series is None else series.shape
        if len(shape) != 1:
            raise InputError(f"the labels have the shape {shape}, but a category is one column: pass n labels")
        labels, name = list(x), ""
    if not labels:
        raise InputError("there are no labels: pass at least 2")
    return labels, name


def _encode(labels: list[Any]) -> tuple[NDArray[np.intp], Mask, tuple[Hashable, ...]]:
    """Codes, missing mask and sorted levels of arbitrary labels."""
    missing = np.fromiter((_is_missing(label) for label in labels), dtype=bool, count=len(labels))
    try:
        levels = list({label for label, absent in zip(labels, missing, strict=True) if not absent})
    except TypeError as error:
        raise InputError("some labels cannot be compared, such as lists: use text, numbers or tuples") from error
    try:
        levels.sort(key=lambda label: (type(label).__name__, label))
    except TypeError:
        levels.sort(key=lambda label: (type(label).__name__, repr(label)))
    index = {label: code for code, label in enumerate(levels)}
    codes = [0 if absent else index[label] for label, absent in zip(labels, missing, strict=True)]
    return np.array(codes, dtype=np.intp), missing, tuple(levels)


def _is_missing(label: Any) -> bool:
    """None, NaN, NaT and the NA of pandas: what differs from itself, or refuses to say."""
    if label is None:
        return True
    try:
        return bool(label != label)  # noqa: PLR0124
    except (TypeError, ValueError):
        return True


def as_pair(x: Any, y: Any, /, *, missing: Missing) -> tuple[Column, Column]:
    """Two columns over the same rows, checked; with "raise" and "listwise" they come back complete."""
    check_choice(missing, Missing, "missing")
    _check_indexes(x, y)
    a, b = as_column(x, "x"), as_column(y, "y")
    if len(a) != len(b):
        raise InputError(f"x has {len(a):,} rows and y has {len(b):,}: pass as many values of one as of the other")
    if len(a) < 2:
        raise InputError("x and y have 1 row, and one point shows no dependence: pass at least 2 rows")
    if missing == "raise":
        _refuse_missing(a)
        _refuse_missing(b)
    rows = common_rows(a, b)
    if rows is not None and np.count_nonzero(rows) < 2:
        raise InputError(f"{a.label} and {b.label} have {np.count_nonzero(rows)} rows in common: pass at least 2")
    if rows is not None and missing == "listwise":
        a, b = a.take(rows).complete(), b.take(rows).complete()
    for column in (a, b):
        _refuse_constant(column)
    return a, b


def common_rows(x: Column, y: Column, /) -> Mask | None:
    """Rows where neither is missing, or None for all of them."""
    masks = [column.missing for column in (x, y) if column.missing is not None]
    return ~np.logical_or.reduce(masks) if masks else None


def check_choice(value: Any, choices: Any, name: str) -> None:
    """Refuse a value that is not one of the strings of a Literal."""
    if value not in get_args(choices):
        valid = ", ".join(repr(choice) for choice in get_args(choices))
        raise InputError(f"{name}={value!r} is unknown: choose one of {valid}")


def _check_indexes(x: Any, y: Any) -> None:
    left: Any = getattr(x, "index", None)
    right: Any = getattr(y, "index", None)
    # Only frames of the pandas family have an index with `equals`; lists have a method of the same name.
    if hasattr(left, "equals") and hasattr(right, "equals") and len(left) == len(right) and not left.equals(right):
        raise InputError(
            "x and y have different indexes, and aligning them silently could pair the wrong rows: "
            "align them first, or pass x.to_numpy() and y.to_numpy()"
        )


def _refuse_missing(column: Column) -> None:
    if column.missing is None:
        return
    rows = np.flatnonzero(column.missing)
    count = f"{len(rows):,} missing value{'s' if len(rows) > 1 else ''}"
    raise InputError(
        f"{column.label} has {count} (first in row {rows[0]:,}) and missing='raise': "
        "drop them, or pass missing='pairwise' or missing='listwise'"
    )


def _refuse_constant(column: Column) -> None:
    values = column.complete().values
    if (values == values[0]).all():
        raise InputError(
            f"{column.label} is constant, and dependence on a constant is not defined: leave it out "
            "(for whole tables renyi.matrix does that and says so)"
        )


def as_column(data: Any, argument: str, /) -> Column:
    """One column from an array, a list, or a column or frame of pandas, Polars or Arrow, passed as `argument`."""
    if isinstance(data, Column):
        return replace(data, argument=argument, name=data.name or argument)
    if isinstance(data, np.ndarray):
        return _from_array(data, argument)
    if isinstance(data, (list, tuple, range)):
        return _from_array(_from_sequence(data, argument), argument)
    wrapped = _as_narwhals(data)
    if wrapped is None:
        return _from_array(_from_sequence(data, argument), argument)
    if hasattr(wrapped, "columns"):
        return _from_frame(wrapped, argument)
    return _from_named_series(wrapped, argument)


def _from_named_series(series: Any, argument: str) -> Column:
    if not isinstance(series.name, str) or not series.name:
        return _from_series(series, argument)
    column = _from_series(series, f"{argument} (column {series.name!r})")
    return replace(column, name=series.name, argument=argument)


def _as_narwhals(data: Any) -> Any:
    """A narwhals Series or DataFrame, or None if `data` belongs to no frame library."""
    import narwhals.stable.v2 as nw

    arrow = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    pandas = nw.dependencies.get_pandas()
    if pandas is not None and isinstance(data, (pandas.api.extensions.ExtensionArray, pandas.Index)):
        data = pandas.Series(data)
    wrapped = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(f"{type(data).__name__} is lazy and a pair needs values: call .collect() first")
    return wrapped if isinstance(wrapped, (nw.Series, nw.DataFrame)) else None


def _from_sequence(data: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InputError(f"{name} has rows of different lengths: every row needs the same coordinates") from error
    if array.dtype == object and array.ndim in (1, 2):
        numbers = (int, float, np.number, type(None))
        if all(isinstance(value, numbers) for value in array.flat):
            return array.astype(np.float64)  # None becomes NaN: a list has no other way to say "missing"
    return array


def _from_frame(frame: Any, argument: str) -> Column:
    if not frame.columns:
        raise InputError(f"{argument} is a frame without columns: there is nothing to measure")
    parts = [_from_named_series(frame[name], argument) for name in frame.columns]
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if part.kind != "number":
            raise InputError(
                f"{part.label} is a {part.kind}, and a vector takes only numbers: encode it or leave it out"
            )
    masks = [part.missing for part in parts if part.missing is not None]
    values = np.column_stack([part.values for part in parts])
    missing = np.logical_or.reduce(masks) if masks else None
    return Column(argument, "vector", values, missing, coordinates=tuple(part.name for part in parts))


def _from_series(series: Any, name: str) -> Column:
    import narwhals.stable.v2 as nw

    if len(series) == 0:
        raise InputError(f"{name} is empty: pass at least 2 rows")
    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _from_categories(series, name)
    if isinstance(dtype, nw.String):
        raise _text(name)
    missing = series.is_null().to_numpy()
    if not missing.any():
        return _from_array(series.to_numpy(), name)
    if missing.all():
        raise InputError(f"{name} has no observed value: there is nothing to measure")
    # The observed values alone keep their type; a null would turn integers into floats and booleans into objects.
    observed = _from_array(series.filter(~series.is_null()).to_numpy(), name)
    values = np.zeros(len(series), dtype=observed.values.dtype)
    values[~missing] = observed.values
    if observed.missing is not None:
        missing[np.flatnonzero(~missing)[observed.missing]] = True
    return replace(observed, values=values, missing=missing)


def _from_categories(series: Any, name: str) -> Column:
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native):
        codes, levels = native.cat.codes.to_numpy(), native.cat.categories.to_numpy()
        if native.cat.ordered:
            ranks = np.where(codes < 0, np.nan, codes.astype(np.float64))
            return _from_array(ranks, name)
        missing = codes < 0
        column_codes = np.where(missing, 0, codes).astype(np.intp)
        return Column(name, "category", column_codes, missing if missing.any() else None, tuple(levels))
    return categorical(series.cast(nw.String).to_list(), name=name)


def _text(name: str) -> InputError:
    argument = name.split(maxsplit=1)[0]
    return InputError(
        f"{name} holds text, and text has no order to rank: declare it with renyi.categorical({argument}), "
        "or convert it to numbers"
    )


def _from_array(array: NDArray[Any], name: str) -> Column:
    if array.ndim == 0:
        raise InputError(f"{name} is a single {type(array.item()).__name__}: pass an array of values, one for each row")
    if array.ndim > 2:
        raise InputError(f"{name} has the shape {array.shape}: pass n values, or n rows of d coordinates")
    if array.size == 0:
        raise InputError(f"{name} is empty (shape {array.shape}): pass at least 2 rows")
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim == 2 and array.shape[1] == 1:
        array, masked = array[:, 0], None if masked is None else masked[:, 0]
    values, kind = _numbers(array, name)
    missing = _missing_cells(array, masked, name)
    if values.ndim == 2:
        return Column(name, "vector", values, None if missing is None else np.asarray(missing.any(axis=1)))
    return Column(name, kind, values, missing, (False, True) if kind == "category" else ())


def _numbers(array: NDArray[Any], name: str) -> tuple[NDArray[Any], Kind]:
    """The values in a type that sorts as they do, and what they are."""
    match array.dtype.kind:
        case "i" | "u" | "f":
            return array, "number"
        case "M" | "m":
            return array.view(np.int64), "number"
        case "b" if array.ndim == 1:
            return array.astype(np.intp), "category"
        case "b":
            return array.view(np.uint8), "number"
        case "U" | "S" | "T":
            raise _text(name)
        case "c":
            raise InputError(f"{name} holds complex numbers, which have no order: pass the real and imaginary parts")
        case "O" if all(isinstance(value, str) for value in array.flat):
            raise _text(name)
        case _:
            first = next(iter(array.flat))
            raise InputError(
                f"{name} has the type {array.dtype} (first value: {first!r}, a {type(first).__name__}): "
                "convert it to numbers, or declare it with renyi.categorical"
            )


def _missing_cells(array: NDArray[Any], masked: Mask | None, name: str) -> Mask | None:
    """Where values are missing (None if nowhere); infinities are refused."""
    missing = np.zeros(array.shape, dtype=bool) if masked is None else masked.copy()
    if array.dtype.kind in "Mm":
        missing |= np.isnat(array)
    elif array.dtype.kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            infinite = np.isinf(array) & ~missing
            if infinite.any():
                position = np.unravel_index(np.argmax(infinite), array.shape)
                where = f"row {position[0]:,}" + (f", coordinate {position[1]}" if array.ndim == 2 else "")
                raise InputError(f"{name} has an infinite value in {where}: replace it by a number, or by NaN")
            missing |= ~finite
    return missing if missing.any() else None
