"""Time and memory of whole tables beside pandas, NumPy and dcor, in one run.

`python benchmarks tables_of_pairs` takes about five minutes and writes results/tables_of_pairs.json and
docs/validation/speed-tables.md.
"""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dcor
import numpy as np
import pandas as pd
import polars as pl

import renyi
from harness import best_times, extra_memory, record
from renyi.data.files.table_files import read_table

DOCS = Path(__file__).parents[2] / "docs" / "validation/speed-tables.md"
N_ROWS, N_COLUMNS, N_PAIRS_OF_DCOR = 10_000, 300, 200


def values_and_pvalues(table: Any) -> None:
    found = renyi.matrix(table)
    _ = found.values, found.pvalues


def table(n_rows: int, n_columns: int, *, missing: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(n_rows + n_columns)
    values = rng.standard_normal((n_rows, n_columns))
    values[:, 1] += values[:, 0]
    if missing:
        values[rng.random(values.shape) < missing] = np.nan
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(n_columns)])


def wide() -> dict[str, Any]:
    """300 columns × 10,000 rows, complete and with missing cells."""
    complete, gaps = table(N_ROWS, N_COLUMNS), table(N_ROWS, N_COLUMNS, missing=0.3)
    numbers = complete.to_numpy().T.copy()
    calls: dict[str, Callable[[], object]] = {
        "matrix": partial(values_and_pvalues, complete),
        "matrix, 30 % missing": partial(values_and_pvalues, gaps),
        "spearman of pandas": partial(complete.corr, "spearman"),
        "corrcoef of NumPy": partial(np.corrcoef, numbers),
    }
    seconds = best_times(calls, seconds=30)
    pairs = list(itertools.islice(itertools.combinations(range(N_COLUMNS), 2), N_PAIRS_OF_DCOR))
    start = time.perf_counter()
    for i, j in pairs:
        dcor.distance_correlation(numbers[i], numbers[j], method="avl")
    n_all = N_COLUMNS * (N_COLUMNS - 1) // 2
    seconds["all pairs by dcor (from 200)"] = (time.perf_counter() - start) * n_all / len(pairs)
    return {"seconds": seconds}


def long() -> dict[str, Any]:
    """20 columns × a million rows."""
    frame = table(1_000_000, 20)
    columns = [frame[name].to_numpy().copy() for name in frame]
    calls: dict[str, Callable[[], object]] = {
        "matrix": partial(values_and_pvalues, frame),
        "20 argsorts": lambda: [np.argsort(column) for column in columns],
    }
    return {"seconds": best_times(calls, seconds=10)}


def memory() -> dict[str, int]:
    """Bytes above the input, 1,000 columns × 10,000 rows."""
    prepare = "import pandas as pd\ntable = pd.DataFrame(rng.standard_normal((10_000, 1_000)))"
    return {"above the input": extra_memory(prepare, "found = renyi.matrix(table); found.values, found.pvalues")}


def file() -> dict[str, Any]:
    """A CSV file of 100 MB: `renyi scan` beside reading it and `renyi.matrix`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        pl.from_pandas(table(250_000, 21)).write_csv(path)
        scan = [sys.executable, "-m", "renyi", "scan", str(path), "--json"]
        calls: dict[str, Callable[[], object]] = {
            "scan": lambda: subprocess.run(scan, check=True, capture_output=True),
            "read and matrix": lambda: values_and_pvalues(read_table(path).frame),
        }
        return {"megabytes": path.stat().st_size / 1e6, "seconds": best_times(calls, seconds=5)}


def start() -> dict[str, Any]:
    """Commands in a fresh process; the table has the size and the types of a passenger list."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        rng = np.random.default_rng(0)
        columns: dict[str, Any] = {f"number {j}": rng.standard_normal(891) for j in range(6)}
        columns |= {f"category {j}": rng.choice(["a", "b", "c"], 891) for j in range(9)}
        pl.DataFrame(columns).write_csv(path)
        command = [sys.executable, "-m", "renyi"]
        calls: dict[str, Callable[[], object]] = {
            "renyi --help": lambda: subprocess.run([*command, "--help"], check=True, capture_output=True),
            "renyi scan, 891 × 15": lambda: subprocess.run([*command, "scan", path], check=True, capture_output=True),
        }
        return {"seconds": best_times(calls, seconds=5)}


def page(results: dict[str, Any]) -> str:
    wide, long, file = (results[name]["seconds"] for name in ("wide", "long", "file"))
    ours = wide["matrix"]
    ratios = [
        ("matrix ÷ Spearman of pandas, 300 × 10,000", ours / wide["spearman of pandas"], "1.0"),
        ("matrix ÷ `corrcoef`", ours / wide["corrcoef of NumPy"], "60"),
        ("all pairs by dcor ÷ matrix", wide["all pairs by dcor (from 200)"] / ours, "at least 300"),
        ("30 % missing ÷ complete", wide["matrix, 30 % missing"] / ours, "4"),
        ("matrix ÷ 20 `argsort`, 20 × 10⁶", long["matrix"] / long["20 argsorts"], "3"),
        ("`renyi scan` ÷ reading and matrix, 100 MB of CSV", file["scan"] / file["read and matrix"], "2"),
    ]
    lines = [
        "# Tables: time and memory",
        "",
        "Made by `benchmarks/speed/tables_of_pairs.py` on 2 cores. "
        "Best times in seconds; calls take turns in one process.",
        "`matrix` gives values and p-values.",
        "",
        "| ratio | here | aim |",
        "|---|---:|---:|",
        *(f"| {name} | {value:.2f} | {aim} |" for name, value, aim in ratios),
        "",
        "| call | seconds |",
        "|---|---:|",
        *(f"| {name}, 300 × 10,000 | {seconds:.2f} |" for name, seconds in wide.items()),
        *(f"| {name}, 20 × 10⁶ | {seconds:.2f} |" for name, seconds in long.items()),
        *(f"| {name}, 100 MB of CSV | {seconds:.2f} |" for name, seconds in file.items()),
        *(f"| {name} (fresh process) | {seconds:.2f} |" for name, seconds in results["start"]["seconds"].items()),
        "",
        f"Peak memory above the input, 1,000 × 10,000: {results['memory']['above the input'] / 1e6:,.0f} MB.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    results: dict[str, Any] = {}
    for study in (wide, long, memory, file, start):
        results[study.__name__] = study()
        print(study.__name__, results[study.__name__], flush=True)
    record("tables_of_pairs", results, "numpy", "scipy", "pandas", "polars", "dcor")
    DOCS.write_text(page(results))
