import itertools

import numpy as np
import pytest

import reference
from renyi.coefficients import hsic
from renyi.coefficients.hsic import Hsic
from renyi.coefficients.kernels.null import Centred, largest_eigenvalues, log_pvalue, permutation_moments


@pytest.mark.parametrize("n", [5, 6])
def test_moments_over_all_orders(n):
    rng = np.random.default_rng(n)
    x, y = Hsic().prepare(rng.random(n)), Hsic().prepare(rng.standard_normal((n, 2)))
    sums = hsic._centred_sums(x, y, np.array(list(itertools.permutations(range(n)))))
    assert permutation_moments(x.centred, y.centred) == pytest.approx((sums.mean(), sums.var()), rel=1e-10)


def centred(matrix):
    """What the null distribution wants of a matrix."""
    values = reference.double_centred(matrix)
    return Centred(np.diag(values).copy(), float((values**2).sum()), largest_eigenvalues(values))


def test_the_pvalue_is_the_share_of_orders_with_as_large_a_sum(rng):
    x, y = rng.standard_normal((2, 60))
    y += 0.4 * x
    a, b = (reference.double_centred(reference.gaussian_kernel(side)) for side in (x, y))
    orders = [rng.permutation(60) for _ in range(4000)]
    sums = np.array([(a * b[np.ix_(order, order)]).sum() for order in orders])
    sides = (centred(reference.gaussian_kernel(side)) for side in (x, y))
    by_theory = np.exp(log_pvalue(float((a * b).sum()), *sides))
    assert 0.002 < by_theory < 0.2
    assert by_theory == pytest.approx(np.mean(sums >= (a * b).sum()), rel=0.25)


def test_every_order_of_rows_that_are_equally_far_apart_has_the_same_sum(rng):
    alike, other = np.eye(20), reference.gaussian_kernel(rng.standard_normal(20))
    total = float((reference.double_centred(alike) * reference.double_centred(other)).sum())
    assert log_pvalue(total, centred(alike), centred(other)) == 0.0


def test_no_theory_holds_where_single_rows_weigh_too_much(rng):
    usual = rng.standard_normal(60)
    rare = np.where(np.arange(60) < 1, 1.0, 0.0)
    sides = [centred(reference.gaussian_kernel(side, width=1.0)) for side in (usual, rare)]
    assert log_pvalue(1.0, sides[1], sides[1]) is None
    assert log_pvalue(1.0, sides[0], sides[0]) is not None


def test_eigenvalues_that_matter_are_few_and_positive(rng):
    spectrum = np.concatenate((np.linspace(1, 2, 70), np.full(30, 1e-9)))
    turn = np.linalg.qr(rng.standard_normal((100, 100)))[0]
    assert largest_eigenvalues(turn * spectrum @ turn.T) == pytest.approx(spectrum[10:70])
    assert len(largest_eigenvalues(np.diag([1.0, 1e-9, 0.5]))) == 2
