"""Coefficients of all pairs at all lags: products of the functions of all columns, shifted, lag by lag.

Functions are those of the coefficient `renyi.rdc`, of ranks over the whole series. At a lag of l rows x at t is
compared with y at t + l, and products are means over the rows that both have then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.compute.eigenvalues import largest_root
from renyi.data.column import Column
from renyi.data.time import Timeline
from renyi.pair.prepare import Prepared
from renyi.pair.series import SHIFTS, over_rows

# Entries of products of all functions at one lag: beyond, columns are taken in parts.
_MOST_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of the coefficients of all columns at all rows in order of time, side by side."""

    values: Array
    ends: Index
    known: Array | None
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, columns: Sequence[Column], prepared: Sequence[Prepared], line: Timeline, /) -> "Functions":
        """From columns, missing rows as 0."""
        parts = [
            over_rows(own.basis, column.missing)[line.order] for column, own in zip(columns, prepared, strict=True)
        ]
        known = None
        if any(column.missing is not None for column in columns):
            known = np.stack([~column.gaps[line.order] for column in columns], axis=1).astype(np.float64)
        return cls(np.concatenate(parts, axis=1), np.cumsum([part.shape[1] for part in parts]), known, line.lengths)

    @property
    def n_functions(self) -> Index:
        """Functions of every column."""
        return np.diff(self.ends, prepend=0)

    def part(self, columns: Sequence[int], /) -> "Functions":
        """Those of some columns."""
        starts = self.ends - self.n_functions
        which = np.concatenate([np.arange(starts[k], self.ends[k]) for k in columns])
        known = None if self.known is None else self.known[:, list(columns)]
        return Functions(self.values[:, which], np.cumsum(self.n_functions[list(columns)]), known, self.lengths)

    @cached_property
    def _starts(self) -> Index:
        return np.concatenate(([0], np.cumsum(self.lengths)[:-1])).astype(np.intp)

    def lagged(self, other: "Functions", lag: int, /) -> tuple[Array, Array | float]:
        """Sums of products with those of others so many rows later, and how many rows both have."""
        early, late = slice(max(0, -lag), None), slice(max(0, lag), None)

        def summed(x: Array, y: Array) -> Array:
            total = np.zeros((x.shape[1], y.shape[1]))
            for start, n in zip(self._starts, self.lengths, strict=True):
                own, others = x[start : start + n][early], y[start : start + n][late]
                rows = min(len(own), len(others))
                total += own[:rows].T @ others[:rows]
            return total

        n_rows = sum(n - abs(lag) for n in self.lengths)
        if self.known is None or other.known is None:
            return summed(self.values, other.values), float(n_rows)
        return summed(self.values, other.values), summed(self.known, other.known)

    def turned(self, other: "Functions", share: float, /) -> tuple[Array, Array | float]:
        """The same where every series of the others is shifted in a circle by a share of its length."""
        rows = np.concatenate(
            [start + (np.arange(n) + round(share * n)) % n for start, n in zip(self._starts, self.lengths, strict=True)]
        )
        products = self.values.T @ other.values[rows]
        if self.known is None or other.known is None:
            return products, float(len(rows))
        return products, self.known.T @ other.known[rows]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients (pairs, lags) from −max to max, the rows behind each, and what chance shows of every pair.

    `chance` (pairs, shifts) has coefficients where one side is shifted far away.
    """

    values: Array
    n: Index
    chance: Array


def coefficients(functions: Functions, pairs: Sequence[tuple[int, int]], max_lag: int, /) -> Coefficients:
    """Of pairs of columns, by their places."""
    n_shifts = len(SHIFTS)
    found = Coefficients(
        np.empty((len(pairs), 2 * max_lag + 1)),
        np.empty((len(pairs), 2 * max_lag + 1), dtype=np.intp),
        np.empty((len(pairs), n_shifts)),
    )
    for which, x, y, shapes in _parts(functions, pairs):
        for k, lag in enumerate(range(-max_lag, max_lag + 1)):
            products, n = x.lagged(y, lag)
            found.values[which, k], found.n[which, k] = _roots(products, n, shapes, len(which))
        for k, share in enumerate(SHIFTS):
            found.chance[which, k], _ = _roots(*x.turned(y, share), shapes, len(which))
    return found


@dataclass(frozen=True, eq=False)
class _Shape:
    """Pairs with bases of equal sizes: which, of which columns, and where their functions begin."""

    members: Index
    columns: tuple[Index, Index]
    starts: tuple[Index, Index]
    sizes: tuple[int, int]


def _parts(
    functions: Functions, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[Index, Functions, Functions, list[_Shape]]]:
    """Pairs in parts whose products fit into memory: some columns on the left, all their partners on the right."""
    whole = np.array(pairs, dtype=np.intp)
    lefts = np.unique(whole[:, 0])
    wide = int(functions.ends[-1]) * int(functions.n_functions.max())
    for some in np.array_split(lefts, -(-len(lefts) // max(1, _MOST_ENTRIES // wide))):
        which = np.flatnonzero(np.isin(whole[:, 0], some))
        rights = np.unique(whole[which, 1])
        x, y = functions.part(some.tolist()), functions.part(rights.tolist())
        places = np.searchsorted(some, whole[which, 0]), np.searchsorted(rights, whole[which, 1])
        yield which, x, y, _shapes(x, y, places)


def _shapes(x: Functions, y: Functions, places: tuple[Index, Index]) -> list[_Shape]:
    sizes = np.stack([side.n_functions[place] for side, place in zip((x, y), places, strict=True)])
    starts = [(side.ends - side.n_functions)[place] for side, place in zip((x, y), places, strict=True)]
    found = []
    for a, b in np.unique(sizes, axis=1).T.tolist():
        members = np.flatnonzero((sizes[0] == a) & (sizes[1] == b))
        columns = places[0][members], places[1][members]
        found.append(_Shape(members, columns, (starts[0][members], starts[1][members]), (a, b)))
    return found


def _roots(products: Array, n: Array | float, shapes: Sequence[_Shape], n_pairs: int) -> tuple[Array, Index]:
    """Largest singular values of the mean products of all pairs, at most 1, and their rows."""
    values, rows = np.empty(n_pairs), np.empty(n_pairs, dtype=np.intp)
    for shape in shapes:
        i = shape.starts[0][:, np.newaxis, np.newaxis] + np.arange(shape.sizes[0])[:, np.newaxis]
        j = shape.starts[1][:, np.newaxis, np.newaxis] + np.arange(shape.sizes[1])
        n_rows = np.broadcast_to(n if isinstance(n, float) else n[shape.columns], len(shape.members))
        means = products[i, j] / np.maximum(n_rows, 1.0)[:, np.newaxis, np.newaxis]
        values[shape.members] = np.sqrt(np.clip(largest_root(means), 0.0, 1.0))
        rows[shape.members] = n_rows
    return values, rows
