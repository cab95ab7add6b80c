"""Many p-values to a rate of errors."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from renyi.data.labels import is_missing
from renyi.data.reader import without_masked
from renyi.errors import InputError, check_choice, is_number, must_be

Correction = Literal["bh", "by", "holm", "bonferroni"]

# The false discovery rate at which a pair counts as found, unless another one is asked for.
FDR = 0.05


def check_rate(fdr: Any, /) -> float:
    """A false discovery rate, if it is one."""
    if not is_number(fdr) or not 0.0 < fdr <= 1.0:
        raise must_be("fdr", "a number above 0, at most 1", fdr)
    return float(fdr)


def adjust(pvalues: Any, method: Correction = "bh") -> NDArray[np.float64]:
    """P-values adjusted for the number of tests: by default q-values, which control the false discovery rate.

    Rejecting where the adjusted value is at most q controls the false discovery rate ("bh", "by") or the probability
    of any false rejection ("holm", "bonferroni") at q.

    Parameters
    ----------
    pvalues : array-like
        P-values in [0, 1], of any shape. NaN marks a test that was not made: it stays NaN and does not count.
    method : {"bh", "by", "holm", "bonferroni"}, default "bh"
        "bh" is Benjamini and Hochberg's, for tests that are independent or positively dependent; "by" is Benjamini and
        Yekutieli's, for any; "holm" is never less powerful than "bonferroni".

    Returns
    -------
    ndarray
        Adjusted p-values, of the shape of `pvalues`.

    Raises
    ------
    InputError
        For values outside [0, 1] or an unknown method.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995,
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    .. [2] S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6, 1979

    Examples
    --------
    >>> import renyi
    >>> renyi.adjust([0.01, 0.02, 0.5, float("nan")]).round(3)
    array([0.03, 0.03, 0.5 ,  nan])
    """
    check_choice(method, Correction, "method")
    adjusted = _numbers(pvalues)
    made = ~np.isnan(adjusted)
    tests = adjusted[made]
    outside = (tests < 0.0) | (tests > 1.0)
    if outside.any():
        raise InputError(f"{tests[outside][0]} is not a p-value: pass numbers in [0, 1] or NaN")
    if len(tests):
        adjusted[made] = _adjusted(tests, method)
    return adjusted


def _numbers(pvalues: Any) -> NDArray[np.float64]:
    """A copy as floats; masked entries become NaN."""
    try:
        numbers = np.asarray(pvalues.data if np.ma.isMaskedArray(pvalues) else without_masked(pvalues))
        cells: list[Any] = [numbers]
        if numbers.dtype == object:
            cells = [np.nan if is_missing(cell) else cell for cell in numbers.flat]
            numbers = np.array(cells, dtype=object).reshape(numbers.shape)
        # Text, booleans, durations and complex numbers would pass for p-values if they were converted.
        if pvalues is None or not {np.asarray(cell).dtype.kind for cell in cells} <= set("fiuO"):
            raise TypeError(f"an array of {numbers.dtype.name}")
        with np.errstate(over="ignore"):
            copy = numbers.astype(np.float64)
    except Exception as error:  # of whatever library has them
        raise InputError(f"pvalues are no array of numbers ({error}): pass numbers in [0, 1] or NaN") from None
    copy[np.ma.getmaskarray(pvalues) if np.ma.isMaskedArray(pvalues) else np.zeros(copy.shape, dtype=bool)] = np.nan
    return copy


def _adjusted(tests: NDArray[np.float64], method: Correction) -> NDArray[np.float64]:
    """Plain NumPy: SciPy has Benjamini and Hochberg's rate in a module that takes half a second to import."""
    n = len(tests)
    if method == "bonferroni":
        return np.minimum(tests * n, 1.0)
    order = np.argsort(tests, kind="stable")
    ranks = np.arange(1, n + 1)
    if method == "holm":
        # The i-th smallest counts the tests from it on, and never falls below a smaller one.
        ordered = np.maximum.accumulate(tests[order] * (n + 1 - ranks))
    else:
        # The i-th smallest counts for i of all tests, and a larger one never has a smaller rate.
        factor = float(np.sum(1.0 / ranks)) if method == "by" else 1.0
        ordered = np.minimum.accumulate((tests[order] * (factor * n / ranks))[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(ordered, 1.0)
    return adjusted
