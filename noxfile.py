"""The test suite on every supported Python that is installed, and on the oldest supported libraries."""

import nox

nox.options.error_on_missing_interpreters = False

# As stated in pyproject.toml; the wheels of these versions exist for the oldest supported Python.
OLDEST = ["numpy==2.0.*", "scipy==1.13.*", "narwhals==2.0.*", "lazy-loader==0.4"]


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    session.install(".[all,test]")
    session.run("pytest", "-n", "2", "tests")


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    session.install(".[all,test]", *OLDEST, "pandas==2.2.*", "polars==1.34.*", "pyarrow==16.*")
    session.run("pytest", "-n", "2", "tests")
