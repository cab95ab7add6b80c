import numpy as np
import pytest

from renyi.smooth import MOST_FUNCTIONS, N_MOMENTS, central_products, functions, moments
from tables import number


def test_functions_are_those_of_the_definition():
    u = np.array([0.0, 0.2, 0.5, 1.0])
    found = functions(u)
    assert found.shape == (4, MOST_FUNCTIONS)
    for i, rank in enumerate(u):
        expected = [2 * rank - 1, (2 * rank - 1) ** 2, *(np.cos(k * np.pi * rank) for k in range(3, 21))]
        assert found[i] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("kind", "error"), [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_products_of_two_functions_come_from_means_of_moments(kind, error, rng):
    u = rng.random((3, 50))
    planes = moments(u, np.ones((3, 50), dtype=bool), dtype=kind)
    assert planes.shape == (N_MOMENTS, 3, 50)
    assert planes.dtype == kind
    gram = np.empty((MOST_FUNCTIONS, MOST_FUNCTIONS, 3))
    means = central_products(planes.mean(axis=2, dtype=np.float64), gram)
    for column in range(3):
        direct = functions(u[column])
        assert means[:, column] == pytest.approx(direct.mean(axis=0), abs=error)
        assert gram[:, :, column] == pytest.approx(np.cov(direct, rowvar=False, bias=True), abs=error)


def test_rows_that_are_not_observed_have_no_part(rng):
    u = rng.random((2, 60))
    observed = rng.random((2, 60)) < 0.6
    planes = moments(u, observed, dtype=np.float64).copy()  # the next call works in the same memory
    assert (planes[:, ~observed] == 0).all()
    for column in range(2):
        alone = moments(u[[column]][:, observed[column]], np.ones((1, observed[column].sum()), dtype=bool), dtype=float)
        assert planes[:, column].sum(axis=1) == pytest.approx(alone[:, 0].sum(axis=1), abs=1e-10)


def test_means_may_have_any_number_of_axes(rng):
    means = rng.random((N_MOMENTS, 2, 3))
    gram, alone = np.empty((MOST_FUNCTIONS, MOST_FUNCTIONS, 2, 3)), np.empty((MOST_FUNCTIONS, MOST_FUNCTIONS))
    of_functions = central_products(means, gram)
    assert of_functions.shape == (MOST_FUNCTIONS, 2, 3)
    assert of_functions[:, 1, 2] == pytest.approx(central_products(means[:, 1, 2], alone))
    assert gram[:, :, 1, 2] == pytest.approx(alone)


@pytest.mark.parametrize(
    ("values", "is_plain"),
    [
        (lambda rng: rng.standard_normal(500), True),
        (lambda rng: np.round(rng.standard_normal(500), 2), True),
        (lambda rng: rng.integers(0, 5, 500).astype(float), False),
        # All twenty functions, but those of the upper three quarters of the ranks are made of parts that cancel.
        (lambda rng: np.where(np.arange(500) < 125, 0.0, rng.random(500)), False),
    ],
)
def test_functions_made_of_parts_that_cancel_are_told(values, is_plain, rng):
    smooth = number(values(rng)).scales.smooth
    assert smooth.is_plain == is_plain
    # What float32 rounds in the products of functions is magnified by the weights.
    magnified = np.linalg.norm(smooth.weights, 2) ** 2 * np.finfo(np.float32).eps
    is_whole = smooth.weights.shape[1] == MOST_FUNCTIONS
    assert (is_whole and magnified < 1e-5) == is_plain
