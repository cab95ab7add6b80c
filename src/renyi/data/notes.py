"""What reading decided, as sentences."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from renyi.errors import count, some


class Notes:
    """What was decided, as sentences; columns with the same fate share one."""

    def __init__(self, said: Iterable[str] = ()) -> None:
        self._said: list[str] = list(said)
        # How the numbers of columns are written, where that is not plain.
        self.styles: dict[str, str] = {}
        # What the cells of a text file show about commas.
        self.marks: set[str] = set()
        # That p-values may not be what they seem, told last.
        self.cautions: list[str] = []
        self._held: dict[tuple[str, str], list[tuple[str, int]]] = {}
        self._examples: dict[tuple[str, str], str] = {}

    def say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.append(sentence)

    def caution(self, sentence: str) -> None:
        if sentence not in self.cautions:
            self.cautions.append(sentence)

    def absorb(self, other: "Notes", /) -> None:
        """Add what was decided of other rows."""
        for sentence in other._said:
            self.say(sentence)
        for sentence in other.cautions:
            self.caution(sentence)
        for key, columns in other._held.items():
            times = dict(self._held.get(key, ()))
            for column, more in columns:
                times[column] = times.get(column, 0) + more
            self._held[key] = list(times.items())
        self._examples = other._examples | self._examples

    def hold(self, column: str, what: str, fate: str, times: int = 0, example: str = "") -> None:
        """A column holds something, so many times, and this is what became of it; the first example is told."""
        self._held.setdefault((what, fate), []).append((column, times))
        if example:
            self._examples.setdefault((what, fate), f", for example {example}")

    def hold_infinite(self, column: str, times: int) -> None:
        self.hold(
            column, "infinite values", "read as missing, since a rank among finite ones would mean nothing", times
        )

    def sentences(self) -> tuple[str, ...]:
        held = (_sentence(*key, columns) + self._examples.get(key, "") for key, columns in self._held.items())
        return (*self._said, *held, *self.cautions)


def _sentence(what: str, fate: str, columns: list[tuple[str, int]]) -> str:
    names = some(name for name, _ in columns)
    total = sum(times for _, times in columns)
    times = f" ({count(total, 'time')})" if total else ""
    who = f"column {names} holds" if len(columns) == 1 else f"{len(columns):,} columns ({names}) hold"
    return f"{who} {what}{times}: {fate}"


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was read from a file: a Polars frame, and one sentence for each thing that was decided."""

    frame: Any
    notes: tuple[str, ...]
