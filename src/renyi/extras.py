"""Optional libraries, loaded only when asked for."""

import importlib
from typing import Any

from renyi.errors import MissingExtraError

__all__ = ["load"]


def load(module: str, /, *, extra: str) -> Any:
    """Import `module`, or raise an error that names the extra which installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"{library} is not installed and this call needs it: pip install 'renyi[{extra}]'"
        ) from error
