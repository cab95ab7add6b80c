import numpy as np
import pytest
from scipy.spatial.distance import pdist

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
