"""Tables on a device of torch: columns are ranked there, all pairs are compared there, and what was found comes back.

Ranks, cells and tables of functions are those of a table in memory: without ties columns share one table, which n alone
decides; the table of a column with ties is made from the rows of its cells. Only complete columns of numbers are
compared on a device so far.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup, Variable, ready
from renyi.allpairs.device.stack import DeviceStack, DeviceValues
from renyi.allpairs.row_sample import sampled_rows
from renyi.allpairs.stack import is_exact, precision
from renyi.basis import random_features
from renyi.basis.basis import copula_basis, grid_cells
from renyi.basis.nested import number_scales
from renyi.basis.ranks import Cells, tie_free_cells, tied_cells
from renyi.compute.arrays import in_memory, is_tensor
from renyi.compute.devices import free_bytes, within_room
from renyi.compute.threads import in_threads
from renyi.data.align import Missing
from renyi.data.column import Column, as_floats_apart
from renyi.data.exact import EXACT
from renyi.data.notes import Notes
from renyi.data.table import Table, as_dict, names_of, observed
from renyi.data.types import SkipError, check_varies, read
from renyi.errors import InputError, check_choice, count
from renyi.inference.multiscale import CORNER
from renyi.pair.prepare import Prepared, prepare
from renyi.pair.settings import Settings

__all__ = [
    "OnDevice",
    "Ranked",
    "has_tensors",
    "on_device",
    "ranked",
    "read_tensors",
    "tensors_of",
    "upload",
    "without_gaps",
]

Array: TypeAlias = NDArray[np.float64]
Tensor: TypeAlias = Any
(_SEED,) = random_features.seeds(None, n_draws=1)

# What sorting takes for every number: sorted values, their order, and as much beside them.
_BYTES_OF_SORTING = 48
# Equal values in a row, and pairs of them as a share of all, up to which a column is taken as one without ties.
_LONGEST_RUN, _MOST_MOVED = 5, 3e-7
_ARRAYS = "NumPy arrays and device=None"
_ON_CPU = f"leave such columns out, or pass {_ARRAYS}"


def has_tensors(data: Any, /) -> bool:
    """Whether a table is a tensor, or a dict of them."""
    return is_tensor(data) or (isinstance(data, Mapping) and len(data) > 0 and all(map(is_tensor, data.values())))


def tensors_of(data: Any, /) -> list[Any]:
    """The tensors that a table is made of."""
    if not has_tensors(data):
        return []
    return list(data.values()) if isinstance(data, Mapping) else [data]


@dataclass(frozen=True, eq=False)
class OnDevice:
    """Numbers (columns, rows) on a device, and what is told of them."""

    table: Table
    numbers: Tensor

    def take(self, which: Sequence[int], /) -> "OnDevice":
        """Some of the columns."""
        places = np.array(which, dtype=np.intp)
        columns = tuple(self.table.columns[k] for k in which)
        return OnDevice(replace(self.table, columns=columns), _rows_at(self.numbers, places))


def read_tensors(data: Any, device: Any, argument: str = "the table", /) -> OnDevice:
    """The columns of a tensor (rows, columns), or of a dict of tensors, on a device."""
    reasons: dict[int, str] = {}
    notes = Notes()
    if isinstance(data, Mapping):
        names = names_of(dict.fromkeys(data, np.empty(0)), argument, notes)
        numbers, reasons = _stacked(dict(zip(names, data.values(), strict=True)), device, argument)
    else:
        if data.ndim != 2:
            raise InputError(
                f"{argument} is a tensor of the shape {tuple(data.shape)}, and a table has rows and columns: pass a "
                "tensor that has both, or a dict of tensors"
            )
        names = names_of(np.empty((0, data.shape[1])), argument)
        numbers = _numbers(data, device, argument).T.contiguous()
    if len(numbers) == 0:
        raise InputError(f"{argument} has no columns: there is nothing to measure")
    if numbers.shape[1] < 2:
        raise InputError(f"{argument} has {count(numbers.shape[1], 'row')}, which show no dependence: pass at least 2")
    columns = tuple(Column(name, "number", np.empty(0)) for name in names)
    table = Table(columns, dict.fromkeys(names, "number"), {}, {}, int(numbers.shape[1]), as_dict, notes)
    return _without(OnDevice(table, numbers), reasons)


def _stacked(columns: dict[str, Tensor], device: Any, argument: str) -> tuple[Tensor, dict[int, str]]:
    """Columns of one length as rows of a tensor, and why some that are whole numbers beside floats cannot be measured.

    These are looked at before they become floats.
    """
    import torch

    for name, column in columns.items():
        if column.ndim != 1:
            raise InputError(
                f"{name!r} in {argument} has the shape {tuple(column.shape)}: pass tensors of one length, one a column"
            )
    (first, n_rows), *others = ((name, len(column)) for name, column in columns.items())
    for name, length in others:
        if length != n_rows:
            raise InputError(
                f"{first!r} has {count(n_rows, 'row')} and {name!r} has {length:,}: pass as many values for each column"
            )
    parts = [_numbers(column, device, f"{name!r} in {argument}") for name, column in columns.items()]
    if len({part.dtype for part in parts}) == 1:
        return torch.stack(parts), {}
    reasons = {
        k: _reason(part)
        for k, part in enumerate(parts)
        if not part.is_floating_point() and bool((part == part[:1]).all())
    }
    return torch.stack(
        [_as_floats(part, f"{name!r} in {argument}") for name, part in zip(columns, parts, strict=True)]
    ), reasons


def _numbers(data: Tensor, device: Any, said: str) -> Tensor:
    """A tensor on a device, in a type of numbers that is sorted there."""
    import torch

    if data.dtype == torch.bool or data.is_complex():
        raise InputError(f"{said} holds {data.dtype} and numbers are compared on a device: convert it to floats")
    if data.layout != torch.strided:
        raise InputError(f"{said} is a sparse tensor, whose values are not compared: pass a dense one (.to_dense())")
    numbers = data.detach().to(device)
    if numbers.dtype in (torch.uint16, torch.uint32, torch.uint64):
        whole = numbers.long()
        if numbers.dtype == torch.uint64 and bool((whole < 0).any()):
            raise InputError(f"{said} has whole numbers of 2⁶³ and more, which no device sorts: subtract the smallest")
        return whole
    return numbers


def _as_floats(part: Tensor, label: str) -> Tensor:
    """A column as floats, which keep large whole numbers apart without the smallest, or refuse them."""
    import torch

    if part.is_floating_point():
        return part.to(torch.float64)
    lowest, highest = int(part.min()), int(part.max())
    if max(-lowest, highest) <= EXACT:
        return part.to(torch.float64)
    floats = (part - lowest if highest - lowest < 2**63 else part).to(torch.float64)
    if highest - lowest > EXACT and len(torch.unique(part)) > len(torch.unique(floats)):
        raise InputError(f"{label} has whole numbers that floats beside it would round: {_ON_CPU}")
    return floats


def upload(table: Table, device: Any, /) -> OnDevice:
    """The columns of a table in memory on a device, if they can be compared there."""
    import torch

    for column in table.columns:
        if column.kind != "number":
            raise InputError(f"{column.name!r} is a {column.kind}, which is not compared on a device yet: {_ON_CPU}")
        if column.missing is not None:
            raise InputError(f"{column.name!r} has missing cells, which are not compared on a device yet: {_ON_CPU}")
    values = [column.values for column in table.columns]
    are_single = all(part.dtype == np.float32 for part in values)
    numbers = np.stack(values if are_single else [as_floats_apart(column) for column in table.columns])
    return OnDevice(table, torch.as_tensor(numbers, device=device))


def on_device(columns: Sequence[Column], device: Any, /) -> OnDevice:
    """Complete columns of floats on a device, whether they are there or not."""
    import torch

    # Read-only arrays would be warned of if they were not copied.
    values = [part if is_tensor(part := column.values) else torch.tensor(part, device=device) for column in columns]
    kind = torch.float32 if all(part.dtype == torch.float32 for part in values) else torch.float64
    numbers = torch.empty((len(columns), len(values[0])), dtype=kind, device=device)
    for row, part in zip(numbers, values, strict=True):
        row.copy_(part)
    types = dict.fromkeys((column.name for column in columns), "number")
    return OnDevice(Table(tuple(columns), types, {}, {}, len(values[0]), as_dict), numbers)


@dataclass(frozen=True, eq=False)
class _DeviceVariable(Variable):
    """A column whose rows are on a device, and in memory too if they come from there."""

    n_all: int

    @property
    def with_rows(self) -> Prepared:
        return prepare(self.column, _SEED, self.settings)

    @property
    def n_rows(self) -> int:
        return self.n_all

    @property
    def n_samples(self) -> int:
        return self.n_all


@dataclass(frozen=True, eq=False)
class Ranked:
    """Columns that can be compared, their cells (columns, rows) and values on a device, and why others cannot."""

    variables: tuple[_DeviceVariable, ...]
    codes: Tensor
    numbers: Tensor
    table: Table

    def groups(self) -> list[ColumnGroup]:
        """Columns that are alike, stacked."""
        by_prepared: dict[int, list[int]] = {}
        for place, variable in enumerate(self.variables):
            by_prepared.setdefault(id(variable.prepared), []).append(place)
        by_signature: dict[Any, list[list[int]]] = {}
        for places in by_prepared.values():
            by_signature.setdefault(self.variables[places[0]].signature, []).append(places)
        return [self._group(parts) for parts in by_signature.values()]

    def _group(self, parts: Sequence[Sequence[int]]) -> ColumnGroup:
        """One group, of columns that share what was prepared, and of others."""
        import torch

        prepared = [self.variables[part[0]].prepared for part in parts]
        starts = np.cumsum([0, *(len(one.basis.table) for one in prepared)])
        places = np.concatenate([np.array(part) for part in parts])
        offsets = np.repeat(starts[:-1], [len(part) for part in parts])
        order = np.argsort(places)
        places, offsets = places[order], offsets[order]
        codes, numbers = _rows_at(self.codes, places), _rows_at(self.numbers, places)
        if len(parts) > 1:
            codes = codes + torch.as_tensor(offsets, device=codes.device, dtype=torch.int32)[:, None]
        n_rows = int(codes.shape[1])
        codes = codes.T.contiguous()
        bases, nested = [one.basis for one in prepared], [one.scales.basis for one in prepared]
        kinds = [torch.float64 if is_exact(side, n_rows) else torch.float32 for side in (bases, nested)]
        # They answer whatever is asked of stacks in memory.
        coefficient: Any = DeviceStack.of([one.table for one in bases], codes, dtype=kinds[0])
        corner: Any = DeviceStack.of([one.table[:, :CORNER] for one in nested], codes, dtype=kinds[1])
        rest: Any = None
        if nested[0].rank > CORNER:
            rest = DeviceStack.of([one.table[:, CORNER:] for one in nested], codes, dtype=kinds[1])
        values: Any = DeviceValues.of(numbers)
        variables = tuple(self.variables[place] for place in places.tolist())
        return ColumnGroup(places.astype(np.intp), variables, coefficient, corner, rest, (), values)


def _rows_at(tensor: Tensor, places: NDArray[np.intp]) -> Tensor:
    import torch

    if len(places) == len(tensor):
        return tensor
    return tensor[torch.as_tensor(places, device=tensor.device)]


def ranked(table: OnDevice, settings: Settings, /, *, missing: Missing, sample: int = 0) -> Ranked:
    """Rank all columns where they are, and fetch a sample of their rows; columns that say nothing are left out."""
    table = without_gaps(table, missing)
    device, (n_columns, n_rows) = table.numbers.device, table.numbers.shape
    most = max(1, int(free_bytes(device) / (_BYTES_OF_SORTING * n_rows)))
    ranking = _Ranking(table, settings, sample)
    return within_room(ranking, min(n_columns, most), device, f"sorting a column of {n_rows:,} rows")


def without_gaps(table: OnDevice, missing: Missing, /) -> OnDevice:
    """The table without rows that lack a value, or refused if it has such rows, as `missing` says.

    Columns that say nothing are left out before.
    """
    import torch

    check_choice(missing, Missing, "missing")
    numbers = table.numbers
    if missing == "pairwise" or not numbers.is_floating_point():
        return table
    if not bool(torch.isnan(numbers).any()):
        return table
    is_odd = ~torch.isfinite(numbers).all(1)
    table = _without(table, {k: _reason(numbers[k]) for k in is_odd.nonzero().ravel().tolist()})
    whole, gaps = table.numbers, torch.isnan(table.numbers)
    rows = ~gaps.any(0)
    n_left = int(rows.sum())
    if n_left == len(rows):
        return table
    if missing == "raise" or n_left < 2:
        masks = in_memory(gaps)
        columns = [
            replace(column, missing=mask if mask.any() else None)
            for column, mask in zip(table.table.columns, masks, strict=True)
        ]
        observed(replace(table.table, columns=tuple(columns)), missing=missing)
    left = OnDevice(replace(table.table, n_rows=n_left), whole[:, rows])
    lowest, highest = torch.aminmax(left.numbers, dim=1)
    where = f" on the {n_left:,} rows where nothing is missing"
    constant = (lowest == highest).nonzero().ravel().tolist()
    return _without(left, {k: _reason(whole[k]) or _reason(left.numbers[k]) + where for k in constant})


def _without(table: OnDevice, reasons: dict[int, str]) -> OnDevice:
    """The table without the columns for which there is a reason."""
    names = [column.name for column in table.table.columns]
    skipped = {names[k]: reason for k, reason in reasons.items() if reason}
    told = replace(
        table.table,
        types={name: kind for name, kind in table.table.types.items() if name not in skipped},
        skipped={**table.table.skipped, **skipped},
    )
    return OnDevice(told, table.numbers).take([k for k, name in enumerate(names) if name not in skipped])


def _reason(values: Tensor) -> str:
    """Why a column cannot be measured, in the words of tables in memory; empty where it can."""
    try:
        check_varies(read(in_memory(values), "", None)[0])
    except SkipError as error:
        return str(error)
    return ""


class _Ranking:
    """All columns to their cells, some at a time."""

    def __init__(self, table: OnDevice, settings: Settings, sample: int, /) -> None:
        if settings.s == "median":
            raise InputError(f"s='median' is not found on a device yet: pass a number, or {_ARRAYS}")
        self._table, self._settings, self._n = table, settings, int(table.numbers.shape[1])
        self._sample = sampled_rows(self._n, sample)
        self._projection = settings.scalar_projection(self._n, _SEED)
        self._n_cells = grid_cells(self._n, self._projection.roughest)
        self._without_ties = self._prepared(*tie_free_cells(self._n, self._n_cells), has_ties=False)

    def _prepared(self, ranks: Array, counts: NDArray[np.intp], *, has_ties: bool) -> Prepared:
        cells = Cells(ranks, counts, has_ties, self._n_cells)
        return Prepared(copula_basis(cells, self._projection), number_scales(cells))

    def __call__(self, at_once: int, /) -> Ranked:
        import torch

        numbers, table = self._table.numbers, self._table.table
        names = [column.name for column in table.columns]
        codes = torch.empty(numbers.shape, dtype=torch.int32, device=numbers.device)
        prepared: dict[int, Prepared] = {}
        skipped: dict[str, str] = {}
        counts = tie_free_cells(self._n, self._n_cells)[1]
        cell_of_rank = _cells_of_ranks(counts, numbers.device)
        for start in range(0, len(names), at_once):
            columns = slice(start, start + at_once)
            ordered, order = torch.sort(numbers[columns], dim=1)
            for k, reason in self._reasons(ordered, start):
                skipped[names[k]] = reason
            equals_next = ordered[:, 1:] == ordered[:, :-1]
            cells, is_tied = self._shared_cells(equals_next, cell_of_rank)
            codes[columns].scatter_(1, order, cells)
            tied = [k for k in is_tied.nonzero().ravel().tolist() if names[start + k] not in skipped]
            ends = [~equals_next[k].cpu().numpy() for k in tied]
            for k, (made, own) in zip(tied, in_threads(self._tied, ends), strict=True):
                prepared[start + k] = made
                codes[start + k].scatter_(0, order[k], _cells_of_ranks(own, numbers.device))
        kept = [k for k, name in enumerate(names) if name not in skipped]
        fetched = in_memory(numbers[:, torch.as_tensor(self._sample, device=numbers.device)])
        variables = tuple(
            self._variable(table.columns[k], prepared.get(k, self._without_ties), fetched[k]) for k in kept
        )
        told = replace(
            table,
            columns=tuple(variable.column for variable in variables),
            types={name: kind for name, kind in table.types.items() if name not in skipped},
            skipped={**table.skipped, **skipped},
        )
        places = np.array(kept, dtype=np.intp)
        return Ranked(variables, _rows_at(codes, places), _rows_at(numbers, places), told)

    def _shared_cells(self, equals_next: Tensor, cell_of_rank: Tensor) -> tuple[Tensor, Tensor]:
        """Cells of sorted values on the grid of all columns without ties, and which columns need one of their own.

        On many rows a few equal values, as float32 has them by chance, move ranks by less than products are rounded:
        they have the cell of the last of them.
        """
        import torch

        cells = cell_of_rank.expand(len(equals_next), -1)
        is_tied = equals_next.any(1)
        if precision(self._n) == np.float64 or not bool(is_tied.any()):
            return cells, is_tied
        n_pairs = torch.zeros(len(equals_next), dtype=torch.int64, device=equals_next.device)
        run, cells = equals_next, cells.clone()
        for distance in range(1, _LONGEST_RUN):
            n_pairs += run.sum(1)
            cells[:, :-distance] = torch.where(run, cells[:, distance:], cells[:, :-distance])
            run = run[:, :-1] & equals_next[:, distance:]
        return cells, run.any(1) | (n_pairs > _MOST_MOVED * self._n**2)

    def _variable(self, column: Column, prepared: Prepared, fetched: NDArray[Any]) -> _DeviceVariable:
        sample = None if len(column) else replace(column, values=fetched)
        return _DeviceVariable(column, ready(prepared), self._n, settings=self._settings, sample=sample)

    def _tied(self, differs: NDArray[np.bool_]) -> tuple[Prepared, NDArray[np.intp]]:
        """The functions of a column with ties, from where its sorted values differ, and the rows of its cells."""
        ranks, counts = tied_cells(np.flatnonzero(np.append(differs, True)), self._n_cells)
        return self._prepared(ranks, counts, has_ties=True), counts

    def _reasons(self, ordered: Tensor, start: int) -> Iterator[tuple[int, str]]:
        """Columns that cannot be compared, and why; missing cells are refused."""
        import torch

        # Sorted, what is missing comes last.
        first, last = ordered[:, 0], ordered[:, -1]
        for k in ((first == last) | ~torch.isfinite(first) | ~torch.isfinite(last)).nonzero().ravel().tolist():
            reason = _reason(self._table.numbers[start + k])
            if not reason:
                name, n_missing = self._table.table.columns[start + k].name, int(torch.isnan(ordered[k]).sum())
                raise InputError(
                    f"{name!r} has {count(n_missing, 'missing cell')}, which are not compared on a device yet: "
                    f"pass missing='listwise' to drop such rows, {_ON_CPU}"
                )
            yield start + k, reason


def _cells_of_ranks(counts: NDArray[np.intp], device: Any) -> Tensor:
    """The cell of every sorted position."""
    import torch

    return torch.as_tensor(np.repeat(np.arange(len(counts), dtype=np.int32), counts), device=device)
