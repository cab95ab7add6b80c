"""Write the tables of power and speed in docs/validation/change.md; with --check, say if they are up to date."""

import json
import sys
from typing import Any

from change_sizes import KINDS_OF_LARGE, LARGE
from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/change.md"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def sizes() -> str:
    """Sizes of long tables, with errors."""
    rows = results("change_sizes").get("large", [])
    if not rows:
        return "Sizes of long tables have not been studied.\n"
    lines = [
        [
            row["kind"],
            " and ".join(f"{n:,}" for n in row["rows"]),
            f"{row['rows of covariance']:,}",
            row["draws"],
            *(f"{row[f'size at {level}']:.3f} ± {row[f'error at {level}']:.3f}" for level in (0.05, 0.01)),
        ]
        for row in rows
    ]
    planned = len(LARGE) * len(KINDS_OF_LARGE)
    header = ["dependence", "rows", "for covariances", "draws", "at 5 %", "at 1 %"]
    left = "" if len(rows) == planned else f"\nThe study was stopped after {len(rows)} of {planned} lines.\n"
    return table(header, lines) + left


def power() -> str:
    """The share of draws in which every test finds a change, and what did not run."""
    found = results("change_power")
    parts = []
    for what in ("columns", "pairs"):
        rows = found.get(what, [])
        if not rows:
            parts.append(f"Power for {what} has not been studied.\n")
            continue
        names = list(dict.fromkeys(name for row in rows for name in row["power"]))
        lines = [[_called(row), *_cells(row["power"], names, row["change"])] for row in rows]
        parts.append(table([what.removesuffix("s"), *names], lines))
    draws = sorted({row["draws"] for what in ("columns", "pairs") for row in found.get(what, [])})
    peers = "" if "evidently" in found else " evidently did not take part."
    parts.append(f"Draws: {' or '.join(map(str, draws))}. A dash is a test that was not run on so many rows.{peers}\n")
    return "\n".join(parts)


def _called(row: dict[str, Any]) -> str:
    return str(row["change"]) if row["rows"] == 200 else f"{row['change'].split(', many')[0]}, {row['rows']:,} rows"


def _cells(found: dict[str, float | None], names: list[str], change: str) -> list[str]:
    """Powers, the largest in bold where only a change of this kind is to be found."""
    largest = max(value for value in found.values() if value is not None)
    is_null = change.startswith(("nothing,", "same dependence")) or change == "nothing"
    cells = []
    for name in names:
        value = found.get(name)
        said = "–" if value is None else f"{value:.2f}"
        cells.append(f"**{said}**" if value == largest and not is_null else said)
    return cells


def speed() -> str:
    """Times of whole tables."""
    found = results("change_speed")
    seconds = found["processor seconds"]
    return (
        f"{found['columns']} columns × {found['rows']:,} rows twice, all pairs: {found['compare by matrix']:.1f} times "
        f"the processor time of one `renyi.matrix` of that size ({seconds['compare']:.1f} s and "
        f"{seconds['matrix']:.1f} s on one core, the best of {found.get('rounds', 3)} rounds in turns, beside other "
        f"work). Of it {seconds['changes alone']:.1f} s "
        "are for changes of columns and pairs, and nearly all else for the matrices of either table, whose strengths "
        "are shown.\n"
    )


def main() -> None:
    before = PAGE.read_text()
    for name, made in (("change sizes", sizes), ("change power", power), ("change speed", speed)):
        renew(PAGE, name, made())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks change_page")


if __name__ == "__main__":
    main()
