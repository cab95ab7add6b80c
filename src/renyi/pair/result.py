"""What the user holds: frozen records of what was found."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import Basis, FeatureMap
from renyi.basis.canonical import cross_products
from renyi.basis.ranks import empirical_cdf
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.categories import categorical
from renyi.data.column import Column
from renyi.data.reader import as_column
from renyi.errors import InputError, count, is_number, must_be
from renyi.inference.debias import (
    FEW_ROWS,
    debias,
    effective_rows,
    interval,
    most_of_categories,
    null_level,
    strengths,
    too_few_rows,
    without_heaviest,
)
from renyi.inference.roy import null_median
from renyi.pair import showing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Smallest p-value that is shown as a number, rather than as its logarithm.
_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False, repr=False)
class RankTransformation:
    """A function of a number or a vector: its ranks in the sample, then a smooth function of them.

    Over the sample it has mean 0 and variance 1. New values beyond the sample are treated as its smallest or largest.
    """

    column: Column
    ordered: tuple[NDArray[Any], ...]
    feature_map: FeatureMap
    direction: Array

    def __repr__(self) -> str:
        n_coordinates = len(self.ordered)
        return f"<function of {self.column.name}{f', {n_coordinates} coordinates' if n_coordinates > 1 else ''}>"

    def __call__(self, values: Any, /) -> Array:
        """Values (m,) or (m, d) to numbers (m,); missing ones stay missing."""
        column = self._like_sample(values)
        coordinates = column.values.reshape(len(column), -1)
        ranks = np.column_stack([empirical_cdf(o, coordinates[:, j]) for j, o in enumerate(self.ordered)])
        return _with_missing(self.of_ranks(ranks), column)

    def of_ranks(self, ranks: Array, /) -> Array:
        """The same function, of ranks (m, d) in (0, 1]."""
        return self.feature_map(ranks) @ self.direction

    def _like_sample(self, values: Any) -> Column:
        """New values as the sample had them: levels by their names, coordinates in their order, dates as dates."""
        if self.column.levels:
            return _recoded(categorical(values, name=self.column.name), self.column.levels)
        column = as_column(values, "the argument")
        names = self.column.coordinates
        if names and column.coordinates and sorted(names) == sorted(column.coordinates):
            column = replace(column, values=column.values[:, [column.coordinates.index(name) for name in names]])
        elif names and column.coordinates:
            raise InputError(f"{self!r} was learned from the columns {', '.join(names)}: pass these")
        n_coordinates = column.values.reshape(len(column), -1).shape[1]
        families = (_family(column), n_coordinates), (_family(self.column), len(self.ordered))
        if families[0] != families[1]:
            shape = "(m,)" if len(self.ordered) == 1 else f"(m, {len(self.ordered)})"
            raise InputError(f"{column!r} does not fit {self!r}: pass {families[1][0]}s of the shape {shape}")
        return column


@dataclass(frozen=True, eq=False, repr=False)
class CategoryTransformation:
    """A number for every level of a category, with mean 0 and variance 1 over the sample."""

    name: str
    scores: dict[Any, float]

    def __repr__(self) -> str:
        return f"<function of {self.name}, {len(self.scores)} levels>"

    def of_levels(self, levels: tuple[Any, ...], /) -> Array:
        """A score for every level, NaN for those that the sample did not have."""
        return np.array([self.scores.get(level, np.nan) for level in levels], dtype=np.float64)

    def __call__(self, values: Any, /) -> Array:
        """Labels (m,) to numbers (m,); missing ones stay missing, unknown ones are refused."""
        column = _recoded(categorical(values, name=self.name), tuple(self.scores))
        return _with_missing(np.array(list(self.scores.values()))[column.values], column)


def _recoded(column: Column, levels: tuple[Any, ...]) -> Column:
    """A category with the codes of given levels."""
    codes = {level: code for code, level in enumerate(levels)}
    unknown = [level for level in column.levels if level not in codes]
    if unknown:
        raise InputError(f"{column.name} has the level {unknown[0]!r}, which the sample did not have: leave it out")
    by_code = np.array([codes[level] for level in column.levels] or [0])
    return replace(column, values=by_code[column.values], levels=levels)


def _with_missing(outcome: Array, column: Column) -> Array:
    return outcome if column.missing is None else np.where(column.missing, np.nan, outcome)


def _family(column: Column) -> str:
    """What may be compared with what."""
    if column.is_category:
        return "label"
    return {"M": "date", "m": "duration"}.get(column.values.dtype.kind, "number")


@dataclass(frozen=True, eq=False, repr=False)
class Transformations(showing.Record):
    """The functions f of x and g of y whose correlation is the coefficient, from `renyi.transformations`.

    Attributes
    ----------
    f, g : callable
        Take new values of x and of y; mean 0 and variance 1 over the sample, positively correlated.
    correlation : float
        Correlation of f(x) and g(y) over the sample: the coefficient.
    debiased : float
        The same, less what independent data would show (`renyi.rdc` with `debias=True`).
    correlations : ndarray
        All canonical correlations, largest first.
    dimensions : tuple of int
        Dimensions of the two bases.
    n_samples : int
        Rows used.
    x, y : Column
        The data, on the rows used.
    """

    _internal = ("bases",)

    f: RankTransformation | CategoryTransformation
    g: RankTransformation | CategoryTransformation
    correlations: Array
    bases: tuple[Basis, Basis]
    x: Column
    y: Column

    @property
    def dimensions(self) -> tuple[int, int]:
        """Dimensions of the two bases."""
        return self.bases[0].dimension, self.bases[1].dimension

    @property
    def n_samples(self) -> int:
        """Rows used."""
        return self.bases[0].n_samples

    @property
    def correlation(self) -> float:
        """Correlation of f(x) and g(y): the coefficient."""
        return float(self.correlations[0])

    @cached_property
    def debiased(self) -> float:
        """The coefficient, less what independent data would show."""
        return debias(self.correlation, null_level(*self.bases))

    def __repr__(self) -> str:
        return (
            f"Transformations(correlation={self.correlation:.4f}, dimensions={self.dimensions}, "
            f"n_samples={self.n_samples}, f={self.f!r}, g={self.g!r})"
        )

    def plot(self) -> "Figure":
        """Draw the data, its copula, f, g, and f(x) against g(y).

        Returns
        -------
        matplotlib.figure.Figure
            Save it with `.savefig(path)`; a notebook shows it by itself.
        """
        return cast("Figure", showing.report().plot_transformations(self))


class Interval(NamedTuple):
    """An interval for a coefficient."""

    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(showing.Record):
    """What a test of independence found; unpacks as `statistic, pvalue`.

    Attributes
    ----------
    statistic : float
        What was tested, large where there is dependence. For "auto" the combined evidence of all scales, −log H, which
        is not the coefficient and may rank pairs differently; for the other methods as their documentation says.
    pvalue : float
        Never 0: the smallest number a float holds stands for all smaller ones.
    log_pvalue : float
        Natural logarithm of the p-value, also where `pvalue` would be 0.
    method : str
        The method asked for; of a measure its name, with the settings that are not the default.
    calibration : {"theory", "permutation", "shifts"}
        Where the p-value comes from: a null distribution known by theory, permuted rows, or, of rows in time,
        shifts of one series against the other.
    coefficient : float
        The Randomized Dependence Coefficient of the pair (given z: of what z leaves), or that of the measure tested.
    debiased : float, or None
        The coefficient, less what independent data would show; None for other measures. Where nothing is there it lies
        around 0, on either side.
    strength : float, or None
        What to show, never below 0: the debiased coefficient, or the correlation of two numbers that would have the
        same p-value where the test has seen more.
    dimensions : tuple of int, or None
        Dimensions of the bases behind the coefficient; None for other measures.
    n_samples : int
        Rows used.
    scale : tuple of int, or None
        For "auto" the block that spoke loudest: how many functions of x and of y it has, smoothest first. (1, 1) looks
        for a monotone trend, (a, 1) for y as a curve over x, (1, b) for x over y, (2, 2) for a change of spread or a
        ring too. Strong dependence is seen by many blocks, and the loudest does not say of what kind it is:
        `renyi pair` and reports say that by what the columns do.
    n_resamples : int or None
        Permutations drawn, None where none were needed.
    floor : float or None
        The smallest p-value that so many permutations, or so few arrangements of groups, could have shown; None by
        theory.
    n_explained : int
        Degrees of freedom that z takes, 0 without one.
    given : tuple of str
        What was held fixed, empty where nothing was.
    left_out : tuple of int
        Rows of what was passed, counted from 0, that a conditional test leaves out since each would decide alone.
    effective_rows : float, or None
        How many rows carry the coefficient: k where k rows alone differ from all others; None for other
        measures.
    n_effective : float or None
        Of rows in time: how many independent rows they are worth, by their monotone trend; else None.
    notes : tuple of str
        What to know beside it: rows that resemble those before them, series that wander.
    remark : str
        Where one or two rows carry the coefficient what it is without them, as in "without row 17: 0.35"; else empty.
        Rows are counted from 0.
    """

    _internal = "bases", "by_theory", "by_permutation", "chance", "columns"

    __test__ = False  # pytest collects classes by their names

    statistic: float
    pvalue: float
    log_pvalue: float
    method: str
    coefficient: float
    n_samples: int
    bases: tuple[Basis, Basis] | None = field(repr=False, default=None)
    scale: tuple[int, int] | None = None
    n_resamples: int | None = None
    floor: float | None = None
    n_explained: int = 0
    left_out: tuple[int, ...] = ()
    common: Mask | None = field(repr=False, default=None)
    places: Index | None = field(repr=False, default=None)
    n_effective: float | None = None
    # The level of ρ₁² that shifts show, where rows are in time.
    chance: float | None = field(repr=False, default=None)
    notes: tuple[str, ...] = ()
    # What the words of a summary are of: copies of the two columns, or of many rows some.
    columns: tuple[Column, Column] | None = field(repr=False, default=None)
    given: tuple[str, ...] = ()

    @cached_property
    def effective_rows(self) -> float | None:
        """How many rows carry the coefficient; None for a measure of which nobody knows that."""
        return None if self.bases is None else effective_rows(*self.bases, cross_products(*self.bases))

    @cached_property
    def remark(self) -> str:
        """What the strength is without the one or two rows that carry it; empty where more do."""
        # What z leaves of columns is on rows that are not told here.
        if self.bases is None or self.effective_rows is None or self.n_explained:
            return ""
        return remark_on(*self.bases, self.effective_rows, self.common, self.places)

    @property
    def calibration(self) -> str:
        """Where the p-value comes from."""
        if self.n_effective is not None:
            return "shifts"
        return "theory" if self.n_resamples is None else "permutation"

    @property
    def dimensions(self) -> tuple[int, int] | None:
        """Dimensions of the two bases, None for a measure that has none."""
        return None if self.bases is None else (self.bases[0].dimension, self.bases[1].dimension)

    @cached_property
    def debiased(self) -> float | None:
        """The coefficient, less what independent data would show; None for a measure of which nobody knows that."""
        if self.bases is None:
            return None
        if self.chance is not None:
            return debias(self.coefficient, self.chance)
        if self.n_explained:
            x, y = self.bases
            return debias(self.coefficient, null_median(x.dimension, y.dimension, self.n_samples - self.n_explained))
        return debias(self.coefficient, null_level(*self.bases))

    @property
    def strength(self) -> float | None:
        """How strong the dependence is, never below 0; None for a measure that has no debiased value.

        The debiased coefficient, or the correlation of two numbers with the same p-value where that is larger.
        """
        if self.debiased is None:
            return None
        debiased, log_pvalue = np.array([self.debiased]), np.array([self.log_pvalue])
        most: Array | float = 1.0
        if self.bases is not None and all(basis.order is not None for basis in self.bases):
            most = most_of_categories(
                np.array([self.coefficient]), debiased, np.array([self.dimensions], dtype=np.int32)
            )
        if self.n_effective is not None:
            # Of series, whose rows are worth fewer, a p-value stands for a correlation of this size at least.
            most = self.coefficient
        return float(strengths(debiased, log_pvalue, np.array([self.n_samples]), most=most)[0])

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Interval for the coefficient of the population, in [0, 1]; two NaN where `no_interval` says why.

        Its width comes from how far single rows move the coefficient. It covers at least 0.90 where 0.95 is asked for,
        from 50 rows on (docs/validation/intervals.md has the study), and may be wider than it need be where dependence
        is weak, or between two categories.

        Parameters
        ----------
        confidence_level : float, default 0.95
            Between 0 and 1.

        Returns
        -------
        Interval
            A named tuple: its ends `low` and `high`.
        """
        if not (is_number(confidence_level) and 0.0 < confidence_level < 1.0):
            raise must_be("confidence_level", "a number between 0 and 1", confidence_level)
        if self.bases is None or self.debiased is None:
            raise InputError(f"an interval is known for the RDC alone, not for {self.method!r}: use independence_test")
        if self.no_interval:
            return Interval(np.nan, np.nan)
        level = float(confidence_level)
        return Interval(*interval(*self.bases, debiased=self.debiased, level=level, n_explained=self.n_explained))

    @property
    def no_interval(self) -> str:
        """Why there is no confidence interval; empty where there is one."""
        if self.n_effective is not None:
            return "rows are in time, and the interval is for independent ones"
        if self.effective_rows is None or not too_few_rows(self.effective_rows, self.n_samples):
            return ""
        n_rows = max(round(self.effective_rows), 1)
        return f"{count(n_rows, 'row')} of {self.n_samples:,} {'decides' if n_rows == 1 else 'decide'}"

    def summary(self) -> str:
        """The result in words: what was found, how surely, and what kind of dependence it is."""
        return str(showing.report().text_of_test(self))

    def by_theory(self, log_pvalue: float, /) -> "TestResult":
        """The result with a p-value by theory."""
        return replace(self, log_pvalue=log_pvalue, pvalue=max(float(np.exp(log_pvalue)), _SMALLEST))

    def by_permutation(self, pvalue: float, /, *, n_drawn: int, floor: float) -> "TestResult":
        """The result with a p-value from so many permutations, which could not have been below a floor."""
        return replace(self, pvalue=pvalue, log_pvalue=float(np.log(pvalue)), n_resamples=n_drawn, floor=floor)

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        pvalue = f"{self.pvalue:.3g}" if self.pvalue > _SMALLEST else f"10^{self.log_pvalue / np.log(10):.0f}"
        permuted = "" if self.n_resamples is None else f", n_resamples={self.n_resamples}, floor={self.floor:.2g}"
        scale = "" if self.scale is None else f", scale={self.scale}"
        strength = "" if self.strength is None else f", strength={self.strength:.4f}"
        left_out = f", left_out={self.left_out}" if self.left_out else ""
        if self.n_effective is not None:
            left_out += f", n_effective={self.n_effective:.0f}"
        if self.notes:
            left_out += f", notes={self.notes}"
        return (
            f"TestResult(pvalue={pvalue}, statistic={self.statistic:.4g}, coefficient={self.coefficient:.4f}{strength}"
            f", method={self.method!r}{scale}{permuted}, n_samples={self.n_samples}{left_out})"
        )


def remark_on(x: Basis, y: Basis, rows: float, common: Mask | None, places: Index | None = None, /) -> str:
    """What is said of a pair that one or two rows carry, empty where more do; rows are counted from 0.

    `common` are the rows of the table on which both columns are known, None for all of them; `places` are those of the
    table's rows in the one that came in, where it has lost some.
    """
    if not rows < FEW_ROWS:
        return ""
    n_rows = max(round(rows), 1)
    if not (x.has_rows and y.has_rows):
        return "one row carries it" if n_rows == 1 else "two rows carry it"
    heaviest, strength = without_heaviest(x, y, n_rows)
    found = heaviest if common is None else np.flatnonzero(common)[heaviest]
    named = " and ".join(f"{place:,}" for place in (found if places is None else places[found]).tolist())
    return f"without {'row' if n_rows == 1 else 'rows'} {named}: {strength:.2f}"
