"""`df.renyi`, which `pandas` and `polars` of the package register."""

import importlib
import inspect
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
import renyi.pandas
import renyi.polars
from command_line import python

x = np.linspace(-1, 1, 200)
TABLE = {"x": x, "y": x**2, "noise": np.random.default_rng(0).random(200)}


@pytest.mark.parametrize("library", [pd, pl])
def test_methods_are_the_functions_on_this_frame(library):
    frame = library.DataFrame(TABLE)
    assert np.array_equal(frame.renyi.matrix().strength, renyi.matrix(frame).strength)
    assert type(frame.renyi.screen("y").top(1)) is library.DataFrame
    assert frame.renyi.pairs(top=1)["x", "y"].is_finding
    assert frame.renyi.lags(max_lag=2).n_found() == renyi.lags(frame, max_lag=2).n_found()
    assert frame.renyi.compare(frame).n_found() == (0, 0)


def test_lazy_frames_have_it_too():
    assert pl.LazyFrame(TABLE).renyi.matrix().n_found() == 1


def test_methods_say_what_they_take():
    accessor = pd.DataFrame(TABLE).renyi
    assert dir(accessor) == ["compare", "lags", "matrix", "pairs", "screen"]
    assert next(iter(inspect.signature(accessor.screen).parameters)) == "target"
    assert accessor.screen.__doc__ == renyi.screen.__doc__
    with pytest.raises(AttributeError, match="'rdc' is not a function for tables: there are compare, lags"):
        accessor.rdc  # noqa: B018


def test_frames_have_it_once_it_is_asked_for():
    run = python(
        "import sys, polars, renyi\n"
        "print(hasattr(polars.DataFrame, 'renyi'))\n"
        "import renyi.polars\n"
        "print(hasattr(polars.DataFrame, 'renyi'), 'pandas' in sys.modules)"
    )
    assert run.stdout.split() == ["False", "True", "False"], run.stderr


def test_without_the_library_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "renyi.pandas")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(renyi.MissingExtraError, match=r"this call needs it: pip install pandas$"):
        importlib.import_module("renyi.pandas")
