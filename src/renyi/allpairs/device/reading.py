"""Tables for a device of torch: tensors, frames, and dicts that mix tensors with other columns.

Numbers are ranked on the device, with gaps or without. All else (categories, vectors, whole numbers that floats would
round) is read and ranked in memory, as for a table there, and compared on the device like the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Index, in_memory, is_tensor
from renyi.compute.devices import home_of
from renyi.data.align import Missing
from renyi.data.column import Column, as_floats_apart
from renyi.data.exact import EXACT
from renyi.data.notes import Notes
from renyi.data.table import Table, any_frame, as_table, checked_overrides, names_of, observed
from renyi.data.types import MAX_LEVELS, SkipError, check_varies, read
from renyi.errors import InputError, check_choice, count

Tensor: TypeAlias = Any


def has_tensors(data: Any, /) -> bool:
    """Whether a table is a tensor, or a dict with some."""
    return is_tensor(data) or (isinstance(data, Mapping) and any(map(is_tensor, data.values())))


def tensors_of(data: Any, /) -> list[Any]:
    """The tensors that a table is made of."""
    if not has_tensors(data):
        return []
    return [part for part in data.values() if is_tensor(part)] if isinstance(data, Mapping) else [data]


@dataclass(frozen=True, eq=False)
class OnDevice:
    """A table, of which the columns at `places` are `numbers` (columns, rows) to be ranked on a device.

    They may lie in memory where there is no room for all of them. Other columns have their rows in the table.
    """

    table: Table
    numbers: Tensor
    places: Index
    device: Any

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.table.n_rows

    def take(self, which: Sequence[int], /) -> "OnDevice":
        """Some of the columns, in their order."""
        columns = tuple(self.table.columns[k] for k in which)
        kept = [(new, old) for new, old in enumerate(which) if old in set(self.places.tolist())]
        within = {place: row for row, place in enumerate(self.places.tolist())}
        rows = [within[old] for _, old in kept]
        numbers = self.numbers if rows == list(range(len(self.numbers))) else self.numbers[rows]
        places = np.array([new for new, _ in kept], dtype=np.intp)
        return OnDevice(replace(self.table, columns=columns), numbers, places, self.device)


def read_table(
    data: Any,
    device: Any,
    argument: str = "the table",
    /,
    *,
    types: Any = None,
    vectors: Any = None,
    max_levels: int = MAX_LEVELS,
    missing: Missing = "pairwise",
) -> OnDevice:
    """The columns of a table, those that can be ranked on a device there; rows are dropped as `missing` says."""
    check_choice(missing, Missing, "missing")
    if not has_tensors(data):
        whole = as_table(data, argument, types=types, vectors=vectors, max_levels=max_levels)
        return uploaded(observed(whole, missing=missing), device)
    if not isinstance(data, Mapping) and data.ndim != 2:
        raise InputError(
            f"{argument} is a tensor of the shape {tuple(data.shape)}, and a table has rows and columns: pass a "
            "tensor that has both, or a dict of tensors"
        )
    if not isinstance(data, Mapping) and not types and not vectors and _is_of_numbers(data):
        names = names_of(data, argument)
        return without_rows(_of_numbers(_as_numbers(data, device, argument).T, names, device, argument), missing)
    parts = data if isinstance(data, Mapping) else {f"x{j}": data[:, j] for j in range(data.shape[1])}
    read_here = _read_in_memory(parts, types, vectors, argument)
    if not read_here:
        return without_rows(_stacked(parts, device, argument), missing)
    if missing != "pairwise":  # rows are lost by all columns, wherever these are
        whole = as_table(_all_in_memory(parts), argument, types=types, vectors=vectors, max_levels=max_levels)
        return uploaded(observed(whole, missing=missing), device)
    return _mixed(parts, read_here, device, argument, {"types": types, "vectors": vectors, "max_levels": max_levels})


def _is_of_numbers(data: Tensor) -> bool:
    import torch

    return data.dtype != torch.bool and not data.is_complex()


def _read_in_memory(parts: Mapping[Any, Any], types: Any, vectors: Any, argument: str) -> set[Any]:
    """Which columns of a dict are read in memory."""
    names = dict(zip(names_of(parts, argument), parts, strict=True))
    overrides, groups = checked_overrides(types, vectors, list(names), argument)
    wanted = {names[name] for name in (*overrides, *(member for group in groups.values() for member in group))}
    is_plain = {name: is_tensor(part) and part.ndim == 1 and _is_of_numbers(part) for name, part in parts.items()}
    return wanted | {name for name, plain in is_plain.items() if not plain}


def _all_in_memory(parts: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: in_memory(part) for name, part in parts.items()}


def _mixed(parts: Mapping[Any, Any], here: set[Any], device: Any, argument: str, asked: dict[str, Any]) -> OnDevice:
    """Columns of which some are read in memory."""
    there = {name: part for name, part in parts.items() if name not in here}
    told = as_table({name: in_memory(part) for name, part in parts.items() if name in here}, argument, **asked)
    if not there:
        return uploaded(told, device)
    numbers = _stacked(there, device, argument)
    if numbers.table.n_rows != told.n_rows:
        raise InputError(
            f"{next(iter(there))!r} has {count(numbers.table.n_rows, 'row')} and others in {argument} have "
            f"{told.n_rows:,}: pass as many values for each column"
        )
    # In the order of the dict; a vector stands where its first coordinate does.
    order = {str(name): k for k, name in enumerate(parts)}
    vectors = {str(name): [str(part) for part in group] for name, group in (asked["vectors"] or {}).items()}
    order |= {name: min(order[part] for part in group) for name, group in vectors.items()}
    both = (*numbers.table.columns, *told.columns)
    which = sorted(range(len(both)), key=lambda k: order.get(both[k].name, len(order)))
    columns = tuple(both[k] for k in which)
    places = {k: place for place, k in enumerate(which)}
    table = replace(
        told,
        columns=columns,
        types={column.name: (numbers.table.types | told.types)[column.name] for column in columns},
        skipped=numbers.table.skipped | told.skipped,
    )
    table.notes.absorb(numbers.table.notes)
    return OnDevice(table, numbers.numbers, np.array([places[k] for k in range(len(numbers.numbers))]), device)


def _of_numbers(
    numbers: Tensor, names: Sequence[str], device: Any, argument: str, notes: Notes | None = None
) -> OnDevice:
    """Numbers (columns, rows), all of which are ranked on the device."""
    if len(numbers) == 0:
        raise InputError(f"{argument} has no columns: there is nothing to measure")
    if numbers.shape[1] < 2:
        raise InputError(f"{argument} has {count(numbers.shape[1], 'row')}, which show no dependence: pass at least 2")
    columns = tuple(Column(name, "number", np.empty(0)) for name in names)
    types = dict.fromkeys(names, "number")
    table = Table(columns, types, {}, {}, int(numbers.shape[1]), any_frame, Notes() if notes is None else notes)
    return OnDevice(table, numbers.contiguous(), np.arange(len(columns)), device)


def _stacked(parts: Mapping[Any, Tensor], device: Any, argument: str) -> OnDevice:
    """Tensors of one length, one a column.

    Whole numbers that say nothing are left out before they become floats beside others.
    """
    import torch

    notes = Notes()
    names = names_of(parts, argument, notes)
    (first, n_rows), *others = ((name, len(part)) for name, part in zip(names, parts.values(), strict=True))
    for name, length in others:
        if length != n_rows:
            raise InputError(
                f"{first!r} has {count(n_rows, 'row')} and {name!r} has {length:,}: pass as many values for each column"
            )
    columns = [
        _as_numbers(part, device, f"{name!r} in {argument}") for name, part in zip(names, parts.values(), strict=True)
    ]
    if len({part.dtype for part in columns}) == 1:
        return _of_numbers(torch.stack(columns), names, device, argument, notes)
    reasons = {
        k: reason_against(part)
        for k, part in enumerate(columns)
        if not part.is_floating_point() and bool((part == part[:1]).all())
    }
    floats = torch.stack(
        [_as_floats(part, f"{name!r} in {argument}") for name, part in zip(names, columns, strict=True)]
    )
    return _without(_of_numbers(floats, names, device, argument, notes), reasons)


def _as_numbers(data: Tensor, device: Any, said: str) -> Tensor:
    """A tensor in a type of numbers that is sorted on a device, and there if it has room."""
    import torch

    if data.layout != torch.strided:
        raise InputError(f"{said} is a sparse tensor, whose values are not compared: pass a dense one (.to_dense())")
    is_there = data.device.type == device.type
    numbers = data.detach().to(device if is_there else home_of(data.nbytes, device))
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
        raise InputError(
            f"{label} has whole numbers that floats beside it would round: leave such columns out, or pass NumPy "
            "arrays and device=None"
        )
    return floats


def uploaded(table: Table, device: Any, /) -> OnDevice:
    """The columns of a table in memory; numbers that floats keep apart are ranked on the device."""
    import torch

    floats: dict[int, NDArray[Any]] = {}
    for k, column in enumerate(table.columns):
        if not column.is_number:
            continue
        try:
            values = column.values if column.values.dtype == np.float32 else as_floats_apart(column.complete())
        except InputError:
            continue
        if column.missing is not None and len(values) < len(column):
            spread = np.full(len(column), np.nan)
            spread[~column.missing] = values
            values = spread
        elif column.missing is not None:
            values = np.where(column.missing, np.float32(np.nan), values)
        floats[k] = values
    if not floats:
        numbers = torch.empty((0, table.n_rows), device=device)
    else:
        stacked = np.stack(list(floats.values()))
        numbers = torch.as_tensor(stacked, device=home_of(stacked.nbytes, device))
    return OnDevice(table, numbers, np.array(list(floats), dtype=np.intp), device)


def of_columns(columns: Sequence[Column], device: Any, /) -> OnDevice:
    """Complete columns of floats on a device, whether they are there or not."""
    import torch

    # Read-only arrays would be warned of if they were not copied.
    values = [part if is_tensor(part := column.values) else torch.tensor(part, device=device) for column in columns]
    kind = torch.float32 if all(part.dtype == torch.float32 for part in values) else torch.float64
    numbers = torch.empty((len(columns), len(values[0])), dtype=kind, device=device)
    for row, part in zip(numbers, values, strict=True):
        row.copy_(part)
    types = dict.fromkeys((column.name for column in columns), "number")
    table = Table(tuple(columns), types, {}, {}, len(values[0]), any_frame)
    return OnDevice(table, numbers, np.arange(len(columns)), device)


def without_rows(table: OnDevice, missing: Missing, /) -> OnDevice:
    """Tensors without rows that lack a value, or refused if they have such rows, as `missing` says.

    Columns that say nothing are left out before.
    """
    import torch

    numbers = table.numbers
    if missing == "pairwise" or not numbers.is_floating_point() or not bool(torch.isnan(numbers).any()):
        return table
    is_odd = ~torch.isfinite(numbers).all(1)
    table = _without(table, {k: reason_against(numbers[k]) for k in is_odd.nonzero().ravel().tolist()})
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
    left = replace(table, table=replace(table.table, n_rows=n_left), numbers=whole[:, rows])
    lowest, highest = torch.aminmax(left.numbers, dim=1)
    where = f" on the {n_left:,} rows where nothing is missing"
    constant = (lowest == highest).nonzero().ravel().tolist()
    return _without(left, {k: reason_against(whole[k]) or reason_against(left.numbers[k]) + where for k in constant})


def _without(table: OnDevice, reasons: dict[int, str]) -> OnDevice:
    """The table without the columns for which there is a reason."""
    names = [column.name for column in table.table.columns]
    skipped = {names[k]: reason for k, reason in reasons.items() if reason}
    told = replace(
        table.table,
        types={name: kind for name, kind in table.table.types.items() if name not in skipped},
        skipped={**table.table.skipped, **skipped},
    )
    return replace(table, table=told).take([k for k, name in enumerate(names) if name not in skipped])


def reason_against(values: Tensor, /) -> str:
    """Why a column cannot be measured, in the words of tables in memory; empty where it can."""
    try:
        check_varies(read(in_memory(values), "", None)[0])
    except SkipError as error:
        return str(error)
    return ""
