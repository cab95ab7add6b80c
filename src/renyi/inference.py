"""Canonical correlations, ranks and n to what may be said of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["debias", "largest_root_cdf", "null_median"]

Array: TypeAlias = NDArray[np.float64]

# Above this rank the double-Wishart law is given by its Tracy-Widom limit.
_LARGEST_EXACT_RANK = 40
_TRACY_WIDOM_MEDIAN = -1.2685
_NODES = 160


def debias(correlation: float, ranks: tuple[int, int], n_samples: int, /) -> float:
    """A largest canonical correlation, less what independent data would show; may be negative.

    With m the median of ρ₁² under independence, v = (ρ₁² − m)/(1 − m) takes the place of ρ₁² as the adjusted R² takes
    that of R², and sign(v)·√|v| is its correlation.
    """
    median = null_median(*ranks, n_samples)
    # With hardly more rows than ranks the median is close to 1, and the ratio could fall below any bound.
    excess = max(-1.0, (correlation**2 - median) / (1.0 - median))
    return float(np.copysign(np.sqrt(abs(excess)), excess))


@lru_cache(maxsize=4096)
def null_median(rank_x: int, rank_y: int, n_samples: int, /) -> float:
    """Median of the largest squared canonical correlation of independent data (Roy's largest root)."""
    a, b = sorted((rank_x, rank_y))
    if a + b >= n_samples:
        raise ValueError(f"ranks {a} and {b} leave no freedom in {n_samples} rows")
    start = _tracy_widom_median(a, b, n_samples)
    if a > _LARGEST_EXACT_RANK:
        return start

    def off_median(logit: float) -> float:
        return largest_root_cdf(1.0 / (1.0 + np.exp(-logit)), a, b, n_samples) - 0.5

    centre, reach = np.log(start / (1.0 - start)), 1.0
    while off_median(centre - reach) > 0.0 or off_median(centre + reach) < 0.0:
        reach *= 2.0
    logit = _root(off_median, centre - reach, centre + reach)
    return float(1.0 / (1.0 + np.exp(-logit)))


def largest_root_cdf(root: float, rank_x: int, rank_y: int, n_samples: int, /) -> float:
    """P(ρ₁² ≤ root) for independent data: the law of the largest root of a double Wishart matrix.

    The roots have the joint density Π θ^α (1−θ)^β Π|θ_i−θ_j|, and by de Bruijn's formula its integral over a cube is a
    Pfaffian of double integrals of any polynomials times the weight. Here θ = sin²φ, which makes the weight smooth, and
    the polynomials are orthonormal together with the weight, which keeps the Pfaffians well conditioned (section 3 of
    docs/design.md). Good for the body of the law: 1 − cdf has an absolute error of about 1e-10.
    """
    a, b = sorted((rank_x, rank_y))
    freedom = n_samples - a - b - 1
    top = _support_end(a, b, freedom)
    split = float(np.arcsin(np.sqrt(root)))
    if split >= top:
        return 1.0
    below, above = _Panel.between(0.0, split), _Panel.between(split, top)
    nodes = np.concatenate((below.nodes, above.nodes))
    weights = np.concatenate((below.weights, above.weights))
    functions = _orthonormal_functions(nodes, weights, n_functions=a, sine_power=b - a, cosine_power=freedom)
    lower, upper = functions[:_NODES], functions[_NODES:]
    partial, mass = below.sign_products(lower)
    rest, rest_mass = above.sign_products(upper)
    # Points of the lower panel lie below those of the upper one, so their sign products factor.
    full = partial + rest + np.outer(mass, rest_mass) - np.outer(rest_mass, mass)
    return min(1.0, float(np.exp(_log_pfaffian(partial, mass) - _log_pfaffian(full, mass + rest_mass))))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two points."""
    from scipy.optimize import brentq  # here, since it takes longer to import than all else that renyi needs

    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-12))


class _Panel:
    """Gauss-Legendre nodes on an interval, with the matrix that integrates from its start to each node."""

    def __init__(self, nodes: Array, weights: Array, cumulate: Array) -> None:
        self.nodes, self.weights, self.cumulate = nodes, weights, cumulate

    @classmethod
    def between(cls, start: float, stop: float) -> "_Panel":
        nodes, weights, cumulate = _unit_panel()
        length = stop - start
        return cls(start + length * nodes, length * weights, length * cumulate)

    def sign_products(self, functions: Array) -> tuple[Array, Array]:
        """∬ sign(ψ − φ) f_i(φ) f_j(ψ) dφ dψ and ∫ f_i over the panel."""
        weighted = self.weights[:, np.newaxis] * functions
        mass = weighted.sum(axis=0)
        products = weighted.T @ (mass - 2.0 * (self.cumulate @ functions))
        return (products - products.T) / 2.0, mass


@lru_cache(maxsize=1)
def _unit_panel() -> tuple[Array, Array, Array]:
    """Nodes and weights on [0, 1], and the matrix of integrals of the interpolating polynomials up to each node."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    values = np.polynomial.legendre.legvander(nodes, _NODES)
    degree = np.arange(1, _NODES)
    integrals = np.empty((_NODES, _NODES))
    integrals[:, 0] = nodes + 1.0
    # ∫ P_j from −1 to x is (P_{j+1}(x) − P_{j−1}(x))/(2j + 1).
    integrals[:, 1:] = (values[:, 2:] - values[:, :-2]) / (2 * degree + 1)
    expansion = (np.arange(_NODES) + 0.5) * values[:, :_NODES] * weights[:, np.newaxis]
    return (nodes + 1.0) / 2.0, weights / 2.0, integrals @ expansion.T / 2.0


def _orthonormal_functions(
    nodes: Array, weights: Array, *, n_functions: int, sine_power: int, cosine_power: int
) -> Array:
    """Polynomials in θ = sin²φ times sin^p φ cos^q φ, orthonormal in φ: one step of Lanczos after the other."""
    with np.errstate(divide="ignore"):
        log_weight = sine_power * np.log(np.sin(nodes)) + cosine_power * np.log(np.cos(nodes))
    theta = np.sin(nodes) ** 2
    root = np.sqrt(weights)
    basis = np.zeros((len(nodes), n_functions))
    vector = np.exp(log_weight - log_weight.max()) * root
    for j in range(n_functions):
        for _ in range(2):
            vector -= basis[:, :j] @ (basis[:, :j].T @ vector)
        basis[:, j] = vector / np.linalg.norm(vector)
        vector = theta * basis[:, j]
    return basis / root[:, np.newaxis]


def _log_pfaffian(products: Array, mass: Array) -> float:
    """Logarithm of the Pfaffian, bordered by the integrals where the order is odd."""
    order = len(mass)
    if order % 2:
        bordered = np.zeros((order + 1, order + 1))
        bordered[:order, :order] = products
        bordered[:order, order], bordered[order, :order] = mass, -mass
        products = bordered
    return float(np.linalg.slogdet(products)[1]) / 2.0


def _support_end(a: int, b: int, freedom: int) -> float:
    """The angle beyond which the density of every root is below e⁻⁴⁵ of its peak."""
    sines, cosines = a + b - 2, freedom

    def log_density(angle: float) -> float:
        return float(sines * np.log(np.sin(angle)) + cosines * np.log(np.cos(angle)))

    if cosines == 0:
        return np.pi / 2
    peak = np.arctan(np.sqrt(sines / cosines))
    height = log_density(peak) if sines else 0.0
    end = np.pi / 2 - 1e-9
    if log_density(end) > height - 45.0:
        return np.pi / 2
    return _root(lambda angle: log_density(angle) - height + 45.0, max(peak, 1e-12), end)


def _tracy_widom_median(a: int, b: int, n_samples: int) -> float:
    """Johnstone's approximation (2008) to the median of the largest root, on the logit scale."""
    freedom = n_samples - 2
    gamma = 2 * np.arcsin(np.sqrt((a - 0.5) / freedom))
    phi = 2 * np.arcsin(np.sqrt((b - 0.5) / freedom))
    # Where a + b = n − 1 the two angles make π and the law sits at 1; stay a little away from it.
    total = min(phi + gamma, np.pi - 0.1)
    centre = 2 * np.log(np.tan(total / 2))
    spread = (16 / freedom**2 / (np.sin(total) ** 2 * np.sin(phi) * np.sin(gamma))) ** (1 / 3)
    return float(1.0 / (1.0 + np.exp(-(centre + _TRACY_WIDOM_MEDIAN * spread))))
