"""The `renyi` command, also as `python -m renyi`."""

import io
import os
import re
import signal
import sys

from renyi.errors import RenyiError, printable


def main() -> None:
    """Run the command line: exit code 2 and one line for what the user can mend, 1 for what we have to."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or file that cannot hold a letter gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    for name in ("SIGTERM", "SIGHUP", "SIGPIPE"):
        # Ended as by Ctrl-C, so that temporary files go; what ignores one of them, as nohup does, goes on to. Whoever
        # reads may stop reading, as head does, which Python ignores by itself.
        number = getattr(signal, name, None)
        if number is not None and (name == "SIGPIPE" or signal.getsignal(number) is signal.SIG_DFL):
            signal.signal(number, _end)
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        sys.exit(130)
    except RenyiError as error:
        _fail(_as_options(str(error)), code=2)
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror or error}", code=2)
    except Exception as error:
        # Whatever Typer has to say of the arguments: its exceptions have no public root in all of its versions.
        if hasattr(error, "format_message"):
            _fail(f"{error.format_message()} (see renyi --help)", code=2)
        _fail(f"unexpected failure ({type(error).__name__}: {error}), run with --debug for the traceback", code=1)


def _end(number: int, _: object) -> None:
    if number == getattr(signal, "SIGPIPE", None):
        # What is left to be written has no reader, and is not to fail once more at the end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
    sys.exit(128 + number)


def _run() -> int:
    from renyi.errors import load

    typer = load("typer", extra="cli")
    load("rich", extra="cli")
    from renyi.cli import app

    try:
        return int(app(prog_name="renyi", standalone_mode=False) or 0)
    except typer.Abort:
        return 130


def _as_options(message: str) -> str:
    """What a message says of arguments, as the command line spells them."""
    message = re.sub(r"\b(measures|jobs|data|out)=(?=\S)", r"--\1 ", message)
    message = re.sub(r"missing='(\w+)'", r"--missing \1", message)
    return re.sub(r"types=\{(\w+): '(\w+)'\}", r"--type \1=\2", message)


def _fail(message: str, *, code: int) -> None:
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exc()
    print(f"renyi: {printable(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
