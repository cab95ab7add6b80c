"""The maximal information coefficient: the best grid's mutual information, over all small grids.

A grid of k columns and q rows divides the plane of ranks. Its entry of the characteristic matrix is the largest mutual
information of such a grid, over log(min(k, q)). The rows are made of equal size, and the columns are then the best
ones, by a dynamic programme; then the axes change places.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.coefficients.base import Measure, Statement
from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.sorting import inverse
from renyi.errors import InputError, check_choice, is_integer, must_be

Estimator: TypeAlias = Literal["mic_approx", "mic_e"]
Statistic: TypeAlias = Literal["mic", "tic"]
# The matrix of so many rows as overflow this would take more memory than `bytes_needed` lets through.
Rows: TypeAlias = NDArray[np.uint16]

# Points times numbers of rows that are looked at together, and edges that are a block of the dynamic programme: what
# they need stays in the second-level cache.
_LABELS_AT_ONCE = 2**18
_BLOCK = 64
# Steps for one pair at most, and what a core of 2020 does of them: some minutes.
_MOST_STEPS, _STEPS_A_MINUTE = 2e11, 6e10


class Side(NamedTuple):
    """One axis: its points in order, which of them are tied, and where to cut it into rows of equal size."""

    order: Index  # the row of the data that is p-th in order
    place: Index  # where in order a row of the data is: the inverse
    starts: Index  # where in order each distinct value begins
    cuts: tuple[Index, ...]  # for 2, 3, ... rows: where in order each but the first begins


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
        is_invariant=True,
        parameters="grid size B(n), c",
        cost="n^1.8",
        reference="Reshef and others 2011, https://doi.org/10.1126/science.1205438",
    )

    def __post_init__(self) -> None:
        for setting, lowest, highest in (("alpha", 1e-9, 1.0), ("c", 1.0, 1e9)):
            value = getattr(self, setting)
            is_number = is_integer(value) or isinstance(value, float | np.floating)
            if not (is_number and lowest <= value <= highest):
                wanted = "above 0 and at most 1" if setting == "alpha" else "of at least 1"
                raise must_be(setting, f"a number {wanted}", value)
        check_choice(self.estimator, Estimator, "estimator")
        check_choice(self.statistic, Statistic, "statistic")

    def prepare(self, values: Array, /) -> Side:
        values = values.ravel()
        n = len(values)
        self._check_effort(n)
        order = np.argsort(values, kind="stable")
        in_order = values[order]
        starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
        edges = np.append(starts, n)
        parts = EqualParts(edges)
        cuts = (edges[parts.into(task.n_rows)[1:-1]] for task in self._tasks(n))
        return Side(order, inverse(order), starts, tuple(cuts))

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
        return side._replace(order=inverse(order)[side.order], place=side.place[order])

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        space = Space.most(self._tasks(n), n)
        return 2 * 8 * space + 64 * max(n, _LABELS_AT_ONCE) + 8 * most_cells(n, self.alpha) ** 2

    def _check_effort(self, n: int) -> None:
        """Refuse what would take minutes for a pair, which looks like a program that hangs."""
        effort = self._effort(n)
        if effort <= _MOST_STEPS:
            return
        tried = [step / 20 for step in range(int(20 * self.alpha), 0, -1)]
        fits = next((alpha for alpha in tried if replace(self, alpha=alpha)._effort(n) <= _MOST_STEPS), None)
        remedy = "" if fits is None else f"alpha={fits:g} or less, "
        raise InputError(
            f"mic with alpha={self.alpha:g} and c={self.c:g} on {n:,} rows would take about "
            f"{effort / _STEPS_A_MINUTE:,.0f} minutes for a pair: pass {remedy}fewer rows (a random sample), or "
            "measure by 'rdc'"
        )

    def _effort(self, n: int) -> float:
        """Steps of the dynamic programme of a pair."""
        cells = most_cells(n, self.alpha)
        n_rows = np.arange(2, cells // 2 + 1, dtype=np.float64)
        n_columns = cells // n_rows
        n_clumps = np.minimum(np.floor(self.c * n_columns), n)
        wanted = np.minimum(n_columns, n_rows) if self.estimator == "mic_e" else n_columns
        return float(np.sum((wanted + n_rows) * n_clumps**2))

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


class EqualParts:
    """Cuts at given edges, the first and the last among them, into parts as equal as can be."""

    def __init__(self, edges: Index) -> None:
        # All places are doubled, so that the middle between two edges is a whole number.
        self._twice: list[int] = (2 * edges).tolist()
        self._middles: list[int] = (edges[1:] + edges[:-1]).tolist()

    def into(self, n_parts: int) -> list[int]:
        """Which edges are cuts, by the paper's rule EquipartitionYAxis.

        The end of each part is the edge nearest to its share of what is left, the earlier of two; no part is empty,
        and there may be fewer parts than asked for.
        """
        twice, middles = self._twice, self._middles
        end, last = twice[-1], len(middles)
        cuts, at = [0], 0
        for left in range(n_parts, 0, -1):
            here = twice[at]
            at = bisect_left(middles, here - (here - end) // left, at + 1)
            cuts.append(at)
            if at == last:
                break
        return cuts


def entries(x: Side, y: Side, tasks: list[Task]) -> Array:
    """Entries (rows, columns) from 2 on: rows of y of equal size, the best columns of x; 0 where none is asked for."""
    n = len(x.order)
    found = np.zeros((len(tasks), len(tasks)))
    space = Space.of(tasks, n)
    along_x = y.place[x.order]
    chunk = max(1, _LABELS_AT_ONCE // n)
    for first in range(0, len(tasks), chunk):
        part = tasks[first : first + chunk]
        rows = rows_of(y.cuts[first : first + chunk], n).take(along_x, axis=1)
        for i, (task, before) in enumerate(zip(part, clump_counts(rows, x.starts, part), strict=True), start=first):
            found[i, : task.n_columns - 1] = gains(before, task.n_columns, n, space)
    # Ties may leave fewer rows than asked for, though never less than two, as a side is not constant.
    n_rows = np.array([len(cuts) + 1 for cuts in y.cuts])
    return np.asarray(found / (n * np.log(np.minimum(np.arange(2, len(tasks) + 2), n_rows[:, None]))))


def rows_of(cuts: tuple[Index, ...], n: int) -> Rows:
    """The row of every place in order, for each number of rows."""
    rows = np.zeros((len(cuts), n), dtype=np.uint16)
    for row, places in zip(rows, cuts, strict=True):
        row[places] = 1
    return np.cumsum(rows, axis=1, dtype=np.uint16, out=rows)


def clump_counts(rows: Rows, starts: Index, tasks: list[Task]) -> Iterator[Index]:
    """For each task, how many points lie before each edge of its clumps: all of them, then those of each row."""
    n = rows.shape[1]
    edges = list(clump_edges(rows, starts, tasks))
    # Counted and summed for all tasks in one go: what earlier tasks add drops out of every difference.
    ends = np.concatenate([own[1:] + n * i for i, own in enumerate(edges)])
    clump_of = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    n_rows = tasks[-1].n_rows
    counts = np.bincount(rows.ravel() * np.intp(len(ends)) + clump_of, minlength=n_rows * len(ends))
    before = np.zeros((n_rows + 1, len(ends) + 1), dtype=np.intp)
    before[0, 1:] = ends
    np.cumsum(counts.reshape(n_rows, -1), axis=1, out=before[1:, 1:])
    first = 0
    for task, own in zip(tasks, edges, strict=True):
        yield before[: task.n_rows + 1, first : first + len(own)]
        first += len(own) - 1


def clump_edges(rows: Rows, starts: Index, tasks: list[Task]) -> Iterator[Index]:
    """Edges of clumps, for each task: runs of points in one row, joined to at most as many as the task allows."""
    n = rows.shape[1]
    is_edge = np.ones((len(rows), len(starts) + 1), dtype=np.bool_)
    np.not_equal(rows[:, starts[1:]], rows[:, starts[1:] - 1], out=is_edge[:, 1:-1])
    if len(starts) < n:
        is_edge[:, 1:-1] |= around_mixed_ties(rows, starts)
    n_edges = np.count_nonzero(is_edge, axis=1)
    which = np.flatnonzero(is_edge) - np.repeat(np.arange(len(rows)) * is_edge.shape[1], n_edges)
    places = np.append(starts, n)[which]
    for task, edges in zip(tasks, np.split(places, np.cumsum(n_edges)[:-1]), strict=True):
        # The paper's superclumps: clumps are joined as tied points would be.
        is_many = len(edges) - 1 > task.most_clumps
        yield edges[EqualParts(edges).into(task.most_clumps)] if is_many else edges


def around_mixed_ties(rows: Rows, starts: Index) -> Mask:
    """Which starts touch points that are tied but not in one row, which are a clump of their own; not of the first."""
    changes = np.zeros(rows.shape, dtype=np.bool_)
    np.not_equal(rows[:, 1:], rows[:, :-1], out=changes[:, 1:])
    changes[:, starts] = False
    is_mixed = np.logical_or.reduceat(changes, starts, axis=1)
    return np.asarray(is_mixed[:, 1:] | is_mixed[:, :-1])


class Space(NamedTuple):
    """Memory that all blocks of the dynamic programme share: fresh pages cost as much as what is written there."""

    places: Index
    values: Array
    terms: Array

    @classmethod
    def of(cls, tasks: list[Task], n: int) -> "Space":
        """Room for the largest block of these tasks."""
        most = cls.most(tasks, n)
        # One piece, which the C library keeps for the next call: of several it gives some back, and maps them anew.
        memory = np.empty(2 * most + most // 3)
        return cls(memory[:most].view(np.intp), memory[most : 2 * most], memory[2 * most :])

    @staticmethod
    def most(tasks: list[Task], n: int) -> int:
        """Numbers in the largest block; the rows are two at least, and one more for all points."""
        n_edges = [min(task.most_clumps, n) + 1 for task in tasks]
        return max((task.n_rows + 1) * min(_BLOCK, m) * m for task, m in zip(tasks, n_edges, strict=True))


def gains(before: Index, n_columns: int, n: int, space: Space) -> Array:
    """Mutual information in nats, times n, of the rows with the best 2, ..., n_columns columns.

    With d points of a column in each row and D in all, a partition has n times minus the conditional entropy of rows

        sum over columns of (sum over rows of d log d) - D log D,

    and the best l columns up to an edge t are the best l - 1 up to some edge s, and one more from s to t.
    """
    n_edges = before.shape[1]
    # More columns than clumps are of no use. A column may be empty, so that two are always there.
    n_distinct = max(2, min(n_columns, n_edges - 1))
    best = np.empty((n_distinct - 1, n_edges))
    best[0] = column_terms(before, slice(None), slice(0, 1), n, space)[:, 0]
    for first in range(0, n_edges if n_distinct > 2 else 0, _BLOCK):
        last = min(first + _BLOCK, n_edges)
        terms = column_terms(before, slice(first, last), slice(0, last), n, space)
        sums = space.values[: terms.size].reshape(terms.shape)
        # A block of edges needs those before it alone: it is done for all numbers of columns while in the cache.
        for columns in range(1, n_distinct - 1):
            np.add(terms, best[columns - 1, :last], out=sums)
            np.maximum.reduce(sums, axis=1, out=best[columns, first:last])
    # Of the last number of columns the end alone is asked for. One column leaves minus n times the entropy of rows.
    final = column_terms(before, slice(n_edges - 1, n_edges), slice(None), n, space)
    found = np.max(best + final, axis=1) - best[0, -1]
    return np.concatenate((found, np.full(n_columns - n_distinct, found[-1])))


def column_terms(before: Index, ends: slice, starts: slice, n: int, space: Space) -> Array:
    """The term of one column for each of its ends and starts; -inf where it would end before it starts."""
    shifts = np.ones((len(before), 1), dtype=np.intp)
    shifts[0] = 2 * n + 2
    last, first = (before[:, ends] + shifts)[:, :, None], before[:, None, starts]
    shape = (len(before), last.shape[1], first.shape[2])
    size = math.prod(shape)
    places = np.subtract(last, first, out=space.places[:size].reshape(shape))
    values = d_log_d(n).take(places, mode="clip", out=space.values[:size].reshape(shape))
    terms = space.terms[: size // len(before)].reshape(shape[1:])
    return np.asarray(np.add.reduce(values, axis=0, out=terms))


@lru_cache(maxsize=16)
def d_log_d(n: int) -> Array:
    """A table of d log d at d + 1, of -D log D at D + 2n + 2, and of -inf at 0, where "clip" takes negative d."""
    d = np.arange(n + 1, dtype=np.float64)
    values = d * np.log(np.maximum(d, 1.0))
    return np.concatenate(([-np.inf], values, np.zeros(n), -values))
