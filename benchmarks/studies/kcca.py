"""How the regularisation of kernel canonical correlation tells dependent from independent data.

    python benchmarks kcca [--draws 100]

Prints, by regularisation, the mean and the largest coefficient of independent samples of 500 rows, and the mean and the
smallest of dependent ones.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from renyi.coefficients.kcca import Kcca

N = 500
NOISE = 0.05
REGULARISATIONS = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def samples(rng: np.random.Generator) -> dict[str, Pair]:
    u, v = rng.random((2, N))
    a, b, *_ = noise = rng.standard_normal((6, N))
    return {
        "independent uniform": (u, v),
        "independent normal": (a, b),
        "independent Cauchy": (rng.standard_cauchy(N), rng.standard_cauchy(N)),
        "independent in 3 dimensions": (noise[:3].T, noise[3:].T),
        "linear": (u, u + NOISE * a),
        "parabola": (u, 4 * (u - 0.5) ** 2 + NOISE * a),
        "sine, one period": (u, np.sin(2 * np.pi * u) + NOISE * a),
        "sine, two periods": (u, np.sin(4 * np.pi * u) + NOISE * a),
        "circle": (np.cos(2 * np.pi * u) + NOISE * a, np.sin(2 * np.pi * u) + NOISE * b),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    n_draws = parser.parse_args().draws
    print("regularisation " + " ".join(f"{regularisation:^13}" for regularisation in REGULARISATIONS))
    for name in samples(np.random.default_rng(0)):
        values = np.array(
            [
                [Kcca(regularisation=e)(*samples(np.random.default_rng(seed))[name]) for e in REGULARISATIONS]
                for seed in range(n_draws)
            ]
        )
        extreme = values.max(axis=0) if name.startswith("independent") else values.min(axis=0)
        shown = (f"{mean:.3f} ({end:.3f})" for mean, end in zip(values.mean(axis=0), extreme, strict=True))
        print(f"{name:28} " + " ".join(shown), flush=True)


if __name__ == "__main__":
    main()
