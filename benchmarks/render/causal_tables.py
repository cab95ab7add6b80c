"""Write the tables of graphs in docs/validation/conditional.md; with --check, say if the page is up to date."""

import json
import sys
from collections import defaultdict
from typing import Any

import numpy as np

from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/conditional.md"
NAMES = {"fisherz": "Fisher's z", "rcit": "RCIT", "kci": "KCI", "chisq": "χ²", "renyi": "renyi"}
SAID = {
    "small": "8 variables, 2 edges each on average, 400 rows",
    "large": "20 variables, 3 edges each on average, 1,000 rows",
}


def share(parts: list[int], wholes: list[int]) -> str:
    """A share of all graphs together, with its error over graphs."""
    part, whole, g = np.array(parts), np.array(wholes), len(parts)
    ratio = part.sum() / max(whole.sum(), 1)
    error = np.sqrt(g / (g - 1) * np.sum((part - ratio * whole) ** 2)) / max(whole.sum(), 1) if g > 1 else np.nan
    return f"{ratio:.2f}" if np.isnan(error) else f"{ratio:.2f} ± {error:.2f}"


def line(runs: list[dict[str, Any]]) -> list[str]:
    """Of the searches of some graphs by one test."""

    def all_of(name: str) -> list[int]:
        return [run[name] for run in runs]

    wrong = [found - right for found, right in zip(all_of("found"), all_of("right"), strict=True)]
    return [
        share(all_of("right"), all_of("true")),
        share(wrong, all_of("found")),
        share(all_of("directed right"), all_of("directed")),
        f"{np.mean(all_of('tests')):,.0f}",
        f"{np.mean([run['seconds'] for run in runs]):.2g}",
    ]


HEADER = ["test", "true edges found", "found and not true", "arrows that are right", "tests a graph", "seconds a graph"]


def graphs() -> str:
    found = json.loads((RESULTS / "causal_graphs.json").read_text())["results"]
    runs: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for name, run in found["graphs"].items():
        size, mechanism, _, test = name.split("/")
        runs[size, mechanism, test].append(run)
    text = ""
    for size, said in SAID.items():
        cells = {key[1:]: some for key, some in runs.items() if key[0] == size}
        n_graphs = len(next(iter(cells.values())))
        lines = [[mechanism, NAMES[test], *line(some)] for (mechanism, test), some in cells.items()]
        text += f"\n{said}; {n_graphs} graphs for each line:\n\n{table(['data', *HEADER], lines)}"
    lines = [
        [{"levels": "three levels, 2,000 rows", "cells": "cells, 1,000 rows"}[data], NAMES[test], *line([run])]
        for data, tests in found["sachs"].items()
        for test, run in tests.items()
    ]
    return text + f"\nSachs et al. (2005), 11 proteins:\n\n{table(['data', *HEADER], lines)}"


def main() -> None:
    before = PAGE.read_text()
    renew(PAGE, "graphs", graphs())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks causal_tables")


if __name__ == "__main__":
    main()
