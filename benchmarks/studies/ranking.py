"""What pairs of a table are best ranked by, so that the first ones of a part of the rows hold on the others.

`python benchmarks ranking [DATA]` takes an hour or two on one core and writes results/ranking.json table by table. DATA
is a folder of CSV files, by default ../shared/data; tables that are not there are left out, but for one that is
generated: loans, with flags of one to three rows.

A third of the rows is drawn, and findings are ranked by each rule. `overlap` is the share of the first twenty of a draw
that are among the first twenty of all rows by the same rule; `held out` is the mean strength, on the other rows, of the
first twenty of a draw, and `worst` that of the three weakest of them, which shows what single rows have put there.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.inference.debias import LIGHT, effective_rows, lower_end
from table_study import read_table

Array: TypeAlias = NDArray[np.float64]

N_DRAWS, TOP, MOST_LOOKED_AT = 50, 20, 200
TABLES: dict[str, int | None] = {
    "titanic": None,
    "automobile": None,
    "telco_churn": None,
    "nycflights": None,
    "taxis": None,
    "who": 60,
}


def loans(n: int = 10_000) -> Any:
    """Numbers that depend on one another more or less, a grade, and flags that one to three rows have."""
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((n, 4))
    columns: dict[str, Any] = {}
    for k in range(14):
        mixture = rng.standard_normal(4) * rng.choice([0.2, 0.6, 1.5])
        columns[f"number {k}"] = causes @ mixture + rng.standard_normal(n) * rng.choice([0.5, 1.0, 2.0])
    grades = np.digitize(causes[:, 0] + 0.5 * rng.standard_normal(n), [-1.5, -1.0, -0.5, 0.3, 1.0, 1.8])
    columns["grade"] = np.array(list("ABCDEFG"))[grades]
    columns["rate"] = np.round(3 * causes[:, 0] + 12 + 0.5 * rng.standard_normal(n), 2)
    places = {"late": [17], "default": [17], "fraud": [5, 17], "death": [40, 900, 7000], "loss": [40, 900, 7000]}
    for name, rows in places.items():
        columns[name] = np.isin(np.arange(n), rows).astype(float)
    return pd.DataFrame(columns)


def ranked(frame: Any) -> dict[str, list[str]]:
    """The first findings of a table, by every rule."""
    found = renyi.matrix(frame)
    edges = found.edges
    strongest = np.flatnonzero(found.edge_qvalues <= 0.05)
    strongest = strongest[np.argsort(-edges.strength[strongest], kind="stable")[:MOST_LOOKED_AT]]
    strength, n = edges.strength[strongest], edges.found.n[strongest].astype(np.float64)
    bases = [edges._bases(int(edge)) for edge in strongest]
    rows = np.array([effective_rows(x, y, edges._cross(int(k))) for (x, y), k in zip(bases, strongest, strict=True)])
    is_light = np.array([x.largest_leverage * y.largest_leverage <= LIGHT for x, y in bases])
    free = np.array([x.n_samples - x.dimension - y.dimension for x, y in bases])
    rules = {
        "strength": strength,
        "lower end, all rows": strength - 1.645 * (1.0 - np.maximum(strength, 0.0) ** 2) / np.sqrt(free),
        "lower end, rows that carry it": lower_end(strength, rows),
        "the same, where a row may weigh much": lower_end(strength, np.where(is_light, n / 3, np.minimum(rows, n / 3))),
    }
    names = [f"{edges.x[edges.found.i[k]].column.name} | {edges.y[edges.found.j[k]].column.name}" for k in strongest]
    return {rule: [names[k] for k in np.argsort(-value, kind="stable")[:TOP]] for rule, value in rules.items()}


def strengths(frame: Any) -> dict[str, float]:
    edges = renyi.matrix(frame).edges
    pairs = zip(edges.found.i, edges.found.j, np.nan_to_num(edges.debiased), strict=True)
    return {f"{edges.x[i].column.name} | {edges.y[j].column.name}": float(value) for i, j, value in pairs}


def study(name: str, frame: Any) -> dict[str, Any]:
    whole = ranked(frame)
    numbers: dict[str, Any] = {}
    for draw in range(N_DRAWS):
        order = np.random.default_rng(draw).permutation(len(frame))
        part, rest = (frame.iloc[rows].reset_index(drop=True) for rows in np.split(order, [len(frame) // 3]))
        elsewhere = strengths(rest)
        for rule, top in ranked(part).items():
            held_out = np.sort([elsewhere.get(pair, 0.0) for pair in top])
            overlap = len(set(top) & set(whole[rule])) / TOP
            numbers.setdefault(rule, []).append((overlap, held_out.mean(), held_out[:3].mean()))
    told = {
        rule: dict(zip(("overlap", "held out", "worst"), np.mean(values, axis=0).tolist(), strict=True))
        | {"error of overlap": float(np.std([value[0] for value in values]) / np.sqrt(N_DRAWS))}
        for rule, values in numbers.items()
    }
    row = {"table": name, "rows": len(frame), "draws": N_DRAWS, "rules": told}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    frames = {"loans": loans()} | {name: read_table(folder, name, most) for name, most in TABLES.items()}
    rows: list[dict[str, Any]] = []
    for name, frame in frames.items():
        if frame is not None:
            rows.append(study(name, frame))
            record("ranking", {"tables": rows}, "numpy", "scipy")
