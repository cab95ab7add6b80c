"""The function of two tables: `compare`."""

from typing import Any, Literal

from renyi.allpairs.row_sample import check_sample
from renyi.change.counting import Counts
from renyi.change.in_memory import compared
from renyi.change.parts import Comparisons, compared_parts
from renyi.change.result import Comparison, check_correction
from renyi.change.sampling import taken
from renyi.coefficients.base import Measure
from renyi.data.types import MAX_LEVELS, check_max_levels
from renyi.errors import InputError, check_choice
from renyi.inference.false_discovery import Correction
from renyi.tables.accumulator import measure_of
from renyi.tables.arguments import Types
from renyi.tables.budget import DEFAULT_MEMORY

Against = Literal["previous", "others"]
# Rows that a table which is not in memory is compared on: of these a correlation is known to 0.003.
SAMPLE = 100_000


def compare(
    before: Any,
    after: Any = None,
    *,
    by: str | None = None,
    against: Against = "previous",
    types: Types = None,
    max_levels: int = MAX_LEVELS,
    correction: Correction = "bh",
    measure: str | Measure[Any] = "rdc",
    memory: str | int = DEFAULT_MEMORY,
    sample: int = SAMPLE,
    progress: bool = False,
) -> Comparison | Comparisons:
    """What changed between two tables: the distributions of columns, and the dependences of pairs.

    Columns are found by their names. Each is tested against the label of the table, by the test of
    `renyi.independence_test`. Every pair is tested for the same dependence in both tables, whatever became of each
    column by itself: ranks are taken in each table, so that other units or an increasing map of a column change
    nothing.

    Parameters
    ----------
    before, after : frame, dict of columns, array, or file
        Tables as in `renyi.matrix`. Of a table that is not in memory, and not small, columns are compared by counts of
        all rows, and dependences on a sample; `sampled` says so.
    by : str, optional
        Compare the parts of one table instead: the column that says which part a row is in, as a month or a site.
    against : {"previous", "others"}, default "previous"
        What every part is compared with: the one before it, or all others together.
    measure : str or Measure, default "rdc"
        By what the strengths before and after are measured, as in `renyi.matrix`. How far a dependence moved, its
        p-value and q-value are those of the same test for all measures.
    types, max_levels, correction, memory, progress
        As in `renyi.matrix`.
    sample : int, default 100_000
        Rows on which dependences are compared where a table is read in batches or lies on a cluster.

    Returns
    -------
    Comparison
        With `columns`, `pairs`, `together`, `top()`, `to_frame()`, `plot()`, `report()`, `only_before`, `only_after`,
        `retyped`, `skipped`, `notes`. By parts `Comparisons`, with one for each part, and `when` a change began.

    Raises
    ------
    InputError
        For tables without a common column or without rows, and parts of which there is one.

    Notes
    -----
    Numbers with many values are compared by four cosines of their ranks, categories by their four most frequent levels
    and the others together: finer changes of a dependence are not seen. Where a column has ties or is a category, its
    dependence is not free of its distribution, and large changes of one can show in the other.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 2000))
    >>> before = {"x": x[:1000], "y": x[:1000] ** 2 + noise[:1000]}
    >>> after = {"x": x[1000:], "y": 5 - x[1000:] ** 2 + noise[1000:]}
    >>> found = renyi.compare(before, after)
    >>> str(found.pairs["kind"][0])
    'other form'
    """
    check_correction(correction)
    check_max_levels(max_levels)
    check_sample(sample)
    check_choice(against, Against, "against")
    if after is None and by is None:
        raise InputError("compare needs two tables, or one with by= a column that says which part a row is in")
    if after is not None and by is not None:
        raise InputError(f"by={by!r} is for the parts of one table, and two were passed: leave one of them out")
    by_name = measure_of(measure)
    settings: dict[str, Any] = {
        "types": types,
        "max_levels": max_levels,
        "correction": correction,
        "measure": by_name,
        "progress": progress,
    }
    first = taken(before, "before" if by is None else "the table", memory, sample, types)
    if by is not None:
        return compared_parts(first.rows, by, against, sampled=first.said_of_parts, **settings)
    second = taken(after, "after", memory, sample, types)
    counts = None
    if first.counts is not None or second.counts is not None:
        empty = Counts(types, memory)
        counts = first.counted(empty), second.counted(empty)
    sampled = "; ".join(filter(None, (first.said, second.said)))
    return compared(first.rows, second.rows, labels=("before", "after"), sampled=sampled, counts=counts, **settings)
