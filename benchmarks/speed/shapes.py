"""Time of short, wide and gappy tables beside pandas, in one run: shapes on which the interpreter is the limit.

`python benchmarks shapes [DATA]` takes about three minutes on two cores and writes results/shapes.json; DATA is a
folder with `who.csv`, 202 rows of 358 columns with a third of their cells missing, which is compared where it is given.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import renyi
from harness import record


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def beside_pandas(call: Callable[[], object], table: pd.DataFrame) -> dict[str, float]:
    """The time of a call, and that of Spearman's correlations by pandas."""
    by_pandas = seconds(lambda: table.corr("spearman"))
    own = seconds(call)
    return {"seconds": round(own, 2), "pandas": round(by_pandas, 2), "over pandas": round(own / by_pandas, 1)}


def normals(n_rows: int, n_columns: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(n_columns).standard_normal((n_rows, n_columns)))


def gappy(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Numbers of which a third is missing; every second column is rounded, and every fourth has many ties."""
    rng = np.random.default_rng(n_rows)
    values = rng.standard_normal((n_rows, n_columns))
    values += rng.standard_normal((n_rows, 1)) * rng.random(n_columns)
    values[:, ::2] = np.round(values[:, ::2], 1)
    values[:, ::4] = np.round(values[:, ::4])
    # Surveys leave whole stretches of rows out: some columns have nearly all of them, others a fifth.
    share = rng.beta(1.0, 2.0, n_columns) * 0.95
    return pd.DataFrame(np.where(rng.random(values.shape) < share, np.nan, values))


def main(data: Path | None) -> None:
    renyi.matrix(gappy(60, 4))  # what is made once
    found: dict[str, object] = {}
    wide = normals(1_000, 2_000)
    found["matrix, 2,000 x 1,000"] = beside_pandas(lambda: renyi.matrix(wide), wide)
    for n_rows in (100, 20):
        genes = normals(n_rows, 4_000)
        found[f"pairs, 4,000 x {n_rows}"] = beside_pandas(lambda genes=genes: renyi.pairs(genes), genes)  # type: ignore[misc]
    short = gappy(200, 360)
    found["matrix, 360 x 200, a third missing"] = {"seconds": round(seconds(lambda: renyi.matrix(short)), 2)}
    if data is not None:
        who = pd.read_csv(data / "who.csv")
        found["matrix, who"] = {"seconds": round(seconds(lambda: renyi.matrix(who)), 2)}
    long = np.random.default_rng(0).standard_normal((10_000, 300))
    gaps = np.where(np.random.default_rng(1).random(long.shape) < 0.3, np.nan, long)
    for name, table in {"complete": long, "30 % missing": gaps}.items():
        renyi.matrix(table[:, :20])
        double, single = (
            min(seconds(lambda values=values: renyi.matrix(values)) for _ in range(3))  # type: ignore[misc]
            for values in (table, table.astype(np.float32))
        )
        found[f"matrix, 300 x 10,000, {name}"] = {
            "seconds": round(double, 2),
            "float32": round(single, 2),
            "float32 over float64": round(single / double, 2),
        }
    for name, row in found.items():
        print(name, row, flush=True)
    record("shapes", found, "numpy", "pandas")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path)
    main(parser.parse_args().data)
