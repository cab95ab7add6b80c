"""How often the default test rejects independent numbers on few rows, with few ties, or on a part of their rows.

`python benchmarks few_rows` takes about half an hour on one core and writes results/few_rows.json. Columns of every
kind are drawn a hundred times in pairs, and the rows of one of each pair are permuted two thousand times or more.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration import TAIL_LEVELS, below, log_means
from harness import record
from renyi.basis.nested import Scales, number_scales
from renyi.basis.ranks import quantise
from renyi.inference import multiscale

Rng: TypeAlias = np.random.Generator
Kind: TypeAlias = Callable[[int, Rng], Scales]

LENGTHS = (12, 15, 18, 23, 30, 40, 49)
N_PAIRS = 100
# More where 10⁻⁵ is to be seen.
N_PERMUTATIONS, N_PERMUTATIONS_FOR_TAILS = 2_000, {23: 5_000}
# The most ties with which p-values come from the null distribution: of both columns, and of one beside such a one.
MOST_TIES, MOST_BESIDE_FEW = 0.06, 0.25


def number(values: NDArray[Any]) -> Scales:
    return number_scales(quantise(values))


def without_ties(n: int, rng: Rng) -> Scales:
    return number(rng.standard_normal(n))


def rounded(step: float) -> Kind:
    """Normals in steps of so many over n: 0.5, 1.5 and 4.5 leave 0.93, 0.8 and 0.6 of the values different."""
    return lambda n, rng: number(np.round(rng.standard_normal(n) * n / step))


def pairs(n: int, rng: Rng) -> Scales:
    return number(np.arange(n) // 2.0)


def even_levels(n: int, rng: Rng, most: float = MOST_TIES) -> Scales:
    """As few values of about equal frequency as the rule admits."""
    columns = (number(np.arange(n) * n_levels // n) for n_levels in range(2, n))
    return next(column for column in columns if column.ties <= most)


def one_group(n: int, start: float, most: float = MOST_TIES) -> Scales:
    """One value as often as the rule admits, a share of the others below it."""
    size = next(m for m in range(n, 0, -1) if m * (m - 1) <= most * n * (n - 1))
    values = np.arange(float(n))
    first = round(start * (n - size))
    values[first : first + size] = first
    return number(values)


def floor_and_ceiling(n: int, rng: Rng, most: float = MOST_TIES) -> Scales:
    size = next(m for m in range(n, 0, -1) if m * (m - 1) <= most / 2 * n * (n - 1))
    return number(np.clip(np.arange(float(n)), size - 1, n - size))


def part(kind: Kind, times: float, *, lowest: bool = False) -> Kind:
    """On n rows of so many times as many: random ones, or those with the lowest values."""

    def restricted(n: int, rng: Rng) -> Scales:
        whole = kind(round(times * n), rng)
        order = np.argsort(whole.basis.column(0)) if lowest else rng.permutation(whole.basis.n_samples)
        return whole.on(np.isin(np.arange(whole.basis.n_samples), order[:n]))

    return restricted


KINDS: dict[str, tuple[Kind, Kind]] = {
    "no ties": (without_ties,) * 2,
    "rounded, 0.93 different": (rounded(0.5),) * 2,
    "rounded, 0.8 different": (rounded(1.5),) * 2,
    "rounded, 0.6 different": (rounded(4.5),) * 2,
    "pairs of equal values": (pairs,) * 2,
    "even levels": (even_levels,) * 2,
    "even levels, no ties": (even_levels, without_ties),
    "one value often, lowest": (lambda n, rng: one_group(n, 0.0),) * 2,
    "one value often, median": (lambda n, rng: one_group(n, 0.5),) * 2,
    "lowest and highest often": (floor_and_ceiling,) * 2,
    "no ties, part of 1.5 n": (part(without_ties, 1.5),) * 2,
    "no ties, part of 2 n": (part(without_ties, 2),) * 2,
    "no ties, part of 4 n": (part(without_ties, 4),) * 2,
    "even levels, part of 2 n": (part(even_levels, 2),) * 2,
    "one value often, part of 2 n": (part(lambda n, rng: one_group(n, 0.0), 2),) * 2,
    "no ties, lowest of 2 n": (part(without_ties, 2, lowest=True), part(without_ties, 2)),
    "one value often, lowest of 2 n": (
        part(lambda n, rng: one_group(n, 0.0), 2, lowest=True),
        part(lambda n, rng: one_group(n, 0.0), 2),
    ),
}


def zeros(share: float) -> Kind:
    return lambda n, rng: number(np.where(np.arange(n) < share * n, 0.0, rng.exponential(size=n)))


# Zeros in half of their own rows and in nearly all that are left: these are like rare events, the column is not.
CHOSEN_LENGTHS = (100, 300, 1000)
CHOSEN: dict[str, tuple[Kind, Kind]] = {
    "90 % zeros by choice; no ties": (part(zeros(0.45), 2, lowest=True), part(without_ties, 2)),
    "95 % zeros by choice; 70 % zeros": (part(zeros(0.475), 2, lowest=True), part(zeros(0.7), 2)),
    "95 % zeros by choice, both": (part(zeros(0.475), 2, lowest=True),) * 2,
    "90 % zeros by choice, both": (part(zeros(0.45), 2, lowest=True),) * 2,
}


# As many ties in one column as the rule admits beside one with few.
MANY_IN_ONE: dict[str, Kind] = {
    "even levels": partial(even_levels, most=MOST_BESIDE_FEW),
    "lowest often": lambda n, rng: one_group(n, 0.0, MOST_BESIDE_FEW),
    "median often": lambda n, rng: one_group(n, 0.5, MOST_BESIDE_FEW),
    "lowest and highest often": partial(floor_and_ceiling, most=MOST_BESIDE_FEW),
}
ONE_TIED: dict[str, tuple[Kind, Kind]] = {
    f"{name} to 0.25; {beside}": (kind, other)
    for name, kind in MANY_IN_ONE.items()
    for beside, other in {"no ties": without_ties, "even levels to 0.06": even_levels}.items()
} | {
    "even levels to 0.25; no ties, parts of 2 n": (part(MANY_IN_ONE["even levels"], 2), part(without_ties, 2)),
    "lowest often to 0.25; no ties, parts of 2 n": (part(MANY_IN_ONE["lowest often"], 2), part(without_ties, 2)),
}


def size(kind: str, n: int) -> dict[str, Any]:
    """Counts of p-values at or below the levels, and of the pairs that have a null distribution at all."""
    kinds = KINDS | CHOSEN | ONE_TIED
    rng = np.random.default_rng([list(kinds).index(kind), n, 2])
    counts, n_drawn, n_blocks, worst = np.zeros(len(TAIL_LEVELS), dtype=int), 0, 0, 0.0
    of_percent, n_permutations = list(TAIL_LEVELS).index(0.01), N_PERMUTATIONS_FOR_TAILS.get(n, N_PERMUTATIONS)
    for _ in range(N_PAIRS):
        x, y = (make(n, rng) for make in kinds[kind])
        blocks = multiscale.trusted(multiscale.family(x, y), x, y)
        if not blocks:
            continue
        order = rng.permuted(np.tile(np.arange(n), (n_permutations, 1)), axis=1)
        means = log_means(x.basis.rows(0, n).T / n @ y.basis.rows(0, n)[order], blocks, n)
        found = below(multiscale.log_pvalue_of_pair(means, blocks, x, y))
        counts, n_drawn, n_blocks = counts + found, n_drawn + len(order), n_blocks + len(blocks)
        worst = max(worst, found[of_percent] / len(order))
    row = {
        "data": kind,
        "n": n,
        "pairs by theory": n_drawn // n_permutations,
        "draws": n_drawn,
        "mean blocks": n_blocks / max(1, n_drawn // n_permutations),
        "levels": list(TAIL_LEVELS),
        "counts": counts.tolist(),
        "highest size of a pair at 0.01": float(worst),
    }
    print(kind, n, row["draws"], np.round(counts / max(1, n_drawn) / TAIL_LEVELS, 2), round(worst, 4), flush=True)
    return row


if __name__ == "__main__":
    record(
        "few_rows",
        {
            "sizes": [size(kind, n) for n in LENGTHS for kind in KINDS],
            "chosen": [size(kind, n) for n in CHOSEN_LENGTHS for kind in CHOSEN],
            "one tied": [size(kind, n) for n in LENGTHS for kind in ONE_TIED],
        },
        "numpy",
        "scipy",
    )
