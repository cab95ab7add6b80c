import matplotlib
import numpy as np
import pytest

matplotlib.use("agg")


@pytest.fixture
def rng():
    return np.random.default_rng(20131205)
