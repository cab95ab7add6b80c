"""Features to the weights that make them centred and orthonormal over the rows."""

from collections.abc import Iterable
from math import frexp, ldexp, sqrt
from typing import Protocol

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.compute.linalg import svd

# Rows of which a factor is taken at once.
_BLOCK_ROWS = 256
# Numbers near the smallest there are grow by no more, which is enough for their squares.
_MOST_DOUBLINGS = 1000


class Whitening(Protocol):
    """Weights and intercept that turn the features behind a triangular factor into a centred orthonormal basis."""

    def __call__(self, factor: Array, /, *, cut: float) -> tuple[Array, Array]: ...


def orthonormalised(
    features: Array, /, *, cut: float, whiten: Whitening | None = None, counts: Index | None = None
) -> tuple[Array, Array, Array]:
    """Features as centred orthonormal functions of rows, each standing for so many; with the weights and intercept.

    By default leading functions span leading features (`ordered_whitening`).
    """
    n = len(features)
    shares = np.full(n, n**-0.5) if counts is None else np.sqrt(counts / counts.sum())
    weights, intercept = (whiten or ordered_whitening)(triangular_factor([(features, shares)]), cut=cut)
    return features @ weights + intercept, weights, intercept


def standardised(values: Array, /) -> Array:
    """Values with mean 0 and length 1, whatever their size; they are not all equal."""
    # A power of 2 costs no digits, and keeps sums of the largest and squares of the smallest numbers in range.
    size = frexp(max(float(values.max()), -float(values.min())))[1]
    centred = values * ldexp(1.0, -max(size, -_MOST_DOUBLINGS))
    # What hardly varies is centred exactly the second time, when its size is gone.
    for _ in range(2):
        centred -= np.add.reduce(centred) / len(centred)
    centred /= sqrt(centred @ centred)
    return centred


def triangular_factor(chunks: Iterable[tuple[Array, Array]]) -> Array:
    """Triangular factor of the columns (1, features), rows weighted, folded over chunks of rows.

    Products of this factor are products over the rows, without the squared condition number of a Gram matrix.
    """
    factor: Array | None = None
    for features, weights in chunks:
        columns = np.empty((len(features), features.shape[1] + 1))
        columns[:, 0] = weights
        np.multiply(features, weights[:, np.newaxis], out=columns[:, 1:])
        stacked = columns if factor is None else np.concatenate((factor, columns))
        factor = _factor(stacked)
    if factor is None:
        raise ValueError("a factor needs at least one chunk")
    return factor


def _factor(columns: Array) -> Array:
    """Triangular factor of many rows, by way of those of blocks that fit into the cache."""
    n_blocked = len(columns) // _BLOCK_ROWS * _BLOCK_ROWS
    if n_blocked >= 4 * _BLOCK_ROWS > 16 * columns.shape[1]:
        blocks = columns[:n_blocked].reshape(-1, _BLOCK_ROWS, columns.shape[1])
        factors = np.asarray(np.linalg.qr(blocks, mode="r"))
        columns = np.concatenate((factors.reshape(-1, columns.shape[1]), columns[n_blocked:]))
    return np.asarray(np.linalg.qr(columns, mode="r"))


def merged_factor(*factors: Array) -> Array:
    """The triangular factor of all rows, from factors of parts of them."""
    return np.asarray(np.linalg.qr(np.concatenate(factors), mode="r"))


def principal_whitening(factor: Array, /, *, cut: float) -> tuple[Array, Array]:
    """The principal directions of the centred features, largest first."""
    # The first column is the constant, so the first row holds the means and the rest factors the centred features.
    means = factor[0, 1:] / factor[0, 0]
    _, sizes, directions = svd(factor[1:, 1:])
    kept = sizes > cut
    weights = directions[kept].T / sizes[kept]
    return weights, -means @ weights


def ordered_whitening(factor: Array, /, *, cut: float, first: float | None = None) -> tuple[Array, Array]:
    """What each feature adds to those before it, so that leading columns span leading features.

    A feature of which the others leave a root mean square of no more than `cut` is passed over; `first` is another cut
    for as long as there is none.
    """
    means = factor[0, 1:] / factor[0, 0]
    centred = factor[1:, 1:]
    own = np.diag(centred)
    if 0 < len(own) == centred.shape[1] and np.abs(own).min() > cut:
        # Nothing is passed over, and the factor says what each feature adds to those before it.
        weights = np.triu(np.linalg.inv(centred * np.sign(own)[:, np.newaxis]))
        return weights, -means @ weights
    kept: list[int] = []
    basis = np.zeros_like(centred)
    for j, feature in enumerate(centred.T):
        rest = feature
        for _ in range(2):  # once more removes what rounding left
            rest = rest - basis[:, : len(kept)] @ (basis[:, : len(kept)].T @ rest)
        size = np.linalg.norm(rest)
        if size > (cut if kept or first is None else first) and len(kept) < len(centred):
            basis[:, len(kept)] = rest / size
            kept.append(j)
    weights = np.zeros((centred.shape[1], len(kept)))
    # Exact zeros after each column's own feature; `own_features` reads them.
    weights[kept] = np.triu(np.linalg.inv(np.triu(basis[:, : len(kept)].T @ centred[:, kept])))
    return weights, -means @ weights


def own_features(weights: Array, /) -> Index:
    """For every column of an ordered basis the feature that made it: the last one it is made of."""
    return np.array([np.flatnonzero(column)[-1] for column in weights.T], dtype=np.intp)
