"""Write measured ratios into README.md and docs/explanation/comparison.md; with --check, say if they are up to date."""

import json
import sys
from typing import Any

from harness import RESULTS
from inference_tables import PAPERS_EIGHT, limits, peer_names, power_rows
from tables import DOCS, renew, table

README = DOCS.parent / "README.md"
PAGE = DOCS / "explanation/comparison.md"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def by(script: str) -> str:
    return f"`python benchmarks {script}`"


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
                by("pair"),
            ],
            [
                all_pairs,
                "pandas' Spearman, no p-values",
                faster(wide["spearman of pandas"], wide["matrix"]),
                by("tables_of_pairs"),
            ],
            [
                all_pairs,
                "dcor, no p-values (from 200 pairs)",
                faster(wide["all pairs by dcor (from 200)"], wide["matrix"]),
                by("tables_of_pairs"),
            ],
            [
                "test of one pair, 2,000 rows",
                "dcor, 1,000 permutations (from 20)",
                faster(tests["dcor"], tests["auto"]),
                by("testing"),
            ],
            [
                "choose 10 of 1,000 features, 1,000 rows",
                "the same search by dcor (from one candidate a step)",
                faster(chosen["dcor on 1000 rows, seconds"], chosen["selection on 1000 rows, seconds"]),
                by("selection_speed"),
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
    measures = by("measures_speed")
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
        for rows, command in ((more, by("testing")), (own, measures))
        for row in rows
    )


def powers() -> list[list[str]]:
    """Power by pattern, the tests in order of their mean."""
    rows = list(power_rows())
    mean = next(row for row in rows if "mean" in row[0])
    order = sorted(range(1, len(mean)), key=lambda j: -float(mean[j]))
    names = ["pattern", "renyi", *peer_names()]
    return [[row[0], *(row[j] for j in order)] for row in [names, *rows]]


def power() -> str:
    """Mean power of every test on the paper's eight patterns, best first, and where other tests lead."""
    header, *rows = powers()
    return table(header, [row for row in rows if "mean" in row[0] or row[0] in ("linear", "step")][::-1])


def sure() -> str:
    """What the README says of size and power."""
    real = results("table_study")["real"]
    tables, found = (sum(row[key] for row in real) for key in ("seeds", "tables with a discovery"))
    header, *rows = powers()
    mean = dict(zip(header, next(row for row in rows if "mean" in row[0]), strict=True))
    tests = sum(row["tests"] for row in real)
    at_five = sum(row["below"]["0.05"] for row in real) / tests
    limit = limits()[PAPERS_EIGHT]
    by_chance = (
        f"{found} of these {tables} tables had a finding at a false discovery rate of 5 %, where {0.05 * tables:g} may "
        "be expected to"
    )
    peers = f"distance correlation has {mean['dCor']}, MIC {mean['MIC']}, Pearson {mean['Pearson']}"
    scripts = f"{by('power')}, {by('peer_power')} (needs R), {by('power_limit')}"
    parts = [
        f"**P-values.** We permuted every column of {len(real)} real tables, {tables} times in all, so that nothing "
        f"depends on anything and every finding is false. {by_chance[0].upper()}{by_chance[1:]}, and {at_five:.1%} of "
        f"{tests:,} p-values were at most 5 % ({by('table_study DATA')}, where DATA is a folder with these CSV files). "
        "[One picture](docs/validation/p-values.md) shows all p-values of independent data, also those that are too "
        "small.",
        f"**Power.** On the paper's eight patterns the default test has a mean power of {mean['renyi']}; the next is "
        f"ACE with {mean['ACE']}; {peers}. A test that knows the pattern reaches {limit:.2f}, and none can do better. "
        "The patterns informed the weights of our test, so expect a little less on others; on a straight line Pearson "
        f"leads. {scripts}; [results by pattern](docs/validation/power.md).",
    ]
    return "".join(f"- {part}\n" for part in parts)


PARTS = {(README, "ratios"): headline, (PAGE, "ratios"): ratios, (PAGE, "power"): power, (README, "sure"): sure}

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
