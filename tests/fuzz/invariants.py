"""What must hold on good data: answers that agree with one another."""

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import renyi

from . import cells
from .drawing import Call, Draw, about

# Sums in another order, and whatever follows from them.
_ROUNDING = 1e-7


def _close(found: Any, expected: Any, tolerance: float = _ROUNDING) -> None:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True), f"{found} is not {expected}"


def _columns(draw: Draw, least: int = 8) -> tuple[Any, Any]:
    n = draw.rows(least)
    x = cells.plain(draw.rng, n)
    noise = cells.plain(draw.rng, n)
    y = noise if draw.chance(0.5) else np.asarray(x, dtype=float) ** 2 + noise
    for column in (x, y):
        if len(np.unique(column)) < 2:
            column[0] += 1
    return x, y


def _held(check: Callable[[Draw], Callable[[], Any]]) -> Callable[[Draw], Call]:
    """A check with its data as a call."""

    def maker(draw: Draw) -> Call:
        return Call(f"invariant {check.__name__.strip('_')}", check(draw), settled=False)

    return maker


@about("rdc", weight=4)
@_held
def _range_and_symmetry(draw: Draw) -> Any:
    x, y = _columns(draw)
    s = draw.one((0.2, 3.0, 10.0))

    def run() -> None:
        found = renyi.rdc(x, y, s=s)
        assert 0.0 <= found <= 1.0
        _close(renyi.rdc(y, x, s=s), found)

    return run


@about("independence_test", weight=4)
@_held
def _order_and_maps(draw: Draw) -> Any:
    """Order of rows, increasing maps, and what is between 0 and 1."""
    x, y = _columns(draw)
    order = draw.rng.permutation(len(x))
    stretched = np.exp(np.asarray(x, dtype=float) / 10)

    def run() -> None:
        found = renyi.independence_test(x, y, order=None)
        assert 0.0 <= found.pvalue <= 1.0
        assert found.log_pvalue <= 0.0
        others = [renyi.independence_test(y, x, order=None), renyi.independence_test(x[order], y[order], order=None)]
        if len(np.unique(stretched)) == len(np.unique(x)):
            others.append(renyi.independence_test(stretched, y, order=None))
        for other in others:
            assert other.calibration == found.calibration
            _close(other.coefficient, found.coefficient, 1e-6)
            if found.n_resamples is None:
                _close(other.log_pvalue, found.log_pvalue, 1e-5)

    return run


@about("rdc", weight=4)
@_held
def _types_and_containers(draw: Draw) -> Any:
    x, y = _columns(draw)
    whole = np.round(np.asarray(x, dtype=float) * 8)
    types = ("f4", "f8", "i4", "i8", ">f8", "g")
    holders: list[Callable[[Any], Any]] = [
        list, tuple, pd.Series, pl.Series, pa.array, lambda data: data[:, None], np.ma.array,
        lambda data: pd.Series(data).convert_dtypes(),
    ]  # fmt: skip
    kind, hold = draw.one(types), draw.one(holders)

    def run() -> None:
        if len(np.unique(whole)) > 1:
            found = renyi.rdc(whole, y)
            _close(renyi.rdc(whole.astype(kind), y), found)
            _close(renyi.rdc(hold(whole), hold(np.asarray(y))), found)

    return run


def _frame(draw: Draw, least: int = 12) -> pd.DataFrame:
    n = draw.rows(least)
    frame = pd.DataFrame({name: cells.plain(draw.rng, n) for name in "abc"} | {"d": cells.labels(draw.rng, n)})
    if draw.chance(0.4):
        frame["b"] = frame["b"].astype(float).where(draw.rng.random(n) > 0.15)
    return frame


@about("matrix", weight=2)
@_held
def _pair_and_table(draw: Draw) -> Any:
    frame = _frame(draw)

    def run() -> None:
        found = renyi.matrix(frame)
        if {"a", "c"} <= set(found.names):
            i, j = found.names.index("a"), found.names.index("c")
            single = renyi.independence_test(frame["a"], frame["c"], order=None)
            _close(found.coefficient[i, j], single.coefficient, 1e-6)
            _close(found.values[i, j], renyi.rdc(frame["a"], frame["c"]), 1e-6)
            if single.n_resamples is None:
                _close(np.log(found.pvalues[i, j]), single.log_pvalue, 1e-4)
        _close(found.coefficient, found.coefficient.T)
        known = found.pvalues[~np.isnan(found.pvalues)]
        assert ((known >= 0) & (known <= 1)).all()

    return run


@about("matrix", "Accumulator", weight=2)
@_held
def _table_and_batches(draw: Draw) -> Any:
    frame = _frame(draw)
    cut = int(draw.rng.integers(1, len(frame)))

    def run() -> None:
        found = renyi.matrix(frame)
        first = renyi.Accumulator()
        parts = [frame[:cut], frame[cut:]]
        for part in parts:
            first.update(part)
        second = first.second_pass()
        for part in reversed(parts):
            other = second.empty()
            other.update(part)
            second.merge(other)
        merged = second.result()
        for other in (merged, renyi.matrix(iter(parts)), renyi.matrix(pl.from_pandas(frame).lazy())):
            assert tuple(other.names) == tuple(found.names), (other.names, found.names)
            _close(other.coefficient, found.coefficient, 1e-5)
            assert (other.n_samples == found.n_samples).all()

    return run


@about("screen", "pairs", weight=2)
@_held
def _screen_and_pairs(draw: Draw) -> Any:
    frame = _frame(draw)

    def run() -> None:
        found = renyi.matrix(frame)
        if "a" not in found.names:
            return
        screened = renyi.screen(frame, "a")
        for name, coefficient in zip(screened.names, screened.coefficient, strict=True):
            _close(coefficient, found.coefficient[found.names.index("a"), found.names.index(name)], 1e-6)
        best = renyi.pairs(frame, top=100, fdr=1.0)
        assert len(best.to_frame()) <= len(found.names) * (len(found.names) - 1) // 2

    return run


@about("adjust", weight=2)
@_held
def _adjusted(draw: Draw) -> Any:
    pvalues = draw.rng.random(draw.rows(1))
    method = draw.one(("bh", "by", "holm", "bonferroni"))
    order = draw.rng.permutation(len(pvalues))

    def run() -> None:
        found = renyi.adjust(pvalues, method)
        assert ((found >= pvalues) & (found <= 1)).all()
        assert (np.diff(found[np.argsort(pvalues)]) >= 0).all()
        _close(renyi.adjust(pvalues[order], method), found[order], 1e-12)

    return run


@about("compare", weight=1)
@_held
def _nothing_changed(draw: Draw) -> Any:
    frame = _frame(draw, 20)

    def run() -> None:
        found = renyi.compare(frame, frame.copy())
        assert found.are_equal
        assert found.n_found() == (0, 0)

    return run


@about("rdc", "matrix", weight=0.3)
@_held
def _threads(draw: Draw) -> Any:
    frame = _frame(draw)

    def run() -> None:
        expected = renyi.matrix(frame).coefficient
        with ThreadPoolExecutor(3) as pool:
            for found in pool.map(renyi.matrix, [frame] * 3):
                assert np.array_equal(found.coefficient, expected, equal_nan=True)

    return run


def _coefficient(x: Any, y: Any) -> float:
    return renyi.rdc(x, y)


@about("rdc", weight=0.015)
@_held
def _processes(draw: Draw) -> Any:
    """In a process that was forked after threads had run, or started anew."""
    x, y = _columns(draw)
    how = "fork" if draw.chance(0.8) else "spawn"

    def run() -> None:
        expected = renyi.rdc(x, y)
        with ProcessPoolExecutor(1, mp_context=get_context(how)) as pool:
            _close(pool.submit(_coefficient, x, y).result(timeout=100), expected)

    return run


@about("measure", weight=2)
@_held
def _measures(draw: Draw) -> Any:
    x, y = _columns(draw)
    name = draw.one([name for name in renyi.measures() if name != "mutual_info"])
    order = draw.rng.permutation(len(x))

    def run() -> None:
        measure = renyi.measure(name)
        found = measure(x, y)
        low, high = measure.statement.range
        assert np.isnan(found) or low - 1e-9 <= found <= high + 1e-9, found
        assert pickle.loads(pickle.dumps(measure)) == measure
        if name not in ("ace", "xi"):  # xi breaks ties by chance, ace goes through rows in their order
            _close(measure(x[order], y[order]), found, 1e-4)
        _close(measure(x, y), found, 0)

    return run
