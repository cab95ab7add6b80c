"""Whether the rows of a column resemble the rows before them: the lag-1 rank correlation."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from renyi.compute.arrays import Array, Mask, as_floats, at_least, in_memory, joined, like, namespace
from renyi.errors import must_be

# Below, a column may resemble its previous rows by chance: a standard normal in 3·10⁻⁷ of all columns is above 5, and
# what is weaker than a correlation of 0.1 hardly moves a p-value.
_LEAST_Z, _LEAST_CORRELATION = 5.0, 0.1
FEWEST_ROWS = 50
# Where n(1 − r) is smaller a random walk cannot be told from a series that returns to its mean: 95 % of random walks
# have less, by their ranks, at n = 100 to 500 (of values Dickey's and Fuller's test with a constant has 14).
_UNIT_ROOT = 18.0
# A trend is told where lines explain so much by chance alone in such a share of series: 20 of χ² with one degree of
# freedom. Of series of 100 to 2,000 rows and AR up to 0.9 one in a hundred or fewer has more. Two with a trend that is
# too weak for it are rejected in up to 0.12 of samples at a level of 0.05.
_LEAST_TREND = 8e-6


def check_order(order: Any, /) -> None:
    """Refuse what does not say whether to look if rows resemble those before them."""
    if order is not None and not (isinstance(order, str) and order == "check"):
        raise must_be("order", "'check', or None for rows that have no order", order)


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


# Rows so far apart show what a column by which rows are sorted explains of another one, rather than its memory.
_FAR = 10


def neighbour_sums(values: Any, known: Any, /) -> Array:
    """Sums over consecutive rows, which add up over batches; values have mean 0 and variance 1 over all rows.

    Steps up, steps down, pairs of neighbours, their products, pairs of rows far apart, and theirs. Rows are the last
    axis, of tensors, too: many columns at once have six sums each.
    """
    both = known[..., 1:] & known[..., :-1]
    later, earlier = values[..., 1:], values[..., :-1]
    found = [((later > earlier) & both).sum(-1), ((later < earlier) & both).sum(-1)]
    for lag in (1, _FAR):
        before = max(values.shape[-1] - lag, 0)
        are_known = known[..., lag:] & known[..., :before]
        products = values[..., lag:] * values[..., :before] * are_known
        found += [are_known.sum(-1), products.sum(-1)]
    return np.stack([np.asarray(in_memory(one), dtype=np.float64) for one in found], axis=-1)


def of_cells(counts: Any, /, *, is_category: bool) -> Any:
    """What neighbours are compared by, for cells (…, cells) of so many rows, and last for missing ones.

    That are ranks, or whether a level is the commonest, with mean 0 and variance 1 over all rows; 0 where a cell has
    none. The counts may be tensors.
    """
    xp, rows = namespace(counts), as_floats(counts)
    n = at_least(rows.sum(-1), 1.0)[..., None]
    if is_category:
        is_commonest = like(np.arange(rows.shape[-1]), rows) == rows.argmax(-1)[..., None]
        values = 1.0 * is_commonest - xp.amax(rows, -1)[..., None] / n
    else:
        values = (xp.cumsum(rows, -1) - rows / 2) / n - 0.5
    values = xp.where(rows > 0.0, values, 0.0)
    size = xp.sqrt((rows * values**2).sum(-1)[..., None] / n)
    values = values / xp.where(size > 0.0, size, 1.0)
    return joined((values, 0.0 * values[..., :1]))


def is_sorted(sums: Array, /) -> bool:
    """Whether values never rise, or never fall."""
    return bool(min(sums[0], sums[1]) == 0)


def memory_of_sums(sums: Array, /, *, beyond_far: bool = False) -> Memory:
    """The correlation of a column with its previous row, less that with rows far before if that is asked for."""
    n, n_far = sums[2], sums[4]
    if n < FEWEST_ROWS or (beyond_far and n_far < FEWEST_ROWS):
        return Memory(0.0, 0.0)
    correlation = float(sums[3] / n - (sums[5] / n_far if beyond_far else 0.0))
    error = sqrt(1.0 / n + (1.0 / n_far if beyond_far else 0.0))
    return Memory(correlation, float((correlation + 1.0 / n) / error))


def may_be_random_walk(correlation: float, n: int, /) -> bool:
    """Whether a random walk of n rows is as likely to have such a lag-1 correlation."""
    return n * (1.0 - correlation) < _UNIT_ROOT


def has_trend(series: Sequence[Array], /) -> bool:
    """Whether straight lines explain more of some series than their memory does.

    What lines explain, over the residual variance of as many independent rows as an AR(1) with the lag-1 correlation of
    the residuals is worth, has about a χ² distribution.
    """
    total, left, products = 0.0, 0.0, 0.0
    for values in series:
        known = np.flatnonzero(~np.isnan(values))
        t, centred = known - np.mean(known), values[known] - np.mean(values[known])
        residuals = centred - t * (t @ centred / max(t @ t, 1.0))
        total, left = total + float(centred @ centred), left + float(residuals @ residuals)
        products += float(residuals[1:] @ residuals[:-1])
    if left <= 1e-9 * total:
        return total > 0.0
    n, correlation = sum(map(len, series)), np.clip(products / left, -0.99, 0.99)
    explained = n * (total - left) / left * (1.0 - correlation) / (1.0 + correlation)
    return bool(explained > chdtri(len(series), _LEAST_TREND))


def in_order(codes: NDArray[Any], /, *, is_category: bool) -> bool:
    """Whether rows are sorted by their codes or values, or equal ones of a category follow one another."""
    steps = np.sign(codes[1:].astype(np.int64) - codes[:-1]) if codes.dtype.kind in "bu" else np.diff(codes)
    if codes.dtype.kind in "mM":
        steps = steps.astype(np.int64)
    if is_category:
        return int(np.count_nonzero(steps)) == len(np.unique(codes)) - 1
    return bool((steps >= 0).all() or (steps <= 0).all())
