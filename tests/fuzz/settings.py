"""Values for every argument: such as it takes, and such as nothing takes."""

import datetime
import inspect
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import renyi

from . import cells
from .drawing import Draw


def _junk() -> tuple[Any, ...]:
    return (
        None, True, False, -1, 0, 1, 2, 0.5, 3.7, -0.1, float("nan"), float("inf"), 10**30, 2**64, "", "a", "x", "auto",
        "9" * 400, "é" * 2000, "\0", b"a", [], (), {}, {"a": 1}, {"a": None}, {None: 1}, ["a"], [None], ["a", "a"],
        set(),
        {1}, object(), len, int, 1j, 3 + 0j, np.complex128(1 + 2j), np.float64(2), np.int8(3), np.uint64(2**63),
        np.array([1, 2]), np.array("a"), np.zeros((2, 2)), Decimal(2), Decimal("NaN"), Decimal("sNaN"), Fraction(1, 2),
        datetime.date(2020, 1, 1), np.datetime64("NaT"), np.timedelta64(3, "D"), np.ma.masked, pd.NA, pd.NaT,
        pd.Series([1, 2]),
        pl.Series([1, 2]), pd.DataFrame({"a": [1]}), ..., range(3), memoryview(b"ab"), iter([1]), "1GB", "\ud800",
        np.str_("a"),
        renyi.measure("pearson"), renyi.Accumulator(), ValueError("a"), slice(1), frozenset("ab"), np.nan, -(10**30),
        1e308,
    )  # fmt: skip


def junk(draw: Draw) -> Any:
    """What no argument expects."""
    return draw.one(_junk())


# What arguments take, given names of columns and the number of rows.
_GOOD: dict[str, Callable[[Draw, Sequence[str], int], Any]] = {
    "k": lambda d, names, n: d.one((1, 2, 5, 20, None)),
    "s": lambda d, names, n: d.one((0.01, 1 / 6, 3.0, 30.0, 3, "median")),
    "frequencies": lambda d, names, n: d.one(("auto", "normal", "orthogonal", "fastfood")),
    "repeats": lambda d, names, n: d.one((1, 3)),
    "debias": lambda d, names, n: d.chance(0.5),
    "missing": lambda d, names, n: d.one(("raise", "pairwise", "listwise")),
    "rng": lambda d, names, n: d.one((None, 0, 7, np.random.default_rng(1))),
    "random_state": lambda d, names, n: d.one((None, 0, 7, np.random.default_rng(1), np.random.RandomState(1))),
    "device": lambda d, names, n: None,
    "method": lambda d, names, n: d.one(("auto", "roy", "bartlett", "spectral", "permutation")),
    "n_resamples": lambda d, names, n: d.one((99, 199)),
    "time": lambda d, names, n: d.one((True, None, np.arange(n), *names, np.datetime64("2020-01-01") + np.arange(n))),
    "groups": lambda d, names, n: d.one((None, np.arange(n) // 10, list("ab") * (n // 2), *names)),
    "exchange": lambda d, names, n: d.one(("within", "whole")),
    "detrend": lambda d, names, n: d.one((None, "difference", "linear")),
    "period": lambda d, names, n: d.one((None, 2, 7, [2, 3])),
    "order": lambda d, names, n: d.one(("check", None)),
    "measure": lambda d, names, n: d.one((*renyi.measures(), renyi.measure("rdc", s=2.0), renyi.measure("xi"))),
    "types": lambda d, names, n: {
        name: d.one(("number", "category", "date", "skip", "boolean", "ordered", "time", ["a", "b"], ("b", "a")))
        for name in d.some(list(names), 2)
    },
    "vectors": lambda d, names, n: {"v": d.some(list(names), 3)},
    "max_levels": lambda d, names, n: d.one((2, 5, 2000)),
    "correction": lambda d, names, n: d.one(("bh", "by", "holm", "bonferroni")),
    "memory": lambda d, names, n: d.one(("1GB", "50MB", 10**8, "1MB", "100 kB")),
    "sample": lambda d, names, n: d.one((0, 10, 10_000)),
    "progress": lambda d, names, n: d.chance(0.5),
    "target": lambda d, names, n: d.one((*names, list(names[:2]), np.arange(n), cells.plain(d.rng, n))),
    "others": lambda d, names, n: list(names[:1]),
    "other": lambda d, names, n: d.one((None, list(names[:1]), {"p": np.arange(n), "q": cells.plain(d.rng, n)})),
    "given": lambda d, names, n: d.one((*names, list(names[:2]))),
    "by": lambda d, names, n: d.one((None, *names)),
    "against": lambda d, names, n: d.one(("previous", "others")),
    "top": lambda d, names, n: d.one((None, 1, 5)),
    "n": lambda d, names, n: d.one((1, 5, 10**6)),
    "threshold": lambda d, names, n: d.one((None, 0.3, -1, 1)),
    "fdr": lambda d, names, n: d.one((None, 0.05, 1.0, 0.5)),
    "least": lambda d, names, n: d.one((0.0, 0.3, 1)),
    "max_lag": lambda d, names, n: d.one((1, 3, n // 4)),
    "window": lambda d, names, n: d.one((50, 20, n)),
    "step": lambda d, names, n: d.one((None, 1, 10)),
    "what": lambda d, names, n: d.one(("strength", "coefficient", "p", "q", "n")),
    "path": lambda d, names, n: d.one((d.file(".html"), str(d.file(".html")))),
    "title": lambda d, names, n: d.one(("", "A title", "<b>", "x" * 3000)),
    "pairs": lambda d, names, n: d.one((0, 1, 20)),
    "ax": lambda d, names, n: None,
    "x": lambda d, names, n: d.one((None, *names)),
    "y": lambda d, names, n: d.one((None, *names)),
    "confidence_level": lambda d, names, n: d.one((0.5, 0.95, 0.999)),
    "n_features_to_select": lambda d, names, n: d.one(("auto", 1, 2, 0.5)),
    "alpha": lambda d, names, n: d.one((0.01, 0.5, 1.0)),
    "interactions": lambda d, names, n: d.chance(0.5),
    "target_type": lambda d, names, n: d.one(("auto", "number", "category")),
    "categorical_features": lambda d, names, n: d.one((None, "from_dtype", list(names[:1]), [0], [True] * len(names))),
    "n_jobs": lambda d, names, n: d.one((None, 1, 2, -1)),
    "verbose": lambda d, names, n: False,
    "n_components": lambda d, names, n: d.one((1, 2, 7, 200)),
    "name": lambda d, names, n: d.one(("", "a", "x" * 300)),
    "sample_weight": lambda d, names, n: d.one((None, np.ones(n), np.arange(n))),
}  # fmt: skip
# Settings that are worth drawing more often than others, since they lead into rooms of their own.
_OFTEN = ("time", "groups", "measure", "types", "vectors")


def arguments(draw: Draw, function: Any, names: Sequence[str], n: int, *, bad: float = 0.25) -> dict[str, Any]:
    """Some settings by keyword; required ones are always there."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [
        p for p in parameters if p.kind is p.KEYWORD_ONLY or p.name in ("max_lag", "window", "target", "given", "path")
    ]
    required = [p.name for p in keywords if p.default is p.empty]
    optional = [p.name for p in keywords if p.default is not p.empty]
    chosen = draw.some(optional, draw.one((0, 1, 1, 2, 3)))
    chosen += [name for name in _OFTEN if name in optional and name not in chosen and draw.chance(0.04)]
    settings = {name: value(draw, name, names, n, bad=bad) for name in [*required, *chosen]}
    if draw.chance(0.003):
        settings["nonsense"] = 1
    draw.words += [f"{name}={value!r:.60}" for name, value in settings.items()]
    return settings


def value(draw: Draw, name: str, names: Sequence[str], n: int, *, bad: float = 0.25) -> Any:
    """One setting, good or bad."""
    return junk(draw) if name not in _GOOD or draw.chance(bad) else _GOOD[name](draw, names, n)
