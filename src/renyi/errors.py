"""The exceptions that users see: one root, each kind also a built-in exception that habits expect."""

__all__ = ["InputError", "MissingExtraError", "RenyiError"]


class RenyiError(Exception):
    """Root of every exception that renyi raises on purpose."""


class InputError(RenyiError, ValueError):
    """Data or settings that cannot give a meaningful answer."""


class MissingExtraError(RenyiError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""
