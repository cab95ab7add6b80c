"""Numbers that stand for "missing", such as -999: found where they repeat and lie far from all others, and only told.

They are not taken out. A number is what the user gave, a pair would count it, and the largest of them may be a cap.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from renyi.data.column import Column
from renyi.data.notes import Notes

# Nines in place of a number, and how often one has to come: once or twice may be a slip.
_KNOWN = frozenset(sign * (10**n - 1) for n in range(2, 10) for sign in (1, -1))
_FEWEST = 3


@dataclass(eq=False)
class Extremes:
    """Values at the ends of a column that may stand for "missing", with their rows, and the range of all others."""

    times: dict[float, int] = field(default_factory=dict)
    lowest: float = np.inf
    highest: float = -np.inf

    def update(self, values: NDArray[Any], rows: NDArray[np.intp] | None = None, /) -> None:
        """Look at some more numbers, each of one row or of as many as are given."""
        rows = np.broadcast_to(np.intp(1), len(values)) if rows is None else rows
        for pick in (np.min, np.max):
            while len(values) and float(end := pick(values)) in _KNOWN:
                is_end = values == end
                self.times[float(end)] = self.times.get(float(end), 0) + int(rows[is_end].sum())
                values, rows = values[~is_end], rows[~is_end]
        if len(values):
            self.lowest = min(self.lowest, float(np.min(values)))
            self.highest = max(self.highest, float(np.max(values)))

    def copy(self) -> "Extremes":
        """One that has seen the same; neither changes the other."""
        return replace(self, times=dict(self.times))

    def merge(self, other: "Extremes", /) -> None:
        """Add what other rows hold."""
        for value, n in other.times.items():
            self.times[value] = self.times.get(value, 0) + n
        self.lowest, self.highest = min(self.lowest, other.lowest), max(self.highest, other.highest)

    def tell(self, name: str, notes: Notes, /) -> None:
        """Say what may stand for "missing": what is further from all others than these are from one another."""
        lowest, highest = self.lowest, self.highest
        # Two of them, such as -99 and -999, are told by the range of the rest.
        for value in sorted(self.times, key=abs):
            gap = max(lowest - value, value - highest)
            if self.times[value] >= _FEWEST and gap > highest - lowest >= 0:
                notes.hold(
                    name,
                    f"{value:,.0f} far from all other values",
                    "read as a number, make it missing if it stands for that",
                    self.times[value],
                )


def may_be_sentinel(*ends: float) -> bool:
    """Whether the smallest or the largest number of a column is one that may stand for "missing"; hardly ever."""
    return not _KNOWN.isdisjoint(ends)


def tell_sentinels(column: Column, notes: Notes, /) -> None:
    """Say what may stand for "missing" in a column of numbers."""
    values = column.known
    if values.dtype.kind in "iuf" and len(values) and may_be_sentinel(float(values.min()), float(values.max())):
        extremes = Extremes()
        extremes.update(values)
        extremes.tell(column.name, notes)
