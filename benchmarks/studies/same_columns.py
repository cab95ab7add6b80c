"""Which columns of real tables are taken for the same one, and which pairs come close to it.

`python benchmarks same_columns [DATA]` takes a few minutes and writes results/same_columns.json. DATA is a
folder of CSV files, by default ../shared/data. Every pair is listed whose |Spearman| is at least 0.98, or of which a
category has a coefficient of at least 0.98, on most of the rows that either column has.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import renyi
from harness import record

CLOSE = 0.98
# Tables of one kind of column by the thousands, and pairs that belong to different tables.
LEFT_OUT = ("nci60", "tuebingen_pairs")


def close_pairs(found: Any) -> list[dict[str, Any]]:
    """Pairs that are the same column or nearly so, closest first."""
    edges, made = found.edges, found.edges.found
    kinds = np.array([variable.column.kind for variable in edges.x])
    rows = np.array([variable.n_samples for variable in edges.x])
    has_levels = (kinds[made.i] == "category") | (kinds[made.j] == "category")
    close = np.where(has_levels, made.coefficient, np.abs(edges.spearman))
    has_rows = 2 * made.n > np.maximum(rows[made.i], rows[made.j])
    which = np.flatnonzero((close >= CLOSE) & has_rows)
    return [
        {
            "x": found.names[made.i[k]],
            "y": found.names[made.j[k]],
            "by": "levels" if has_levels[k] else "ranks",
            "close": round(float(close[k]), 5),
            "coefficient": round(float(made.coefficient[k]), 5),
            "is_same": edges.is_alias(int(k)),
        }
        for k in which[np.argsort(-close[which], kind="stable")].tolist()
    ]


def main() -> None:
    """List close pairs of every table of a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    results = {}
    for path in sorted(folder.glob("*.csv*")):
        name = path.name.partition(".")[0]
        if name in LEFT_OUT:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results[name] = close_pairs(renyi.matrix(path))
        same = [pair for pair in results[name] if pair["is_same"]]
        print(f"{name}: {len(same)} of {len(results[name])} close pairs are the same")
    record("same_columns", {"tables": results})


if __name__ == "__main__":
    main()
