"""False discoveries of whole tables: of columns and of pairs, where nothing changed and where some of them did.

`python benchmarks change_tables` takes about two minutes on one core and writes results/change_tables.json. Tables have
twelve columns: numbers that share factors, a count, a category and gaps. A discovery is false if its column, or the
dependence of its pair, is the same in both tables; none is possible but these.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record

Rng: TypeAlias = np.random.Generator

DRAWS, LEVEL, SEED = 200, 0.05, 13
ROWS = (300, 500)
# Numbers whose noise is drawn anew after the change, so that their dependences vanish; and columns that are mapped.
CHANGES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "nothing": ((), ()),
    "one column and its dependences": ((0,), ()),
    "three columns and their dependences": ((0, 4, 8), ()),
    "four columns, no dependence": ((), (1, 3, 5, 7)),
}


def table(n: int, rng: Rng, vanished: tuple[int, ...], mapped: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    factors = rng.standard_normal((3, n))
    columns = {}
    for k in range(10):
        source = rng.standard_normal(n) if k in vanished else factors[k % 3]
        values = source + rng.standard_normal(n)
        values = values**2 / 2 + 0.5 * rng.standard_normal(n) if k == 9 else values
        columns[f"x{k}"] = np.exp(values) if k in mapped else values
    columns["x1"] = np.where(rng.random(n) < 0.1, np.nan, columns["x1"])
    columns["x2"] = np.round(columns["x2"] * 2)
    columns["label"] = np.array(["low", "middle", "high"])[np.digitize(factors[0] + rng.standard_normal(n), [-1, 1])]
    columns["free"] = rng.standard_normal(n)
    return columns


def false_shares(name: str, rng: Rng) -> dict[str, tuple[int, int]]:
    """False discoveries and all discoveries, of columns and of pairs."""
    vanished, mapped = CHANGES[name]
    found = renyi.compare(table(ROWS[0], rng, (), ()), table(ROWS[1], rng, vanished, mapped))
    assert isinstance(found, renyi.Comparison)
    changed = {f"x{k}" for k in vanished}
    moved = {f"x{k}" for k in mapped}
    columns = [found.of_columns[k].column for k in found.ranked_columns(LEVEL)]
    pairs = [(found.names[found.of_pairs.i[k]], found.names[found.of_pairs.j[k]]) for k in found.ranked_pairs(LEVEL)]
    return {
        "columns": (sum(column not in moved for column in columns), len(columns)),
        "pairs": (sum(not changed & {*pair} for pair in pairs), len(pairs)),
    }


def main(*only: str) -> None:
    draws = max(4, int(DRAWS * float(only[0]))) if only else DRAWS
    rows = []
    for name in CHANGES:
        rng = np.random.default_rng([SEED, *name.encode()])
        found = [false_shares(name, rng) for _ in range(draws)]
        row: dict[str, Any] = {"changed": name, "rows": list(ROWS), "draws": draws}
        for what in ("columns", "pairs"):
            shares = np.array([draw[what][0] / max(draw[what][1], 1) for draw in found])
            row[what] = {
                "FDR": round(float(shares.mean()), 4),
                "error": round(float(shares.std() / np.sqrt(draws)), 4),
                "found": round(float(np.mean([draw[what][1] for draw in found])), 2),
            }
        rows.append(row)
        print(row, flush=True)
    if not only:
        record("change_tables", {"seed": SEED, "level": LEVEL, "tables": rows}, "numpy", "scipy")


if __name__ == "__main__":
    main(*sys.argv[1:])
