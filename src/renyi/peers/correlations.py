"""Pearson's, Spearman's and Kendall's correlation, with their signs."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.inference.roy import log_sf
from renyi.peers.protocol import Law, Measure, Statement

__all__ = ["Pearson"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class Pearson(Measure[Array]):
    """The linear correlation; a prepared side has mean 0 and length 1."""

    name: ClassVar[str] = "pearson"
    statement: ClassVar[Statement] = Statement(
        title="Pearson's correlation",
        is_nonlinear=False,
        takes_vectors=False,
        is_invariant=False,
        range=(-1.0, 1.0),
        parameters="none",
        cost="n",
        law="Student's t",
        reference="K. Pearson 1895, https://doi.org/10.1098/rspl.1895.0041",
    )

    def prepare(self, values: Array, /) -> Array:
        centred = values.ravel() - values.mean()
        return np.asarray(centred / np.linalg.norm(centred))

    def combine(self, x: Array, y: Array, /) -> float:
        return float(np.clip(x @ y, -1.0, 1.0))

    def reordered(self, side: Array, order: Index, /) -> Array:
        return side[order]

    def law(self, x: Array, y: Array, value: float, /) -> Law | None:
        return t_law(value, len(x))


def t_law(value: float, n: int) -> Law | None:
    """Student's t for a correlation of n pairs, of which one side is normal, or many."""
    if n < 3:
        return None
    # The two-sided tail of t is that of the square of the correlation, which is largest root of ranks 1 and 1.
    return Law(abs(value), float(log_sf(min(value**2, 1.0), 1, 1, n)))
