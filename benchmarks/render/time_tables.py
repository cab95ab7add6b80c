"""Write tables of docs/validation/time-series.md from their studies; with --check, say if they are up to date."""

import json
import sys
from typing import Any

from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/time-series.md"


def sizes() -> str:
    """Sizes at 5 % and 1 %, by process and number of rows."""
    rows = json.loads((RESULTS / "time_sizes.json").read_text())["results"]["rows"]
    lengths = sorted({row["n"] for row in rows})
    cells = {(row["process"], row["n"]): f"{row['sizes']['0.05']:.3f} {row['sizes']['0.01']:.3f}" for row in rows}
    processes = dict.fromkeys(row["process"] for row in rows)
    pairs = {row["process"]: row["pairs"] for row in rows}
    lines = [[name, f"{pairs[name]:,}", *(cells.get((name, n), "") for n in lengths)] for name in processes]
    header = ["pairs", *(f"n = {n:,}" for n in lengths)]
    found = [f"{row['power']:.2f} at n = {row['n']:,}" for row in rows if row["process"] == "AR 0.9" and "power" in row]
    parabola = f"\nPower at 5 % against y = x² + another such series, of AR 0.9: {', '.join(found)}.\n"
    return table(["independent pairs of", *header], lines) + parabola


def given_sizes() -> str:
    """Sizes and power given others, with how many samples there were."""
    rows = json.loads((RESULTS / "given_sizes.json").read_text())["results"]["rows"]
    lengths = sorted({row["n"] for row in rows})
    fields = ("depends", "panel", "lag", "z", "noise")
    cells = {(*(row[name] for name in fields), row["n"]): _shares(row) for row in rows}
    lines = [
        [_told(dict(zip(fields, kind, strict=True))), *(cells.get((*kind, n), "") for n in lengths)]
        for kind in sorted({tuple(row[name] for name in fields) for row in rows})
    ]
    fewest, of_power = (
        {n: min(row["samples"] for row in rows if row["n"] == n and row["depends"] is depends) for n in lengths}
        for depends in (False, True)
    )
    header = [f"n = {n:,} ({fewest[n]:,} samples, of power {of_power[n]:,})" for n in lengths]
    return table(["x and y follow z", *header], lines)


def _told(kind: dict[str, Any]) -> str:
    panel = ", panel of 50 rows each" if kind["panel"] else ""
    lag = "as it was a row before" if kind["lag"] else "as it is"
    depends = ", y depends on x: power" if kind["depends"] else ""
    return f"z {kind['z']}, noise {kind['noise']}; z {lag}{panel}{depends}"


def _shares(row: dict[str, Any]) -> str:
    return f"{row['0.05'] / row['samples']:.3f} {row['0.01'] / row['samples']:.3f}"


def selection() -> str:
    """False and right features of a selection in time."""
    found = json.loads((RESULTS / "selection_in_time.json").read_text())["results"]["rows"]
    names = ("any of none", "of none, rows as independent", "one more", "the right one")
    lines = [
        [
            row["process"],
            f"{row['n']:,}",
            f"{row['samples']:,}",
            *(f"{row[name] / row['samples']:.3f}" for name in names),
        ]
        for row in found
    ]
    header = ["n", "samples", "any, of none", "the same, rows as independent", "one more", "the right one"]
    return table(["features and target", *header], lines)


def main() -> None:
    before = PAGE.read_text()
    for name, made in (("sizes", sizes), ("given sizes", given_sizes), ("selection in time", selection)):
        renew(PAGE, name, made())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks time_tables")


if __name__ == "__main__":
    main()
