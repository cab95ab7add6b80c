import numpy as np
import pytest

from renyi.basis.cosine import MOST_FUNCTIONS, functions, waves
from sample_tables import number


def test_functions_are_those_of_the_definition():
    u = np.array([0.0, 0.2, 0.5, 1.0])
    found = functions(u)
    assert found.shape == (4, MOST_FUNCTIONS)
    for i, rank in enumerate(u):
        expected = [2 * rank - 1, (2 * rank - 1) ** 2, *(np.cos(k * np.pi * rank) for k in range(3, 21))]
        assert found[i] == pytest.approx(expected, abs=1e-12)


def test_waves_are_cosines_where_something_is_observed(rng):
    u, observed = rng.random((2, 60)), rng.random((2, 60)) < 0.6
    found = np.empty((41, 2, 60))
    waves(u, observed, found)
    for k in range(41):
        assert found[k] == pytest.approx(np.where(observed, np.cos(k * np.pi * u), 0.0), abs=1e-11)


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
