"""Columns to groups of one kind and dimension, and all of their pairs to tiles.

A tile is some columns of one group against some of another; all of its pairs go through the same few products of
matrices.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.sums import reaches_beyond_corner

# Products of a tile, and columns of one side: enough for BLAS, little enough to run several at once, and for the
# allocator to hand out the same memory again, which is much faster than fresh pages.
_TILE_PRODUCTS, _MOST_COLUMNS = 2**22, 160
# Columns and rows from which the work of one tile is shared.
_FEWEST_TO_SHARE, _ROWS_TO_SHARE = 16, 2**12


def groups(variables: Sequence[Variable], /, *, by_gaps: bool = False) -> list[ColumnGroup]:
    """Columns by what they have in common, and by whether they have gaps, if that is asked for."""
    by_signature: dict[Hashable, list[int]] = {}
    for position, variable in enumerate(variables):
        key = variable.signature, by_gaps and not variable.is_complete
        by_signature.setdefault(key, []).append(position)
    return [ColumnGroup.of(positions, [variables[p] for p in positions]) for positions in by_signature.values()]


def tiles_of(
    x: Sequence[ColumnGroup],
    y: Sequence[ColumnGroup] | None = None,
    /,
    *,
    most: int | None = None,
    room: Callable[[ColumnGroup, ColumnGroup], int] | None = None,
    aligned: int = 1,
) -> Iterator[tuple[ColumnGroup, ColumnGroup]]:
    """Tiles that cover every pair once: those of x with one another, or of x with y.

    A side has `most` columns, or fewer where there is no room for as many; it begins `aligned` where it can.
    """
    most = _MOST_COLUMNS if most is None else most
    for g, group in enumerate(x):
        for h, other in enumerate(x[g:] if y is None else y):
            size = min(most, (room or _columns_of_tile)(group, other))
            parts = _parts(group, size, aligned)
            is_same = y is None and h == 0
            others = parts if is_same else _parts(other, size, aligned)
            for p, part in enumerate(parts):
                for with_part in others[p:] if is_same else others:
                    yield part, with_part


def shared_tiles(
    x: Sequence[ColumnGroup], y: Sequence[ColumnGroup] | None = None, /
) -> list[tuple[ColumnGroup, ColumnGroup]]:
    """Tiles as `tiles_of` makes them, but two halves of a side where one tile would be all the work, and a long one.

    However many cores there are, so that sums are rounded alike.
    """
    tiles = list(tiles_of(x, y))
    n_columns = len(tiles[0][0].positions)
    if len(tiles) > 1 or n_columns < _FEWEST_TO_SHARE or tiles[0][0].n_rows < _ROWS_TO_SHARE:
        return tiles
    return list(tiles_of(x, y, most=-(-n_columns // 2)))


def _parts(group: ColumnGroup, most: int, aligned: int) -> list[ColumnGroup]:
    """The columns in as few parts as may be, of nearly equal size; all but the last are so many, or some times that."""
    n = len(group.positions)
    n_parts = -(-n // most)
    if n_parts > 1 and 1 < aligned <= most:
        step = min(-(-n // (n_parts * aligned)), most // aligned) * aligned
        edges = np.append(np.arange(0, n, step), n)
    else:
        edges = np.linspace(0, n, n_parts + 1).round().astype(int)
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges.tolist())]


def _columns_of_tile(x: ColumnGroup, y: ColumnGroup) -> int:
    nested = (x.nested, y.nested) if reaches_beyond_corner(x, y) else (x.corner, y.corner)
    widest = max(x.coefficient.dimension * y.coefficient.dimension, nested[0].dimension * nested[1].dimension)
    if not (x.is_complete and y.is_complete):
        widest = max(widest, x.scales.basis.dimension**2, y.scales.basis.dimension**2)
    return max(1, min(_MOST_COLUMNS, int(np.sqrt(_TILE_PRODUCTS / widest))))
