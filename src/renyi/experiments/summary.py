"""What an experiment has found in a few lines: a table for people, of which Markdown and a terminal are two views."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """A table with a title and remarks; the first column names the rows."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """The table in Markdown, numbers to the right."""
        lines = [self.header, ("---", *["---:"] * (len(self.header) - 1)), *self.rows]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        notes = "".join(f"\n{note[:1].upper()}{note[1:]}.\n" for note in self.notes)
        return f"### {self.title}\n\n{table}\n{notes}"


def number(value: float | None, /, digits: int = 2) -> str:
    """A number with its sign, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no minus before a zero
