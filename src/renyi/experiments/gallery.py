"""The fourteen associations of the paper's gallery, and what coefficients say of them.

First row: normals. Second row: shapes in which a linear coefficient sees little, and four clusters without dependence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.coefficient import rdc
from renyi.copula import joint_ranks

__all__ = ["GALLERY", "Association", "Scored", "score_gallery"]

Array: TypeAlias = NDArray[np.float64]
Generator: TypeAlias = np.random.Generator
Sampler: TypeAlias = Callable[[int, Generator], tuple[Array, Array]]


@dataclass(frozen=True)
class Association:
    """A named law of pairs: `sample(n, rng)` gives n values of x and of y."""

    name: str
    sample: Sampler
    dependent: bool = True
    ends_row: bool = False


def _normal(correlation: float) -> Association:
    def sample(n: int, rng: Generator) -> tuple[Array, Array]:
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    return Association(
        f"normal, ρ = {correlation:g}".replace("-", "−"), sample, dependent=correlation != 0, ends_row=correlation == -1
    )


def _w(n: int, rng: Generator) -> tuple[Array, Array]:
    x = rng.uniform(-1, 1, n)
    return x, 4 * (x**2 - 0.5) ** 2 + rng.uniform(-1, 1, n) / 3


def _square(degrees: float) -> Sampler:
    def sample(n: int, rng: Generator) -> tuple[Array, Array]:
        x, y = rng.uniform(-1, 1, (2, n))
        cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        return cosine * x - sine * y, sine * x + cosine * y

    return sample


def _parabola(n: int, rng: Generator) -> tuple[Array, Array]:
    x = rng.uniform(-1, 1, n)
    return x, 2 * x**2 + rng.uniform(-1, 1, n)


def _two_parabolas(n: int, rng: Generator) -> tuple[Array, Array]:
    x = rng.uniform(-1, 1, n)
    return x, rng.choice([-1.0, 1.0], n) * (x**2 + rng.uniform(0, 0.5, n))


def _circle(n: int, rng: Generator) -> tuple[Array, Array]:
    angle = np.pi * rng.uniform(-1, 1, n)
    noise = rng.normal(0, 1 / 8, (2, n))
    return np.sin(angle) + noise[0], np.cos(angle) + noise[1]


def _clusters(n: int, rng: Generator) -> tuple[Array, Array]:
    centres = rng.choice([-1.0, 1.0], (2, n))
    x, y = centres + rng.normal(0, 1 / 3, (2, n))
    return x, y


GALLERY: tuple[Association, ...] = (
    *(_normal(correlation) for correlation in (1.0, 0.8, 0.4, 0.0, -0.4, -0.8, -1.0)),
    Association("W", _w),
    Association("square at 22.5°", _square(22.5)),
    Association("square at 45°", _square(45)),
    Association("parabola", _parabola),
    Association("two parabolas", _two_parabolas),
    Association("circle", _circle),
    Association("four clusters", _clusters, dependent=False, ends_row=True),
)


@dataclass(frozen=True, eq=False)
class Scored:
    """One association, sampled, with its coefficients."""

    name: str
    dependent: bool
    ends_row: bool
    x: Array
    y: Array
    pearson: float
    spearman: float
    rdc: float
    debiased: float


def score_gallery(n: int, *, seed: int) -> list[Scored]:
    """Sample every association and score it; each has its own stream, so that none depends on those before it."""
    scored = []
    for association, stream in zip(GALLERY, np.random.SeedSequence(seed).spawn(len(GALLERY)), strict=True):
        x, y = association.sample(n, np.random.default_rng(stream))
        u, v = joint_ranks(np.column_stack((x, y))).T
        scored.append(
            Scored(
                association.name,
                association.dependent,
                association.ends_row,
                x,
                y,
                pearson=float(np.corrcoef(x, y)[0, 1]),
                spearman=float(np.corrcoef(u, v)[0, 1]),
                rdc=rdc(x, y),
                debiased=rdc(x, y, debias=True),
            )
        )
    return scored
