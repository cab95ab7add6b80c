"""Memory that a process would give back at once, kept while work asks for it again and again."""

import ctypes
import os
import threading
from typing import Any

__all__ = ["memory_kept"]

_ASKED = "MALLOC_TRIM_THRESHOLD_"
# Numbers by which glibc knows them: free memory at the end of its own that it keeps, and the size from which an array
# gets pages of its own, which it never keeps.
_TRIM, _OWN_PAGES = -1, -3
_KEPT, _LARGEST_SHARED = 2**30, 2**25
_OWN_PAGES_BY_DEFAULT = 2**17


class _MemoryKept:
    """While at least one task works, memory that its arrays leave is kept for the next ones.

    Workers of Dask are started with MALLOC_TRIM_THRESHOLD_, so that they give all of it back at once: every array then
    begins with fresh pages, and counting values takes twice as long (docs/scaling.md). When the last task ends, all is
    given back, as was asked for. Where nothing was asked for, or for another allocator than glibc's, nothing is done.
    """

    def __init__(self) -> None:
        self._lock, self._n_tasks = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._n_tasks += 1
            if self._n_tasks == 1 and (glibc := _glibc()) is not None:
                glibc.mallopt(_TRIM, _KEPT)
                glibc.mallopt(_OWN_PAGES, _LARGEST_SHARED)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_tasks -= 1
            if self._n_tasks == 0 and (glibc := _glibc()) is not None:
                glibc.mallopt(_TRIM, int(os.environ[_ASKED]))
                glibc.mallopt(_OWN_PAGES, _OWN_PAGES_BY_DEFAULT)
                glibc.malloc_trim(0)


memory_kept = _MemoryKept()


def _glibc() -> Any:
    """The allocator where it was asked to give memory back, else None."""
    if not os.environ.get(_ASKED, "").isdigit():
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
