"""Time of each measure beside its original, on the same data in the same run: one function for each measure.

`python benchmarks measures_speed [NAME ...]` writes `speed_NAME.json`; without names, all of them.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import renyi
from harness import RESULTS, best_times, extra_memory, record

Array = NDArray[np.float64]

# Reads x and y, and prints the seconds of the best of several calls, each long enough to be timed.
_ACEPACK = """
library(acepack)
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2]); repeats <- as.integer(arguments[3])
numbers <- readBin(arguments[1], "double", 2 * n)
x <- numbers[1:n]; y <- numbers[n + 1:n]
once <- function() system.time(for (i in seq_len(repeats)) ace(x, y))[["elapsed"]] / repeats
cat(min(replicate(5, once())))
"""


def ace() -> dict[str, Any]:
    """`ace` beside acepack, and the time of a permutation."""
    rows = []
    for n in (500, 10**4, 10**5):
        rng = np.random.default_rng(n)
        x, y = rng.random((2, n))
        measure = renyi.measure("ace")
        sides = measure.prepare(x), measure.prepare(y)
        orders = np.stack([rng.permutation(n) for _ in range(20)])
        calls: dict[str, Callable[[], object]] = {
            "ace": partial(measure, x, y),
            "20 permutations": partial(measure.permuted, *sides, orders),
        }
        # In turns, so that a noisy moment hits both.
        ours, theirs = dict.fromkeys(calls, np.inf), np.inf
        for _ in range(3):
            ours = {name: min(seconds, ours[name]) for name, seconds in best_times(calls, seconds=3).items()}
            theirs = min(theirs, _in_r(_ACEPACK, x, y, repeats=max(1, 2 * 10**4 // n)))
        rows.append({"n": n, "seconds": ours | {"acepack": theirs}, "ratio": ours["ace"] / theirs})
        print(f"ace, n = {n:,}: {rows[-1]}", flush=True)
    return {"rows": rows}


def _in_r(program: str, x: Any, y: Any, *, repeats: int) -> float:
    """Seconds that a program of R prints for the data."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "data", Path(folder) / "program.R"
        data.write_bytes(np.concatenate((x, y)).tobytes())
        script.write_text(program)
        command = ["Rscript", str(script), str(data), str(len(x)), str(repeats)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


# Processor time of one call, as a mean over enough of them for R's clock, which counts hundredths of a second.
_MINERVA = """
library(minerva)
data <- read.csv("{path}")
used <- system.time(for (i in 1:{calls}) mine(data$x, data$y, est = "{estimator}"))
cat((used[["user.self"]] + used[["sys.self"]]) / {calls})
"""


def mic() -> dict[str, Any]:
    """Both estimators beside R's minerva, with both sides to be prepared; the best turn of each, in turns."""
    rows = []
    for n, n_calls, n_turns in ((500, 50, 6), (2000, 4, 4), (10_000, 1, 2)):
        x, noise = np.random.default_rng(n).random((2, n))
        for pattern, y in (("independent", noise), ("sine", np.sin(4 * np.pi * x) + noise)):
            for estimator in ("mic_approx", "mic_e"):
                ours = partial(renyi.measure("mic", estimator=estimator), x, y)
                turns = [(mean_time(ours, n_calls), by_minerva(x, y, estimator, n_calls)) for _ in range(n_turns)]
                best, theirs = (min(times) for times in zip(*turns, strict=True))
                row = {"n": n, "pattern": pattern, "estimator": estimator, "renyi": best, "minerva": theirs}
                rows.append({**row, "ratio": best / theirs})
                print(rows[-1], flush=True)
    return {"clock": "processor seconds a call, mean of a turn", "rows": rows}


def by_minerva(x: Any, y: Any, estimator: str, n_calls: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.csv"
        np.savetxt(path, np.column_stack((x, y)), delimiter=",", header="x,y", comments="", fmt="%.17g")
        program = _MINERVA.format(path=path, calls=n_calls, estimator=estimator)
        run = subprocess.run(["Rscript", "-e", program], capture_output=True, text=True, check=True)
    return float(run.stdout)


def mean_time(call: Callable[[], object], n_calls: int) -> float:
    """Processor seconds of a call, after one that is not counted."""
    call()
    start = time.process_time()
    for _ in range(n_calls):
        call()
    return (time.process_time() - start) / n_calls


def dcor_() -> dict[str, Any]:
    """Against the fastest compiled method of the package dcor."""
    import dcor

    rng, found = np.random.default_rng(0), dict[str, Any]()
    for n in (1_000, 10_000, 100_000):
        x, y = rng.random((2, n))
        calls: dict[str, Callable[[], object]] = {"renyi": partial(renyi.measure("dcor"), x, y)}
        for method in ("auto", "avl", "mergesort"):
            calls[f"dcor, {method}"] = partial(dcor.distance_correlation, x, y, method=method)
        times = best_times(calls)
        peer = min(seconds for name, seconds in times.items() if name != "renyi")
        found[f"{n:,} scalars"] = {**times, "ratio to the fastest": times["renyi"] / peer}
    x, y = rng.standard_normal((2, 2_000, 3))
    times = best_times(
        {"renyi": partial(renyi.measure("dcor"), x, y), "dcor": partial(dcor.distance_correlation, x, y)}
    )
    found["2,000 vectors of 3"] = {**times, "ratio": times["renyi"] / times["dcor"]}
    found["permutations"] = _permutations("dcor", 1_000) | _permutations("dcor", 10_000)
    million = rng.random((2, 1_000_000))
    times = best_times({"renyi": partial(renyi.measure("dcor"), *million)}, least=2)
    memory = _memory("x, y = rng.random((2, 1_000_000))", "measure('dcor')(x, y)")
    found["1,000,000 scalars"] = {**times, "bytes": memory}
    return found


def hsic() -> dict[str, Any]:
    """Against a bare transcription to whole matrices."""
    rng, found = np.random.default_rng(0), dict[str, Any]()
    for n, n_coordinates in ((1_000, 1), (5_000, 1), (5_000, 3)):
        x, y = rng.standard_normal((2, n, n_coordinates))
        calls = {name: partial(renyi.measure(name), x, y) for name in ("hsic", "chsic")}
        times = best_times({**calls, "matrices": partial(hsic_by_matrices, x, y)})
        draw = f"x, y = rng.standard_normal((2, {n}, {n_coordinates}))"
        own, whole = _memory(draw, "measure('hsic')(x, y)"), _memory(draw, "hsic_by_matrices(x, y)")
        ratios = {"ratio": times["hsic"] / times["matrices"], "ratio of memory": own / whole}
        found[f"{n:,} rows of {n_coordinates}"] = {**times, **ratios, "bytes": own, "bytes of matrices": whole}
    found["permutations"] = _permutations("hsic", 1_000) | _permutations("hsic", 10_000)
    million = rng.standard_normal((2, 1_000_000))
    times = best_times({name: partial(renyi.measure(name), *million) for name in ("hsic", "chsic")}, least=2)
    memory = _memory("x, y = rng.standard_normal((2, 1_000_000))", "measure('hsic')(x, y)")
    found["1,000,000 rows of 1"] = {**times, "bytes": memory}
    return found


def correlations() -> dict[str, Any]:
    """Tables of Pearson's and Spearman's correlations beside NumPy's of values and of ranks."""
    rows = []
    for n, n_columns in ((10_000, 300), (1_000, 1_000), (1_000_000, 20)):
        frame = pd.DataFrame(np.random.default_rng(n).standard_normal((n, n_columns)))
        seconds = best_times(
            {
                "pearson": partial(_values, frame, "pearson"),
                "corrcoef": partial(_corrcoef, frame),
                "spearman": partial(_values, frame, "spearman"),
                "corrcoef of ranks": partial(_corrcoef, frame, ranked=True),
            },
            seconds=10,
        )
        rows.append({"n": n, "columns": n_columns, "seconds": seconds})
        for ours, peer in (("pearson", "corrcoef"), ("spearman", "corrcoef of ranks")):
            print(f"{n:,} x {n_columns}: {ours} takes {seconds[ours] / seconds[peer]:.2f} times {peer}")
    return {"rows": rows}


def _values(frame: Any, measure: str) -> Array:
    return np.asarray(renyi.matrix(frame, measure=measure).values)


def _corrcoef(frame: Any, *, ranked: bool = False) -> Array:
    return np.asarray(np.corrcoef((frame.rank() if ranked else frame).to_numpy(), rowvar=False))


def hsic_by_matrices(x: Array, y: Array) -> float:
    """HSIC/√(HSIC·HSIC) as one would write it down; the median from at most 1,000 rows, not to time that."""
    a, b = (_centred(_kernel(side)) for side in (x, y))
    return float(np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b)))


def _kernel(rows: Array) -> Array:
    squares = np.sum(rows**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * rows @ rows.T, 0.0)
    some = distances[:1_000, :1_000]
    width = np.median(np.sqrt(some[np.triu_indices(len(some), 1)]))
    return np.asarray(np.exp(-distances / (2.0 * width**2)))


def _centred(matrix: Array) -> Array:
    return np.asarray(matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean())


def _permutations(name: str, n: int) -> dict[str, float]:
    """Seconds for one of 20 permutations of scalars."""
    rng, measured = np.random.default_rng(1), renyi.measure(name)
    x, y = (measured.prepare(side) for side in rng.standard_normal((2, n)))
    orders = np.stack([rng.permutation(n) for _ in range(20)])
    return {f"{n:,} scalars": best_times({"one": lambda: measured.permuted(x, y, orders)})["one"] / len(orders)}


def _memory(prepare: str, call: str) -> int:
    imports = (
        f"import sys; sys.path[:0] = [{str(RESULTS.parent)!r}, {str(Path(__file__).parent)!r}]\n"
        "measure = renyi.measure\n"
        "from measures_speed import hsic_by_matrices\n"
        "measure('hsic')(np.arange(50.0), np.arange(50.0)); measure('dcor')(np.arange(50.0), np.arange(50.0))\n"
    )
    return extra_memory(imports + prepare, call)


MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    "ace": ace,
    "mic": mic,
    "dcor": dcor_,
    "hsic": hsic,
    "correlations": correlations,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or MEASURES:
        start = time.perf_counter()
        record(f"speed_{name}", MEASURES[name](), "numpy")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
