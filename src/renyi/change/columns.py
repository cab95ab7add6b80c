"""How far the distributions of columns moved between two tables: by the test of independence of the table's label."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from renyi.allpairs.compare import PERMUTATIONS, by_themselves
from renyi.change.marginals import Marginal, gaps_against_table
from renyi.change.words import RECODED, more_missing, new_levels, words_of
from renyi.compute.arrays import Array, Index
from renyi.inference.debias import plain_rows
from renyi.pair.result import TestResult

_TWO_SIDED = 1.96
# Nothing is said of what chance alone may have done.
_LARGEST_PVALUE = 0.05
_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ColumnChange:
    """What became of one column: of its values, of its missing cells, or of its levels.

    `moved` is the largest correlation of a function of the column with the table that a row is from, if both tables had
    as many rows; debiased, between 0 and 1, with a 95 % interval.
    """

    column: str
    what: str
    moved: float
    low: float
    high: float
    p: float
    words: str


def column_changes(marginals: Sequence[Marginal], /) -> list[ColumnChange]:
    """All findings of all columns, in the order of the table."""
    asked = [
        (marginal, what)
        for marginal in marginals
        for what in ("values", "missing")
        if (min(marginal.n_known) > 0 if what == "values" else any(marginal.missing))
    ]
    ways = [
        marginal.against_table if what == "values" else partial(gaps_against_table, marginal.n_known, marginal.missing)
        for marginal, what in asked
    ]
    tested = zip(asked, by_themselves(ways, PERMUTATIONS), strict=True)
    found = [_change(marginal, what, result) for (marginal, what), result in tested if result is not None]
    # New names of old levels are told once.
    recoded = {change.column for change in found if change.words.startswith(RECODED)}
    unseen = (_unseen(marginal) for marginal in marginals if marginal.name not in recoded)
    return [*found, *(change for change in unseen if change is not None)]


def _change(marginal: Marginal, what: str, result: TestResult) -> ColumnChange:
    n_rows = marginal.n_known
    if what == "missing":
        n_rows = n_rows[0] + marginal.missing[0], n_rows[1] + marginal.missing[1]
    p = max(float(np.exp(result.log_pvalue)), _SMALLEST)
    tell = words_of if what == "values" else more_missing
    words = tell(marginal) if p <= _LARGEST_PVALUE else ""
    return ColumnChange(marginal.name, what, *_balanced(result.strength or 0.0, n_rows), p, words)


def _balanced(strength: float, n_rows: tuple[int, int]) -> tuple[float, float, float]:
    """A strength and its interval, as they would be if both tables had as many rows.

    With shares π and 1 − π of the rows r²/(1 − r²) is π(1 − π) times a squared difference of means.
    """
    share = n_rows[0] / sum(n_rows)
    reach = _TWO_SIDED * (1.0 - strength**2) / float(np.sqrt(plain_rows(np.array([sum(n_rows)]))[0]))
    found = []
    for r in (strength, max(strength - reach, 0.0), min(strength + reach, 1.0)):
        square = min(r**2, 1.0 - 1e-12)
        odds = square / (1.0 - square) * 0.25 / (share * (1.0 - share))
        found.append(float(np.sqrt(odds / (1.0 + odds))))
    return found[0], found[1], found[2]


def _unseen(marginal: Marginal) -> ColumnChange | None:
    """Levels that the first table never had, with the probability that all their rows are in the second by chance."""
    if not marginal.is_category or min(marginal.n_known) == 0:
        return None
    before, after = marginal.counts
    new: Index = np.flatnonzero((before == 0) & (after > 0))
    if len(new) == 0:
        return None
    new = new[np.argsort(-after[new], kind="stable")]
    share, rows = marginal.n_known[1] / sum(marginal.n_known), int(after[new].sum())
    # As many levels might have been new as have the rows for it.
    p = float(share ** after[new[0]]) * int(np.count_nonzero(marginal.total >= after[new[0]]))
    moved = _moved_by(np.array([0.0, rows / marginal.n_known[1]]))
    return ColumnChange(
        marginal.name, "levels", moved, moved, moved, float(np.clip(p, _SMALLEST, 1.0)), new_levels(marginal, new, rows)
    )


def _moved_by(shares: Array) -> float:
    """The correlation of an event with the table, whose shares of the rows of either are given."""
    mean = float(shares.mean())
    return float(abs(shares[1] - shares[0]) / 2 / np.sqrt(mean * (1.0 - mean))) if 0.0 < mean < 1.0 else 1.0
