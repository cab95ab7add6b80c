"""Why a tag cannot be released from these files: `python tests/released.py v0.1.0`, which the release workflow runs."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def obstacles(root, tag):
    """What stands in the way, a sentence each."""
    version = tag.removeprefix("v")
    if not re.search(rf'^__version__ = "{re.escape(version)}"$', read(root, "src/renyi/__init__.py"), re.MULTILINE):
        yield f"src/renyi/__init__.py has another __version__ than {version}"
    if not re.search(rf"^version: {re.escape(version)}$", read(root, "CITATION.cff"), re.MULTILINE):
        yield f"CITATION.cff has another version than {version}"
    latest = re.search(r"^## (.*)$", read(root, "CHANGELOG.md"), re.MULTILINE)
    if not latest or not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", latest[1]):
        yield f"the newest section of CHANGELOG.md is not called '{version} (YYYY-MM-DD)'"
    addresses = tomllib.loads(read(root, "pyproject.toml"))["project"]["urls"]
    unset = [name for name, address in addresses.items() if ".invalid" in address]
    if unset:
        yield f"[project.urls] of pyproject.toml has no address yet for {', '.join(unset)}"


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit("\n".join(obstacles(ROOT, sys.argv[1])) or 0)
