"""The association patterns of the paper's power experiment, and those of the scripts around it.

x is uniform on [0, 1]; noise level l of 30 adds e = 3·(l/30)·N(0, 1), scaled for each pattern.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from renyi.compute.arrays import Array

N_LEVELS = 30


@dataclass(frozen=True)
class Pattern:
    """y = curve(x, sign) + noise·e, where sign is a fair coin for every row."""

    name: str
    curve: Callable[[Array, Array], Array]
    noise: float

    def sample(self, n: int, level: float, rng: np.random.Generator, /) -> tuple[Array, Array]:
        """N values of x and of y at a noise level from 0 (none) to 30."""
        x = rng.random(n)
        sign = rng.choice([-1.0, 1.0], n)
        e = 3.0 * level / N_LEVELS * rng.standard_normal(n)
        return x, self.curve(x, sign) + self.noise * e


def _bell(x: Array, _: Array) -> Array:
    return np.asarray(np.exp(-((x - 0.5) ** 2) / (2 * 0.1**2)) / (0.1 * np.sqrt(2 * np.pi)))


PATTERNS: tuple[Pattern, ...] = (
    Pattern("linear", lambda x, _: x, 1.0),
    Pattern("quadratic", lambda x, _: 4 * (x - 0.5) ** 2, 1.0),
    Pattern("cubic", lambda x, _: 80 * (x - 1 / 3) ** 3 - 12 * (x - 1 / 3), 10.0),
    Pattern("cosine", lambda x, _: np.cos(3 * np.pi * x), 3.0),
    Pattern("circle", lambda x, sign: sign * np.sqrt(1 - (2 * x - 1) ** 2), 1 / 4),
    Pattern("step", lambda x, _: (x > 0.5).astype(np.float64), 5.0),
    Pattern("bell", _bell, 4.0),
    Pattern("two waves", lambda x, sign: sign * np.sin(3 * np.pi * x), 1 / 3),
)

EXTRA_PATTERNS: tuple[Pattern, ...] = (
    Pattern("sine", lambda x, _: np.sin(3 * np.pi * x), 3.0),
    Pattern("fourth root", lambda x, _: x**0.25, 1.0),
    Pattern("logarithm", lambda x, _: np.log(x), 4.0),
    Pattern("sine, period 1/2", lambda x, _: np.sin(4 * np.pi * x), 2.0),
    Pattern("sine, period 1/8", lambda x, _: np.sin(16 * np.pi * x), 1.0),
    Pattern(
        "cubic, with a square", lambda x, _: 128 * (x - 1 / 3) ** 3 - 48 * (x - 1 / 3) ** 2 - 12 * (x - 1 / 3), 10.0
    ),
)
