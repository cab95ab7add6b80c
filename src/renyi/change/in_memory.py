"""Two tables in memory to what changed between them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from renyi.change.columns import ColumnChange, column_changes
from renyi.change.counting import Counts
from renyi.change.functions import Shape, Spanned
from renyi.change.marginals import Marginal
from renyi.change.reading import Together, together
from renyi.change.result import Comparison, PairChanges
from renyi.change.sums import ChangedPairs, RowsOfTables, changed_pairs
from renyi.coefficients.base import Measure
from renyi.compute.arrays import Array
from renyi.compute.threads import stream
from renyi.data.column import Column
from renyi.errors import InputError, some
from renyi.inference.change import FEWEST_ROWS
from renyi.inference.false_discovery import Correction
from renyi.pair.series import serial_columns
from renyi.tables.api import matrix
from renyi.tables.dependence_matrix import DependenceMatrix

# Rows that are looked at for a resemblance to the row before: a correlation of 0.1 is ten standard errors.
_ROWS_OF_SERIES = 10_000
SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)


def compared(
    before: Any,
    after: Any,
    /,
    *,
    labels: tuple[str, str],
    types: Mapping[Any, Any] | None,
    max_levels: int,
    correction: Correction,
    measure: str | Measure[Any],
    progress: bool,
    sampled: str = "",
    counts: tuple[Counts, Counts] | None = None,
) -> Comparison:
    """What changed between two tables in memory, or samples of tables whose columns were counted."""
    both = together(before, after, labels, types, max_levels, counts=counts)
    of_columns, changed = changes_of(both)
    if serial := _serial(both):
        who = f"{some(serial)} resembles its" if len(serial) == 1 else f"{some(serial)} resemble their"
        both.notes.say(
            f"{who} own previous row, as series do: p-values take rows as independent, and are too small here"
        )
    matrices = matrix_of(both.part(0), measure, progress), matrix_of(both.part(1), measure, progress)
    for name, what in both.retyped.items():
        both.notes.say(f"column {name!r} is {what}: it was not compared")
    small = [label for label, n in zip(labels, both.n_rows, strict=True) if n < FEWEST_ROWS]
    if small:
        both.notes.say(
            f"dependences are compared from {FEWEST_ROWS} common rows on, and {some(small)} has fewer: columns alone "
            "were compared"
        )
    return Comparison(
        names=tuple(column.name for column in both.columns),
        labels=labels,
        n_rows=both.n_all,
        of_columns=tuple(of_columns),
        of_pairs=_with_strengths(both, changed, matrices),
        matrices=matrices,
        types=MappingProxyType(both.types),
        skipped=MappingProxyType(both.skipped),
        retyped=MappingProxyType(both.retyped),
        only_before=both.only[0],
        only_after=both.only[1],
        notes=both.notes.sentences(),
        correction=correction,
        new_frame=both.new_frame,
        sampled=sampled,
        are_equal=both.are_equal,
    )


def changes_of(both: Together, /) -> tuple[list[ColumnChange], ChangedPairs]:
    """What changed in all common columns, and in all pairs of these."""

    def spanned(column: Column) -> tuple[Marginal, Shape, tuple[Spanned, Spanned]]:
        n = both.n_rows[0]
        marginal, cells = Marginal.of(column, n)
        shape, middles = Shape.of(marginal), marginal.middles
        rows = shape.rows(cells[:n], middles[0]), shape.rows(cells[n:], middles[1])
        return marginal, shape, rows

    found = list(stream(spanned, both.columns))
    marginals, shapes, rows = zip(*found, strict=True) if found else ((), (), ())
    before, after = zip(*rows, strict=True) if rows else ((), ())
    of_all_rows = [both.counted.get(marginal.name, marginal) for marginal in marginals]
    return column_changes(of_all_rows), changed_pairs(shapes, RowsOfTables((before, after)))


def _serial(both: Together) -> list[str]:
    """Columns of either table that resemble their own previous row, by their first rows."""
    found: dict[str, None] = {}
    for columns in (both.part(0), both.part(1)):
        n = min((len(column) for column in columns.values()), default=0)
        first = np.arange(min(n, _ROWS_OF_SERIES))
        leading = [column.take(first) for column in columns.values()]
        known = [column for column in leading if len(column.known)]
        found |= dict.fromkeys(known[k].name for k in serial_columns(known, [None] * len(known))[0])
    return list(found)


def matrix_of(columns: Mapping[str, Column], measure: str | Measure[Any], progress: bool, /) -> DependenceMatrix | None:
    """The dependences of one table, if two columns vary there."""
    try:
        return matrix(columns, measure=measure, progress=progress)
    except InputError:
        return None


def _with_strengths(
    both: Together, changed: ChangedPairs, matrices: tuple[DependenceMatrix | None, DependenceMatrix | None]
) -> PairChanges:
    names = [column.name for column in both.columns]
    return of_pairs(changed, [spread(found, names, what) for what in ("strength", "spearman") for found in matrices])


def of_pairs(changed: ChangedPairs, strengths: Sequence[Array], /) -> PairChanges:
    """What changed in pairs, with strengths before and after, and Spearman's correlations before and after."""
    log_p = changed.log_pvalues
    pvalues = np.where(np.isnan(log_p), np.nan, np.maximum(np.exp(log_p), SMALLEST_PVALUE))
    at = changed.i, changed.j
    return PairChanges(*at, changed.moved, pvalues, *(part[at] for part in strengths))


def spread(found: DependenceMatrix | None, names: Sequence[str], what: str, /) -> Array:
    """A matrix over all common columns, NaN for those that one table could not measure."""
    whole = np.full((len(names), len(names)), np.nan)
    if found is not None:
        place = {name: k for k, name in enumerate(names)}
        at = np.array([place[name] for name in found.names], dtype=np.intp)
        whole[np.ix_(at, at)] = getattr(found, what)
    return whole
