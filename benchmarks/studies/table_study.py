"""How often `renyi.matrix` rejects columns that have nothing to do with one another.

`python benchmarks table_study [DATA]` takes about half an hour on one core, writes results/table_study.json and the
tables of docs/validation/tables.md. DATA is a folder of CSV files, by default ../shared/data; tables that are not there
are left out. A run that was cut short goes on where it ended, by results/table_study.part.jsonl. `--share 0.1` takes a
tenth of the seeds and pairs, for a look: it writes nothing but what it prints.

Real tables have each of their columns permuted by itself, with its missing cells. Generated columns are independent and
compared in many tables of two groups. A p-value depends on the order of two columns relative to one another, and these
relative orders are independent for any two pairs of columns, also where they share one: so errors are binomial ones.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import renyi
from harness import RESULTS, record
from inference_tables import excess, recorded
from tables import DOCS, provenance, renew, table

Rng: TypeAlias = np.random.Generator
Cells: TypeAlias = NDArray[Any]
Group: TypeAlias = dict[str, Any]

LEVELS = (0.05, 0.01, 1e-3)
Q = 0.05
PART = RESULTS / "table_study.part.jsonl"

# Real tables: the most rows and columns that are taken, and the seeds, fewer for those that take long.
MOST_ROWS = 5000
TABLES: dict[str, tuple[int | None, int]] = {
    "titanic": (None, 40),
    "automobile": (None, 40),
    "penguins": (None, 40),
    "diamonds": (None, 40),
    "taxis": (None, 40),
    "telco_churn": (None, 40),
    "adult": (None, 40),
    "nycflights": (None, 40),
    "ames": (None, 10),
    "crime_full": (None, 10),
    "who": (60, 10),
}


def read_table(folder: Path, name: str, n_columns: int | None) -> Any:
    """The first columns of a table, and a random part of its rows where there are many; None where it is not there."""
    for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
        if path.exists():
            frame = pd.read_csv(path, low_memory=False).iloc[:, :n_columns]
            return frame.sample(MOST_ROWS, random_state=0) if len(frame) > MOST_ROWS else frame
    return None


def permuted(frame: Any, rng: Rng) -> Any:
    """Every column in an order of its own."""
    return pd.DataFrame(
        {name: frame[name].take(rng.permutation(len(frame))).reset_index(drop=True) for name in frame.columns}
    )


def real_table(name: str, frame: Any, n_seeds: int) -> dict[str, Any]:
    """Discoveries and small p-values in a table whose columns are permuted, over some seeds."""
    found, pvalues, started = [], [], time.perf_counter()
    for seed in range(n_seeds):
        result = renyi.matrix(permuted(frame, np.random.default_rng([list(TABLES).index(name), seed])))
        found.append(result.n_found(Q))
        pvalues.append(result.edges.pvalues[np.isfinite(result.edges.pvalues)])
    flat = np.concatenate(pvalues)
    row = {
        "table": name,
        "rows": len(frame),
        "columns": len(result.names),
        "left out": len(result.skipped),
        "missing cells": float(frame[list(result.names)].isna().mean().mean()),
        "seeds": n_seeds,
        "tests": len(flat),
        "tables with a discovery": int(np.count_nonzero(found)),
        "discoveries": int(np.sum(found)),
        "below": {str(level): int(np.count_nonzero(flat <= level)) for level in LEVELS},
        "smallest": float(flat.min()),
        "seconds": time.perf_counter() - started,
    }
    print(row, flush=True)
    return row


# Generated columns.


def normal(n: int, rng: Rng) -> Cells:
    return rng.standard_normal(n)


def zipf(n_levels: int) -> Callable[[int, Rng], Cells]:
    """Text of so many levels, the k-th one with a share of 1/k."""
    shares = 1 / np.arange(1, n_levels + 1)
    names = np.array([f"level {k}" for k in range(n_levels)], dtype=object)
    return lambda n, rng: names[rng.choice(n_levels, n, p=shares / shares.sum())]


def rounded(n: int, rng: Rng) -> Cells:
    return np.round(rng.standard_normal(n))


def poisson(n: int, rng: Rng) -> Cells:
    return rng.poisson(1.0, n).astype(float)


def zeros(share_of_zeros: float) -> Callable[[int, Rng], Cells]:
    return lambda n, rng: np.where(rng.random(n) < share_of_zeros, 0.0, rng.exponential(size=n))


def without(cells: Cells, rows: NDArray[np.bool_]) -> Cells:
    """The cells, missing in these rows."""
    gap: Any = None if cells.dtype == object else np.nan
    return np.where(rows, gap, cells)


def at_random(make: Callable[[int, Rng], Cells], lost: float = 0.3) -> Callable[[int, Rng], Cells]:
    """Cells missing completely at random."""
    return lambda n, rng: without(make(n, rng), rng.random(n) < lost)


def high_ones(make: Callable[[int, Rng], Cells], lost: float = 0.6) -> Callable[[int, Rng], Cells]:
    """Cells above the median missing more often than not: by what they hold."""

    def made(n: int, rng: Rng) -> Cells:
        cells = make(n, rng)
        return without(cells, (cells > np.median(cells)) & (rng.random(n) < lost))

    return made


N_COLUMNS = 10
# Columns that share one x, whose gaps are its doing.
N_PARTNERS = 40


def independent(
    x: Callable[[int, Rng], Cells], y: Callable[[int, Rng], Cells]
) -> Callable[[int, Rng], tuple[Group, Group]]:
    """Two groups of columns drawn one by one."""
    return lambda n, rng: (
        {f"x{k}": x(n, rng) for k in range(N_COLUMNS)},
        {f"y{k}": y(n, rng) for k in range(N_COLUMNS)},
    )


def by_the_other(y: Callable[[int, Rng], Cells], lost: float = 0.6) -> Callable[[int, Rng], tuple[Group, Group]]:
    """One x without gaps; of every y cells are missing where x is above its median."""

    def made(n: int, rng: Rng) -> tuple[Group, Group]:
        x = normal(n, rng)
        high = x > np.median(x)
        return {"x": x}, {f"y{k}": without(y(n, rng), high & (rng.random(n) < lost)) for k in range(N_PARTNERS)}

    return made


def by_both(n: int, rng: Rng) -> tuple[Group, Group]:
    """One x; of every y the cells are seen where x + y > 0. No x and y are independent on such rows."""
    x = normal(n, rng)
    ys = [normal(n, rng) for _ in range(N_PARTNERS)]
    return {"x": x}, {f"y{k}": without(y, x + y <= 0) for k, y in enumerate(ys)}


LENGTHS = (60, 200, 1000, 5000)
KINDS: dict[str, Callable[[int, Rng], tuple[Group, Group]]] = {
    "number, number": independent(normal, normal),
    "number, 2 levels": independent(normal, zipf(2)),
    "number, 7 levels": independent(normal, zipf(7)),
    "number, 30 levels": independent(normal, zipf(30)),
    "2 levels, 2 levels": independent(zipf(2), zipf(2)),
    "7 levels, 7 levels": independent(zipf(7), zipf(7)),
    "30 levels, 30 levels": independent(zipf(30), zipf(30)),
    "2 levels, 30 levels": independent(zipf(2), zipf(30)),
    "rounded, rounded": independent(rounded, rounded),
    "Poisson, Poisson": independent(poisson, poisson),
    "70 % zeros, 70 % zeros": independent(zeros(0.7), zeros(0.7)),
    "number, 95 % zeros": independent(normal, zeros(0.95)),
    "Poisson, 7 levels": independent(poisson, zipf(7)),
}
WITH_GAPS: dict[str, Callable[[int, Rng], tuple[Group, Group]]] = {
    "numbers, 30 % missing at random in both": independent(at_random(normal), at_random(normal)),
    "number, 7 levels, 30 % at random in both": independent(at_random(normal), at_random(zipf(7))),
    "30 levels twice, 30 % at random in both": independent(at_random(zipf(30)), at_random(zipf(30))),
    "70 % zeros twice, 30 % at random in both": independent(at_random(zeros(0.7)), at_random(zeros(0.7))),
    "numbers, y missing by x": by_the_other(normal),
    "7 levels missing by a number": by_the_other(zipf(7)),
    "70 % zeros missing by a number": by_the_other(zeros(0.7)),
    "numbers, y missing by y": independent(normal, high_ones(normal)),
    "numbers, both missing by themselves": independent(high_ones(normal), high_ones(normal)),
    "Poisson twice, both missing by themselves": independent(high_ones(poisson), high_ones(poisson)),
}
SELECTED: dict[str, Callable[[int, Rng], tuple[Group, Group]]] = {"numbers, seen where x + y > 0": by_both}


def n_pairs(kind: str, n: int) -> int:
    """Five thousand; fewer where most rows are permuted, which takes long, and where no precision is needed."""
    if kind in SELECTED:
        return 1000
    return 2000 if kind in WITH_GAPS and (n == 60 or kind.startswith("30 levels")) else 5000


def size(kind: str, n: int, share: float) -> dict[str, Any]:
    """Small p-values among independent pairs of one kind, from tables of two groups."""
    kinds = KINDS | WITH_GAPS | SELECTED
    rng, started = np.random.default_rng([list(kinds).index(kind), n, 3]), time.perf_counter()
    pvalues: list[NDArray[np.float64]] = []
    n_tests, n_asked = 0, 0
    while n_asked < share * n_pairs(kind, n):
        x, y = kinds[kind](n, rng)
        result = renyi.matrix(x, y)
        found = result.edges.pvalues[np.isfinite(result.edges.pvalues)]
        pvalues.append(found)
        n_tests, n_asked = n_tests + len(found), n_asked + len(x) * len(y)
    # Between tables, since small p-values could come together after all.
    shares = {level: np.array([np.mean(part <= level) for part in pvalues if len(part)]) for level in LEVELS}
    flat = np.concatenate(pvalues)
    row = {
        "data": kind,
        "n": n,
        "pairs": n_asked,
        "tests": n_tests,
        "tables": len(pvalues),
        "below": {str(level): int(np.count_nonzero(flat <= level)) for level in LEVELS},
        "errors between tables": {
            str(level): float(found.std(ddof=1) / np.sqrt(len(found))) for level, found in shares.items()
        },
        "seconds": time.perf_counter() - started,
    }
    print(row, flush=True)
    return row


# The page.


def with_error(row: dict[str, Any], level: float) -> str:
    """Share of p-values at most the level, with its error: the larger one of the nominal and that between tables."""
    nominal = np.sqrt(level * (1 - level) / row["tests"])
    error = max(nominal, row.get("errors between tables", {}).get(str(level), 0.0))
    return f"{row['below'][str(level)] / row['tests']:.4f} ± {error:.4f}"


def excesses(rows: list[dict[str, Any]], level: float) -> list[float]:
    """How many nominal errors the shares lie above their level."""
    return [
        excess({"sizes": {str(level): row["below"][str(level)] / row["tests"]}, "repetitions": row["tests"]}, level)
        for row in rows
    ]


def real_tables(rows: list[dict[str, Any]]) -> str:
    total: dict[str, Any] = {
        key: sum(row[key] for row in rows) for key in ("seeds", "tests", "tables with a discovery")
    }
    total["below"] = {str(level): sum(row["below"][str(level)] for row in rows) for level in LEVELS}
    any_found = total["tables with a discovery"] / total["seeds"]
    return (
        f"Of {total['seeds']:,} tables with permuted columns {total['tables with a discovery']} have a discovery at a "
        f"false discovery rate of 5 %, a share of {any_found:.3f} ± {np.sqrt(0.05 * 0.95 / total['seeds']):.3f}; "
        "theory allows 0.05, since here every discovery is a false one. Missing cells move with their column. Of "
        f"tables with more rows a random {MOST_ROWS:,} are used, of `who` the first 60 columns; tables that take long "
        "have fewer seeds.\n\n"
        + table(
            [
                "table",
                "rows",
                "columns",
                "left out",
                "missing",
                "seeds",
                "tests",
                "tables with any",
                "discoveries",
                "p ≤ 0.05",
                "p ≤ 0.01",
                "p ≤ 0.001",
            ],
            (
                [row["table"], f"{row['rows']:,}", row["columns"], row["left out"], f"{row['missing cells']:.0%}"]
                + [row["seeds"], f"{row['tests']:,}", row["tables with a discovery"], row["discoveries"]]
                + [with_error(row, level) for level in LEVELS]
                for row in rows
            ),
        )
        + "\nOver all tests: "
        + ", ".join(f"{with_error(total, level)} at {level:g}" for level in LEVELS)
        + ".\n"
    )


def generated(rows: list[dict[str, Any]], level: float) -> str:
    cells = {(row["data"], row["n"]): row for row in rows}
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    return table(
        ["columns", *(f"n = {n:,}" for n in LENGTHS)],
        ([kind, *(with_error(cells[kind, n], level) for n in LENGTHS)] for kind in kinds),
    )


def sizes_summary(rows: list[dict[str, Any]]) -> str:
    worst = {level: max(zip(excesses(rows, level), rows, strict=True), key=lambda pair: pair[0]) for level in LEVELS}
    said = "; ".join(
        f"{high:.1f} at {level:g} ({row['data']}, n = {row['n']:,})" for level, (high, row) in worst.items()
    )
    fewest, most = (choose(row["tests"] for row in rows) for choose in (min, max))
    return (
        f"Share of p-values at most a level, {fewest:,} to {most:,} tests a cell, from tables of two groups. "
        f"The largest excess over the level among {len(rows)} cells, in Monte Carlo errors: {said}. "
        "*Missing by x* and *by y*: cells are missing with a probability of 0.6 where that column is above its median. "
        "Sizes far below the level come from permutations of few rows with many ties. Errors are the larger one of the "
        "binomial and that between tables.\n"
    )


def write_page(found: dict[str, Any]) -> None:
    """The tables of docs/validation/tables.md."""
    independent_rows = found["complete"] + found["with gaps"]
    parts = [
        provenance(recorded("table_study"), "studies/table_study.py"),
        "## Real tables, every column permuted\n",
        real_tables(found["real"]) if found["real"] else "No table was there.\n",
        "## Generated columns of all types\n",
        sizes_summary(independent_rows),
        *(
            f"At {level:.0%}:\n\n{generated(found['complete'], level)}\n{title}, at {level:.0%}:\n\n"
            f"{generated(found['with gaps'], level)}"
            for level, title in ((0.05, "With missing cells"), (0.01, "With missing cells"))
        ),
        "## Selection by both columns\n",
        "Independent numbers x and y, but y is seen only where x + y > 0. On the rows that are left they do depend on "
        "one another, and the test says so. Share of p-values at most 5 %: "
        + ", ".join(f"{row['below']['0.05'] / row['tests']:.2f} at n = {row['n']:,}" for row in found["selected"])
        + f" ({found['selected'][0]['tests']:,} pairs each).\n",
    ]
    renew(DOCS / "validation/tables.md", "study", "\n".join(parts))


def once(key: str, made: Callable[[], dict[str, Any]], share: float) -> dict[str, Any]:
    """A row of the whole study, kept until all are there; of a part of it made anew."""
    if share < 1.0:
        return made()
    kept = dict(map(json.loads, PART.read_text().splitlines())) if PART.exists() else {}
    if key not in kept:
        kept[key] = made()
        with PART.open("a") as part:
            part.write(json.dumps([key, kept[key]]) + "\n")
    return cast(dict[str, Any], kept[key])


def main(folder: Path, share: float) -> None:
    def sizes(kinds: Iterable[str]) -> list[dict[str, Any]]:
        return [once(f"{kind}, {n}", partial(size, kind, n, share), share) for kind in kinds for n in LENGTHS]

    frames = {name: (read_table(folder, name, n_columns), seeds) for name, (n_columns, seeds) in TABLES.items()}
    results = {
        "real": [
            once(name, partial(real_table, name, frame, max(1, round(share * seeds))), share)
            for name, (frame, seeds) in frames.items()
            if frame is not None
        ],
        "complete": sizes(KINDS),
        "with gaps": sizes(WITH_GAPS),
        "selected": sizes(SELECTED),
    }
    if share == 1.0:
        record("table_study", results, "numpy", "scipy", "pandas")
        write_page(results)
        PART.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--share", type=float, default=1.0)
    asked = parser.parse_args()
    main(asked.data, asked.share)
