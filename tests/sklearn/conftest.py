import numpy as np
import pytest


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (400, 6))
    return x, x[:, 1] ** 2 + 0.5 * x[:, 4] + 0.1 * rng.normal(size=400)
