"""Largest eigenvalues of many matrices, beside LAPACK's; those of torch are in `allpairs/device`."""

import numpy as np
import pytest

from renyi.compute.eigenvalues import (
    are_roots_below,
    largest_eigenvalue,
    largest_root,
    most_of_root,
    products_of_rows,
    roots_of_planes,
)


def positive(spectrum, rng, n=200):
    """Matrices with these eigenvalues, turned at random."""
    size = len(spectrum)
    turns = np.linalg.qr(rng.standard_normal((n, size, size)))[0]
    return np.einsum("nik,k,njk->nij", turns, np.asarray(spectrum, dtype=float), turns)


def of_planes(matrices):
    return largest_eigenvalue(np.ascontiguousarray(np.moveaxis(matrices, 0, -1)))


@pytest.mark.parametrize(
    "spectrum", [(3, 1), (5, 5, 1), (1, 1 - 1e-9, 0.5, 0), (7, 0, 0, 0, 0), tuple(range(1, 13)), (2,) * 6]
)
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e9])
def test_multiple_and_neighbouring_eigenvalues_of_any_size(spectrum, size, rng):
    found = of_planes(size * positive(spectrum, rng))
    # A multiple root is where the error is halved by every step only: a rest of the last one remains.
    assert found == pytest.approx(np.full(200, size * max(spectrum)), rel=1e-11)


def test_the_iteration_never_passes_the_root(rng):
    spectra = positive([4, 3.5, 1, 0.5, 0.1], rng)
    assert np.all(of_planes(spectra) >= 4 * (1 - 1e-13))


def test_matrices_of_zeros_have_the_root_0_beside_others(rng):
    matrices = positive([2, 1, 1], rng, n=9)
    matrices[::2] = 0.0
    assert of_planes(matrices) == pytest.approx([0, 2] * 4 + [0], abs=1e-12)


def test_further_axes_are_kept(rng):
    matrices = positive([3, 2, 1], rng, n=24).reshape(4, 6, 3, 3)
    assert largest_eigenvalue(np.moveaxis(matrices, (0, 1), (-2, -1)).copy()) == pytest.approx(np.full((4, 6), 3.0))


def test_products_of_rows_are_the_gram_matrices(rng):
    planes = rng.standard_normal((3, 5, 7, 2))
    expected = np.einsum("ikab,jkab->ijab", planes, planes)
    assert products_of_rows(planes) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("shape", [(3, 4, 4), (2, 6, 3), (5, 1, 7), (4, 2, 2), (2000, 4, 3), (130, 140)])
def test_the_largest_root_is_that_of_the_singular_values(shape, rng):
    matrices = rng.standard_normal(shape)
    expected = np.linalg.svd(matrices, compute_uv=False)[..., 0] ** 2
    assert largest_root(matrices) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [(300, 4, 4), (300, 8, 8), (300, 2, 6), (300, 5, 3), (0, 4, 4)])
def test_no_root_is_above_its_bound_which_is_close(shape, rng):
    matrices = rng.standard_normal(shape)
    roots, bounds = largest_root(matrices), most_of_root(matrices)
    assert np.all(bounds >= roots * (1 - 1e-12))
    assert np.all(bounds <= 2 * roots)


def test_the_bound_of_one_root_is_the_root(rng):
    x, y = rng.standard_normal((2, 50, 4))
    outer = x[:, :, np.newaxis] * y[:, np.newaxis]
    assert most_of_root(outer) == pytest.approx(largest_root(outer), rel=1e-6)


@pytest.mark.parametrize("shape", [(4, 4, 300), (8, 5, 300), (1, 3, 300), (3, 3, 0), (4, 4, 40_000)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_whether_roots_are_below_levels(shape, kind, rng):
    planes = rng.standard_normal(shape).astype(kind)
    roots = roots_of_planes(planes)
    shares = rng.choice([0.0, 0.5, 0.999, 1.001, 1.5], shape[2]).astype(kind)
    assert are_roots_below(planes, shares * roots).tolist() == (shares > 1.0).tolist()
