"""Memory that one thread uses again and again: fresh pages cost more than what is written to them."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["workspace"]


class _Workspaces(threading.local):
    def __init__(self) -> None:
        self.places: dict[tuple[str, Any], NDArray[Any]] = {}


_workspaces = _Workspaces()


def workspace(place: str, shape: tuple[int, ...], dtype: Any = np.float64, /) -> NDArray[Any]:
    """An array of this shape with anything in it, at the same place as the last one of this name in this thread."""
    size = int(np.prod(shape))
    memory = _workspaces.places.get((place, np.dtype(dtype)))
    if memory is None or memory.size < size:
        memory = _workspaces.places[place, np.dtype(dtype)] = np.empty(size, dtype=dtype)
    return memory[:size].reshape(shape)
