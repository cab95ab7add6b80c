import numpy as np
import pytest

from renyi.compute.linalg import svd


def test_svd_falls_back_when_lapack_gives_up(rng, monkeypatch):
    matrix = rng.standard_normal((6, 4))
    expected = svd(matrix)[1]

    def give_up(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", give_up)
    left, values, right = svd(matrix)
    assert values == pytest.approx(expected)
    assert left * values @ right == pytest.approx(matrix)
