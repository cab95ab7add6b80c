"""Tables of all kinds of columns with gaps: categories beside numbers, a long mixed table and its report, a CSV file.

python benchmarks kinds [--rows 500000] writes benchmarks/results/kinds.json; 500,000 rows take about a minute and 3 GB.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import renyi
from harness import best_times, record

GAPS, ROWS_OF_GROUP, ROWS_OF_FILE = 0.1, 100_000, 1_000_000
_READ_AND_RANK = "import pandas as pd; pd.read_csv({0!r}).corr('spearman', numeric_only=True)"


def numbers(n: int, k: int, rng: np.random.Generator) -> dict[str, object]:
    return {f"number {i}": rng.normal(size=n) for i in range(k)}


def categories(n: int, k: int, rng: np.random.Generator) -> dict[str, object]:
    """Of 2 to 8 levels."""
    names = np.array(list("abcdefgh"), dtype=object)
    return {f"category {i}": names[rng.integers(0, 2 + i % 7, n)] for i in range(k)}


def ties(n: int, k: int, rng: np.random.Generator) -> dict[str, object]:
    return {f"ties {i}": np.round(5 * rng.normal(size=n)) for i in range(k)}


def dates(n: int, k: int, rng: np.random.Generator) -> dict[str, object]:
    """Days, and seconds."""
    start = pd.Timestamp("2020-01-01")
    spans = [rng.integers(0, 1000 if i % 2 else 10**8, n).astype(f"m8[{'D' if i % 2 else 's'}]") for i in range(k)]
    return {f"date {i}": start + pd.to_timedelta(span) for i, span in enumerate(spans)}


def with_gaps(columns: dict[str, object], rng: np.random.Generator) -> pd.DataFrame:
    frame = pd.DataFrame(columns)
    return frame.mask(rng.random(frame.shape) < GAPS)


def once(call: Callable[[], object]) -> dict[str, float]:
    """Seconds on the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    found = {"seconds": time.perf_counter() - clock, "cpu_seconds": time.process_time() - processor}
    return {name: round(value, 2) for name, value in found.items()}


def groups(rng: np.random.Generator) -> dict[str, float]:
    """Twelve columns of one kind."""
    tables = {
        make.__name__: with_gaps(make(ROWS_OF_GROUP, 12, rng), rng) for make in (numbers, categories, ties, dates)
    }
    found = best_times({name: partial(renyi.matrix, table) for name, table in tables.items()})
    seconds = {f"{name}, seconds": round(value, 2) for name, value in found.items()}
    return {**seconds, "categories over numbers": round(found["categories"] / found["numbers"], 2)}


def mixed(n: int, rng: np.random.Generator) -> dict[str, object]:
    """Fifty columns of all kinds, and the report."""
    columns = {**categories(n, 15, rng), **numbers(n, 15, rng), **ties(n, 10, rng), **dates(n, 10, rng)}
    table, found = with_gaps(columns, rng), []
    matrix = once(lambda: found.append(renyi.matrix(table)))
    with tempfile.TemporaryDirectory() as folder:
        report = once(lambda: found[0].report(str(Path(folder) / "report.html")))
    return {"rows": n, "columns": len(columns), "matrix": matrix, "report": report}


def files(rng: np.random.Generator) -> dict[str, object]:
    """`renyi scan` of eight columns, beside pandas, which reads them and ranks the numbers."""
    n = ROWS_OF_FILE
    found: dict[str, object] = {}
    kinds = {"numbers": pd.DataFrame(numbers(n, 8, rng))}
    kinds["mixed"] = with_gaps({**numbers(n, 2, rng), **ties(n, 2, rng), **categories(n, 2, rng)}, rng)
    for name, column in dates(n, 2, rng).items():
        kinds["mixed"][name] = column
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.csv")
        scan = [sys.executable, "-m", "renyi", "scan", path]
        calls = {
            "pandas": [sys.executable, "-c", _READ_AND_RANK.format(path)],
            "scan": scan,
            "scan --html": [*scan, "--html", str(Path(folder) / "report.html")],
        }
        for kind, table in kinds.items():
            table.to_csv(path, index=False)
            runs: dict[str, Callable[[], object]] = {
                name: partial(subprocess.run, call, check=True, capture_output=True) for name, call in calls.items()
            }
            seconds = best_times(runs, seconds=0.0, least=2)
            ratio = {"scan over pandas": seconds["scan"] / seconds["pandas"]}
            found[kind] = {name: round(value, 2) for name, value in {**seconds, **ratio}.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    rows, rng = parser.parse_args().rows, np.random.default_rng(0)
    found = {"12 columns x 100,000": groups(rng), "mixed": mixed(rows, rng), "1,000,000 rows of CSV": files(rng)}
    for name, result in found.items():
        print(name, result)
    record("kinds", found, "numpy", "pandas", "polars")


if __name__ == "__main__":
    main()
