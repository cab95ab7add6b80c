"""One pair in words: what was found, how surely, and what kind of dependence it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.data.column import Column
from renyi.errors import count
from renyi.pair.result import TestResult
from renyi.report.kinds import kind_of
from renyi.report.summary import number, pvalue, short

# What is said of a pair beyond this p-value is no finding.
_CLEAR = 0.05


@dataclass(frozen=True, eq=False)
class PairFound:
    """A test of two columns with the linear coefficients beside it, as the command line shows it.

    `given` are the names of what was held fixed; the linear coefficients are NaN then.
    """

    x: Column
    y: Column
    types: Mapping[str, str]
    result: TestResult
    n_rows: int
    given: tuple[str, ...] = ()
    pearson: float = np.nan
    spearman: float = np.nan

    def lines(self) -> list[tuple[str, str]]:
        """Labels and what is to be said of each."""
        result = self.result
        said = [
            ("x", self._described(self.x)),
            ("y", self._described(self.y)),
            ("given", ", ".join(map(short, self.given))),
            ("rows", f"{result.n_samples:,} of {self.n_rows:,}{_without(result.left_out)}"),
            ("coefficient", number(result.coefficient)),
            ("strength", f"{number(result.strength)}{_interval(result)}"),
            ("remark", result.remark),
            ("p", f"{pvalue(result.pvalue, 1)}  ({_calibration(result)})"),
            ("kind", self.in_words()),
        ]
        if not self.given:
            said += [("Pearson", number(self.pearson)), ("Spearman", number(self.spearman))]
        said += [("note", note) for note in result.notes]
        return [(label, text) for label, text in said if text]

    def _described(self, column: Column) -> str:
        levels = f" of {count(len(column.levels), 'level')}" if column.is_category else ""
        return f"{short(column.name, 60)}  ({self.types[column.name]}{levels})"

    def in_words(self) -> str:
        """What kind of dependence it is, in plain words."""
        if self.result.scale is None:
            return ""
        if self.result.pvalue > _CLEAR:
            return "nothing clear"
        if not self.given:
            linear = float(np.fmax(abs(self.pearson), abs(self.spearman)))
            return kind_of(self.x, self.y, strength=self.result.strength or 0.0, linear=linear)
        # What is left of two columns beside others is not at hand, only which functions of it spoke loudest.
        a, b = self.result.scale
        if (a, b) == (1, 1) and self.x.is_number and self.y.is_number:
            return "a trend, beside what is given"
        return f"{count(a, 'function')} of {short(self.x.name)} and {b} of {short(self.y.name)}, beside what is given"

    def record(self) -> dict[str, Any]:
        """The same for machines."""
        result = self.result
        return {
            "rows": self.n_rows,
            "x": self.x.name,
            "y": self.y.name,
            "given": list(self.given),
            "types": dict(self.types),
            "n": result.n_samples,
            "left_out": list(result.left_out),
            "coefficient": result.coefficient,
            "debiased": result.debiased,
            "strength": result.strength,
            "interval": list(result.confidence_interval()),
            "no_interval": result.no_interval,
            "remark": result.remark,
            "n_effective": result.n_effective,
            "p": result.pvalue,
            "log10_p": result.log_pvalue / np.log(10),
            "statistic": result.statistic,
            "calibration": result.calibration,
            "scale": None if result.scale is None else list(result.scale),
            "words": self.in_words(),
            "pearson": self.pearson,
            "spearman": self.spearman,
        }


def _interval(result: TestResult) -> str:
    """Around a debiased coefficient, where that is what is shown, or why there is none."""
    if result.no_interval:
        return f"  (no interval: {result.no_interval})"
    low, high = result.confidence_interval()
    return f"  (95 %: {number(max(low, 0.0))} to {number(high)})" if result.strength == result.debiased else ""


def _without(rows: tuple[int, ...]) -> str:
    if not rows:
        return ""
    first = ", ".join(f"{row:,}" for row in rows[:3]) + (", ..." if len(rows) > 3 else "")
    return f", without {'row' if len(rows) == 1 else 'rows'} {first}, which would decide alone"


def _calibration(result: TestResult) -> str:
    if result.n_effective is not None:
        return f"by shifts, rows are worth {count(round(result.n_effective), 'independent row')}"
    if result.n_resamples is None:
        return "by theory"
    return f"by {count(result.n_resamples, 'permutation')}, {pvalue(result.floor or np.nan, 1)} at the least"
