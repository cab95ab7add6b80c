"""Memory that is used again: workspaces of a thread, and free memory that is kept while tasks work."""

import ctypes
import math
import os
import sys
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ASKED = "MALLOC_TRIM_THRESHOLD_"
# Numbers by which glibc knows them: free memory at the end of its own that it keeps, and the size from which an array
# gets pages of its own, which it never keeps.
_TRIM, _OWN_PAGES = -1, -3
_KEPT, _LARGEST_SHARED = 2**30, 2**25
_OWN_PAGES_BY_DEFAULT = 2**17


class _Workspaces(threading.local):
    """Arrays of one thread: fresh pages cost more than what is written to them."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, Any], NDArray[Any]] = {}


_workspaces = _Workspaces()


def workspace(place: str, shape: tuple[int, ...], dtype: Any = np.float64, /) -> NDArray[Any]:
    """An array of this shape with anything in it, at the same place as the last one of this name in this thread."""
    size = math.prod(shape)
    memory = _workspaces.places.get((place, np.dtype(dtype)))
    if memory is None or memory.size < size:
        memory = _workspaces.places[place, np.dtype(dtype)] = np.empty(size, dtype=dtype)
    return memory[:size].reshape(shape)


class _MemoryKept:
    """While at least one task works, memory that its arrays leave is kept for the next ones.

    Workers of Dask are started with MALLOC_TRIM_THRESHOLD_, so that they give all of it back at once: every array then
    begins with fresh pages, and counting values takes twice as long (docs/how-to/scaling.md). When the last task ends,
    all is given back, as was asked for. Where nothing was asked for, or for another allocator than glibc's, nothing is
    done.
    """

    def __init__(self) -> None:
        self._lock, self._n_tasks = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._n_tasks += 1
            if self._n_tasks == 1 and _is_asked_for() and (glibc := _glibc()) is not None:
                glibc.mallopt(_TRIM, _KEPT)
                glibc.mallopt(_OWN_PAGES, _LARGEST_SHARED)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_tasks -= 1
            if self._n_tasks == 0 and _is_asked_for() and (glibc := _glibc()) is not None:
                glibc.mallopt(_TRIM, int(os.environ[_ASKED]))
                glibc.mallopt(_OWN_PAGES, _OWN_PAGES_BY_DEFAULT)
                give_back()


memory_kept = _MemoryKept()


def give_back() -> None:
    """Give the system what arrays have left between others; elsewhere than with glibc that is not known to help."""
    if (glibc := _glibc()) is not None:
        glibc.malloc_trim(0)


def _is_asked_for() -> bool:
    """Whether this process was started to give memory back at once."""
    return os.environ.get(_ASKED, "").isdigit()


def _glibc() -> Any:
    """The allocator, None if it is another one."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
