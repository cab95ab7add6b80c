"""How constants are lowered for a while, so that small tables cross the sizes from which other ways are taken."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pytest


@dataclass(frozen=True)
class Threshold:
    """Constants, as module:name, with lower values; what they switch; a door and a table that cross them then.

    Where it `moves` numbers, as a coarser grid does, doors are compared with one another under it. `single` is for
    products in float32. One that hides what others switch is lowered `alone`. `caches` are functions that remember what
    they found with the constants as they are. `within` has other constants that lead to where it switches.
    """

    switches: str
    values: Mapping[str, Any]
    door: str
    table: str
    moves: bool = False
    single: bool = False
    alone: bool = False
    caches: tuple[str, ...] = ()
    seen_in: str = ""
    within: Mapping[str, Any] = field(default_factory=dict)

    @property
    def modules(self) -> list[str]:
        """Where one sees that another way was taken: where the constants are, or where it is said."""
        return [self.seen_in] if self.seen_in else sorted({where.split(":")[0] for where in self.values})

    def __str__(self) -> str:
        return self.switches


@contextmanager
def lowered(values: Mapping[str, Any], caches: tuple[str, ...] = ()) -> Iterator[None]:
    """Constants with other values meanwhile, and functions that remember nothing from before or from then."""
    remembering = [getattr(import_module(module), name) for module, name in (cache.split(":") for cache in caches)]
    with pytest.MonkeyPatch.context() as patch:
        for where, value in values.items():
            module, name = where.split(":")
            patch.setattr(import_module(module), name, value)
        for function in remembering:
            function.cache_clear()
        yield
    for function in remembering:
        function.cache_clear()


def as_if_large(n_rows: int, n_bytes: int) -> dict[str, Any]:
    """A table of so many rows, or a file of so many bytes, is then read in three batches, and not at once."""
    return {
        "renyi.data.files.budget:_COPIES": 2**40,
        "renyi.data.files.budget:_FEWEST_ROWS": 1,
        "renyi.data.files.budget:_MOST_ROWS": n_rows // 3 + 1,
        "renyi.data.files.budget:_LEAST_BLOCK": n_bytes // 3 + 1,
    }
