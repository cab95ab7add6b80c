"""Columns and frames of other libraries, as narwhals shows them: their cells and categories as arrays."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Mask
from renyi.data.exact import exact_array, is_wide
from renyi.data.labels import Encoded, encode, encode_series
from renyi.errors import InputError

# Days of a duration of Python at most.
_MOST_DAYS = datetime.timedelta.max.days


def as_series(data: Any, /) -> Any:
    """Arrays and batches of Arrow and arrays of pandas as what narwhals knows of these libraries; all else as it is."""
    import narwhals.stable.v2 as nw

    arrow, pandas = nw.dependencies.get_pyarrow(), nw.dependencies.get_pandas()
    if arrow is not None and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.table(data)
    if arrow is not None and isinstance(data, arrow.ChunkedArray):
        return _plain(data)
    if arrow is not None and isinstance(data, arrow.Table):
        for place, column in enumerate(data.columns):
            if column is not (plain := _plain(column)):
                data = data.set_column(place, data.schema.field(place).name, plain)
        return data
    if pandas is not None and isinstance(data, (pandas.api.extensions.ExtensionArray, pandas.Index)):
        # An index of several levels becomes one of tuples, of which alone pandas makes a column.
        data = pandas.Series(data.to_flat_index() if isinstance(data, pandas.MultiIndex) else data)
    if pandas is not None and isinstance(data, (pandas.Series, pandas.DataFrame)):
        return _dense(pandas, data)
    return data


def _dense(pandas: Any, data: Any) -> Any:
    """Columns of pandas with sparse cells as plain ones: pandas takes rows out of sparse objects with a warning."""
    if isinstance(data, pandas.Series):
        return data.sparse.to_dense() if isinstance(data.dtype, pandas.SparseDtype) else data
    if not any(isinstance(dtype, pandas.SparseDtype) for dtype in data.dtypes):
        return data
    return pandas.concat([_dense(pandas, data.iloc[:, place]) for place in range(data.shape[1])], axis=1)


def _plain(column: Any) -> Any:
    """A column of Arrow whose cells lie one after the other, not as views or runs, which few of its functions take."""
    if str(column.type).startswith("run_end_encoded"):
        import pyarrow.compute

        column = pyarrow.compute.run_end_decode(column)
    return column.cast("large_string") if str(column.type) == "string_view" else column


def as_narwhals(data: Any, argument: str) -> Any:
    """A narwhals Series or DataFrame, or None if `data` belongs to no frame library."""
    import narwhals.stable.v2 as nw

    try:
        wrapped = nw.from_native(as_series(data), allow_series=True, pass_through=True)
    except Exception as error:
        raise InputError(f"{argument} cannot be read as a table: {error}") from error
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(f"{argument} is lazy and a pair needs values: call .collect() first")
    return wrapped if isinstance(wrapped, (nw.Series, nw.DataFrame)) else None


def with_gaps(observed: NDArray[Any], missing: Mask) -> NDArray[Any]:
    """The observed values, which keep their type, with zeros in the places where there are none."""
    values = np.zeros((len(missing), *observed.shape[1:]), dtype=observed.dtype)
    values[~missing] = observed
    return values


def read_cells(series: Any, /) -> tuple[NDArray[Any], Mask | None, bool]:
    """The cells of a narwhals Series as an array that keeps their type, where it only holds their place, and rounding.

    Decimals and integers of 128 bits are floats, or of 64 bits where floats would round them; times of the day are
    nanoseconds since midnight; NaN speaks for itself.
    """
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_decimal() or isinstance(dtype, (nw.Int128, nw.UInt128)):
        floats = series.cast(nw.Float64)
        if is_wide(floats.to_numpy(), getattr(dtype, "scale", None) if dtype.is_decimal() else 0):
            # Some Decimals, or integers of 128 bits, are long.
            values, is_rounded = exact_array(series.filter(~series.is_null()).to_list())
            return *_spread(series, values), is_rounded
        series, dtype = floats, nw.Float64()
    elif isinstance(dtype, nw.Time):
        series = _nanoseconds(series)
    elif isinstance(dtype, nw.Unknown) and str(getattr(series.to_native(), "dtype", "")).startswith("period"):
        return *_spread(series, period_starts(series.filter(~series.is_null()).to_list())), False
    if dtype.is_float():
        array = series.to_numpy()
        if array.dtype.kind == "f":
            return array, None, False
    missing = np.array(series.is_null().to_numpy())
    if not missing.any():
        return series.to_numpy(), None, False
    if missing.all():
        return np.zeros(len(missing)), missing, False
    return with_gaps(series.filter(~series.is_null()).to_numpy(), missing), missing, False


def period_starts(periods: Sequence[Any], /) -> NDArray[Any]:
    """When periods of pandas begin."""
    return np.array([period.start_time.to_datetime64() for period in periods], dtype="M8[us]")


def has_python_dates(series: Any, /) -> bool:
    """Whether the dates and durations of a narwhals Series are of Python's years, beyond which Polars panics."""
    cells = series.to_numpy() if series.dtype.is_temporal() else np.empty(0)
    if cells.dtype.kind not in "Mm":
        return True
    known = cells[~np.isnat(cells)]
    if cells.dtype.kind == "m":
        return bool((np.abs(known.astype("m8[D]").astype(np.int64)) < _MOST_DAYS).all())
    years = known.astype("M8[Y]").astype(np.int64) + 1970
    return bool(((years >= datetime.MINYEAR) & (years <= datetime.MAXYEAR)).all())


def _spread(series: Any, observed: NDArray[Any]) -> tuple[NDArray[Any], Mask | None]:
    """The observed values of a Series in their places, and where there are none."""
    missing = np.array(series.is_null().to_numpy())
    return (with_gaps(observed, missing), missing) if missing.any() else (observed, None)


def _nanoseconds(series: Any) -> Any:
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if nw.dependencies.is_pandas_like_series(native):
        # Only Arrow has times in pandas, and narwhals leaves them in the unit they have.
        series = nw.from_native(native.astype("time64[ns][pyarrow]"), series_only=True)
    return series.cast(nw.Time).cast(nw.Int64)


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
