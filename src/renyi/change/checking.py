"""A table to a `Reference`, and new tables against it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from renyi.change.columns import column_changes
from renyi.change.in_memory import matrix_of, of_pairs, spread
from renyi.change.reading import refusal
from renyi.change.reference import Reference, ReferenceAndRows, Remembered
from renyi.change.result import Comparison
from renyi.change.sums import changed_pairs
from renyi.data.column import Column
from renyi.data.notes import Notes, Source
from renyi.data.table import as_table, checked_types, parts_of
from renyi.data.types import Override, SkipError, convert, read
from renyi.errors import InputError, cut
from renyi.inference.change import FEWEST_ROWS
from renyi.inference.false_discovery import Correction

LABELS = "reference", "new"


def reference_of(data: Any, /, *, types: Mapping[Any, Any] | None, max_levels: int) -> Reference:
    """A table in memory without its rows."""
    table = as_table(data, "the reference", types=types, max_levels=max_levels)
    skipped = table.skipped | {column.name: reason for column in table.columns if (reason := refusal(column))}
    columns = [column for column in table.columns if column.name not in skipped]
    if not columns:
        reasons = "; ".join(f"{cut(name)}: {reason}" for name, reason in list(skipped.items())[:5])
        raise InputError(f"no column of the reference can be compared ({reasons}): say what columns are by types=")
    names = [column.name for column in columns]
    found = matrix_of({column.name: column for column in columns}, "rdc", False)
    strengths = spread(found, names, "strength"), spread(found, names, "spearman")
    typed = [(column, table.types[column.name]) for column in columns]
    return Reference.of(typed, table.n_rows, strengths, skipped, tuple(table.notes.sentences()))


def checked(
    reference: Reference,
    data: Any,
    /,
    *,
    types: Mapping[Any, Any] | None,
    correction: Correction,
    sampled: str = "",
) -> Comparison:
    """What changed between a reference and a table in memory."""
    notes = Notes(data.notes if isinstance(data, Source) else ())
    parts, new_frame = parts_of(data, "the table", notes)
    n_rows = len(next(iter(parts.values()))) if parts else 0
    if n_rows == 0:
        raise InputError("the table has no rows: there is nothing to compare")
    skipped: dict[str, str] = dict(reference.skipped)
    retyped: dict[str, str] = {}
    columns: dict[str, Column] = {}
    which = []
    for k, own in enumerate(reference.columns):
        if own.name not in parts:
            continue
        try:
            columns[own.name] = _like(own, parts[own.name], checked_types(types).get(own.name), notes, retyped)
        except SkipError as error:
            skipped[own.name] = f"in the new table: {error}"
        else:
            which.append(k)
    known = {*(own.name for own in reference.columns), *reference.skipped}
    if not columns and not retyped:
        raise InputError(
            "the table has no column that the reference has: rename columns so that those that mean the same are "
            "called the same"
        )
    kept = reference.kept(which)
    marginals, shapes, rows = (
        zip(*(own.beside(columns[own.name]) for own in kept.columns), strict=True) if which else ((), (), ())
    )
    sums, merged = ReferenceAndRows.of(kept, shapes, rows)
    of_new = matrix_of(columns, "rdc", False) if which else None
    names = tuple(own.name for own in kept.columns)
    strengths = [kept.strength, spread(of_new, names, "strength"), kept.spearman, spread(of_new, names, "spearman")]
    for n, label in zip((reference.n_rows, n_rows), LABELS, strict=True):
        if n < FEWEST_ROWS:
            notes.say(f"dependences are compared from {FEWEST_ROWS} common rows on, and the {label} table has {n:,}")
    return Comparison(
        names=names,
        labels=LABELS,
        n_rows=(reference.n_rows, n_rows),
        of_columns=tuple(column_changes(marginals)),
        of_pairs=of_pairs(changed_pairs(merged, sums), strengths),
        matrices=(None, of_new),
        types=MappingProxyType({own.name: own.type for own in kept.columns}),
        skipped=MappingProxyType(skipped),
        retyped=MappingProxyType(retyped),
        only_before=tuple(own.name for own in reference.columns if own.name not in parts),
        only_after=tuple(name for name in parts if name not in known),
        notes=notes.sentences(),
        correction=correction,
        new_frame=new_frame,
        sampled=sampled,
    )


def _like(own: Remembered, cells: Any, override: Override | None, notes: Notes, retyped: dict[str, str]) -> Column:
    """A column of a new table, read as that of the reference."""
    column, kind = convert(*read(cells, own.name, override), override, notes)
    if column.is_number and (reason := refusal(column)):
        raise SkipError(reason)
    if not len(column.known):
        values = np.zeros(len(column), dtype=own.dtype or np.intp)
        return Column(own.name, own.kind, values, missing=np.ones(len(column), dtype=bool), levels=own.levels)
    if (column.kind, kind) != (own.kind, own.type) or (column.is_number and column.levels != own.levels):
        retyped[own.name] = f"{own.type} in the reference, {kind} in the new table"
        raise SkipError(f"{own.name} is {retyped[own.name]}")
    return column
