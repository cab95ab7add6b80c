"""The tests on every supported Python that is installed, and on the oldest supported libraries; and `make dist`."""

import os
import shutil
from pathlib import Path

import nox

nox.options.error_on_missing_interpreters = False

# As stated in pyproject.toml; the wheels of these versions exist for the oldest supported Python.
OLDEST = ["numpy==2.0.*", "scipy==1.13.*", "narwhals==2.0.*", "lazy-loader==0.4"]
DIST = Path(__file__).parent / "dist"
RUNS_ALL = bool(os.environ.get("ALL"))
# The last two bring gigabytes, and hundreds of megabytes that need Java.
EXTRAS = ["none", "causal", "cli", "dask", "report", "sklearn", "all", *(["gpu", "spark"] if RUNS_ALL else [])]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    session.install(".[all,test]")
    session.run("pytest", "-n", "2", "tests")


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    session.install(".[all,test]", *OLDEST, "pandas==2.2.*", "polars==1.38.*", "pyarrow==16.*")
    session.run("pytest", "-n", "2", "tests")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """The sources, the wheel made from them, and whether an index would take both and show the README."""
    session.install("build>=1.2", "check-wheel-contents>=0.6", "twine>=6.1")
    shutil.rmtree(DIST, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(DIST), ".", silent=True)
    session.run("twine", "check", "--strict", *map(str, DIST.iterdir()))
    session.run("check-wheel-contents", wheel())


@nox.session(default=False)
@nox.parametrize("extra", EXTRAS, ids=EXTRAS)
def installed(session: nox.Session, extra: str) -> None:
    """The wheel and one of its extras in an environment that has nothing else, and a call of what the extra brings."""
    session.install(wheel() if extra == "none" else f"{wheel()}[{extra}]")
    session.run("python", "-I", "tests/installed.py", extra)


@nox.session(default=False)
def wheel_tests(session: nox.Session) -> None:
    """The tests against the wheel, by default those that `make check` runs."""
    session.install(f"{wheel()}[all,test]")
    chosen = [] if RUNS_ALL else ["-m", "not slow"]
    session.run("pytest", "-n", "2", "-k", "not spark", *chosen, "tests", env={"RENYI_WHEEL": "require"})


def wheel() -> str:
    return str(next(DIST.glob("*.whl")))
