import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from renyi.compute.splines import spline


@pytest.mark.parametrize("n", [4, 5, 40, 2048])
def test_coefficients_are_those_of_scipy(n, rng):
    knots = np.linspace(0.0, 3.0, n)
    values = rng.standard_normal(n)
    expected = CubicSpline(knots, values).c.T
    assert spline(values, (n - 1) / 3.0) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
