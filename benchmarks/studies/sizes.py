"""How often the tests reject independent data.

`python benchmarks sizes` takes about half an hour on two cores and writes results/sizes.json. Columns are prepared a
hundred times for each kind of data and length, and then paired at random with their rows in random order: given its
margins every such pair is a draw of independent data.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two processes with two threads each would stand in their own way

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

import renyi
from harness import record
from renyi.basis.random_features import seeds
from renyi.data.reader import as_column
from renyi.pair.independence import Method, Permutations, on_every_scale, on_the_coefficient
from renyi.pair.prepare import Prepared, prepare

Rng: TypeAlias = np.random.Generator
Column: TypeAlias = Callable[[int, Rng], Any]

LENGTHS = (50, 100, 300, 1000, 10_000)
LEVELS = (0.05, 0.01, 1e-3, 1e-4)
N_COLUMNS = 100
# Few permutations are enough to see whether p-values by permuting hold at 5 % and 1 %.
N_RESAMPLES = 99
(SEED,) = seeds(None, n_draws=1)


def zipf(n_levels: int) -> Column:
    shares = 1 / np.arange(1, n_levels + 1)
    return lambda n, rng: renyi.categorical(rng.choice(n_levels, n, p=shares / shares.sum()))


def normal(n: int, rng: Rng) -> Any:
    return rng.standard_normal(n)


def vector(d: int) -> Column:
    return lambda n, rng: rng.standard_normal((n, d))


def zero_inflated(share: float) -> Column:
    return lambda n, rng: np.where(rng.random(n) < share, 0.0, rng.exponential(size=n))


KINDS: dict[str, tuple[Column, Column]] = {
    "continuous": (normal, normal),
    "Cauchy": (lambda n, rng: rng.standard_cauchy(n),) * 2,
    "rounded normals": (lambda n, rng: np.round(rng.standard_normal(n)),) * 2,
    "Poisson, mean 1": (lambda n, rng: rng.poisson(1.0, n).astype(float),) * 2,
    "70 % zeros": (zero_inflated(0.7),) * 2,
    "95 % zeros": (zero_inflated(0.95),) * 2,
    "binary": (lambda n, rng: rng.random(n) < 0.3, lambda n, rng: rng.random(n) < 0.5),
    "7 even levels": (lambda n, rng: renyi.categorical(rng.integers(0, 7, n)),) * 2,
    "7 Zipf levels": (zipf(7),) * 2,
    "number, 7 Zipf levels": (normal, zipf(7)),
    "number, rare event": (normal, lambda n, rng: rng.random(n) < 0.05),
    "vectors of 2": (vector(2),) * 2,
    "vectors of 5": (vector(5),) * 2,
    "vectors of 20": (vector(20),) * 2,
    "vector of 2, number": (vector(2), normal),
    "30 Zipf levels": (zipf(30),) * 2,
    "number, 30 Zipf levels": (normal, zipf(30)),
}

# Looked at with the default method alone.
OF_THE_DEFAULT = ("30 Zipf levels", "number, 30 Zipf levels")


def repetitions(n: int, method: Method) -> int:
    """Ten thousand; fewer on many rows, and for null distributions that are only reported."""
    most = 2000 if n == 10_000 else 10_000
    return most // 10 if method in ("bartlett", "spectral") else most


def columns(make: Column, n: int, rng: Rng) -> list[Prepared]:
    """Columns of one kind that vary, prepared; one is enough where every column is the same but for its order."""
    made: list[Prepared] = []
    while len(made) < (1 if make is normal else N_COLUMNS if n < 10_000 else N_COLUMNS // 10):
        values = make(n, rng)
        if len(np.unique(np.asarray(getattr(values, "values", values)))) > 1:
            made.append(prepare(as_column(values, "x"), SEED))
    return made


def in_random_order(column: Prepared, rng: Rng) -> Prepared:
    rows = rng.permutation(column.basis.n_samples)
    scales = replace(column.scales, basis=column.scales.basis.take(rows))
    scales.__dict__["leverages"] = column.scales.leverages
    return Prepared(replace(column.basis.take(rows), ordered=None), scales)


def size(cell: tuple[str, int, Method]) -> dict[str, Any]:
    """Shares of p-values at most the levels; how often the null distribution served, and the smallest p-value."""
    kind, n, method = cell
    rng = np.random.default_rng([list(KINDS).index(kind), n])
    xs, ys = (columns(make, n, rng) for make in KINDS[kind])
    log_p, by_theory = np.empty(repetitions(n, method)), 0
    warned = np.zeros(len(log_p), dtype=bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", renyi.CalibrationWarning)
        for i in range(len(log_p)):
            x, y = xs[rng.integers(len(xs))], in_random_order(ys[rng.integers(len(ys))], rng)
            # Another seed for every repetition, else permutations of equal columns would be the same ones again.
            permutations = Permutations(N_RESAMPLES, replace(SEED, number=i), None)
            if method == "auto":
                result = on_every_scale(x, y, permutations)
            else:
                result = on_the_coefficient((x.basis, y.basis), method, permutations)
            log_p[i], by_theory = result.log_pvalue, by_theory + (result.calibration == "theory")
            warned[i] = bool(caught)
            caught.clear()
    row = {
        "data": kind,
        "n": n,
        "method": method,
        "repetitions": len(log_p),
        "by theory": by_theory / len(log_p),
        "sizes": {str(level): float(np.mean(log_p <= np.log(level) + 1e-9)) for level in LEVELS},
        "warned": float(warned.mean()),
        "size at 0.05 without a warning": float(np.mean(log_p[~warned] <= np.log(0.05))) if not warned.all() else None,
        "smallest": float(log_p.min()),
        "valid": bool(np.all(np.isfinite(log_p) & (log_p <= 0.0))),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    methods: tuple[Method, ...] = ("auto", "roy", "bartlett", "spectral", "permutation")
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(2) as pool:
        for method in methods:
            kinds = [kind for kind in KINDS if method == "auto" or kind not in OF_THE_DEFAULT]
            rows += pool.map(size, [(kind, n, method) for n in LENGTHS for kind in kinds])
            record("sizes", {"sizes": rows}, "numpy", "scipy")
