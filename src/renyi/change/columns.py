"""How far the distributions of columns moved between two tables: against the label of the table, and in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.edges import Edges
from renyi.change.reading import Together
from renyi.compute.arrays import Array
from renyi.data.column import Column
from renyi.errors import count, cut
from renyi.inference.debias import plain_rows
from renyi.tables.api import screen

_TWO_SIDED = 1.96
# A column is said to be in other units where all its quartiles are the same multiple, to this share, and far from 1.
_SAME_FACTOR, _LEAST_FACTOR, _FAR_FROM_ZERO = 0.2, 5.0, 0.2
# Below these, words would tell of what nobody sees: a tenth of the rows' order, a fifth of the spread.
_LEAST_SHIFT, _LEAST_SPREAD = 0.05, 1.2
# Rows beyond the old range, and levels that were never seen, are told where chance has them with less than this.
_RARE = 1e-3
# Nothing is said of what chance alone may have done.
_LARGEST_PVALUE = 0.05
_MOST_NAMED = 3


@dataclass(frozen=True)
class ColumnChange:
    """What became of one column: of its values, of its missing cells, or of its levels.

    `moved` is the largest correlation of a function of the column with the table that a row is from, if both tables had
    as many rows; debiased, between 0 and 1, with a 95 % interval.
    """

    column: str
    what: str
    moved: float
    low: float
    high: float
    p: float
    words: str


def column_changes(both: Together, progress: bool, /) -> list[ColumnChange]:
    """All findings of all columns, in the order of the table."""
    n_before = both.n_rows[0]
    label = Column("table", "category", (~both.rows(0)).astype(np.intp), levels=("before", "after"))
    asked: dict[str, tuple[Column, str]] = {}
    for k, column in enumerate(both.columns):
        if all(bool((~column.gaps[rows]).any()) for rows in (both.rows(0), both.rows(1))):
            asked[f"{k} values"] = column, "values"
        if column.missing is not None:
            asked[f"{k} missing"] = column, "missing"
    if not asked:
        return []
    tested = {
        key: replace(column, name=key) if what == "values" else _gaps(column, key)
        for key, (column, what) in asked.items()
    }
    found = screen(tested, label, progress=progress)
    changes = {}
    for edge, (moved, low, high) in enumerate(zip(*_balanced(found.edges, both.n_rows), strict=True)):
        key = found.edges.x[int(found.edges.found.i[edge])].column.name
        column, what = asked[key]
        p = float(found.edges.pvalues[edge])
        tell = _words if what == "values" else _more_missing
        words = tell(column, n_before) if p <= _LARGEST_PVALUE else ""
        changes[key] = ColumnChange(column.name, what, moved, low, high, p, words)
    unseen = [change for column in both.columns if (change := _unseen(column, n_before)) is not None]
    return [*(changes[key] for key in asked if key in changes), *unseen]


def _gaps(column: Column, key: str) -> Column:
    return Column(key, "category", column.gaps.astype(np.intp), levels=("known", "missing"))


def _balanced(edges: Edges, n_rows: tuple[int, int]) -> tuple[list[float], list[float], list[float]]:
    """Strengths and their intervals, as they would be if both tables had as many rows.

    With shares π and 1 − π of the rows r²/(1 − r²) is π(1 − π) times a squared difference of means.
    """
    share = n_rows[0] / sum(n_rows)
    strength = edges.strength
    reach = _TWO_SIDED * (1.0 - strength**2) / np.sqrt(plain_rows(edges.found.n))
    found = []
    for r in (strength, np.maximum(strength - reach, 0.0), np.minimum(strength + reach, 1.0)):
        squares = np.minimum(r**2, 1.0 - 1e-12)
        odds = squares / (1.0 - squares) * 0.25 / (share * (1.0 - share))
        found.append(np.sqrt(odds / (1.0 + odds)).tolist())
    return found[0], found[1], found[2]


# Words.


def _words(column: Column, n_before: int) -> str:
    rows = slice(0, n_before), slice(n_before, None)
    parts = [column.values[part][~column.gaps[part]] for part in rows]
    if column.is_category:
        return _shares(column, parts)
    if column.levels or column.values.dtype.kind in "Mm":
        return "; ".join(filter(None, (_constant(column, parts), _shift(*parts))))
    numbers = [np.asarray(part, dtype=np.float64) for part in parts]
    constant, units = _constant(column, parts), _units(*numbers)
    if constant or units:
        return constant or units
    told = (_shift(*numbers), _spread(*numbers), _range(*numbers))
    return "; ".join(filter(None, told)) or "another shape"


def _constant(column: Column, parts: Sequence[NDArray[Any]]) -> str:
    """A sensor that is stuck."""
    if len(parts[1]) and (parts[1] == parts[1][0]).all() and not (parts[0] == parts[0][0]).all():
        value = column.levels[int(parts[1][0])] if column.levels else parts[1][0]
        return f"constant, always {value}"
    return ""


def _shift(before: Array, after: Array) -> str:
    """Up or down, by the order of two rows of either table."""
    ordered = np.sort(before)
    below, above = np.searchsorted(ordered, after, side="left"), np.searchsorted(ordered, after, side="right")
    higher = float(np.mean(below + above)) / (2 * len(before))
    if abs(higher - 0.5) < _LEAST_SHIFT:
        return ""
    return f"shifted {'up' if higher > 0.5 else 'down'}"


def _spread(before: Array, after: Array) -> str:
    spreads = [float(np.subtract(*np.quantile(part, (0.75, 0.25)))) for part in (before, after)]
    if min(spreads) <= 0.0:
        return ""
    factor = spreads[1] / spreads[0]
    if factor >= _LEAST_SPREAD:
        return f"spread {factor:.2g} times as wide"
    return f"narrower, {factor:.2g} of the spread" if factor <= 1 / _LEAST_SPREAD else ""


def _range(before: Array, after: Array) -> str:
    """Rows beyond the old range, where chance would hardly have so many."""
    outside = int(np.count_nonzero(after > before.max())), int(np.count_nonzero(after < before.min()))
    share = len(after) / (len(after) + len(before))
    told = [
        f"{count(rows, 'row')} {where}"
        for rows, where in zip(outside, ("above", "below"), strict=True)
        if rows and share**rows < _RARE
    ]
    return f"new range: {' and '.join(told)} the old one" if told else ""


def _units(before: Array, after: Array) -> str:
    """Quartiles that are all the same multiple of what they were, as with other units."""
    quartiles = [np.quantile(part, (0.1, 0.25, 0.5, 0.75, 0.9)) for part in (before, after)]
    # Near 0 a multiple says nothing.
    kept = np.abs(quartiles[0]) > _FAR_FROM_ZERO * (quartiles[0][-1] - quartiles[0][0])
    if np.count_nonzero(kept) < 2 or quartiles[0][-1] == quartiles[0][0]:
        return ""
    factors = quartiles[1][kept] / quartiles[0][kept]
    factor = float(np.median(factors))
    if factor <= 0.0 or 1 / _LEAST_FACTOR < factor < _LEAST_FACTOR:
        return ""
    if np.abs(factors / factor - 1.0).max() > _SAME_FACTOR:
        return ""
    shown = f"{factor:,.3g} times" if factor > 1 else f"1/{1 / factor:,.3g} of"
    return f"other units? about {shown} what it was"


def _shares(column: Column, parts: Sequence[NDArray[Any]]) -> str:
    """The level whose share changed most."""
    constant = _constant(column, parts)
    if constant:
        return constant
    before, after = (np.bincount(part, minlength=len(column.levels)) / max(len(part), 1) for part in parts)
    level = int(np.abs(after - before).argmax())
    return f"{cut(column.levels[level])} {before[level]:.1%} → {after[level]:.1%}"


def _more_missing(column: Column, n_before: int) -> str:
    shares = column.gaps[:n_before].mean(), column.gaps[n_before:].mean()
    return f"{'more' if shares[1] > shares[0] else 'less'} missing: {shares[0]:.1%} → {shares[1]:.1%}"


def _unseen(column: Column, n_before: int) -> ColumnChange | None:
    """Levels that the first table never had, with the probability that all their rows are in the second by chance."""
    if not column.is_category:
        return None
    codes = [column.values[part][~column.gaps[part]] for part in (slice(0, n_before), slice(n_before, None))]
    before, after = (np.bincount(part, minlength=len(column.levels)) for part in codes)
    new = np.flatnonzero((before == 0) & (after > 0))
    if len(new) == 0 or len(codes[0]) == 0:
        return None
    new = new[np.argsort(-after[new], kind="stable")]
    share = len(codes[1]) / (len(codes[0]) + len(codes[1]))
    p = min(1.0, float(share ** after[new[0]]) * int(np.count_nonzero(before + after >= after[new[0]])))
    rows = int(after[new].sum())
    named = ", ".join(cut(column.levels[level]) for level in new[:_MOST_NAMED])
    more = f" and {len(new) - _MOST_NAMED:,} more" if len(new) > _MOST_NAMED else ""
    words = f"new {'level' if len(new) == 1 else 'levels'}: {named}{more} ({count(rows, 'row')})"
    moved = float(np.sqrt(rows / len(codes[1]) / (2.0 - rows / len(codes[1]))))
    return ColumnChange(column.name, "levels", moved, moved, moved, max(p, 1e-300), words)
