"""What is passed to `lags`: a table or two columns, stamps, groups; to columns in order of time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from renyi.data.column import Column
from renyi.data.reader import as_column
from renyi.data.table import Table, as_table, too_few_columns
from renyi.data.time import Timeline, timeline
from renyi.errors import InputError, check_integer
from renyi.tables.arguments import column_named, with_target
from renyi.tables.batches import is_out_of_core, loaded_if_small
from renyi.tables.dependent_rows import Design

# Beyond a quarter of the rows too few are left at either end, and a circle of shifts has too few windows.
_SHARE = 4


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a table in time."""

    max_lag: int
    design: Design
    types: Any
    vectors: Any
    max_levels: int
    memory: str | int

    def __post_init__(self) -> None:
        check_integer(self.max_lag, "max_lag")


@dataclass(frozen=True, eq=False)
class Series:
    """Columns in order of time, without trend and season, and which pairs of them are compared."""

    columns: tuple[Column, ...]
    line: Timeline
    pairs: tuple[tuple[int, int], ...]
    target: str | None
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    n_rows: int
    new_frame: Callable[[dict[str, Any]], Any]


def read(table: Any, target: Any, asked: Asked, /) -> Series:
    """Columns in order of time from what was passed."""
    if _is_column(table):
        table, target = _two_columns(table, target), None
    table = loaded_if_small(table, asked.memory)
    if is_out_of_core(table):
        raise InputError(
            "rows in time are read as a whole, and this table is larger than memory= allows, or lies on a cluster: "
            "pass a larger memory=, or take means over longer steps of time first"
        )
    design, types, roles = asked.design.columns_of(table, asked.types)
    whole, goal = _typed(table, target, replace(asked, types=types))
    line = timeline(design.time, design.groups, whole.n_rows)
    _check_reach(int(asked.max_lag), line)
    adjusted = design.adjustment(whole.columns, line)
    skipped = {name: why for name, why in {**whole.skipped, **adjusted.left_out}.items() if name not in roles}
    columns = adjusted.columns
    if goal in adjusted.left_out:
        raise InputError(f"target {goal!r} {adjusted.left_out[goal]}: pass another detrend and period")
    if len(columns) < 2:
        raise too_few_columns(replace(whole, columns=columns, skipped=skipped), 2)
    return Series(
        columns=columns,
        line=adjusted.line,
        pairs=_pairs([column.name for column in columns], goal),
        target=goal,
        types={name: kind for name, kind in whole.types.items() if name not in skipped},
        skipped=skipped,
        notes=(*whole.notes.sentences(), *adjusted.notes),
        n_rows=whole.n_rows,
        new_frame=whole.new_frame,
    )


def _is_column(data: Any) -> bool:
    """Whether this is one column rather than a table."""
    if isinstance(data, Column):
        return True
    if isinstance(data, (list, tuple)):
        return bool(data) and not isinstance(data[0], (Mapping, Sequence)) and not hasattr(data[0], "shape")
    return not isinstance(data, (Mapping, str)) and len(getattr(data, "shape", ())) == 1 and not _has_fields(data)


def _has_fields(data: Any) -> bool:
    return getattr(getattr(data, "dtype", None), "names", None) is not None


def _two_columns(x: Any, y: Any) -> dict[str, Any]:
    if y is None or isinstance(y, str):
        raise InputError("lags needs a table, or two columns: pass renyi.lags(x, y, max_lag=...)")
    names = [str(getattr(side, "name", None) or own) for side, own in ((x, "x"), (y, "y"))]
    if names[0] == names[1]:
        names = ["x", "y"]
    columns = (
        side if isinstance(side, Column) else as_column(side, name) for side, name in zip((x, y), names, strict=True)
    )
    return dict(zip(names, columns, strict=True))


def _typed(table: Any, target: Any, asked: Asked) -> tuple[Table, str | None]:
    settings = {"max_levels": asked.max_levels}
    if target is None:
        whole = as_table(table, types=asked.types, vectors=asked.vectors, **settings)
        if len(whole.columns) < 2:
            raise too_few_columns(whole, 2)
        return whole, None
    whole, goal = with_target(table, target, (), asked.types, asked.vectors, **settings)
    column_named(whole, goal, "target")
    return whole, goal


def _check_reach(max_lag: int, line: Timeline) -> None:
    shortest = min(line.lengths)
    if max_lag * _SHARE > shortest:
        whose = "the series has" if len(line.lengths) == 1 else "the shortest group has"
        raise InputError(
            f"max_lag={max_lag:,} is too long: {whose} {shortest:,} rows, and lags go up to a quarter of them: pass "
            f"max_lag={shortest // _SHARE} or less, or a longer series"
        )


def _pairs(names: Sequence[str], target: str | None) -> tuple[tuple[int, int], ...]:
    if target is None:
        return tuple((i, j) for i in range(len(names)) for j in range(i + 1, len(names)))
    goal = names.index(target)
    return tuple((i, goal) for i in range(len(names)) if i != goal)
