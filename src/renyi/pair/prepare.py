"""A column as the coefficient and as the test see it, and two of them on the rows that both have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis.basis import Basis, copula_basis, rank_column, restrict, vector_basis
from renyi.basis.nested import Scales, category_scales, number_scales, vector_scales
from renyi.basis.random_features import DEFAULT_SCALE, FIXED_DRAW, Seed
from renyi.data.column import Column
from renyi.pair.bases import check_freedom, rows_in_common
from renyi.pair.settings import Settings

__all__ = ["DEFAULT_SETTINGS", "Prepared", "prepare", "together"]

Pair: TypeAlias = tuple[Column, Column]

DEFAULT_SETTINGS = Settings(None, DEFAULT_SCALE, "auto")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A column as the coefficient and as the test see it."""

    basis: Basis
    scales: Scales

    def on(self, rows: NDArray[np.bool_], /) -> "Prepared":
        """The same on some of the rows."""
        if self.scales.basis is self.basis:
            scales = self.scales.on(rows)
            return Prepared(scales.basis, scales)
        return Prepared(restrict(self.basis, rows), self.scales.on(rows))


def prepare(column: Column, seed: Seed = FIXED_DRAW, /, settings: Settings = DEFAULT_SETTINGS) -> Prepared:
    """A column on its own observed rows."""
    column = column.complete()
    if column.is_category:
        scales = category_scales(column.values)
        return Prepared(scales.basis, scales)
    projection = settings.projection(column, seed)
    if column.is_number:
        copula = rank_column(column.values, projection)
        return Prepared(settings.of_rows(copula_basis(copula, projection)), number_scales(copula))
    basis = settings.of_rows(vector_basis(column.values, projection))
    return Prepared(basis, vector_scales(column.values, basis))


def together(pair: Pair, prepared: Sequence[Prepared], /) -> tuple[Prepared, Prepared]:
    """Two prepared columns on the rows both have, checked for freedom."""
    x, y = prepared
    rows = rows_in_common(pair)
    if rows is not None:
        x, y = x.on(rows[0]), y.on(rows[1])
    check_freedom(pair, (x.basis, y.basis))
    return x, y
