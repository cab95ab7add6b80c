"""Columns of two tables to the functions whose dependence is compared: cosines of ranks, or levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.basis.ranks import quantise
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.inference.change import COMPARED, SPANNED, Functions, smooth_tables

# A number with no more values has an indicator for each.
MOST_LEVELS = 8
# So has one of which a single value has more than this share of the rows, where ranks jump: as many cells of values.
_LARGEST_ATOM = 0.1
_GLANCE = 1000
# A function of levels of which less is left by those before it is not compared; benchmarks/studies/change_sizes.py.
_LEAST_NEW = 0.3
# A level that fewer rows of either table have is one with the rest; with 20 rows sizes hold.
FEWEST_OF_LEVEL = 20


@dataclass(frozen=True, eq=False)
class Spanned:
    """One column of two tables: which functions of it span all that is compared, at every row.

    Of a smooth column `places` (tables) are mean ranks in each table, NaN where a cell is missing; else codes of
    levels, −1 where it is missing. `counts` (tables, levels) are the rows of every level.
    """

    name: str
    places: tuple[NDArray[Any], NDArray[Any]]
    is_number: bool
    counts: Array | None = None

    @property
    def is_smooth(self) -> bool:
        """Whether functions are cosines of ranks."""
        return self.counts is None

    def rows(self, table: int, some: slice, out: Array, /) -> None:
        """The spanned functions at some rows of a table, one in each row of `out` (spanned, rows)."""
        places = self.places[table][some]
        if self.counts is not None:
            out[0] = places >= 0
            for level in range(SPANNED - 1):
                out[level + 1] = places == level
            return
        gaps = np.isnan(places)
        cosine = np.cos(np.pi * np.where(gaps, 0.5, places)).astype(out.dtype)
        out[0] = np.sqrt(2.0)
        np.multiply(cosine, out[0], out=out[1])
        # Twice the cosine times one wave is the next one and the one before.
        cosine *= 2
        for k in range(2, len(out)):
            np.multiply(cosine, out[k - 1], out=out[k])
            out[k] -= out[k - 2]
        out[0] = 1.0
        if gaps.any():
            out[:, gaps] = 0.0

    @property
    def has_gaps(self) -> bool:
        """Whether cells are missing in either table."""
        if self.counts is not None:
            return any(bool((places < 0).any()) for places in self.places)
        return any(bool(np.isnan(places).any()) for places in self.places)


def spanned(column: Column, n_before: int, /) -> Spanned:
    """A column of which the first rows are those of one table, and the others those of a second one."""
    parts = slice(0, n_before), slice(n_before, len(column))
    gaps, is_number = column.gaps, column.is_number
    if not column.is_number:
        codes = np.asarray(column.values, dtype=np.intp)
    elif (values := _few_values(column)) is not None:
        codes = np.searchsorted(values, column.values)
        is_number = len(values) > 2
    else:
        ranks = [_ranks(column, gaps, part) for part in parts]
        if max(atom for _, atom in ranks) <= _LARGEST_ATOM:
            return Spanned(column.name, (ranks[0][0], ranks[1][0]), True)
        codes = _cells(column)
    codes = np.where(gaps, -1, codes)
    codes = (_neighbours if is_number else _frequent)(codes, n_before)
    counts = np.array(
        [np.bincount(codes[part][codes[part] >= 0], minlength=SPANNED - 1) for part in parts], dtype=float
    )
    small = codes.astype(np.int8)
    return Spanned(column.name, (small[parts[0]], small[parts[1]]), is_number, counts)


def _few_values(column: Column) -> NDArray[Any] | None:
    """All values of a number, if they are few; most columns show on a glance that they are not."""
    known = column.known
    if len(np.unique(known[:_GLANCE])) > MOST_LEVELS:
        return None
    values = np.unique(known)
    return values if len(values) <= MOST_LEVELS else None


def _cells(column: Column) -> Index:
    """Codes of cells of values, each with about as many rows, but for the value that most rows have."""
    known = np.sort(column.known)
    ends = known[(np.arange(1, MOST_LEVELS) * len(known)) // MOST_LEVELS]
    return np.asarray(np.searchsorted(np.unique(ends), column.values, side="left"))


def _ranks(column: Column, gaps: Mask, part: slice) -> tuple[Array, float]:
    """Mean ranks of one table's rows among themselves, and the share of the most frequent value."""
    known = ~gaps[part]
    ranks = np.full(len(known), np.nan)
    if not known.any():
        return ranks, 0.0
    copula = quantise(column.values[part][known])
    ranks[known] = np.take(copula.middles, copula.codes)
    return ranks, float(copula.counts.max() / copula.n_samples)


def _rows_of(codes: Index, n_before: int) -> list[Index]:
    """Rows of every level in either table."""
    n_levels = int(codes.max(initial=0)) + 1
    return [np.bincount(part[part >= 0], minlength=n_levels) for part in (codes[:n_before], codes[n_before:])]


def _neighbours(codes: Index, n_before: int) -> Index:
    """Levels of a number in their order, each one with the next until both tables have rows enough."""
    rows = np.array(_rows_of(codes, n_before))
    moved, level, held = np.empty(rows.shape[1], dtype=np.intp), 0, np.zeros(2)
    for k, own in enumerate(rows.T):
        moved[k] = level
        held += own
        if held.min() >= FEWEST_OF_LEVEL:
            level, held = level + 1, np.zeros(2)
    # The last ones may be too few, and are one with those before them.
    moved = np.minimum(moved, max(level - 1, 0))
    return np.where(codes >= 0, moved[np.maximum(codes, 0)], -1)


def _frequent(codes: Index, n_before: int) -> Index:
    """The most frequent levels that both tables have, most frequent first, and all others as one more."""
    counts = _rows_of(codes, n_before)
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
    return np.where(codes >= 0, moved[np.maximum(codes, 0)], -1)


def functions_of(columns: Sequence[Spanned], /) -> Functions:
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


def _of_levels(column: Spanned) -> tuple[Array, Array, Array, Array, Array, Array, int]:
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
