import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from renyi.coefficients.kernels.sorted_distances import distance_products, sort_scalars


@given(arrays.arrays(float, st.tuples(st.just(2), st.integers(1, 150)), elements=st.integers(-6, 6)))
@settings(max_examples=60, deadline=None)
def test_sums_of_products_with_ties(data):
    x, y = (side - side.mean() for side in data)
    order = np.random.default_rng(0).permutation(len(x))
    found = distance_products(sort_scalars(x), sort_scalars(y), np.stack((np.arange(len(x)), order)))
    gaps = np.abs(np.subtract.outer(x, x))
    expected = [(gaps * np.abs(np.subtract.outer(side, side))).sum() for side in (y, y[order])]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
