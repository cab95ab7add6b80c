"""Every pair of columns, a tile at a time: coefficient, p-value, and the linear coefficients beside them.

Columns that are alike, of one kind and rank, make a group; a tile is some columns of one group against some of another,
and all of its pairs go through the same few products of matrices. What a batch cannot answer, because a function has
dropped out on the common rows or no block can be trusted, goes the way of a single pair.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Alike, Variable
from renyi.allpairs.common_rows import CommonPairs, CompletePairs
from renyi.allpairs.sums import Sums, reaches_beyond_corner
from renyi.basis import random_features as features
from renyi.basis.basis import Basis, restrict_cells
from renyi.compute.threads import keep_going
from renyi.errors import InputError
from renyi.pair.independence import Crosses, Prepared, Shuffles, on_every_scale, together
from renyi.pair.rdc import check_ranks
from renyi.pair.result import TestResult

__all__ = ["SHUFFLES", "Found", "by_itself", "compare", "groups", "pair_of_sums", "shared_tiles", "tiles_of"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Ranks: TypeAlias = NDArray[np.int32]

# Products of a tile, and columns of one side: enough for BLAS, little enough to run several at once, and for the
# allocator to hand out the same memory again, which is much faster than fresh pages.
_TILE_PRODUCTS, _MOST_COLUMNS = 2**22, 160
# Columns and rows from which the work of one tile is shared.
_FEWEST_TO_SHARE, _ROWS_TO_SHARE = 16, 2**12
# How pairs without a law are shuffled.
SHUFFLES = Shuffles(9999, features.seeds(None, n_draws=1)[0], None, are_many=True)


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on pairs of columns, by their positions in the table.

    `ranks` (pairs, 2) are those of the two bases on the common rows. Pearson's correlation may wait until it is asked
    for.
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


def groups(variables: Sequence[Variable], /) -> list[Alike]:
    """Columns by what they have in common."""
    by_signature: dict[Hashable, list[int]] = {}
    for position, variable in enumerate(variables):
        by_signature.setdefault(variable.signature, []).append(position)
    return [Alike.of(positions, [variables[p] for p in positions]) for positions in by_signature.values()]


def tiles_of(
    x: Sequence[Alike],
    y: Sequence[Alike] | None = None,
    /,
    *,
    most: int | None = None,
    room: Callable[[Alike, Alike], int] | None = None,
) -> Iterator[tuple[Alike, Alike]]:
    """Tiles that cover every pair once: those of x with one another, or of x with y.

    A side has `most` columns, or fewer where there is no room for as many.
    """
    most = _MOST_COLUMNS if most is None else most
    for g, group in enumerate(x):
        for h, other in enumerate(x[g:] if y is None else y):
            size = min(most, (room or _columns_of_tile)(group, other))
            parts = _parts(group, size)
            is_same = y is None and h == 0
            others = parts if is_same else _parts(other, size)
            for p, part in enumerate(parts):
                for with_part in others[p:] if is_same else others:
                    yield part, with_part


def shared_tiles(x: Sequence[Alike], y: Sequence[Alike] | None = None, /) -> list[tuple[Alike, Alike]]:
    """Tiles as `tiles_of` makes them, but two halves of a side where one tile would be all the work, and a long one.

    However many cores there are, so that sums are rounded alike.
    """
    tiles = list(tiles_of(x, y))
    n_columns = len(tiles[0][0].positions)
    if len(tiles) > 1 or n_columns < _FEWEST_TO_SHARE or tiles[0][0].n_rows < _ROWS_TO_SHARE:
        return tiles
    return list(tiles_of(x, y, most=-(-n_columns // 2)))


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


def compare(x: Alike, y: Alike, shuffles: Shuffles, /, *, sums: Sums | None = None) -> Found:
    """All pairs of a tile; of a group with itself those above the diagonal.

    Where the rows are elsewhere there are `sums` over them.
    """
    if y is x:
        i, j = np.triu_indices(len(x.positions), 1)
    else:
        i, j = (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))
    answer = CompletePairs if x.is_complete and y.is_complete else CommonPairs
    pairs = answer(x, y, i, j, sums)
    # Without a coefficient there are too few rows for the pair, and no test either.
    coefficient = pairs.coefficient
    log_pvalue = np.where(np.isnan(coefficient), np.nan, pairs.log_pvalue)
    is_shuffled = np.zeros(len(i), dtype=bool)
    for k in np.flatnonzero(np.isnan(pairs.log_pvalue) & ~np.isnan(coefficient)):
        keep_going()
        a, b = int(i[k]), int(j[k])
        here = partial(_of_rows, x.variables[a], y.variables[b])
        result = by_itself(here if sums is None else partial(pair_of_sums, x, y, a, b, sums), shuffles)
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
    )


Pair: TypeAlias = tuple[Prepared, Prepared, Crosses | None]


def by_itself(pair: Callable[[], Pair], shuffles: Shuffles, /) -> TestResult | None:
    """What the way of a single pair finds, None where there is no answer."""
    try:
        x, y, crosses = pair()
        return on_every_scale(x, y, shuffles, crosses=crosses)
    except InputError:
        return None


def _of_rows(x: Variable, y: Variable) -> Pair:
    return *together((x.column, y.column), (x.prepared, y.prepared)), None


def pair_of_sums(x: Alike, y: Alike, i: int, j: int, sums: Sums, /) -> tuple[Prepared, Prepared, Crosses]:
    """One pair of columns on the rows both have, and their products, where the rows are elsewhere."""
    own, other = x.variables[i].prepared, y.variables[j].prepared
    n = max(float(sums.common_rows()[i, j]), 1.0)
    crosses = Crosses(
        sums.coefficient[i, j] / n, sums.cross(i, j, (own.scales.basis.rank, other.scales.basis.rank)) / n
    )
    if sums.counts is None:
        return own, other, crosses
    left = sums.counts[0][i][:, j], sums.counts[1][j][:, i]
    for counts in left:
        if np.count_nonzero(counts) < 2:
            raise InputError("too few different values are left on the rows that both columns have")
    bases = [restrict_cells(side.basis, counts) for side, counts in zip((own, other), left, strict=True)]
    scales = [side.scales.on_cells(counts) for side, counts in zip((own, other), left, strict=True)]
    check_ranks(bases[0][0].rank, bases[1][0].rank, int(n))
    nested = _restricted((own.scales.basis, other.scales.basis), left, (scales[0][1], scales[1][1]), crosses.nested)
    of_coefficient = _restricted((own.basis, other.basis), left, (bases[0][1], bases[1][1]), crosses.coefficient)
    x_side, y_side = (Prepared(basis, scale) for (basis, _), (scale, _) in zip(bases, scales, strict=True))
    return x_side, y_side, Crosses(of_coefficient, nested)


def _restricted(
    bases: tuple[Basis, Basis], left: tuple[Index, Index], mixing: tuple[Array, Array], cross: Array
) -> Array:
    """Mean products of two bases, centred and mixed as on their common rows."""
    means = [counts @ basis.table / counts.sum() for basis, counts in zip(bases, left, strict=True)]
    return np.asarray(mixing[0].T @ (cross - np.outer(*means)) @ mixing[1])
