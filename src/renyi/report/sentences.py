"""A result on a table in plain words, for readers who did not make it."""

from collections import Counter

import numpy as np

from renyi.errors import count
from renyi.report.summary import Result, called, lines_of, number, ranking, rate, remarks, short

_PLURALS = {"category": "categories", "boolean": "yes-or-no columns", "ordered": "ordered categories"}
_SINGULARS = {"boolean": "yes-or-no column", "ordered": "ordered category"}
_N_STRONGEST = 3


def sentences(result: Result, /, *, q: float) -> list[str]:
    """What was looked at, what was found, what linear coefficients would have missed, and what was left out."""
    return [_what_was_looked_at(result), *_what_was_found(result, q), *_strongest(result, q), *_remarks(result)]


def beside_numbers(result: Result, /, *, q: float) -> list[str]:
    """What a page with counts and pictures leaves to say: what was held fixed, was not tested, or was left out."""
    said = []
    if result.given:
        said.append(f"The numbers hold {', '.join(map(short, result.given))} fixed; the pictures do not.")
    if not result.edges.has_null or not result.n_found(q):
        said += _what_was_found(result, q)
    return [*said, *_remarks(result)]


def _remarks(result: Result) -> list[str]:
    return [f"{remark[0].upper()}{remark[1:]}." for remark in remarks(result)]


def drawn_from(result: Result, /) -> list[str]:
    """What pictures are drawn of, where that is not all rows."""
    n_drawn = len(result.edges.x[0].shown)
    if n_drawn == result.n_rows:
        return []
    return [
        f"Pictures are drawn from {count(n_drawn, 'row')}, a random sample of all {result.n_rows:,}; numbers are from "
        "all rows."
    ]


def missed(result: Result, /, *, q: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pairs are findings of which Pearson's and Spearman's coefficients see less than half."""
    return np.asarray(result.edges.is_nonlinear & (result.edge_qvalues <= q))


def _what_was_looked_at(result: Result) -> str:
    partners = () if result.target is not None else result.edges.y
    names = {variable.column.name for variable in [*result.edges.x, *partners]}
    kinds = Counter(kind for name, kind in result.types.items() if name.removesuffix(" (other)") in names)
    types = ", ".join(f"{n:,} {noun(kind, n)}" for kind, n in kinds.most_common())
    rows = count(result.n_rows, "row")
    if result.target is not None:
        held = f", holding {', '.join(map(short, result.given))} fixed" if result.given else ""
        others = count(len(result.edges.x), "column")
        return f"{others} of a table of {rows} ({types}) were compared with {short(result.target)}{held}."
    if result.other_names is not None:
        sides = f"{count(len(result.names), 'column')} with {len(result.other_names):,} others"
        return f"{sides} ({types}) were compared over {rows}."
    return f"{count(len(result.names), 'column')} ({types}) were compared over {rows}."


def noun(kind: str, n: int, /) -> str:
    """What so many columns of a type are called."""
    return _SINGULARS.get(kind, kind) if n == 1 else _PLURALS.get(kind, f"{kind}s")


def _what_was_found(result: Result, q: float) -> list[str]:
    """How many dependences at which rate, and how many of them are not linear."""
    edges = result.edges
    if not edges.has_null:
        are = "is" if len(edges) == 1 else "are"
        return [f"{count(len(edges), 'pair')} {are} ranked by {edges.measure}, which has no test."]
    tests, found = count(result.n_tests, "pair"), result.n_found(q)
    if not found:
        return [f"Of {tests} tested, none shows a dependence at a false discovery rate of {rate(q)}."]
    said = [
        f"Of {tests} tested, {count(found, 'dependence')} {'is' if found == 1 else 'are'} found at a false discovery "
        f"rate of {rate(q)}: at most that share of the findings is expected to be due to chance."
    ]
    if edges.measure == "rdc":
        n_missed = int(np.count_nonzero(missed(result, q=q)))
        if n_missed:
            said.append(
                f"{n_missed:,} of these would have been missed by linear coefficients: Pearson's and Spearman's show "
                f"less than half of what is there. {'It is' if n_missed == 1 else 'They are'} marked with a diamond."
            )
        elif np.isfinite(edges.pearson).any():
            said.append("Where linear coefficients exist, they show at least half of each of these dependences.")
    return said


def _strongest(result: Result, q: float) -> list[str]:
    lines = lines_of(result, _N_STRONGEST, q=q)
    if not lines:
        return []
    by_target = result.target is not None
    named = []
    for line in lines:
        value = ", ".join(filter(None, (number(line.value, 2), line.remark)))
        named.append(f"{short(line.x)}{'' if by_target else f' with {short(line.y)}'} ({value})")
    told_once = {"=": "Columns that are nearly the same", "~": "Categories that all agree in some level"}
    signs = {line.sign for line in lines} if not by_target else set()
    aside = "".join(f" {who} are listed once." for sign, who in told_once.items() if sign in signs)
    order = f" Pairs are {ranking(result)}." if ranking(result) else ""
    return [f"Strongest ({called(result)}): {'; '.join(named)}.{aside}{order}"]
