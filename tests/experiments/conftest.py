import numpy as np
import pytest


@pytest.fixture
def table(rng):
    x = rng.standard_normal((200, 6))
    return np.column_stack([x, 3 * x[:, 4] + 2 * x[:, 1] + x[:, 3] + 0.1 * rng.standard_normal(200)])
