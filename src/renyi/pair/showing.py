"""How results show what they are: the one place where they reach up to the room for that, and the names they have."""

from types import ModuleType


def report() -> ModuleType:
    """The functions that turn results into text, figures and pages."""
    from renyi import report as room

    return room


def public_names(result: object, /, *internal: str) -> list[str]:
    """What `dir` says of a result: what is documented, without what other rooms alone ask for."""
    return sorted(name for name in object.__dir__(result) if not name.startswith("_") and name not in internal)
