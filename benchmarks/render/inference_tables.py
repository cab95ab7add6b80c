"""Write what is known of tests of pairs into docs/validation: p-value-tables, power, intervals, conditional, speed."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness import RESULTS
from tables import DOCS, provenance, renew, table

PAPERS_EIGHT = "**mean of the paper's eight**"
METHODS = ("auto", "permutation", "roy", "bartlett", "spectral")
FEW_ROWS_LEVELS = (0.05, 0.01, 1e-3, 1e-4, 1e-5)


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def results(name: str) -> Any:
    return recorded(name)["results"]


def share(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}"


# Size.


def size_cells(method: str) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["data"], row["n"]): row for row in results("sizes")["sizes"] if row["method"] == method}


def size_table(method: str, level: str) -> str:
    cells = size_cells(method)
    kinds, lengths = list(dict.fromkeys(kind for kind, _ in cells)), list(dict.fromkeys(n for _, n in cells))
    return table(
        ["data", *(f"n = {n:,}" for n in lengths)],
        ([kind, *(share(cells[kind, n]["sizes"][level]) for n in lengths)] for kind in kinds),
    )


def excess(row: dict[str, Any], level: float) -> float:
    """How many Monte Carlo errors a size lies above its level."""
    return float((row["sizes"][str(level)] - level) / np.sqrt(level * (1 - level) / row["repetitions"]))


def size_summary() -> str:
    cells = size_cells("auto").values()
    worst = max(excess(row, level) for row in cells for level in (0.05, 0.01))
    served = [row for row in cells if row["by theory"] == 1.0]
    tails = {level: np.mean([row["sizes"][str(level)] for row in served]) / level for level in (1e-3, 1e-4)}
    return (
        f"Share of independent pairs that the default rejects at 5 %; {max(row['repetitions'] for row in cells):,} "
        f"repetitions, {min(row['repetitions'] for row in cells):,} at n = 10,000 (Monte Carlo errors 0.0022 "
        "and 0.0049). "
        f"The largest excess in all cells, at 5 % and 1 %, is {worst:.1f} Monte Carlo errors. Discrete "
        "data fall below the "
        "level where few values are attainable (95 % zeros, rare events). In the cells where theory "
        "always serves, the mean "
        f"size is {tails[1e-3]:.2f} times the level at 10⁻³ and {tails[1e-4]:.2f} times at 10⁻⁴.\n"
    )


def methods_table() -> str:
    kinds = ("continuous", "rounded normals", "95 % zeros", "7 Zipf levels", "vectors of 5")
    cells = {method: size_cells(method) for method in METHODS}
    # Every cell in which it kept silent often enough to say something, also where it warned of most pairs.
    silent = {
        f"{kind}, n = {n:,}": row["size at 0.05 without a warning"]
        for (kind, n), row in cells["roy"].items()
        if n >= 100 and row["repetitions"] * (1 - row["warned"]) >= 300
    }
    above = [f"{name}: {size:.3f}" for name, size in silent.items() if size > 0.065]
    return (
        "True size at a nominal 5 %, and how often `roy` warns:\n\n"
        + table(
            ["data", "n", *(f"`{method}`" for method in METHODS), "warned"],
            (
                [
                    kind,
                    f"{n:,}",
                    *(share(cells[method][kind, n]["sizes"]["0.05"]) for method in METHODS),
                    f"{cells['roy'][kind, n]['warned']:.0%}",
                ]
                for kind in kinds
                for n in (100, 1000)
            ),
        )
        + f"\nAmong the pairs of which `roy` does not warn its size is {min(silent.values()):.3f} to "
        f"{max(silent.values()):.3f} ({len(silent)} cells with 300 to 10,000 such pairs, n from 100 on)."
        + (f" Above 0.065: {'; '.join(above)}." if above else "")
        + "\n"
    )


# Power.


def peer_rows() -> dict[str, list[dict[str, Any]]]:
    """What was found for every pattern, a row a level."""
    by_pattern: dict[str, list[dict[str, Any]]] = {}
    for row in results("peer_power")["rows"]:
        by_pattern.setdefault(row["pattern"], []).append(row)
    return by_pattern


def limits() -> dict[str, float]:
    """The mean power of a test that knows the pattern, and of the paper's patterns together."""
    found = {row["pattern"]: float(np.mean(row["powers"])) for row in results("power_limit")["patterns"]}
    return found | {PAPERS_EIGHT: float(np.mean(list(found.values())))}


def power_rows() -> Iterable[list[str]]:
    peers = peer_rows()
    found = {row["pattern"]: row["powers"] for row in results("power")["patterns"]}
    rows = {
        pattern: [
            np.mean([powers[row["level"] - 1] for row in peers[pattern]]),
            *(np.mean([row["power"][name] for row in peers[pattern]]) for name in peer_names()),
        ]
        for pattern, powers in found.items()
    }
    paper = list(rows)[:8]
    for pattern, powers in rows.items():
        yield [pattern, *(share(float(power), 2) for power in powers)]
        if pattern == paper[-1]:
            yield [
                PAPERS_EIGHT,
                *(share(float(m), 2) for m in np.mean([rows[p] for p in paper], axis=0)),
            ]


def peer_names() -> list[str]:
    return list(next(iter(peer_rows().values()))[0]["power"])


def rows_with_limits() -> Iterable[list[str]]:
    known = limits()
    for name, *powers in power_rows():
        yield [name, share(known[name], 2) if name in known else "–", *powers]


def power_summary() -> str:
    scales = {row["s"]: np.mean(list(row["powers"].values())) for row in results("power")["scales"]}
    others = results("power")["others"]
    peers = ("renyi", "dCor", "xi")
    other_rows = ([row["pattern"], row["n"], *(share(row[key], 2) for key in peers)] for row in others)
    return (
        "Mean power at 5 % over the noise levels of the paper's experiment, n = 500, on the same pairs for all: the "
        f"default test at its own p-values, peers and the limit against a simulated null ({counts_of_peers()}; good to "
        "0.01).\n\n"
        + table(["pattern", "limit", "renyi", *peer_names()], rows_with_limits())
        + "\nOther patterns, mean of three noise levels, 200 repetitions. The 8 × 8 checkerboard is why there is a "
        "block (8, 8); the others had no part in the choice.\n\n"
        + table(["pattern", "n", "renyi", "dCor", "xi"], other_rows)
        + "\nWhat other choices would have brought, mean power over the eight levels (200 repetitions, one null of "
        "5,000; the checkerboard at its least noise):\n\n"
        + frontier_table()
        + "\nOn random features, nested by frequency, the same blocks have mean power "
        + ", ".join(f"{power:.3f} (s = {s:g})" for s, power in scales.items())
        + ".\n"
    )


def counts_of_peers() -> str:
    """Levels and repetitions of the patterns."""
    counts: dict[tuple[int, int], list[str]] = {}
    for pattern, rows in peer_rows().items():
        counts.setdefault((len(rows), rows[0]["repetitions"]), []).append(pattern)
    most, *fewer = sorted(counts, reverse=True)
    said = f"{most[0]} levels, {most[1]} repetitions"
    return said + "".join(f"; the last {len(counts[key])} patterns {key[0]} and {key[1]}" for key in fewer)


def frontier_table() -> str:
    shown = ("linear", "step", "cosine", "two waves", "sine, period 1/8", "checkerboard, 8 × 8")
    return table(
        ["blocks", "mean of the paper's eight", *shown],
        (
            [
                row["choice"],
                share(float(np.mean(list(row["powers"].values())[:8]))),
                *(share(row["powers"][pattern], 2) for pattern in shown),
            ]
            for row in results("power")["frontier"]
        ),
    )


# Intervals, conditional tests, time.


def interval_table() -> str:
    # Of a handful of intervals nothing is known.
    shown = [row | ({} if row["intervals"] >= 0.05 else dict.fromkeys(("coverage", "width"))) for row in _intervals()]
    keys = "population", "mean", "intervals", "coverage", "width"
    return "Coverage of 95 % intervals, 500 repetitions (Monte Carlo error 0.01):\n\n" + table(
        ["data", "n", "population", "mean debiased", "samples with an interval", "coverage", "mean width"],
        (
            [row["data"], f"{row['n']:,}", *("–" if row[key] is None else share(row[key]) for key in keys)]
            for row in shown
        ),
    )


def _intervals() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results("intervals")["coverage"]
    return found


def conditional_tables() -> str:
    found = results("conditional")
    sizes = table(
        [
            "effect of z",
            "n",
            "variables in z",
            "noise",
            "size at 5 %",
            "at 1 %",
            "refused",
            "partial correlation at 5 %",
        ],
        (
            [
                row["effect of z"],
                f"{row['n']:,}",
                row["variables"],
                row["noise"],
                *(share(row[key]) for key in ("at 5 %", "at 1 %")),
                f"{row['refused'] / row['repetitions']:.0%}",
                share(row["partial correlation at 5 %"]),
            ]
            for row in found["sizes"]
        ),
    )
    powers = table(
        ["y depends on what z leaves of x by", "n", "variables in z", "power at 5 %", "partial correlation"],
        (
            [row["dependence"], f"{row['n']:,}", row["variables"]]
            + [share(row[key], 2) for key in ("at 5 %", "partial correlation at 5 %")]
            for row in found["powers"]
        ),
    )
    return (
        "Size (1,000 repetitions at n = 500, 500 at n = 2,000: errors 0.007 and 0.010); noise is relative to "
        "the effect of z, "
        "and *refused* counts samples in which z leaves nothing to test:\n\n"
        + sizes
        + "\nPower, with linear effects of z so that partial correlation is a fair peer:\n\n"
        + powers
    )


def times() -> str:
    found = results("testing")
    distance, permutations = found["distance tests"], found["permutations"]
    rows = table(
        ["n", "`renyi.rdc`", "`independence_test`", "ratio", "with ties", "`spearmanr`"],
        (
            [
                f"{row['n']:,}",
                *(f"{1000 * row['seconds'][key]:.2f}" for key in ("rdc", "auto")),
                f"{row['seconds']['auto'] / row['seconds']['rdc']:.1f}",
                *(f"{1000 * row['seconds'][key]:.2f}" for key in ("auto, tied", "spearmanr")),
            ]
            for row in found["beside the coefficient"]
        ),
    )
    first = max(row["first"] for row in found["first call"])
    return (
        "Milliseconds, two scalars, best of one run:\n\n"
        + rows
        + f"\nThe first call for a new n takes up to {1000 * first:.0f} ms more than the next (n to 150,001). "
        "Distance correlation "
        "tests with 1,000 permutations at n = 2,000, extrapolated from 20: dcor "
        f"{distance['dcor'] / distance['auto']:,.0f} times, "
        f"hyppo {distance['hyppo'] / distance['auto']:,.0f} times (a vector of 2: "
        f"{distance['hyppo, vector of 2'] / distance['auto']:,.0f} times) as long. 10,000 permutations at n = "
        "1,000 take "
        f"{permutations['permutation']:.2f} s, SciPy's `permutation_test` with `spearmanr` "
        f"{permutations['scipy'] / permutations['permutation']:.0f} times as long.\n"
    )


# All of it.


def studies() -> str:
    calibration = results("calibration")
    combination = calibration["combination"]
    parts = [
        "# P-values of one pair: all tables\n",
        "## The null distribution of the combination\n",
        provenance(recorded("calibration"), "studies/calibration.py"),
        "log(p/H) less log M · φ(p), in percent: how far the fitted curve is off, for matrices of independent "
        "normals "
        "(1,000,000 draws; 125,000 for vectors, whose last columns are noise). "
        f"The curve: {', '.join(f'{value:.3f}' for value in combination['curve'])}.\n",
        table(
            ["blocks of", "M", *(f"p = {level:g}" for level in combination["levels"])],
            (
                [row["blocks"], share(row["effective number"], 2)]
                + [f"{100 * value:.1f}" for value in combination["off by"][row["blocks"]]]
                for row in combination["rows"]
            ),
        ),
        "Columns of few rows without ties, permuted: the curvature c that p-values by the null distribution for many "
        "rows would need.\n",
        table(
            ["n", "blocks", "draws", "c", "error", "c used"],
            (
                [
                    row["n"],
                    len(row["blocks"]),
                    f"{row['draws']:,}",
                    *(f"{row[key]:.4f}" for key in ("curvature", "error")),
                    f"{min(0.0075, 0.42 / row['n']):.4f}",
                ]
                for row in calibration["few rows"]
                if row["blocks"]
            ),
        ),
        "With the correction, the share of p-values at or below a level, over the level (relative Monte Carlo error",
        "0.02 at 10⁻³, 0.07 at 10⁻⁴ and 0.2 at 10⁻⁵ for 2,000,000 draws, three times as much for 200,000):\n",
        _tail_table(calibration["few rows"]),
        "## Few rows with few ties, and parts of the rows\n",
        provenance(recorded("few_rows"), "studies/few_rows.py"),
        few_rows_tables(),
        "## Categories of many levels\n",
        provenance(recorded("levels"), "studies/levels.py"),
        levels_tables(),
        "## Size\n",
        provenance(recorded("sizes"), "studies/sizes.py"),
        size_summary(),
        *(
            f"### `{method}` at {level}\n\n{size_table(method, level)}"
            for method in METHODS
            for level in (("0.05", "0.01", "0.001") if method in ("auto", "roy") else ("0.05", "0.01"))
        ),
        "### Share of pairs for which `auto` has its p-value by theory\n",
        _null_table(),
        "## Other methods\n",
        methods_table(),
        "## Power, intervals, conditional tests, time\n",
        *(
            provenance(recorded(name), f"studies/{name}.py")
            for name in ("power", "peer_power", "intervals", "conditional")
        ),
        provenance(recorded("testing"), "speed/testing.py"),
        "Their tables are on [power](power.md), [intervals](intervals.md), [conditional tests](conditional.md) and "
        "[speed](speed.md).\n",
    ]
    return "\n".join(parts)


def few_rows_tables() -> str:
    """Sizes on few rows over their levels: of all lengths together, and by length."""
    return (
        "Pairs of numbers, one of them permuted, on 12 to 49 rows. *Often* and *even levels* have as many ties as the "
        "rule lets pass, 0.06 of all pairs of rows; a *part* has n of so many rows, random ones or those with the "
        "lowest values of x. *By theory* is the share of pairs that have a trusted block, and only they are counted: "
        "others are permuted. Share of p-values at or below a level, over the level, with the Monte Carlo error of "
        "the permutations, all lengths together:\n\n"
        + _sizes_by_length("sizes", (0.05, 0.01, 1e-3))
        + "\nZeros in half of the rows that a column has, and in most of those in common:\n\n"
        + table(
            ["both columns", "n", "by theory", *(f"{level:g}" for level in FEW_ROWS_LEVELS)],
            (
                [row["data"], f"{row['n']:,}", f"{row['pairs by theory'] / 100:.0%}"]
                + [_ratio([row], level) for level in FEW_ROWS_LEVELS]
                for row in results("few_rows")["chosen"]
            ),
        )
        + "\nAs many ties in one column as the rule lets pass beside one with few, 0.25 of all pairs of rows (the "
        "tables above were drawn while both had to have few):\n\n" + _sizes_by_length("one tied", (0.01, 1e-3))
    )


def _sizes_by_length(part: str, levels: Sequence[float]) -> str:
    """Sizes of some pairs on few rows, of all lengths together, and by length at some levels."""
    cells = {(row["data"], row["n"]): row for row in results("few_rows")[part]}
    kinds, lengths = list(dict.fromkeys(kind for kind, _ in cells)), list(dict.fromkeys(n for _, n in cells))
    pooled = (
        [kind, f"{sum(row['pairs by theory'] for row in rows) / (100 * len(rows)):.0%}", f"{_draws(rows):,}"]
        + [_ratio(rows, level) for level in FEW_ROWS_LEVELS]
        for kind in kinds
        for rows in [[cells[kind, n] for n in lengths]]
    )
    by_length = (
        f"At {level:g}, by length:\n\n"
        + table(
            ["both columns", *(f"n = {n}" for n in lengths)],
            ([kind, *(_ratio([cells[kind, n]], level) for n in lengths)] for kind in kinds),
        )
        for level in levels
    )
    columns = ["both columns", "by theory", "draws", *(f"{level:g}" for level in FEW_ROWS_LEVELS)]
    return table(columns, pooled) + "\n" + "\n".join(by_length)


def levels_tables() -> str:
    """Sizes of pairs of categories over their levels, and what the limit on single rows does."""
    rows = results("levels")["sizes"]
    parts = [
        "Share of p-values at or below a level, over the level, with the Monte Carlo error. *By theory* is the share "
        "of pairs that have a trusted block, and only they are counted.\n"
    ]
    for rule, title in (("as it is", "As the rules are"), ("without the limit", "Without the limit 1/√n")):
        cells = (
            [row["data"], f"{row['n']:,}", f"{row[rule]['pairs by theory'] / 40:.0%}"]
            + [_ratio([row[rule] | {"levels": row["levels"]}], level) for level in row["levels"]]
            for row in rows
        )
        parts.append(
            f"{title}:\n\n" + table(["levels of both", "n", "by theory", *(f"{v:g}" for v in rows[0]["levels"])], cells)
        )
    return "\n".join(parts)


def _draws(rows: list[dict[str, Any]]) -> int:
    return sum(row["draws"] for row in rows)


def _ratio(rows: list[dict[str, Any]], level: float) -> str:
    """Size over level, with its error: the larger one of what was seen and what is nominal."""
    draws = _draws(rows)
    if not draws:
        return "–"
    seen = sum(row["counts"][row["levels"].index(level)] for row in rows)
    return f"{seen / draws / level:.2f} ± {max(seen, level * draws) ** 0.5 / draws / level:.2f}"


def _tail_table(rows: list[dict[str, Any]]) -> str:
    shown = (0.05, 0.01, 1e-3, 1e-4, 1e-5)
    return table(
        ["n", *(f"{level:g}" for level in shown)],
        (
            [row["n"]]
            + [f"{row['corrected'][row['levels'].index(level)] / row['draws'] / level:.2f}" for level in shown]
            for row in rows
            if row["blocks"]
        ),
    )


def _null_table() -> str:
    cells = size_cells("auto")
    kinds, lengths = list(dict.fromkeys(kind for kind, _ in cells)), list(dict.fromkeys(n for _, n in cells))
    return table(
        ["data", *(f"n = {n:,}" for n in lengths)],
        ([kind, *(f"{cells[kind, n]['by theory']:.0%}" for n in lengths)] for kind in kinds),
    )


if __name__ == "__main__":
    for page, name, text in (
        ("power", "power", power_summary()),
        ("intervals", "intervals", interval_table()),
        ("speed", "times", times()),
        ("conditional", "conditional", conditional_tables()),
    ):
        renew(DOCS / f"validation/{page}.md", name, text)
    (DOCS / "validation/p-value-tables.md").write_text(studies())
