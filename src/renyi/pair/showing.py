"""How results show what they are: the one place where they reach up to the room for that, and the names they have."""

from collections.abc import Sequence
from dataclasses import fields
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar

import numpy as np

from renyi.data.column import Column

# Rows of columns that a result keeps for its words.
_MOST_KEPT = 100_000


def report() -> ModuleType:
    """The functions that turn results into text, figures and pages."""
    from renyi import report as room

    return room


class Record:
    """What results share: names for `dir`, and that they can be pickled and copied, with their views of mappings."""

    # What other rooms alone ask for.
    _internal: ClassVar[tuple[str, ...]] = ()

    def __dir__(self) -> list[str]:
        names = object.__dir__(self)
        return sorted(name for name in names if not name.startswith("_") and name not in self._internal)

    def __getstate__(self) -> dict[str, Any]:
        # Views of mappings have no copies. What is derived is derived again: it is read-only, which copies are not.
        own: Any = self
        state = {field.name: getattr(self, field.name) for field in fields(own)}
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        views = {name: MappingProxyType(value) for name, value in state.items() if isinstance(value, dict)}
        self.__dict__.update(state | views)


def kept(pair: Sequence[Column], /) -> tuple[Column, Column] | None:
    """Copies of two columns that a result may keep, of many rows some; none of columns that are on a device."""
    x, y = pair
    if not (isinstance(x.values, np.ndarray) and isinstance(y.values, np.ndarray)):
        return None
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_KEPT)).astype(np.intp))
    return x.take(rows), y.take(rows)
