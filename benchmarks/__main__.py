"""Run a script by its name: `python benchmarks NAME [ARGUMENTS]`. Without a name, all of them are listed."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("speed", "studies", "render")


def scripts() -> dict[str, Path]:
    """Every script by its name; no name is in two folders."""
    paths = (path for folder in FOLDERS for path in sorted((HERE / folder).glob("*.py")))
    return {path.stem: path for path in paths if '__name__ == "__main__"' in path.read_text()}


def listed(found: dict[str, Path]) -> str:
    """A line for every script: its folder, its name and the first sentence of its docstring."""
    lines = ["python benchmarks NAME [ARGUMENTS]", ""]
    for name, path in found.items():
        sentence = path.read_text().splitlines()[0].strip('"')
        lines.append(f"{path.parent.name:8} {name:18} {sentence}")
    return "\n".join(lines)


def main() -> None:
    found = scripts()
    name, *arguments = sys.argv[1:] or [""]
    if name not in found:
        print(listed(found))
        sys.exit(f"no script is called {name!r}" if name else None)
    # Scripts import the harness and one another by their plain names, whatever folder they are in.
    sys.path[:0] = [str(HERE), *(str(HERE / folder) for folder in FOLDERS)]
    sys.argv = [str(found[name]), *arguments]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
