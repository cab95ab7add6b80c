"""One pair in words: what was found, how surely, and what kind of dependence it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.data.column import Column
from renyi.errors import count
from renyi.pair.result import TestResult
from renyi.report.summary import number, pvalue, short

__all__ = ["PairFound"]

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
        low, high = result.confidence_interval()
        ends = f"no interval: {result.no_interval}" if result.no_interval else f"95 %: {number(low)} to {number(high)}"
        said = [
            ("x", self._described(self.x)),
            ("y", self._described(self.y)),
            ("given", ", ".join(map(short, self.given))),
            ("rows", f"{result.n_samples:,} of {self.n_rows:,}"),
            ("coefficient", number(result.coefficient)),
            ("debiased", f"{number(result.debiased)}  ({ends})"),
            ("remark", result.remark),
            ("p", f"{pvalue(result.pvalue, 1)}  ({_calibration(result)})"),
            ("kind", self.in_words()),
        ]
        if not self.given:
            said += [("Pearson", number(self.pearson)), ("Spearman", number(self.spearman))]
        return [(label, text) for label, text in said if text]

    def _described(self, column: Column) -> str:
        levels = f" of {count(len(column.levels), 'level')}" if column.kind == "category" else ""
        return f"{short(column.name, 60)}  ({self.types[column.name]}{levels})"

    def in_words(self) -> str:
        """Which scale spoke loudest, in plain words."""
        if self.result.scale is None:
            return ""
        a, b = self.result.scale
        if self.x.kind == "category":
            words = _words_of_groups(short(self.x.name), self.y, b)
        elif self.y.kind == "category":
            words = _words_of_groups(short(self.y.name), self.x, a)
        elif self.x.kind == self.y.kind == "number":
            words = _words_of_numbers(short(self.x.name), short(self.y.name), (a, b))
        else:
            words = f"{count(a, 'function')} of {short(self.x.name)} and {b} of {short(self.y.name)}"
        return words if self.result.pvalue <= _CLEAR else f"nothing clear (loudest: {words})"

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
            "coefficient": result.coefficient,
            "debiased": result.debiased,
            "interval": list(result.confidence_interval()),
            "no_interval": result.no_interval,
            "remark": result.remark,
            "p": result.pvalue,
            "log10_p": result.log_pvalue / np.log(10),
            "statistic": result.statistic,
            "calibration": result.calibration,
            "scale": None if result.scale is None else list(result.scale),
            "words": self.in_words(),
            "pearson": self.pearson,
            "spearman": self.spearman,
        }


def _calibration(result: TestResult) -> str:
    if result.n_resamples is None:
        return "by law"
    return f"by {count(result.n_resamples, 'shuffle')}, {pvalue(result.floor or np.nan, 1)} at the least"


def _words_of_groups(groups: str, other: Column, n_functions: int) -> str:
    """What a block sees of a category and another column."""
    name = short(other.name)
    if other.kind == "category":
        return f"levels of {groups} and of {name} go together"
    trait = "level" if n_functions == 1 else "distribution"
    return f"the {trait} of {name} differs between the groups of {groups}"


def _words_of_numbers(x: str, y: str, scale: tuple[int, int]) -> str:
    """What a block of so many functions of x and of y sees."""
    match scale:
        case (1, 1):
            return "a monotone trend"
        case (_, 1):
            return f"{y} follows a curve over {x}"
        case (1, _):
            return f"{x} follows a curve over {y}"
        case (2, 2):
            return "the spread changes, or the points form a ring"
    return f"curved or more complex ({count(scale[0], 'function')} of {x}, {scale[1]} of {y})"
