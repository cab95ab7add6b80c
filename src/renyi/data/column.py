"""One variable: typed values with a missing mask, which is what every room knows of data."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, Mask
from renyi.data.exact import is_wide
from renyi.errors import InputError, brief

Kind = Literal["number", "vector", "category"]
# Units of durations that are longer than seconds.
_COARSE = ("Y", "M", "W", "D", "h", "m")


class Kinded:
    """What has a kind, and says what that means: numbers have an order, levels of a category none, vectors no axis."""

    kind: Kind

    @property
    def is_number(self) -> bool:
        """Whether values have an order: numbers, dates, durations and ordered levels."""
        return self.kind == "number"

    @property
    def is_category(self) -> bool:
        """Whether values are labels without order or distance."""
        return self.kind == "category"

    @property
    def is_vector(self) -> bool:
        """Whether values have several coordinates."""
        return self.kind == "vector"


@dataclass(frozen=True, eq=False, repr=False)
class Column(Kinded):
    """One variable: numbers (n,), vectors (n, d), or the codes (n,) of a category with its levels.

    Dates and durations are numbers; so are ordered categories, as codes that rise with their levels. `name` is the
    user's, or the argument's where there is none. Where `missing` is True the value is a placeholder. A column that was
    declared by the user keeps the `index` of its Series, so that rows are not paired wrongly. Numbers are rounded if
    they had more digits than floats have, though no two of them became the same. Rows that were taken from others
    know their `places` among those, counted from 0.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    missing: Mask | None = None
    levels: tuple[Hashable, ...] = ()
    coordinates: tuple[str, ...] = ()
    argument: str = ""
    index: Any = None
    is_rounded: bool = False
    places: Index | None = None

    @property
    def label(self) -> str:
        """How messages name the column: as the user does, by the argument where there is no name."""
        if not self.argument or self.argument == self.name:
            return self.name or "the column"
        return f"column {brief(self.name)}"

    @property
    def gaps(self) -> Mask:
        """Where values are missing."""
        return np.zeros(len(self), dtype=bool) if self.missing is None else self.missing

    @property
    def known(self) -> NDArray[Any]:
        """Values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        detail = {
            "number": "numbers" if not self.levels else f"{len(self.levels)} ordered levels",
            "vector": f"vectors of {self.values.shape[-1]} coordinates",
            "category": f"a category of {len(self.levels)} levels",
        }[self.kind]
        n_missing = 0 if self.missing is None else np.count_nonzero(self.missing)
        return f"<{self.label}: {detail}, {len(self):,} rows, {n_missing:,} missing>"

    def take(self, rows: Mask | Index, /) -> "Column":
        """The column on the rows where a mask is True, or on rows by their positions."""
        missing = None if self.missing is None else self.missing[rows]
        places = (np.arange(len(self)) if self.places is None else self.places)[rows]
        return replace(self, values=self.values[rows], missing=missing, index=None, places=places)

    def complete(self) -> "Column":
        """The column on its observed rows."""
        return self if self.missing is None else replace(self.take(~self.missing), missing=None)


def labels_of(columns: Sequence[Column], /) -> str:
    """How messages name some columns: the first few, and how many more there are."""
    labels = [column.label for column in columns[:3]]
    more = [f"{len(columns) - 3:,} more"] if len(columns) > 3 else []
    *first, last = [*labels, *more]
    return f"{', '.join(first)} and {last}" if first else last


def as_floats(values: NDArray[Any], /) -> Array:
    """Values as floats, up to a shift of every coordinate: what has more digits keeps them without its smallest.

    Large whole numbers and times are exact where they are less than 2⁵³ apart. Floats of more than 64 bits may leave
    the range, and are infinite or equal then.
    """
    match values.dtype.kind:
        case "M" | "m" | "i":
            whole = values.view(np.int64) if values.dtype.kind in "Mm" else values.astype(np.int64)
            # What lies further apart than the type reaches is right again without a sign.
            return np.asarray((whole - whole.min(axis=0)).view(np.uint64), dtype=np.float64)
        case "u":
            return np.asarray(values - values.min(axis=0), dtype=np.float64)
        case "f" if values.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                return np.asarray(values - values.min(axis=0), dtype=np.float64)
        case _:
            return np.asarray(values, dtype=np.float64)


def as_seconds(durations: NDArray[Any], /) -> Array:
    """Durations in seconds, those in months or years as these are in the mean; NaN where they are missing."""
    unit, _ = np.datetime_data(durations.dtype)
    if unit not in _COARSE:
        return np.asarray(durations / np.timedelta64(1, "s"), dtype=np.float64)
    # As whole numbers of seconds they may overflow.
    one = np.array(1, dtype=durations.dtype).astype("m8[s]").astype(np.int64)
    return np.where(np.isnat(durations), np.nan, durations.astype(np.int64) * float(one))


def as_floats_apart(column: Column, /) -> Array:
    """Values as floats, up to a shift, to be ranked on a device; refused if different ones would be the same."""
    values = column.values
    numbers = as_floats(values)
    may_round = values.dtype.itemsize > 8 if values.dtype.kind == "f" else is_wide(numbers)
    if may_round and len(np.unique(values)) > len(np.unique(numbers)):
        raise InputError(
            f"{column.label} has numbers that 64-bit floats cannot keep apart, and these are ranked on a device: pass "
            "device=None"
        )
    return numbers
