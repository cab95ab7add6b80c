import pytest


@pytest.fixture
def parabola(rng):
    x = rng.standard_normal(500)
    return x, x**2 + 0.3 * rng.standard_normal(500)
