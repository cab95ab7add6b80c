"""A column as the coefficient and as the test see it, and two of them on the rows that both have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from renyi.basis.basis import (
    Basis,
    RowlessBasis,
    copula_basis,
    rank_column,
    restrict,
    restrict_cells,
    restrict_moments,
    vector_basis,
)
from renyi.basis.nested import Scales, category_scales, number_scales, vector_scales
from renyi.basis.random_features import DEFAULT_SCALE, FIXED_DRAW, Seed
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.pair.bases import check_freedom, rows_in_common
from renyi.pair.settings import Settings

DEFAULT_SETTINGS = Settings(None, DEFAULT_SCALE, "auto")


class Change(NamedTuple):
    """How functions are centred and mixed where some of the rows are left."""

    means: Array
    mixing: Array


@dataclass(frozen=True, eq=False)
class Prepared:
    """A column as the coefficient and as the test see it."""

    basis: Basis
    scales: Scales

    def on(self, rows: Mask, /) -> "Prepared":
        """The same on some of the rows."""
        if self.scales.basis is self.basis:
            scales = self.scales.on(rows)
            return Prepared(scales.basis, scales)
        return Prepared(restrict(self.basis, rows), self.scales.on(rows))

    def on_cells(self, left: Index, /) -> "Restricted":
        """The same for rows in batches, given how many of every cell are left."""
        basis, mixing = restrict_cells(self.basis, left)
        scales, of_scales = self.scales.on_cells(left)
        means = [left @ side.table / left.sum() for side in (self.basis, self.scales.basis)]
        return Restricted(Prepared(basis, scales), (Change(means[0], mixing), Change(means[1], of_scales)))

    def on_sums(self, of_coefficient: Array, of_test: Array, n: int, /) -> "Restricted":
        """The same for a vector, given sums of its functions, and of products on and below the diagonal."""
        if not isinstance(self.basis, RowlessBasis):
            raise ValueError("sums are of vectors in batches")
        moments = [
            _moments(sums / n, side.dimension)
            for sums, side in zip((of_coefficient, of_test), (self.basis, self.scales.basis), strict=True)
        ]
        basis, mixing = restrict_moments(self.basis, *moments[0], n)
        scales, of_scales = self.scales.on_moments(*moments[1], n)
        return Restricted(Prepared(basis, scales), (Change(moments[0][0], mixing), Change(moments[1][0], of_scales)))


class Restricted(NamedTuple):
    """A column in batches on some of its rows, and how its functions, of the coefficient and the test, changed."""

    prepared: Prepared
    changes: tuple[Change, Change]


def _moments(means: Array, dimension: int) -> tuple[Array, Array]:
    """Means and central products from means of functions and of their products."""
    gram = np.empty((dimension, dimension))
    gram[np.tril_indices(dimension)] = means[dimension:]
    gram.T[np.tril_indices(dimension)] = means[dimension:]
    return means[:dimension], gram - np.outer(means[:dimension], means[:dimension])


def prepare(
    column: Column,
    seed: Seed = FIXED_DRAW,
    /,
    settings: Settings = DEFAULT_SETTINGS,
    *,
    order: Index | None = None,
) -> Prepared:
    """A column on its own observed rows; of a number without gaps the order of its values may be known."""
    column = column.complete()
    if column.is_category:
        scales = category_scales(column.values)
        return Prepared(scales.basis, scales)
    projection = settings.projection(column, seed)
    if column.is_number:
        copula = rank_column(column.values, projection, order)
        return Prepared(settings.of_rows(copula_basis(copula, projection)), number_scales(copula))
    basis = settings.of_rows(vector_basis(column.values, projection))
    return Prepared(basis, vector_scales(column.values, basis))


def together(pair: tuple[Column, Column], prepared: Sequence[Prepared], /) -> tuple[Prepared, Prepared]:
    """Two prepared columns on the rows both have, checked for freedom."""
    x, y = prepared
    rows = rows_in_common(pair)
    if rows is not None:
        x, y = x.on(rows[0]), y.on(rows[1])
    check_freedom(pair, (x.basis, y.basis))
    return x, y
