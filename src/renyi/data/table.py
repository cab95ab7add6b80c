"""A table of any kind to typed columns, every decision visible, and results back into the same kind of frame."""

import difflib
import sys
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import namespace
from renyi.data.align import Missing, check_indexes, common_rows
from renyi.data.column import Column
from renyi.data.exact import is_rounded_by_floats, is_wide
from renyi.data.frames import as_narwhals, as_series
from renyi.data.named_arrays import plain_table
from renyi.data.names import as_names, with_names_once
from renyi.data.notes import Notes, Source
from renyi.data.reader import as_array, without_masked
from renyi.data.records import are_records, by_column
from renyi.data.sentinels import tell_sentinels
from renyi.data.types import (
    MAX_LEVELS,
    Cause,
    Ordered,
    Override,
    SkipError,
    Stated,
    as_vector,
    check_max_levels,
    check_varies,
    convert,
    pool,
    read,
)
from renyi.errors import InputError, are_several, brief, check_choice, count

_PASS = "pass a frame of pandas, Polars or Arrow, a dict of columns, or a 2-D array"
_ROWS_AT_ONCE = 1024
# What arrays and dicts come back as, whichever is there.
_LIBRARIES = ("pandas", "polars")


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a table that can be measured, in its order, and what was decided about each.

    `types` has the type of every kept column, `skipped` the reason for every other one, which `causes` name for
    programs, `pooled` the number of levels that were merged into one in a category, if any. `new_frame` turns named
    columns into the kind of frame that came in; for dicts and arrays that is one of pandas or Polars. `notes` say what
    reading had to decide.
    """

    columns: tuple[Column, ...]
    types: dict[str, str]
    skipped: dict[str, str]
    pooled: dict[str, int]
    n_rows: int
    new_frame: Callable[[dict[str, Any]], Any]
    notes: Notes = field(default_factory=Notes)
    max_levels: int = MAX_LEVELS
    causes: dict[str, Cause] = field(default_factory=dict)

    def keep(self, column: Column, kind: str, /, *, requested: bool) -> Column:
        """A column that varies, its rare levels pooled, as one more of the table."""
        check_varies(column)
        if kind == "category":
            column, n_pooled = pool(column, requested=requested, max_levels=self.max_levels)
            if n_pooled:
                self.pooled[column.name] = self.pooled.get(column.name, 0) + n_pooled
        self.types[column.name] = kind
        return column


def as_table(
    data: Any,
    argument: str = "the table",
    /,
    *,
    types: Mapping[Any, Any] | None = None,
    vectors: Mapping[Any, Sequence[Any]] | None = None,
    max_levels: int = MAX_LEVELS,
) -> Table:
    """Typed columns from a frame, a dict of columns or a 2-D array, whose columns are called x0, x1, …, as `argument`.

    Numbers, dates, times and durations are numbers; text, booleans and categories are categories, with rare levels
    pooled; ordered categories are ranks. Text that spells dates, or numbers but for a few words, is read as these. What
    cannot be measured is left out, with its reason. `types` and `vectors` say what the rules would not see, as in
    `renyi.matrix`: a vector takes the place of the first of its columns, and a row that lacks one of them is missing.
    """
    notes = Notes(data.notes if isinstance(data, Source) else ())
    parts, new_frame = _parts(data, argument, notes)
    n_rows = _length(parts, argument)
    if n_rows < 2:
        raise too_few_rows(n_rows, argument)
    overrides, groups = checked_overrides(types, vectors, parts, argument)
    vector_at = {next(name for name in parts if name in group): vector for vector, group in groups.items()}
    within = {name for group in groups.values() for name in group}
    table = Table((), {}, {}, {}, n_rows, new_frame, notes, check_max_levels(max_levels))
    kept = []
    for part, cells in parts.items():
        if part in within and part not in vector_at:
            continue
        name, override = vector_at.get(part, part), overrides.get(part)
        try:
            if part in vector_at:
                members = {member: parts[member] for member in groups[name]}
                column, kind = as_vector(name, members, overrides, notes)
            else:
                column, kind = convert(*read(cells, name, override), override, notes)
            kept.append(table.keep(column, kind, requested=override is not None))
        except SkipError as error:
            table.skipped[name], table.causes[name] = str(error), error.cause
        else:
            if kind == "number" and override is None:
                tell_sentinels(column, notes)
    return replace(table, columns=tuple(kept))


def observed(table: Table, /, *, missing: Missing) -> Table:
    """The table without missing cells ("listwise"), refused if it has some ("raise"), or as it is ("pairwise")."""
    check_choice(missing, Missing, "missing")
    rows = common_rows(*table.columns)
    if rows is None or missing == "pairwise":
        return table
    if missing == "raise":
        holes = [
            (column.name, int(column.missing.sum()), int(column.missing.argmax()))
            for column in table.columns
            if column.missing is not None
        ]
        refuse_missing(holes, "missing='pairwise' or missing='listwise'")
    n_rows = int(np.count_nonzero(rows))
    if n_rows < 2:
        worst = max(table.columns, key=lambda column: 0 if column.missing is None else column.missing.sum())
        raise InputError(
            f"{count(n_rows, 'row')} of {table.n_rows:,} have no missing cell ({worst.name!r} lacks most), and "
            "missing='listwise' uses only those: leave such columns out, or pass missing='pairwise'"
        )
    left = replace(table, types={}, skipped=dict(table.skipped), pooled=dict(table.pooled), n_rows=n_rows)
    kept = []
    for column in table.columns:
        try:
            kept.append(left.keep(column.take(rows).complete(), table.types[column.name], requested=True))
        except SkipError as error:
            left.skipped[column.name] = f"{error} on the {n_rows:,} rows where nothing is missing"
    return replace(left, columns=tuple(kept))


def refuse_missing(holes: Sequence[tuple[str, int, int | None]], remedy: str, /) -> None:
    """Refuse columns, each with how many cells it lacks, and the first row that lacks one, where that is known."""
    first = [f"{name!r} ({n:,}{'' if row is None else f', first in row {row:,}'})" for name, n, row in holes[:3]]
    more = f" and {len(holes) - 3:,} more" if len(holes) > 3 else ""
    raise InputError(
        f"{count(len(holes), 'column')} with missing cells: {', '.join(first)}{more}, and missing='raise': drop them, "
        f"or pass {remedy}"
    )


def too_few_columns(
    table: Table,
    at_least: int,
    /,
    *,
    remedy: str = "pass more columns, or say what they are by types={name: 'category'}",
) -> InputError:
    """For a table that has too few columns to compare, with why others were left out."""
    reasons = "; ".join(f"{name!r}: {reason}" for name, reason in list(table.skipped.items())[:5])
    left = f" ({count(len(table.skipped), 'column')} left out: {reasons})" if reasons else ""
    return InputError(
        f"the table has {count(len(table.columns), 'column')} to compare and needs {at_least}{left}: {remedy}"
    )


def too_few_rows(n_rows: int, argument: str = "the table", /) -> InputError:
    """For a table of fewer than two rows."""
    return InputError(f"{argument} has {count(n_rows, 'row')}, which show no dependence: pass at least 2")


def parts_of(
    data: Any, argument: str = "the table", notes: Notes | None = None, /
) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]:
    """The columns of a table as they are, checked for their lengths, and what makes a frame of its kind."""
    parts, new_frame = _parts(data, argument, Notes() if notes is None else notes)
    _length(parts, argument)
    return parts, new_frame


def names_of(data: Any, argument: str = "the table", notes: Notes | None = None, /) -> list[str]:
    """Names of all columns of a table."""
    data = plain_table(data, argument)
    # Nothing is read for it, nor fetched from a device.
    if isinstance(data, Mapping):
        data = dict.fromkeys(data, np.empty(0))
    elif (isinstance(data, np.ndarray) or namespace(data) is not np) and data.ndim == 2:
        data = np.empty((0, data.shape[1]))
    return list(_parts(data, argument, Notes() if notes is None else notes)[0])


# The parts of a table: named arrays, columns, or Series of narwhals.


def _parts(data: Any, argument: str, notes: Notes) -> tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]:
    data = plain_table(data, argument)
    if namespace(data) is not np:
        data = as_array(data, argument)
    if isinstance(data, np.ndarray):
        return _array_parts(data, argument, notes), any_frame
    if isinstance(data, (list, tuple)) and are_records(data):
        data = by_column(data)
    if isinstance(data, Mapping):
        check_indexes(data)
        names = as_names(data, notes)
        return {name: _one_column(cells, name) for name, cells in zip(names, data.values(), strict=True)}, any_frame
    frame = _as_frame(data.frame if isinstance(data, Source) else data, argument, notes)
    return dict(zip(as_names(frame.columns, notes), _frame_columns(frame), strict=True)), NewFrame(
        frame.implementation.value
    )


def _frame_columns(frame: Any) -> list[Any]:
    """The Series of a frame; for plain numbers of pandas their arrays, all of one type at once, since that is fast."""
    import narwhals.stable.v2 as nw

    native = frame.to_native()
    if not nw.dependencies.is_pandas_dataframe(native):
        return list(frame.iter_columns())
    columns: list[Any] = [None] * len(frame.columns)
    places: dict[Any, list[int]] = {}
    for place, dtype in enumerate(native.dtypes):
        places.setdefault(dtype if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else None, []).append(place)
    for dtype, group in places.items():
        block = native if len(group) == len(columns) else native.iloc[:, group]
        found = nw.from_native(block).iter_columns() if dtype is None else _rows_of_transpose(block.to_numpy())
        for place, column in zip(group, found, strict=True):
            columns[place] = column
    return columns


def _as_frame(data: Any, argument: str, notes: Notes) -> Any:
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(with_names_once(as_series(data), notes), allow_series=True, pass_through=True)
    except Exception as error:
        raise InputError(f"{argument} cannot be read ({error}): {_PASS}") from error
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"{argument} is lazy, and dependence needs its values: call .collect() first")
    if isinstance(frame, nw.Series):
        raise InputError(f"{argument} is a single column ({type(data).__name__}): {_PASS}")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"{argument} is a {type(data).__name__}, which is not a table: {_PASS}")
    return frame


@dataclass(frozen=True)
class NewFrame:
    """Named columns to a frame of a library."""

    library: str

    def __call__(self, columns: dict[str, Any], /) -> Any:
        import narwhals.stable.v2 as nw

        return nw.from_dict(columns, backend=self.library).to_native()  # type: ignore[arg-type]


def any_frame(columns: dict[str, Any], /) -> Any:
    """Named columns as a frame of pandas, or else of Polars, whichever is loaded or else installed; else as arrays."""
    library = next((name for is_there in (_is_loaded, find_spec) for name in _LIBRARIES if is_there(name)), None)
    if library is None:
        return {name: np.asarray(values) for name, values in columns.items()}
    return NewFrame(library)(columns)


def _is_loaded(name: str) -> bool:
    return name in sys.modules


def _array_parts(data: NDArray[Any], argument: str, notes: Notes) -> dict[str, Any]:
    if data.dtype.names is not None and data.ndim == 1:
        names = as_names(data.dtype.names, notes)
        return {name: data[spelled] for name, spelled in zip(names, data.dtype.names, strict=True)}
    if data.ndim != 2:
        raise InputError(f"{argument} is an array of the shape {data.shape}, and a table has rows and columns: {_PASS}")
    names = [f"x{j}" for j in range(data.shape[1])]
    if isinstance(data, np.ma.MaskedArray) or data.dtype.kind not in "iuf":
        return {name: data[:, j] for j, name in enumerate(names)}
    return dict(zip(names, _rows_of_transpose(np.asarray(data)), strict=True))


def _rows_of_transpose(data: NDArray[Any]) -> NDArray[Any]:
    """The columns as rows of their own memory: what results look at later is not the caller's to change."""
    # One transposition is much faster than a strided copy for each column, and rows that fit into a cache thrice again.
    rows = np.empty(data.shape[::-1], dtype=data.dtype)
    for start in range(0, len(data), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        rows[:, some] = data[some].T
    return rows


def _one_column(data: Any, name: str) -> Any:
    """An entry of a dict as an array, a Column or a Series; what can be none of them is left as it is."""
    import narwhals.stable.v2 as nw

    if isinstance(data, (list, tuple, range)):
        return _list_array(data)
    wrapped = as_narwhals(data, repr(name))
    if isinstance(wrapped, nw.Series):
        return wrapped
    if isinstance(data, np.ma.MaskedArray):
        return data.copy()
    is_array = (hasattr(data, "__array__") and not isinstance(data, type)) or isinstance(data, memoryview)
    return as_array(data, repr(name)).copy() if is_array else data


def _list_array(data: Sequence[Any]) -> NDArray[Any]:
    data = without_masked(data)
    try:
        array = np.asarray(data)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    is_plain = array.shape == (len(data),) and array.dtype.kind in "iufb"
    if is_plain and not (array.dtype.kind == "f" and is_wide(array) and any(map(is_rounded_by_floats, data))):
        return array
    # As objects, since NumPy would turn the 1 of [1, "a"] into text, and round large whole numbers beside floats.
    objects = np.empty(len(data), dtype=object)
    objects[:] = data
    return objects


# What the user asks for.


def _length(parts: dict[str, Any], argument: str) -> int:
    """The number of rows, the same for all parts."""
    if not parts:
        raise InputError(f"{argument} has no columns: there is nothing to measure")
    lengths = {}
    for name, cells in parts.items():
        if not _is_column(cells):
            raise InputError(f"{name!r} in {argument} is a {type(cells).__name__}: pass a value for each row")
        lengths[name] = len(cells)
    (first, n_rows), *others = lengths.items()
    for name, length in others:
        if length != n_rows:
            raise InputError(
                f"{first!r} has {count(n_rows, 'row')} and {name!r} has {length:,}: pass as many values for each column"
            )
    return n_rows


def _is_column(cells: Any) -> bool:
    import narwhals.stable.v2 as nw

    return bool(cells.shape) if isinstance(cells, np.ndarray) else isinstance(cells, (Column, nw.Series))


def checked_types(types: Any, /) -> dict[str, Override]:
    """What is asked of columns, by their names as text, whether or not a table has them."""
    if types is not None and not isinstance(types, Mapping):
        raise InputError(f"types={brief(types)} is not a mapping: pass a dict, such as {{'zip': 'category'}}")
    overrides = {str(name): override for name, override in (types or {}).items()}
    return {name: _checked_type(name, override) for name, override in overrides.items()}


def _checked_type(name: str, override: Any) -> Override:
    """What a column is said to be: a type, or its labels in order."""
    if isinstance(override, Ordered):
        override = override.labels
    if isinstance(override, (list, tuple)):
        if not all(isinstance(label, Hashable) for label in override) or len(set(override)) < max(2, len(override)):
            raise InputError(
                f"types[{name!r}] must be at least 2 different labels, the lowest first, got {brief(override)}"
            )
        return tuple(override)
    check_choice(override, Stated, f"types[{name!r}]")
    return cast(Stated, override)


def named_vectors(vectors: Any, /) -> dict[str, list[str]]:
    """Columns that are to be one vector each, by its name, whether or not a table has them."""
    if vectors is not None and not isinstance(vectors, Mapping):
        raise InputError(
            f"vectors={brief(vectors)} is not a mapping: pass a dict, such as {{'location': ['lat', 'lon']}}"
        )
    groups: dict[str, list[str]] = {}
    for vector, members in (vectors or {}).items():
        if not are_several(members):
            raise InputError(f"vectors[{brief(vector)}] is {brief(members)}: pass a list of at least 2 column names")
        groups[str(vector)] = [str(member) for member in members]
        if len(groups[str(vector)]) < 2:
            raise InputError(
                f"vectors[{brief(vector)}] has {count(len(groups[str(vector)]), 'column')}: pass at least 2"
            )
    return groups


def checked_vectors(vectors: Any, parts: Collection[str], argument: str, /) -> dict[str, list[str]]:
    """Columns that are to be one vector each, by its name; each is part of one."""
    groups = named_vectors(vectors)
    taken: dict[str, str] = {}
    for vector, members in groups.items():
        for member in members:
            check_known(member, parts, argument, f"vectors[{vector!r}]")
            if member in taken:
                where = "twice" if taken[member] == vector else f"in {taken[member]!r} as well"
                raise InputError(f"vectors[{vector!r}] has {member!r} {where}: a column is part of one vector, once")
            taken[member] = vector
    for vector in groups:
        if vector in parts and vector not in taken:
            raise InputError(f"vectors has {vector!r}, and {argument} has such a column already: choose another name")
    return groups


def checked_overrides(
    types: Any, vectors: Any, names: Collection[str], argument: str = "the tables", /
) -> tuple[dict[str, Override], dict[str, list[str]]]:
    """What is asked of columns of these names, their names as text."""
    overrides, groups = checked_types(types), checked_vectors(vectors, names, argument)
    # The types of a result have its vectors as well.
    overrides = {name: kind for name, kind in overrides.items() if not (kind == "vector" and name in groups)}
    for name in overrides:
        check_known(name, names, argument, "types")
    return overrides, groups


def check_known(name: str, parts: Collection[str], argument: str, where: str, /) -> None:
    """Refuse a name that no column has, with those that come close."""
    if name in parts:
        return
    folded: dict[str, list[str]] = {}
    for known in parts:
        folded.setdefault(known.casefold(), []).append(known)
    close = [known for fold in difflib.get_close_matches(name.casefold(), folded, n=3) for known in folded[fold]]
    if close:
        hint = f"did you mean {' or '.join(map(brief, close[:3]))}?"
    else:
        more = f" and {len(parts) - 20:,} more" if len(parts) > 20 else ""
        hint = f"it has {', '.join(map(brief, list(parts)[:20]))}{more}"
    raise InputError(f"{where} names {brief(name)}, which is not a column of {argument}: {hint}")
