"""Features and a target that are series: in order of time, without trend and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from renyi.data.column import Column
from renyi.data.seasons import Adjustment
from renyi.data.time import Timeline, timeline
from renyi.pair import series
from renyi.pair.prepare import prepare
from renyi.tables.dependent_rows import Design


@dataclass(frozen=True, eq=False)
class FeaturesInTime:
    """Features by their places and the target, rows in order of `line`, and what is said of them."""

    columns: dict[int, Column]
    target: Column
    line: Timeline
    notes: tuple[str, ...]
    restless: tuple[str, ...]


def in_time(
    X: Any,  # noqa: N803
    names: list[str],
    columns: Mapping[int, Column],
    target: Column,
    time: Any,
    groups: str | None,
    adjustment: Adjustment,
) -> tuple[FeaturesInTime, dict[str, str]]:
    """Features and target as series, and why other columns are no features."""
    design, _, roles = Design(time=time, groups=groups, adjustment=adjustment).columns_of(X, None)
    line = timeline(design.time, design.groups, len(target))
    left = {place: column for place, column in columns.items() if names[place] not in roles}
    own = adjustment([target], line).refused()
    features = adjustment(list(left.values()), line)
    places = [place for place, column in left.items() if column.name not in features.left_out]
    found = FeaturesInTime(
        columns=dict(zip(places, features.columns, strict=True)),
        target=own.columns[0],
        line=own.line,
        notes=own.notes if not left else features.notes,
        restless=_restless((*features.columns, own.columns[0]), own.line),
    )
    return found, {**roles, **features.left_out}


def _restless(columns: Sequence[Column], line: Timeline) -> tuple[str, ...]:
    """What is said where the target, the last one, has no level to return to, nor has some feature."""
    prepared = [prepare(column) for column in columns]
    return series.restless(columns, prepared, line) if any(series.wandering(columns[-1:], prepared[-1:], line)) else ()
