"""Results on tables as plain lines and sentences, for whoever shows them."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from renyi.allpairs.edges import MISSED
from renyi.data.column import Column
from renyi.errors import count
from renyi.tables.folding import Folding
from renyi.tables.screening import Screening
from renyi.tables.strongest import Pairs

Result: TypeAlias = Folding | Screening

# A trend is shown from this coefficient of Spearman on.
_TREND = 0.1
# Pairs that are folded for the sake of the few that are shown.
_MOST_TO_FOLD = 2000
_MOST_NAMED = 3
_LONGEST_NAME = 32
# Names that share a line, which with the sign before them are cut nowhere.
_LONGEST_FOLD = 26
_LONGEST_REASON = 100
# Sentences about reading that are shown beside a result, which has all of them.
_MOST_NOTES, LONGEST_NOTE = 6, 300
_SMALLEST_SHOWN = 1e-300
_JOINERS = "\u200c\u200d"  # hold letters and emoji together, and print nothing themselves


@dataclass(frozen=True)
class Line:
    """One dependence as it is shown; where x and y are nearly the same, or agree, y may be several names."""

    x: str
    y: str
    sign: str
    value: float
    strength: float
    trend: int
    p: float
    q: float
    n: int
    is_nonlinear: bool
    remark: str = ""

    @property
    def partner(self) -> str:
        """The second side, with the sign for what it is to the first."""
        return f"{self.sign} {self.y}" if self.sign else self.y

    @property
    def mark(self) -> str:
        """What is said beside the numbers."""
        return "; ".join(filter(None, ("nonlinear" if self.is_nonlinear else "", self.remark)))


def lines_of(result: Result, n: int, /, *, q: float | None = None, fold: bool = True) -> list[Line]:
    """The n strongest dependences at a false discovery rate, columns that are nearly the same told as one."""
    edges, ranked = result.edges, result.ranked(result.rate(q) if result.edges.has_null else None)
    found = edges.found
    if fold:
        # What is shown folds by all that may be the same, and these lead the ranking.
        near = np.flatnonzero(edges.may_be_alias(ranked))
        lines = result.folded(ranked[: max(n, _MOST_TO_FOLD, *(near[-1:] + 1))])[:n]
    else:
        lines = result.one_by_one(ranked[:n])
    return [
        Line(
            x=edges.x[found.i[edge]].column.name,
            y=partners[0] if len(partners) == 1 else _as_many_as_fit(partners),
            sign=sign or ("=" if edges.is_alias(edge) else ""),
            value=float(found.coefficient[edge] if edges.measure != "rdc" else edges.strength[edge]),
            strength=float(edges.strength[edge]),
            trend=trend_of(
                edges.x[found.i[edge]].column,
                edges.y[found.j[edge]].column,
                float(edges.trend[edge]),
                float(edges.strength[edge]),
            ),
            p=float(edges.pvalues[edge]),
            q=float(result.edge_qvalues[edge]),
            n=int(found.n[edge]),
            is_nonlinear=bool(edges.is_nonlinear[edge]),
            remark=edges.remark(edge),
        )
        for edge, partners, _, sign in lines
    ]


def signs_of(lines: Sequence[Line], /) -> list[str]:
    """What the signs before names mean, of those that are there."""
    signs = {"=": "= nearly the same", "~": "~ all of them agree in some level"}
    return [meaning for sign, meaning in signs.items() if any(line.sign == sign for line in lines)]


def trend_of(x: Column, y: Column, correlation: float, strength: float, /) -> int:
    """Whether y rises (1) or falls (−1) with x on the whole; 0 where it does neither, or one has no order.

    A correlation that misses most of a dependence does not say where it goes. Names have no order, not even two.
    """
    if not (abs(correlation) >= _TREND and abs(correlation) > MISSED * strength):
        return 0
    if not all(side.is_number or set(side.levels) <= {False, True} for side in (x, y)):
        return 0
    return 1 if correlation > 0 else -1


# Sentences.


def called(result: Result, /) -> str:
    """What the numbers beside the names are."""
    return "strength" if result.edges.measure == "rdc" else result.edges.measure


def headline(result: Result, /, *, q: float | None = None) -> str:
    """What was looked at, and how much was found."""
    if result.target is not None:
        held = f" given {_some(result.given)}" if result.given else ""
        columns = f"{count(len(result.edges), 'column')} against {short(result.target)}{held}"
    elif result.other_names is not None:
        columns = f"{count(len(result.names), 'column')} against {len(result.other_names):,}"
    else:
        columns = count(len(result.names), "column")
    if not result.edges.has_null:
        return f"{count(result.n_rows, 'row')}, {columns}, ranked by {result.edges.measure} and not tested"
    asked = result.rate(q)
    found = count(result.n_found(asked), "dependence")
    if isinstance(result, Pairs) and result.n_all_found > len(result):
        found = f"the {len(result):,} strongest of {count(result.n_all_found, 'dependence')}"
    return (
        f"{count(result.n_rows, 'row')}, {columns}, {count(result.n_tests, 'test')}: "
        f"{found} at a false discovery rate of {rate(asked)}"
    )


def notes_of(result: Result, /) -> list[str]:
    """What reading decided: the first few sentences."""
    more = len(result.notes) - _MOST_NOTES
    rest = [f"{count(more, 'more note')} in .notes"] if more > 0 else []
    return [*(short(note, LONGEST_NOTE) for note in result.notes[:_MOST_NOTES]), *rest]


def ranking(result: Result, /) -> str:
    """What comes first, where that is not the number that is shown; empty for other measures."""
    return (
        "ranked by a lower bound of the strength, lower if few rows carry it" if result.edges.measure == "rdc" else ""
    )


def remarks(result: Result, /) -> list[str]:
    """What was left out and why, which levels were taken together, and what could not be tested."""
    said = []
    if result.skipped:
        by_reason: dict[str, list[str]] = {}
        for name, reason in result.skipped.items():
            by_reason.setdefault(short(reason, _LONGEST_REASON), []).append(name)
        reasons = [f"{_some(names)}: {reason}" for reason, names in by_reason.items()]
        said.append(f"left out: {'; '.join(reasons[:_MOST_NAMED])}{_rest(len(reasons), 'more reasons')}")
    if result.pooled:
        pooled = [f"{n:,} of {short(name)}" for name, n in result.pooled.items()]
        said.append(f"rare levels pooled: {', '.join(pooled[:_MOST_NAMED])}{_rest(len(pooled), 'more')}")
    if result.n_permuted:
        least = result.edges.smallest_permuted
        permutations = f"{1 / least - 1:,.0f} permutations, at least {least:.2g}"
        said.append(f"theory does not hold for {count(result.n_permuted, 'test')}: p from {permutations}")
    if not result.edges.has_null:
        said.append(
            f"{result.edges.measure} has no known null distribution, and permutations take long: "
            "renyi.measure(...).test(x, y) tests one pair"
        )
    expected = result.edges.pvalues if result.edges.has_null else result.edges.found.coefficient
    untested = np.flatnonzero(np.isnan(expected))
    if len(untested):
        said.append(f"not tested, {_by_reason(result, untested.tolist())}")
    return said


def _by_reason(result: Result, edges: Sequence[int]) -> str:
    """Pairs that have no p-value, or no coefficient, after the reason that they share."""
    pairs: dict[str, list[str]] = {}
    for edge in edges:
        pairs.setdefault(short(result.edges.reason(edge), _LONGEST_REASON), []).append(_called(result, edge))
    reasons = [
        f"{reason}: {', '.join(names[:_MOST_NAMED])}{_rest(len(names), 'more')}" for reason, names in pairs.items()
    ]
    return f"{'; '.join(reasons[:_MOST_NAMED])}{_rest(len(reasons), 'more reasons')}"


def _called(result: Result, edge: int) -> str:
    """How a sentence names a pair."""
    found = result.edges.found
    name = short(result.edges.x[found.i[edge]].column.name)
    if result.target is not None:
        return name
    return f"{name} with {short(result.edges.y[found.j[edge]].column.name)}"


def _as_many_as_fit(names: Sequence[str]) -> str:
    """The first names, one at least, as far as they are not too long together, and how many more there are."""
    for n in range(len(names), 0, -1):
        rest = f" and {len(names) - n:,} more" if n < len(names) else ""
        text = ", ".join(map(short, names[:n])) + rest
        if len(text) <= _LONGEST_FOLD:
            return text
    return short(names[0], _LONGEST_FOLD - len(rest)) + rest


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(short, names[:_MOST_NAMED])) + _rest(len(names), "more")


def _rest(number: int, noun: str) -> str:
    return f" and {number - _MOST_NAMED:,} {noun}" if number > _MOST_NAMED else ""


# Numbers.

# What takes the place of a strength where nothing is found: a number would be read as one.
NO_FINDING = "·"


def number(value: float | None, /, digits: int = 3) -> str:
    """A coefficient; what is rounded to 0 has no sign."""
    return "–" if value is None or math.isnan(value) else f"{value:z.{digits}f}"


def pvalue(value: float, /, digits: int = 0) -> str:
    """A p-value or q-value, with so many digits after the first."""
    if math.isnan(value):
        return "–"
    if value < _SMALLEST_SHOWN:
        return "<1e-300"
    if value >= 0.001:
        return f"{value:.3f}"
    digit, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{digit}e{int(exponent)}"


def rate(q: float, /) -> str:
    """A share in percent."""
    return f"{100 * q:g} %"


# Names, which may be anything.


def width(text: str, /) -> int:
    """Cells that a text takes in a terminal."""
    return sum(_cells(character) for character in text)


def short(text: str, /, limit: int = _LONGEST_NAME) -> str:
    """A text on one line of at most so many cells, cut in the middle; what does not print is spelled out."""
    spelled = "".join(map(_printable, text))
    if width(spelled) <= limit:
        return spelled
    head, tail = _leading(spelled, limit // 2), _leading(spelled[::-1], limit - 1 - limit // 2)[::-1]
    return f"{head}…{tail}"


def told_apart(names: Sequence[str], limit: int, /) -> list[str]:
    """Every name as `short` has it; where two would read the same, cut elsewhere, so that what differs is seen."""
    shown = [short(name, limit) for name in names]
    alike: dict[str, list[int]] = {}
    for place, text in enumerate(shown):
        alike.setdefault(text, []).append(place)
    for places in alike.values():
        if len({names[place] for place in places}) > 1:
            cuts = _cuts_of([short(names[place], 10**6) for place in places], limit)
            for place, text in zip(places, cuts, strict=True):
                shown[place] = text
    return shown


def _cuts_of(texts: list[str], limit: int) -> list[str]:
    """Long texts that begin and end alike, cut so that the first letters that differ are seen, else numbered."""
    # What all have in common, the first and the last in order have.
    first, last = min(texts), max(texts)
    before = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    head = limit // 3
    room = limit - head - 2
    ends = ["…" if len(text) > before + room else "" for text in texts]
    cuts = [
        short(f"{text[:head]}…{text[before : before + room]}{end}", limit)
        for text, end in zip(texts, ends, strict=True)
    ]
    if len(set(cuts)) == len(cuts):
        return cuts
    return [f"{short(text, limit - len(f' ({k})'))} ({k})" for k, text in enumerate(texts, 1)]


def _printable(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    is_space = unicodedata.category(character) == "Zs"
    return " " if is_space else character.encode("unicode_escape").decode("ascii")


def _leading(text: str, limit: int) -> str:
    """The first part of a text, of at most so many cells."""
    taken = 0
    for place, character in enumerate(text):
        taken += _cells(character)
        if taken > limit:
            return text[:place]
    return text


def _cells(character: str) -> int:
    if character in _JOINERS or unicodedata.combining(character) or unicodedata.category(character) == "Mn":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
