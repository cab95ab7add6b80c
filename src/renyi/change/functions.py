"""Columns of two tables to the functions whose dependence is compared: cosines of ranks, or levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.change.marginals import Marginal
from renyi.compute.arrays import Array, Index
from renyi.inference.change import COMPARED, SPANNED, Functions, smooth_tables

# A number with no more values has an indicator for each.
MOST_LEVELS = 8
# So has one of which a single value has more than this share of the rows, where ranks jump: as many cells of values.
MOST_ATOM = 0.1
# A function of levels of which less is left by those before it is not compared; benchmarks/studies/change_sizes.py.
_LEAST_NEW = 0.3
# A level that fewer rows of either table have is one with the rest; with 20 rows sizes hold.
FEWEST_OF_LEVEL = 20


@dataclass(frozen=True, eq=False)
class Shape:
    """Which functions of a column span all that is compared: cosines of ranks in either table, or levels.

    Of levels `level_of` says which one a cell of the column belongs to, and `counts` (tables, levels) has their rows.
    """

    name: str
    is_number: bool
    level_of: Index | None = None
    counts: Array | None = None

    @property
    def is_smooth(self) -> bool:
        """Whether functions are cosines of ranks."""
        return self.counts is None

    @classmethod
    def of(cls, column: Marginal, /) -> "Shape":
        """Of a column of two tables."""
        level_of, is_ordered = levels_of(column)
        if level_of is None:
            return cls(column.name, True)
        rows = _rows_of(level_of, column.counts)
        return cls(column.name, is_ordered, level_of, rows).merged()

    def merged(self) -> "Shape":
        """The same, where levels that have too few rows in one of the tables are one with others."""
        if self.counts is None or self.level_of is None:
            return self
        moved = (_neighbours if self.is_number else _frequent)(self.counts)
        return Shape(self.name, self.is_number, moved[self.level_of], _rows_of(moved, self.counts))

    def rows(self, cells: NDArray[Any], middles: Array, /) -> "Spanned":
        """The column over some rows of a table, given the cell of each, −1 where it is missing, and its mean rank."""
        gaps = cells < 0
        of_cells = middles if self.level_of is None else self.level_of.astype(np.int8)
        places = np.take(of_cells, np.where(gaps, 0, cells) if gaps.any() else cells)
        if gaps.any():
            places[gaps] = np.nan if self.level_of is None else -1
        return Spanned(places)


@dataclass(frozen=True, eq=False)
class Spanned:
    """A column over some rows of one table: mean ranks, NaN where a cell is missing, or levels, −1 where it is."""

    places: NDArray[Any]

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether cells are missing."""
        is_gap = self.places < 0 if self.places.dtype.kind == "i" else np.isnan(self.places)
        return bool(is_gap.any())

    @property
    def is_smooth(self) -> bool:
        """Whether functions are cosines of ranks."""
        return self.places.dtype.kind == "f"

    @property
    def share_of_gaps(self) -> float:
        """The share of rows that are missing."""
        return float(np.isnan(self.places).mean()) if self.has_gaps and self.is_smooth else 0.0

    def fill(self, some: slice, out: Array, /) -> None:
        """The spanned functions at some rows, one in each row of `out` (spanned, rows)."""
        places = self.places[some]
        if places.dtype.kind == "i":
            out[0] = places >= 0
            for level in range(SPANNED - 1):
                out[level + 1] = places == level
            return
        known = np.nan_to_num(places, nan=0.5) if self.has_gaps else places
        cosine = np.cos((np.pi * known).astype(out.dtype))
        out[0] = np.sqrt(2.0)
        np.multiply(cosine, out[0], out=out[1])
        # Twice the cosine times one wave is the next one and the one before.
        cosine *= 2
        for k in range(2, len(out)):
            np.multiply(cosine, out[k - 1], out=out[k])
            out[k] -= out[k - 2]
        out[0] = 1.0
        if self.has_gaps:
            out[:, np.isnan(places)] = 0.0


def levels_of(column: Marginal, /) -> tuple[Index | None, bool]:
    """The level of every cell, None where functions are smooth; and whether levels are in order."""
    if column.is_category:
        return np.arange(len(column.values)), False
    n_values = np.count_nonzero(column.total)
    if n_values <= MOST_LEVELS:
        # Two values have no order to speak of.
        return np.cumsum(column.total > 0) - (column.total[0] > 0), bool(n_values > 2)
    if column.largest_share <= MOST_ATOM:
        return None, True
    # Cells of values, each with about as many rows, but for the value that most rows have.
    rows = np.cumsum(column.total)
    ends = np.unique(np.searchsorted(rows, (np.arange(1, MOST_LEVELS) * rows[-1]) // MOST_LEVELS, side="right"))
    return np.searchsorted(ends, np.arange(len(rows)), side="left"), True


def _rows_of(level_of: Index, counts: NDArray[Any]) -> Array:
    return np.array([np.bincount(level_of, part, minlength=SPANNED - 1) for part in counts])


def _neighbours(rows: Array) -> Index:
    """Levels of a number in their order, each one with the next until both tables have rows enough."""
    moved, level, held = np.empty(rows.shape[1], dtype=np.intp), 0, np.zeros(2)
    for k, own in enumerate(rows.T):
        moved[k] = level
        held += own
        if held.min() >= FEWEST_OF_LEVEL:
            level, held = level + 1, np.zeros(2)
    # The last ones may be too few, and are one with those before them.
    return np.minimum(moved, max(level - 1, 0))


def _frequent(counts: Array) -> Index:
    """The most frequent levels that both tables have, most frequent first, and all others as one more."""
    order = np.argsort(-(counts[0] + counts[1]), kind="stable")
    common = np.minimum(*counts)
    frequent = [level for level in order.tolist() if common[level] >= FEWEST_OF_LEVEL][: COMPARED + 1]
    rest = common.sum() - common[frequent].sum() if frequent else 0
    rest_rows = min(int(side.sum() - side[frequent].sum()) for side in counts)
    if len(frequent) > COMPARED and rest > 0:
        frequent = frequent[:COMPARED]
    moved = np.full(len(order), len(frequent))
    moved[frequent] = np.arange(len(frequent))
    if frequent and len(frequent) <= COMPARED and rest_rows < FEWEST_OF_LEVEL:
        # So few others are one with the least frequent level.
        moved = np.minimum(moved, len(frequent) - 1)
    return moved


def functions_of(columns: Sequence[Shape], /) -> Functions:
    """The functions that are compared of all columns."""
    made = [_smooth() if column.is_smooth else _of_levels(column) for column in columns]
    weights, pooled, times, entering, bending, crossing, sizes = zip(*made, strict=True)
    return Functions(
        np.stack(weights, axis=1),
        np.stack(pooled),
        np.stack(times),
        np.stack(entering),
        np.stack(bending),
        np.stack(crossing),
        np.array(sizes),
        np.array([column.is_number for column in columns]),
        np.array([not column.is_smooth for column in columns]),
    )


def _smooth() -> tuple[Array, Array, Array, Array, Array, Array, int]:
    known = smooth_tables()
    weights = np.stack((known.weights, known.weights))
    return weights, known.weights, known.times, known.entering, known.bending, known.crossing, COMPARED


def _of_levels(column: Shape) -> tuple[Array, Array, Array, Array, Array, Array, int]:
    counts = column.counts
    if counts is None:
        raise ValueError("levels are counted")
    shares = np.vstack(
        (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0), counts.sum(axis=0) / max(counts.sum(), 1.0))
    )
    usable = int(np.count_nonzero(counts.min(axis=0) >= FEWEST_OF_LEVEL))
    size = max(0, min(usable - 1, COMPARED))
    if column.is_number:
        size = _independent(_ordered(shares[2], size)[0], shares[2])
    make = _ordered if column.is_number else _contrasts
    weights = np.zeros((3, COMPARED, SPANNED))
    entering, bending = np.zeros((COMPARED, SPANNED, SPANNED)), np.zeros((COMPARED, SPANNED))
    for t, share in enumerate(shares):  # the last ones are those of both tables together
        weights[t, :size, 1:], entering[:size, 1:, 1:], bending[:size, 1:] = make(share, size)
    times = np.zeros((COMPARED, SPANNED, SPANNED))
    every = np.arange(1, SPANNED)
    # A function times an indicator is its value there times the indicator, and times 1 it is itself.
    times[:, every, every] = weights[2, :, 1:]
    times[:, 0, :] = weights[2]
    # Two rows that are not independent enter as one row does, beside those of the other column.
    return weights[:2], weights[2], times, entering, bending, entering, size


def _independent(values: Array, shares: Array) -> int:
    """How many leading functions of levels are not nearly made of those before them."""
    centred = (values - (values @ shares)[:, np.newaxis]) * np.sqrt(shares)
    left = np.abs(np.diagonal(np.linalg.qr(centred.T, mode="r"))) / np.maximum(np.linalg.norm(centred, axis=1), 1e-12)
    made = np.flatnonzero(left < _LEAST_NEW)
    return int(made[0]) if len(made) else len(values)


def _ordered(shares: Array, size: int) -> tuple[Array, Array, Array]:
    """Cosines of the mean ranks of a number's few values, what a row adds to these ranks, and what they bend."""
    u = np.cumsum(shares) - shares / 2
    a = np.arange(1, size + 1)[:, np.newaxis]
    values = np.sqrt(2.0) * np.cos(a * np.pi * u)
    slopes = -np.sqrt(2.0) * a * np.pi * np.sin(a * np.pi * u)
    steps = np.triu(np.ones((len(u), len(u))), 1) + 0.5 * np.eye(len(u))
    # A row is among those it is ranked with, and ranks have a variance.
    variance = np.cumsum(shares) - 0.75 * shares - u**2
    bending = slopes * (0.5 - u) - 0.5 * (a * np.pi) ** 2 * values * variance
    return values, slopes[:, np.newaxis, :] * (steps - u), bending


def _contrasts(shares: Array, size: int) -> tuple[Array, Array, Array]:
    """Every level but the last against the mean of all, levels as wholes, and what a row adds to shares of levels.

    What is compared is then what the other column does within levels, however many rows these have. Means within levels
    have no bias.
    """
    n_levels = size + 1
    held = np.maximum(shares[:n_levels], 1e-12)
    mixing = (np.eye(n_levels) - 1.0 / n_levels)[:size]
    values = np.zeros((size, len(shares)))
    values[:, :n_levels] = mixing / held
    entering = np.zeros((size, len(shares), len(shares)))
    # d(1/p) = −dp/p², and a row's dp is its indicator less p.
    moved = (np.eye(n_levels) - held) / held**2
    entering[:, :n_levels, :n_levels] = -mixing[:, np.newaxis, :] * moved
    return values, entering, np.zeros_like(values)
