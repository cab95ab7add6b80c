"""Write public_api.txt: every public name, its parameters and their defaults, members of classes, options of commands.

Run `python tests/golden/public_api.py` after a change of these, and after its entry in CHANGELOG.md: a change without
one is refused, since the file keeps a digest of the changelog's newest section as it was when the list changed last.
"""

import dataclasses
import hashlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import typer.main

import renyi
from renyi.accessor import Accessor
from renyi.cli import app

FILE = Path(__file__).with_suffix(".txt")
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
HEAD = """# What is public. `python tests/golden/public_api.py` renews it, once CHANGELOG.md says what changed.
# changelog {changelog}, list {own}
"""
_DIGESTS = re.compile(r"^# changelog (\w+), list (\w+)$", re.MULTILINE)
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: " by position",
    inspect.Parameter.KEYWORD_ONLY: " by name",
    inspect.Parameter.VAR_KEYWORD: " any by name",
}


def public_api():
    """The list, a line each."""
    lines = [line for name in renyi.__all__ for line in entries(f"renyi.{name}", getattr(renyi, name))]
    for name in renyi.measures():
        settings = {field.name: field.default for field in dataclasses.fields(renyi.measure(name))}
        lines += [f"renyi.measure({name!r})", *(f"    {key} = {shown(value)}" for key, value in settings.items())]
    lines += [f"frame.renyi.{name}" for name in dir(Accessor(None))]
    for name, command in typer.main.get_command(app).commands.items():
        lines += [f"$ renyi {name}", *(f"    {parameter_of_command(parameter)}" for parameter in command.params)]
    return "\n".join(lines) + "\n"


def entries(name, what):
    if isinstance(what, ModuleType):
        return [line for inner in what.__all__ for line in entries(f"{name}.{inner}", getattr(what, inner))]
    if not inspect.isclass(what):
        return [name, *parameters(what)]
    # Records are made by the package, all else by whoever uses it too.
    is_record = hasattr(what, "_internal")
    lines = [name, *([] if is_record or issubclass(what, (Exception, Warning)) else parameters(what))]
    for member in members(what):
        value = inspect.getattr_static(what, member, None)
        value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        lines += [f"{name}.{member}", *(parameters(value, bound=True) if inspect.isfunction(value) else [])]
    return lines


def members(what):
    """Names without an underscore that classes of the package gave it, and those its docstring lists."""
    own = {name for part in what.__mro__ if part.__module__.startswith("renyi.") for name in vars(part)}
    own |= {field.name for field in dataclasses.fields(what)} if dataclasses.is_dataclass(what) else set()
    told = re.search(r"^Attributes\n-+\n(.*?)(?=^\w+\n-+$|\Z)", inspect.getdoc(what) or "", re.DOTALL | re.MULTILINE)
    for names in re.findall(r"^(\w[\w, ]*?) :", told[1] if told else "", re.MULTILINE):
        own.update(names.split(", "))
    return sorted(name for name in own if not name.startswith("_") and name not in getattr(what, "_internal", ()))


def parameters(function, *, bound=False):
    listed = list(inspect.signature(function).parameters.values())[int(bound) :]
    return [
        f"    {parameter.name}{_KINDS.get(parameter.kind, '')}"
        + ("" if parameter.default is parameter.empty else f" = {shown(parameter.default)}")
        for parameter in listed
    ]


def parameter_of_command(parameter):
    name = ", ".join(parameter.opts)
    return name if parameter.default in (None, [], (), False) else f"{name} = {parameter.default}"


def shown(value):
    plain = (str, int, float, tuple, type(None))
    return repr(value) if isinstance(value, plain) else type(value).__name__


def renewed(text, api, changelog):
    """The file, from what it was, what is public now, and the changelog; a change without an entry is refused."""
    digests = _DIGESTS.findall(text)
    if body_of(text) == api and digests == [(digests[0][0], digest(digests[0][0] + api))]:
        return text
    now = digest(newest(changelog))
    if now in (changelog for changelog, _ in digests):
        raise SystemExit(
            "what is public has changed and CHANGELOG.md has not: write there what changed, then run this again"
        )
    return HEAD.format(changelog=now, own=digest(now + api)) + api


def body_of(text):
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def newest(changelog):
    """The newest section, without what white space says."""
    return " ".join(changelog.split("\n## ")[1].split())


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    after = renewed(before, public_api(), CHANGELOG.read_text(encoding="utf-8"))
    FILE.write_text(after, encoding="utf-8")
    sys.stdout.write(f"{FILE.name} {'is as it was' if before == after else 'was renewed'}\n")
