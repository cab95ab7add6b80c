"""One call for every public function and exception."""

import pickle
from typing import Any

import numpy as np

import renyi
import renyi.sklearn

from . import cells, holders, settings
from .drawing import Call, Draw, about


def _call(
    draw: Draw, function: Any, *data: Any, names: Any = (), n: int = 0, keywords: dict[str, Any] | None = None
) -> Call:
    """A function of the data, with some of its settings."""
    keywords = settings.arguments(draw, function, names, n) if keywords is None else keywords
    is_settled = not any(isinstance(value, np.random.Generator | np.random.RandomState) for value in keywords.values())
    called = getattr(function, "__name__", type(function).__name__)
    return Call(f"{called}({', '.join(draw.words)})", lambda: function(*data, **keywords), data, is_settled)


def _pair(draw: Draw, function: Any, least: int = 0, more: int = 0) -> Call:
    n = draw.rows(least)
    columns = [holders.column(draw, n if draw.chance(0.97) else n + 1) for _ in range(2 + more)]
    return _call(draw, function, *columns, n=n)


@about("rdc", weight=8)
def _rdc(draw: Draw) -> Call:
    return _pair(draw, renyi.rdc)


@about("independence_test", weight=8)
def _independence_test(draw: Draw) -> Call:
    return _pair(draw, renyi.independence_test, draw.one((0, 55)))


@about("conditional_test", weight=4)
def _conditional_test(draw: Draw) -> Call:
    return _pair(draw, renyi.conditional_test, draw.one((0, 20)), more=1)


@about("transformations", weight=5)
def _transformations(draw: Draw) -> Call:
    return _pair(draw, renyi.transformations)


@about("rolling", weight=2)
def _rolling(draw: Draw) -> Call:
    return _pair(draw, renyi.rolling, draw.one((0, 55)))


@about("categorical", "Column", weight=5)
def _categorical(draw: Draw) -> Call:
    data = holders.column(draw, draw.rows(), 0.7)
    keywords = settings.arguments(draw, renyi.categorical, (), 0)
    rows = draw.one((slice(None), [0], [], [True], np.zeros(0, dtype=np.intp)))

    def run() -> Any:
        column = renyi.categorical(data, **keywords)
        return column, repr(column), len(column), column.complete(), renyi.categorical(column), rows

    return Call(f"categorical({', '.join(draw.words)})", run, (data,))


@about("adjust", weight=5)
def _adjust(draw: Draw) -> Call:
    pvalues = draw.rng.random(draw.rows()) if draw.chance(0.3) else holders.column(draw, draw.rows(), 0.6)
    if draw.chance(0.2):
        pvalues = settings.junk(draw)
    method = settings.value(draw, "correction", (), 0) if draw.chance(0.7) else "bh"
    return Call(f"adjust({pvalues!r:.300}, {method!r:.80})", lambda: renyi.adjust(pvalues, method), (pvalues,))


@about("measures", "measure", weight=6)
def _measure(draw: Draw) -> Call:
    """A measure with settings, called with two columns or asked for its test."""
    import dataclasses

    name = draw.one(renyi.measures())
    n = draw.rows() if name != "mutual_info" else 12
    x, y = holders.column(draw, n), holders.column(draw, n)
    known = [field.name for field in dataclasses.fields(renyi.measure(name))]
    options = {setting: settings.value(draw, setting, (), n, bad=0.5) for setting in draw.some(known, 2)}
    # Permutations of the slow ones take most of a second.
    is_test = draw.chance(0.4 if name not in ("mutual_info", "ace", "mic") else 0.03)
    keywords = settings.arguments(draw, renyi.measure(name).test if is_test else renyi.measure(name), (), n)
    called = settings.junk(draw) if draw.chance(0.01) else name

    def run() -> Any:
        measure = renyi.measure(called, **options)
        return (measure.test if is_test else measure)(x, y, **keywords)

    words = f"measure({called!r}, {options!r:.200}){'.test' if is_test else ''}({', '.join(draw.words)})"
    return Call(words, run, (x, y), is_settled_by(keywords))


def is_settled_by(keywords: dict[str, Any]) -> bool:
    return not any(isinstance(value, np.random.Generator | np.random.RandomState) for value in keywords.values())


def _of_table(draw: Draw, function: Any, *, least: int = 0) -> Call:
    n = draw.rows(least)
    table, names = holders.table(draw, n)
    keywords = settings.arguments(draw, function, names, n)
    data = (table, keywords.pop("target")) if function is renyi.screen else (table,)
    if function is renyi.matrix and draw.chance(0.1):
        data = (table, settings.value(draw, "other", names, n) if draw.chance(0.5) else holders.table(draw, n)[0])
    return _call(draw, function, *data, keywords=keywords)


@about("matrix", weight=3)
def _matrix(draw: Draw) -> Call:
    return _of_table(draw, renyi.matrix)


@about("screen", weight=3)
def _screen(draw: Draw) -> Call:
    return _of_table(draw, renyi.screen)


@about("pairs", weight=2)
def _pairs(draw: Draw) -> Call:
    return _of_table(draw, renyi.pairs)


@about("lags", weight=2)
def _lags(draw: Draw) -> Call:
    return _of_table(draw, renyi.lags, least=draw.one((0, 55, 55)))


@about("compare", weight=2)
def _compare(draw: Draw) -> Call:
    n = draw.rows()
    before, names = holders.table(draw, n)
    after = None if draw.chance(0.25) else holders.table(draw, draw.rows())[0] if draw.chance(0.5) else before
    keywords = settings.arguments(draw, renyi.compare, names, n)
    if after is None and draw.chance(0.7):
        keywords["by"] = draw.one(names or ["a"])
    return _call(draw, renyi.compare, before, after, keywords=keywords)


@about("causal.ConditionalTest", "causal.register", weight=3)
def _causal(draw: Draw) -> Call:
    """The test of a table, with questions by names, places, and what is neither."""
    n = draw.rows(draw.one((0, 30)))
    table, names = holders.table(draw, n, streamed=0.03)
    keywords = settings.arguments(draw, renyi.causal.ConditionalTest, names, n)

    def column() -> Any:
        return draw.one((*names, 0, 1, -1)) if draw.chance(0.85) else settings.junk(draw)

    asked = [(column(), column(), [column() for _ in range(draw.one((0, 0, 1, 2)))]) for _ in range(2)]
    if draw.chance(0.03):
        name = settings.junk(draw)
        return Call(f"register({name!r:.80})", lambda: renyi.causal.register(name))

    def run() -> Any:
        test = renyi.causal.ConditionalTest(table, **keywords)
        return [test.pvalue(*asked[0]), test(*asked[1]), test.run_test(*asked[0]), repr(test)]

    return Call(f"ConditionalTest({', '.join(draw.words)}) of {asked!r:.300}", run, (table,), is_settled_by(keywords))


@about("pandas", "polars", weight=1)
def _accessor(draw: Draw) -> Call:
    """A function on tables as a method of a frame."""
    import renyi.pandas
    import renyi.polars

    n = draw.rows()
    frame, names = holders.frame(draw, n)
    name = draw.one(dir(frame.renyi))
    keywords = settings.arguments(draw, getattr(renyi, name), names, n)
    return Call(
        f"frame.renyi.{name}({', '.join(draw.words)})", lambda: getattr(frame.renyi, name)(**keywords), (frame,), False
    )


@about("RenyiError", "InputError", "MissingExtraError", "CalibrationWarning", "ConvergenceWarning", weight=1)
def _errors(draw: Draw) -> Call:
    kind = draw.one(
        (
            renyi.RenyiError,
            renyi.InputError,
            renyi.MissingExtraError,
            renyi.CalibrationWarning,
            renyi.ConvergenceWarning,
        )
    )
    message = settings.junk(draw)

    def run() -> Any:
        error = kind(message) if draw.chance(0.5) else kind()
        again = pickle.loads(pickle.dumps(kind(str(message))))
        assert str(again) == str(kind(str(message)))
        assert len(str(error)) <= 1000 or issubclass(kind, Warning)
        return str(error)

    return Call(f"{kind.__name__}({message!r:.80})", run, settled=False)


@about("experiments", weight=0.2)
def _experiments(draw: Draw) -> Call:
    """Names and arguments that cannot be, since experiments take minutes."""
    name = draw.one(("", "nothing", None, 3, "Power"))
    folder = draw.folder if draw.chance(0.5) else settings.junk(draw)
    function = draw.one((renyi.experiments.run_experiment, renyi.experiments.draw_experiment))
    return Call(f"{function.__name__}({name!r}, {folder!r:.80})", lambda: function(name, folder))


@about("sklearn.rdc_score", weight=2)
def _rdc_score(draw: Draw) -> Call:
    n = draw.rows()
    table, names = holders.table(draw, n, streamed=0.02)
    target = holders.column(draw, n) if draw.chance(0.7) else cells.plain(draw.rng, n)
    return _call(draw, renyi.sklearn.rdc_score, table, target, names=names, n=n)
