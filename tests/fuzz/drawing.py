"""Chance, as the makers of calls use it, and what a call is."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

# Few rows, since most mistakes need few; at 50 rows series begin.
_ROWS = (0, 1, 2, 3, 5, 8, 12, 20, 20, 30, 30, 40, 55, 60)


@dataclass
class Call:
    """A call that can be made: what is said of it, what it does, and the arguments that it must leave as they are.

    One that is `settled` gives the same when it is made again.
    """

    words: str
    run: Callable[[], Any]
    inputs: tuple[Any, ...] = ()
    settled: bool = True


@dataclass
class Draw:
    """A source of chance for one call, and a folder for its files."""

    rng: np.random.Generator
    folder: Path
    words: list[str] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one(self, of: Sequence[Any]) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def some(self, of: Sequence[Any], most: int) -> list[Any]:
        """A few of them, each once."""
        n = int(self.rng.integers(min(most, len(of)) + 1))
        return [of[k] for k in self.rng.permutation(len(of))[:n].tolist()]

    def rows(self, least: int = 0) -> int:
        return self.one([n for n in _ROWS if n >= least])

    def file(self, suffix: str) -> Path:
        return self.folder / f"table {len(list(self.folder.iterdir()))}{suffix}"


def quietly(make: Callable[[Any], Any], data: Any, otherwise: Callable[[Any], Any]) -> Any:
    """What is made of the data, or where a library cannot, something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(data)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # Polars panics with exceptions of its own root
            return otherwise(data)


# Makers of calls by the public name that they are about, with how often they are drawn.
MAKERS: dict[str, list[tuple[Callable[[Draw], Call], float]]] = {}


def about(*names: str, weight: float = 1.0) -> Callable[[Callable[[Draw], Call]], Callable[[Draw], Call]]:
    """Make calls of these public names; those of `renyi.sklearn` and of the command begin with these words."""

    def register(maker: Callable[[Draw], Call]) -> Callable[[Draw], Call]:
        for name in names:
            MAKERS.setdefault(name, []).append((maker, weight / len(names)))
        return maker

    return register
