import numpy as np
import pytest

from renyi.compute.linalg import largest_square, svd


def test_svd_falls_back_when_lapack_gives_up(rng, monkeypatch):
    matrix = rng.standard_normal((6, 4))
    expected = svd(matrix)[1]

    def give_up(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", give_up)
    left, values, right = svd(matrix)
    assert values == pytest.approx(expected)
    assert left * values @ right == pytest.approx(matrix)


@pytest.mark.parametrize("shape", [(150, 200), (200, 150), (130, 130)])
def test_the_largest_singular_value_is_found_by_itself(rng, shape):
    matrix = rng.standard_normal(shape)
    assert largest_square(matrix) == pytest.approx(svd(matrix)[1][0] ** 2, rel=1e-10)
    assert largest_square(np.eye(*shape)) == pytest.approx(1.0)


def test_a_value_that_does_not_converge_is_found_among_all(rng, monkeypatch):
    from scipy.sparse import linalg

    def give_up(*_, **__):
        raise linalg.ArpackNoConvergence("no convergence", [], [])

    matrix = rng.standard_normal((130, 140))
    monkeypatch.setattr(linalg, "eigsh", give_up)
    assert largest_square(matrix) == pytest.approx(svd(matrix)[1][0] ** 2, rel=1e-10)
