"""What a report shows of one pair: counts of its rows on grids, boxes of groups, and the functions f and g."""

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from renyi.allpairs.column_group import Variable
from renyi.basis.basis import Basis
from renyi.basis.ranks import empirical_cdf
from renyi.coefficients.pearson import Spearman, correlation_of
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.align import common_rows
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.pair.prepare import together
from renyi.pair.result import CategoryTransformation, RankTransformation
from renyi.pair.transformations import transformations_of
from renyi.report.kinds import kind_of
from renyi.report.variables import cells_of, drawable, followed, label_of, limits_of, plain, significant

Function: TypeAlias = RankTransformation | CategoryTransformation

_CELLS, _CLOUD_CELLS = 40, 32
_KNOTS = 80
_MOST_COORDINATES = 12
_BOX = (0.05, 0.25, 0.5, 0.75, 0.95)
# A sample shows of which kind a dependence is, and by which functions, where its rows times the squared strength are at
# least so many: of 40 samples of 10,000 rows with a strength of 0.07 all were told right for a rise, a wave and groups,
# and 30 for a valley; with 0.03 it was 26, 35, 37 and 12. Below, f and g are those of chance. A spread that changes was
# told in none to one of 40 at strengths up to 0.1, with this rule or without it.
_SHOWS_KIND = 49.0
_NO_FUNCTIONS: dict[str, Any] = {"f": None, "g": None, "reached": None, "cloud": None}


class Axis:
    """A column as an axis of pictures; what several pairs need of it is computed once."""

    def __init__(self, variable: Variable) -> None:
        self.variable, self.column = variable, variable.shown

    @property
    def is_sample(self) -> bool:
        """Whether the rows are some of many."""
        return len(self.column) < self.variable.n_rows

    @property
    def has_levels(self) -> bool:
        """Whether the axis is one of levels, not of a line."""
        return bool(self.column.levels)

    @cached_property
    def values(self) -> Array:
        """Numbers as the page draws them, 0 for those that are missing."""
        values = drawable(self.column)
        return values if self.column.missing is None else np.where(self.column.missing, 0.0, values)

    @cached_property
    def by_value(self) -> tuple[Index, int]:
        """The cell of every row, and how many there are: levels, or equal steps along the axis."""
        if self.has_levels:
            return self.column.values.astype(np.intp), len(self.column.levels)
        low, high, _ = limits_of(self.column)
        return cells_of(self.values, low, high, _CELLS), _CELLS

    @cached_property
    def by_rank(self) -> tuple[Index, int]:
        """The same over ranks, as even as they are; a category has none and keeps its levels."""
        if self.column.is_category:
            return self.by_value
        gaps, n = self.column.missing, len(self.column)
        observed = np.arange(n) if gaps is None else np.flatnonzero(~gaps)
        # Tied rows are spread over their ranks, which would be bare stripes otherwise.
        order = np.lexsort((np.random.default_rng(0).random(len(observed)), self.column.values[observed]))
        cells = np.zeros(n, dtype=np.intp)
        cells[observed[order]] = np.arange(len(observed)) * _CELLS // len(observed)
        return cells, _CELLS


def view_of(x: Axis, y: Axis, /, *, is_whole: bool, strength: float = np.nan, linear: float = np.nan) -> dict[str, Any]:
    """All there is to see of a pair; no counts where the rows themselves are on the page (`is_whole`)."""
    pair = x.column, y.column
    rows = common_rows(*pair)
    kinds = x.column.kind, y.column.kind
    has_counts = not is_whole and "vector" not in kinds
    has_ranks = has_counts and kinds != ("category", "category")
    n_common = len(x.column) if rows is None else int(np.count_nonzero(rows))
    is_seen = not x.is_sample or not n_common * strength**2 < _SHOWS_KIND
    return {
        "data": _counts(x.by_value, y.by_value, rows) if has_counts else None,
        "ranks": _counts(x.by_rank, y.by_rank, rows) if has_ranks else None,
        "boxes": _boxes(x, y, rows) if x.has_levels != y.has_levels and "vector" not in kinds else None,
        # Numbers are from all rows, or are not told.
        "spearman": None if x.is_sample else plain(np.array([correlation_of(Spearman(), *pair)]), 4)[0],
        "words": _words(*pair, strength, linear) if is_seen else None,
        **(_functions(x, y, has_cloud=not is_whole or "vector" in kinds) if is_seen else _NO_FUNCTIONS),
    }


def _words(x: Column, y: Column, strength: float, linear: float) -> str | None:
    try:
        return kind_of(x, y, strength=strength, linear=linear)
    except InputError:
        return None


def _counts(x: tuple[Index, int], y: tuple[Index, int], rows: Mask | None) -> dict[str, Any]:
    """How many rows fall into each cell of a grid."""
    (i, n_x), (j, n_y) = x, y
    cells = i * n_y + j
    counts = np.bincount(cells if rows is None else cells[rows], minlength=n_x * n_y)
    return {"shape": [n_x, n_y], "counts": counts.tolist()}


def _boxes(x: Axis, y: Axis, rows: Mask | None) -> list[list[float] | None]:
    """Quantiles of the number in every group: 5, 25, 50, 75 and 95 %."""
    groups, numbers = (x, y) if x.has_levels else (y, x)
    codes, values = groups.column.values, numbers.values
    if rows is not None:
        codes, values = codes[rows], values[rows]
    parts = (values[codes == code] for code in range(len(groups.column.levels)))
    return [significant(np.quantile(part, _BOX)) if len(part) else None for part in parts]


# The functions that reach the coefficient.


def _functions(x: Axis, y: Axis, *, has_cloud: bool) -> dict[str, Any]:
    """The two functions, how far they correlate, and where rows fall under them; nothing if there are too few rows."""
    pair = x.column, y.column
    try:
        both = together(pair, (x.variable.shown_prepared, y.variable.shown_prepared))
        bases = both[0].basis, both[1].basis
        found = transformations_of(pair, bases)
    except InputError:
        return _NO_FUNCTIONS
    sides = [(found.x, found.f, bases[0]), (found.y, found.g, bases[1])]
    scores = [_along(*side) for side in sides]
    return {
        "f": _function(*sides[0][:2], scores[0]),
        "g": _function(*sides[1][:2], scores[1]),
        "reached": round(found.correlation, 4),
        "cloud": _cloud(*scores) if has_cloud else None,
    }


def _along(column: Column, function: Function, basis: Basis) -> Array:
    """A function over the rows used."""
    if isinstance(function, CategoryTransformation):
        return np.asarray(function.of_levels(column.levels)[column.values])
    table = basis.table @ function.direction
    return np.asarray(table if basis.codes is None else table[basis.codes], dtype=np.float64)


def _function(column: Column, function: Function, scores: Array) -> dict[str, Any]:
    """A score for every level, a curve over a number, or what a function of a vector follows."""
    if isinstance(function, CategoryTransformation):
        return {"scores": plain(function.of_levels(column.levels), 3)}
    if column.is_vector:
        names, follows = followed(column, scores)
        shown = np.sort(np.argsort(-np.abs(follows), kind="stable")[:_MOST_COORDINATES])
        return {"coordinates": [label_of(names[j]) for j in shown], "follows": plain(follows[shown], 3)}
    (ordered,) = function.ordered
    knots = np.unique(ordered[np.linspace(0, len(ordered) - 1, _KNOTS).round().astype(int)])
    ranks = empirical_cdf(ordered, knots)
    return {
        "ranks": plain(ranks, 4),
        "values": significant(drawable(Column(column.name, "number", knots))),
        "scores": plain(function.of_ranks(ranks.reshape(-1, 1)), 3),
    }


def _cloud(f: Array, g: Array) -> dict[str, Any]:
    """Where f(x) and g(y) fall, counted on a grid; levels have a score each."""
    limits = [(float(np.nanmin(side)), float(np.nanmax(side))) for side in (f, g)]
    cells = [(cells_of(side, *ends, _CLOUD_CELLS), _CLOUD_CELLS) for side, ends in zip((f, g), limits, strict=True)]
    return {"limits": [[round(end, 3) for end in ends] for ends in limits], **_counts(cells[0], cells[1], None)}
