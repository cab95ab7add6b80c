"""Whether the rows of a column resemble the rows before them: the lag-1 rank correlation."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Mask

# Below, a column may resemble its previous rows by chance: a standard normal in 3·10⁻⁷ of all columns is above 5, and
# what is weaker than a correlation of 0.1 hardly moves a p-value.
_LEAST_Z, _LEAST_CORRELATION = 5.0, 0.1
FEWEST_ROWS = 50
# Where n(1 − r) is smaller a random walk cannot be told from a series that returns to its mean: 95 % of random walks
# have less, by their ranks, at n = 100 to 500 (of values Dickey's and Fuller's test with a constant has 14).
_UNIT_ROOT = 18.0


class Memory(NamedTuple):
    """The correlation of a column with its previous row, and by how many standard errors it is above chance."""

    correlation: float
    z: float

    @property
    def is_serial(self) -> bool:
        """Whether rows resemble those before them beyond chance."""
        return self.z > _LEAST_Z and self.correlation > _LEAST_CORRELATION


def memory(first: Array, known: Mask | None = None, /) -> Memory:
    """Of a function with mean 0 and variance 1 at the rows in their order, those that are known.

    Of rows in random order the correlation has mean −1/(n − 1) and variance about 1/n.
    """
    products = first[1:] * first[:-1]
    if known is not None:
        products = products[known[1:] & known[:-1]]
    n = len(products)
    if n < FEWEST_ROWS:
        return Memory(0.0, 0.0)
    variance = float(np.mean(first**2)) if known is None else float(np.mean(first[known] ** 2))
    correlation = float(np.mean(products)) / variance if variance > 0.0 else 0.0
    return Memory(correlation, (correlation + 1.0 / n) * np.sqrt(n))


def may_be_random_walk(correlation: float, n: int, /) -> bool:
    """Whether a random walk of n rows is as likely to have such a lag-1 correlation."""
    return n * (1.0 - correlation) < _UNIT_ROOT


def in_order(codes: NDArray[np.integer[Any]], /, *, is_category: bool) -> bool:
    """Whether rows are sorted by their codes, or equal ones of a category follow one another."""
    steps = np.diff(codes.astype(np.int64))
    if is_category:
        return int(np.count_nonzero(steps)) == len(np.unique(codes)) - 1
    return bool((steps >= 0).all() or (steps <= 0).all())
