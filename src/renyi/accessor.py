"""What the accessors of pandas and Polars have: the functions on tables, as methods of a frame."""

from types import MethodType
from typing import Any

import renyi

_METHODS = ("compare", "lags", "matrix", "pairs", "screen")


class Accessor:
    """The functions on tables as methods of a frame: `frame.renyi.matrix()` is `renyi.matrix(frame)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __dir__(self) -> list[str]:
        return list(_METHODS)

    def __getattr__(self, name: str) -> MethodType:
        if name not in _METHODS:
            raise AttributeError(f"{name!r} is not a function for tables: there are {', '.join(_METHODS)}")
        return MethodType(getattr(renyi, name), self._frame)
