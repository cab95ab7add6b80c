"""Columns ranked on a device of torch: cells and tables of functions are those of a table in memory.

Without ties columns of as many observed rows share one table, which their number alone decides; the table of a column
with ties is made from the rows of its cells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable, ready
from renyi.allpairs.device.functions import Batch, prepared_cells, tie_free
from renyi.allpairs.device.reading import OnDevice, reason_against
from renyi.allpairs.device.values import less_smallest
from renyi.allpairs.pearson import standardised
from renyi.allpairs.row_sample import sampled_rows
from renyi.allpairs.stack import codes_of
from renyi.basis import ranks as ranking
from renyi.basis.basis import grid_cells
from renyi.basis.random_features import FIXED_DRAW
from renyi.basis.ranks import tied_cells
from renyi.compute.arrays import Array, Index, Mask, in_memory, in_parts
from renyi.compute.devices import free_bytes, home_of, within_room
from renyi.compute.fetching import Bringing
from renyi.compute.kernels import share_cells
from renyi.compute.threads import in_threads
from renyi.data.column import Column
from renyi.data.sentinels import may_be_sentinel, tell_sentinels
from renyi.data.table import Table
from renyi.errors import InputError
from renyi.inference.serial import neighbour_sums, of_cells
from renyi.pair.bases import check_basis
from renyi.pair.prepare import Prepared, prepare
from renyi.pair.series import note_of_sums
from renyi.pair.settings import Settings

Tensor: TypeAlias = Any

# What sorting takes for every number: sorted values, their order, and as much beside them.
_BYTES_OF_SORTING = 48
# Cells of which neighbours are compared at once: 4 GB with all that is made of them.
_NUMBERS_AT_ONCE = 2**26


@dataclass(frozen=True, eq=False)
class DeviceVariable(Variable):
    """A column whose rows are on a device, and in memory too if they come from there."""

    n_all: int

    @property
    def with_rows(self) -> Prepared:
        return prepare(self.column, FIXED_DRAW, self.settings)

    @property
    def n_rows(self) -> int:
        return self.n_all

    @cached_property
    def n_samples(self) -> int:
        """Observed rows."""
        return self.prepared.basis.n_samples

    @property
    def is_complete(self) -> bool:
        return self.n_samples == self.n_all


@dataclass(frozen=True, eq=False)
class Ranked:
    """Columns that can be compared, the cell of every row (columns, rows), and what is told of them and of others.

    The last cell of a column is of missing rows. `numbers` (columns, rows) are its values, NaN where missing, and all
    NaN where they have no order. Tables of `batches` are on the device already. The sample of rows is still `coming`.
    """

    variables: tuple[DeviceVariable, ...]
    codes: Tensor
    numbers: Tensor
    table: Table
    device: Any
    batches: list[Batch]
    coming: Bringing | None = None

    def finish(self) -> None:
        """Wait for the sample of rows."""
        if self.coming is not None:
            self.coming.finish()


def ranked(table: OnDevice, settings: Settings, /, *, sample: int = 0) -> Ranked:
    """Rank all columns, and fetch a sample of their rows; columns that say nothing are left out."""
    if settings.s == "median":
        raise InputError("s='median' is not found on a device yet: pass a number, or NumPy arrays and device=None")
    n_columns, n_rows = table.numbers.shape
    most = max(1, int(free_bytes(table.device) / (_BYTES_OF_SORTING * n_rows)))
    ranking = _Ranking(table, settings, sample)
    what = f"sorting a column of {n_rows:,} rows"
    there = within_room(ranking, max(1, min(n_columns, most)), table.device, what)
    return _with_others(table, there, settings, sample)


def note_on_order(*sides: Ranked) -> str:
    """What is said where columns resemble their own previous row; empty where they do not. Vectors are left out."""
    columns = [
        (side.variables[place].column.name, side.table.types.get(side.variables[place].column.name) == "date", sums)
        for side in sides
        for place, sums in _neighbour_sums(side)
    ]
    return note_of_sums(columns, sum(len(side.variables) for side in sides))


def _neighbour_sums(side: Ranked, /) -> Iterator[tuple[int, Array]]:
    """Columns that have cells, and their sums over consecutive rows: many columns at once, since each wait is long."""
    import torch

    bases = {k: one.scales.basis for k, one in enumerate(side.variables) if not one.column.is_vector}
    counts = {k: basis.cell_counts for k, basis in bases.items() if basis.cell_counts is not None}
    for places in in_parts(list(counts), max(1, _NUMBERS_AT_ONCE // max(side.codes.shape[1], 1))):
        # Most columns share their cells.
        distinct = {(id(bases[k]), side.variables[k].column.is_category): k for k in places}
        row_of = {key: row for row, key in enumerate(distinct)}
        rows = [row_of[id(bases[k]), side.variables[k].column.is_category] for k in places]
        known = _side_by_side([in_memory(counts[k]) for k in distinct.values()], side.device)
        tables = of_cells(known, is_category=False)
        if any(are := [is_category for _, is_category in distinct]):
            of_levels = of_cells(known, is_category=True)
            tables = torch.where(torch.as_tensor(are, device=side.device)[:, None], of_levels, tables)
        cells = rows_at(side.codes, np.array(places)).to(side.device).long()
        first, n_cells = (
            torch.as_tensor(part, device=side.device)[:, None]
            for part in (np.array(rows) * tables.shape[1], [len(counts[k]) for k in places])
        )
        values = tables.ravel()[cells + first]
        yield from zip(places, neighbour_sums(values, cells < n_cells), strict=True)


def _with_others(table: OnDevice, there: Ranked, settings: Settings, sample: int) -> Ranked:
    """All columns in the order of the table, those that were ranked on the device and those that are in memory."""
    import torch

    own = set(table.places.tolist())
    others = [column for k, column in enumerate(table.table.columns) if k not in own]
    if not others:
        return there
    # Of columns of which some rows are fetched, the same rows of all others are shown.
    is_fetched = any(variable.sample is not None for variable in there.variables)
    is_shown = np.zeros(table.table.n_rows, dtype=bool)
    is_shown[sampled_rows(len(is_shown), sample)] = True

    def variable(column: Column) -> DeviceVariable:
        found = prepare(column, FIXED_DRAW, settings)
        check_basis(column, found.basis)
        shown = column.take(is_shown) if is_fetched else None
        return DeviceVariable(column, ready(found), len(column), settings=settings, sample=shown)

    made = in_threads(variable, others)
    codes, values = [], []
    for one in made:
        cells = codes_of(one.scales.basis, one.column.missing, one.n_all)
        codes.append(torch.as_tensor(cells.astype(np.int32)))
        numbers = standardised(one.column)
        numbers[slice(0) if one.column.missing is None else one.column.missing] = np.nan
        values.append(torch.as_tensor(numbers))
    numbers = there.numbers if there.numbers.is_floating_point() else less_smallest(there.numbers)
    variables, home = (*there.variables, *made), there.codes.device
    place = {column.name: k for k, column in enumerate(table.table.columns)}
    order = sorted(range(len(variables)), key=lambda k: place[variables[k].column.name])
    every = torch.cat((there.codes, torch.stack(codes).to(home)))[order]
    # Codes and numbers may be at different places: either stays in memory where the device has little room for it.
    floats = torch.cat((numbers.double(), torch.stack(values).to(numbers.device)))[order]
    told = replace(there.table, columns=tuple(variables[k].column for k in order))
    return Ranked(tuple(variables[k] for k in order), every, floats, told, there.device, there.batches, there.coming)


class _Ranking:
    """All columns to their cells, some at a time."""

    def __init__(self, table: OnDevice, settings: Settings, sample: int, /) -> None:
        self._table, self._settings, self._n = table, settings, int(table.numbers.shape[1])
        self._sample = sampled_rows(self._n, sample)
        self._without_ties: dict[int, Prepared] = {}
        self._batches: list[Batch] = []

    def _cells(self, n: int) -> int | None:
        return grid_cells(n, self._settings.scalar_projection(n, FIXED_DRAW).roughest)

    def __call__(self, at_once: int, /) -> Ranked:
        import torch

        numbers, table, device = self._table.numbers, self._table.table, self._table.device
        columns = [table.columns[k] for k in self._table.places.tolist()]
        codes = torch.empty(numbers.shape, dtype=torch.int32, device=home_of(4 * numbers.numel(), device))
        prepared: dict[int, Prepared] = {}
        skipped: dict[str, str] = {}
        for start in range(0, len(columns), at_once):
            some = numbers[start : start + at_once].to(device)
            ordered, order = torch.sort(some, dim=1)
            lengths = np.full(len(some), self._n)
            if some.is_floating_point() and bool(torch.isnan(ordered[:, -1]).any()):  # what is missing comes last
                lengths = in_memory((~torch.isnan(ordered)).sum(1))
            skipped |= {columns[k].name: reason for k, reason in self._reasons(ordered, lengths, start)}
            kept = np.array([columns[start + k].name not in skipped for k in range(len(some))])
            cells, made = self._ranked(ordered, np.where(kept, lengths, self._n))
            prepared |= {start + k: one for k, one in enumerate(made)}
            codes[start : start + at_once].copy_(torch.empty_like(cells).scatter_(1, order, cells))
        places = np.array([k for k, column in enumerate(columns) if column.name not in skipped], dtype=np.intp)
        fetched, gaps, coming = self._fetched()
        variables = tuple(self._variable(columns[k], prepared[k], fetched[k], gaps.get(k)) for k in places.tolist())
        told = replace(
            table,
            columns=tuple(column for column in table.columns if column.name not in skipped),
            types={name: kind for name, kind in table.types.items() if name not in skipped},
            skipped={**table.skipped, **skipped},
        )
        return Ranked(variables, rows_at(codes, places), rows_at(numbers, places), told, device, self._batches, coming)

    def _fetched(self) -> tuple[NDArray[Any], dict[int, Mask], Bringing]:
        """A sample of the rows of all columns, which comes while others are ranked and compared, and its gaps."""
        import torch

        numbers = self._table.numbers
        shown = numbers[:, torch.as_tensor(self._sample, device=numbers.device)]
        kind = in_memory(shown[:, :0]).dtype  # what NumPy has no type for comes as another
        fetched, coming = np.empty(shown.shape, dtype=kind), Bringing(numbers.device)
        coming.start(shown if shown.element_size() == kind.itemsize else shown.float(), fetched)
        if kind.kind != "f":
            return fetched, {}, coming
        is_missing = torch.isnan(shown)
        places = is_missing.any(1).nonzero().ravel()
        return fetched, dict(zip(places.tolist(), in_memory(is_missing[places]), strict=True)), coming

    def _variable(self, column: Column, prepared: Prepared, fetched: NDArray[Any], gaps: Mask | None) -> DeviceVariable:
        sample = None if len(column) else replace(column, values=fetched, missing=gaps)
        return DeviceVariable(column, ready(prepared), self._n, settings=self._settings, sample=sample)

    def _ranked(self, ordered: Tensor, lengths: Index) -> tuple[Tensor, list[Prepared]]:
        """Cells of sorted columns, of which so many rows are observed, and their functions."""
        import torch

        cells, made = self._tie_free(ordered, lengths)
        tied = self._share_cells(ordered, cells).nonzero().ravel().tolist()
        ends = [in_memory(ordered[k, 1 : lengths[k]] != ordered[k, : lengths[k] - 1]) for k in tied]
        for k, (one, counts) in zip(tied, in_threads(self._tied, ends), strict=True):
            made[k] = one
            cells[k] = len(counts)
            cells[k, : lengths[k]] = torch.as_tensor(_cells_of_ranks(counts), device=ordered.device)
        return cells, made

    def _tie_free(self, ordered: Tensor, lengths: Index) -> tuple[Tensor, list[Prepared]]:
        """Cells and functions of columns whose values all differ."""
        import torch

        device = ordered.device
        lengths_here = np.unique(lengths).tolist()
        made, batches = tie_free([one for one in lengths_here if one not in self._without_ties], self._settings, device)
        self._without_ties |= made
        self._batches += batches
        counts = _side_by_side([in_memory(self._without_ties[one].basis.counts) for one in lengths_here], device)
        rows = torch.as_tensor(np.searchsorted(lengths_here, lengths), device=device)
        cells = _cells_in_order(counts, self._n).index_select(0, rows)
        return cells, [self._without_ties[length] for length in lengths.tolist()]

    def _share_cells(self, ordered: Tensor, cells: Tensor) -> Tensor:
        """Which columns need cells of their own.

        A few equal values have the cell of the last of them (`basis.ranks.quantise`).
        """
        import torch

        if self._n >= ranking.ROWS_OF_CHANCE_TIES:
            counted = share_cells(ordered, cells, longest=ranking.LONGEST_RUN)
            if counted is not None:
                return counted[1] | (counted[0] > ranking.MOST_MOVED * self._n**2)
        equals_next = ordered[:, 1:] == ordered[:, :-1]
        is_tied = equals_next.any(1)
        if self._n < ranking.ROWS_OF_CHANCE_TIES or not bool(is_tied.any()):
            return is_tied
        n_pairs = torch.zeros(len(equals_next), dtype=torch.int64, device=equals_next.device)
        run = equals_next
        for distance in range(1, ranking.LONGEST_RUN):
            n_pairs += run.sum(1)
            cells[:, :-distance] = torch.where(run, cells[:, distance:], cells[:, :-distance])
            run = run[:, :-1] & equals_next[:, distance:]
        return run.any(1) | (n_pairs > ranking.MOST_MOVED * self._n**2)

    def _tied(self, differs: Mask) -> tuple[Prepared, Index]:
        """The functions of a column with ties, from where its sorted values differ, and the rows of its cells."""
        ranks, counts = tied_cells(np.flatnonzero(np.append(differs, True)), self._cells(len(differs) + 1))
        return prepared_cells(ranks, counts, self._settings, has_ties=True), counts

    def _reasons(self, ordered: Tensor, lengths: Index, start: int) -> Iterator[tuple[int, str]]:
        """Columns that cannot be compared, and why; what others tell by their ends is noted."""
        import torch

        place = torch.as_tensor(np.maximum(lengths - 1, 0), device=ordered.device)[:, None]
        ends = in_memory(torch.stack((ordered[:, 0], ordered.gather(1, place)[:, 0]), dim=1).double())
        for k, (first, last) in enumerate(ends.tolist()):
            if not first < last or not np.isfinite((first, last)).all():
                reason = reason_against(self._table.numbers[start + k])
                if reason or first != last:
                    yield start + k, reason
            elif may_be_sentinel(first, last):
                column = self._table.table.columns[self._table.places[start + k]]
                if len(column) == 0:  # else it was told when it was read
                    values = in_memory(ordered[k, : lengths[k]])
                    tell_sentinels(replace(column, values=values), self._table.table.notes)


def rows_at(tensor: Tensor, places: Index, /) -> Tensor:
    """Some rows of a tensor, itself where they are all of them."""
    import torch

    if len(places) == len(tensor):
        return tensor
    return tensor[torch.as_tensor(places, device=tensor.device)]


def _side_by_side(counts: Sequence[Index], device: Any) -> Tensor:
    """Rows of cells (…, cells) on a device, with zeros after the last cell of each."""
    import torch

    found = np.zeros((len(counts), max(map(len, counts))), dtype=np.int64)
    for row, own in zip(found, counts, strict=True):
        row[: len(own)] = own
    return torch.as_tensor(found, device=device)


def _cells_in_order(counts: Tensor, n: int) -> Tensor:
    """The cells of n sorted positions, given their rows (columns, cells); positions after all of them have the next."""
    import torch

    # As many cells as end up to a position lie before it; those without rows end where all others do.
    ends, n_cells = counts.cumsum(1), (counts > 0).sum(1, keepdim=True)
    marks = torch.zeros((len(counts), n + 1), dtype=torch.int32, device=counts.device)
    marks.scatter_add_(1, ends, torch.ones_like(ends, dtype=torch.int32))
    return marks[:, :n].cumsum(1, dtype=torch.int32).clamp(max=n_cells.int())


def _cells_of_ranks(counts: Index) -> NDArray[np.int32]:
    """The cell of every sorted position."""
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)
