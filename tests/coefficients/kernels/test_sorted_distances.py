import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from renyi.coefficients.kernels import sorted_distances
from renyi.coefficients.kernels.sorted_distances import distance_products, sort_scalars


@pytest.mark.slow
@given(arrays.arrays(float, st.tuples(st.just(2), st.integers(1, 150)), elements=st.integers(-6, 6)))
@settings(max_examples=60, deadline=None)
def test_sums_of_products_with_ties(data):
    x, y = (side - side.mean() for side in data)
    order = np.random.default_rng(0).permutation(len(x))
    found = distance_products(sort_scalars(x), sort_scalars(y), np.stack((np.arange(len(x)), order)))
    gaps = np.abs(np.subtract.outer(x, x))
    expected = [(gaps * np.abs(np.subtract.outer(side, side))).sum() for side in (y, y[order])]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 16, 17, 33, 700])
def test_row_sums_are_those_of_all_distances(n, rng):
    x = np.round(rng.standard_normal(n), 1)
    x -= x.mean()
    found = sort_scalars(x)
    np.testing.assert_array_equal(found.rows, x)
    np.testing.assert_allclose(found.row_sums(), np.abs(np.subtract.outer(x, x)).sum(axis=1), atol=1e-10)


def test_numbers_in_another_order_are_sorted_already(rng):
    x, order = rng.standard_normal(50), rng.permutation(50)
    turned, again = sort_scalars(x).reordered(order), sort_scalars(x[order])
    np.testing.assert_array_equal(turned.rows, x[order])
    np.testing.assert_array_equal(turned.order, again.order)


@pytest.mark.parametrize("together", [1, 500, 2**14])
def test_orders_may_come_in_batches(together, rng, monkeypatch):
    monkeypatch.setattr(sorted_distances, "_TOGETHER", together)
    x, y = (side - side.mean() for side in rng.standard_normal((2, 100)))
    orders = np.stack([rng.permutation(100) for _ in range(11)])
    gaps = np.abs(np.subtract.outer(x, x))
    expected = [(gaps * np.abs(np.subtract.outer(y[order], y[order]))).sum() for order in orders]
    np.testing.assert_allclose(distance_products(sort_scalars(x), sort_scalars(y), orders), expected, rtol=1e-12)
