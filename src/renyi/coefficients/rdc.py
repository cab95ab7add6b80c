"""The Randomized Dependence Coefficient as one of the measures."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from renyi.basis import random_features
from renyi.basis.basis import Basis, scalar_basis, vector_basis
from renyi.basis.canonical import cross_products, largest_correlation
from renyi.basis.random_features import DEFAULT_SCALE, FIXED_DRAW, Frequencies
from renyi.coefficients.base import N_RESAMPLES, Measure, Statement
from renyi.compute.arrays import Array, Index
from renyi.data.align import Missing, as_pair
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.inference.debias import debias, null_level
from renyi.pair.bases import check_dimensions, pair_of_bases
from renyi.pair.independence import independence_test
from renyi.pair.rdc import rdc
from renyi.pair.result import TestResult
from renyi.pair.settings import Rng, Scale, Settings, check_draws

Bases: TypeAlias = tuple[Basis, ...]


@dataclass(frozen=True)
class Rdc(Measure[Bases]):
    """The Randomized Dependence Coefficient, `renyi.rdc` with these settings and its fixed draw.

    A prepared side has a basis for every draw of the frequencies.

    Parameters
    ----------
    k : int, optional
        Random projections a side; by default ⌈10·√d⌉, fewer on few rows.
    s : float or "median", default 3.0
        Standard deviation of the frequencies.
    frequencies : {"auto", "normal", "orthogonal", "fastfood"}, default "auto"
        How frequencies are drawn.
    repeats : int, default 1
        Draws, of whose coefficients the median is taken.
    debias : bool, default False
        Subtract what independence would show; the result may be negative.
    """

    name: ClassVar[str] = "rdc"
    has_bias: ClassVar[bool] = True
    in_batches: ClassVar[bool] = True
    on_device: ClassVar[bool] = True
    statement: ClassVar[Statement] = Statement(
        title="Randomized Dependence Coefficient",
        takes_vectors=True,
        is_invariant=True,
        parameters="k, s (with defaults)",
        cost="n log n",
        null="Roy's largest root on every scale",
        reference="D. Lopez-Paz, P. Hennig, B. Schölkopf 2013, https://doi.org/10.48550/arXiv.1304.7717",
    )

    k: int | None = None
    s: Scale = DEFAULT_SCALE
    frequencies: Frequencies = "auto"
    repeats: int = 1
    debias: bool = False

    def __post_init__(self) -> None:
        Settings(self.k, self.s, self.frequencies)
        check_draws(self.repeats, self.debias)

    def prepare(self, values: Array, /) -> Bases:
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        column = Column("a side", "number" if values.ndim == 1 else "vector", values)
        basis = scalar_basis if values.ndim == 1 else vector_basis
        draws = random_features.seeds(None, n_draws=int(self.repeats))
        bases = tuple(basis(values, self.features.projection(column, seed)) for seed in draws)
        if any(basis.dimension == 0 for basis in bases):
            raise InputError(f"with s={self.s!r} a side does not vary enough to be measured: pass a larger s")
        return bases

    def combine(self, x: Bases, y: Bases, /) -> float:
        return float(np.median([self._coefficient(*bases) for bases in zip(x, y, strict=True)]))

    def reordered(self, side: Bases, order: Index, /) -> Bases:
        return tuple(basis.take(order) for basis in side)

    def __call__(self, x: Any, y: Any, /, *, missing: Missing = "raise") -> float:
        """The coefficient; with missing="pairwise" ranks are those among each side's own observed rows."""
        return rdc(x, y, **vars(self), missing=missing)

    def test(
        self, x: Any, y: Any, /, *, n_resamples: int | None = None, missing: Missing = "raise", rng: Rng = None
    ) -> TestResult:
        """Test independence on every scale, as `renyi.independence_test`: no setting of the coefficient matters.

        `rng` is for the test alone; `coefficient` is the one of these settings, by its fixed draw. `debiased` and
        `dimensions` are None for several draws and where the coefficient is debiased itself.
        """
        result = independence_test(
            x, y, n_resamples=N_RESAMPLES if n_resamples is None else n_resamples, missing=missing, rng=rng
        )
        result = replace(result, method=str(self))
        if rng is None and self == Rdc():
            return result
        bases = None
        if self.repeats == 1 and not self.debias:
            bases = pair_of_bases(as_pair(x, y, missing=missing), self.features, FIXED_DRAW)
        return replace(result, coefficient=self(x, y, missing=missing), bases=bases)

    @property
    def features(self) -> Settings:
        """How random features are drawn."""
        return Settings(self.k, self.s, self.frequencies)

    def _coefficient(self, x: Basis, y: Basis) -> float:
        check_dimensions(x.dimension, y.dimension, x.n_samples)
        largest = largest_correlation(cross_products(x, y))
        return debias(largest, null_level(x, y)) if self.debias else largest
