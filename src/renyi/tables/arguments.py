"""What is asked of a table, checked: the measure, two tables side by side, targets by their names."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias, TypeVar

from renyi.allpairs.row_sample import check_sample
from renyi.coefficients.base import Measure
from renyi.data.align import Missing, check_indexes, unequal_rows
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.table import Table, as_table, check_known, checked_overrides, names_of, too_few_columns
from renyi.data.types import Override, check_max_levels
from renyi.errors import InputError, are_several, check_choice, must_be
from renyi.inference.false_discovery import Correction
from renyi.tables.accumulator import measure_of
from renyi.tables.dependent_rows import Design
from renyi.tables.roles import check_partners, within_vector

Types: TypeAlias = Mapping[Any, Override | str | Sequence[Any]] | None
Vectors: TypeAlias = Mapping[str, Sequence[str]] | None


class _Rows(Protocol):
    """A table, wherever its rows are."""

    @property
    def n_rows(self) -> int: ...


Side = TypeVar("Side", bound=_Rows)


@dataclass(frozen=True)
class Question:
    """What is asked of a table, whatever door it comes by; checked."""

    measure: str | Measure[Any]
    missing: Missing
    types: Types
    vectors: Vectors
    max_levels: int
    correction: Correction
    memory: str | int
    sample: int
    progress: bool
    design: Design

    def __post_init__(self) -> None:
        check_choice(self.correction, Correction, "correction")
        check_choice(self.missing, Missing, "missing")
        measure_of(self.measure)
        check_max_levels(self.max_levels)
        check_sample(self.sample)
        self.design.check(self.by, self.missing)

    @property
    def looks_at_order(self) -> bool:
        """Whether to look if columns resemble their own previous rows, which p-values would suffer from."""
        return self.design.order is not None and not self.design and self.by.has_null

    @cached_property
    def by(self) -> Measure[Any]:
        """The measure that is meant."""
        return measure_of(self.measure)


def comparable(table: Table, by: Measure[Any], *, at_least: int) -> Table:
    """The table without columns that the measure cannot take, if it has others to compare."""
    refused = {column.name: reason for column in table.columns if (reason := by.refusal(column))}
    if refused:
        kept = tuple(column for column in table.columns if column.name not in refused)
        types = {name: kind for name, kind in table.types.items() if name not in refused}
        table = replace(table, columns=kept, types=types, skipped={**table.skipped, **refused})
    if len(table.columns) >= at_least:
        return table
    if not refused:
        raise too_few_columns(table, at_least)
    remedy = "measure by 'rdc' or 'dcor', or say which columns are numbers by types={name: 'number'}"
    raise too_few_columns(table, at_least, remedy=remedy)


def side_by_side(
    table: Any,
    other: Any,
    types: Types,
    vectors: Vectors,
    missing: Missing,
    *,
    read: Callable[..., Side],
    called: str = "other",
) -> tuple[Side, Side]:
    """Two tables over the same rows, each of which is read with what is asked of its columns."""
    check_indexes(table, other)
    names = [names_of(table), names_of(other, called)]
    overrides, groups = checked_overrides(types, vectors, [*names[0], *names[1]])
    rows, columns = (
        read(
            part,
            argument,
            types={name: kind for name, kind in overrides.items() if name in known},
            vectors={name: parts for name, parts in groups.items() if set(parts) & set(known)},
        )
        for part, argument, known in ((table, "the table", names[0]), (other, called, names[1]))
    )
    if rows.n_rows != columns.n_rows:
        raise unequal_rows(rows.n_rows, columns.n_rows, called)
    if missing == "listwise":
        raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
    return rows, columns


def names_in(other: Any) -> list[str] | None:
    """Names of columns that all others are compared with, where that is what was passed, and no second table."""
    is_names = isinstance(other, (list, tuple)) and all(isinstance(name, str) for name in other)
    return list(other) if is_names else None


def split(table: Table, names: Sequence[str]) -> tuple[Table, Table]:
    """A table without some of its columns, and these."""
    check_partners(
        names, {column.name: column.coordinates or (column.name,) for column in table.columns}, table.skipped
    )

    def part(wanted: bool) -> Table:
        return replace(
            table,
            columns=tuple(column for column in table.columns if (column.name in names) == wanted),
            types={name: kind for name, kind in table.types.items() if (name in names) == wanted},
            skipped={name: reason for name, reason in table.skipped.items() if (name in names) == wanted},
            pooled={name: n for name, n in table.pooled.items() if (name in names) == wanted},
            notes=Notes() if wanted else table.notes,
        )

    return part(False), part(True)


def holds_values(target: Any, known: Sequence[str]) -> bool:
    """Whether a target is a column of its own, and no name or list of names of a table's columns."""
    if isinstance(target, Column) or not isinstance(target, Sized) or isinstance(target, (str, bytes)):
        return isinstance(target, Column)
    if getattr(target, "shape", None) == ():
        raise must_be("target", "a name, several, or a value for every row", target)
    if len(target) > len(known):
        return True
    return hasattr(target, "__array__") and not {str(name) for name in target} <= set(known)  # type: ignore[attr-defined]


def with_target(
    table: Any, target: Any, held: Sequence[str], types: Types, vectors: Vectors, *, max_levels: int
) -> tuple[Table, str]:
    """A table with its target, which is a column of it, several as a vector, or values; and what that is called."""
    known = names_of(table)
    if holds_values(target, known):
        return _beside_values(table, target, types, vectors, max_levels=max_levels)
    goal, vectors = named_target(target, known, held, vectors)
    return as_table(table, types=types, vectors=vectors, max_levels=max_levels), goal


def named_target(target: Any, known: Sequence[str], held: Sequence[str], vectors: Vectors) -> tuple[str, Vectors]:
    """What a target is called that is among the columns, and all vectors, of which it is one if it has several."""
    names = listed(target, known)
    if not names:
        raise InputError("target names no column: pass one, or several as a vector")
    if set(names) & set(held):
        raise InputError(f"{sorted(set(names) & set(held))[0]!r} is both the target and given: leave it out of one")
    goal = " & ".join(names)
    if len(names) == 1:
        return goal, vectors
    return goal, {**checked_overrides(None, vectors, known)[1], goal: names}


def name_beside(target: Any, known: Sequence[str]) -> str:
    """What values beside a table are called."""
    name = str(getattr(target, "name", None) or "target")
    while name in known:  # as where a Series was computed from a column
        name += " (target)"
    return name


def _beside_values(table: Any, target: Any, types: Types, vectors: Vectors, *, max_levels: int) -> tuple[Table, str]:
    """A table and, beside its columns, a target that is a column of its own; and what that is called."""
    name, read = name_beside(target, names_of(table)), partial(as_table, max_levels=max_levels)
    rows, goal = side_by_side(table, {name: target}, types, vectors, "pairwise", read=read, called="target")
    rows.notes.absorb(goal.notes)
    both = replace(
        rows,
        columns=(*rows.columns, *goal.columns),
        types={**rows.types, **goal.types},
        skipped={**rows.skipped, **goal.skipped},
        pooled={**rows.pooled, **goal.pooled},
    )
    return both, name


def listed(names: Any, known: Sequence[str]) -> list[str]:
    """One name or several, as text, since that is what the table has; a tuple may be a name itself."""
    is_one = not are_several(names) or str(names) in known
    return [str(name) for name in ([names] if is_one else names)]


def column_named(table: Table, name: str, role: str) -> Column:
    """A column that can be measured, by its name."""
    columns = {column.name: column for column in table.columns}
    if name not in columns:
        if name in table.skipped:
            raise InputError(f"{role} {name!r} cannot be measured, it was left out: {table.skipped[name]}")
        for vector in table.columns:
            if name in vector.coordinates:
                raise within_vector(name, vector.name, role)
        check_known(name, [*table.types, *table.skipped], "the table", role)
    return columns[name]
