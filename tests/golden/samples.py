"""Data that coefficients are compared on with their originals: without and with ties, small and larger, and vectors.

`python tests/golden/samples.py DIRECTORY` writes every sample as a CSV file with full digits, for R to read.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def scalars() -> dict[str, Pair]:
    """Two dozen pairs of numbers, by name."""
    rng = np.random.default_rng(20131205)
    u, v, w = rng.random((3, 300))
    a, b = ndtri(u), ndtri(v)
    sign = np.where(w < 0.5, -1.0, 1.0)
    pairs = {
        "independent": (u, v),
        "independent 20": (u[:20], v[:20]),
        "independent 50": (u[50:100], v[50:100]),
        "normal 0.8": (a, 0.8 * a + 0.6 * b),
        "normal -0.4": (a, -0.4 * a + np.sqrt(0.84) * b),
        "normal 0.8, 30": (a[:30], 0.8 * a[:30] + 0.6 * b[:30]),
        "linear": (u, u + 0.3 * b),
        "quadratic": (u, 4 * (u - 0.5) ** 2 + 0.2 * b),
        "cubic": (u, 80 * (u - 1 / 3) ** 3 - 12 * (u - 1 / 3) + 2 * b),
        "sine": (u, np.sin(4 * np.pi * u) + 0.3 * b),
        "fast sine": (u, np.sin(16 * np.pi * u) + 0.1 * b),
        "fourth root": (u, u**0.25 + 0.1 * b),
        "circle": (u, sign * np.sqrt(1 - (2 * u - 1) ** 2) + 0.05 * b),
        "step": (u, (u > 0.5) + 0.5 * b),
        "two waves": (u, sign * np.sin(3 * np.pi * u)),
        "noiseless parabola": (u - 0.5, (u - 0.5) ** 2),
        "identity": (u, u),
        "decreasing": (u[:100], np.exp(-3 * u[:100])),
        "heavy tails": (a / np.abs(b), (a + 0.2 * b) / np.abs(w - 0.5)),
        "large numbers": (1e6 + u, 1e-6 * (v + u)),
        "rounded": (np.round(a), np.round(a + b)),
        "rounded x": (np.round(5 * u), u + 0.1 * b),
        "rounded y": (u, np.round(3 * u + b)),
        "two values": ((u > 0.7).astype(float), u + 0.5 * v),
        "many zeros": (np.maximum(0.0, u - 0.6), np.maximum(0.0, u + v - 1.2)),
        "6 rows": (u[:6], v[:6] + u[:6]),
    }
    return {name: (x.astype(np.float64), y.astype(np.float64)) for name, (x, y) in pairs.items()}


def vectors() -> dict[str, Pair]:
    """Pairs of which a side has several coordinates, by name."""
    rng = np.random.default_rng(20131206)
    x, y = ndtri(rng.random((2, 120, 3)))
    return {
        "independent vectors": (x, y),
        "one coordinate in common": (x, np.column_stack((x[:, 0], y[:, 1:]))),
        "noisy copy": (x, x + y),
        "product": (x[:, :2], (x[:, 0] * x[:, 1] + 0.1 * y[:, 0])[:, None]),
        "norm": (x, (np.linalg.norm(x, axis=1) + 0.1 * y[:, 0])[:, None]),
        "rounded vectors": (np.round(x), np.round(x + y)[:, :2]),
        "30 rows": (x[:30, :2], y[:30, :2] + x[:30, :2] ** 2),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for kind, pairs in (("scalar", scalars()), ("vector", vectors())):
        for name, (left, right) in pairs.items():
            sides = [side.reshape(len(side), -1) for side in (left, right)]
            header = ",".join(
                f"{letter}{j}" for letter, side in zip("xy", sides, strict=True) for j in range(side.shape[1])
            )
            path = folder / f"{kind} - {name}.csv"
            np.savetxt(path, np.hstack(sides), delimiter=",", header=header, comments="", fmt="%.17g")
