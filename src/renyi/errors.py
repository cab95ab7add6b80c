"""The exceptions and warnings that users see; every exception is also a built-in one that habits expect."""

__all__ = ["CalibrationWarning", "ConvergenceWarning", "InputError", "MissingExtraError", "RenyiError"]


class RenyiError(Exception):
    """Root of every exception that renyi raises on purpose."""


class InputError(RenyiError, ValueError):
    """Data or settings that cannot give a meaningful answer."""


class MissingExtraError(RenyiError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""


class CalibrationWarning(UserWarning):
    """A p-value was asked for by a law that does not hold for these data."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before its result stood still."""
