"""Edges that the PC search finds by the conditional test, and time, beside Fisher's z, RCIT and KCI of causal-learn.

`python benchmarks causal_graphs [SACHS.csv]` needs causal-learn and pgmpy, takes about 10 minutes of one core, and goes
on from what is in results/causal_graphs.json. Graphs are drawn, data are made of them by one of four mechanisms, and
every test is given the same data. pgmpy ships the network of Sachs et al. (2005) with three levels a variable, from
which rows are drawn; their 7,466 cells themselves are read from a file where one is named, whose columns are the eleven
proteins in the order of `PROTEINS`.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two processes with two threads each would stand in their own way

import gzip
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from conditional import standardised
from harness import RESULTS, record

Array: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator
ALPHA = 0.01
# Variables, rows, edges a variable on average, graphs, and the tests that are compared on them.
SIZES: dict[str, tuple[int, int, float, int, tuple[str, ...]]] = {
    "small": (8, 400, 2.0, 12, ("fisherz", "rcit", "kci", "renyi")),
    "large": (20, 1000, 3.0, 2, ("fisherz", "rcit", "renyi")),
}
SMOOTH: tuple[Callable[[Array], Array], ...] = (
    lambda v: v,
    np.tanh,
    lambda v: v**2,
    np.abs,
    lambda v: np.sin(2 * v),
    lambda v: np.exp(-(v**2)),
)


def linear(parents: Array, rng: Rng) -> Array:
    return parents @ _weights(parents, rng) + rng.standard_normal(len(parents))


def smooth(parents: Array, rng: Rng) -> Array:
    """A function of every parent, added up."""
    effects = [standardised(SMOOTH[rng.integers(len(SMOOTH))](parent)) for parent in parents.T]
    return np.column_stack(effects) @ _weights(parents, rng) + rng.standard_normal(len(parents))


def noise_inside(parents: Array, rng: Rng) -> Array:
    """A function of the sum of parents and noise."""
    return SMOOTH[rng.integers(len(SMOOTH))](standardised(linear(parents, rng)))


def wave_of_all(parents: Array, rng: Rng) -> Array:
    """A wave along the sum of parents, with little noise: rough, and of all parents together."""
    return standardised(np.sin(2.0 * parents @ _weights(parents, rng))) + 0.3 * rng.standard_normal(len(parents))


def _weights(parents: Array, rng: Rng) -> Array:
    d = parents.shape[1]
    return np.asarray(rng.choice([-1.0, 1.0], d) * rng.uniform(0.5, 1.0, d))


MECHANISMS = {"linear": linear, "smooth": smooth, "noise inside": noise_inside, "a wave of all parents": wave_of_all}


def sample(mechanism: str, n_variables: int, n: int, degree: float, rng: Rng) -> tuple[NDArray[np.bool_], Array]:
    """A graph, of which i → j has i < j, and data."""
    graph = np.triu(rng.random((n_variables, n_variables)) < degree / (n_variables - 1), 1)
    data = np.empty((n, n_variables))
    for j in range(n_variables):
        parents = data[:, graph[:, j]]
        made = MECHANISMS[mechanism](parents, rng) if parents.shape[1] else rng.standard_normal(n)
        data[:, j] = standardised(made)
    return graph, data


def search(data: NDArray[Any], graph: NDArray[np.bool_], test: str, **settings: Any) -> dict[str, Any]:
    """What the search finds by a test: edges, those that are true, those that point the true way, and time."""
    from causallearn.search.ConstraintBased.PC import pc

    if test == "renyi":
        renyi.causal.register()
    np.random.seed(0)  # noqa: NPY002  # RCIT draws features from the global generator
    begin = time.process_time()
    found = pc(data, ALPHA, test, show_progress=False, **settings)
    seconds = time.process_time() - begin
    ends = found.G.graph
    edges, true = np.triu(ends != 0, 1), graph | graph.T
    points = (ends == -1) & (ends.T == 1)
    return {
        "true": int(graph.sum()),
        "found": int(edges.sum()),
        "right": int((edges & true).sum()),
        "directed": int(points.sum()),
        "directed right": int((points & graph).sum()),
        "tests": sum(";" in key for key in found.test.pvalue_cache),
        "seconds": round(seconds, 3),
    }


def cell(job: tuple[str, str, int, str]) -> tuple[str, dict[str, Any]]:
    size, mechanism, number, test = job
    n_variables, n, degree, *_ = SIZES[size]
    seed = [list(SIZES).index(size), list(MECHANISMS).index(mechanism), number]
    graph, data = sample(mechanism, n_variables, n, degree, np.random.default_rng(seed))
    return "/".join(map(str, job)), search(data, graph, test)


def jobs() -> list[tuple[str, str, int, str]]:
    """All of them, those of every graph after one another, so that any part of them is balanced."""
    most = max(n_graphs for *_, n_graphs, _ in SIZES.values())
    return [
        (size, mechanism, number, test)
        for number in range(most)
        for size, (*_, n_graphs, tests) in SIZES.items()
        if number < n_graphs
        for mechanism in MECHANISMS
        for test in tests
    ]


PROTEINS = ("raf", "mek", "plcg", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk")


def sachs_network(n: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The 17 edges that are taken for known, and rows of the network with three levels, as pgmpy ships it, in codes."""
    from pgmpy.readwrite import BIFReader

    spec = find_spec("pgmpy")
    assert spec is not None
    assert spec.submodule_search_locations
    file = next(Path(spec.submodule_search_locations[0]).rglob("sachs.bif.gz"))
    network = BIFReader(string=gzip.decompress(file.read_bytes()).decode()).get_model()
    rows = network.simulate(n_samples=n, seed=1, show_progress=False)
    graph = np.zeros((len(PROTEINS), len(PROTEINS)), dtype=bool)
    for edge in network.edges():
        graph[tuple(PROTEINS.index(name.casefold()) for name in edge)] = True
    by_name = {name.casefold(): rows[name] for name in rows}
    return graph, np.column_stack([np.unique(by_name[name], return_inverse=True)[1] for name in PROTEINS])


def sachs(path: str | None) -> dict[str, Any]:
    """What is found in data of Sachs et al., by test."""
    graph, levels = sachs_network(2000)
    categories = {f"x{j}": "category" for j in range(len(PROTEINS))}
    found = {
        "levels": {
            "chisq": search(levels, graph, "chisq"),
            "renyi": search(levels, graph, "renyi", types=categories),
        }
    }
    if path is not None:
        cells = np.loadtxt(path, delimiter=",", skiprows=1)
        some = np.random.default_rng(0).permutation(len(cells))[:1000]
        values = np.log(cells[some] + 1.0)
        found["cells"] = {test: search(values, graph, test) for test in ("fisherz", "rcit", "renyi")}
    return found


def main() -> None:
    file = RESULTS / "causal_graphs.json"
    there = json.loads(file.read_text())["results"] if file.exists() else {"graphs": {}}
    path = sys.argv[1] if len(sys.argv) > 1 else None
    if "sachs" not in there or (path is not None and "cells" not in there["sachs"]):
        there["sachs"] = sachs(path)
        record("causal_graphs", there, "numpy", "causal-learn", "pgmpy")
    left = [job for job in jobs() if "/".join(map(str, job)) not in there["graphs"]]
    with ProcessPoolExecutor(2) as pool:
        for done, (name, found) in enumerate(pool.map(cell, left)):
            there["graphs"][name] = found
            if done % 8 == 0 or done == len(left) - 1:
                record("causal_graphs", there, "numpy", "causal-learn", "pgmpy")


if __name__ == "__main__":
    main()
