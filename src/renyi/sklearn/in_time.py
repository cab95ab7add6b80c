"""Features and a target that are series: in order of time, without trend and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from renyi.data.column import Column
from renyi.data.seasons import Adjustment
from renyi.data.time import Timeline, timeline
from renyi.errors import must_be
from renyi.pair import series
from renyi.pair.prepare import prepare
from renyi.tables.dependent_rows import Design


@dataclass(frozen=True, eq=False)
class FeaturesInRows:
    """Features by their places and the target, rows in order of `line` if they are in time, and what is said of them.

    What was `warned` of makes p-values too small.
    """

    columns: dict[int, Column]
    target: Column
    line: Timeline | None = None
    notes: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()


def design_of(time: Any, groups: Any, detrend: Any, period: Any, /) -> Design | None:
    """How rows depend on one another, by the names of columns; None where they do not."""
    if time is groups is detrend is period is None:
        return None
    if time is not True and not isinstance(time, str):
        raise must_be("time", "True for rows in order, or the name of the column of X that has their stamps", time)
    if not isinstance(groups, str | None):
        raise must_be("groups", "the name of the column of X that says which series a row is in", groups)
    return Design(time=time, groups=groups, adjustment=Adjustment.of(detrend, period))


def in_time(
    X: Any,  # noqa: N803
    names: list[str],
    columns: Mapping[int, Column],
    target: Column,
    design: Design,
) -> tuple[FeaturesInRows, dict[str, str]]:
    """Features and target as series, and why other columns are no features."""
    adjustment = design.adjustment
    design, _, roles = design.columns_of(X, None)
    line = timeline(design.time, design.groups, len(target))
    left = {place: column for place, column in columns.items() if names[place] not in roles}
    own = adjustment([target], line).refused()
    features = adjustment(list(left.values()), line)
    places = [place for place, column in left.items() if column.name not in features.left_out]
    found = FeaturesInRows(
        columns=dict(zip(places, features.columns, strict=True)),
        target=own.columns[0],
        line=own.line,
        notes=own.notes if not left else features.notes,
        warned=_restless((*features.columns, own.columns[0]), own.line),
    )
    return found, {**roles, **features.left_out}


def _restless(columns: Sequence[Column], line: Timeline) -> tuple[str, ...]:
    """What is said where the target, the last one, and features have no level to return to."""
    prepared = [prepare(column) for column in columns]
    return series.restless(columns, prepared, line) if any(series.wandering(columns[-1:], prepared[-1:], line)) else ()
