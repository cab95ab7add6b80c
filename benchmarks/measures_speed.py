"""Time and memory of other measures of dependence against their usual implementations, in turns in the same process.

    python benchmarks/measures_speed.py [dcor] [hsic] ...

Without names all sections run. A section that did not run keeps its last figures in results/measures_speed.json.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import RESULTS, best_times, extra_memory, record
from renyi.peers.registry import measure

Array = NDArray[np.float64]


def dcor_section() -> dict[str, Any]:
    """Against the fastest compiled method of the package dcor."""
    import dcor

    rng, found = np.random.default_rng(0), dict[str, Any]()
    for n in (1_000, 10_000, 100_000):
        x, y = rng.random((2, n))
        calls: dict[str, Callable[[], object]] = {"renyi": partial(measure("dcor"), x, y)}
        for method in ("auto", "avl", "mergesort"):
            calls[f"dcor, {method}"] = partial(dcor.distance_correlation, x, y, method=method)
        times = best_times(calls)
        peer = min(seconds for name, seconds in times.items() if name != "renyi")
        found[f"{n:,} scalars"] = {**times, "ratio to the fastest": times["renyi"] / peer}
    x, y = rng.standard_normal((2, 2_000, 3))
    times = best_times({"renyi": partial(measure("dcor"), x, y), "dcor": partial(dcor.distance_correlation, x, y)})
    found["2,000 vectors of 3"] = {**times, "ratio": times["renyi"] / times["dcor"]}
    found["shuffles"] = _shuffles("dcor", 1_000) | _shuffles("dcor", 10_000)
    million = rng.random((2, 1_000_000))
    times = best_times({"renyi": partial(measure("dcor"), *million)}, least=2)
    memory = _memory("x, y = rng.random((2, 1_000_000))", "measure('dcor')(x, y)")
    found["1,000,000 scalars"] = {**times, "bytes": memory}
    return found


def hsic_section() -> dict[str, Any]:
    """Against a bare transcription to whole matrices."""
    rng, found = np.random.default_rng(0), dict[str, Any]()
    for n, n_coordinates in ((1_000, 1), (5_000, 1), (5_000, 3)):
        x, y = rng.standard_normal((2, n, n_coordinates))
        calls = {name: partial(measure(name), x, y) for name in ("hsic", "chsic")}
        times = best_times({**calls, "matrices": partial(hsic_by_matrices, x, y)})
        draw = f"x, y = rng.standard_normal((2, {n}, {n_coordinates}))"
        own, whole = _memory(draw, "measure('hsic')(x, y)"), _memory(draw, "hsic_by_matrices(x, y)")
        ratios = {"ratio": times["hsic"] / times["matrices"], "ratio of memory": own / whole}
        found[f"{n:,} rows of {n_coordinates}"] = {**times, **ratios, "bytes": own, "bytes of matrices": whole}
    found["shuffles"] = _shuffles("hsic", 1_000) | _shuffles("hsic", 10_000)
    million = rng.standard_normal((2, 1_000_000))
    times = best_times({name: partial(measure(name), *million) for name in ("hsic", "chsic")}, least=2)
    memory = _memory("x, y = rng.standard_normal((2, 1_000_000))", "measure('hsic')(x, y)")
    found["1,000,000 rows of 1"] = {**times, "bytes": memory}
    return found


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


def _shuffles(name: str, n: int) -> dict[str, float]:
    """Seconds for one of 20 shuffles of scalars."""
    rng, measured = np.random.default_rng(1), measure(name)
    x, y = (measured.prepare(side) for side in rng.standard_normal((2, n)))
    orders = np.stack([rng.permutation(n) for _ in range(20)])
    return {f"{n:,} scalars": best_times({"one": lambda: measured.shuffled(x, y, orders)})["one"] / len(orders)}


def _memory(prepare: str, call: str) -> int:
    imports = (
        f"import sys; sys.path.insert(0, {str(RESULTS.parent)!r})\n"
        "from renyi.peers.registry import measure\n"
        "from measures_speed import hsic_by_matrices\n"
        "measure('hsic')(np.arange(50.0), np.arange(50.0)); measure('dcor')(np.arange(50.0), np.arange(50.0))\n"
    )
    return extra_memory(imports + prepare, call)


# What each section is compared with; others may be added as functions of their own.
SECTIONS: dict[str, tuple[Callable[[], dict[str, Any]], str | None]] = {
    "dcor": (dcor_section, "dcor"),
    "hsic": (hsic_section, None),
}


def main(names: list[str]) -> None:
    file = RESULTS / "measures_speed.json"
    results = json.loads(file.read_text())["results"] if file.exists() else {}
    for name in names:
        results[name] = SECTIONS[name][0]()
        print(name, json.dumps(results[name], indent=1), sep="\n")
    peers = [peer for name, (_, peer) in SECTIONS.items() if peer and name in results]
    record("measures_speed", results, "numpy", "scipy", *peers)


if __name__ == "__main__":
    main(sys.argv[1:] or list(SECTIONS))
