"""Write the measured ratios into README.md and docs/comparison.md; with --check, say whether they are up to date."""

import json
import sys
from typing import Any

from harness import RESULTS
from inference_tables import peer_names, power_rows
from tables import DOCS, renew, table

README = DOCS.parent / "README.md"
PAGE = DOCS / "comparison.md"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def by(script: str) -> str:
    return f"`python benchmarks/{script}`"


def faster(peer: float, ours: float) -> str:
    """How many times as fast, to two digits: timings are good for no more."""
    return f"{float(f'{peer / ours:.2g}'):,g} ×"


def headline() -> str:
    """What the README shows: the task, the peer, how many times as fast, and the command."""
    largest = next(row for row in results("pair")["scalars"] if row["n"] == 1_000_000)["seconds"]
    wide, tests = results("tables_of_pairs")["wide"]["seconds"], results("testing")["distance tests"]
    chosen = results("selection_speed")
    all_pairs = "all pairs of 300 columns × 10,000 rows, p-values included"
    return table(
        ["task", "beside", "faster by", "command"],
        [
            [
                "coefficient of one pair, 10⁶ rows",
                "SciPy's `spearmanr`",
                faster(largest["spearmanr"], largest["rdc"]),
                by("pair.py"),
            ],
            [
                all_pairs,
                "pandas' Spearman, no p-values",
                faster(wide["spearman of pandas"], wide["matrix"]),
                by("tables_of_pairs.py"),
            ],
            [
                all_pairs,
                "dcor, no p-values (from 200 pairs)",
                faster(wide["all pairs by dcor (from 200)"], wide["matrix"]),
                by("tables_of_pairs.py"),
            ],
            [
                "test of one pair, 2,000 rows",
                "dcor, 1,000 permutations (from 20)",
                faster(tests["dcor"], tests["auto"]),
                by("testing.py"),
            ],
            [
                "choose 10 of 1,000 features, 1,000 rows",
                "the same search by dcor (from one candidate a step)",
                faster(chosen["dcor on 1000 rows, seconds"], chosen["selection on 1000 rows, seconds"]),
                by("selection_speed.py"),
            ],
        ],
        in_words=True,
    )


def ratios() -> str:
    """The same and more, for the page."""
    tests, permuted = results("testing")["distance tests"], results("testing")["permutations"]
    dcor, hsic = results("speed_dcor"), results("speed_hsic")
    ace = results("speed_ace")["rows"][-1]
    mic = next(row for row in results("speed_mic")["rows"] if row["n"] == 10_000)
    measures = by("measures_speed.py")
    more = [
        ["test of one pair, 2,000 rows", "hyppo, 1,000 permutations (from 20)", faster(tests["hyppo"], tests["auto"])],
        [
            "10,000 permutations, 1,000 rows",
            "SciPy's `permutation_test` of `spearmanr`",
            faster(permuted["scipy"], permuted["permutation"]),
        ],
    ]
    own = [
        [
            "distance correlation, 10⁵ rows",
            "dcor, its fastest method",
            faster(1.0, dcor["100,000 scalars"]["ratio to the fastest"]),
        ],
        [
            "distance correlation, 1,000 rows",
            "dcor, its fastest method",
            faster(1.0, dcor["1,000 scalars"]["ratio to the fastest"]),
        ],
        ["HSIC, 5,000 rows", "kernel matrices in NumPy", faster(1.0, hsic["5,000 rows of 1"]["ratio"])],
        [f"ACE, {ace['n']:,} rows", "R's acepack", faster(1.0, ace["ratio"])],
        [f"MIC, {mic['n']:,} rows", "R's minerva", faster(1.0, mic["ratio"])],
    ]
    return headline() + "".join(
        f"| {' | '.join(row)} | {command} |\n"
        for rows, command in ((more, by("testing.py")), (own, measures))
        for row in rows
    )


def power() -> str:
    """Mean power of every test on the paper's eight patterns, best first."""
    mean = next(row for row in power_rows() if "mean" in row[0])
    powers = dict(zip(["renyi", *peer_names()], mean[1:], strict=True))
    shown = sorted(powers.items(), key=lambda each: float(each[1]), reverse=True)
    return table([name for name, _ in shown], [[power for _, power in shown]])


PARTS = {(README, "ratios"): headline, (PAGE, "ratios"): ratios, (PAGE, "power"): power}

if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(
            any(
                f"<!-- {name} -->\n{text()}<!-- end of {name} -->" not in page.read_text()
                for (page, name), text in PARTS.items()
            )
        )
    for (page, name), text in PARTS.items():
        renew(page, name, text())
