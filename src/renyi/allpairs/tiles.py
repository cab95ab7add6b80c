"""Columns to groups of one kind and dimension, and all of their pairs to tiles.

A tile is some columns of one group against some of another; all of its pairs go through the same few products of
matrices.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from renyi.allpairs.column_group import ColumnGroup, Variable
from renyi.allpairs.stack import CellStack
from renyi.allpairs.sums import reaches_beyond_corner
from renyi.compute.threads import available_cores

# Products of a tile, and columns of one side: enough for BLAS, little enough to run several at once, and for the
# allocator to hand out the same memory again, which is much faster than fresh pages.
_TILE_PRODUCTS, _MOST_COLUMNS = 2**22, 160
# Blocks of columns that a side has where there are enough tiles for all cores, and where not; and the fewest pairs
# times rows of a tile that is worth a core.
_BLOCKS_OF_SIDE, _LEAST_WORK = (4, 2, 1), 400_000


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
    n_blocks: int | None = None,
    room: Callable[[ColumnGroup, ColumnGroup], int] | None = None,
    aligned: int | None = None,
) -> Iterator[tuple[ColumnGroup, ColumnGroup]]:
    """Tiles that cover every pair once: those of x with one another, or of x with y.

    A side has `most` columns, or `n_blocks` of the blocks that are multiplied together, or fewer where there is no room
    for as many. It begins at whole blocks, or `aligned`, where it can.
    """
    most = _MOST_COLUMNS if most is None else most
    for g, group in enumerate(x):
        for h, other in enumerate(x[g:] if y is None else y):
            size = min(most, (room or _columns_of_tile)(group, other))
            parts = _parts(group, size, n_blocks, aligned)
            is_same = y is None and h == 0
            others = parts if is_same else _parts(other, size, n_blocks, aligned)
            for p, part in enumerate(parts):
                for with_part in others[p:] if is_same else others:
                    yield part, with_part


def shared_tiles(
    x: Sequence[ColumnGroup], y: Sequence[ColumnGroup] | None = None, /
) -> list[tuple[ColumnGroup, ColumnGroup]]:
    """Tiles as `tiles_of` makes them, smaller ones where there are more cores, so that none has nothing to do.

    What is multiplied together does not depend on it: sums are rounded alike.
    """
    tiles = list(tiles_of(x, y, n_blocks=_BLOCKS_OF_SIDE[0]))
    for n_blocks in _BLOCKS_OF_SIDE[1:]:
        is_little = all((n_blocks * _block(a)) ** 2 * a.n_rows < _LEAST_WORK for a, _ in tiles)
        if len(tiles) >= 2 * available_cores() - 1 or is_little:
            break
        tiles = list(tiles_of(x, y, n_blocks=n_blocks))
    return tiles


def _block(group: ColumnGroup) -> int:
    """Columns that are multiplied together; on a device there is no such."""
    return group.coefficient.block if isinstance(group.coefficient, CellStack) else 1


def _parts(group: ColumnGroup, most: int, n_blocks: int | None, aligned: int | None) -> list[ColumnGroup]:
    """The columns in as few parts as may be, of nearly equal size, or of whole blocks as far as there is room."""
    n, block = len(group.positions), aligned or _block(group)
    most = most if n_blocks is None else min(most, n_blocks * block)
    n_parts = -(-n // most)
    # Rounded up to whole blocks, unless there is no room for that.
    step = -(-n // (n_parts * block)) * block
    if step > most:
        step = most // block * block
    edges = np.linspace(0, n, n_parts + 1).round().astype(int) if step == 0 else np.append(np.arange(0, n, step), n)
    return [group.part(slice(start, stop)) for start, stop in pairwise(edges.tolist())]


def _columns_of_tile(x: ColumnGroup, y: ColumnGroup) -> int:
    nested = (x.nested, y.nested) if reaches_beyond_corner(x, y) else (x.corner, y.corner)
    widest = max(x.coefficient.rank * y.coefficient.rank, nested[0].rank * nested[1].rank)
    if not (x.is_complete and y.is_complete):
        widest = max(widest, x.scales.basis.rank**2, y.scales.basis.rank**2)
    return max(1, min(_MOST_COLUMNS, int(np.sqrt(_TILE_PRODUCTS / widest))))
