"""The `renyi` command, also as `python -m renyi`."""

import sys

from renyi.errors import MissingExtraError, RenyiError


def main() -> None:
    """Run the command line; what the user can mend is one line and exit code 2."""
    try:
        from renyi.extras import load

        load("typer", extra="cli")
        load("rich", extra="cli")
        from renyi.cli import app

        app()
    except (MissingExtraError, RenyiError, OSError) as error:
        print(f"renyi: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
