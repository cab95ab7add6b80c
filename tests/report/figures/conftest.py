import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")
