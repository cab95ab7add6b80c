"""Which rows pictures are drawn of: a uniform sample, seeded, also of rows that come in batches or lie on a device.

Numbers are from all rows; a picture of 10,000 rows looks as one of a billion does.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.errors import check_integer

# Enough for pictures of 40 x 40 cells, boxes and smooth functions.
SAMPLE = 10_000
_SEED = 0
# Of so many priorities below a bound the expected number deviates by a standard deviation of less than its root.
_DEVIATIONS = 8.0
# Evenly spaced rows of a batch that tell it from others.
_TELLING = 32


def check_sample(sample: Any, /) -> int:
    """How many rows to keep, if that is a number of rows."""
    return check_integer(sample, "sample", 0)


def sampled_rows(n_rows: int, size: int, /) -> Index:
    """Rows that are drawn, in order: all of them where they are few, and the same at every call."""
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(_SEED).choice(n_rows, size, replace=False))


def drawn_rows(parts: Sequence[Any], n_rows: int, n_all: int, size: int, /) -> tuple[Index, Array]:
    """Rows of a batch that may be among the `size` ones of smallest priority of all, and their priorities.

    A priority is uniform, and follows from the content of the batch alone: whoever reads the batch, and however often,
    draws the same. Copies of a batch have the same rows drawn.
    """
    if not parts:
        return np.empty(0, dtype=np.intp), np.empty(0)
    digest = hashlib.blake2b(repr([_cells(part) for part in parts]).encode("utf-8", "backslashreplace"))
    seed = int.from_bytes(digest.digest()[:8], "little")
    size = min(size, n_all)  # which may be any whole number, also one that floats cannot hold
    priorities = np.random.default_rng([_SEED, seed]).random(n_rows)
    which = np.flatnonzero(priorities * n_all < size + _DEVIATIONS * np.sqrt(size) + _DEVIATIONS**2)
    return which, priorities[which]


def _cells(part: Any) -> list[Any]:
    """Some cells of a column of a batch, as Python has them."""
    cells = part.values if isinstance(part, Column) else part
    step = 1 + len(cells) // _TELLING
    if isinstance(cells, np.ndarray):
        return cells[::step].tolist()  # type: ignore[no-any-return]
    some = cells.gather_every(step)
    # Dates of years that Python does not have are numbers in lists of NumPy.
    try:
        return some.to_numpy().tolist() if some.dtype.is_temporal() else some.to_list()  # type: ignore[no-any-return]
    except (ValueError, OverflowError):  # times and lists of dates that Python does not have, which tell nothing then
        return []


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows that were drawn from some batches: their priorities, and of every column values and what is missing.

    Samples of different rows add up, in any order to the same.
    """

    priorities: Array
    values: Mapping[str, NDArray[Any]]
    missing: Mapping[str, Mask]

    def __add__(self, other: "RowSample") -> "RowSample":
        return RowSample(
            np.concatenate((self.priorities, other.priorities)),
            {name: np.concatenate((values, other.values[name])) for name, values in self.values.items()},
            {name: np.concatenate((gaps, other.missing[name])) for name, gaps in self.missing.items()},
        )

    def smallest(self, size: int, /) -> "RowSample":
        """The rows of smallest priority, in its order."""
        # Batches that nearly equal one another may share priorities: values decide then, and not who was merged first.
        ties = [part for name in sorted(self.values) for part in self.values[name].reshape(len(self.priorities), -1).T]
        first = np.lexsort((*ties, self.priorities))[:size]
        return RowSample(
            self.priorities[first],
            {name: values[first] for name, values in self.values.items()},
            {name: gaps[first] for name, gaps in self.missing.items()},
        )
