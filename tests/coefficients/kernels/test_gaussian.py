import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from renyi.coefficients.kernels import gaussian


@pytest.mark.parametrize("n", [2, 3, 4, 7, 100, 1_001])
def test_width_is_the_median_distance(n):
    rng = np.random.default_rng(n)
    for draw in (rng.random(n), np.round(rng.standard_normal(n), 1), rng.poisson(0.3, n), np.arange(n)):
        values = np.append(draw[:-1], draw.max() + 1.0)[:, None]
        distances = pdist(values)
        positive = distances[distances > 0]
        expected = np.median(positive if 2 * len(positive) <= len(distances) else distances)
        assert gaussian.median_distance(values) == pytest.approx(expected, rel=1e-14)


def test_width_of_many_rows_does_not_depend_on_their_order():
    rng = np.random.default_rng(5)
    for points in (rng.standard_normal((30_000, 1)), rng.standard_normal((3_000, 2))):
        width = gaussian.median_distance(points)
        assert gaussian.median_distance(points[rng.permutation(len(points))]) == width
        assert width == pytest.approx(np.median(pdist(points[:3_000])), rel=0.03)


def test_entries_are_made_in_place_and_keep_their_digits_near_1():
    squared = np.array([0.0, 1e-12, 2.0])
    kernel = gaussian.gaussian(squared)
    assert kernel is squared
    assert kernel[2] == pytest.approx(np.exp(-1.0), rel=1e-15)
    assert gaussian.gaussian_less_1(np.array([1e-12]))[0] == pytest.approx(-5e-13, rel=1e-12, abs=0)


@pytest.mark.parametrize("n_coordinates", [1, 3])
def test_rows_far_apart_are_drawn_together_without_a_change_of_the_kernel(n_coordinates, rng):
    near = rng.standard_normal((60, n_coordinates))
    points = near + rng.choice([-1e300, 0.0, 1e6, 1e250], (60, 1))
    drawn = gaussian.drawn_together(points, 0.5)
    with np.errstate(over="ignore"):
        apart = np.abs(points[:, None] - points) / 0.5
        expected = np.exp(-0.5 * (np.minimum(apart, 1e100) ** 2).sum(axis=2))
    assert np.abs(drawn).max() <= 60 * 40
    np.testing.assert_allclose(np.exp(-0.5 * cdist(drawn, drawn, "sqeuclidean")), expected, atol=1e-15, rtol=1e-9)
    assert np.array_equal(gaussian.drawn_together(near, 0.5), near / 0.5)


@pytest.mark.parametrize(("n_coordinates", "spread"), [(1, 1.0), (1, 5.0), (2, 0.3)])
def test_a_short_factor_is_the_kernel_to_its_last_digits(n_coordinates, spread, rng):
    points = spread * rng.standard_normal((300, n_coordinates))
    factor = gaussian.short_factor(points, 250)
    np.testing.assert_allclose(factor @ factor.T, np.exp(-0.5 * cdist(points, points, "sqeuclidean")), atol=1e-11)
    assert factor.shape[1] < 200


def test_a_kernel_without_a_short_factor_has_none(rng):
    assert gaussian.short_factor(rng.standard_normal((300, 1)), 5) is None
    # Rows of many coordinates are all far from one another, which shows long before the end.
    assert gaussian.short_factor(rng.standard_normal((300, 40)), 200) is None
