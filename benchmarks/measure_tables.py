"""Write the table of docs/measures.md from what the measures state; with --check, say whether it is up to date."""

import sys

import renyi
from renyi.peers.protocol import Statement
from tables import DOCS, renew, table

PAGE = DOCS / "measures.md"


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
                stated.law,
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


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if f"<!-- measures -->\n{measure_table()}<!-- end of measures -->" in PAGE.read_text() else 1)
    renew(PAGE, "measures", measure_table())
