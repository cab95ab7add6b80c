"""Write the tables of sizes, power and speed in docs/validation/change.md; with --check, say if they are up to date."""

import json
import sys
from typing import Any

from change_sizes import KINDS_OF_LARGE, LARGE, LEVELS
from harness import RESULTS
from tables import DOCS, renew, table

PAGE = DOCS / "validation/change.md"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def _rows(row: dict[str, Any]) -> str:
    return " and ".join(f"{n:,}" for n in row["rows"])


def _sizes(row: dict[str, Any]) -> list[str]:
    return [f"{row[f'size at {level}']:.3f} ± {row[f'error at {level}']:.3f}" for level in LEVELS]


def sizes() -> str:
    """Sizes of pairs: how many are above, those that were drawn again, and long tables, with errors."""
    found, large = results("change_sizes"), results("change_sizes_large")["sizes"]
    rows, again = found["sizes"], found.get("again", [])
    said = [f"{len(rows)} dependences and numbers of rows, {_draws(rows)} draws each."]
    for k, level in enumerate(LEVELS):
        above = sum(row[f"size at {level}"] > level + 2 * row[f"error at {level}"] for row in rows)
        furthest = max(rows, key=lambda row: (row[f"size at {level}"] - level) / row[f"error at {level}"])
        said.append(
            f"At {100 * level:.0f} % {above} are more than two standard errors above it, where chance would have "
            f"{0.023 * len(rows):.0f}; furthest {furthest['kind']}, {_rows(furthest)} rows: {_sizes(furthest)[k]}."
        )
    said.append(
        "All of these, and those below half of 5 % from 500 rows on, were drawn again with another seed, "
        f"{_draws(again)} times:"
    )
    header = ["dependence", "rows", "at 5 %", "at 1 %"]
    first = table(header, [[row["kind"], _rows(row), *_sizes(row)] for row in again])
    lines = [
        [row["kind"], _rows(row), f"{row['rows of covariance']:,}", f"{row['draws']:,}", *_sizes(row)] for row in large
    ]
    planned = len(LARGE) * len(KINDS_OF_LARGE)
    left = "" if len(lines) == planned else f"\nThe study was stopped after {len(lines)} of {planned} lines.\n"
    second = table(["dependence", "rows", "for covariances", "draws", "at 5 %", "at 1 %"], lines)
    return (
        f"{' '.join(said)}\n\n{first}\nLong tables of numbers, where covariances come from fewer rows than what is "
        f"compared:\n\n{second}{left}"
    )


def _draws(rows: list[dict[str, Any]]) -> str:
    draws = [row["draws"] for row in rows]
    return f"{min(draws):,}" if min(draws) == max(draws) else f"{min(draws):,} to {max(draws):,}"


def tables() -> str:
    """False discoveries of whole tables, and p-values of all together and of when a change began."""
    found = results("change_tables")
    rows = found["tables"]

    def rate(of: dict[str, float]) -> str:
        return f"{of['FDR']:.3f} ± {of['error']:.3f}"

    lines = [[row["changed"], f"{row['draws']:,}", rate(row["columns"]), rate(row["pairs"])] for row in rows]
    first = table(["changed", "draws", "false among columns", "false among pairs"], lines)
    studied = {"`together`": rows[0]["together"], "`when`, six parts of 150 rows and four columns": found["when"]}
    levels = list(rows[0]["together"]["sizes"])
    lines = [
        [called, f"{own['draws']:,}", *(f"{own['sizes'][level]:.3f} ± {own['errors'][level]:.3f}" for level in levels)]
        for called, own in studied.items()
    ]
    second = table(["p-value", "draws", *(f"at most {level}" for level in levels)], lines)
    return f"{first}\nShares of draws in which p-values are as small, where nothing changed:\n\n{second}"


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
    peers = f" evidently {found['evidently']}." if "evidently" in found else " evidently did not take part."
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
    seconds, files = found["processor seconds"], found["files"]
    return (
        f"{found['columns']} columns × {found['rows']:,} rows twice, all pairs: {found['compare by matrix']:.1f} times "
        f"the processor time of one `renyi.matrix` of that size ({seconds['compare']:.1f} s and "
        f"{seconds['matrix']:.1f} s on one core, the best of {found.get('rounds', 3)} rounds in turns, beside other "
        f"work). Of it {seconds['changes alone']:.1f} s "
        "are for changes of columns and pairs, and nearly all else for the matrices of either table, whose strengths "
        f"are shown.\n\nTwo Parquet files of {files['rows']:,} rows and {files['columns']} columns with "
        f'`memory="{files["memory"]}"`: {files["processor seconds"]:.0f} seconds of processor time and '
        f"{files['peak GB']:.1f} GB at most, Python and its libraries included.\n"
    )


def main() -> None:
    before = PAGE.read_text()
    for name, made in (
        ("change sizes", sizes),
        ("change tables", tables),
        ("change power", power),
        ("change speed", speed),
    ):
        renew(PAGE, name, made())
    if "--check" in sys.argv:
        is_current = PAGE.read_text() == before
        PAGE.write_text(before)
        sys.exit(None if is_current else f"{PAGE.name} is out of date: run python benchmarks change_page")


if __name__ == "__main__":
    main()
