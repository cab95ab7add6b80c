"""The one place where a result reaches up to the room that shows it, loaded when a result is asked to show itself."""

from types import ModuleType

__all__ = ["report"]


def report() -> ModuleType:
    """The functions that turn results into text, figures and pages."""
    from renyi import report as room

    return room
