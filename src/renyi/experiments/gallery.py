"""The fourteen associations of the paper's gallery, and what coefficients say of them.

First row: normals. Second row: shapes in which a linear coefficient sees little, and four clusters without dependence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from renyi.basis.ranks import joint_ranks
from renyi.compute.arrays import Array
from renyi.experiments.entries import Coefficient
from renyi.experiments.runs import Record, Run, Task
from renyi.experiments.summary import Summary, number
from renyi.pair.independence import independence_test
from renyi.pair.rdc import rdc

Generator: TypeAlias = np.random.Generator
Sampler: TypeAlias = Callable[[int, Generator], tuple[Array, Array]]

N_ROWS = 1000
# The level of the test that tells noise from what a strength is shown of.
_LEVEL = 0.01


@dataclass(frozen=True)
class Association:
    """A named distribution of pairs: `sample(n, rng)` gives n values of x and of y."""

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored(Association):
    """One association, sampled, with its coefficients."""

    x: Array
    y: Array
    pearson: float
    spearman: float
    rdc: float
    debiased: float
    pvalue: float

    @property
    def strength(self) -> str:
        """The debiased coefficient; where the test sees nothing there is none."""
        return f"{max(self.debiased, 0.0):.2f}" if self.is_found else "·"

    @property
    def is_found(self) -> bool:
        """Whether the test sees a dependence."""
        return self.pvalue <= _LEVEL


def gallery_samples(n: int, /, *, seed: int) -> list[tuple[Array, Array]]:
    """A sample of every association; each has its own stream, so that none depends on those before it."""
    streams = np.random.SeedSequence(seed).spawn(len(GALLERY))
    return [a.sample(n, np.random.default_rng(stream)) for a, stream in zip(GALLERY, streams, strict=True)]


def score_gallery(n: int, *, seed: int) -> list[Scored]:
    """Sample every association and score it by the coefficients that need no choice."""
    scored = []
    for association, (x, y) in zip(GALLERY, gallery_samples(n, seed=seed), strict=True):
        u, v = joint_ranks(np.column_stack((x, y))).T
        scored.append(
            Scored(
                **vars(association),
                x=x,
                y=y,
                pearson=float(np.corrcoef(x, y)[0, 1]),
                spearman=float(np.corrcoef(u, v)[0, 1]),
                rdc=rdc(x, y),
                debiased=rdc(x, y, debias=True),
                pvalue=independence_test(x, y).pvalue,
            )
        )
    return scored


# All measures side by side.


def measure_gallery(how: Run, entries: Sequence[Coefficient], /, *, n: int = N_ROWS) -> Record:
    """Run the experiment on the same data for all entries, or what an earlier run has left of it."""
    record = how.record("gallery", {"n": n}, named_by=("association", "measure"))
    tasks = [
        Task({"association": a.name, "measure": str(entry)}, partial(_value, entry, j, n, how.seed))
        for j, a in enumerate(GALLERY)
        for entry in entries
    ]
    return how.finish(record, tasks)


def _value(entry: Coefficient, which: int, n: int, seed: int) -> dict[str, Any]:
    return {"value": entry(*gallery_samples(n, seed=seed)[which])}


def summarise(record: Record, /) -> list[Summary]:
    """All coefficients, one table for each row of the picture."""
    measures = list(dict.fromkeys(measure for _, measure in record.rows))
    half = len(GALLERY) // 2
    return [
        Summary(
            f"{title}, {record.settings['n']:,} rows",
            ("measure", *(a.name.removeprefix("normal, ") for a in row)),
            [(m, *(number(record.rows.get((a.name, m), {}).get("value")) for a in row)) for m in measures],
        )
        for title, row in (("Normals", GALLERY[:half]), ("Shapes; the last is independent", GALLERY[half:]))
    ]
