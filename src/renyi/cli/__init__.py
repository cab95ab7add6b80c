"""The command line: parse, call, print.

Numbers are computed by other rooms, which are loaded only when a command runs; none of them may import this one.
"""

from renyi.cli.commands import app

__all__ = ["app"]
