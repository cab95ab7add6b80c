"""How results show what they are: the one place where they reach up to the room for that, and the names they have."""

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from renyi.data.column import Column

# Rows of columns that a result keeps for its words.
_MOST_KEPT = 100_000


def report() -> ModuleType:
    """The functions that turn results into text, figures and pages."""
    from renyi import report as room

    return room


def public_names(result: object, /, *internal: str) -> list[str]:
    """What `dir` says of a result: what is documented, without what other rooms alone ask for."""
    return sorted(name for name in object.__dir__(result) if not name.startswith("_") and name not in internal)


def kept(pair: Sequence[Column], /) -> tuple[Column, Column] | None:
    """Copies of two columns that a result may keep, of many rows some; none of columns that are on a device."""
    x, y = pair
    if not (isinstance(x.values, np.ndarray) and isinstance(y.values, np.ndarray)):
        return None
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_KEPT)).astype(np.intp))
    return x.take(rows), y.take(rows)
