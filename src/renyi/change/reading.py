"""Two tables of any kind to their common columns, each typed as one column over the rows of both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.change.counting import Counts, counted
from renyi.change.marginals import Marginal
from renyi.compute.arrays import Mask
from renyi.data.column import Column
from renyi.data.notes import Notes, Source
from renyi.data.table import checked_overrides, parts_of
from renyi.data.types import Cause, Override, SkipError, check_varies, convert, pool, read
from renyi.errors import InputError, brief, count, cut, some


@dataclass(frozen=True, eq=False)
class Together:
    """Common columns of two tables, the rows of the first above those of the second, and what is not common.

    Where these rows are a sample of more, `counted` has columns by all rows, and `n_all` how many these are.
    """

    columns: tuple[Column, ...]
    types: dict[str, str]
    n_rows: tuple[int, int]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    skipped: dict[str, str]
    new_frame: Callable[[dict[str, Any]], Any]
    notes: Notes = field(default_factory=Notes)
    retyped: dict[str, str] = field(default_factory=dict)
    counted: dict[str, Marginal] = field(default_factory=dict)
    n_all: tuple[int, int] = (0, 0)

    def part(self, table: int, /) -> dict[str, Column]:
        """The columns of one of the two tables."""
        rows = self.rows(table)
        return {column.name: replace(column.take(rows), places=None) for column in self.columns}

    def rows(self, table: int, /) -> Mask:
        """The rows of one of the two tables."""
        return np.arange(sum(self.n_rows)) >= self.n_rows[0] if table else np.arange(sum(self.n_rows)) < self.n_rows[0]

    @property
    def are_equal(self) -> bool:
        """Whether the two tables are the same, cell by cell, in all that was compared."""
        are_alike = self.n_rows[0] == self.n_rows[1] and not any(self.only) and not self.retyped
        return are_alike and all(map(self._is_repeated, self.columns))

    def _is_repeated(self, column: Column) -> bool:
        n, gaps = self.n_rows[0], column.gaps
        same = (column.values[:n] == column.values[n:]) | gaps[:n]
        return bool(np.array_equal(gaps[:n], gaps[n:]) and same.all())


def together(
    before: Any,
    after: Any,
    labels: tuple[str, str],
    types: Mapping[Any, Any] | None,
    max_levels: int,
    *,
    counts: tuple[Counts, Counts] | None = None,
) -> Together:
    """The common columns of two tables in memory, or of samples of two that were counted."""
    notes = Notes(
        (*(before.notes if isinstance(before, Source) else ()), *(after.notes if isinstance(after, Source) else ()))
    )
    sides = [parts_of(table, label, notes) for table, label in zip((before, after), labels, strict=True)]
    parts, new_frame = [side[0] for side in sides], sides[0][1]
    n_rows = tuple(_length(part) for part in parts)
    for n, label in zip(n_rows, labels, strict=True):
        if n == 0:
            raise InputError(f"the table {label!r} has no rows: there is nothing to compare")
    common = [name for name in parts[0] if name in parts[1]]
    if not common:
        raise InputError(
            f"the two tables have no column in common: {labels[0]!r} has {some(parts[0])}, {labels[1]!r} has "
            f"{some(parts[1])}; rename columns so that those that mean the same are called the same"
        )
    overrides, _ = checked_overrides(types, None, list(dict.fromkeys((*parts[0], *parts[1]))))
    only = tuple(tuple(name for name in own if name not in other) for own, other in (parts, parts[::-1]))
    found = Together((), {}, (n_rows[0], n_rows[1]), (only[0], only[1]), {}, new_frame, notes)
    kept = []
    for name in common:
        try:
            cells = [part[name] for part in parts]
            column = _common(found, name, cells, overrides.get(name), labels=labels, max_levels=max_levels)
        except SkipError as error:
            found.skipped[name] = str(error)
            continue
        kept.append(column)
        if counts and (marginal := counted(column, found.types[name], counts, max_levels)) is not None:
            found.counted[name] = marginal
    if not kept and not found.retyped:
        reasons = "; ".join(f"{cut(name)}: {reason}" for name, reason in list(found.skipped.items())[:5])
        raise InputError(f"no common column can be compared ({reasons}): say what columns are by types=")
    if counts and (by_sample := [column.name for column in kept if column.name not in found.counted]):
        notes.say(f"{some(by_sample)} could not be counted over all rows, and what changed is that of the sample")
    n_all = (counts[0].n_rows, counts[1].n_rows) if counts else found.n_rows
    return replace(found, columns=tuple(kept), n_all=n_all)


def _length(parts: dict[str, Any]) -> int:
    return len(next(iter(parts.values())))


def _common(
    found: Together, name: str, cells: list[Any], override: Override | None, *, labels: tuple[str, str], max_levels: int
) -> Column:
    """One column over the rows of both tables; refused where it is of another type in each."""
    typed = []
    for part, label in zip(cells, labels, strict=True):
        try:
            typed.append(convert(*read(part, name, override), override, found.notes))
        except SkipError as error:
            if error.cause is Cause.ASKED:
                raise
            raise SkipError(f"in {label}: {error}", error.cause) from None
    (first, kind), (second, other) = typed
    empty = [not len(column.known) for column in (first, second)]
    if all(empty):
        raise SkipError("no observed value", Cause.CONSTANT)
    if any(empty):
        # What has no value is of any type.
        first, second = (_nothing(first, second), second) if empty[0] else (first, _nothing(second, first))
        kind = other = other if empty[0] else kind
    if kind != other or first.kind != second.kind:
        found.retyped[name] = f"{_called(kind)} in {labels[0]}, {_called(other)} in {labels[1]}"
        raise SkipError(f"is {found.retyped[name]}: pass types={{{brief(name)}: ...}} to read both alike")
    if reason := refusal(first) or refusal(second):
        raise SkipError(reason)
    merged = _merged(first, second)
    check_varies(merged)
    if kind == "category":
        merged, _ = pool(merged, requested=override is not None, max_levels=max_levels)
    found.types[name] = kind
    return merged


def refusal(column: Column, /) -> str:
    """Why a column cannot be compared; empty where it can."""
    if column.is_vector:
        return "holds vectors, which are not compared: pass coordinates as columns of their own"
    if column.values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            if np.isinf(column.known.astype(np.float64, copy=False)).any():
                return "has numbers beyond the range of 64-bit floats: rescale it"
    return ""


def _called(kind: str) -> str:
    return {"category": "labels", "number": "numbers", "date": "dates", "ordered": "ordered labels"}.get(kind, kind)


def _nothing(empty: Column, like: Column) -> Column:
    """A column of missing cells that looks like another one."""
    values = np.zeros(len(empty), dtype=like.values.dtype)
    return replace(like, values=values, missing=np.ones(len(empty), dtype=bool), index=None)


def _merged(first: Column, second: Column) -> Column:
    """The rows of one column above those of another, by common levels."""
    values: list[NDArray[Any]] = [first.values, second.values]
    levels = first.levels
    if levels or second.levels:
        if first.is_number and levels != second.levels:
            raise SkipError(
                f"has {count(len(levels), 'ordered level')} and then {len(second.levels):,} others: give both the same"
            )
        levels = tuple(dict.fromkeys((*first.levels, *second.levels)))
        place = {level: code for code, level in enumerate(levels)}
        if not first.is_number:
            moved = np.array([place[level] for level in second.levels], dtype=np.intp)
            values[1] = moved[second.values] if len(moved) else second.values
    if {part.dtype.kind for part in values} & set("Mm") and values[0].dtype.kind != values[1].dtype.kind:
        raise SkipError("holds times in one table alone")
    missing = np.concatenate((first.gaps, second.gaps))
    return Column(
        first.name,
        first.kind,
        np.concatenate(values),
        missing=missing if missing.any() else None,
        levels=levels,
        is_rounded=first.is_rounded or second.is_rounded,
    )
