"""What the user holds: frozen records of what was found."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis import Basis, FeatureMap
from renyi.columns import Column, as_column, categorical
from renyi.copula import empirical_cdf
from renyi.errors import InputError
from renyi.inference.bias import debias, null_level

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CategoryTransformation", "RankTransformation", "Transformations"]

Array: TypeAlias = NDArray[np.float64]


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
    if column.kind == "category":
        return "label"
    return {"M": "date", "m": "duration"}.get(column.values.dtype.kind, "number")


@dataclass(frozen=True, eq=False, repr=False)
class Transformations:
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
    ranks : tuple of int
        Effective ranks of the two bases.
    n_samples : int
        Rows used.
    x, y : Column
        The data, on the rows used.
    """

    f: RankTransformation | CategoryTransformation
    g: RankTransformation | CategoryTransformation
    correlations: Array
    bases: tuple[Basis, Basis]
    x: Column
    y: Column

    @property
    def correlation(self) -> float:
        """Correlation of f(x) and g(y): the coefficient."""
        return float(self.correlations[0])

    @property
    def ranks(self) -> tuple[int, int]:
        """Effective ranks of the two bases."""
        return self.bases[0].rank, self.bases[1].rank

    @property
    def n_samples(self) -> int:
        """Rows used."""
        return self.bases[0].n_samples

    @cached_property
    def debiased(self) -> float:
        """The coefficient, less what independent data would show."""
        return debias(self.correlation, null_level(*self.bases))

    def __repr__(self) -> str:
        return (
            f"Transformations(correlation={self.correlation:.4f}, ranks={self.ranks}, "
            f"n_samples={self.n_samples}, f={self.f!r}, g={self.g!r})"
        )

    def plot(self) -> "Figure":
        """Draw the data, its copula, f, g, and f(x) against g(y).

        Returns
        -------
        matplotlib.figure.Figure
            Save it with `.savefig(path)`; a notebook shows it by itself.
        """
        from renyi.report.plots import plot_transformations

        return plot_transformations(self)
