"""Columns over the same rows: pairs, and what is held fixed beside them."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from renyi.compute.arrays import Index, Mask
from renyi.data.categories import encode_labels
from renyi.data.column import Column, labels_of
from renyi.data.named_arrays import row_labels
from renyi.data.reader import as_column, as_columns
from renyi.errors import InputError, check_choice, count

Missing = Literal["raise", "pairwise", "listwise"]


def as_pair(x: Any, y: Any, /, *, missing: Missing) -> tuple[Column, Column]:
    """Two columns over the same rows, checked; with "raise" and "listwise" they come back complete."""
    check_choice(missing, Missing, "missing")
    check_indexes(x, y)
    a, b = as_column(x, "x"), as_column(y, "y")
    if len(a) != len(b):
        raise InputError(
            f"{a.label} has {len(a):,} rows and {b.label} has {len(b):,}: pass as many values of one as of the other"
        )
    if len(a) < 2:
        raise InputError(f"{labels_of([a, b])} have 1 row, and one point shows no dependence: pass at least 2 rows")
    if missing == "raise":
        _refuse_missing(a)
        _refuse_missing(b)
    rows = checked_rows(a, b)
    for column in (a, b):
        _refuse_constant(column.complete(), "")
    if rows is not None and missing == "listwise":
        a, b = _on_rows((a, b), rows)
    return a, b


def common_rows(*columns: Column) -> Mask | None:
    """Rows where nothing is missing, or None for all of them."""
    masks = [column.missing for column in columns if column.missing is not None]
    return ~np.logical_or.reduce(masks) if masks else None


def checked_rows(*columns: Column) -> Mask | None:
    """The same, if there are two of them at least."""
    rows = common_rows(*columns)
    if rows is not None and (n := int(np.count_nonzero(rows))) < 2:
        raise InputError(f"{labels_of(columns)} have {count(n, 'row')} in common: pass at least 2")
    return rows


def _on_rows(pair: tuple[Column, Column], rows: Mask) -> tuple[Column, Column]:
    """Two columns on rows where nothing is missing, if they vary there."""
    a, b = (column.take(rows).complete() for column in pair)
    for column in (a, b):
        _refuse_constant(column, " on the rows where nothing is missing")
    return a, b


def as_groups(groups: Any, x: Any, y: Any, /) -> tuple[Index, Mask | None]:
    """Codes of the groups of all rows, and the rows that x and y both have (None: all)."""
    check_indexes(x, y, groups)
    pair = as_pair(x, y, missing="pairwise")
    return group_codes(groups, len(pair[0])), common_rows(*pair)


def group_codes(groups: Any, n_rows: int, /) -> Index:
    """Codes of labels of all rows, each of which has one."""
    (codes, missing, _), _ = encode_labels(groups)
    if len(codes) != n_rows:
        raise InputError(f"groups has {len(codes):,} labels for {n_rows:,} rows: pass one for each")
    if missing.any():
        raise InputError(f"groups has no label for row {np.argmax(missing):,}: every row needs one")
    return codes


def check_indexes(*data: Any) -> None:
    """Refuse columns and tables, dicts of columns among them, that have as many rows and different indexes."""
    parts = [part for whole in data for part in (whole.values() if isinstance(whole, Mapping) else (whole,))]
    # Only frames of the pandas family have an index with `equals`; lists have a method of the same name.
    indexes = [index for index in map(row_labels, parts) if hasattr(index, "equals")]
    if any(len(index) == len(indexes[0]) and not index.equals(indexes[0]) for index in indexes[1:]):
        raise InputError(
            "the data have different indexes, and aligning them silently could pair the wrong rows: "
            "align them first, or pass arrays (.to_numpy())"
        )


def unequal_rows(n_rows: int, of_other: int, called: str = "other", /) -> InputError:
    """For two tables that do not have the same rows."""
    return InputError(f"the table has {n_rows:,} rows and {called} has {of_other:,}: pass as many")


def as_conditional(x: Any, y: Any, z: Any, /, *, missing: Missing) -> tuple[tuple[Column, Column], list[Column], Index]:
    """Two columns and those that are held fixed, complete and over the same rows, checked, and which rows these are."""
    pair, given = with_given(x, y, z, missing=missing)
    rows = checked_rows(*pair, *given)
    if rows is None:
        return pair, given, np.arange(len(pair[0]))
    return _on_rows(pair, rows), [column.take(rows).complete() for column in given], np.flatnonzero(rows)


def with_given(x: Any, y: Any, z: Any, /, *, missing: Missing) -> tuple[tuple[Column, Column], list[Column]]:
    """The same on all rows, whatever is missing, if that is not to be refused."""
    check_choice(missing, Missing, "missing")
    if missing == "pairwise":
        raise InputError("missing='pairwise' has no meaning given z: pass 'raise' or 'listwise'")
    check_indexes(x, y, z, *(z if isinstance(z, (list, tuple)) else ()))
    pair, given = as_pair(x, y, missing="pairwise"), as_columns(z, "z")
    if not given:
        raise InputError("z has no columns: pass at least one, or use renyi.independence_test")
    for column in given:
        if len(column) != len(pair[0]):
            hint = " (a list of lists is read as rows: pass arrays or a dict)" if isinstance(z, (list, tuple)) else ""
            raise InputError(
                f"{column.label} has {len(column):,} rows and {pair[0].label} has {len(pair[0]):,}: pass as many{hint}"
            )
    if missing == "raise":
        for column in (*pair, *given):
            _refuse_missing(column, "missing='listwise'")
    return pair, given


def _refuse_missing(column: Column, remedy: str = "missing='pairwise' or missing='listwise'") -> None:
    if column.missing is None:
        return
    rows = np.flatnonzero(column.missing)
    raise InputError(
        f"{column.label} has {count(len(rows), 'missing value')} (first in row {rows[0]:,}) and missing='raise': "
        f"drop them, or pass {remedy}"
    )


def _refuse_constant(column: Column, where: str) -> None:
    if (column.values == column.values[0]).all():
        raise InputError(
            f"{column.label} is constant{where}, and dependence on a constant is not defined: leave it out "
            "(for whole tables renyi.matrix does that and says so)"
        )
