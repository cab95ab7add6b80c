"""All pairs of a tile: coefficient, p-value, and the linear coefficients beside them.

What a batch of pairs cannot answer, because a function has dropped out on the common rows or no block can be trusted,
goes the way of a single pair.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.common_rows import CommonPairs, CountedSide, MaskedSide, Side
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.sums import Sums
from renyi.basis import random_features
from renyi.compute.arrays import Array, Index, Mask, flat_places, in_memory, like, namespace, pair_index
from renyi.compute.threads import keep_going, share
from renyi.errors import InputError
from renyi.pair.bases import check_dimensions
from renyi.pair.independence import Crosses, Permutations, Waiting, as_observed, permuted
from renyi.pair.prepare import Prepared, Restricted, together
from renyi.pair.result import TestResult

Dimensions: TypeAlias = NDArray[np.integer[Any]]
Pair: TypeAlias = tuple[Prepared, Prepared, Crosses | None]

# Gram matrices of more levels on the common rows of pairs would take more time and room than a pair by itself.
_MOST_LEVELS = 40
# Columns with gaps of one side whose pairs are answered at once, from so many rows on: cores without other work share
# those of a tile, and half of its matrices is nearer to the caches: 200 columns of 10,000 rows take 1.7 s on two cores,
# whole tiles 2.0 s. With 20 columns, or fewer rows, null distributions are looked up too often.
_COLUMNS_WITH_GAPS, _ROWS_TO_CUT = 50, 2**12
# Pairs whose rows are permuted together where they are alike: enough to spare calls, few enough to share among cores.
_PERMUTED_TOGETHER = 64
# How pairs without a null distribution are permuted.
PERMUTATIONS = Permutations(9999, random_features.seeds(None, n_draws=1)[0], None, are_many=True)


class Found(Protocol):
    """What was found on pairs of columns, by their positions in the table.

    `dimensions` (pairs, 2) are those of the two bases on the common rows. Pearson's correlation may wait until it is
    asked for. Where cells are missing, the leverages of both sides on the common rows may be `heavier`, by this factor
    at most, than those of the same rows among all; None is 1.
    """

    @property
    def i(self) -> Index: ...
    @property
    def j(self) -> Index: ...
    @property
    def n(self) -> Index: ...
    @property
    def dimensions(self) -> Dimensions: ...
    @property
    def coefficient(self) -> Array: ...
    @property
    def log_pvalue(self) -> Array: ...
    @property
    def pearson(self) -> Array | None: ...
    @property
    def spearman(self) -> Array: ...
    @property
    def is_permuted(self) -> Mask: ...
    @property
    def heavier(self) -> Array | None: ...

    def matrix(self, name: str, /) -> Array | None:
        """All pairs and columns with themselves as a matrix, if that is how this is kept."""
        ...

    def places(self, pairs: Sequence[tuple[int, int]], /) -> Index:
        """Where pairs of columns are among all of them."""
        ...


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """The same, one number a pair; on a device as tensors."""

    i: Index
    j: Index
    n: Index
    dimensions: Dimensions
    coefficient: Array
    log_pvalue: Array
    pearson: Array | None
    spearman: Array
    is_permuted: Mask
    heavier: Array | None = None

    @classmethod
    def of(cls, found: Found, which: Any = slice(None), /) -> "FoundPairs":
        """Some of the pairs, in the order given, in memory."""
        taken: dict[str, Any] = {
            name: None if (values := getattr(found, name)) is None else in_memory(values[which]) for name in FIELDS
        }
        return cls(**taken)

    @classmethod
    def joined(cls, parts: "Sequence[FoundPairs]", /) -> "FoundPairs":
        """One after the other; what waits in one of them waits in all."""
        whole: dict[str, Any] = {}
        for name in FIELDS:
            values = [getattr(part, name) for part in parts]
            whole[name] = None if any(value is None for value in values) else np.concatenate(values)
        return cls(**whole)

    def matrix(self, _: str, /) -> None:
        """Not here."""

    def places(self, pairs: Sequence[tuple[int, int]], /) -> Index:
        """Where pairs of columns are among all of them."""
        if not pairs:
            return np.empty(0, dtype=np.intp)
        wanted = np.array(pairs, dtype=np.intp)
        base = int(max(self.j.max(), wanted[:, 1].max())) + 1
        keys = self.i * base + self.j
        order = np.argsort(keys)
        return np.asarray(order[np.searchsorted(keys[order], wanted[:, 0] * base + wanted[:, 1])])


FIELDS = tuple(field.name for field in fields(FoundPairs))


class Rows(Protocol):
    """Where the rows of two groups of columns are: what was added up of them, and what single pairs need."""

    can_wait: bool  # Whether Pearson's correlation can be found later.
    can_be_cut: bool  # Whether columns with gaps can be taken some at a time, given the sums of all.

    def sums(self, x: ColumnGroup, y: ColumnGroup, /) -> Sums:
        """Over all rows."""
        ...

    def sides(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        """Both sides of the pairs (i, j), where cells are missing."""
        ...

    def pair(self, x: ColumnGroup, y: ColumnGroup, a: int, b: int, /) -> Pair:
        """One pair of columns on the rows that both have."""
        ...


class InMemory:
    """Rows in memory."""

    can_wait = can_be_cut = True

    def sums(self, x: ColumnGroup, y: ColumnGroup, /) -> Sums:
        return Sums.of(x, y)

    def sides(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        return MaskedSide.both(x, y, i, j)

    def pair(self, x: ColumnGroup, y: ColumnGroup, a: int, b: int, /) -> Pair:
        return pair_of_rows(x.variables[a], y.variables[b])


@dataclass(frozen=True, eq=False)
class Summed:
    """Rows that were read in batches, or elsewhere, and are gone: their sums are left."""

    total: Sums
    can_wait = can_be_cut = False

    def sums(self, x: ColumnGroup, y: ColumnGroup, /) -> Sums:
        return self.total

    def sides(self, x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, /) -> tuple[Side, Side]:
        return CountedSide.both(x, y, i, j, self.total)

    def pair(self, x: ColumnGroup, y: ColumnGroup, a: int, b: int, /) -> Pair:
        own, other, counts = x.variables[a], y.variables[b], self.total.counts
        n = self.total.n_rows if self.total.common is None else int(self.total.common[a, b])
        left = None
        if counts is not None:
            left = _left(own.prepared, counts[0], a, b, n), _left(other.prepared, counts[1], b, a, n)
        return pair_of_sums(own, other, self.total.of_pair(a, b, n), left, n)


def compare(
    x: ColumnGroup, y: ColumnGroup, rows: Rows, permutations: Permutations, /, *, at_most: float = 1.0
) -> FoundPairs:
    """All pairs of a tile; of a group with itself those above the diagonal.

    Of pairs without gaps whose p-value is above `at_most` nothing more may be said: it is 1 then, the coefficient 0.
    """
    are_complete = x.is_complete and y.is_complete
    are_wide = has_wide_categories(x) or has_wide_categories(y)
    if (x.scales.has_many_levels and y.scales.has_many_levels) or (are_wide and not are_complete):
        return _one_by_one(x, y, rows, permutations)
    sums = rows.sums(x, y)
    if are_complete or not rows.can_be_cut or x.n_rows < _ROWS_TO_CUT:
        i, j = pair_index((len(x.positions), len(y.positions)), sums.coefficient, above=y is x)
        return _answered(x, y, (i, j), sums, rows=rows, permutations=permutations, at_most=at_most)
    # The columns that come after those of a part, too, where these are some of the others.
    n_last = max(1, len(x.positions) - (y is x))
    parts = [slice(k, k + _COLUMNS_WITH_GAPS) for k in range(0, n_last, _COLUMNS_WITH_GAPS)]

    def of_part(part: slice) -> FoundPairs:
        others = slice(part.start if y is x else 0, None)
        own, other = x.part(part), y.part(others)
        i, j = pair_index((len(own.positions), len(other.positions)), above=False)
        index = (i[j > i], j[j > i]) if y is x else (i, j)
        return _answered(
            own, other, index, sums.part(part, others), rows=rows, permutations=permutations, at_most=at_most
        )

    return FoundPairs.joined(share(of_part, parts))


def _answered(
    x: ColumnGroup,
    y: ColumnGroup,
    index: tuple[Index, Index],
    sums: Sums,
    /,
    *,
    rows: Rows,
    permutations: Permutations,
    at_most: float,
) -> FoundPairs:
    """Pairs of columns at some places of x and y, given the sums of all of them."""
    i, j = index
    pairs = (
        CompletePairs(x, y, i, j, sums, at_most=at_most)
        if x.is_complete and y.is_complete
        else CommonPairs(sums, rows.sides(x, y, i, j))
    )
    xp, coefficient = namespace(pairs.coefficient), pairs.coefficient
    # Without a coefficient there are too few rows for the pair, and no test either.
    is_there = ~xp.isnan(coefficient)
    log_pvalue = xp.where(is_there, pairs.log_pvalue, np.nan)
    is_permuted = xp.zeros_like(is_there)
    left = flat_places(is_there & xp.isnan(log_pvalue)).tolist()
    results = by_themselves((partial(rows.pair, x, y, int(i[k]), int(j[k])) for k in left), permutations)
    for k, result in zip(left, results, strict=True):
        if result is not None:
            log_pvalue[k], is_permuted[k] = result.log_pvalue, result.calibration == "permutation"
            coefficient[k] = result.coefficient
    trends = [like(np.array([v.trend for v in side.variables]), coefficient) for side in (x, y)]
    return FoundPairs(
        i=like(x.positions, coefficient)[i],
        j=like(y.positions, coefficient)[j],
        n=pairs.n,
        dimensions=pairs.dimensions,
        coefficient=coefficient,
        log_pvalue=log_pvalue,
        pearson=pairs.pearson,
        spearman=trends[0][i] * trends[1][j] * pairs.first,
        is_permuted=is_permuted,
        heavier=pairs.heavier,
    )


def pairs_of(x: ColumnGroup, y: ColumnGroup, /) -> tuple[Index, Index]:
    """The positions of both columns of all pairs of a tile."""
    i, j = pair_index((len(x.positions), len(y.positions)), above=y is x)
    return x.positions[i], y.positions[j]


def has_wide_categories(group: ColumnGroup, /) -> bool:
    """Whether these are categories of so many levels that pairs with gaps are compared one by one."""
    return group.scales.is_category and group.scales.basis.dimension > _MOST_LEVELS


def _one_by_one(x: ColumnGroup, y: ColumnGroup, rows: Rows, permutations: Permutations) -> FoundPairs:
    """All pairs of two categories of many levels, or of one with gaps: levels are few beside rows, but not functions.

    On common rows the functions of a category are known in closed form, where others would have to be whitened.
    """
    i, j = pair_index((len(x.positions), len(y.positions)), above=y is x)
    unknown = np.full(len(i), np.nan)
    coefficient, log_pvalue = unknown.copy(), unknown.copy()
    dimensions, is_permuted = np.zeros((len(i), 2), dtype=np.int32), np.zeros(len(i), dtype=bool)
    heavier = np.ones(len(i))
    index = list(zip(i.tolist(), j.tolist(), strict=True))
    results = by_themselves((partial(rows.pair, x, y, a, b) for a, b in index), permutations)
    for k, ((a, b), result) in enumerate(zip(index, results, strict=True)):
        if result is not None:
            coefficient[k], log_pvalue[k], dimensions[k] = result.coefficient, result.log_pvalue, result.dimensions or 0
            is_permuted[k] = result.calibration == "permutation"
            heavier[k] = _heavier(result, x.variables[a], y.variables[b])
    are_complete = x.is_complete and y.is_complete
    return FoundPairs(
        i=x.positions[i],
        j=y.positions[j],
        n=np.full(len(i), x.n_rows) if are_complete else in_memory(rows.sides(x, y, i, j)[0].n),
        dimensions=dimensions,
        coefficient=coefficient,
        log_pvalue=log_pvalue,
        # Of many levels there is none.
        pearson=None if rows.can_wait else unknown,
        spearman=unknown,
        is_permuted=is_permuted,
        heavier=heavier,
    )


def _heavier(result: TestResult, x: Variable, y: Variable) -> float:
    """How many times as much as among all rows of their columns the heaviest common rows weigh in both."""
    if result.bases is None:
        raise ValueError("a pair has two bases")
    here = np.prod([basis.largest_leverage * basis.n_samples for basis in result.bases])
    return float(here / np.prod([v.prepared.basis.largest_leverage * v.prepared.basis.n_samples for v in (x, y)]))


def by_themselves(pairs: Iterable[Callable[[], Pair]], permutations: Permutations, /) -> Iterator[TestResult | None]:
    """What the way of a single pair finds of each, None where there is no answer; alike ones are permuted together."""
    left = iter(pairs)
    while some := list(islice(left, _PERMUTED_TOGETHER)):
        observed = [_as_observed(pair, permutations) for pair in some]
        waiting = [pair for _, pair in observed if pair is not None]
        found = iter(permuted(waiting, permutations))
        for result, pair in observed:
            yield result if result is None or pair is None else permutations.tested(result, next(found))


def _as_observed(pair: Callable[[], Pair], permutations: Permutations) -> tuple[TestResult | None, Waiting | None]:
    keep_going()
    try:
        x, y, crosses = pair()
        return as_observed(x, y, permutations, crosses=crosses)
    except InputError:
        return None, None


def pair_of_rows(x: Variable, y: Variable, /) -> Pair:
    """One pair of columns on the rows both have, where these are in memory."""
    return *together((x.column, y.column), (x.prepared, y.prepared)), None


def pair_of_sums(
    x: Variable, y: Variable, crosses: Crosses, left: tuple[Restricted, Restricted] | None, n: int, /
) -> Pair:
    """The same where there are mean products of the two over n rows, and what these are of both, if not all."""
    if left is None:
        return x.prepared, y.prepared, crosses
    check_dimensions(left[0].prepared.basis.dimension, left[1].prepared.basis.dimension, n)
    of_coefficient, nested = (
        a.mixing.T @ (cross - np.outer(a.means, b.means)) @ b.mixing
        for a, b, cross in zip(left[0].changes, left[1].changes, crosses, strict=True)
    )
    return left[0].prepared, left[1].prepared, Crosses(of_coefficient, nested)


def left_of_cells(side: Prepared, rows: Index, /) -> Restricted:
    """A column on some of its rows, given how many of every cell these are."""
    if np.count_nonzero(rows) < 2:
        raise InputError("too few different values are left on the rows that both columns have")
    return side.on_cells(rows)


def _left(side: Prepared, counts: Sequence[NDArray[Any]], column: int, other: int, n: int) -> Restricted:
    """A column on the rows that one of the other side leaves of it."""
    if side.scales.is_vector:
        return side.on_sums(counts[0][:, column, other], counts[1][:, column, other], n)
    return left_of_cells(side, counts[column][:, other])
