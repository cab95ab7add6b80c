"""The command line as tests call it, within their process and as one of its own."""

import subprocess
import sys

from typer.testing import CliRunner

from renyi.cli import app


def run(*arguments, **options):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def command(*arguments, **options):
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "renyi", *map(str, arguments)], capture_output=True, check=False, timeout=120, **options
    )


def refused(*arguments, **options):
    """The one line with which a command is refused."""
    done = command(*arguments, **options)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("renyi: ")
    return line


def python(program, **options):
    """A program in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, **options)
