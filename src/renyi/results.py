"""What the user holds: frozen records of what was found."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis import FeatureMap
from renyi.columns import Column, as_column, categorical
from renyi.copula import empirical_cdf
from renyi.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CategoryTransformation", "RankTransformation", "Transformations"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RankTransformation:
    """A function of a number or a vector: its ranks in the sample, then a smooth function of them.

    Over the sample it has mean 0 and variance 1. New values beyond the sample are treated as its smallest or largest.
    """

    name: str
    ordered: tuple[NDArray[Any], ...]
    feature_map: FeatureMap
    direction: Array

    def __repr__(self) -> str:
        return f"<function of {self.name}, {len(self.ordered)} coordinate{'s' if len(self.ordered) > 1 else ''}>"

    def __call__(self, values: Any, /) -> Array:
        """Values (m,) or (m, d) to numbers (m,); missing ones stay missing."""
        column = as_column(values, self.name)
        n_coordinates = 1 if column.kind == "number" else column.values.shape[-1]
        if column.kind == "category" or n_coordinates != len(self.ordered):
            raise InputError(f"{column!r} does not fit {self!r}: pass values of the kind the function was learned from")
        coordinates = column.values.reshape(len(column), n_coordinates)
        ranks = np.column_stack([empirical_cdf(o, coordinates[:, j]) for j, o in enumerate(self.ordered)])
        outcome = self.of_ranks(ranks)
        return outcome if column.missing is None else np.where(column.missing, np.nan, outcome)

    def of_ranks(self, ranks: Array, /) -> Array:
        """The same function, of ranks (m, d) in (0, 1]."""
        return self.feature_map(ranks) @ self.direction


@dataclass(frozen=True, eq=False, repr=False)
class CategoryTransformation:
    """A number for every level of a category, with mean 0 and variance 1 over the sample."""

    name: str
    scores: dict[Any, float]

    def __repr__(self) -> str:
        return f"<function of {self.name}, {len(self.scores)} levels>"

    def __call__(self, values: Any, /) -> Array:
        """Labels (m,) to numbers (m,); missing ones stay missing, unknown ones are refused."""
        column = categorical(values, name=self.name)
        unknown = [level for level in column.levels if level not in self.scores]
        if unknown:
            raise InputError(f"{self.name} has the level {unknown[0]!r}, which the sample did not have: leave it out")
        by_code = np.array([self.scores[level] for level in column.levels] or [np.nan])
        outcome = by_code[column.values]
        return outcome if column.missing is None else np.where(column.missing, np.nan, outcome)


@dataclass(frozen=True, eq=False, repr=False)
class Transformations:
    """The functions f of x and g of y whose correlation is the coefficient, from `renyi.transformations`.

    Attributes
    ----------
    f, g : callable
        Take new values of x and of y; mean 0 and variance 1 over the sample, positively correlated.
    correlation : float
        Correlation of f(x) and g(y) over the sample: the coefficient.
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
    ranks: tuple[int, int]
    n_samples: int
    x: Column
    y: Column

    @property
    def correlation(self) -> float:
        """Correlation of f(x) and g(y): the coefficient."""
        return float(self.correlations[0])

    def __repr__(self) -> str:
        return (
            f"Transformations(correlation={self.correlation:.4f}, ranks={self.ranks}, n_samples={self.n_samples}, "
            f"f={self.f!r}, g={self.g!r})"
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
