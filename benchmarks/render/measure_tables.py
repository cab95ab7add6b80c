"""Write the tables on measures in docs/how-to and docs/validation, from what they state and from studies.

With --check it says whether they are up to date.
"""

import json
import sys
from typing import Any

import renyi
from harness import RESULTS
from renyi.coefficients.base import Statement
from tables import DOCS, provenance, renew, table

PAGE, SIZES = DOCS / "how-to/measures.md", DOCS / "validation/measures.md"


def statements() -> dict[str, Statement]:
    return {name: renyi.measure(name).statement for name in renyi.measures()}


def measure_table() -> str:
    return table(
        ["name", "measure", "non-linear", "vectors", "invariant", "symmetric", "range", "settings", "time", "p-value"],
        (
            [
                f"`{name}`",
                with_link(stated),
                *(
                    yes(fact)
                    for fact in (stated.is_nonlinear, stated.takes_vectors, stated.is_invariant, stated.is_symmetric)
                ),
                f"[{bound(stated.range[0])}, {bound(stated.range[1])}]",
                stated.parameters,
                stated.cost,
                stated.null,
            ]
            for name, stated in statements().items()
        ),
        in_words=True,
    )


def with_link(stated: Statement) -> str:
    source, _, link = stated.reference.partition(", https://")
    return f"{stated.title} ([{source}](https://{link}))"


def yes(fact: bool) -> str:
    return "yes" if fact else "–"


def bound(value: float) -> str:
    return f"{value:g}".replace("-", "−").replace("inf", "∞")


def size_table() -> str:
    """How often independent columns have a small p-value by theory, and how often rows are permuted instead."""
    recorded = json.loads((RESULTS / "measure_sizes.json").read_text())
    levels, cells = recorded["results"]["levels"], recorded["results"]["sizes"]
    names = list(dict.fromkeys(cell["measure"] for cell in cells))
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for cell in cells:
        rows.setdefault((cell["kind"], cell["n"]), {})[cell["measure"]] = of_cell(cell)
    return "\n".join(
        [
            f"{excess(cells, levels)}\n",
            table(
                ["data", "n", *names],
                ([kind, f"{n:,}", *(found.get(name, "") for name in names)] for (kind, n), found in rows.items()),
            ),
            provenance(recorded, "studies/measure_sizes.py"),
        ]
    )


def of_cell(cell: dict[str, Any]) -> str:
    if "sizes" not in cell:
        return "permutations"
    share = "" if cell["by_theory"] == 1.0 else f" ({100 * cell['by_theory']:.0f} %)"
    return f"{cell['sizes'][0]:.3f} {cell['sizes'][1]:.3f} {cell['sizes'][2]:.4f}{share}"


def excess(cells: list[dict[str, Any]], levels: list[float]) -> str:
    """The largest sizes, as shares of their levels, with their Monte Carlo errors."""
    served = [cell for cell in cells if "sizes" in cell]
    said = []
    for k, level in enumerate(levels):
        # By the lower end of an interval of two errors: else the cells of fewest draws would always be the largest.
        worst = max(served, key=lambda cell: (cell["sizes"][k] - 2 * cell["errors"][k]) / level)
        size, error = worst["sizes"][k] / level, worst["errors"][k] / level
        where = f"{worst['measure']}: {worst['kind']}, {worst['n']:,} rows"
        said.append(f"{size:.2f} ± {error:.2f} times {100 * level:g} % ({where})")
    return (
        f"In {len(served):,} of {len(cells):,} cells theory serves some pairs or all. The largest sizes there, by "
        f"their lower ends at two Monte Carlo errors, are {'; '.join(said)}."
    )


def null_table() -> str:
    """Sizes over levels of two null distributions of a correlation, where the rule admits them and where not."""
    recorded = json.loads((RESULTS / "correlation_nulls.json").read_text())
    levels, pairs, permutations = (recorded["results"][part] for part in ("levels", "pairs", "permutations"))
    rows = []
    for n in dict.fromkeys(pair["n"] for pair in pairs):
        for is_admitted in (True, False):
            some = [pair for pair in pairs if pair["n"] == n and pair["is_admitted"] == is_admitted]
            cells = ((null, k) for null in ("student", "gamma") for k in (2, 3))
            shares = (f"{mean(some, null, k)}, {largest(some, null, k)}" for null, k in cells)
            rows.append([f"{n:,}", "yes" if is_admitted else "–", len(some), *shares])
    header = [f"{null}, {100 * level:g} %" for null in ("Student's t", "gamma") for level in levels[2:]]
    errors = ", ".join(f"{(levels[3] * m) ** -0.5:.1f} at n = {int(n):,}" for n, m in permutations.items())
    return "\n".join(
        [
            "Size over level, mean and largest, for random pairs of 18 kinds of columns. The Monte Carlo error of one "
            f"pair at {100 * levels[3]:g} % is {errors}, and a third of that at {100 * levels[2]:g} %.\n",
            table(["n", "theory holds", "pairs", *header], rows),
            provenance(recorded, "studies/correlation_nulls.py"),
        ]
    )


def mean(pairs: list[dict[str, Any]], null: str, k: int) -> str:
    return f"{sum(pair[null][k] for pair in pairs) / len(pairs):.2f}"


def largest(pairs: list[dict[str, Any]], null: str, k: int) -> str:
    return f"{max(pair[null][k] for pair in pairs):.1f}"


PARTS = {(PAGE, "measures"): measure_table, (SIZES, "sizes"): size_table, (SIZES, "nulls"): null_table}

if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(
            not all(
                f"<!-- {name} -->\n{make()}<!-- end of {name} -->" in page.read_text()
                for (page, name), make in PARTS.items()
            )
        )
    for (page, name), make in PARTS.items():
        renew(page, name, make())
