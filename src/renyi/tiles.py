"""Every pair of columns, a tile at a time: coefficient, p-value, and the linear coefficients beside them.

Columns that are alike, of one kind and rank, make a group; a tile is some columns of one group against some of another,
and all of its pairs go through the same few products of matrices. What a batch cannot answer, because a function has
dropped out on the common rows or no block can be trusted, goes the way of a single pair.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.alike import Alike, Variable
from renyi.errors import InputError
from renyi.execution.threads import keep_going
from renyi.independence import Shuffles, on_every_scale, together
from renyi.pairwise import CommonPairs, CompletePairs, reaches_beyond_corner

__all__ = ["Found", "compare", "groups", "tiles_of"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Ranks: TypeAlias = NDArray[np.int32]

# Products of a tile, and columns of one side: enough for BLAS, little enough to run several at once, and for the
# allocator to hand out the same memory again, which is much faster than fresh pages.
_TILE_PRODUCTS, _MOST_COLUMNS = 2**22, 160


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on pairs of columns, by their positions in the table.

    `ranks` (pairs, 2) are those of the two bases on the common rows.
    """

    i: Index
    j: Index
    n: Index
    ranks: Ranks
    coefficient: Array
    log_pvalue: Array
    pearson: Array
    spearman: Array
    is_shuffled: NDArray[np.bool_]


def groups(variables: Sequence[Variable], /) -> list[Alike]:
    """Columns by what they have in common."""
    by_signature: dict[Hashable, list[int]] = {}
    for position, variable in enumerate(variables):
        by_signature.setdefault(variable.signature, []).append(position)
    return [Alike.of(positions, [variables[p] for p in positions]) for positions in by_signature.values()]


def tiles_of(x: Sequence[Alike], y: Sequence[Alike] | None = None, /) -> Iterator[tuple[Alike, Alike]]:
    """Tiles that cover every pair once: those of x with one another, or of x with y."""
    for g, group in enumerate(x):
        for h, other in enumerate(x[g:] if y is None else y):
            most = _columns_of_tile(group, other)
            parts = _parts(group, most)
            is_same = y is None and h == 0
            others = parts if is_same else _parts(other, most)
            for p, part in enumerate(parts):
                for with_part in others[p:] if is_same else others:
                    yield part, with_part


def _parts(group: Alike, most: int) -> list[Alike]:
    """The columns in as few parts as may be, of nearly equal size."""
    n = len(group.positions)
    edges = np.linspace(0, n, -(-n // most) + 1).round().astype(int)
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges.tolist())]


def _columns_of_tile(x: Alike, y: Alike) -> int:
    nested = (x.nested, y.nested) if reaches_beyond_corner(x, y) else (x.corner, y.corner)
    widest = max(x.coefficient.rank * y.coefficient.rank, nested[0].rank * nested[1].rank)
    if not (x.is_complete and y.is_complete):
        widest = max(widest, x.scales.basis.rank**2, y.scales.basis.rank**2)
    return max(1, min(_MOST_COLUMNS, int(np.sqrt(_TILE_PRODUCTS / widest))))


def compare(x: Alike, y: Alike, shuffles: Shuffles, /) -> Found:
    """All pairs of a tile; of a group with itself those above the diagonal."""
    if y is x:
        i, j = np.triu_indices(len(x.positions), 1)
    else:
        i, j = (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))
    pairs = CompletePairs(x, y, i, j) if x.is_complete and y.is_complete else CommonPairs(x, y, i, j)
    # Without a coefficient there are too few rows for the pair, and no test either.
    log_pvalue = np.where(np.isnan(pairs.coefficient), np.nan, pairs.log_pvalue)
    is_shuffled = np.zeros(len(i), dtype=bool)
    for k in np.flatnonzero(np.isnan(pairs.log_pvalue) & ~np.isnan(pairs.coefficient)):
        keep_going()
        log_pvalue[k], is_shuffled[k] = _by_itself(x.variables[i[k]], y.variables[j[k]], shuffles)
    signs = np.array([v.trend for v in x.variables])[i] * np.array([v.trend for v in y.variables])[j]
    return Found(
        i=x.positions[i],
        j=y.positions[j],
        n=pairs.n,
        ranks=pairs.ranks,
        coefficient=pairs.coefficient,
        log_pvalue=log_pvalue,
        pearson=pairs.pearson,
        spearman=signs * pairs.first,
        is_shuffled=is_shuffled,
    )


def _by_itself(x: Variable, y: Variable, shuffles: Shuffles) -> tuple[float, bool]:
    """Logarithm of the p-value by the way of a single pair, NaN where there is no answer; whether it was shuffled."""
    try:
        pair = together((x.column, y.column), (x.prepared, y.prepared))
        result = on_every_scale(*pair, shuffles)
    except InputError:
        return np.nan, False
    return result.log_pvalue, result.calibration == "shuffles"
