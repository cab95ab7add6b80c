"""A list of dicts, one for each row, to columns."""

from collections.abc import Mapping, Sequence
from typing import Any


def are_records(data: Any, /) -> bool:
    """Whether these are rows, as a list of dicts of values is; dicts of columns alone are batches."""
    if not isinstance(data, (list, tuple)) or not data or not all(isinstance(row, Mapping) for row in data):
        return False
    are_columns = {_is_column(cell) for row in data for cell in row.values()}
    # Rows may have lists in some of their cells; a single dict of both is a batch that lacks a column.
    return True not in are_columns or (False in are_columns and len(data) > 1)


def _is_column(cell: Any) -> bool:
    return hasattr(cell, "__len__") and not isinstance(cell, (str, bytes, Mapping))


def by_column(rows: Sequence[Mapping[Any, Any]], /) -> dict[Any, list[Any]]:
    """Columns in the order in which their names come, None where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
