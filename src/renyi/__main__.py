"""The `renyi` command, also as `python -m renyi`."""

import io
import sys

from renyi.errors import RenyiError


def main() -> None:
    """Run the command line; what the user can mend is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or file that cannot hold a letter gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        from renyi.extras import load

        load("typer", extra="cli")
        load("rich", extra="cli")
        from renyi.cli import app

        app()
    except (RenyiError, OSError) as error:
        print(f"renyi: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
