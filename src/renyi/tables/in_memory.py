"""Columns of a table to what was found on their pairs, in threads: prepared, compared a tile at a time, or tested."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from renyi.allpairs.column_group import ColumnGroup, Variable, ready
from renyi.allpairs.compare import SHUFFLES, FoundPairs, InMemory, compare
from renyi.allpairs.edges import Edges
from renyi.allpairs.tiles import groups, shared_tiles
from renyi.basis import random_features
from renyi.coefficients.base import Measure
from renyi.coefficients.rdc import Rdc
from renyi.compute.progress import watched
from renyi.compute.threads import stream
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.errors import InputError, cut
from renyi.inference.debias import plain_rows
from renyi.pair.bases import check_basis
from renyi.pair.conditional import conditional_test
from renyi.pair.prepare import Prepared, prepare
from renyi.pair.result import TestResult
from renyi.pair.settings import Settings
from renyi.tables.by_measure import measured

__all__ = ["every_pair", "given_others", "in_tiles", "prepared"]

# Short columns are prepared one after the other, since threads would wait for the interpreter, and for one another;
# those with gaps take longer, as they have functions of their own.
_SHORT_COLUMN, _SHORT_WITH_GAPS, _ROWS_AT_ONCE = 2**14, 2**11, 2**17
(_SEED,) = random_features.seeds(None, n_draws=1)


def prepared(columns: Sequence[Column], by: Rdc, /, *, progress: bool) -> list[Variable]:
    """Columns, prepared for the RDC with these settings."""
    settings = Settings(by.k, by.s, by.frequencies)

    def variable(column: Column) -> Variable:
        found = prepare(column, _SEED, settings)
        check_basis(column, found.basis)
        return Variable(column, ready(found), settings=settings)

    # Columns without ties and with as many rows share their functions, of which few are kept: one after the other.
    order = sorted(range(len(columns)), key=lambda k: 0 if (gaps := columns[k].missing) is None else int(gaps.sum()))
    n_rows, has_gaps = len(columns[0]), any(column.missing is not None for column in columns)
    are_short = n_rows < (_SHORT_WITH_GAPS if has_gaps else _SHORT_COLUMN)
    at_once = len(columns) if are_short else max(1, _ROWS_AT_ONCE // n_rows)
    made = stream(variable, [columns[k] for k in order], at_once=at_once)
    found = dict(zip(order, watched(made, len(columns), "Preparing columns", shown=progress), strict=True))
    return [found[k] for k in range(len(columns))]


def in_tiles(x: Sequence[Variable], y: Sequence[Variable] | None, /, *, progress: bool) -> Iterator[FoundPairs]:
    """All pairs, a tile at a time."""
    own = [group if y else group.averaged() for group in groups(x)]
    tiles = shared_tiles(own, None if y is None else groups(y))

    def compare_one(tile: tuple[ColumnGroup, ColumnGroup]) -> FoundPairs:
        return compare(*tile, InMemory(), SHUFFLES)

    return watched(stream(compare_one, tiles), len(tiles), "Comparing pairs", shown=progress)


def every_pair(
    by: Measure[Any], columns: Sequence[Column], others: Sequence[Column] | None, /, *, progress: bool
) -> Edges:
    """All pairs of the columns with one another, or with others."""
    if isinstance(by, Rdc):
        x = prepared(columns, by, progress=progress)
        y = None if others is None else prepared(others, by, progress=progress)
        return Edges.of(x, x if y is None else y, list(in_tiles(x, y, progress=progress)))
    own = [Variable(column, _prepare) for column in columns]
    partners = None if others is None else [Variable(column, _prepare) for column in others]
    return measured(by, own, partners, progress=progress)


def _prepare(column: Column) -> Prepared:
    return prepare(column, _SEED)


def given_others(
    x: Sequence[Variable], y: Sequence[Variable], fixed: Sequence[Column], notes: Notes, /, *, progress: bool
) -> tuple[Edges, dict[str, str]]:
    """Every column against the target, given those that are held fixed, and why some could not be tested."""

    def test(variable: Variable) -> TestResult | InputError:
        try:
            return conditional_test(variable.column, y[0].column, list(fixed), missing="listwise")
        except InputError as error:
            return error

    outcomes = list(watched(stream(test, x), len(x), "Testing columns", shown=progress))
    results = [outcome for outcome in outcomes if isinstance(outcome, TestResult)]
    reasons = {v.column.name: str(o) for v, o in zip(x, outcomes, strict=True) if isinstance(o, InputError)}
    if not results:
        raise InputError(
            f"no column can be tested given {', '.join(c.name for c in fixed)}: {next(iter(reasons.values()))}"
        )
    for variable, outcome in zip(x, outcomes, strict=True):
        if isinstance(outcome, TestResult) and outcome.left_out:
            rows = " and ".join(f"{row:,}" for row in outcome.left_out)
            which = f"{'row' if len(outcome.left_out) == 1 else 'rows'} {rows}"
            notes.say(f"{cut(variable.column.name)} was tested without {which}, which would decide alone")
    unknown = np.full(len(results), np.nan)
    found = FoundPairs(
        i=np.arange(len(results)),
        j=np.zeros(len(results), dtype=np.intp),
        n=np.array([result.n_samples for result in results], dtype=np.intp),
        ranks=np.array([result.ranks for result in results], dtype=np.int32),
        coefficient=np.array([result.coefficient for result in results]),
        log_pvalue=np.array([result.log_pvalue for result in results]),
        pearson=unknown,
        spearman=unknown,
        is_shuffled=np.zeros(len(results), dtype=bool),
    )
    tested = [v for v, outcome in zip(x, outcomes, strict=True) if isinstance(outcome, TestResult)]
    known = np.array([result.debiased for result in results])
    # What z leaves of the columns has no cells to look at.
    return Edges(tested, y, found, known=known, rows=plain_rows(found.n)), reasons
