"""The path for many columns: `matrix`, `screen` and `pairs`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.device.compare import compared
from renyi.allpairs.device.ranking import (
    OnDevice,
    Ranked,
    has_tensors,
    ranked,
    read_tensors,
    tensors_of,
    upload,
    without_gaps,
)
from renyi.allpairs.edges import Edges
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.compute.devices import device_of
from renyi.data.align import Missing, check_indexes
from renyi.data.column import Column
from renyi.data.table import Table, as_table, check_known, checked_wishes, names_of, observed, too_few_columns
from renyi.data.types import Wish
from renyi.errors import InputError, check_choice, is_integer, is_number
from renyi.inference.false_discovery import Correction
from renyi.pair.rdc import Settings
from renyi.tables.accumulator import DEFAULT_MEMORY, Accumulator, measure_of
from renyi.tables.batches import at_hand, in_batches, is_away
from renyi.tables.dependence_matrix import DependenceMatrix
from renyi.tables.in_memory import every_pair, given_others, in_tiles, prepared
from renyi.tables.result import rate_for
from renyi.tables.screening import Screening
from renyi.tables.top_pairs import Strongest

__all__ = ["matrix", "pairs", "screen"]

Array: TypeAlias = NDArray[np.float64]
Types: TypeAlias = Mapping[Any, Wish] | None
Vectors: TypeAlias = Mapping[str, Sequence[str]] | None

_DEFAULT_TOP = 1000


def matrix(
    table: Any,
    other: Any = None,
    *,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    device: Any = None,
    progress: bool = False,
) -> DependenceMatrix:
    """Dependence of every pair of columns of a table, with p-values and false discovery control.

    Like `df.corr()`, for dependence of any form and columns of any type. Columns that say nothing (constant, empty,
    identifiers) are left out and named in `.skipped`.

    Parameters
    ----------
    table : frame, dict of columns, or array of shape (n, d)
        A frame of pandas, Polars or Arrow, a dict of columns, or a matrix whose columns are the variables. Also what is
        read in batches, and never whole: the name of a file or a pattern such as ``"data/*.parquet"``, a lazy frame of
        Polars, an iterator of tables, or a Dask DataFrame or array, whose partitions stay where they are. Tensors of
        torch (n, d), or a dict of them, are worked on by torch where they are.
    other : the same, optional
        A second table over the same rows: its columns take the place of the table's own as partners.
    measure : str or Measure, default "rdc"
        The coefficient: one of `renyi.measures()`, or `renyi.measure(name, ...)` with settings. Measures other than the
        RDC are taken on the rows that both columns have, and columns they cannot take are left out.
    missing : {"pairwise", "listwise", "raise"}, default "pairwise"
        "pairwise" ranks every column over its own observed rows and compares two on the rows both have; "listwise"
        drops rows with any missing cell first; "raise" refuses them.
    types : mapping of str to {"number", "category", "skip"}, optional
        What columns are, where the decision shown in `.types` is not the one wanted.
    vectors : mapping of str to sequence of str, optional
        Columns that are one variable together: {"location": ["lat", "lon"]}. They leave the table.
    correction : {"bh", "by", "holm", "bonferroni"}, default "bh"
        How p-values are adjusted for the number of tests, as in `renyi.adjust`.
    memory : str or int, default "1GB"
        What counts, sums and batches may take where the table is read in batches; libraries and 2 MB a column come on
        top. A file that is small beside it is loaded instead.
    device : str or torch.device, optional
        Where to compare: "cuda" or "cuda:1" for a GPU of NVIDIA, by torch (`renyi[gpu]`). Complete columns of numbers
        are compared there; all else is refused rather than done elsewhere. None is where the data are: on the device
        of tensors, else on the processor by NumPy.
    progress : bool, default False
        Show a progress bar if this runs in a terminal.

    Returns
    -------
    DependenceMatrix
        With `values`, `debiased`, `pvalues`, `qvalues`, `n_samples`, `pearson`, `spearman`, `types`, `skipped`,
        `top()`, `to_frame()`, `to_edges()` and `plot()`.

    Raises
    ------
    InputError
        For a table without two columns to compare, duplicate names, or settings that make no sense.

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
    place = device_of(device, *tensors_of(table), *tensors_of(other))
    if place is not None:
        ways = _OnDevice(place, _checked(measure, correction), types, vectors, missing)
        beside = None if other is None else _in_memory(other, memory)
        found = ways.matrix(_in_memory(table, memory), beside, progress=progress)
        return DependenceMatrix.of(*found, correction=correction)
    table = at_hand(table, memory)
    other = None if other is None else at_hand(other, memory)
    if is_away(table) or is_away(other):
        _refuse(other=other is not None, vectors=vectors)
        settings: dict[str, Any] = {"measure": measure, "missing": missing, "types": types, "correction": correction}
        accumulated = in_batches(table, Accumulator(**settings, memory=memory), memory, progress=progress)
        return cast(DependenceMatrix, accumulated)
    by = _checked(measure, correction)
    if other is None:
        rows = _comparable(observed(as_table(table, types=types, vectors=vectors), missing=missing), by, at_least=2)
        edges = every_pair(by, rows.columns, None, progress=progress)
        return DependenceMatrix.of(rows, None, edges, correction=correction)
    rows, columns = (
        _comparable(observed(part, missing=missing), by, at_least=1)
        for part in _side_by_side(table, other, types, vectors, missing)
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
    correction: Correction = "bh",
    progress: bool = False,
) -> Any:
    """The strongest pairs of a table too wide for a matrix.

    The pairs are ranked by their debiased coefficient while they are computed and only the strongest are kept. Their
    q-values count every test that was made.

    Parameters
    ----------
    table, measure, missing, types, vectors, progress
        As in `renyi.matrix`.
    top : int, optional
        Pairs to keep at most; 1,000 where neither this nor a threshold is given.
    threshold : float, optional
        Smallest debiased coefficient of a pair that is kept; of another measure, its smallest size.
    q : float, optional
        False discovery rate, by default 0.05: pairs with a larger q-value are left out. Pass 1 to see all. Measures
        without a law rank all pairs, and a rate is refused.
    correction : {"bh", "by", "bonferroni"}, default "bh"
        As in `renyi.adjust`.

    Returns
    -------
    frame
        In the kind of frame that came in, strongest first: the two columns, coefficient, debiased coefficient,
        Pearson's and Spearman's, whether a linear coefficient would have missed it, p, q, and the rows used.

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
    by = _checked(measure, correction)
    if correction == "holm":
        raise InputError("correction='holm' needs all p-values at once: pass 'bh', 'by' or 'bonferroni'")
    if top is not None and not (is_integer(top) and top >= 1):
        raise InputError(f"top={top!r} makes no sense: pass a whole number of pairs, 1 or more")
    highest = by.statement.range[1]
    if threshold is not None and not (is_number(threshold) and -1 <= threshold <= highest and threshold < np.inf):
        reach = "between -1 and 1" if highest == 1 else f"of {by.name}, which has no upper end"
        raise InputError(f"threshold={threshold!r} makes no sense: pass a coefficient {reach}")
    rate = rate_for(q, str(by), has_law=by.has_law)
    rows = _comparable(observed(as_table(table, types=types, vectors=vectors), missing=missing), by, at_least=2)
    most = _DEFAULT_TOP if top is None and threshold is None else top
    if not isinstance(by, Rdc):
        every = every_pair(by, rows.columns, None, progress=progress)
        whole = DependenceMatrix.of(rows, None, every, correction=correction)
        return whole.strongest(top=most, threshold=threshold, q=q)
    variables = prepared(rows.columns, by, progress=progress)
    strongest = Strongest(variables, top=most, threshold=threshold, q=rate, correction=correction)
    for found in in_tiles(variables, None, progress=progress):
        strongest.update(found)
    edges, rates = strongest.result()
    return edges.to_frame(rows.new_frame, qvalues=rates)


def screen(
    table: Any,
    target: str | Sequence[str],
    *,
    given: str | Sequence[str] | None = None,
    measure: str | Measure[Any] = "rdc",
    missing: Missing = "pairwise",
    types: Types = None,
    vectors: Vectors = None,
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    device: Any = None,
    progress: bool = False,
) -> Screening:
    """Dependence of every column of a table on one target.

    Parameters
    ----------
    table, measure, missing, types, vectors, correction, memory, device, progress
        As in `renyi.matrix`.
    target : str or list of str
        The column of interest, of any type, or several numeric ones as one vector.
    given : str or list of str, optional
        Columns to hold fixed: every test is then `renyi.conditional_test` given these, on the rows that have all of
        them.

    Returns
    -------
    Screening
        Strongest first, with `names`, `values`, `debiased`, `pvalues`, `qvalues`, `n_samples`, `pearson`, `spearman`,
        `types`, `skipped` and `to_frame()`.

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
    place = device_of(device, *tensors_of(table))
    if place is not None:
        ways = _OnDevice(place, _checked(measure, correction), types, vectors, missing)
        goal, candidates, found = ways.screen(_in_memory(table, memory), target, given, progress=progress)
        return Screening.of(candidates, goal, (), found, correction=correction)
    table = at_hand(table, memory)
    if is_away(table):
        _refuse(given=given, vectors=vectors)
        if not isinstance(target, str):
            raise InputError("a target of several columns is a vector, which is not read in batches: name one column")
        settings: dict[str, Any] = {"measure": measure, "missing": missing, "types": types, "correction": correction}
        accumulator = Accumulator(target=target, **settings, memory=memory)
        return cast(Screening, in_batches(table, accumulator, memory, progress=progress))
    by = _checked(measure, correction)
    known = names_of(table)
    names, held = _listed(target, known), _listed(() if given is None else given, known)
    if not names:
        raise InputError("target names no column: pass one, or several as a vector")
    if set(names) & set(held):
        raise InputError(f"{sorted(set(names) & set(held))[0]!r} is both the target and given: leave it out of one")
    goal = " & ".join(names)
    if len(names) > 1:
        vectors = {**checked_wishes(None, vectors, known)[1], goal: names}
    rows = observed(as_table(table, types=types, vectors=vectors), missing=missing)
    targets = [_column(rows, goal, "target")]
    fixed = [_column(rows, name, "given") for name in held]
    left_out = {goal, *held}
    candidates = replace(rows, columns=tuple(c for c in rows.columns if c.name not in left_out))
    candidates = _comparable(candidates, by, at_least=1)
    if by.refusal(targets[0]):
        raise InputError(f"target {goal!r} is {by.refusal(targets[0])}")
    if not fixed:
        edges = every_pair(by, candidates.columns, targets, progress=progress)
        return Screening.of(candidates, goal, (), edges, correction=correction)
    if by != Rdc():
        raise InputError("given is for the conditional test, which has a statistic of its own: leave measure out")
    x, y = (prepared(side, by, progress=progress) for side in (candidates.columns, targets))
    edges, reasons = given_others(x, y, fixed, progress=progress)
    candidates = replace(candidates, skipped={**candidates.skipped, **reasons})
    return Screening.of(candidates, goal, tuple(held), edges, correction=correction)


def _in_memory(table: Any, memory: str | int) -> Any:
    """A table for a device, which takes what is in memory."""
    table = at_hand(table, memory)
    if is_away(table):
        raise InputError(
            "device is for tables in memory, and this one is read in batches: load it, or leave device out"
        )
    return table


@dataclass(frozen=True)
class _OnDevice:
    """How a table is compared on a device."""

    place: Any
    by: Measure[Any]
    types: Types
    vectors: Vectors
    missing: Missing

    def matrix(self, table: Any, other: Any, /, *, progress: bool) -> tuple[Table, Table | None, Edges]:
        """All pairs of a table, or of two."""
        check_indexes(table, other)
        sides = [self._read(table, "the table"), *([] if other is None else [self._read(other, "other")])]
        n_rows = [int(side.numbers.shape[1]) for side in sides]
        if n_rows[0] != n_rows[-1]:
            raise InputError(f"the table has {n_rows[0]:,} rows and other has {n_rows[1]:,}: pass as many")
        if len(sides) > 1 and self.missing == "listwise":
            raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
        x, *rest = (self._ranked(side, at_least=3 - len(sides)) for side in sides)
        y = rest[0] if rest else None
        return x.table, None if y is None else y.table, compared(x, y, progress=progress)

    def screen(self, table: Any, target: Any, given: Any, /, *, progress: bool) -> tuple[str, Table, Edges]:
        """Every column against one: its name, the other columns, and what was found."""
        if given is not None and _listed(given, ()):
            raise InputError("given is not for a device yet: leave it out, or pass NumPy arrays and device=None")
        whole = self._read(table, "the table")
        names = _listed(target, [column.name for column in whole.table.columns])
        if not names:
            raise InputError("target names no column: pass one")
        if len(names) != 1:
            raise InputError("a target of several columns is a vector, which is not for a device yet: name one column")
        # Both sides lose the same rows.
        whole = without_gaps(whole, self.missing)
        place = [column.name for column in whole.table.columns].index(_column(whole.table, names[0], "target").name)
        y = self._ranked(whole.take([place]), at_least=0)
        if not y.variables:
            raise InputError(f"target {names[0]!r} cannot be measured, it was left out: {y.table.skipped[names[0]]}")
        x = self._ranked(whole.take([k for k in range(len(whole.table.columns)) if k != place]), at_least=1)
        return names[0], x.table, compared(x, y, progress=progress)

    def _read(self, data: Any, argument: str) -> OnDevice:
        """The columns of a table on the device."""
        if not has_tensors(data):
            return upload(
                observed(as_table(data, argument, types=self.types, vectors=self.vectors), missing=self.missing),
                self.place,
            )
        if self.types or self.vectors:
            raise InputError("types and vectors are for columns that have types, and tensors have none: leave them out")
        return read_tensors(data, self.place, argument)

    def _ranked(self, columns: OnDevice, *, at_least: int) -> Ranked:
        if not isinstance(self.by, Rdc):
            raise InputError(f"measure={self.by.name!r} is not for a device: leave device out, or measure")
        found = ranked(columns, Settings(self.by.k, self.by.s, self.by.frequencies), missing=self.missing)
        if at_least:
            _comparable(found.table, self.by, at_least=at_least)
        return found


def _refuse(**wishes: Any) -> None:
    for name, wish in wishes.items():
        if wish:
            raise InputError(
                f"{name} is for tables in memory, and this one is read in batches: load it, or leave it out"
            )


def _checked(measure: str | Measure[Any], correction: Any) -> Measure[Any]:
    """The measure that is meant."""
    check_choice(correction, Correction, "correction")
    return measure_of(measure)


def _comparable(table: Table, by: Measure[Any], *, at_least: int) -> Table:
    """The table without columns that the measure cannot take, if it has others to compare."""
    refused = {column.name: reason for column in table.columns if (reason := by.refusal(column))}
    if refused:
        kept = tuple(column for column in table.columns if column.name not in refused)
        types = {name: kind for name, kind in table.types.items() if name not in refused}
        table = replace(table, columns=kept, types=types, skipped={**table.skipped, **refused})
    if len(table.columns) >= at_least:
        return table
    if not refused:
        raise too_few_columns(table, at_least)
    remedy = "measure by 'rdc' or 'dcor', or say which columns are numbers by types={name: 'number'}"
    raise too_few_columns(table, at_least, remedy=remedy)


def _side_by_side(table: Any, other: Any, types: Types, vectors: Vectors, missing: Missing) -> tuple[Table, Table]:
    """Two tables over the same rows."""
    check_indexes(table, other)
    names = [names_of(table), names_of(other, "other")]
    wishes, groups = checked_wishes(types, vectors, [*names[0], *names[1]])
    rows, columns = (
        as_table(
            part,
            argument,
            types={name: kind for name, kind in wishes.items() if name in known},
            vectors={name: parts for name, parts in groups.items() if set(parts) & set(known)},
        )
        for part, argument, known in ((table, "the table", names[0]), (other, "other", names[1]))
    )
    if rows.n_rows != columns.n_rows:
        raise InputError(f"the table has {rows.n_rows:,} rows and other has {columns.n_rows:,}: pass as many")
    if missing == "listwise":
        raise InputError("missing='listwise' would drop different rows of two tables: drop them first")
    return rows, columns


def _listed(names: Any, known: Sequence[str]) -> list[str]:
    """One name or several, as text, since that is what the table has; a tuple may be a name itself."""
    is_one = isinstance(names, (str, bytes)) or not isinstance(names, Iterable) or str(names) in known
    return [str(name) for name in ([names] if is_one else names)]


def _column(table: Table, name: str, role: str) -> Column:
    columns = {column.name: column for column in table.columns}
    if name not in columns:
        if name in table.skipped:
            raise InputError(f"{role} {name!r} cannot be measured, it was left out: {table.skipped[name]}")
        for vector in table.columns:
            if name in vector.coordinates:
                raise InputError(
                    f"{role} {name!r} is part of the vector {vector.name!r}: name that one, or leave it out of vectors"
                )
        check_known(name, [*table.types, *table.skipped], "the table", role)
    return columns[name]
