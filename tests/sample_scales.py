"""Nested bases of made-up columns, for tests of whatever takes them."""

import numpy as np

from renyi.basis.basis import vector_basis
from renyi.basis.nested import number_scales, vector_scales
from renyi.basis.random_features import draw, seeds
from renyi.basis.ranks import quantise

(FIXED,) = seeds(None, n_draws=1)


def number(values, n_cells=None):
    return number_scales(quantise(np.asarray(values), n_cells=n_cells))


def vector(values):
    return vector_scales(values, vector_basis(values, draw(values.shape[1], 6, 3.0, kind="auto", seed=FIXED)))
