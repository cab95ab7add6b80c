"""The order of columns in which neighbours are alike."""

import numpy as np

from renyi.compute.arrays import Array, Index

_MOST_TO_ORDER = 500


def orders(strength: Array, /, *, is_square: bool) -> tuple[Index, Index]:
    """Orders of the rows and columns of a matrix of strengths; one order for both where they are the same columns."""
    near = np.clip(np.nan_to_num(strength, nan=0.0), 0.0, 1.0)
    if is_square:
        order = _order(1.0 - near)
        return order, order
    return _order(_distances(near)), _order(_distances(near.T))


def _distances(profiles: Array) -> Array:
    """How far rows differ in what they depend on."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(profiles)))


def _order(distances: Array) -> Index:
    """The leaves of a tree of clusters, by average distance."""
    n = len(distances)
    if n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage

    condensed = distances[np.triu_indices(n, 1)]
    # The best order of the leaves takes time that grows by the square and more.
    return np.asarray(leaves_list(linkage(condensed, "average", optimal_ordering=n <= _MOST_TO_ORDER)), dtype=np.intp)
