"""The maximal information coefficient: the best grid's mutual information, over all small grids.

A grid of k columns and q rows divides the plane of ranks. Its entry of the characteristic matrix is the largest mutual
information of such a grid, over log(min(k, q)). The rows are made of equal size, and the columns are then the best
ones, by a dynamic programme; then the axes change places.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from renyi.coefficient import is_integer
from renyi.errors import InputError
from renyi.peers.protocol import Measure, Statement

__all__ = ["Mic"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Estimator: TypeAlias = Literal["mic_approx", "mic_e"]
Statistic: TypeAlias = Literal["mic", "tic"]
Rows: TypeAlias = NDArray[np.uint16]

# Points times numbers of rows that are looked at together, and numbers that a block of the dynamic programme holds:
# both stay in the second-level cache.
_LABELS_AT_ONCE = 2**18
_ENTRIES_AT_ONCE = 2**16


class Side(NamedTuple):
    """One axis: where its points lie in order, which of them are tied, and its rows for every number of rows."""

    order: Index  # the row of the data that is p-th in order
    place: Index  # where in order a row of the data is: the inverse
    starts: Index  # where in order each distinct value begins
    rows: Rows  # (number of rows, place in order): row of the grid


class Task(NamedTuple):
    """What is asked of one number of rows."""

    n_rows: int
    n_columns: int
    most_clumps: int


@dataclass(frozen=True)
class Mic(Measure[Side]):
    """The maximal information coefficient of Reshef and others, and its later kin.

    Near 0 for independent and many points, 1 for noiseless functions of any shape that small grids can follow.

    Parameters
    ----------
    alpha : float, default 0.6
        Grids have at most B(n) = max(n^alpha, 4) cells; above 0, at most 1.
    c : float, default 15
        Where k columns are sought, the search starts from at most c k groups of neighbours: at least 1.
    estimator : {"mic_approx", "mic_e"}, default "mic_approx"
        "mic_approx" is that of 2011: each axis in turn has rows of equal size, and the better is taken. "mic_e" is
        that of 2016: the axis with more parts has parts of equal size; it is consistent, and less biased.
    statistic : {"mic", "tic"}, default "mic"
        "mic" is the largest entry of the matrix; "tic", the total information coefficient, their mean (the sum over
        their number, so that it lies between 0 and 1), which is better at testing.

    Notes
    -----
    Where columns and rows of "mic_e" are equally many, the definition of 2016 makes those of x of equal size, so that
    x and y are not alike. Here the statistic is over both orders: the largest entry of both, or the mean of both.

    References
    ----------
    D. Reshef and others, 2011, https://doi.org/10.1126/science.1205438, with its supplement, sections 3 and 4.
    Y. Reshef and others, "Measuring dependence powerfully and equitably", Journal of Machine Learning Research
    17(211), 2016.

    Examples
    --------
    >>> import numpy as np, renyi
    >>> x = np.linspace(-1, 1, 200)
    >>> round(renyi.measure("mic")(x, x**2), 3)
    1.0
    >>> round(renyi.measure("mic", estimator="mic_e", statistic="tic")(x, x**2), 3)
    0.655
    """

    alpha: float = 0.6
    c: float = 15.0
    estimator: Estimator = "mic_approx"
    statistic: Statistic = "mic"

    name: ClassVar[str] = "mic"
    statement: ClassVar[Statement] = Statement(
        title="Maximal information coefficient",
        is_nonlinear=True,
        takes_vectors=False,
        is_invariant=True,
        range=(0.0, 1.0),
        parameters="grid size B(n), c",
        cost="n^1.8",
        law="shuffles",
        reference="Reshef and others 2011, https://doi.org/10.1126/science.1205438",
    )

    def __post_init__(self) -> None:
        for setting, lowest, highest in (("alpha", 0.0, 1.0), ("c", 1.0, math.inf)):
            value = getattr(self, setting)
            is_number = is_integer(value) or isinstance(value, float | np.floating)
            if not (is_number and max(lowest, 1e-9) <= value <= highest and math.isfinite(value)):
                wanted = "above 0 and at most 1" if setting == "alpha" else "of at least 1"
                raise InputError(f"{setting}={value!r} makes no grid: pass a number {wanted}")
        for setting, known in (("estimator", get_args(Estimator)), ("statistic", get_args(Statistic))):
            value = getattr(self, setting)
            if value not in known:
                raise InputError(f"mic has no {setting} {value!r}: choose one of {', '.join(map(repr, known))}")

    def prepare(self, values: Array, /) -> Side:
        values = values.ravel()
        n = len(values)
        order = np.argsort(values, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(n)
        in_order = values[order]
        starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
        edges = np.append(starts, n)
        rows = np.empty((most_cells(n, self.alpha) // 2 - 1, n), dtype=np.uint16)
        for n_rows, row in enumerate(rows, start=2):
            sizes = np.diff(edges[equal_parts(edges, n_rows)])
            row[:] = np.repeat(np.arange(len(sizes)), sizes)
        return Side(order, place, starts, rows)

    def combine(self, x: Side, y: Side, /) -> float:
        tasks = self._tasks(len(x.order))
        along_x, along_y = entries(x, y, tasks), entries(y, x, tasks)
        if self.estimator == "mic_e":
            # Each direction has its own half of the matrix; of the diagonal, which both have, each counts for a half.
            largest, total = max(along_x.max(), along_y.max()), along_x.sum() + along_y.sum()
            total -= (along_x.trace() + along_y.trace()) / 2
        else:
            best = np.maximum(along_x, along_y.T)
            largest, total = best.max(), best.sum()
        n_entries = sum(most_cells(len(x.order), self.alpha) // task.n_rows - 1 for task in tasks)
        return float(np.clip(largest if self.statistic == "mic" else total / n_entries, 0.0, 1.0))

    def reordered(self, side: Side, order: Index, /) -> Side:
        where = np.empty_like(order)
        where[order] = np.arange(len(order))
        return side._replace(order=where[side.order], place=side.place[order])

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        return 2 * 2 * n * most_cells(n, self.alpha) // 2

    def _tasks(self, n: int) -> list[Task]:
        """For every number of rows, how many columns are asked for and from how many clumps."""
        cells = most_cells(n, self.alpha)
        tasks = []
        for n_rows in range(2, cells // 2 + 1):
            n_columns = cells // n_rows
            wanted = min(n_columns, n_rows) if self.estimator == "mic_e" else n_columns
            tasks.append(Task(n_rows, wanted, int(self.c * n_columns)))
        return tasks


def most_cells(n: int, alpha: float) -> int:
    """B(n), in whole cells."""
    return int(max(float(n) ** alpha, 4.0))


def equal_parts(edges: Index, n_parts: int) -> list[int]:
    """At which edges, from first to last, to cut into parts as equal as can be (the paper's EquipartitionYAxis).

    The end of each part is the edge nearest to its share of what is left, the earlier of two; no part is empty, and
    there may be fewer parts than asked for.
    """
    # Twice the places, so that the middle between two edges is a whole number.
    middles = (edges[1:] + edges[:-1]).tolist()
    twice = (2 * edges).tolist()
    end, last = twice[-1], len(middles)
    cuts, at = [0], 0
    for left in range(n_parts, 0, -1):
        here = twice[at]
        at = max(bisect_left(middles, here - (here - end) // left), at + 1)
        cuts.append(at)
        if at == last:
            break
    return cuts


def entries(x: Side, y: Side, tasks: list[Task]) -> Array:
    """Entries (rows, columns) from 2 on: rows of y of equal size, the best columns of x; 0 where none is asked for."""
    n = len(x.order)
    found = np.zeros((len(tasks), len(tasks)))
    along_x = y.place[x.order]
    chunk = max(1, _LABELS_AT_ONCE // n)
    for first in range(0, len(tasks), chunk):
        part = tasks[first : first + chunk]
        rows = y.rows[first : first + chunk].take(along_x, axis=1)
        for i, (task, counts) in enumerate(zip(part, clump_counts(rows, x.starts, part), strict=True), start=first):
            found[i, : task.n_columns - 1] = gains(counts, task.n_columns, n)
    # Ties may leave fewer rows than asked for, and never less than two as a side is not constant.
    n_rows = y.rows[:, -1:] + 1
    return np.asarray(found / (n * np.log(np.minimum(np.arange(2, len(tasks) + 2), n_rows))))


def clump_counts(rows: Rows, starts: Index, tasks: list[Task]) -> Iterator[Index]:
    """For each task, how many points lie before each edge of its clumps: all of them, then those of each row."""
    n = rows.shape[1]
    edges = [clumps + n * i for i, clumps in enumerate(clump_ends(rows, starts, tasks))]
    ends = np.concatenate(edges)
    clump_of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    n_rows = tasks[-1].n_rows
    # Counted and summed for all tasks in one go: what earlier tasks add drops out of every difference.
    counts = np.bincount(rows.ravel() * np.intp(len(ends)) + clump_of, minlength=n_rows * len(ends))
    before = np.zeros((n_rows + 1, len(ends) + 1), dtype=np.intp)
    before[0, 1:] = ends
    np.cumsum(counts.reshape(n_rows, -1), axis=1, out=before[1:, 1:])
    first = 0
    for task, own in zip(tasks, edges, strict=True):
        yield before[: task.n_rows + 1, first : first + len(own) + 1]
        first += len(own)


def clump_ends(rows: Rows, starts: Index, tasks: list[Task]) -> Iterator[Index]:
    """Where clumps end, for each task: runs of points in one row, joined to at most as many as the task allows."""
    n = rows.shape[1]
    is_end = rows[:, starts[1:] - 1] != rows[:, starts[1:]]
    if len(starts) < n:
        is_end |= around_mixed_ties(rows, starts)
    found = np.flatnonzero(is_end)
    bounds = np.searchsorted(found, is_end.shape[1] * np.arange(len(tasks) + 1))
    for i, task in enumerate(tasks):
        inner = starts[1:][found[bounds[i] : bounds[i + 1]] - is_end.shape[1] * i]
        ends = np.append(inner, n)
        if len(ends) > task.most_clumps:
            # The paper's superclumps: clumps are joined as tied points would be.
            ends = ends[np.array(equal_parts(np.append(0, ends), task.most_clumps)[1:]) - 1]
        yield ends


def around_mixed_ties(rows: Rows, starts: Index) -> NDArray[np.bool_]:
    """Which ends of tied points touch points that are tied but not in one row: these are a clump of their own."""
    inside = np.empty(rows.shape, dtype=np.bool_)
    np.not_equal(rows[:, 1:], rows[:, :-1], out=inside[:, 1:])
    inside[:, starts] = False
    is_mixed = np.logical_or.reduceat(inside, starts, axis=1)
    return np.asarray(is_mixed[:, 1:] | is_mixed[:, :-1])


def gains(before: Index, n_columns: int, n: int) -> Array:
    """Mutual information in nats, times n, of the rows with the best 2, ..., n_columns columns.

    With d points of a column in each row and D in all, a partition has n times minus the conditional entropy of rows

        sum over columns of (sum over rows of d log d) - D log D,

    and the best l columns up to an edge t are the best l - 1 up to some edge s, and one more from s to t.
    """
    n_edges = before.shape[1]
    n_distinct = min(n_columns, n_edges - 1)
    best = np.zeros((max(n_distinct, 2), n_edges))
    if n_distinct == 2:
        # Of the last number of columns the end alone is asked for.
        best[0] = column_terms(before, slice(0, n_edges), slice(0, 1), n)[:, 0]
    height = max(16, _ENTRIES_AT_ONCE // before.size)
    for first in range(0 if n_distinct > 2 else n_edges - 1, n_edges, height):
        last = min(first + height, n_edges)
        terms = column_terms(before, slice(first, last), slice(0, last), n)
        if n_distinct > 2:
            best[0, first:last] = terms[:, 0]
        sums = np.empty_like(terms)
        # Edges before t matter alone: a block of edges is done for all numbers of columns while it is in the cache.
        for columns in range(1, n_distinct - 1):
            np.add(terms, best[columns - 1, :last], out=sums)
            np.maximum.reduce(sums, axis=1, out=best[columns, first:last])
    best[-1, -1] = np.max(best[-2] + terms[-1])
    # One column leaves the entropy of rows; more columns than clumps are of no use.
    reached = best[1:, -1] - best[0, -1]
    return np.concatenate((reached, np.full(n_columns - 1 - len(reached), reached[-1])))


def column_terms(before: Index, ends: slice, starts: slice, n: int) -> Array:
    """The term of one column for each of its ends and starts; -inf where it would end before it starts."""
    shifts = np.full((len(before), 1), 1)
    shifts[0] = 2 * n + 2
    places = (before[:, ends] + shifts)[:, :, None] - before[:, None, starts]
    return np.asarray(d_log_d(n).take(places, mode="clip").sum(axis=0))


@lru_cache(maxsize=16)
def d_log_d(n: int) -> Array:
    """A table of d log d at d + 1, of -D log D at D + 2n + 2, and of -inf at 0, where "clip" takes negative d."""
    d = np.arange(n + 1, dtype=np.float64)
    values = d * np.log(np.maximum(d, 1.0))
    return np.concatenate(([-np.inf], values, np.zeros(n), -values))
