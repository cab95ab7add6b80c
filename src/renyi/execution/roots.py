"""Where a function crosses zero."""

from collections.abc import Callable

__all__ = ["root_between"]


def root_between(function: Callable[[float], float], low: float, high: float, /) -> float:
    """Where a function changes its sign between two points."""
    from scipy.optimize import brentq  # here, since it takes longer to import than all else that renyi needs

    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-12))
