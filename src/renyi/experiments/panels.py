"""The twelve data sets of the paper's feature selection, from a folder of CSV files or from OpenML."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array
from renyi.data.files.table_files import read_table
from renyi.errors import InputError, load


@dataclass(frozen=True)
class Panel:
    """Where a data set is found: a file whose last column is the target, or a number at OpenML and its target there."""

    name: str
    file: str
    openml: int | None = None
    openml_target: str | None = None
    openml_dropped: tuple[str, ...] = ()


# Crime and insurance are not at OpenML in the form of the paper's figure.
PANELS = (
    Panel("abalone", "abalone.csv", 183),
    Panel("automobile", "autoprice.csv", 207),
    Panel("autompg", "autompg.csv", 196),
    Panel("breast", "breast.csv", 1510, "V30", ("Class",)),
    Panel("calhousing", "calhousing.csv.gz", 537),
    Panel("cpuact", "cpuact.csv", 197),
    Panel("crime", "crime.csv.gz"),
    Panel("housing", "housing.csv", 531),
    Panel("insurance", "insurance.csv.gz"),
    Panel("parkinson", "parkinson.csv", 4531, "PPE"),
    Panel("sarcos", "sarcos_test.csv", 44976, "V22"),
    Panel("whitewine", "whitewine.csv", 40498, "Class"),
)


@dataclass(frozen=True, eq=False)
class DataSet:
    """Numbers without gaps, standardised, the target last, and what was left out on the way."""

    name: str
    values: Array
    columns: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def read_panels(folder: Path | None, /, *, names: Sequence[str] | None = None) -> list[DataSet]:
    """The data sets of a folder, or of OpenML without one; all of them are read before any work begins."""
    panels = [panel for panel in PANELS if names is None or panel.name in names]
    if folder is None:
        return [_from_openml(panel) for panel in panels]
    absent = [panel.file for panel in panels if not (folder / panel.file).is_file()]
    if absent:
        raise InputError(
            f"data={folder} lacks {', '.join(absent)}: name the folder that has all data sets of the experiment"
        )
    return [prepared(panel.name, read_table(folder / panel.file).frame) for panel in panels]


def prepared(name: str, frame: Any, /) -> DataSet:
    """A Polars frame, the target last: columns of text and constants are left out, then rows with gaps."""
    numbers = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    left_out = [f"column {column}: text" for column in frame.columns if column not in numbers]
    values = frame.select(numbers).to_numpy().astype(np.float64)
    complete = np.isfinite(values).all(axis=1)
    if not complete.all():
        left_out.append(f"{int((~complete).sum()):,} rows with missing cells")
    values = values[complete]
    varies = np.ptp(values, axis=0) > 0
    left_out += [f"column {column}: constant" for column, kept in zip(numbers, varies, strict=True) if not kept]
    if frame.columns[-1] not in numbers or not varies[-1] or varies.sum() < 2:
        raise InputError(f"{name}: the last column has to be a target of numbers that vary, beside one feature or more")
    values = values[:, varies]
    return DataSet(
        name,
        (values - values.mean(axis=0)) / values.std(axis=0),
        tuple(column for column, kept in zip(numbers, varies, strict=True) if kept),
        tuple(left_out),
    )


def _from_openml(panel: Panel) -> DataSet:
    polars = load("polars", extra="cli")
    datasets = load("sklearn.datasets", extra="sklearn")
    load("pandas", extra="sklearn")
    if panel.openml is None:
        raise InputError(f"OpenML does not have {panel.name} as it is needed here: name a folder that does by data=DIR")
    try:
        found = datasets.fetch_openml(data_id=panel.openml, as_frame=True, parser="liac-arff")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{panel.name} cannot be had from OpenML ({error}): name a folder of the data sets by data=DIR"
        ) from error
    target = panel.openml_target or found.target.name
    columns = [c for c in found.frame.columns if c not in (target, *panel.openml_dropped)]
    series = {c: found.frame[c].to_numpy() for c in [*columns, target]}
    return prepared(panel.name, polars.DataFrame({c: _numbers(values) for c, values in series.items()}))


def _numbers(values: NDArray[Any]) -> Any:
    """Numbers also where labels are numbers in quotes; text stays text."""
    try:
        return values.astype(np.float64)
    except ValueError:
        return [str(value) for value in values]
