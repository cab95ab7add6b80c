"""Tables of xarray and of AnnData, to columns by their names or a frame, which the reader knows; names of rows."""

import sys
from typing import Any

from renyi.errors import InputError, brief


def plain_table(data: Any, argument: str, /) -> Any:
    """Data variables of an xarray Dataset as named columns, a DataArray or AnnData as a frame; all else as it is."""
    if _is(data, "xarray", "Dataset"):
        return _columns_of(data, argument)
    if _is(data, "xarray", "DataArray"):
        return data.to_pandas() if data.ndim == 2 and data.dims[1] in data.coords else data.values
    return data.to_df() if _is(data, "anndata", "AnnData") else data


def row_labels(data: Any, /) -> Any:
    """What the rows are called: the index of pandas, observations of AnnData, a coordinate of xarray; else None."""
    if _is(data, "xarray", "DataArray"):
        return data.indexes.get(data.dims[0]) if data.dims else None
    return data.obs_names if _is(data, "anndata", "AnnData") else getattr(data, "index", None)


def _is(data: Any, module: str, name: str) -> bool:
    # Who has such a table has imported the library.
    return isinstance(data, getattr(sys.modules.get(module), name, ()))


def _columns_of(data: Any, argument: str) -> dict[Any, Any]:
    """Variables along the one dimension that all of them have; those of a second dimension are vectors.

    Coordinates are left out, as the index of a frame is, and so is a variable that is one value for all rows.
    """
    columns = {name: variable for name, variable in data.data_vars.items() if variable.dims}
    dims = {dim: None for variable in columns.values() for dim in variable.dims}
    shared = [dim for dim in dims if all(dim in variable.dims for variable in columns.values())]
    if columns and len(shared) != 1:
        raise InputError(
            f"{argument} is a Dataset whose variables have the dimensions {brief(tuple(dims))}, {len(shared)} of them "
            "in common, and rows lie along one: choose variables by [...] and cells by .isel(...), or make one "
            "dimension of several by .stack(row=[...])"
        )
    return {name: variable.transpose(shared[0], ...).values for name, variable in columns.items()}
