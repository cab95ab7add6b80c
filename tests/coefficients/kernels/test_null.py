import itertools

import numpy as np
import pytest

from renyi.coefficients import hsic
from renyi.coefficients.hsic import Hsic
from renyi.coefficients.kernels.null import permutation_moments


@pytest.mark.parametrize("n", [5, 6])
def test_moments_over_all_orders(n):
    rng = np.random.default_rng(n)
    x, y = Hsic().prepare(rng.random(n)), Hsic().prepare(rng.standard_normal((n, 2)))
    sums = hsic._centred_sums(x, y, np.array(list(itertools.permutations(range(n)))))
    assert permutation_moments(x.centred, y.centred) == pytest.approx((sums.mean(), sums.var()), rel=1e-10)
