"""Write the tables of docs/validation/features.md from its studies; with --check, say if they are up to date."""

import json
import sys
from typing import Any

from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/features.md"
RELEVANT = {
    "Friedman #1": "x1 to x5",
    "Friedman #2": "x2, x3",
    "Friedman #3": "x1, x2, x3",
    "XOR": "both",
    "circle, angle": "both",
    "circle, sin 2φ": "both",
    "noise": "none",
}
PEERS = {
    "RDCSelector": "`RDCSelector`",
    "mutual_info_regression": "`mutual_info_regression`",
    "f_regression": "`f_regression`",
    "SFS(Ridge)": "`SequentialFeatureSelector(Ridge())`",
    "random forest": "random forest",
    "relevance less redundancy": "relevance less redundancy",
    "backward elimination": "backward elimination",
}


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def truth() -> str:
    """How often the relevant columns come first, by the search and by the paper's."""
    rows = []
    for name, found in results("selection_truth").items():
        setwise = [
            f"{part['relevant columns first']} of {part['seeds']}" if part else ""
            for part in (found.get("set-wise, k = 10"), found.get("set-wise, k grows"))
        ]
        first = found["relevant columns first"] if RELEVANT[name] != "none" else ""
        rows.append([name, RELEVANT[name], first, found["no noise column chosen"], f"{found['seconds']:.2f}", *setwise])
    header = ["data", "relevant", "first", "no noise chosen", "seconds", "set-wise, k = 10", "set-wise, k grows"]
    return table(header, rows)


def falls() -> str:
    """How often the dependence along a path fell."""
    found = results("selection_truth").values()

    def of(parts: list[dict[str, int]]) -> str:
        return f"{sum(part['paths that fall'] for part in parts)} of {sum(part['seeds'] for part in parts)}"

    fixed, grown = ([part[way] for part in found if way in part] for way in ("set-wise, k = 10", "set-wise, k grows"))
    return (
        f"Along {of(list(found))} paths of the search the dependence fell; along {of(fixed)} set-wise ones with "
        f"k = 10, one step\nlonger than there are relevant columns, and along {of(grown)} with a k that grows.\n"
    )


def real() -> str:
    """Errors on real data, the lowest in bold, and seconds of a selection."""
    found = results("selection_real")
    rows = []
    for name, one in found["sets"].items():
        errors, seconds = one["nmse"], one["seconds"]
        lowest = min(errors[peer] for peer in PEERS)
        cells = [
            f"{f'**{errors[peer]:.3f}**' if errors[peer] == lowest else f'{errors[peer]:.3f}'}"
            f"{'' if seconds[peer] is None else f' ({seconds[peer]:.1f} s)'}"
            for peer in PEERS
        ]
        rows.append([name, one["columns"], *cells])
    rows.append(["**mean**", "", *(f"{found['mean'][peer]:.3f}" for peer in PEERS)])
    return table(["data", "columns", *PEERS.values()], rows)


def main() -> None:
    before = PAGE.read_text()
    for part in (truth, falls, real):
        renew(PAGE, part.__name__, part())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks selection_tables")


if __name__ == "__main__":
    main()
