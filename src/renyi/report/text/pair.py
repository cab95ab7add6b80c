"""One pair in words: what was found, how surely, and what kind of dependence it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
from renyi.data.column import Column
from renyi.errors import count
from renyi.pair.result import TestResult
from renyi.report.kinds import kind_of
from renyi.report.summary import NO_FINDING, number, pvalue, short
from renyi.tables.dependence import Dependence

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
            ("rows", f"{_rows(result.n_samples, self.n_rows)}{_without(result.left_out)}"),
            ("coefficient", number(result.coefficient)),
            ("strength", self._strength()),
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
        return f"{short(column.name, 60)}  ({self.types.get(column.name, column.kind)}{levels})"

    def _strength(self) -> str:
        if self.result.strength is None:
            return ""
        if self.result.pvalue > _CLEAR:
            return f"{NO_FINDING}{_interval(self.result)}"
        return f"{number(self.result.strength)}{_interval(self.result)}"

    def in_words(self) -> str:
        """What kind of dependence it is, in plain words."""
        if self.result.pvalue > _CLEAR:
            return "nothing clear"
        if self.result.scale is None and self.given:
            return ""
        if not self.given:
            linear = float(np.fmax(abs(self.pearson), abs(self.spearman)))
            strength = np.nan if self.result.strength is None else self.result.strength
            return kind_of(self.x, self.y, strength=strength, linear=linear)
        # What is left of two columns beside others is not at hand, only which functions of it spoke loudest.
        a, b = self.result.scale or (1, 1)
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


def text_of_test(result: TestResult, /) -> str:
    """A test in words, as `renyi pair` says them."""
    if result.columns is None:
        said = [
            ("rows", f"{result.n_samples:,}"),
            ("coefficient", number(result.coefficient)),
            ("p", f"{pvalue(result.pvalue, 1)}  ({_calibration(result)})"),
            *(("note", note) for note in result.notes),
        ]
    else:
        x, y = result.columns
        correlations = (np.nan, np.nan)
        if not result.given and not (x.is_vector or y.is_vector):
            correlations = correlation_of(Pearson(), x, y), correlation_of(Spearman(), x, y)
        n_rows = len(x) if result.common is None else len(result.common)
        pair = PairFound(x, y, {}, result, max(n_rows, result.n_samples), result.given, *correlations)
        # Two arrays have no names to tell.
        are_unnamed = (x.name, y.name) == ("x", "y")
        said = [line for line in pair.lines() if not (are_unnamed and line[0] in ("x", "y"))]
    return _lined_up(said)


def text_of_dependence(found: Dependence, /) -> str:
    """One pair of a table, in words."""
    x, y = found.columns
    held = f" given {', '.join(map(short, found.given))}" if found.given else ""
    linear = float(np.fmax(abs(found.pearson), abs(found.spearman)))
    has_words = found.is_finding and not found.given and len(x) and len(y)
    said = [
        ("pair", f"{short(found.x)} and {short(found.y)}{held}"),
        ("rows", f"{found.n_samples:,}"),
        ("coefficient", number(found.coefficient)),
        ("strength", number(found.strength) if found.is_finding else NO_FINDING),
        ("remark", found.remark),
        ("p", pvalue(found.pvalue, 1)),
        ("q", pvalue(found.qvalue, 1)),
        ("kind", kind_of(x, y, strength=found.strength, linear=linear) if has_words else ""),
        ("Pearson", "" if np.isnan(found.pearson) else number(found.pearson)),
        ("Spearman", "" if np.isnan(found.spearman) else number(found.spearman)),
    ]
    return _lined_up([(label, text) for label, text in said if text])


def _lined_up(said: list[tuple[str, str]]) -> str:
    """Labels to the left, flush with what is said of them."""
    return "\n".join(f"{label:>12}  {text}" for label, text in said)


def _rows(n_used: int, n_rows: int) -> str:
    return f"{n_used:,} of {n_rows:,}"


def _interval(result: TestResult) -> str:
    """Around a debiased coefficient, where that is what is shown, or why there is none."""
    if result.bases is None:
        return ""
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
