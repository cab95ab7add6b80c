"""Write the tables of lags in docs/validation/time-series.md; with --check, say if they are up to date."""

import json
import sys
from typing import Any

import numpy as np

from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/time-series.md"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def sizes() -> str:
    """Sizes at 5 % and 1 %, by process and number of rows, with how many pairs there were."""
    rows = [row for row in results("lag_sizes")["rows"] if row.get("pairs")]
    lengths = sorted({row["n"] for row in rows})
    cells = {(row["process"], row["n"]): f"{_share(row, '0.05')} {_share(row, '0.01')}" for row in rows}
    lines = [
        [name, *(cells.get((name, n), "") for n in lengths)] for name in dict.fromkeys(row["process"] for row in rows)
    ]
    fewest = {n: min(row["pairs"] for row in rows if row["n"] == n) for n in lengths}
    header = [f"n = {n:,} (at least {fewest[n]:,} pairs)" for n in lengths]
    walks = [row for row in rows if row["process"] == "random walk"]
    told = ", ".join(f"{row['noted'] / row['pairs']:.2f} at n = {row['n']:,}" for row in walks)
    missed = ", ".join(f"{row['0.05 and not noted'] / row['pairs']:.3f}" for row in walks)
    after = f"Pairs of random walks with a remark that says so: {told}; below 0.05 without one: {missed}.\n"
    return f"{table(['independent pairs of', *header], lines)}\n{after}"


def _share(row: dict[str, Any], level: str) -> str:
    return f"{row[level] / row['pairs']:.3f}"


def power() -> str:
    """Power beside other tests, with errors, and the time of one test."""
    found = results("time_power")
    names = list(found["simulations"][0]["tests"])
    lines = []
    for one in found["simulations"]:
        tests = one["tests"]
        lines.append(
            [one["simulation"], *(f"{tests[name]['power']:.2f} ± {tests[name]['error']:.2f}" for name in names)]
        )
    last = found["simulations"][0]["tests"]
    lines.append(["samples", *(f"{last[name]['samples']:.0f}" for name in names)])
    lines.append(["seconds of the processor", *(f"{last[name]['seconds']:.3f}" for name in names)])
    return table(["simulation", *names], lines)


def links() -> str:
    """Shares of samples in which links given others are found, beside tigramite's tests, by whether there is one."""
    found = results("lags_given")
    names = list(found["questions"][0]["tests"])
    lines = []
    for is_linked in (True, False):
        for row in found["questions"]:
            if row["linked"] is is_linked:
                cells = (row["tests"][name] for name in names)
                lines.append([row["question"], *(f"{one['share']:.2f} ± {one['error']:.2f}" for one in cells)])
    tests = [[row["tests"][name] for row in found["questions"]] for name in names]
    lines.append(["samples of each", *(f"{some[0]['samples']:.0f}" for some in tests)])
    lines.append(["seconds of the processor", *(f"{np.mean([one['seconds'] for one in some]):.3f}" for some in tests)])
    return table(["link", *names], lines)


def speed() -> str:
    """Times of one pair and of a table."""
    found = results("lags_speed")
    pair, whole, peer = found["pair"], found["table"], found["DcorrX"]
    rows = max(map(int, peer["measured"]))
    few = f"{rows:,} rows, {peer['lags']} lags and {peer['permutations']} permutations"
    table_is = f"{whole['columns']} columns, {whole['rows']:,} rows, {whole['lags']} lags"
    return (
        f"One pair, {pair['rows']:,} rows, {pair['lags']:,} lags: {pair['processor']:.2f} s of processor time. All "
        f"pairs of {table_is}: {whole['processor']:.0f} s. "
        f"`DcorrX` takes {peer['measured'][str(rows)]:.1f} s for {few}. With the square of the rows, and in "
        f"proportion to lags and to its 1,000 permutations, the pair above would take it "
        f"{peer['extrapolated'] / 86400:,.0f} days, which was not waited for: {peer['ratio']:.0e} times as long.\n"
    )


def main() -> None:
    before = PAGE.read_text()
    for name, made in (("lag sizes", sizes), ("lag power", power), ("lags given", links), ("lag speed", speed)):
        renew(PAGE, name, made())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks lag_tables")


if __name__ == "__main__":
    main()
