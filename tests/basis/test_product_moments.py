import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from renyi.basis.basis import scalar_basis
from renyi.basis.cosine import functions
from renyi.basis.product_moments import moments_of, recipes_of, recipes_of_smooth
from renyi.data.reader import as_column
from renyi.pair.settings import Settings
from sample_tables import SEED


def projection_of(n, **settings):
    settings = {"k": None, "s": 3.0, "frequencies": "auto", **settings}
    return Settings(**settings).projection(as_column(np.arange(n), "x"), SEED)


def with_products(values):
    i, j = np.tril_indices(values.shape[1])
    return np.hstack((values, values[:, i] * values[:, j]))


@pytest.mark.parametrize(("kind", "error"), [(np.float64, 1e-9), (np.float32, 1e-6)])
def test_means_of_functions_and_products_come_from_means_of_moments(kind, error, rng):
    n = 2000
    projection = projection_of(n)
    moments, basis = moments_of(projection), scalar_basis(np.arange(n), projection)
    ranks = np.sort(rng.choice(n, 900, replace=False))
    u = (ranks + 0.5) / n
    planes = moments.planes(u[np.newaxis], np.ones((1, len(u)), dtype=bool), dtype=kind)
    assert planes.shape == (moments.n_moments, 1, 900)
    assert planes.dtype == kind
    means = np.append(1.0, planes.mean(axis=(1, 2), dtype=np.float64))
    of_smooth = recipes_of_smooth(moments) @ means
    of_basis = recipes_of(basis.feature_map, n, moments) @ means
    assert of_smooth == pytest.approx(with_products(functions(u)).mean(axis=0), abs=error)
    assert of_basis == pytest.approx(with_products(basis.rows(0, n)[ranks]).mean(axis=0), abs=error)


def test_rows_that_are_not_observed_have_no_part(rng):
    u, observed = rng.random((2, 60)), rng.random((2, 60)) < 0.6
    moments = moments_of(projection_of(500))
    planes = moments.planes(u, observed, dtype=np.float64).copy()  # the next call works in the same memory
    assert (planes[:, ~observed] == 0).all()
    for column in range(2):
        own = u[[column]][:, observed[column]]
        alone = moments.planes(own, np.ones(own.shape, dtype=bool), dtype=np.float64)
        assert planes[:, column].sum(axis=1) == pytest.approx(alone[:, 0].sum(axis=1), abs=1e-6)


def test_few_ends_serve_the_default_draw_and_rough_features_are_left_to_others():
    assert moments_of(projection_of(500)).n_moments <= 52
    assert moments_of(projection_of(500, k=20, s=60.0)) is None


def test_functions_of_another_draw_are_not_forced_into_moments_that_do_not_serve_them():
    n = 500
    rough = projection_of(n, s=25.0)
    basis = scalar_basis(np.arange(n), rough)
    assert recipes_of(basis.feature_map, n, moments_of(projection_of(n))) is None


def test_cores_of_the_libraries_change_no_bit():
    projection = projection_of(2000)

    def made(cores):
        with threadpool_limits(cores):
            moments = moments_of.__wrapped__(projection)
            return moments.ends, moments.inverse, recipes_of_smooth.__wrapped__(moments)

    for one, other in zip(made(1), made(2), strict=True):
        np.testing.assert_array_equal(one, other)
