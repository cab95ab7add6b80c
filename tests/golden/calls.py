"""Results of thirty varied calls, to the last bit: run before and after a change that must move no number.

``python tests/golden/calls.py before.json`` writes every number as hexadecimal text;
``python tests/golden/calls.py after.json before.json`` also compares, and names what moved.
Bits depend on the machine's BLAS, so the files are compared on one machine and not kept.
"""

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import renyi
from renyi.sklearn import RDCSelector

Calls = dict[str, Callable[[], Any]]


def complete(rows: int, columns: int) -> dict[str, np.ndarray]:
    """Chains of numbers, each a function of the one before, with noise."""
    rng = np.random.default_rng(rows + columns)
    found = [rng.normal(size=rows)]
    for k in range(1, columns):
        found.append((found[-1] ** 2 if k % 3 == 0 else np.sin(2 * found[-1])) + 0.5 * rng.normal(size=rows))
    return {f"c{k}": values for k, values in enumerate(found)}


def mixed(rows: int) -> pd.DataFrame:
    """Numbers with gaps and ties, a category with rare levels, a boolean, dates, an identifier and a constant."""
    rng = np.random.default_rng(rows)
    x = rng.normal(size=rows)
    level = np.array(["a", "b", "c", "d", "e", "f"])[np.clip(np.abs(x * 2).astype(int), 0, 5)]
    frame = pd.DataFrame(
        {
            "x": x,
            "y": np.where(rng.random(rows) < 0.2, np.nan, x**2 + 0.3 * rng.normal(size=rows)),
            "tied": np.round(x),
            "zeros": np.where(rng.random(rows) < 0.8, 0.0, rng.exponential(size=rows)),
            "level": np.where(rng.random(rows) < 0.1, None, level),
            "flag": x > 0.5,
            "day": np.datetime64("2026-01-01") + rng.integers(0, 300, rows).astype("m8[D]"),
            "noise": rng.random(rows),
            "id": [f"row {k}" for k in range(rows)],
            "constant": 1.0,
        }
    )
    frame.loc[rng.random(rows) < 0.1, "noise"] = np.nan
    return frame


def batches(frame: pd.DataFrame, size: int) -> Iterator[pd.DataFrame]:
    """A frame in parts."""
    return (frame.iloc[start : start + size] for start in range(0, len(frame), size))


def accumulated(frame: pd.DataFrame) -> Any:
    """Two accumulators that share a plan, merged."""
    found = renyi.Accumulator()
    for part in batches(frame, 700):
        found.update(part)
    first, second = (found.second_pass() for _ in range(2))
    for number, part in enumerate(batches(frame, 450)):
        (first, second)[number % 2].update(part)
    second.merge(first)
    return second.result()


def calls(folder: Path) -> Calls:
    """Every call by its name."""
    wide, long, table = complete(300, 40), complete(30_000, 5), mixed(2000)
    x, y = long["c0"], long["c1"]
    short = {name: values[:60] for name, values in wide.items()}
    group = renyi.categorical(table["level"])
    table.to_parquet(folder / "table.parquet")
    table.to_csv(folder / "table.csv", index=False)
    vectors = np.column_stack((x, long["c2"]))[:800]
    found: Calls = {
        "rdc short": lambda: renyi.rdc(x[:50], y[:50]),
        "rdc middle": lambda: renyi.rdc(x[:3000], y[:3000], debias=True),
        "rdc long": lambda: renyi.rdc(x, y),
        "rdc seeded": lambda: renyi.rdc(x[:500], y[:500], k=10, s=2.0, rng=3),
        "rdc vectors": lambda: renyi.rdc(vectors, y[:800]),
        "rdc category": lambda: renyi.rdc(group, table["noise"], missing="listwise"),
        "test short": lambda: renyi.independence_test(x[:40], long["c4"][:40]),
        "test long": lambda: renyi.independence_test(x, long["c4"]),
        "test zeros": lambda: renyi.independence_test(table["zeros"], table["noise"], missing="listwise"),
        "test category": lambda: renyi.independence_test(group, table["flag"], missing="listwise"),
        "test permutation": lambda: renyi.independence_test(x[:200], long["c4"][:200], method="permutation"),
        "conditional": lambda: renyi.conditional_test(x[:600], long["c2"][:600], y[:600]),
        "transformations": lambda: renyi.transformations(x[:500], y[:500]),
        "matrix wide": lambda: renyi.matrix(wide),
        "matrix short": lambda: renyi.matrix(short),
        "matrix long": lambda: renyi.matrix(long),
        "matrix mixed": lambda: renyi.matrix(table),
        "matrix listwise": lambda: renyi.matrix(table, missing="listwise"),
        "matrix other": lambda: renyi.matrix(table[["x", "level"]], table[["y", "flag", "noise"]]),
        "matrix vectors": lambda: renyi.matrix(table, vectors={"both": ["x", "noise"]}),
        "matrix float32": lambda: renyi.matrix({k: v.astype(np.float32) for k, v in wide.items()}),
        "matrix file": lambda: renyi.matrix(str(folder / "table.parquet"), memory="8MB"),
        "matrix text": lambda: renyi.matrix(str(folder / "table.csv"), memory="8MB"),
        "matrix iterator": lambda: renyi.matrix(batches(table, 333)),
        "accumulator": lambda: accumulated(table),
        "pairs": lambda: renyi.pairs(pd.DataFrame(wide), top=50, fdr=1.0).to_frame(),
        "screen": lambda: renyi.screen(table, "y"),
        "screen given": lambda: renyi.screen(table, "y", given="noise"),
        "selector": lambda: RDCSelector(n_features_to_select=4).fit(pd.DataFrame(wide).drop(columns="c1"), wide["c1"]),
        "selector gaps": lambda: RDCSelector(n_features_to_select=3).fit(
            table[["x", "tied", "zeros", "noise"]], table["flag"]
        ),
    }
    for name in renyi.measures():
        if name != "rdc":
            found[f"measure {name}"] = lambda name=name: renyi.matrix(
                {k: v[:120] for k, v in list(wide.items())[:4]}, measure=name
            )
            found[f"test {name}"] = lambda name=name: renyi.measure(name).test(x[:80], y[:80])
    return found


def plain(value: Any) -> Any:
    """Numbers of a result in hexadecimal, whatever holds them."""
    if isinstance(value, (bool, str, int, type(None))):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, pd.DataFrame):
        return {str(name): plain(value[name].to_numpy()) for name in value.columns}
    if hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    names = [name for name in dir(value) if not name.startswith("_")]
    kept = {}
    for name in names:
        try:
            item = getattr(value, name)
        except (AttributeError, ValueError, renyi.RenyiError):
            continue
        flat = isinstance(item, (tuple, list)) and all(isinstance(part, (str, float, np.floating)) for part in item)
        if flat or isinstance(item, (bool, str, int, float, np.floating, np.ndarray)):
            kept[name] = plain(item)
    return {**kept, "text": repr(value)}


def main() -> int:
    """Write all results, and compare them with earlier ones."""
    warnings.simplefilter("ignore")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)).items():
            try:
                results[name] = plain(call())
            except renyi.RenyiError as error:
                results[name] = f"refused: {error}"
    Path(sys.argv[1]).write_text(json.dumps(results, indent=1, sort_keys=True))
    if len(sys.argv) == 2:
        print(f"{len(results)} results written")
        return 0
    before = json.loads(Path(sys.argv[2]).read_text())
    after = json.loads(Path(sys.argv[1]).read_text())
    moved = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    print(f"{len(after)} results, {len(moved)} moved", *moved, sep="\n  ")
    return bool(moved)


if __name__ == "__main__":
    sys.exit(main())
