"""Two columns to their bases on the rows that both have, checked for freedom; numbers may be ranked on a device."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import Basis, category_basis, restrict, scalar_basis, vector_basis
from renyi.basis.random_features import Seed
from renyi.compute.arrays import namespace
from renyi.compute.threads import in_threads
from renyi.data.align import checked_rows
from renyi.data.column import Column, as_floats_apart, labels_of
from renyi.data.reader import as_column
from renyi.errors import InputError
from renyi.pair.settings import Settings

Outcome = TypeVar("Outcome")

# Below this many rows a second thread costs more than it saves.
_ROWS_FOR_THREADS = 2**17


def columns_on(device: Any, x: Any, y: Any, /) -> tuple[Column, Column]:
    """Two columns whose numbers are on a device, to be ranked there; all else is read and ranked in memory."""
    return _column_on(device, x, "x"), _column_on(device, y, "y")


def _column_on(device: Any, data: Any, argument: str) -> Column:
    import torch

    if namespace(data) is not np and _is_ranked_there(data):
        values = data.detach().to(device)
        gaps = torch.isnan(values) if values.is_floating_point() else torch.zeros(1, dtype=torch.bool)
        if not bool(gaps.all()):
            return Column(argument, "number", values, gaps.cpu().numpy() if bool(gaps.any()) else None)
    column = as_column(data, argument)
    # Read-only arrays would be warned of if they were not copied.
    return replace(column, values=torch.tensor(_in_order(column), device=device)) if column.is_number else column


def _is_ranked_there(data: Any) -> bool:
    """Whether a tensor holds numbers that a device sorts; reading others in memory says what is wrong, if it is."""
    import torch

    sorted_there = not data.is_complex() and data.dtype not in (torch.bool, torch.uint16, torch.uint32, torch.uint64)
    return sorted_there and data.ndim == 1 and data.layout == torch.strided and not bool(torch.isinf(data).any())


def _in_order(column: Column) -> NDArray[Any]:
    """Numbers of any type that are ordered as a column's are, in one that a device has."""
    values = column.values
    match values.dtype.kind:
        case "M" | "m":
            return values.view(np.int64)
        case "i":
            return values.astype(np.int64, copy=False)
        case "u":
            # Half the range less, as signed ones.
            return (values.astype(np.uint64) ^ np.uint64(2**63)).view(np.int64)
        case _:
            return as_floats_apart(column)


def pair_of_bases(pair: tuple[Column, Column], settings: Settings, seed: Seed, /) -> tuple[Basis, Basis]:
    """Both bases over the rows both have, checked for freedom."""

    def prepare(column: Column) -> Basis:
        return _basis(column, settings, seed)

    x, y = for_both(prepare, pair)
    rows = rows_in_common(pair)
    if rows is not None:
        x, y = restrict(x, rows[0]), restrict(y, rows[1])
    check_freedom(pair, (x, y))
    return x, y


def for_both(prepare: Callable[[Column], Outcome], pair: tuple[Column, Column], /) -> list[Outcome]:
    """Prepare two columns, at the same time where they are long."""
    long_scalars = len(pair[0]) >= _ROWS_FOR_THREADS and all(column.is_number for column in pair)
    return in_threads(prepare, pair) if long_scalars else [prepare(column) for column in pair]


def rows_in_common(pair: tuple[Column, Column], /) -> list[NDArray[np.bool_]] | None:
    """Of the observed rows of either column those that the other has too; None where nothing is missing."""
    common = checked_rows(*pair)
    if common is None:
        return None
    return [common if column.missing is None else common[~column.missing] for column in pair]


def _basis(column: Column, settings: Settings, seed: Seed) -> Basis:
    """The basis of a column over its own observed rows."""
    column = column.complete()
    if column.is_category:
        return category_basis(column.values)
    projection = settings.projection(column, seed)
    basis = scalar_basis if column.is_number else vector_basis
    return settings.of_rows(basis(column.values, projection))


def check_freedom(pair: tuple[Column, Column], bases: tuple[Basis, Basis], /) -> None:
    """Refuse bases that are empty, or so large that they correlate perfectly whatever the data."""
    for column, basis in zip(pair, bases, strict=True):
        check_basis(column, basis)
    check_dimensions(bases[0].dimension, bases[1].dimension, bases[0].n_samples, said=labels_of(pair))


def check_basis(column: Column, basis: Basis, /) -> None:
    """Refuse an empty basis."""
    if basis.dimension > 0:
        return
    n = basis.n_samples
    is_short = n < len(column) or column.is_category
    remedy = "pass more rows" if is_short else "pass a larger s (to renyi.rdc), or declare it by renyi.categorical"
    raise InputError(f"{column.label} does not vary enough to be measured on the {n:,} rows used: {remedy}")


def check_dimensions(dimension_x: int, dimension_y: int, n: int, /, *, said: str = "x and y") -> None:
    """Refuse dimensions that together fill the rows."""
    if dimension_x + dimension_y >= n:
        raise InputError(
            f"{said} have bases of dimensions {dimension_x} and {dimension_y}, and on {n:,} rows those correlate "
            "perfectly whatever the data: pass more rows, fewer levels or coordinates, or (to renyi.rdc) a smaller k"
        )
