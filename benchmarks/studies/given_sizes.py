"""How often two series that follow a third one, and nothing else, are called dependent given that one; and power.

`python benchmarks given_sizes [ROWS ...]` takes about 90 minutes of one core, uses all, and writes
results/given_sizes.json. It goes round all cells, 250 samples at a time, writes after each, and goes on from what is
there: delete the file to begin anew.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np

import renyi
from conditional import FUNCTIONS, standardised
from harness import RESULTS, record
from time_sizes import PROCESSES

LEVELS = (0.05, 0.01)
AT_ONCE = 250
N_SAMPLES = {200: 2000, 500: 2000, 2000: 250}
N_FOR_POWER = 250
NOISE, STRENGTH = 0.5, 0.5
# Of a panel: rows of a series. Series have levels of their own, in z, x and y.
N_ROWS, LEVELS_APART = 50, 0.7


class Cell(NamedTuple):
    """Rows; what z and the noise of x and y are; by how many rows x and y follow z; whether y depends on x given z."""

    n: int
    z: str
    noise: str
    lag: int
    depends: bool = False
    panel: bool = False


SERIES = ("AR 0", "AR 0.5", "AR 0.9")
CELLS = [
    Cell(n, z, noise, lag, depends)
    for n in N_SAMPLES
    for depends in (False, True)
    for lag in (0, 1)
    for z in ("AR 0", "AR 0.9")
    for noise in SERIES
    if not (depends and (lag or z == "AR 0"))
] + [Cell(n, "AR 0.9", "AR 0.5", 0, panel=True) for n in N_SAMPLES]


def sample(cell: Cell, rng: np.random.Generator) -> float:
    """The p-value of one sample; with a lag z and what it was a row before are held fixed."""
    n_series = cell.n // N_ROWS if cell.panel else 1
    parts = [_series(cell.z, cell.n // n_series + cell.lag, rng) for _ in range(n_series)]
    now, before = (
        np.concatenate(ends) for ends in zip(*((z[cell.lag :], z[: len(z) - cell.lag]) for z in parts), strict=True)
    )
    own, other = (np.concatenate([_series(cell.noise, cell.n // n_series, rng) for _ in parts]) for _ in range(2))
    if cell.depends:
        other = other + STRENGTH * standardised(own**2)
    first, second = rng.choice(len(FUNCTIONS), 2)
    x = standardised(FUNCTIONS[first](before)) + NOISE * own
    y = standardised(FUNCTIONS[second](before)) + NOISE * other
    z = (now, before) if cell.lag else now
    groups = np.repeat(np.arange(n_series), cell.n // n_series) if cell.panel else None
    return renyi.conditional_test(x, y, z, time=True, groups=groups).pvalue


def _series(process: str, n: int, rng: np.random.Generator) -> Any:
    return standardised(PROCESSES[process](n, rng)) + LEVELS_APART * rng.standard_normal()


def some_samples(cell: Cell, first: int) -> dict[str, int]:
    """Of so many samples, how many have a p-value below each level."""
    rng = np.random.default_rng([CELLS.index(cell), first])
    found = np.array([sample(cell, rng) for _ in range(AT_ONCE)])
    return {str(level): int(np.count_nonzero(found < level)) for level in LEVELS} | {"samples": AT_ONCE}


def main(lengths: list[int]) -> None:
    target = RESULTS / "given_sizes.json"
    rows = json.loads(target.read_text())["results"]["rows"] if target.exists() else []
    found: dict[Cell, dict[str, Any]] = {Cell(*(row[name] for name in Cell._fields)): row for row in rows}
    wanted = [
        (cell, first)
        for first in range(0, max(N_SAMPLES.values()), AT_ONCE)
        for cell in CELLS
        if cell.n in (lengths or N_SAMPLES)
        and first < (N_FOR_POWER if cell.depends else N_SAMPLES[cell.n])
        and first not in found.setdefault(cell, cell._asdict() | {"rounds": []})["rounds"]
    ]
    with ProcessPoolExecutor() as pool:
        waiting = {pool.submit(some_samples, *part): part for part in wanted}
        for done in as_completed(waiting):
            cell, first = waiting[done]
            row = found[cell]
            row["rounds"].append(first)
            for key, number in done.result().items():
                row[key] = row.get(key, 0) + number
            print(row, flush=True)
            known = [found[cell] for cell in CELLS if found.get(cell, {}).get("rounds")]
            record("given_sizes", {"levels": LEVELS, "noise": NOISE, "strength": STRENGTH, "rows": known})


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]])
