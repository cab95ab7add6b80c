"""Power that no test of independence can exceed on the patterns of the power study.

The likelihood ratio of the true pattern against independence with the same distribution of y, both known exactly with
their noise: by Neyman and Pearson no test at 5 % rejects more often. It knows what a test of independence has to find
out, so that none can be expected to reach it. Everything is seeded: pairs and redrawn x are those of `peer_power`.
`python benchmarks power_limit` takes some minutes on one core and writes results/power_limit.json.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from harness import record
from peer_power import LEVELS, N_NULL, N_REPETITIONS, N, redrawn, samples
from renyi.experiments.patterns import N_LEVELS, PATTERNS, Pattern

Array: TypeAlias = NDArray[np.float64]

N_GRID = 4000


def spread(pattern: Pattern, level: int) -> float:
    """The standard deviation of what is added to the curve."""
    return pattern.noise * 3.0 * level / N_LEVELS


def log_density_given(pattern: Pattern, level: int, x: Array, y: Array) -> Array:
    """Log density of y given x, up to a constant: either sign of the curve is as likely."""
    sigma = spread(pattern, level)
    branches = [-0.5 * ((y - pattern.curve(x, np.full_like(x, sign))) / sigma) ** 2 for sign in (-1.0, 1.0)]
    return np.asarray(np.logaddexp(*branches) - np.log(2.0))


def log_density(pattern: Pattern, level: int, y: Array) -> Array:
    """Log density of y over all x, up to the same constant, from a grid of x and of y."""
    x = (np.arange(N_GRID) + 0.5) / N_GRID
    grid = np.linspace(y.min(), y.max(), 2000)
    on_grid = [logsumexp(log_density_given(pattern, level, x, np.full(N_GRID, value))) for value in grid]
    return np.asarray(np.interp(y, grid, np.array(on_grid) - np.log(N_GRID)))


def log_ratios(pattern: Pattern, level: int, x: Array, y: Array) -> Array:
    """Log likelihood ratio of every sample, a row each."""
    return np.asarray(np.sum(log_density_given(pattern, level, x, y) - log_density(pattern, level, y), axis=1))


def limit(pattern: Pattern, level: int) -> float:
    """Share of dependent samples above the 95th percentile of independent ones."""
    x, y = samples(pattern, level, N, N_NULL)
    null = log_ratios(pattern, level, redrawn(pattern, level, N, N_NULL), y)
    found = log_ratios(pattern, level, x[:N_REPETITIONS], y[:N_REPETITIONS])
    return float(np.mean(found > np.quantile(null, 0.95)))


def pattern_limits(pattern: Pattern) -> dict[str, Any]:
    powers = [limit(pattern, level) for level in LEVELS]
    print(pattern.name, np.mean(powers), flush=True)
    return {"pattern": pattern.name, "n": N, "repetitions": N_REPETITIONS, "null": N_NULL, "powers": powers}


if __name__ == "__main__":
    record("power_limit", {"patterns": [pattern_limits(pattern) for pattern in PATTERNS]}, "numpy", "scipy")
