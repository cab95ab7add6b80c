"""The command line: parse, call, print. Numbers are computed elsewhere, and loaded only when a command runs."""

from renyi.cli.commands import app

__all__ = ["app"]
