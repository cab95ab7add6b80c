"""Linear canonical correlation: the largest correlation of a linear function of x and one of y."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from renyi.basis.basis import RANK_CUT, Basis
from renyi.basis.canonical import cross_products, largest_correlation
from renyi.basis.orthonormal import orthonormalised, principal_whitening, standardised
from renyi.basis.random_features import FIXED_DRAW, Seed
from renyi.coefficients.base import Measure, Side, Statement, Tail
from renyi.coefficients.pearson import Scores, log_pvalue_of_correlation, permuted_roots
from renyi.compute.arrays import Array, Index, in_parts
from renyi.compute.eigenvalues import largest_root
from renyi.inference.multiscale import is_trusted, share_of_levels
from renyi.inference.permutation import Permuted
from renyi.inference.roy import LARGEST_DIMENSION, log_sf
from renyi.pair.bases import check_dimensions

_BATCH_NUMBERS = 2**20
# Rows that hold no more than so many times √n different values are levels, as those of categories.
_MANY_LEVELS = 2.0
# Of two such sides the rarest levels meet in so many rows, at least, by chance.
_FEWEST_IN_A_CELL = 4.0


@dataclass(frozen=True)
class CCA(Measure[Basis]):
    """The largest canonical correlation, in [0, 1]; for two numbers the size of Pearson's.

    A prepared side is a centred orthonormal basis of its coordinates, each scaled to variance 1 first. Principal
    directions with a root mean square below 10⁻⁶ are left out, so that repeated coordinates change nothing. Roy's
    null distribution is exact where one side is normal, and close to it unless single rows lie far from all others in
    both: there p-values come from permutations, by the rule of `renyi.independence_test`. Those of two numbers are as
    for Pearson's.
    """

    name: ClassVar[str] = "cca"
    is_phi_of_flags = True
    nanoseconds_per_row: ClassVar[int] = 10
    statement: ClassVar[Statement] = Statement(
        title="Canonical correlation",
        is_nonlinear=False,
        takes_vectors=True,
        cost="n",
        null="Roy's largest root",
        reference="H. Hotelling 1936, https://doi.org/10.1093/biomet/28.3-4.321",
    )

    def prepare(self, values: Array, /) -> Basis:
        coordinates = values.reshape(len(values), -1).T
        varying = [standardised(column) for column in coordinates if (column != column[0]).any()]
        scaled = np.column_stack(varying) * np.sqrt(len(values))
        table, *_ = orthonormalised(scaled, cut=RANK_CUT, whiten=principal_whitening)
        return Basis(table, None, None)

    def combine(self, x: Basis, y: Basis, /) -> float:
        check_dimensions(x.dimension, y.dimension, x.n_samples)
        return largest_correlation(cross_products(x, y))

    def reordered(self, side: Basis, order: Index, /) -> Basis:
        return side.take(order)

    def permuted(self, x: Basis, y: Basis, orders: Index, /) -> Array:
        check_dimensions(x.dimension, y.dimension, x.n_samples)
        step = max(1, _BATCH_NUMBERS // y.table.size)
        rows = np.ascontiguousarray(x.table.T) / x.n_samples
        roots = [largest_root(rows @ np.take(y.table, part, axis=0)) for part in in_parts(orders, step)]
        return np.asarray(np.sqrt(np.clip(np.concatenate(roots), 0.0, 1.0)))

    def null_tail(self, x: Basis, y: Basis, value: float, /) -> Tail | None:
        n, dimensions = x.n_samples, (x.dimension, y.dimension)
        if min(dimensions) > LARGEST_DIMENSION or sum(dimensions) >= n - 1:
            return None
        log_pvalue = float(log_sf(value**2, *dimensions, n))
        if dimensions != (1, 1):
            return Tail(value, log_pvalue)
        scores = [Scores(side.table[:, 0] / np.sqrt(n)) for side in (x, y)]
        skewed = log_pvalue_of_correlation(scores[0], scores[1], log_pvalue)
        return None if skewed is None else Tail(value, skewed)

    def by_theory(self, x: Side[Basis], y: Side[Basis], value: float, /) -> Tail | None:
        bases, n = (x.prepared, y.prepared), len(x)
        dimensions = bases[0].dimension, bases[1].dimension
        if dimensions != (1, 1):
            leverages = bases[0].largest_leverage * bases[1].largest_leverage
            has_levels = [len(side.rows.counts) <= _MANY_LEVELS * np.sqrt(n) for side in (x, y)]
            most = 1.0 / (_FEWEST_IN_A_CELL * n) if all(has_levels) else np.inf
            if leverages > most or not is_trusted(leverages, dimensions, n, share=share_of_levels(any(has_levels))):
                return None
        return super().by_theory(x, y, value)

    def by_permutation(
        self, x: Side[Basis], y: Side[Basis], value: float, /, *, n_resamples: int, seed: Seed = FIXED_DRAW
    ) -> Permuted:
        scores = ((side.rows, side.prepared.table) for side in (x, y))
        return permuted_roots(*scores, n_resamples=n_resamples, seed=seed)
