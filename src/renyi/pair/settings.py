"""How random features are drawn: the settings of the coefficient, checked."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from renyi.basis import random_features
from renyi.basis.basis import Basis
from renyi.basis.random_features import Frequencies, Projection, Seed
from renyi.basis.ranks import joint_ranks
from renyi.data.column import Column
from renyi.errors import InputError, check_choice, check_flag, check_integer, is_number, must_be

Scale: TypeAlias = float | Literal["median"]
Rng: TypeAlias = int | np.random.Generator | None

MOST_PROJECTIONS = 20_000
# The median of fewer draws stands still long before.
_MOST_REPEATS = 10_000


@dataclass(frozen=True)
class Settings:
    """How features are drawn, checked."""

    k: int | None
    s: Scale
    frequencies: Frequencies

    def __post_init__(self) -> None:
        if self.k is not None:
            check_integer(self.k, "k", 1, MOST_PROJECTIONS)
        is_scale = self.s == "median" if isinstance(self.s, str) else is_number(self.s) and 1e-9 <= float(self.s) <= 1e9
        if not is_scale:
            raise must_be("s", "a number from 1e-9 to 1e9, or 'median'", self.s)
        check_choice(self.frequencies, Frequencies, "frequencies")

    def projection(self, column: Column, seed: Seed, /) -> Projection:
        """The frequencies of one complete column."""
        n, n_coordinates = column.values.reshape(len(column), -1).shape
        if self.s != "median":
            return self._drawn(n, n_coordinates, self.s, seed)
        s = random_features.median_scale(joint_ranks(column.values.reshape(n, n_coordinates)))
        if s == 0.0:
            raise InputError(f"s='median' is 0 for {column.label}, most of whose values are equal: pass a number")
        return self._drawn(n, n_coordinates, s, seed)

    def scalar_projection(self, n: int, seed: Seed, /, *, n_coordinates: int = 1) -> Projection:
        """The frequencies of a number, or vector, of n rows that are read in batches."""
        if self.s == "median":
            raise InputError("s='median' needs all ranks at once, and the rows are read in batches: pass a number")
        return self._drawn(n, n_coordinates, self.s, seed)

    def _drawn(self, n: int, n_coordinates: int, s: float, seed: Seed) -> Projection:
        k = random_features.default_projections(n_coordinates, n) if self.k is None else int(self.k)
        return random_features.draw(n_coordinates, k, float(s), kind=self.frequencies, seed=seed)

    def of_rows(self, basis: Basis, /) -> Basis:
        """The basis; unless a k was named, how many functions it has goes by its rows, also where some drop out."""
        return replace(basis, goes_by_rows=self.k is None)


def check_draws(repeats: Any, debias: Any, /) -> None:
    """Refuse what is no number of draws, or neither True nor False."""
    check_integer(repeats, "repeats", 1, _MOST_REPEATS)
    check_flag(debias, "debias")
