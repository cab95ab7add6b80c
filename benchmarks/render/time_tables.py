"""Write the table of docs/validation/time-series.md from its study; with --check, say if it is up to date."""

import json
import sys

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


def main() -> None:
    before = PAGE.read_text()
    renew(PAGE, "sizes", sizes())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks time_tables")


if __name__ == "__main__":
    main()
