"""Every size from which the package computes in another way, and a lower one, so that small tables cross it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any
import pytest

@contextmanager
def lowered(values: Mapping[str, Any]) -> Iterator[None]:
    """Constants, written as module:name, with other values meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        for where, value in values.items():
            module, name = where.split(":")
            patch.setattr(import_module(module), name, value)
        yield
