"""Write docs/reference/command-line.md from the program; with --check, say whether it is up to date."""

import sys
from pathlib import Path
from typing import Any

import typer.main

from renyi.cli import app

PAGE = Path(__file__).parent / "reference/command-line.md"
_HEAD = """# Command-line reference

Made from the program by `docs/make_reference.py`. What the commands print, files, JSON and exit codes are told in
[the command line](../how-to/command-line.md).
"""


def reference() -> str:
    """Every command with its arguments and options."""
    program: Any = typer.main.get_command(app)
    return "\n".join([_HEAD, *(_section(name, command) for name, command in program.commands.items())])


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join(["renyi", name, *map(_placeholder, arguments), "[OPTIONS]"])
    lines = [
        f"## renyi {name}\n",
        f"{command.help}\n",
        f"```sh\n{usage}\n```\n",
        "| name | what it does | default |",
        "|---|---|---|",
    ]
    lines += [f"| `{_placeholder(argument)}` | {_cell(argument.help)} |  |" for argument in arguments]
    lines += [f"| `{_spelled(option)}` | {_cell(option.help)} | {_default(option)} |" for option in options]
    return "\n".join(lines) + "\n"


def _placeholder(parameter: Any) -> str:
    """What stands for a value; the names of types differ between versions of Typer."""
    return str(parameter.metavar or parameter.name.upper())


def _spelled(option: Any) -> str:
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {_placeholder(option)}"


def _default(option: Any) -> str:
    return "" if option.is_flag or option.default in (None, []) else f"`{option.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text() == reference() else 1)
    PAGE.write_text(reference())
