"""How often the test of equal dependence rejects where two tables have the same dependence.

`python benchmarks change_sizes` takes about ten minutes on one core and writes results/change_sizes.json. Tables of two
columns are drawn in pairs from one distribution; in some the columns of the second table are mapped by increasing
functions, or miss cells. `again` draws those that came out too high, or below half of the level, once more with another
seed and more draws. `large` adds some where covariances are taken from fewer rows than there are, in
results/change_sizes_large.json: a tenth of all rows first, where covariances are less certain than they ever are, and
50,000 last; both take a few minutes. Each line is written when it is known, and a study that was stopped goes on where
it was: delete its results to begin anew. A number tries a share of the draws, and writes nothing.
"""

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness import RESULTS, record
from renyi.change import sums
from renyi.change.functions import Shape
from renyi.change.marginals import Marginal
from renyi.change.sums import RowsOfTables, changed_pairs
from renyi.data.column import Column, Kind

Rng: TypeAlias = np.random.Generator
Pair: TypeAlias = tuple[NDArray[Any], NDArray[Any]]

ROWS = ((100, 100), (200, 200), (500, 500), (2_000, 2_000), (10_000, 10_000))
UNEQUAL = ((100, 400), (100, 2_000), (200, 2_000), (500, 2_500), (500, 10_000))
DRAWS = {10_000: 400, 2_500: 1_000, 2_000: 1_000}
# Rows, rows of either table for covariances, and draws.
LARGE = (((5_000, 5_000), 1_000, 1_500), ((1_200, 5_000), 1_000, 1_500), ((50_000, 50_000), 10_000, 400))
KINDS_OF_LARGE = ("normal, ρ = 0.5", "normal, ρ = 0.9", "circle", "parabola", "function without noise")
LEVELS = (0.05, 0.01)
SEED, SEED_AGAIN, DRAWS_AGAIN = 11, 12, 4_000


def normals(correlation: float) -> Callable[[int, Rng], Pair]:
    def draw(n: int, rng: Rng) -> Pair:
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    return draw


def parabola(n: int, rng: Rng) -> Pair:
    x, noise = rng.standard_normal((2, n))
    return x, x**2 + 0.5 * noise


def function(n: int, rng: Rng) -> Pair:
    x = rng.standard_normal(n)
    return x, x**2


def circle(n: int, rng: Rng) -> Pair:
    angle, noise = rng.uniform(0, 2 * np.pi, n), 0.1 * rng.standard_normal((2, n))
    return np.cos(angle) + noise[0], np.sin(angle) + noise[1]


def heavy_tails(n: int, rng: Rng) -> Pair:
    x, y = rng.standard_normal((2, n)) / np.sqrt(rng.chisquare(2, n) / 2)
    return x, y


def rounded(n: int, rng: Rng) -> Pair:
    """Ties in both: steps of a third of a standard deviation, and five grades."""
    x, y = normals(0.5)(n, rng)
    return np.round(3 * x), np.clip(np.round(y), -2, 2)


def mostly_zero(n: int, rng: Rng) -> Pair:
    """A number that is 0 in 60 % of the rows."""
    x, y = normals(0.5)(n, rng)
    return np.maximum(x - 0.25, 0.0), y


def category(n: int, rng: Rng) -> Pair:
    """Four levels beside a number."""
    levels = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    return levels, rng.standard_normal(n) + 0.5 * levels


def categories(n: int, rng: Rng) -> Pair:
    x = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    return x, np.where(rng.random(n) < 0.3, x, rng.choice(4, n)) % 3


def binary(n: int, rng: Rng) -> Pair:
    x, y = normals(0.7)(n, rng)
    return (x > 1).astype(int), y


KINDS: dict[str, tuple[Callable[[int, Rng], Pair], tuple[Kind, Kind]]] = {
    "normal, ρ = 0": (normals(0.0), ("number", "number")),
    "normal, ρ = 0.5": (normals(0.5), ("number", "number")),
    "normal, ρ = 0.9": (normals(0.9), ("number", "number")),
    "parabola": (parabola, ("number", "number")),
    "function without noise": (function, ("number", "number")),
    "circle": (circle, ("number", "number")),
    "heavy tails": (heavy_tails, ("number", "number")),
    "ties in both": (rounded, ("number", "number")),
    "mostly zero": (mostly_zero, ("number", "number")),
    "four levels and a number": (category, ("category", "number")),
    "two categories": (categories, ("category", "category")),
    "rare level and a number": (binary, ("category", "number")),
    "normal, ρ = 0.5, other marginals": (normals(0.5), ("number", "number")),
    "parabola, a third missing": (parabola, ("number", "number")),
    "normal, ρ = 0.9, a third missing": (normals(0.9), ("number", "number")),
}


def pvalue(kind: str, sizes: tuple[int, int], rng: Rng) -> float:
    draw, types = KINDS[kind]
    before, after = draw(sizes[0], rng), draw(sizes[1], rng)
    if "other marginals" in kind:
        after = np.exp(after[0]), after[1] ** 3 - 5
    shapes, rows = [], []
    for x, y, own in zip(before, after, types, strict=True):
        values = np.concatenate((x, y))
        gaps = rng.random(len(values)) < 1 / 3 if "missing" in kind else None
        levels = tuple(range(int(values.max()) + 1)) if own == "category" else ()
        column, cells = Marginal.of(Column("", own, values, missing=gaps, levels=levels), sizes[0])
        shapes.append(Shape.of(column))
        sides = cells[: sizes[0]], cells[sizes[0] :]
        rows.append([shapes[-1].rows(*side) for side in zip(sides, column.middles, strict=True)])
    tables = [row[0] for row in rows], [row[1] for row in rows]
    return float(np.exp(changed_pairs(shapes, RowsOfTables(tables)).log_pvalues[0]))


def size(kind: str, sizes: tuple[int, int], draws: int, seed: int = SEED) -> dict[str, Any]:
    rng = np.random.default_rng([seed, *sizes, *kind.encode()])
    p = np.array([pvalue(kind, sizes, rng) for _ in range(draws)])
    p = p[np.isfinite(p)]
    row: dict[str, Any] = {"kind": kind, "rows": list(sizes), "draws": len(p)}
    for level in LEVELS:
        row[f"size at {level}"] = round(float(np.mean(p <= level)) if len(p) else float("nan"), 4)
        row[f"error at {level}"] = round(float(np.sqrt(level * (1 - level) / max(len(p), 1))), 4)
    print(kind, sizes, *(row[f"size at {level}"] for level in LEVELS), len(p), flush=True)
    return row


def known(name: str) -> dict[str, Any]:
    """What was found so far."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text())["results"] if path.exists() else {}
    return found


def finished(
    name: str, part: str, cases: list[tuple[str, tuple[int, int]]], make: Callable[..., dict[str, Any]]
) -> None:
    """All lines of a study, those that are known as they are."""
    for case in cases:
        found = known(name)
        rows = found.get(part, [])
        if not any((row["kind"], tuple(row["rows"])) == case for row in rows):
            record(name, found | {part: [*rows, make(*case)]}, "numpy", "scipy")


def is_doubtful(row: dict[str, Any]) -> bool:
    """More than two errors above a level, or below half of 5 % from 500 rows on."""
    above = any(row[f"size at {level}"] > level + 2 * row[f"error at {level}"] for level in LEVELS)
    return above or (min(row["rows"]) >= 500 and row["size at 0.05"] < 0.025)


def of_large(kind: str, sizes: tuple[int, int]) -> dict[str, Any]:
    rows, draws = next((rows, draws) for own, rows, draws in LARGE if own == sizes)
    sums.ROWS_OF_COVARIANCE = rows
    return size(kind, sizes, draws) | {"rows of covariance": rows}


def main(*only: str) -> None:
    every = [(kind, sizes) for kind in KINDS for sizes in (*ROWS, *UNEQUAL)]
    if only == ("large",):
        cases = [(kind, sizes) for sizes, _, _ in LARGE for kind in KINDS_OF_LARGE]
        finished("change_sizes_large", "sizes", cases, of_large)
    elif only == ("again",):
        doubtful = [(row["kind"], tuple(row["rows"])) for row in known("change_sizes")["sizes"] if is_doubtful(row)]
        finished("change_sizes", "again", doubtful, lambda kind, rows: size(kind, rows, DRAWS_AGAIN, SEED_AGAIN))
    elif only:
        for kind, sizes in every:
            size(kind, sizes, max(20, int(float(only[0]) * DRAWS.get(max(sizes), 1_500))))
    else:
        finished("change_sizes", "sizes", every, lambda kind, rows: size(kind, rows, DRAWS.get(max(rows), 1_500)))


if __name__ == "__main__":
    main(*sys.argv[1:])
