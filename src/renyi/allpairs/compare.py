"""All pairs of a tile: coefficient, p-value, and the linear coefficients beside them.

What a batch of pairs cannot answer, because a function has dropped out on the common rows or no block can be trusted,
goes the way of a single pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.common_rows import CommonPairs
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.masked_moments import observed_rows
from renyi.allpairs.sums import Sums
from renyi.basis import random_features
from renyi.compute.threads import keep_going
from renyi.errors import InputError
from renyi.pair.bases import check_ranks
from renyi.pair.independence import Crosses, Shuffles, on_every_scale
from renyi.pair.prepare import Prepared, Restricted, together
from renyi.pair.result import TestResult

__all__ = ["SHUFFLES", "Found", "by_itself", "compare", "pair_of_sums"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Ranks: TypeAlias = NDArray[np.int32]
Pair: TypeAlias = tuple[Prepared, Prepared, Crosses | None]

# Gram matrices of more levels on the common rows of pairs would take more time and room than a pair by itself.
_MOST_LEVELS = 40
# How pairs without a law are shuffled.
SHUFFLES = Shuffles(9999, random_features.seeds(None, n_draws=1)[0], None, are_many=True)


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on pairs of columns, by their positions in the table.

    `ranks` (pairs, 2) are those of the two bases on the common rows. Pearson's correlation may wait until it is asked
    for. Where cells are missing, the leverages of both sides on the common rows may be `heavier`, by this factor at
    most, than those of the same rows among all; None is 1.
    """

    i: Index
    j: Index
    n: Index
    ranks: Ranks
    coefficient: Array
    log_pvalue: Array
    pearson: Array | None
    spearman: Array
    is_shuffled: NDArray[np.bool_]
    heavier: Array | None = None


def compare(x: ColumnGroup, y: ColumnGroup, shuffles: Shuffles, /, *, sums: Sums | None = None) -> Found:
    """All pairs of a tile; of a group with itself those above the diagonal.

    Where the rows are read in batches there are `sums` over them.
    """
    if y is x:
        i, j = np.triu_indices(len(x.positions), 1)
    else:
        i, j = (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))
    are_complete = x.is_complete and y.is_complete
    if (x.scales.has_many_levels and y.scales.has_many_levels) or (not are_complete and (_is_wide(x) or _is_wide(y))):
        return _one_by_one(x, y, i, j, shuffles=shuffles, sums=sums)
    answer = CompletePairs if are_complete else CommonPairs
    pairs = answer(x, y, i, j, sums)
    # Without a coefficient there are too few rows for the pair, and no test either.
    coefficient = pairs.coefficient
    log_pvalue = np.where(np.isnan(coefficient), np.nan, pairs.log_pvalue)
    is_shuffled = np.zeros(len(i), dtype=bool)
    for k in np.flatnonzero(np.isnan(pairs.log_pvalue) & ~np.isnan(coefficient)):
        keep_going()
        result = by_itself(_pair(x, y, int(i[k]), int(j[k]), sums), shuffles)
        if result is not None:
            log_pvalue[k], is_shuffled[k] = result.log_pvalue, result.calibration == "shuffles"
            coefficient[k] = result.coefficient
    signs = np.array([v.trend for v in x.variables])[i] * np.array([v.trend for v in y.variables])[j]
    return Found(
        i=x.positions[i],
        j=y.positions[j],
        n=pairs.n,
        ranks=pairs.ranks,
        coefficient=coefficient,
        log_pvalue=log_pvalue,
        pearson=pairs.pearson,
        spearman=signs * pairs.first,
        is_shuffled=is_shuffled,
        heavier=pairs.heavier,
    )


def _is_wide(group: ColumnGroup) -> bool:
    return group.scales.kind == "category" and group.scales.basis.rank > _MOST_LEVELS


def _one_by_one(x: ColumnGroup, y: ColumnGroup, i: Index, j: Index, *, shuffles: Shuffles, sums: Sums | None) -> Found:
    """All pairs of two categories of many levels, or of one with gaps: levels are few beside rows, but not functions.

    On common rows the functions of a category are known in closed form, where others would have to be whitened.
    """
    unknown = np.full(len(i), np.nan)
    coefficient, log_pvalue = unknown.copy(), unknown.copy()
    ranks, is_shuffled = np.zeros((len(i), 2), dtype=np.int32), np.zeros(len(i), dtype=bool)
    heavier = np.ones(len(i))
    for k, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        keep_going()
        result = by_itself(_pair(x, y, a, b, sums), shuffles)
        if result is not None:
            coefficient[k], log_pvalue[k], ranks[k] = result.coefficient, result.log_pvalue, result.ranks or 0
            is_shuffled[k] = result.calibration == "shuffles"
            heavier[k] = _heavier(result, x.variables[a], y.variables[b])
    n = _common_rows(x, y, i, j) if sums is None else sums.common_rows()[i, j].astype(np.intp)
    return Found(
        i=x.positions[i],
        j=y.positions[j],
        n=n,
        ranks=ranks,
        coefficient=coefficient,
        log_pvalue=log_pvalue,
        pearson=None if sums is None else sums.pearson(i, j, n),
        spearman=unknown,
        is_shuffled=is_shuffled,
        heavier=heavier,
    )


def _heavier(result: TestResult, x: Variable, y: Variable) -> float:
    """How many times as much as among all rows of their columns the heaviest common rows weigh in both."""
    if result.bases is None:
        raise ValueError("a pair has two bases")
    here = np.prod([basis.largest_leverage * basis.n_samples for basis in result.bases])
    return float(here / np.prod([v.prepared.basis.largest_leverage * v.prepared.basis.n_samples for v in (x, y)]))


def _common_rows(x: ColumnGroup, y: ColumnGroup, i: Index, j: Index) -> Index:
    of_x, of_y = (observed_rows([variable.column.missing for variable in side.variables], x.n_rows) for side in (x, y))
    return np.array([np.count_nonzero(of_x[a] & of_y[b]) for a, b in zip(i, j, strict=True)], dtype=np.intp)


def _pair(x: ColumnGroup, y: ColumnGroup, a: int, b: int, sums: Sums | None) -> Callable[[], Pair]:
    """One pair of columns, once it is asked for."""
    if sums is None:
        return partial(_of_rows, x.variables[a], y.variables[b])
    return partial(pair_of_sums, x, y, a, b, sums)


def by_itself(pair: Callable[[], Pair], shuffles: Shuffles, /) -> TestResult | None:
    """What the way of a single pair finds, None where there is no answer."""
    try:
        x, y, crosses = pair()
        return on_every_scale(x, y, shuffles, crosses=crosses)
    except InputError:
        return None


def _of_rows(x: Variable, y: Variable) -> Pair:
    return *together((x.column, y.column), (x.prepared, y.prepared)), None


def pair_of_sums(x: ColumnGroup, y: ColumnGroup, i: int, j: int, sums: Sums, /) -> tuple[Prepared, Prepared, Crosses]:
    """One pair of columns on the rows both have, and their products, where the rows are read in batches."""
    own, other = x.variables[i].prepared, y.variables[j].prepared
    n = max(float(sums.common_rows()[i, j]), 1.0)
    crosses = Crosses(
        sums.coefficient[i, j] / n, sums.cross(i, j, (own.scales.basis.rank, other.scales.basis.rank)) / n
    )
    if sums.counts is None:
        return own, other, crosses
    left, right = _left(own, sums.counts[0], i, j, int(n)), _left(other, sums.counts[1], j, i, int(n))
    check_ranks(left.prepared.basis.rank, right.prepared.basis.rank, int(n))
    of_coefficient, nested = (
        a.mixing.T @ (cross - np.outer(a.means, b.means)) @ b.mixing
        for a, b, cross in zip(left.changes, right.changes, crosses, strict=True)
    )
    return left.prepared, right.prepared, Crosses(of_coefficient, nested)


def _left(side: Prepared, counts: Sequence[NDArray[Any]], column: int, other: int, n: int) -> Restricted:
    """A column on the rows that one of the other side leaves of it."""
    if side.scales.kind == "vector":
        return side.on_sums(counts[0][:, column, other], counts[1][:, column, other], n)
    rows = counts[column][:, other]
    if np.count_nonzero(rows) < 2:
        raise InputError("too few different values are left on the rows that both columns have")
    return side.on_cells(rows)
