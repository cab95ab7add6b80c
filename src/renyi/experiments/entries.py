"""Who takes part in the experiments: the measures of the registry, and the test of independence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from renyi.coefficients.base import Measure
from renyi.coefficients.registry import measure, measures
from renyi.compute.arrays import Array
from renyi.errors import InputError
from renyi.pair.independence import independence_test

AUTO = "auto"


class Evidence(NamedTuple):
    """What grows with dependence, and p-values where the entry has its own."""

    strengths: Array
    pvalues: Array | None = None


class Entry(Protocol):
    """Something that is compared; `str` is its label in results."""

    def evidence(self, xs: Sequence[Array], y: Array, /) -> Evidence:
        """For y against each of several x."""

    def __call__(self, x: Array, y: Array, /) -> float:
        """One pair, as a user would call it."""


@dataclass(frozen=True)
class Coefficient:
    """A measure of dependence."""

    measure: Measure[Any]

    def __str__(self) -> str:
        return str(self.measure)

    def evidence(self, xs: Sequence[Array], y: Array, /) -> Evidence:
        """Sizes of the coefficient; y is prepared once."""
        side = self.measure.prepare(y)
        values = [self.measure.combine(self.measure.prepare(x), side) for x in xs]
        return Evidence(np.asarray(self.measure.strength(np.array(values))))

    def __call__(self, x: Array, y: Array, /) -> float:
        """The coefficient, all checks of data and memory made."""
        return self.measure(x, y)


@dataclass(frozen=True)
class MultiScale:
    """`renyi.independence_test` as it is by default: its statistic, and its p-values beside."""

    def __str__(self) -> str:
        return AUTO

    def evidence(self, xs: Sequence[Array], y: Array, /) -> Evidence:
        """Statistics and p-values."""
        found = [independence_test(x, y) for x in xs]
        return Evidence(np.array([test.statistic for test in found]), np.array([test.pvalue for test in found]))

    def __call__(self, x: Array, y: Array, /) -> float:
        """The p-value."""
        return independence_test(x, y).pvalue


def chosen(names: Sequence[str] | None, /) -> list[Entry]:
    """Entries by their names, the test of independence among them; None is all."""
    wanted = names_of(names, [*measures(), AUTO])
    return [MultiScale() if name == AUTO else Coefficient(measure(name)) for name in wanted]


def names_of(names: Sequence[str] | None, known: Sequence[str], /) -> list[str]:
    """Names that were asked for, each once; None is all that are known."""
    if names is not None and not names:
        raise InputError(f"measures names none: choose from {', '.join(known)}, or leave it out for all")
    for name in names or ():
        if name not in known:
            raise InputError(f"measures={name}: there is no such measure here: choose from {', '.join(known)}")
    return list(dict.fromkeys(names or known))
