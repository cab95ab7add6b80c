"""What estimators are given to typed columns: the features of X, and the target y as a number, category or vector."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Mask, columns_of_tensor, in_memory
from renyi.data.column import Column
from renyi.data.exact import TOO_LARGE, RoundingError, exact_array, is_wide
from renyi.data.frames import read_cells
from renyi.data.reader import without_masked
from renyi.data.table import as_table, names_of
from renyi.data.types import Cause, Override, SkipError, pool
from renyi.errors import InputError, check_choice, count, is_integer

TargetKind = Literal["auto", "number", "category"]
Categorical: TypeAlias = Literal["from_dtype"] | Sequence[Any] | None

# A selection multiplies all functions of a column with those of others: 200 levels took ten seconds on 6,000 rows.
_MAX_LEVELS = 100


def is_frame(data: Any, /) -> bool:
    """Whether this is a frame of pandas or Polars, whose columns know their types."""
    import narwhals.stable.v2 as nw

    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame)
    except Exception as error:  # as where columns have the same name
        raise InputError(f"X cannot be read as a table: {error}") from error


def read_features(data: Any, categorical: Categorical, /) -> tuple[list[str], dict[int, Column], dict[str, str]]:
    """The names of all columns, those that can be measured by their place, and why others cannot."""
    there = columns_of_tensor(data)
    if there is not None:
        return _features_there(*there, categorical)
    names = names_of(data, "X")
    types: dict[str, Override] = dict.fromkeys(_categories(categorical, names), "category")
    if is_frame(data) and categorical is None:
        types = _no_categories(data, names)
    columns, skipped = _read(data, types)
    place = {name: j for j, name in enumerate(names)}
    return names, {place[column.name]: column for column in columns}, skipped


def _read(data: Any, types: dict[str, Override]) -> tuple[Sequence[Column], dict[str, str]]:
    """Columns that can be measured, and why others cannot; infinities are refused."""
    table = as_table(data, "X", types=types, max_levels=_MAX_LEVELS)
    for name, reason in table.skipped.items():
        if table.causes[name] is Cause.INFINITE:
            raise InputError(f"X contains infinity: column {name!r} {reason}")
    vectors = {
        column.name: "holds vectors: pass coordinates as columns of their own"
        for column in table.columns
        if column.is_vector
    }
    return [column for column in table.columns if not column.is_vector], table.skipped | vectors


def _features_there(
    numbers: Any, stays: Mask, categorical: Categorical
) -> tuple[list[str], dict[int, Column], dict[str, str]]:
    """Columns of floats on a device (columns, rows): those that can stay there, all others are read in memory."""
    names = [f"x{j}" for j in range(len(numbers))]
    types: dict[str, Override] = dict.fromkeys(_categories(categorical, names), "category")
    stays &= [name not in types for name in names]
    columns = {j: Column(names[j], "number", numbers[j]) for j in np.flatnonzero(stays).tolist()}
    others = {names[j]: in_memory(numbers[j]) for j in np.flatnonzero(~stays).tolist()}
    if not others:
        return names, columns, {}
    read, skipped = _read(others, types)
    place = {name: j for j, name in enumerate(names)}
    columns |= {place[column.name]: column for column in read}
    return names, dict(sorted(columns.items())), skipped


def _categories(categorical: Categorical, names: list[str]) -> list[str]:
    """Names of the columns that are declared categories by name, place or mask."""
    if categorical is None or isinstance(categorical, str):
        if categorical not in (None, "from_dtype"):
            raise InputError(
                f"categorical_features={categorical!r} is unknown: pass 'from_dtype', None, or names, places or a mask"
            )
        return []
    wanted = np.asarray(categorical)
    if wanted.ndim != 1:
        raise InputError(
            f"categorical_features has the shape {wanted.shape}: pass a flat list of names, places or a mask"
        )
    if wanted.dtype == bool:
        if len(wanted) != len(names):
            raise InputError(
                f"categorical_features is a mask of {len(wanted):,} for {count(len(names), 'column')}: pass as many"
            )
        return [name for name, is_one in zip(names, wanted, strict=True) if is_one]
    found = []
    for one in categorical:
        if isinstance(one, str):
            if one not in names:
                raise InputError(f"categorical_features has {one!r}, which is not a column of X: it has {names[:20]}")
            found.append(one)
        elif not is_integer(one) or not -len(names) <= one < len(names):
            raise InputError(f"categorical_features has {one!r}, and X has {count(len(names), 'column')}: pass a place")
        else:
            found.append(names[one])
    return found


def _no_categories(data: Any, names: list[str]) -> dict[str, Override]:
    """Categories by type are left out where none are wanted."""
    kinds = as_table(data, "X").types
    return {name: "skip" for name in names if kinds.get(name) == "category"}


def with_labels(y: Any, /) -> Any:
    """A target of a categorical type as text, since its labels may be numbers, and whole numbers of 128 bits as such.

    Any other is left as it is.
    """
    import narwhals.stable.v2 as nw

    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, (nw.Int128, nw.UInt128)):
        try:
            cells, missing, _ = read_cells(series)
        except RoundingError as error:
            raise InputError(f"y {error}") from error
        return cells if missing is None else np.where(missing, np.nan, cells)
    if not isinstance(series, nw.Series) or not isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        return y
    return y if series.is_null().any() else np.array([str(label) for label in series.to_list()])


def read_target(y: NDArray[Any], kind: TargetKind, /) -> Column:
    """The target: labels are a category, several numbers a vector.

    Labels of several outputs are one category of all their combinations. Rare classes are pooled, as in `renyi.matrix`.
    """
    check_choice(kind, TargetKind, "target_type")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    is_text = y.dtype.kind in "OUSTb"
    if is_text and kind == "number":
        try:
            y, is_text = _spelled(y), False
        except RoundingError as error:
            raise InputError(f"y {error}") from error
        except OverflowError as error:
            raise InputError(f"y {TOO_LARGE}") from error
        except (TypeError, ValueError) as error:
            raise InputError(
                "target_type='number' and y holds labels: pass numbers, or target_type='category'"
            ) from error
    if not is_text and kind != "category":
        if y.dtype.kind not in "iufMm":
            raise InputError(f"y has the type {y.dtype}, which has no order: pass numbers, or labels as text")
        with np.errstate(over="ignore"):
            values = np.asarray(y, dtype=np.float64)
        if not np.isfinite(values).all():
            raise InputError("y has missing values, or numbers beyond the range of 64-bit floats: drop or rescale it")
        if y.dtype.kind in "iu" and is_wide(values):
            values = y
        varies = (values != values[:1]).any(axis=0)
        if not varies.any():
            raise InputError(
                f"y is constant (always {values.ravel()[0]:g}): nothing can depend on it, pass one that varies"
            )
        values = values[:, varies] if values.ndim == 2 else values
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        return Column("y", "number" if values.ndim == 1 else "vector", values)
    return _classes(y)


def _spelled(y: NDArray[Any]) -> NDArray[Any]:
    """The numbers that labels are or spell; large whole ones and Decimals keep their digits, or are refused."""
    if y.dtype.kind == "O":
        y = np.array(without_masked(y.tolist()), dtype=object)
    with np.errstate(over="ignore"):  # infinite ones are refused as such
        numbers = y.astype(np.float64)
    if y.dtype.kind != "O" or not is_wide(numbers):
        return numbers
    return exact_array([float(label) if isinstance(label, str) else label for label in y.flat])[0].reshape(y.shape)


def _classes(y: NDArray[Any]) -> Column:
    labels = [str(label) for label in y] if y.ndim == 1 else [str(tuple(row)) for row in y.tolist()]
    rows = Counter(labels)
    if len(rows) == 1:
        raise InputError(f"y has one class, {labels[0]!r}: nothing can depend on it, pass at least 2")
    if max(rows.values()) == 1:
        raise InputError(
            f"y has one row in each of its {len(rows):,} classes, which shows nothing: merge classes, or pass "
            "target_type='number' if they are numbers"
        )
    levels = {label: code for code, label in enumerate(sorted(rows))}
    column = Column("y", "category", np.array([levels[label] for label in labels], dtype=np.intp), None, tuple(levels))
    try:
        return pool(column, requested=True, max_levels=_MAX_LEVELS)[0]
    except SkipError:  # few rows in every class
        return column
