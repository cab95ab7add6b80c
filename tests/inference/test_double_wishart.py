import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import roots_jacobi

from renyi.inference.double_wishart import DoubleWishart, LargestRoot, log_beta, log_tail
from renyi.inference.roy import critical_root, log_sf


@pytest.mark.parametrize("n", [60, 1000, 10**6])
@pytest.mark.parametrize("b", [2, 3, 20, 50])
def test_table_of_two_roots_is_the_closed_form(b, n):
    table = LargestRoot(DoubleWishart(2, b, n))
    roots = np.array([critical_root(level, 2, b, n) for level in (0.999, 0.9, 0.5, 0.1, 1e-3, 1e-7, 1e-8, 1e-20)])
    assert table.log_sf(roots) == pytest.approx(log_sf(roots, 2, b, n), rel=0, abs=3e-10)


def test_zeros_of_the_polynomial():
    wishart = DoubleWishart(9, 14, 60)
    zeros = (1 + roots_jacobi(8, 2 * wishart.beta + 1, 2 * wishart.alpha + 1)[0][::-1]) / 2
    assert wishart.zeros == pytest.approx(zeros, rel=1e-14)


@pytest.mark.parametrize(("p", "q"), [(0.5, 1e3), (2.5, 1234.0), (40.5, 1e6), (3.0, 1e15), (2000.5, 5e8)])
def test_beta_functions_of_large_arguments_have_all_their_digits(p, q):
    with mp.workdps(50):
        expected = float(mp.log(mp.beta(p, q)))
    assert log_beta(p, q) == log_beta(q, p) == pytest.approx(expected, rel=1e-14, abs=2e-15)


@pytest.mark.parametrize(("a", "b", "n"), [(1, 1, 10), (2, 3, 20), (3, 8, 40)])
def test_the_density_of_a_largest_root_integrates_to_its_tail(a, b, n):
    wishart = DoubleWishart(a, b, n)

    def integrand(t):
        # The mean of Π(t − θ) over the other roots is the polynomial with the zeros of the null distribution.
        return np.exp(wishart.log_constant) * t**wishart.alpha * (1 - t) ** wishart.beta * np.prod(t - wishart.zeros)

    for root in (0.6, 0.9):
        assert np.exp(log_tail(np.array([root]), wishart)[0]) == pytest.approx(
            quad(integrand, root, 1, epsabs=0)[0], rel=1e-8
        )
