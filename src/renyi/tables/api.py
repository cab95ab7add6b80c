"""The functions of tables: `matrix`, `screen` and `pairs`."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from renyi.allpairs.device.reading import tensors_of
from renyi.allpairs.row_sample import SAMPLE
from renyi.coefficients.base import Measure
from renyi.compute.devices import as_torch, device_of
from renyi.data.align import Missing
from renyi.data.seasons import Adjustment, Detrend
from renyi.data.types import MAX_LEVELS
from renyi.errors import InputError, check_integer, is_number, must_be
from renyi.inference.false_discovery import Correction
from renyi.inference.permutation import Exchange
from renyi.tables.arguments import Question, Types, Vectors, names_in
from renyi.tables.batches import TableInBatches, check_order, is_out_of_core, loaded_if_small
from renyi.tables.budget import DEFAULT_MEMORY
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.dependent_rows import Design, Order
from renyi.tables.in_memory import TableInMemory
from renyi.tables.on_device import TableOnDevice
from renyi.tables.result import rate_for
from renyi.tables.screening import Screening
from renyi.tables.strongest import Pairs
from renyi.tables.top_pairs import TopPairs

# Where the rows of a table are, and who adds them up.
Door: TypeAlias = TableInMemory | TableInBatches | TableOnDevice

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
    time: Any = None,
    groups: Any = None,
    exchange: Exchange = "within",
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
    order: Order = "check",
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    sample: int = SAMPLE,
    device: Any = None,
    progress: bool = False,
) -> DependenceMatrix:
    """How strongly every pair of columns of a table depends on each other, from 0 to 1, and how certain that is.

    Like `df.corr()`, but for dependence of any form and columns of any type. Columns that say nothing (constant, empty,
    identifiers) are left out and named in `.skipped`. Rows are taken as independent of one another: pass `time` or
    `groups` where they are not.

    Parameters
    ----------
    table : frame, dict of columns, list of dicts, or array of shape (n, d)
        A frame of pandas, Polars or Arrow, a dict of columns, a list of rows as dicts, a matrix whose columns are the
        variables, a Dataset or DataArray of xarray, or an AnnData (docs/how-to/packages.md). Also what is read in
        batches, and never whole: the name of a file or a pattern such as ``"data/*.parquet"``, a lazy frame of Polars,
        a dataset of Arrow, a relation of DuckDB, a table of Ibis, an iterator of tables, or a DataFrame of Dask or
        Spark, whose partitions stay where they are. Tensors of torch (n, d), or a dict with some, are worked on by
        torch where they are.
    other : the same, or list of str, optional
        A second table over the same rows: its columns take the place of the table's own as partners. Or names of
        columns of the table, with which all of its other columns are compared.
    measure : str or Measure, default "rdc"
        The coefficient: one of `renyi.measures()`, or `renyi.measure(name, ...)` with settings. Measures other than the
        RDC are taken on the rows that both columns have, and columns they cannot take are left out.
    missing : {"pairwise", "listwise", "raise"}, default "pairwise"
        "pairwise" ranks every column over its own observed rows and compares two on the rows both have; "listwise"
        drops rows with any missing cell first; "raise" refuses them.
    types : mapping of str to {"number", "category", "date", "skip"} or list of labels, optional
        What columns are, where the decision shown in `.types` is not the one wanted; `.types` of an earlier result is
        taken, too. "number" reads text as numbers, and cells that are none as missing; "date" reads text, or whole
        numbers such as 20240229. Labels in their order make ranks: {"size": ["low", "medium", "high"]}.
    vectors : mapping of str to sequence of str, optional
        Columns that are one variable together: {"location": ["lat", "lon"]}. They leave the table.
    max_levels : int, default 2000
        Levels of a category that are told apart at most, the most frequent ones. Levels of fewer than 5 rows are taken
        together in any case.
    time : True, str or array-like of shape (n,), optional
        Rows are a series, and p-values come from shifts (docs/how-to/time-series.md): True where they are in order and
        equally far apart, the name of a column of dates or numbers to order them by, which leaves the table, or a stamp
        for each row. For tables in memory and the RDC, as `groups` is.
    groups : str or array-like of shape (n,), optional
        Rows that belong together, by the name of a column or a label for each row: p-values come from permutations that
        respect them. With `time` each group is a series of its own.
    exchange, detrend, period
        As in `renyi.independence_test`.
    order : {"check", None}, default "check"
        Whether to look if columns resemble their own previous rows, which `notes` then say. None where the order of
        rows means nothing.
    correction : {"bh", "by", "holm", "bonferroni"}, default "bh"
        How p-values are adjusted for the number of tests, as in `renyi.adjust`.
    memory : str or int, default "1GB"
        What counts, sums and batches may take where the table is read in batches; libraries and 2 MB a column come on
        top. A file that is small beside it is loaded instead.
    sample : int, default 10_000
        Rows that are kept for the pictures of a report, drawn uniformly, where the table is read in batches or is on a
        device; 0 for none. Pictures of a table in memory are drawn from 10,000 of its rows.
    device : str or torch.device, optional
        Where to compare: "cuda" or "cuda:1" for a GPU of NVIDIA, by torch (`renyi[gpu]`). Numbers are
        ranked there, and all columns compared; what cannot be (other measures, `given`) is refused rather than done
        elsewhere. None is where the data are: on the device of tensors, else on the processor by NumPy.
    progress : bool, default False
        Show a progress bar if this runs in a terminal.

    Returns
    -------
    DependenceMatrix
        With `strength`, `coefficient`, `debiased`, `pvalues`, `qvalues`, `n_samples`, `pearson`, `spearman`, `types`,
        `skipped`, `pooled`, `notes` (what reading decided), `to_frame()`, `plot()`, `report()`, and `top()` and
        `to_long()`, whose frames have `remark` too: the strength without the one or two rows that carry a pair.

    Raises
    ------
    InputError
        For a table without two columns to compare, or invalid settings.

    Notes
    -----
    `coefficient[i, j]` is `renyi.rdc` and `pvalues[i, j]` the p-value of `renyi.independence_test` for the two columns.
    Every column is prepared once; all pairs are then products of matrices. Where cells are missing for a reason that
    has to do with both columns, the rows that are left are a selection, and selection can create dependence.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 500)
    >>> table = {"x": x, "y": x**2 + 0.1 * rng.standard_normal(500), "noise": rng.random(500)}
    >>> found = renyi.matrix(table)
    >>> print(found)
    DependenceMatrix: 500 rows, 3 columns, 3 tests: 1 dependence at a false discovery rate of 5 %
      x  y  strength  trend       p       q    n
      x  y     0.965         4e-171  1e-170  500  nonlinear
    >>> found["x", "y"].strength > found["x", "noise"].strength
    True
    """
    design = Design(time, groups, exchange, Adjustment.of(detrend, period), order)
    asked = Question(measure, missing, types, vectors, max_levels, correction, memory, sample, progress, design)
    door, (table, other) = _door(asked, device, table, other)
    return DependenceMatrix.of(*door.matrix(table, other), correction=correction)


def pairs(
    table: Any,
    *,
    top: int | None = None,
    threshold: float | None = None,
    fdr: float | None = None,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    max_levels: int = MAX_LEVELS,
    time: Any = None,
    groups: Any = None,
    exchange: Exchange = "within",
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
    order: Order = "check",
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    device: Any = None,
    progress: bool = False,
) -> Pairs:
    """The strongest pairs of columns of a table that is too wide for a matrix.

    All pairs are looked at, ranked as by `renyi.matrix`, and only the strongest are kept. Their q-values count every
    test that was made. Rows are taken as independent of one another: pass `time` or `groups` where they are not.

    Parameters
    ----------
    table, measure, missing, types, vectors, max_levels, time, groups, exchange, detrend, period, order, memory, device,
    progress
        As in `renyi.matrix`.
    top : int, optional
        Pairs to keep at most; 1,000 where neither this nor a threshold is given.
    threshold : float, optional
        Smallest strength of a pair that is kept; of another measure, its smallest size.
    fdr : float, optional
        False discovery rate, by default 0.05: pairs with a larger q-value are left out. Pass 1 to see all. Measures
        without a null distribution rank all pairs, and a rate is refused.
    correction : {"bh", "by", "bonferroni"}, default "bh"
        As in `renyi.adjust`.

    Returns
    -------
    Pairs
        In the order of `renyi.matrix(table).top()`: `to_frame()` has them as rows of a frame, in the kind of frame that
        came in; `top()` tells columns that are nearly the same as one. Also `types`, `skipped`, `n_tests`, `notes` and
        `report()`.

    Raises
    ------
    InputError
        As `renyi.matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 500)
    >>> table = {"x": x, "y": x**2 + 0.1 * rng.standard_normal(500), "noise": rng.random(500)}
    >>> print(renyi.pairs(table, top=1))
    Pairs: 500 rows, 3 columns, 3 tests: 1 dependence at a false discovery rate of 5 %
      x  y  strength  trend       p       q    n
      x  y     0.965         4e-171  1e-170  500  nonlinear
    """
    design = Design(time, groups, exchange, Adjustment.of(detrend, period), order)
    asked = Question(measure, missing, types, vectors, max_levels, correction, memory, 0, progress, design)
    if correction == "holm":
        raise InputError("correction='holm' needs all p-values at once: pass 'bh', 'by' or 'bonferroni'")
    if top is not None:
        check_integer(top, "top")
    by = asked.by
    highest = by.statement.range[1]
    if threshold is not None and not (is_number(threshold) and -1 <= threshold <= highest and threshold < np.inf):
        reach = "between -1 and 1" if highest == 1 else f"of {by.name}, which has no upper end"
        raise must_be("threshold", f"a coefficient {reach}", threshold)
    rate = rate_for(fdr, str(by), has_null=by.has_null)
    most = _DEFAULT_TOP if top is None and threshold is None else top
    door, (table, _) = _door(asked, device, table, None)
    rows, tiles = door.tiles(table, at_most=rate)
    if by.features is None or design:
        whole = DependenceMatrix.of(rows, None, next(tiles), correction=correction)
        ranked = whole.ranked(rate)
        which = (ranked if threshold is None else ranked[whole.edges.strength[ranked] >= threshold])[:most]
        kept, rates, counts = whole.edges.take(which), whole.edge_qvalues[which], (whole.n_tests, whole.n_found(rate))
    else:
        strongest = TopPairs(top=most, threshold=threshold, fdr=rate, correction=correction)
        for edges in tiles:
            strongest.update(edges)
        kept, rates, counts = strongest.result()
    return Pairs.of(rows, kept, rates, correction=correction, fdr=rate, counts=counts)


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
    time: Any = None,
    groups: Any = None,
    exchange: Exchange = "within",
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
    order: Order = "check",
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    sample: int = SAMPLE,
    device: Any = None,
    progress: bool = False,
) -> Screening:
    """How strongly every column of a table depends on one target, strongest first, and how certain that is.

    Rows are taken as independent of one another: pass `time` or `groups` where they are not.

    Parameters
    ----------
    table, measure, missing, types, vectors, max_levels, time, groups, exchange, detrend, period, order, correction,
    memory, sample, device, progress
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
        Strongest first, with `names`, `strength`, `coefficient`, `debiased`, `pvalues`, `qvalues`, `n_samples`,
        `pearson`, `spearman`, `types`, `skipped`, `pooled`, `notes`, `report()`, and `top()` and `to_long()`, whose
        frames have `remark` too.

    Raises
    ------
    InputError
        For a target or a given column that is not there or says nothing; else as `renyi.matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 500)
    >>> table = {"x": x, "y": x**2 + 0.1 * rng.standard_normal(500), "noise": rng.random(500)}
    >>> print(renyi.screen(table, "y"))
    Screening: 500 rows, 2 columns against y, 2 tests: 1 dependence at a false discovery rate of 5 %
      column  strength  trend       p       q    n
      x          0.965         4e-171  7e-171  500  nonlinear
    """
    design = Design(time, groups, exchange, Adjustment.of(detrend, period), order)
    asked = Question(measure, missing, types, vectors, max_levels, correction, memory, sample, progress, design)
    door, (table, _) = _door(asked, device, table, None)
    goal, held, candidates, edges = door.screen(table, as_torch(target), given)
    return Screening.of(candidates, goal, held, edges, correction=correction)


def _door(asked: Question, device: Any, table: Any, other: Any) -> tuple[Door, tuple[Any, Any]]:
    """The way for a table, or for two, and what is to be read there."""
    design = asked.design
    table, other = as_torch(table), as_torch(other)
    place = device_of(device, *tensors_of(table), *tensors_of(other))
    is_second = other is not None and names_in(other) is None
    if is_second:
        check_order(table, other)
    table = loaded_if_small(table, asked.memory)
    other = loaded_if_small(other, asked.memory) if is_second else other
    is_in_batches = is_out_of_core(table) or (is_second and is_out_of_core(other))
    if place is not None:
        design.refuse("on a device", "pass NumPy arrays and device=None")
        if is_in_batches:
            raise InputError(
                "device is for tables in memory, and this one is read in batches: pass as much memory= as holds eight "
                "times its values, or leave device out"
            )
        return TableOnDevice(place, asked), (table, other)
    if is_in_batches:
        design.refuse("read in batches", "load it, or pass as much memory= as holds it")
    return (TableInBatches if is_in_batches else TableInMemory)(asked), (table, other)
