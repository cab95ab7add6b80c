import numpy as np
import pytest
from scipy.special import roots_jacobi

from renyi.inference.double_wishart import DoubleWishart, LargestRoot
from renyi.inference.roy import critical_root, log_sf


@pytest.mark.parametrize("n", [60, 1000, 10**6])
@pytest.mark.parametrize("b", [2, 3, 20, 50])
def test_table_of_two_roots_is_the_closed_form(b, n):
    table = LargestRoot(DoubleWishart(2, b, n))
    roots = np.array([critical_root(level, 2, b, n) for level in (0.999, 0.9, 0.5, 0.1, 1e-3, 1e-7, 1e-8, 1e-20)])
    assert table.log_sf(roots) == pytest.approx(log_sf(roots, 2, b, n), rel=0, abs=3e-10)


def test_zeros_of_the_polynomial():
    law = DoubleWishart(9, 14, 60)
    zeros = (1 + roots_jacobi(8, 2 * law.beta + 1, 2 * law.alpha + 1)[0][::-1]) / 2
    assert law.zeros == pytest.approx(zeros, rel=1e-14)
