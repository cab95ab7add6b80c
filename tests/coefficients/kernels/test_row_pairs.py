"""Sums over all pairs of rows, kept or a block at a time, beside those of whole matrices."""

import numpy as np
import pytest

import reference
from renyi.coefficients.kernels import row_pairs
from renyi.coefficients.kernels.row_pairs import (
    RowPairs,
    centred_sum,
    keep,
    margins,
    products,
    standardised,
    unbiased_sum,
)

# Several blocks of rows and of columns, the last of a single column.
N = 577


def distances(squared):
    return np.sqrt(squared, out=squared)


def kernels(squared):
    return np.exp(-squared, out=squared)


@pytest.fixture(params=["kept", "in blocks"])
def made(request, monkeypatch):
    """Pairs of rows whose entries are kept, or not."""
    monkeypatch.setattr(row_pairs, "MOST_KEPT", N if request.param == "kept" else N - 1)

    def made(points, entry):
        pairs = keep(RowPairs(points, entry))
        assert (pairs.kept is not None) == (request.param == "kept")
        return pairs

    return made


def whole(points, entry):
    return entry(((points[:, None] - points) ** 2).sum(axis=2))


@pytest.mark.parametrize("n_coordinates", [1, 2])
@pytest.mark.parametrize("entry", [distances, kernels])
def test_margins_are_those_of_the_matrix(made, n_coordinates, entry, rng):
    points = rng.standard_normal((N, n_coordinates))
    matrix = whole(points, entry)
    found, squares = margins(made(points, entry))
    assert squares == pytest.approx((matrix**2).sum(), rel=1e-12)
    assert found.total == pytest.approx(matrix.sum(), rel=1e-12)
    np.testing.assert_allclose(found.deviations, matrix.sum(axis=1) - matrix.sum() / N, atol=1e-8)
    np.testing.assert_allclose(found.centred_diagonal(), np.diag(reference.double_centred(matrix)), atol=1e-9)


def test_sums_of_products_are_those_of_centred_matrices(made, rng):
    x, y = rng.standard_normal((N, 1)), rng.standard_normal((N, 2))
    orders = np.stack([np.arange(N), rng.permutation(N)])
    a, b = made(x, distances), made(y, kernels)
    of_a, of_b = margins(a)[0], margins(b)[0]
    for order, product in zip(orders, products(a, b, orders), strict=True):
        turned = of_b.reordered(order)
        shared = of_a.deviations @ turned.deviations
        plain = centred_sum(product, of_a, turned, shared)
        matrices = whole(x, distances), whole(y[order], kernels)
        expected = (reference.double_centred(matrices[0]) * reference.double_centred(matrices[1])).sum()
        assert plain == pytest.approx(expected, rel=1e-8)
        expected = (reference.u_centred(matrices[0]) * reference.u_centred(matrices[1])).sum()
        assert unbiased_sum(plain, of_a, turned, shared) == pytest.approx(expected, rel=1e-7)
    assert products(a, b)[0] == pytest.approx((whole(x, distances) * whole(y, kernels)).sum(), rel=1e-12)


def test_reordered_rows_have_the_entries_of_these(made, rng):
    points, order = rng.standard_normal((N, 2)), rng.permutation(N)
    block = slice(3, 40), slice(500, 550)
    turned = made(points, kernels).reordered(order)
    np.testing.assert_array_equal(turned.block(*block), made(points[order], kernels).block(*block))


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1.0, 1.7e308])
def test_standardised_columns_are_in_range(size):
    values = size * np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    found = standardised(values)
    assert np.abs(found.points).max() == 1.0
    assert found.points.mean(axis=0) == pytest.approx(0.0, abs=1e-15)
    # In two steps, since the unit itself may be no float.
    half = found.exponent // 2
    deviation = np.ldexp(np.ldexp(found.size * found.points[1, 1], half), found.exponent - half)
    assert deviation == pytest.approx(-size / 3, abs=5e-324)


def test_about_the_median_numbers_near_it_keep_their_digits(rng):
    near = np.append(rng.standard_normal(100), 1e16)
    about_median = standardised(near, about_median=True)
    np.testing.assert_allclose(
        np.diff(about_median.points[:100, 0]) * np.ldexp(about_median.size, about_median.exponent),
        np.diff(near[:100]),
        rtol=1e-9,
    )
