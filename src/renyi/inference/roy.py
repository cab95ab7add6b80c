"""The law of the largest canonical correlation of independent data: Roy's largest root."""

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.errors import InputError
from renyi.execution.roots import root_between

__all__ = ["largest_root_cdf", "null_median"]

Array: TypeAlias = NDArray[np.float64]

# The exact law serves up to the first rank, and close to saturation, where the Tracy-Widom limit fails, to the second.
_LARGEST_EXACT_RANK = 40
_LARGEST_SATURATED_RANK = 100
_SATURATION = 0.9
_TRACY_WIDOM_MEDIAN = -1.2685
_FEWEST_NODES = 160
# Where the density of every root is below e⁻⁴⁵ of its peak it is taken as 0.
_NEGLIGIBLE = -45.0


@lru_cache(maxsize=4096)
def null_median(rank_x: int, rank_y: int, n_samples: int, /) -> float:
    """Median of the largest squared canonical correlation of independent data (Roy's largest root)."""
    a, b = sorted((rank_x, rank_y))
    if a + b >= n_samples:
        raise ValueError(f"ranks {a} and {b} leave no freedom in {n_samples} rows")
    start = _tracy_widom_median(a, b, n_samples)
    is_saturated = a + b > _SATURATION * n_samples
    if a > _LARGEST_EXACT_RANK and not is_saturated:
        return start
    if a > _LARGEST_SATURATED_RANK:
        raise InputError(
            f"bases of ranks {rank_x} and {rank_y} on {n_samples:,} rows leave too little freedom to say what chance "
            "would show: pass more rows, or a smaller k"
        )

    def off_median(logit: float) -> float:
        return largest_root_cdf(1.0 / (1.0 + np.exp(-logit)), a, b, n_samples) - 0.5

    centre, reach = np.log(start / (1.0 - start)), 1.0
    while off_median(centre - reach) > 0.0 or off_median(centre + reach) < 0.0:
        reach *= 2.0
    logit = root_between(off_median, centre - reach, centre + reach)
    return float(1.0 / (1.0 + np.exp(-logit)))


def largest_root_cdf(root: float, rank_x: int, rank_y: int, n_samples: int, /) -> float:
    """P(ρ₁² ≤ root) for independent data: the law of the largest root of a double Wishart matrix.

    The roots have the joint density Π θ^α (1−θ)^β Π|θ_i−θ_j|, and by de Bruijn's formula its integral over a cube is a
    Pfaffian of double integrals of any polynomials times the weight. Here θ = sin²φ, which makes the weight smooth, and
    the polynomials are orthonormal together with the weight, which keeps the Pfaffians well conditioned (section 3 of
    docs/design.md). Good for the body of the law: the absolute error is about 1e-10, 1e-8 for n near 10⁸.
    """
    a, b = sorted((rank_x, rank_y))
    freedom = n_samples - a - b - 1
    bottom, top = _support(a, b, freedom)
    split = float(np.arcsin(np.sqrt(root)))
    if not bottom < split < top:
        return float(split >= top)
    n_nodes = max(_FEWEST_NODES, 4 * a)
    below, above = _Panel.between(bottom, split, n_nodes), _Panel.between(split, top, n_nodes)
    nodes = np.concatenate((below.nodes, above.nodes))
    weights = np.concatenate((below.weights, above.weights))
    functions = _orthonormal_functions(nodes, weights, n_functions=a, sine_power=b - a, cosine_power=freedom)
    lower, upper = functions[:n_nodes], functions[n_nodes:]
    partial, mass = below.sign_products(lower)
    rest, rest_mass = above.sign_products(upper)
    # Points of the lower panel lie below those of the upper one, so their sign products factor.
    full = partial + rest + np.outer(mass, rest_mass) - np.outer(rest_mass, mass)
    return min(1.0, float(np.exp(_log_pfaffian(partial, mass) - _log_pfaffian(full, mass + rest_mass))))


class _Panel:
    """Gauss-Legendre nodes on an interval, with the matrix that integrates from its start to each node."""

    def __init__(self, nodes: Array, weights: Array, cumulate: Array) -> None:
        self.nodes, self.weights, self.cumulate = nodes, weights, cumulate

    @classmethod
    def between(cls, start: float, stop: float, n_nodes: int) -> "_Panel":
        nodes, weights, cumulate = _unit_panel(n_nodes)
        length = stop - start
        return cls(start + length * nodes, length * weights, length * cumulate)

    def sign_products(self, functions: Array) -> tuple[Array, Array]:
        """∬ sign(ψ − φ) f_i(φ) f_j(ψ) dφ dψ and ∫ f_i over the panel."""
        weighted = self.weights[:, np.newaxis] * functions
        mass = weighted.sum(axis=0)
        products = weighted.T @ (mass - 2.0 * (self.cumulate @ functions))
        return (products - products.T) / 2.0, mass


@lru_cache(maxsize=4)
def _unit_panel(n_nodes: int) -> tuple[Array, Array, Array]:
    """Nodes and weights on [0, 1], and the matrix of integrals of the interpolating polynomials up to each node."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    values = np.polynomial.legendre.legvander(nodes, n_nodes)
    degree = np.arange(1, n_nodes)
    integrals = np.empty((n_nodes, n_nodes))
    integrals[:, 0] = nodes + 1.0
    # ∫ P_j from −1 to x is (P_{j+1}(x) − P_{j−1}(x))/(2j + 1).
    integrals[:, 1:] = (values[:, 2:] - values[:, :-2]) / (2 * degree + 1)
    expansion = (np.arange(n_nodes) + 0.5) * values[:, :n_nodes] * weights[:, np.newaxis]
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
    # Far below the law the integrals vanish, and so does the cdf.
    with np.errstate(divide="ignore"):
        return float(np.linalg.slogdet(products)[1]) / 2.0


def _support(a: int, b: int, freedom: int) -> tuple[float, float]:
    """The angles between which the roots lie.

    A polynomial of degree a − 1 grows at most like the power of sin²φ towards the top, of cos²φ towards the bottom.
    """
    bottom = _edge(b - a, freedom + 2 * (a - 1), towards=0.0) if b > a else 0.0
    top = _edge(b + a - 2, freedom, towards=np.pi / 2) if freedom > 0 else np.pi / 2
    return bottom, top


def _edge(sines: int, cosines: int, *, towards: float) -> float:
    """Where sin^s φ cos^c φ has become negligible beside its peak, on the way to an end of [0, π/2]."""

    def log_density(angle: float) -> float:
        return float(sines * np.log(np.sin(angle)) + cosines * np.log(np.cos(angle))) if angle > 0 else 0.0

    peak = float(np.arctan2(np.sqrt(sines), np.sqrt(cosines)))
    height = log_density(peak)
    end = abs(towards - 1e-12)
    if log_density(end) > height + _NEGLIGIBLE:
        return towards
    return root_between(lambda angle: log_density(angle) - height - _NEGLIGIBLE, *sorted((peak, end)))


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
