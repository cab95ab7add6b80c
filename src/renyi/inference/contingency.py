"""Two categories of many levels to one p-value: Pearson's χ² of their table, by its moments over all permutations.

Where a table has more cells than rows, neither the χ² distribution nor Roy's holds, and permutations take long. But
mean and variance of χ² over all permutations of the rows are known in closed form, and its skewness nearly so; a gamma
distribution with these moments has the right size from 50 × 50 levels of 5 rows on
(`benchmarks/studies/many_levels.py`).
"""

from typing import TypeAlias

import numpy as np

from renyi.basis.basis import Basis
from renyi.basis.nested import MANY_LEVELS, frequent
from renyi.compute.arrays import Array, Counts
from renyi.inference.classical import log_gamma_sf

Block: TypeAlias = tuple[int, int]

# The distribution is trusted while two rows that meet in the rarest cell move χ² by at most so many standard
# deviations: up to 3.9 the size at 5 and 1 % was right in the study, or too small.
_LARGEST_STEP = 1.0


def widest_block(x: Basis, y: Basis, /) -> Block | None:
    """How many leading levels of two categories have a table whose χ² no two rows can make; None if those are few.

    The rarest levels are taken together first: of fewer than 2 rows, then 4, 8, ….
    """
    counts = [_rows_of_levels(basis) for basis in (x, y)]
    fewest = 1
    while True:
        sizes = [frequent(rows, fewest) for rows in counts]
        if min(sizes) <= MANY_LEVELS:
            return None
        if largest_step(*(_together(rows, size) for rows, size in zip(counts, sizes, strict=True))) <= _LARGEST_STEP:
            return sizes[0], sizes[1]
        fewest *= 2


def log_pvalue(cross: Array, block: Block, x: Basis, y: Basis, /) -> float:
    """Logarithm of the share of permutations whose χ² reaches that of the correlations of two categories."""
    rows, columns = (_together(_rows_of_levels(basis), size) for basis, size in zip((x, y), block, strict=True))
    mean, variance, third = _moments(rows, columns)
    skewness = third / variance**1.5
    # A gamma distribution with shape 4/γ² has the skewness γ.
    shape = 4.0 / skewness**2
    statistic = x.n_samples * float(np.sum(cross[: block[0], : block[1]] ** 2))
    standard = (statistic - mean) / np.sqrt(variance)
    at = shape + 2.0 * standard / skewness
    return log_gamma_sf(shape, at) if at > 0.0 else 0.0


def _rows_of_levels(basis: Basis) -> Counts:
    """Rows of every level, in the order of the basis."""
    if basis.cell_counts is None or basis.order is None:
        raise ValueError("a category has levels")
    return basis.cell_counts[basis.order]


def _together(rows: Counts, size: int) -> Counts:
    """Rows of leading levels, and of all others together."""
    return np.append(rows[:size], rows[size:].sum())


def largest_step(rows: Counts, columns: Counts) -> float:
    """By how many standard deviations two rows that meet in the rarest cell move χ²."""
    step = 2.0 * rows.sum() / (float(rows.min()) * float(columns.min()))
    return float(step / np.sqrt(_moments(rows, columns)[1]))


def _moments(rows: Counts, columns: Counts) -> tuple[float, float, float]:
    """Mean, variance and third central moment of χ² over all permutations, given the rows of every level.

    Mean and variance are exact (Dawson, Biometrika 41, 1954). The third moment is that of independent cells of mean e
    in which the margins have taken out what is linear, 8 + 4/e each, less where two rows of a level are the same one.
    """
    n = float(rows.sum())
    freedom = (len(rows) - 1.0) * (len(columns) - 1.0)
    (even_x, uneven_x), (even_y, uneven_y) = (_margin(counts, n) for counts in (rows, columns))
    variance = 2.0 * n / (n - 3.0) * (even_x - uneven_x) * (even_y - uneven_y) + n**2 / (n - 1.0) * uneven_x * uneven_y
    pairs_x, pairs_y = (float(np.sum((counts - 1.0) / counts**2.0)) for counts in (rows, columns))
    return n / (n - 1.0) * freedom, variance, 8.0 * freedom + 4.0 * n * pairs_x * pairs_y


def _margin(counts: Counts, n: float) -> tuple[float, float]:
    """What the levels of one side contribute: by their number, and by how much their rows differ."""
    levels = float(len(counts))
    return (levels - 1.0) * (n - levels) / (n - 1.0), (n * float(np.sum(1.0 / counts)) - levels**2) / (n - 2.0)
