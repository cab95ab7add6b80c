"""The functions of tables: `matrix`, `screen` and `pairs`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from renyi.allpairs.device.reading import tensors_of
from renyi.allpairs.edges import Edges
from renyi.allpairs.row_sample import SAMPLE, check_sample
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.compute.devices import device_of
from renyi.data.align import Missing
from renyi.data.table import as_table, names_of, observed
from renyi.data.types import MAX_LEVELS, check_max_levels
from renyi.errors import InputError, is_integer, is_number
from renyi.inference.false_discovery import Correction
from renyi.tables.accumulator import DEFAULT_MEMORY, Accumulator
from renyi.tables.arguments import (
    Types,
    Vectors,
    checked_measure,
    column_named,
    comparable,
    listed,
    side_by_side,
    with_target,
)
from renyi.tables.batches import in_batches, is_out_of_core, loaded_if_small
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.in_memory import every_pair, given_others, in_tiles, prepared
from renyi.tables.on_device import TableOnDevice
from renyi.tables.result import rate_for
from renyi.tables.screening import Screening
from renyi.tables.top_pairs import TopPairs

__all__ = ["matrix", "pairs", "screen"]


_DEFAULT_TOP = 1000


def matrix(
    table: Any,
    other: Any = None,
    *,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    max_levels: int = MAX_LEVELS,
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    sample: int = SAMPLE,
    device: Any = None,
    progress: bool = False,
) -> DependenceMatrix:
    """Dependence of every pair of columns of a table, with p-values and false discovery control.

    Like `df.corr()`, for dependence of any form and columns of any type. Columns that say nothing (constant, empty,
    identifiers) are left out and named in `.skipped`.

    Parameters
    ----------
    table : frame, dict of columns, list of dicts, or array of shape (n, d)
        A frame of pandas, Polars or Arrow, a dict of columns, a list of rows as dicts, or a matrix whose columns are
        the variables. Also what is
        read in batches, and never whole: the name of a file or a pattern such as ``"data/*.parquet"``, a lazy frame of
        Polars, an iterator of tables, or a DataFrame of Dask or Spark, whose partitions stay where they are. Tensors of
        torch (n, d), or a dict of them, are worked on by torch where they are.
    other : the same, optional
        A second table over the same rows: its columns take the place of the table's own as partners.
    measure : str or Measure, default "rdc"
        The coefficient: one of `renyi.measures()`, or `renyi.measure(name, ...)` with settings. Measures other than the
        RDC are taken on the rows that both columns have, and columns they cannot take are left out.
    missing : {"pairwise", "listwise", "raise"}, default "pairwise"
        "pairwise" ranks every column over its own observed rows and compares two on the rows both have; "listwise"
        drops rows with any missing cell first; "raise" refuses them.
    types : mapping of str to {"number", "category", "date", "skip"}, optional
        What columns are, where the decision shown in `.types` is not the one wanted. "number" reads text as numbers,
        and cells that are none as missing; "date" reads text, or whole numbers such as 20240229.
    vectors : mapping of str to sequence of str, optional
        Columns that are one variable together: {"location": ["lat", "lon"]}. They leave the table.
    max_levels : int, default 2000
        Levels of a category that are told apart at most, the most frequent ones. Levels of fewer than 5 rows are taken
        together in any case.
    correction : {"bh", "by", "holm", "bonferroni"}, default "bh"
        How p-values are adjusted for the number of tests, as in `renyi.adjust`.
    memory : str or int, default "1GB"
        What counts, sums and batches may take where the table is read in batches; libraries and 2 MB a column come on
        top. A file that is small beside it is loaded instead.
    sample : int, default 10_000
        Rows that are kept for the pictures of a report, drawn uniformly, where the table is read in batches or is on a
        device; 0 for none. Pictures of a table in memory are drawn from 10,000 of its rows.
    device : str or torch.device, optional
        Where to compare: "cuda" or "cuda:1" for a GPU of NVIDIA, by torch (`renyi[gpu]`). Complete columns of numbers
        are compared there; all else is refused rather than done elsewhere. None is where the data are: on the device
        of tensors, else on the processor by NumPy.
    progress : bool, default False
        Show a progress bar if this runs in a terminal.

    Returns
    -------
    DependenceMatrix
        With `values`, `debiased`, `strength`, `pvalues`, `qvalues`, `n_samples`, `pearson`, `spearman`, `types`,
        `skipped`, `pooled`, `notes` (what reading decided), `to_frame()`, `plot()`, `report()`, and `top()` and
        `to_edges()`, whose frames have `remark` too: the strength without the one or two rows that carry a pair.

    Raises
    ------
    InputError
        For a table without two columns to compare, or settings that make no sense.

    Notes
    -----
    `values[i, j]` is `renyi.rdc` and `pvalues[i, j]` the p-value of `renyi.independence_test` for the two columns.
    Every column is prepared once; all pairs are then products of matrices. Where cells are missing for a reason that
    has to do with both columns, the rows that are left are a selection, and selection can create dependence.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> found = renyi.matrix({"x": x, "x squared": x**2, "noise": np.random.default_rng(0).random(500)})
    >>> found.values.round(2)[0, 1]
    np.float64(1.0)
    >>> found.qvalues[0, 1] < 1e-9 < found.qvalues[0, 2]
    np.True_
    """
    check_max_levels(max_levels)
    check_sample(sample)
    place = device_of(device, *tensors_of(table), *tensors_of(other))
    if place is not None:
        ways = TableOnDevice(place, checked_measure(measure, correction), types, vectors, max_levels, missing, sample)
        beside = None if other is None else _in_memory(other, memory)
        found = ways.matrix(_in_memory(table, memory), beside, progress=progress)
        return DependenceMatrix.of(*found, correction=correction)
    table = loaded_if_small(table, memory)
    other = None if other is None else loaded_if_small(other, memory)
    if is_out_of_core(table) or is_out_of_core(other):
        _refuse(other=other is not None, vectors=vectors)
        settings: dict[str, Any] = {"measure": measure, "missing": missing, "types": types, "correction": correction}
        settings |= {"max_levels": max_levels, "sample": sample}
        accumulated = in_batches(table, Accumulator(**settings, memory=memory), memory, progress=progress)
        return cast(DependenceMatrix, accumulated)
    by = checked_measure(measure, correction)
    if other is None:
        rows = comparable(
            observed(as_table(table, types=types, vectors=vectors, max_levels=max_levels), missing=missing),
            by,
            at_least=2,
        )
        edges = every_pair(by, rows.columns, None, progress=progress)
        return DependenceMatrix.of(rows, None, edges, correction=correction)
    rows, columns = (
        comparable(observed(part, missing=missing), by, at_least=1)
        for part in side_by_side(table, other, types, vectors, missing, read=partial(as_table, max_levels=max_levels))
    )
    edges = every_pair(by, rows.columns, columns.columns, progress=progress)
    return DependenceMatrix.of(rows, columns, edges, correction=correction)


def pairs(
    table: Any,
    *,
    top: int | None = None,
    threshold: float | None = None,
    q: float | None = None,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    max_levels: int = MAX_LEVELS,
    correction: Correction = "bh",
    progress: bool = False,
) -> Any:
    """The strongest pairs of a table too wide for a matrix.

    The pairs are ranked as by `renyi.matrix` while they are computed and only the strongest are kept. Their q-values
    count every test that was made.

    Parameters
    ----------
    table, measure, missing, types, vectors, max_levels, progress
        As in `renyi.matrix`.
    top : int, optional
        Pairs to keep at most; 1,000 where neither this nor a threshold is given.
    threshold : float, optional
        Smallest strength of a pair that is kept; of another measure, its smallest size.
    q : float, optional
        False discovery rate, by default 0.05: pairs with a larger q-value are left out. Pass 1 to see all. Measures
        without a law rank all pairs, and a rate is refused.
    correction : {"bh", "by", "bonferroni"}, default "bh"
        As in `renyi.adjust`.

    Returns
    -------
    frame
        In the kind of frame that came in, in the order of `renyi.matrix(table).top()`: `x`, `y`, `coefficient`,
        `debiased`, `strength`, `pearson`, `spearman`, `nonlinear` (a linear coefficient would have missed it), `p`,
        `q`, `n` and `remark`; by another measure `x`, `y`, `coefficient`, `p`, `q` and `n`. A frame has no `notes`:
        what reading decided is in those of `renyi.matrix`.

    Raises
    ------
    InputError
        As `renyi.matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> renyi.pairs({"x": x, "y": x**2, "z": np.random.default_rng(0).random(500)}, top=1)["y"]
    array(['y'], dtype='<U1')
    """
    by = checked_measure(measure, correction)
    if correction == "holm":
        raise InputError("correction='holm' needs all p-values at once: pass 'bh', 'by' or 'bonferroni'")
    if top is not None and not (is_integer(top) and top >= 1):
        raise InputError(f"top={top!r} makes no sense: pass a whole number of pairs, 1 or more")
    highest = by.statement.range[1]
    if threshold is not None and not (is_number(threshold) and -1 <= threshold <= highest and threshold < np.inf):
        reach = "between -1 and 1" if highest == 1 else f"of {by.name}, which has no upper end"
        raise InputError(f"threshold={threshold!r} makes no sense: pass a coefficient {reach}")
    rate = rate_for(q, str(by), has_law=by.has_law)
    rows = comparable(
        observed(as_table(table, types=types, vectors=vectors, max_levels=max_levels), missing=missing), by, at_least=2
    )
    most = _DEFAULT_TOP if top is None and threshold is None else top
    if not isinstance(by, Rdc):
        every = every_pair(by, rows.columns, None, progress=progress)
        whole = DependenceMatrix.of(rows, None, every, correction=correction)
        return whole.strongest(top=most, threshold=threshold, q=q)
    variables = prepared(rows.columns, by, progress=progress)
    strongest = TopPairs(top=most, threshold=threshold, q=rate, correction=correction)
    for found in in_tiles(variables, None, progress=progress):
        strongest.update(Edges(variables, variables, found))
    edges, rates = strongest.result()
    return edges.to_frame(rows.new_frame, qvalues=rates)


def screen(
    table: Any,
    target: Any,
    *,
    given: str | Sequence[str] | None = None,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    max_levels: int = MAX_LEVELS,
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    sample: int = SAMPLE,
    device: Any = None,
    progress: bool = False,
) -> Screening:
    """Dependence of every column of a table on one target.

    Parameters
    ----------
    table, measure, missing, types, vectors, max_levels, correction, memory, sample, device, progress
        As in `renyi.matrix`.
    target : str, list of str, Series or array
        The name of the column of interest, of any type, several of numbers as one vector; or its values, one for every
        row of a table in memory.
    given : str or list of str, optional
        Columns to hold fixed: every test is then `renyi.conditional_test` given these, on the rows that have all of
        them.

    Returns
    -------
    Screening
        Strongest first, with `names`, `values`, `debiased`, `strength`, `pvalues`, `qvalues`, `n_samples`, `pearson`,
        `spearman`, `types`, `skipped`, `pooled`, `notes`, `report()`, and `top()` and `to_frame()`, whose frames have
        `remark` too.

    Raises
    ------
    InputError
        For a target or a given column that is not there or says nothing; else as `renyi.matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> found = renyi.screen({"x": x, "y": x**2, "z": np.random.default_rng(0).random(500)}, "y")
    >>> found.names
    ('x', 'z')
    """
    check_max_levels(max_levels)
    check_sample(sample)
    place = device_of(device, *tensors_of(table))
    if place is not None:
        ways = TableOnDevice(place, checked_measure(measure, correction), types, vectors, max_levels, missing, sample)
        goal, candidates, found = ways.screen(_in_memory(table, memory), target, given, progress=progress)
        return Screening.of(candidates, goal, (), found, correction=correction)
    table = loaded_if_small(table, memory)
    if is_out_of_core(table):
        _refuse(given=given, vectors=vectors)
        if not isinstance(target, str):
            raise InputError("a table that is read in batches has its target among its columns: name one of them")
        settings: dict[str, Any] = {"measure": measure, "missing": missing, "types": types, "correction": correction}
        settings |= {"max_levels": max_levels, "sample": sample}
        accumulator = Accumulator(target=target, **settings, memory=memory)
        return cast(Screening, in_batches(table, accumulator, memory, progress=progress))
    by = checked_measure(measure, correction)
    held = listed(() if given is None else given, names_of(table))
    rows, goal = with_target(table, target, held, types, vectors, max_levels=max_levels)
    rows = observed(rows, missing=missing)
    targets = [column_named(rows, goal, "target")]
    fixed = [column_named(rows, name, "given") for name in held]
    left_out = {goal, *held}
    candidates = replace(rows, columns=tuple(c for c in rows.columns if c.name not in left_out))
    candidates = comparable(candidates, by, at_least=1)
    if by.refusal(targets[0]):
        raise InputError(f"target {goal!r} is {by.refusal(targets[0])}")
    if not fixed:
        edges = every_pair(by, candidates.columns, targets, progress=progress)
        return Screening.of(candidates, goal, (), edges, correction=correction)
    if by != Rdc():
        raise InputError("given is for the conditional test, which has a statistic of its own: leave measure out")
    x, y = (prepared(side, by, progress=progress) for side in (candidates.columns, targets))
    edges, reasons = given_others(x, y, fixed, candidates.notes, progress=progress)
    candidates = replace(candidates, skipped={**candidates.skipped, **reasons})
    return Screening.of(candidates, goal, tuple(held), edges, correction=correction)


def _in_memory(table: Any, memory: str | int) -> Any:
    """A table for a device, which takes what is in memory."""
    table = loaded_if_small(table, memory)
    if is_out_of_core(table):
        raise InputError(
            "device is for tables in memory, and this one is read in batches: load it, or leave device out"
        )
    return table


def _refuse(**overrides: Any) -> None:
    for name, override in overrides.items():
        if override:
            raise InputError(
                f"{name} is for tables in memory, and this one is read in batches: load it, or leave it out"
            )
