"""Sequences of calls: accumulators, estimators, and what is asked of results."""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import renyi
import renyi.sklearn

from . import cells, holders, settings
from .drawing import Call, Draw, about, quietly

# What the API page lists of every class; a test compares.
METHODS = {
    "TestResult": ("summary", "confidence_interval"),
    "Transformations": ("plot",),
    "DependenceMatrix": ("top", "to_frame", "to_long", "n_found", "plot", "report", "to_networkx"),
    "Screening": ("top", "to_frame", "to_long", "n_found", "plot", "report", "to_networkx"),
    "Pairs": ("top", "to_frame", "to_long", "n_found", "report", "to_networkx"),
    "Dependence": ("summary", "plot"),
    "Lags": ("top", "to_frame", "to_long", "n_found", "lags", "plot", "report"),
    "Rolling": ("to_frame", "plot"),
    "Comparison": ("top", "to_frame", "columns", "pairs", "together", "n_found", "plot", "report"),
    "Comparisons": ("to_frame", "together"),
    "Accumulator": (
        "update", "merge", "second_pass", "second_passes", "result", "copy", "empty", "begun", "n_rows", "rank_errors",
    ),
}  # fmt: skip
# Drawing takes tens of milliseconds.
_SLOW = ("plot", "report")


def _asked(draw: Draw, names: list[str], n: int) -> Callable[[Any], Any]:
    """A question to a result: one of its methods, or what every object is asked."""
    kind = draw.one(("method", "method", "method", "method", "repr", "pickle", "copy", "html", "array", "item"))
    seed = int(draw.rng.integers(2**31))

    def ask(result: Any) -> Any:
        again = Draw(np.random.default_rng(seed), draw.folder)
        known = METHODS.get(type(result).__name__, ())
        if kind == "method" and known:
            name = again.one(known)
            if name in _SLOW and again.chance(0.7):
                name = known[0]
            found = getattr(result, name)
            if not callable(found):
                return found
            keywords = {
                p.name: settings.value(again, p.name, names, n)
                for p in inspect.signature(found).parameters.values()
                if p.kind is not p.POSITIONAL_ONLY and (p.default is p.empty or again.chance(0.5))
            }
            positional = [
                settings.value(again, p.name, names, n)
                for p in inspect.signature(found).parameters.values()
                if p.kind is p.POSITIONAL_ONLY
            ]
            draw.words.append(f".{name}({positional!r:.80}, {keywords!r:.200})")
            outcome = found(*positional, **keywords)
            _close_figures()
            return outcome
        draw.words.append(f".{kind}")
        return _whatever(result, kind, again, names)

    return ask


def _whatever(result: Any, kind: str, draw: Draw, names: list[str]) -> Any:
    """What any object may be asked."""
    match kind:
        case "pickle":
            assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
        case "copy":
            assert repr(copy.copy(result)) == repr(result) == repr(copy.deepcopy(result))
        case "html" if hasattr(result, "_repr_html_"):
            return result._repr_html_()
        case "array" if hasattr(result, "__array__"):
            return np.asarray(result)
        case "item" if type(result).__name__ in METHODS and hasattr(result, "__getitem__"):
            key = draw.one((*names, "a", settings.junk(draw)))
            return result[(key, draw.one((*names, "b"))) if draw.chance(0.7) else key]
    return repr(result), str(result)


def _close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")


def _about_result(*names: str, weight: float, least: int) -> Callable[[Callable[[Draw, int], Any]], Any]:
    """Make a result from good data, and ask it two things."""

    def register(make: Callable[[Draw, int], Any]) -> Any:
        @about(*names, weight=weight)
        def maker(draw: Draw) -> Call:
            n = draw.rows(least)
            made, columns = make(draw, n)
            asked = [_asked(draw, columns, n) for _ in range(2)]

            def run() -> Any:
                result = made()
                return [_first_refusal(ask, result) for ask in asked]

            return Call(f"{make.__name__.strip('_')}: {', '.join(draw.words)}", run, settled=False)

        return maker

    return register


def _first_refusal(ask: Callable[[Any], Any], result: Any) -> Any:
    """An answer, or why there is none; then the next question is asked."""
    try:
        return ask(result)
    except renyi.RenyiError as error:
        return error


@_about_result("TestResult", weight=2, least=5)
def _test_result(draw: Draw, n: int) -> Any:
    x, y = holders.good(draw, n), holders.good(draw, n)
    return (lambda: renyi.independence_test(x, y, missing="pairwise")), []


@_about_result("Transformations", weight=1.5, least=5)
def _transformations(draw: Draw, n: int) -> Any:
    x, y = holders.good(draw, n), holders.good(draw, n)
    values = holders.column(draw, draw.rows(), 0.5)

    def run() -> Any:
        found = renyi.transformations(x, y)
        return found if draw.chance(0.5) else found.f(values)

    return run, []


@_about_result("DependenceMatrix", "Dependence", weight=2, least=8)
def _dependence_matrix(draw: Draw, n: int) -> Any:
    table, names = holders.good_table(draw, n)
    is_single = draw.chance(0.3)

    def run() -> Any:
        found = renyi.matrix(table)
        return found["a", "b"] if is_single else found

    return run, names


@_about_result("Screening", weight=1, least=8)
def _screening(draw: Draw, n: int) -> Any:
    table, names = holders.good_table(draw, n)
    return (lambda: renyi.screen(table, "a")), names


@_about_result("Pairs", weight=1, least=8)
def _pairs(draw: Draw, n: int) -> Any:
    table, names = holders.good_table(draw, n)
    return (lambda: renyi.pairs(table, top=3)), names


@_about_result("Lags", weight=1, least=55)
def _lags(draw: Draw, n: int) -> Any:
    table, names = holders.good_table(draw, n)
    return (lambda: renyi.lags(table, max_lag=3)), names


@_about_result("Rolling", weight=1, least=55)
def _rolling(draw: Draw, n: int) -> Any:
    x, y = holders.good(draw, n), holders.good(draw, n)
    return (lambda: renyi.rolling(x, y, 50, 2)), []


@_about_result("Comparison", "Comparisons", weight=1.5, least=20)
def _comparison(draw: Draw, n: int) -> Any:
    table, names = holders.good_table(draw, n)
    other, _ = holders.good_table(draw, n)
    is_by = draw.chance(0.4)
    return (lambda: renyi.compare(table, by="d") if is_by else renyi.compare(table, other)), names


# Accumulators.

_STEPS = ("update",) * 6 + ("second_pass",) * 3 + (
    "second_passes", "result", "result", "merge", "merge", "copy", "empty", "begun", "n_rows", "rank_errors", "repr",
    "pickle",
    "folded", "is_last", "tables", "edges", "junk",
)  # fmt: skip


@about("Accumulator", weight=6)
def _accumulator(draw: Draw) -> Call:
    """Steps in a sensible order, or in any."""
    n = draw.rows()
    names = ["a", "b", "c"]
    keywords = settings.arguments(draw, renyi.Accumulator, names, n) if draw.chance(0.6) else {}
    keywords.pop("nonsense", None)
    batches = [_batch(draw, names, n) for _ in range(3)]
    steps = [draw.one(_STEPS) for _ in range(draw.one((3, 6, 12)))]
    if draw.chance(0.6):
        steps = ["update", "update", "second_pass", "update", "update", *steps[:3], "result"]
    seed = int(draw.rng.integers(2**31))
    words = f"Accumulator({', '.join(draw.words)}): {' '.join(steps)}"

    def run() -> Any:
        again = Draw(np.random.default_rng(seed), draw.folder)
        made = [renyi.Accumulator(**keywords)]
        answers = []
        for step in steps:
            try:
                answers.append(_step(again, made, step, batches))
            except renyi.RenyiError as error:
                answers.append(str(error))
        return answers

    return Call(words, run, tuple(batches), settled=False)


def _batch(draw: Draw, names: list[str], n: int) -> Any:
    """Rows of the same columns, one of which may be of another type in every batch."""
    parts: dict[Any, Any] = {name: cells.plain(draw.rng, n) for name in names}
    if draw.chance(0.4):
        parts["c"] = holders.column_cells(draw, n, 0.5) if draw.chance(0.8) else holders.column(draw, n, 0.5)
    if draw.chance(0.03):
        return holders.table(draw, n)[0]
    return quietly(draw.one((dict, pd.DataFrame)), parts, dict)


def _step(draw: Draw, made: list[Any], step: str, batches: list[Any]) -> Any:
    """One step of the last accumulator, or another one."""
    one = made[-1] if draw.chance(0.8) else draw.one(made)
    batch = draw.one(batches) if draw.chance(0.97) else settings.junk(draw)
    match step:
        case "update":
            one.update(batch, *([draw.one(batches)] if draw.chance(0.03) else []))
        case "second_pass" | "copy" | "empty" | "begun":
            made.append(getattr(one, step)())
        case "second_passes":
            made.extend(one.second_passes())
        case "merge":
            one.merge(draw.one(made) if draw.chance(0.8) else settings.junk(draw))
        case "result":
            others = [draw.one((*made, settings.junk(draw)))] if draw.chance(0.2) else []
            return repr(one.result(*others))
        case "folded":
            return sum(1 for _ in one.folded(batches))
        case "pickle":
            made.append(pickle.loads(pickle.dumps(one)))
        case "junk":
            made.append(renyi.Accumulator(target=draw.one((settings.junk(draw), "a", ["a", "b"]))))
        case "edges":
            one.edges()
        case "repr":
            return repr(one)
        case _:
            return getattr(one, step)
    return None


# Estimators.


def _estimator(draw: Draw, kind: Any) -> tuple[Any, Any, Any, Any]:
    n = draw.rows()
    table, names = holders.table(draw, n, streamed=0.03)
    target = holders.column(draw, n) if draw.chance(0.5) else cells.plain(draw.rng, n)
    keywords = settings.arguments(draw, kind, names, n)
    keywords.pop("nonsense", None)
    if str(keywords.get("measure")) in ("mutual_info", "ace", "mic"):
        keywords["measure"] = "pearson"
    return kind(**keywords), table, target, holders.table(draw, draw.rows())[0] if draw.chance(0.3) else table


def _steps_of(draw: Draw, estimator: Any, known: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    steps = ["fit", *[draw.one(known) for _ in range(2)]] if draw.chance(0.9) else [draw.one(known), "fit"]
    return [
        (step, {"sample_weight": settings.value(draw, "sample_weight", (), 30)} if step == "fit" and draw.chance(0.1)
         and isinstance(estimator, renyi.sklearn.RandomCopulaFeatures) else {})
        for step in steps
    ]  # fmt: skip


_KNOWN = {
    "RDCSelector": (
        "transform",
        "get_support",
        "get_feature_names_out",
        "plot_path",
        "fit_transform",
        "inverse_transform",
    ),
    "ChangeDetector": ("check", "score", "pickle"),
    "RandomCopulaFeatures": ("transform", "fit_transform", "get_feature_names_out", "pickle"),
}


def _about_estimator(name: str, weight: float) -> None:
    @about(f"sklearn.{name}", weight=weight)
    def maker(draw: Draw) -> Call:
        estimator, table, target, other = _estimator(draw, getattr(renyi.sklearn, name))
        steps = _steps_of(draw, estimator, _KNOWN[name])
        words = f"{name}({', '.join(draw.words)}): {' '.join(step for step, _ in steps)}"

        def run() -> Any:
            answers = []
            for step, keywords in steps:
                match step:
                    case "fit":
                        answers.append(estimator.fit(table, target, **keywords))
                    case "fit_transform":
                        answers.append(estimator.fit_transform(table, target))
                    case "transform" | "check" | "score":
                        answers.append(repr(getattr(estimator, step)(other)))
                    case "inverse_transform":
                        answers.append(estimator.inverse_transform(estimator.transform(table)))
                    case "pickle":
                        answers.append(repr(pickle.loads(pickle.dumps(estimator))))
                    case _:
                        answers.append(getattr(estimator, step)())
                        _close_figures()
            return answers

        return Call(words, run, (table, target, other), settled=False)


for _name, _weight in (("RDCSelector", 3), ("ChangeDetector", 2), ("RandomCopulaFeatures", 2)):
    _about_estimator(_name, _weight)
