"""One table in parts, as months or sites: each against the one before it, or against all others; and when it began."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from renyi.change.in_memory import changes_of, compared
from renyi.change.reading import together
from renyi.change.result import Comparison
from renyi.coefficients.base import Measure
from renyi.compute.arrays import Index
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.table import check_known, checked_types, parts_of
from renyi.data.types import Override, SkipError, convert, read, shown
from renyi.errors import InputError, count, cut
from renyi.inference.false_discovery import Correction, adjust
from renyi.pair import showing

MOST_PARTS = 60


@dataclass(frozen=True)
class Began:
    """When a change began: the first part of the split with the strongest evidence, and the p-value of its maximum."""

    part: str
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(showing.Record):
    """The parts of one table, compared, from `renyi.compare(table, by=...)`.

    Attributes
    ----------
    by : str
        The column that says which part a row is in.
    parts : tuple of str
        The parts, in their order.
    against : str
        What each is compared with: the "previous" one, or the "others".
    comparisons : mapping of str to Comparison
        What changed, by the part.
    when : Began or None
        When a change began: the split of all parts into earlier and later ones that has the strongest evidence, with a
        p-value for the maximum over splits; None where there are two parts. Labels are in alphabetical order.
    sampled : str
        Whether a sample of the table was compared, and how large it is.
    """

    _internal = ("new_frame",)

    by: str
    parts: tuple[str, ...]
    against: str
    comparisons: Mapping[str, Comparison]
    when: Began | None
    new_frame: Callable[[dict[str, Any]], Any]
    sampled: str = ""

    def __repr__(self) -> str:
        return str(showing.report().text_of_comparisons(self))

    def __getitem__(self, part: str) -> Comparison:
        check_known(str(part), list(self.comparisons), "the comparison", "part")
        return self.comparisons[str(part)]

    @property
    def together(self) -> float:
        """The p-value of "no part differs": Simes' over all comparisons."""
        return float(np.nanmin(adjust(np.array([found.together for found in self.comparisons.values()]), "bh")))

    def to_frame(self) -> Any:
        """One row a part: its rows, how many changes were found at a rate of 0.05, and the p-value of all together."""
        found = list(self.comparisons.values())
        counts = np.array([one.n_found() for one in found]).reshape(-1, 2)
        return self.new_frame(
            {
                "part": np.array(list(self.comparisons), dtype=str),
                "against": np.array([one.labels[0] for one in found], dtype=str),
                "rows": np.array([one.n_rows[1] for one in found]),
                "columns": counts[:, 0],
                "pairs": counts[:, 1],
                "p": np.array([one.together for one in found]),
            }
        )


def compared_parts(
    table: Any,
    by: str,
    against: str,
    /,
    *,
    types: Mapping[Any, Any] | None,
    max_levels: int,
    correction: Correction,
    measure: str | Measure[Any],
    progress: bool,
    sampled: str = "",
) -> Comparisons:
    """Each part of a table against another."""
    parts, new_frame = parts_of(table)
    by = str(by)
    check_known(by, parts, "the table", "by")
    overrides = checked_types(types)
    notes = Notes()
    try:
        label = _typed(by, parts[by], overrides.get(by), notes)
    except SkipError as error:
        raise InputError(f"by={cut(by)} {error}: pass a column that says which part a row is in") from error
    if label.is_vector:
        raise InputError(f"by={cut(by)} holds vectors: pass a column that says which part a row is in")
    labels, codes = _parts_of(label)
    columns = {}
    for name, cells in parts.items():
        if name == by:
            continue
        try:
            columns[name] = _typed(name, cells, overrides.get(name), notes)
        except SkipError:
            continue
    if not columns:
        raise InputError(f"the table has no column but {cut(by)} that can be compared")

    def rows(wanted: Sequence[int]) -> dict[str, Column]:
        kept = np.isin(codes, wanted)
        return {name: column.take(kept) for name, column in columns.items()}

    settings: dict[str, Any] = {
        "types": None,
        "max_levels": max_levels,
        "correction": correction,
        "measure": measure,
        "progress": progress,
        "sampled": sampled,
    }
    every, found = range(len(labels)), {}
    for k in every[1:] if against == "previous" else every:
        others = [k - 1] if against == "previous" else [other for other in every if other != k]
        name = labels[k - 1] if against == "previous" else f"all but {labels[k]}"
        found[labels[k]] = compared(rows(others), rows([k]), labels=(name, labels[k]), **settings)
    when = _began(labels, rows, max_levels) if len(labels) > 2 else None
    return Comparisons(by, labels, against, found, when, new_frame, sampled)


def _typed(name: str, cells: Any, override: Override | None, notes: Notes) -> Column:
    return convert(*read(cells, name, override), override, notes)[0]


def _parts_of(label: Column) -> tuple[tuple[str, ...], Index]:
    """What parts are called, in their order, and the part of every row, −1 where that is not known."""
    known = label.known
    values, codes = np.unique(known, return_inverse=True)
    if len(values) < 2:
        said = f"always {shown(label, values[0])}" if len(values) else "always missing"
        raise InputError(f"by={cut(label.name)} has one value alone ({said}): there are no parts to compare")
    if len(values) > MOST_PARTS:
        raise InputError(
            f"by={cut(label.name)} has {count(len(values), 'value')}, and at most {MOST_PARTS} parts are compared: "
            "pass a column with fewer, such as the month of a date"
        )
    labels = tuple(_called(label, value) for value in values)
    if label.is_category:
        order = np.argsort(labels, kind="stable")
        codes, labels = np.argsort(order)[codes], tuple(labels[k] for k in order)
    of_rows = np.full(len(label), -1)
    of_rows[~label.gaps] = codes
    return labels, of_rows


def _called(label: Column, value: Any) -> str:
    """What a part is called; a whole number as such, though it be a float because others are missing."""
    return f"{value:.0f}" if isinstance(value, np.floating) and value == np.round(value) else str(shown(label, value))


def _began(labels: tuple[str, ...], rows: Callable[[Sequence[int]], dict[str, Column]], max_levels: int) -> Began:
    """The split with the smallest p-value, times how many splits there are."""
    every, found = list(range(len(labels))), []
    for split in every[1:]:
        both = together(rows(every[:split]), rows(every[split:]), ("earlier", "later"), None, max_levels)
        of_columns, of_pairs = changes_of(both)
        families = np.array([change.p for change in of_columns]), np.exp(of_pairs.log_pvalues)
        simes = [float(np.nanmin(adjust(p, "bh"))) for p in families if np.isfinite(p).any()]
        found.append(min(1.0, len(simes) * min(simes)) if simes else 1.0)
    best = int(np.argmin(found))
    return Began(labels[best + 1], min(1.0, found[best] * len(found)))
