"""Measures that take long, fail or refuse, in a module that other processes can load."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from renyi.coefficients.base import Measure, Statement
from renyi.errors import InputError


def statement(*, takes_vectors=False):
    return Statement(title="", takes_vectors=takes_vectors, cost="n", reference="")


@dataclass(frozen=True)
class Plain(Measure):
    """The squared correlation, or what is asked of it besides."""

    name = "plain"
    statement = statement()

    def prepare(self, values, /):
        return values

    def combine(self, x, y, /):
        return float(np.corrcoef(x, y)[0, 1] ** 2)

    def reordered(self, side, order, /):
        return side[order]


@dataclass(frozen=True)
class Sleepy(Plain):
    """Falls asleep at `n` rows, and says who it is."""

    name = "sleepy"
    n: int = 0
    diary: str = ""

    def combine(self, x, y, /):
        if len(x) >= self.n:
            Path(self.diary).write_text(str(os.getpid()))
            time.sleep(1000)
        return 0.5


@dataclass(frozen=True)
class Dying(Plain):
    """Ends its process, as the system does where memory runs out."""

    name = "dying"

    def combine(self, x, y, /):
        if len(x) > 200:
            os._exit(9)
        return 0.5


@dataclass(frozen=True)
class Broken(Plain):
    """Has a mistake in it."""

    name = "broken"

    def combine(self, x, y, /):
        return 1 / 0 if len(x) > 200 else 0.5


@dataclass(frozen=True)
class Hungry(Plain):
    name = "hungry"

    def bytes_needed(self, n, n_coordinates, /):
        return n**4


@dataclass(frozen=True)
class Failing(Plain):
    """Fails on values above a bound."""

    name = "failing"
    above: float = 0.0

    def combine(self, x, y, /):
        if y.max() > self.above:
            raise InputError("too large for me")
        return 0.5


@dataclass(frozen=True)
class Explained(Plain):
    """Share of the variance of y that a linear function of the vector x explains."""

    name = "explained"
    statement = statement(takes_vectors=True)

    def combine(self, x, y, /):
        design = np.column_stack([np.ones(len(y)), x])
        return float(1 - np.var(y - design @ np.linalg.lstsq(design, y)[0]) / np.var(y))
