"""False discoveries of whole tables: of columns and of pairs, where nothing changed and where some of them did.

`python benchmarks change_tables` takes about five minutes on one core and writes results/change_tables.json. Tables
have twelve columns: numbers that share factors, a count, a category and gaps. A discovery is false if its column, or
the dependence of its pair, is the same in both tables; none is possible but these. Where nothing changed, it says too
how often the p-value of all together is small; `when` does so for when a change began among the parts of a table of
four columns. Names of what changed, or `when`, do these alone, and a number tries a share of the draws.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import RESULTS, record

Rng: TypeAlias = np.random.Generator

DRAWS, LEVEL, SEED = 200, 0.05, 13
ROWS = (300, 500)
# Where nothing changed; and parts of a table in which nothing did, with the rows of each.
DRAWS_OF_NOTHING, DRAWS_OF_PARTS, PARTS, ROWS_OF_PART = 1_000, 200, 6, 150
LEVELS = (0.01, 0.05, 0.1, 0.5)
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


def false_shares(name: str, rng: Rng) -> dict[str, Any]:
    """False discoveries and all discoveries, of columns and of pairs; and the p-value of all together."""
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
        "together": found.together,
    }


def began(rng: Rng) -> float:
    """The p-value of when a change began in a table where nothing did."""
    whole = table(PARTS * ROWS_OF_PART, rng, (), ())
    some = {name: whole[name] for name in ("x0", "x1", "x9", "label")}
    found = renyi.compare(some | {"part": np.repeat(np.arange(PARTS), ROWS_OF_PART)}, by="part")
    assert isinstance(found, renyi.Comparisons)
    assert found.when is not None
    return found.when.p


def sizes(pvalues: list[float]) -> dict[str, Any]:
    """How often p-values are at most some levels, with the errors of that."""
    p, n = np.array(pvalues), len(pvalues)
    return {
        "draws": n,
        "sizes": {str(level): round(float(np.mean(p <= level)), 4) for level in LEVELS},
        "errors": {str(level): round(float(np.sqrt(level * (1 - level) / n)), 4) for level in LEVELS},
    }


def studied(name: str, share: float) -> dict[str, Any]:
    rng = np.random.default_rng([SEED, *name.encode()])
    draws = max(4, int(share * (DRAWS if any(CHANGES[name]) else DRAWS_OF_NOTHING)))
    found = [false_shares(name, rng) for _ in range(draws)]
    row: dict[str, Any] = {"changed": name, "rows": list(ROWS), "draws": draws}
    for what in ("columns", "pairs"):
        shares = np.array([draw[what][0] / max(draw[what][1], 1) for draw in found])
        row[what] = {
            "FDR": round(float(shares.mean()), 4),
            "error": round(float(shares.std() / np.sqrt(draws)), 4),
            "found": round(float(np.mean([draw[what][1] for draw in found])), 2),
        }
    if not any(CHANGES[name]):
        row["together"] = sizes([draw["together"] for draw in found])
    print(row, flush=True)
    return row


def parts(share: float) -> dict[str, Any]:
    rng = np.random.default_rng([SEED, PARTS])
    found = sizes([began(rng) for _ in range(max(4, int(share * DRAWS_OF_PARTS)))])
    print(found, flush=True)
    return found


def main(*only: str) -> None:
    if only and only[0] not in (*CHANGES, "when"):
        for name in CHANGES:
            studied(name, float(only[0]))
        parts(float(only[0]))
        return
    made = {name: parts(1.0) if name == "when" else studied(name, 1.0) for name in only or (*CHANGES, "when")}
    path = RESULTS / "change_tables.json"
    known = json.loads(path.read_text())["results"] if path.exists() else {}
    when = made.pop("when", known.get("when"))
    rows = {row["changed"]: row for row in known.get("tables", [])} | made
    tables = [rows[name] for name in CHANGES if name in rows]
    record("change_tables", {"seed": SEED, "level": LEVEL, "tables": tables, "when": when}, "numpy", "scipy")


if __name__ == "__main__":
    main(*sys.argv[1:])
