"""Columns that may be chosen, by their functions: ranked in memory, or on a device of torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from renyi.allpairs.device.ranking import ranked
from renyi.allpairs.device.reading import of_columns
from renyi.basis.nested import Scales
from renyi.compute.arrays import Array, Index, has_floats, in_memory, in_parts
from renyi.compute.devices import free_bytes
from renyi.compute.threads import map_in_threads
from renyi.data.column import Column
from renyi.pair.prepare import DEFAULT_SETTINGS, prepare

# Leading functions of a number, and the sizes of the blocks that are looked at.
_SIZES = (1, 3, 6)
# Parts of a device's free memory: for ranking columns at a time, and for cells that stay there.
_SHARE_AT_ONCE, _SHARE_KEPT = 0.2, 0.2


@dataclass(frozen=True, eq=False)
class Candidate:
    """Functions of a column, smooth to rough: the value of function a at row i is `table[codes[i], a]`.

    Codes are an array, or a tensor where the column was ranked on a device. Rows where the column is missing, `gaps`,
    have a cell of zeros, the mean of every function. `leverages` has the largest share of one row in the leading
    1, 2, … functions, `log_arrangements` the logarithm of how many orders of its rows differ.
    """

    table: Array
    codes: Any
    sizes: tuple[int, ...]
    leverages: Array
    has_levels: bool
    log_arrangements: float
    gaps: Index | None = None

    @property
    def width(self) -> int:
        """How many functions there are."""
        return int(self.table.shape[1])

    @property
    def signature(self) -> tuple[Any, ...]:
        """Candidates with the same one have as many functions, looked at in the same parts."""
        return self.width, self.has_levels, self.sizes

    @property
    def n_observed(self) -> int:
        """Rows that have a value, which is the squared length of every function."""
        return len(self.codes) - (0 if self.gaps is None else len(self.gaps))

    @property
    def at_frequent_cell(self) -> Array:
        """The functions at the cell that most rows are in."""
        return np.asarray(self.table[np.bincount(in_memory(self.codes)).argmax()])

    def functions(self, size: int | None = None, /) -> Array:
        """The functions, or the leading ones, at the data rows (functions, rows), if codes are in memory."""
        return np.asarray(np.take(self.table, self.codes, axis=0)[:, :size].T)


class _Making:
    """Candidates from columns; those without ties share their table, and so do their leading functions."""

    def __init__(self) -> None:
        self._leading: dict[int, tuple[Array, Array]] = {}

    def of_column(self, column: Column, /) -> Candidate:
        """A column in memory, on its own observed rows."""
        scales = scales_of(column)
        found = self.of_scales(scales, scales.basis.codes)
        if column.missing is None:
            return found
        codes = np.full(len(column), len(found.table), dtype=np.intp)
        codes[~column.missing] = found.codes
        table = np.concatenate((found.table, np.zeros((1, found.width))))
        return replace(found, table=table, codes=codes, gaps=np.flatnonzero(column.missing))

    def of_scales(self, scales: Scales, codes: Any, /) -> Candidate:
        """A complete number or category, and the cell of every row."""
        basis, is_number = scales.basis, scales.is_number
        if codes is None:
            raise ValueError("a candidate is a number or a category")
        width = min(_SIZES[-1], basis.dimension) if is_number else basis.dimension
        sizes = tuple(dict.fromkeys(min(size, width) for size in (_SIZES if is_number else scales.sizes)))
        if basis.ordered is None:
            table = np.ascontiguousarray(basis.table[:, :width])
        else:
            if id(basis.table) not in self._leading:
                # With the table itself, so that its number stays its own.
                self._leading[id(basis.table)] = np.ascontiguousarray(basis.table[:, :width]), basis.table
            table = self._leading[id(basis.table)][0]
        leverages = scales.leverages[:width]
        return Candidate(table, codes, sizes, leverages, scales.has_levels, scales.log_arrangements)


def as_candidates(columns: Sequence[Column], /, *, n_threads: int = 1, device: Any = None) -> list[Candidate]:
    """The functions of numbers and categories, each on its own observed rows.

    Complete floats are ranked on the device, if there is one; all else in memory.
    """
    making = _Making()
    for_device = [] if device is None else [k for k, column in enumerate(columns) if _is_for_device(column)]
    found = dict(zip(for_device, _ranked_on_device([columns[k] for k in for_device], making, device), strict=True))
    here = [k for k in range(len(columns)) if k not in found]
    made = map_in_threads(lambda k: making.of_column(columns[k]), here, n_threads=n_threads)
    found.update(zip(here, made, strict=True))
    return [found[k] for k in range(len(columns))]


def _is_for_device(column: Column) -> bool:
    """Whether this is a complete column of floats; whole numbers may have more digits than these."""
    return column.is_number and column.missing is None and has_floats(column.values)


def _ranked_on_device(columns: Sequence[Column], making: _Making, device: Any) -> Iterator[Candidate]:
    """Columns ranked on a device, as many at a time as there is room for."""
    if not columns:
        return
    # Values, their order and their cells.
    at_once = max(1, int(_SHARE_AT_ONCE * free_bytes(device) / (24 * len(columns[0]))))
    for some in in_parts(columns, at_once):
        ranks = ranked(of_columns(some, device), DEFAULT_SETTINGS)
        stay = ranks.codes.nbytes <= _SHARE_KEPT * free_bytes(device)
        for variable, codes in zip(ranks.variables, ranks.codes if stay else in_memory(ranks.codes), strict=True):
            yield making.of_scales(variable.scales, codes)


def scales_of(column: Column, /) -> Scales:
    """Functions of a column from smooth to rough, and how they are looked at."""
    return prepare(column).scales
