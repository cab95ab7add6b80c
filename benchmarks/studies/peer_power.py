"""Power of other measures of dependence on the patterns of the paper's power experiment.

Everything is seeded. `python benchmarks peer_power` takes about 80 minutes on one core and writes
results/peer_power.json after every pattern and level; started again, it goes on from there. It needs R with the
packages acepack and minerva (Debian: r-cran-acepack, r-cran-minerva). `samples` gives back the very same pairs, so
that any other test can be run on them.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import dcor
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from harness import RESULTS, record
from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS, Pattern

Array: TypeAlias = NDArray[np.float64]
Measure: TypeAlias = Callable[[Array, Array], Array]

# The paper has thirty levels; patterns of others are run on some of them.
LEVELS, EXTRA_LEVELS = tuple(range(1, 31)), (1, 3, 6, 10, 15, 20, 25, 30)
N, N_REPETITIONS, N_NULL = 500, 500, 2000
ALL_PATTERNS = PATTERNS + EXTRA_PATTERNS
STUDIED = (*PATTERNS, *(p for p in EXTRA_PATTERNS if p.name in ("fourth root", "sine, period 1/2", "sine, period 1/8")))


def samples(pattern: Pattern, level: int, n: int, n_repetitions: int) -> tuple[Array, Array]:
    """Pairs of a pattern, x and y of shape (n_repetitions, n); fewer repetitions are the first of more."""
    rng = np.random.default_rng([ALL_PATTERNS.index(pattern), level, n])
    pairs = np.array([pattern.sample(n, level, rng) for _ in range(n_repetitions)])
    return pairs[:, 0], pairs[:, 1]


def redrawn(pattern: Pattern, level: int, n: int, n_repetitions: int) -> Array:
    """The x of the null, which has nothing to do with the y of `samples`."""
    return np.random.default_rng([ALL_PATTERNS.index(pattern), level, n, 1]).random((n_repetitions, n))


# Every measure takes x and y of shape (repetitions, n), without ties, and returns one value per repetition.


def ranks(x: Array) -> NDArray[np.intp]:
    return np.argsort(np.argsort(x, axis=1), axis=1)


def pearson(x: Array, y: Array) -> Array:
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    return np.asarray(np.abs(np.sum(x * y, axis=1)) / np.sqrt(np.sum(x**2, axis=1) * np.sum(y**2, axis=1)))


def spearman(x: Array, y: Array) -> Array:
    return pearson(ranks(x).astype(np.float64), ranks(y).astype(np.float64))


def xi(x: Array, y: Array) -> Array:
    """Chatterjee's coefficient of y on x (2021, equation 1)."""
    steps = np.diff(np.take_along_axis(ranks(y), np.argsort(x, axis=1), axis=1), axis=1)
    return np.asarray(1 - 3 * np.sum(np.abs(steps), axis=1) / (x.shape[1] ** 2 - 1))


def symmetric_xi(x: Array, y: Array) -> Array:
    return np.maximum(xi(x, y), xi(y, x))


def distance_correlation(x: Array, y: Array) -> Array:
    return np.array([dcor.distance_correlation(a, b, method="avl") for a, b in zip(x, y, strict=True)])


def gaussian_kernel(x: Array) -> Array:
    """Gaussian kernel matrix of a sample, as wide as the median distance."""
    distances = pdist(x[:, None])
    kernel = squareform(np.exp(-0.5 * (distances / np.median(distances)) ** 2))
    np.fill_diagonal(kernel, 1.0)
    return np.asarray(kernel)


def centred_product(k: Array, l: Array) -> float:  # noqa: E741
    """tr(KHLH) / n², the biased HSIC (Gretton et al. 2005, definition 2, but for n² in place of (n − 1)²)."""
    means = np.dot(k.mean(axis=0), l.mean(axis=0)) / len(k)
    return float(np.vdot(k, l) / k.size - 2 * means + k.mean() * l.mean())


def hsic(x: Array, y: Array) -> Array:
    return np.array([centred_product(gaussian_kernel(a), gaussian_kernel(b)) for a, b in zip(x, y, strict=True)])


def copula_hsic(x: Array, y: Array) -> Array:
    # The kernel of the ranks is one matrix whatever the data; in the order of x only that of y is permuted.
    kernel = gaussian_kernel(np.arange(x.shape[1], dtype=np.float64))
    order = np.take_along_axis(ranks(y), np.argsort(x, axis=1), axis=1)
    return np.array([centred_product(kernel, kernel[np.ix_(o, o)]) for o in order])


R_PROGRAM = """
suppressMessages({ library(acepack); library(minerva) })
measure <- list(
  ace = function(x, y) { fit <- ace(x, y); stopifnot(fit$ierr == 0); fit$rsq },
  mic = function(x, y) mine(x, y, alpha = 0.6, C = 15)$MIC
)[[commandArgs(TRUE)[1]]]
n <- as.integer(commandArgs(TRUE)[2])
path <- commandArgs(TRUE)[3]
pairs <- array(readBin(path, "double", file.size(path) / 8), c(n, file.size(path) / (16 * n), 2))
values <- vapply(seq_len(dim(pairs)[2]), function(i) measure(pairs[, i, 1], pairs[, i, 2]), 0)
writeBin(values, paste0(path, ".values"))
"""
R_VERSIONS = 'cat(sapply(c("base", "acepack", "minerva"), function(p) toString(packageVersion(p))))'


def in_r(measure: str, x: Array, y: Array) -> Array:
    """All values of "ace" or "mic" from one process of R."""
    with tempfile.TemporaryDirectory() as folder:
        program, pairs = Path(folder, "program.R"), Path(folder, "pairs")
        program.write_text(R_PROGRAM)
        np.stack([x, y]).astype(np.float64).tofile(pairs)
        subprocess.run(["Rscript", program, measure, str(x.shape[1]), pairs], check=True)
        return np.fromfile(f"{pairs}.values")


def r_versions() -> dict[str, str]:
    run = subprocess.run(["Rscript", "-e", R_VERSIONS], capture_output=True, text=True, check=True)
    return dict(zip(("R", "acepack", "minerva"), run.stdout.split(), strict=True))


OF_VALUES: dict[str, Measure] = {
    "Pearson": pearson,
    "dCor": distance_correlation,
    "HSIC": hsic,
    "ACE": partial(in_r, "ace"),
}
OF_RANKS: dict[str, Measure] = {
    "Spearman": spearman,
    "copula HSIC": copula_hsic,
    "MIC": partial(in_r, "mic"),
    "xi": symmetric_xi,
    "xi, x → y": xi,
}


def rank_cuts() -> dict[str, float]:
    """The null of a measure of ranks is the same for all continuous data, hence that of independent uniforms."""
    x, y = np.random.default_rng(N).random((2, N_NULL, N))
    return {name: float(np.quantile(measure(x, y), 0.95)) for name, measure in OF_RANKS.items()}


def power(pattern: Pattern, level: int, cuts: dict[str, float]) -> dict[str, float]:
    """Share of the pairs above the 95th percentile of the null."""
    x, y = samples(pattern, level, N, N_REPETITIONS)
    null_x = redrawn(pattern, level, N, N_REPETITIONS)
    powers = {}
    for name, measure in OF_VALUES.items():
        values, null = np.split(measure(np.concatenate([x, null_x]), np.concatenate([y, y])), 2)
        powers[name] = float(np.mean(values > np.quantile(null, 0.95)))
    return powers | {name: float(np.mean(measure(x, y) > cuts[name])) for name, measure in OF_RANKS.items()}


def finished() -> list[dict[str, Any]]:
    """Rows that an earlier run with the same numbers has left."""
    path = RESULTS / "peer_power.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text())["results"]["rows"] if path.exists() else []
    return [row for row in rows if (row["n"], row["repetitions"]) == (N, N_REPETITIONS)]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Mean power over the levels."""
    measures = [*OF_VALUES, *OF_RANKS]
    print("".join(f"{name:>18}" for name in ("pattern", *measures)))
    for pattern in dict.fromkeys(row["pattern"] for row in rows):
        powers = [row["power"] for row in rows if row["pattern"] == pattern]
        means = [np.mean([p[name] for p in powers]) for name in measures]
        print(f"{pattern:>18}" + "".join(f"{mean:18.3f}" for mean in means))


if __name__ == "__main__":
    start = time.perf_counter()
    rows, cuts, versions = finished(), rank_cuts(), r_versions()
    done = {(row["pattern"], row["level"]) for row in rows}
    cells = [*product(PATTERNS, LEVELS), *product(STUDIED[len(PATTERNS) :], EXTRA_LEVELS)]
    for pattern, level in cells:
        if (pattern.name, level) in done:
            continue
        powers = power(pattern, level, cuts)
        rows.append({"pattern": pattern.name, "level": level, "n": N, "repetitions": N_REPETITIONS, "power": powers})
        print(f"{time.perf_counter() - start:.0f} s", rows[-1], flush=True)
        record("peer_power", {"r": versions, "rank null": N_NULL, "rows": rows}, "numpy", "scipy", "dcor")
    print_table(rows)
