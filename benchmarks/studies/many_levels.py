"""Categories of 2 to 2,000 levels: does the test hold its level, is the strength right, and which levels are kept.

`python benchmarks many_levels` takes about ten minutes on one core and writes results/many_levels.json.

- `tables`: size of χ² by its moments (`renyi.inference.contingency`), for two categories of which every level has a
  few rows at least.
- `tests`: size of the default test of a category and a number, and of two categories.
- `strengths`: mean debiased coefficient of a category and a number that is the mean of its level and noise.
- `pooling`: the same where ten frequent levels carry all there is beside very many rare ones, by how many rows a level
  needs to be kept.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record
from renyi.basis.basis import Basis, category_basis
from renyi.inference import contingency

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Rng: TypeAlias = np.random.Generator

LEVELS = (0.05, 0.01, 1e-3)
N_TABLES, N_SAMPLES = 4000, 1000
# Levels, rows, and rows that every level has at least.
TABLES = (
    *((50, 250, 1), (50, 500, 5), (50, 2500, 20), (50, 20_000, 20)),
    *((150, 1000, 5), (150, 6000, 20), (500, 15_000, 20), (2000, 60_000, 20)),
)
NUMBERS_OF_LEVELS = (2, 10, 30, 50, 200, 500, 2000)
STRENGTHS = (0.0, 0.3, 0.958)


def rows_of_levels(kind: str, n_levels: int, n: int, fewest: int, rng: Rng) -> Index:
    """How many rows every level has: as many each, or few of most."""
    weights = np.ones(n_levels) if kind == "even" else 1.0 / np.arange(1, n_levels + 1)
    return fewest + rng.multinomial(n - fewest * n_levels, weights / weights.sum())


def chi_square(x: Index, y: Index, rows: Index, columns: Index) -> float:
    """Pearson's χ² of two categories, over the cells that occur."""
    cells, counts = np.unique(x * len(columns) + y, return_counts=True)
    expected = rows[cells // len(columns)] * columns[cells % len(columns)] / len(x)
    return float(np.sum(counts**2 / expected) - len(x))


def table_sizes(kind: str, n_levels: int, n: int, fewest: int) -> dict[str, Any]:
    """Counts of p-values at or below the levels, over permutations of the rows."""
    rng = np.random.default_rng([n_levels, n, fewest, kind == "even"])
    rows, columns = (rows_of_levels(kind, n_levels, n, fewest, rng) for _ in range(2))
    x, y = (np.repeat(np.arange(n_levels), counts) for counts in (rows, columns))
    bases = category_basis(x), category_basis(y)
    block = n_levels - 1, n_levels - 1
    log_p = np.array(
        [
            _log_pvalue(chi_square(x, rng.permutation(y), rows, columns), block, bases)
            for _ in range(N_TABLES if n < 50_000 else N_TABLES // 4)
        ]
    )
    found = {
        "data": kind,
        "levels of both": n_levels,
        "n": n,
        "fewest rows": fewest,
        "step": contingency.largest_step(rows, columns),
        "draws": len(log_p),
        "counts": [int(np.count_nonzero(log_p <= np.log(level))) for level in LEVELS],
    }
    print(found, flush=True)
    return found


def _log_pvalue(statistic: float, block: tuple[int, int], bases: tuple[Basis, Basis]) -> float:
    # One correlation that makes as large a χ² as all of them did.
    return contingency.log_pvalue(np.array([[np.sqrt(statistic / bases[0].n_samples)]]), block, *bases)


def test_sizes(n_levels: int, *, other: str) -> dict[str, Any]:
    """The same for the default test of a category, on 25 rows a level, and a number or another category."""
    rng = np.random.default_rng([n_levels, other == "number"])
    n = max(1000, 25 * n_levels)
    n_samples = N_SAMPLES if n_levels <= 200 else N_SAMPLES // 5 if n_levels <= 500 else 60
    pvalues = []
    for _ in range(n_samples):
        x = renyi.categorical(rng.integers(0, n_levels, n))
        y = rng.normal(size=n) if other == "number" else renyi.categorical(rng.integers(0, n_levels, n))
        pvalues.append(renyi.independence_test(x, y).pvalue)
    counts = [int(np.count_nonzero(np.array(pvalues) <= level)) for level in LEVELS]
    found = {"levels": n_levels, "other": other, "n": n, "draws": n_samples, "counts": counts}
    print(found, flush=True)
    return found


def dependent(level: Index, strength: float, n_levels: int, rng: Rng) -> Array:
    """The mean of the level and noise, whose correlation with the best function of the level is this."""
    means = rng.normal(size=n_levels)[level]
    means = (means - means.mean()) / means.std()
    return np.asarray(strength * means + np.sqrt(1.0 - strength**2) * rng.normal(size=len(level)))


def strengths(n_levels: int, strength: float, n: int = 20_000, n_samples: int = 20) -> dict[str, Any]:
    """Mean strength that a table shows, and its standard deviation between samples."""
    rng = np.random.default_rng([n_levels, int(1000 * strength)])
    shown = []
    for _ in range(n_samples):
        level = rng.integers(0, n_levels, n)
        shown.append(_strength(level, dependent(level, strength, n_levels, rng)))
    row = {"levels": n_levels, "n": n, "truth": strength, "samples": n_samples}
    found = row | {"mean": float(np.mean(shown)), "deviation": float(np.std(shown))}
    print(found, flush=True)
    return found


def _strength(level: Index, y: Array) -> float:
    return float(renyi.matrix({"level": np.array([f"{k}" for k in level]), "y": y}).debiased[0, 1])


def pooling(n_rare: int, strength: float, enough: int, n: int = 20_000, n_samples: int = 20) -> dict[str, Any]:
    """Ten levels have half of the rows and all of the dependence, and very many others the rest."""
    rng = np.random.default_rng([n_rare, int(1000 * strength)])
    shown = []
    with patch("renyi.data.types._FEWEST_ROWS", enough):
        for _ in range(n_samples):
            is_frequent = rng.random(n) < 0.5
            level = np.where(is_frequent, rng.integers(0, 10, n), 10 + rng.integers(0, n_rare, n))
            shown.append(_strength(level, dependent(np.minimum(level, 10), strength, 11, rng)))
    row = {"rare levels": n_rare, "rows of each": n // (2 * n_rare), "truth": strength, "enough": enough}
    found = row | {"mean": float(np.mean(shown)), "deviation": float(np.std(shown))}
    print(found, flush=True)
    return found


if __name__ == "__main__":
    results = {
        "levels": list(LEVELS),
        "tables": [table_sizes(kind, *table) for kind in ("even", "zipf") for table in TABLES],
        "tests": [test_sizes(k, other=other) for other in ("number", "category") for k in NUMBERS_OF_LEVELS],
        "strengths": [strengths(k, strength) for strength in STRENGTHS for k in NUMBERS_OF_LEVELS],
        "pooling": [
            pooling(n_rare, strength, enough)
            for n_rare in (200, 600, 1200)
            for strength in (0.1, 0.2, 0.4)
            for enough in (5, 10, 20, 50)
        ],
    }
    record("many_levels", results, "numpy", "scipy")
