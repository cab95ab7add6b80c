"""How large a sum of cosines with random phases is by chance, from their amplitudes.

What two functions of series have in common at one lag is such a sum, a cosine for each frequency. Its cumulant
generating function is known, Σ log I₀(A s), and its tail by a saddlepoint: Barndorff-Nielsen's r* is nearly normal,
however few frequencies there are and however far out one looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import i0e, i1e, log_ndtr

from renyi.compute.arrays import Array

# Amplitudes that differ by less are taken as equal; those below a share of the largest as one another.
_STEP, _LEAST_SHARE = 0.15, 1e-3
# Saddlepoints of the table: from so many standard deviations, to where cosines of a mean amplitude are as near to 1.
_NODES, _FIRST, _LAST = 48, 0.2, 60.0


@dataclass(frozen=True, eq=False)
class CosineSum:
    """A sum of independent terms A·cos θ, θ uniform, and ±B: `counts` of every amplitude A, and every B of `signs`."""

    amplitudes: Array
    counts: Array
    signs: Array

    @classmethod
    def of(cls, amplitudes: Array, signs: Sequence[float] | Array = (), /) -> "CosineSum":
        """From all amplitudes."""
        found, either = (np.abs(np.asarray(sizes, dtype=np.float64)) for sizes in (amplitudes, signs))
        found, either = found[found > 0.0], either[either > 0.0]
        if not len(found):
            return cls(found, found, either)
        shares = np.maximum(found / found.max(), _LEAST_SHARE)
        places = np.round(-np.log(shares) / _STEP).astype(np.intp)
        counts = np.bincount(places).astype(np.float64)
        squares = np.bincount(places, found**2)[counts > 0]
        counts = counts[counts > 0]
        return cls(np.sqrt(squares / counts), counts, either)

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Values of the sum, and r* at them."""
        squares = self.counts @ self.amplitudes**2 / 2.0 + self.signs @ self.signs
        number = self.counts.sum() + len(self.signs)
        nodes = np.geomspace(_FIRST, _LAST * np.sqrt(number), _NODES)[:, np.newaxis] / np.sqrt(squares)
        z, b = nodes * self.amplitudes, nodes * self.signs
        ratio = i1e(z) / i0e(z)
        log_mean = (np.log(i0e(z)) + z) @ self.counts + np.sum(np.logaddexp(b, -b) - np.log(2.0), axis=1)
        values = ratio @ (self.counts * self.amplitudes) + np.tanh(b) @ self.signs
        spread = (1.0 - ratio / z - ratio**2) @ (self.counts * self.amplitudes**2)
        # 1 - tanh² b without rounding, which far out is all of it, and signs alone have no other spread.
        spread += (2.0 * np.exp(-b) / (1.0 + np.exp(-2.0 * b))) ** 2 @ self.signs**2
        s = nodes[:, 0]
        w = np.sqrt(2.0 * np.maximum(s * values - log_mean, 0.0))
        r = w + np.log(s * np.sqrt(spread) / w) / w
        return np.append(0.0, values), np.maximum.accumulate(np.append(0.0, r))

    def log_sf(self, sizes: Array, /) -> Array:
        """Logarithms of the probabilities that the sum is so far from 0, either way."""
        if not len(self.amplitudes) + len(self.signs):
            return np.zeros(np.shape(sizes))
        return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-np.interp(sizes, *self._table)), 0.0))
