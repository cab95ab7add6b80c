"""Matrix factorisations that do not give up."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["svd"]

Array: TypeAlias = NDArray[np.float64]


def svd(matrix: Array, /) -> tuple[Array, Array, Array]:
    """Singular value decomposition with as many columns as singular values.

    LAPACK's divide-and-conquer routine fails to converge on rare matrices of low rank; the older one takes those.
    """
    try:
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd as scipy_svd

        left, values, right = scipy_svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return left, values, right
