"""What a door says of a table, as plain dicts, and where two of them differ."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import exp, isclose, isnan, log, log1p, nan
from typing import Any

import numpy as np
import pytest

import renyi
from renyi.inference.debias import FEW_ROWS
from renyi.report.summary import trend_of

Pair = tuple[str, str]
Said = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What was said of every pair, by the names of its columns in their order, and of the columns.

    None is what a door does not say. A pair that was refused has the message alone, under "refused".
    """

    pairs: dict[Pair, Said]
    types: Mapping[str, str] | None = None
    skipped: Mapping[str, str] | None = None
    pooled: Mapping[str, int] | None = None
    notes: frozenset[str] | None = None
    n_rows: int | None = None

    @classmethod
    def of(cls, found: Any) -> "Answer":
        """From a `DependenceMatrix` or a `Screening`; nothing else in the suite knows how these keep what they say."""
        edges, made = found.edges, found.edges.found
        found.ranked()
        is_clear = edges.log_pvalues < log(0.01)
        x, y = ([variable.column.name for variable in side] for side in (edges.x, edges.y))
        arrays = {
            "coefficient": made.coefficient,
            "debiased": edges.debiased,
            "strength": edges.strength,
            "log p": edges.log_pvalues,
            "q": found.edge_qvalues,
            "pearson": edges.pearson,
            "spearman": edges.spearman,
            "n": made.n,
            "is nonlinear": edges.is_nonlinear,
            "is permuted": edges.is_permuted,
            # Few rows are looked for in findings, and permutations may decide what is one.
            "lower": np.where(is_clear, edges.lower, np.nan),
            "is carried by few": is_clear & (edges.rows_carrying >= 0.0) & (edges.rows_carrying < FEW_ROWS),
        }
        values = {name: array.tolist() for name, array in arrays.items()} | {
            "dimensions": list(map(tuple, made.dimensions.tolist())),
            "is alias": list(map(edges.is_alias, range(len(edges)))),
            "is in agreement": list(map(edges.agrees, range(len(edges)))),
            "trend": [
                trend_of(edges.x[i].column, edges.y[j].column, trend, strength)
                for i, j, trend, strength in zip(made.i, made.j, edges.trend, edges.strength, strict=True)
            ],
        }
        pairs = {
            (x[i], y[j]): {name: given[k] for name, given in values.items()}
            for k, (i, j) in enumerate(zip(made.i.tolist(), made.j.tolist(), strict=True))
        }
        # Batches do not know the numbers of their rows.
        reasons = {name: re.sub(r" \(first in row [\d,]+\)", "", reason) for name, reason in found.skipped.items()}
        return cls(pairs, dict(found.types), reasons, dict(found.pooled), frozenset(found.notes), found.n_rows)

    def among(self, wanted: Callable[[Pair], bool]) -> "Answer":
        """Some of the pairs, without rates, which count all tests."""
        kept = {pair: dict(said) for pair, said in self.pairs.items() if wanted(pair)}
        for said in kept.values():
            said.pop("q", None)
        return replace(self, pairs=kept)

    def towards(self, target: str) -> "Answer":
        """The pairs of a target, which comes second in each; rates count these tests alone."""
        found = self.among(lambda pair: target in pair)
        pairs = dict(_turned(pair, said) if pair[0] == target else (pair, said) for pair, said in found.pairs.items())
        rates = renyi.adjust([exp(said["log p"]) for said in pairs.values()])
        return replace(self, pairs={p: said | {"q": q} for (p, said), q in zip(pairs.items(), rates, strict=True)})

    def of_vectors_in_batches(self) -> "Answer":
        """The same without what rows of vectors alone would say, of which none is kept in batches.

        Pairs that would be permuted have no p-value. On few rows it is not known how heavy the heaviest row is among
        the common ones, and never how many rows carry the function of a vector.
        """
        types = self.types or {}
        if "vector" not in types.values():
            return self
        kept: dict[Pair, Said] = {}
        for pair, said in self.pairs.items():
            known = dict(said)
            if "vector" in (types[pair[0]], types[pair[1]]) and self.n_rows is not None:
                is_short, is_permuted = self.n_rows < 5000, said["is permuted"]
                del known["lower"], known["is carried by few"]
                if is_permuted or (is_short and said["n"] < self.n_rows):
                    known = {name: said[name] for name in ("coefficient", "pearson", "spearman", "n", "dimensions")}
                if is_permuted:
                    known |= {"log p": nan, "is permuted": False}
            kept[pair] = known
        if len({len(known) for known in kept.values()}) > 1:
            for known in kept.values():
                known.pop("q", None)
        return replace(self, pairs=kept)

    def renamed(self, names: Mapping[str, str]) -> "Answer":
        """The same under other names of columns."""
        pairs = {(names[x], names[y]): said for (x, y), said in self.pairs.items()}
        types, skipped, pooled = (
            part if part is None else {names[name]: said for name, said in part.items()}
            for part in (self.types, self.skipped, self.pooled)
        )
        return Answer(pairs, types, skipped, pooled, self.notes, self.n_rows)


@dataclass(frozen=True)
class Rounding:
    """How far two answers may lie apart.

    `root` is what a squared correlation ρ² may be off by where products are taken in float32: the logarithm of a
    p-value magnifies it by n/(1 − ρ²). `in_halves` is for products of half precision, in which copies are not quite
    such. `permuted` is for doors that draw their own permutations: p-values by these are good to a tenth.
    """

    coefficient: float = 1e-9
    log_p: float = 1e-6
    root: float = 0.0
    permuted: float = 0.0
    in_halves: bool = False


# Roots beyond are taken as this far from 1.
LEAST_REST = 1e-9
EXACT = Rounding()
SINGLE = Rounding(coefficient=5e-7, log_p=1e-5, root=5e-7)
# On a card numbers of single precision are multiplied as two halves, but for strong pairs: 4e-6 was seen there, and
# 5e-5 of log p, 1e-4 where the coefficient is above 0.999 (docs/internals/decisions.md).
HALVES = Rounding(coefficient=1e-5, log_p=1e-4, root=5e-7, in_halves=True)


def _turned(pair: Pair, said: Said) -> tuple[Pair, Said]:
    return pair[::-1], said | {"dimensions": said["dimensions"][::-1]}


def check_same(found: Answer, expected: Answer, rounding: Rounding = EXACT) -> None:
    """Fail with the first differences, if there are any."""
    told = list(differences(found, expected, rounding))
    if told:
        pytest.fail("\n".join([f"{len(told)} differences", *told[:12]]), pytrace=False)


def differences(found: Answer, expected: Answer, rounding: Rounding = EXACT) -> Iterator[str]:
    """Where an answer says something else than expected, in words."""
    yield from _of_columns(found, expected)
    yield from _of_pairs(found, expected, rounding)


def _of_columns(found: Answer, expected: Answer) -> Iterator[str]:
    for name in ("types", "skipped", "pooled", "notes", "n_rows"):
        here, there = getattr(found, name), getattr(expected, name)
        if here is not None and there is not None and here != there:
            yield f"{name}: {here} instead of {there}"


def _of_pairs(found: Answer, expected: Answer, rounding: Rounding) -> Iterator[str]:
    # Rates follow from all p-values together, so that one by permutations moves those of others.
    has_permuted = any(said.get("is permuted") for said in expected.pairs.values())
    for pair in sorted(expected.pairs.keys() | found.pairs.keys()):
        here, there = found.pairs.get(pair, {"refused": "not told"}), expected.pairs.get(pair, {"refused": "not told"})
        if "refused" in here or "refused" in there:
            # What a pair refuses a table leaves without a coefficient.
            if not _says_nothing(here) or not _says_nothing(there):
                yield f"{pair}: {_shown(here)} instead of {_shown(there)}"
            continue
        for name in sorted(here.keys() & there.keys()):
            allowed = _allowed(name, there, rounding, has_permuted)
            if not _is_same(here[name], there[name], allowed):
                yield f"{pair}: {name} {here[name]} instead of {there[name]} (± {allowed:.1e})"


def _says_nothing(said: Said) -> bool:
    return "refused" in said or isnan(said["coefficient"])


def _shown(said: Said) -> str:
    return said.get("refused", f"a coefficient of {said.get('coefficient')}")


def _is_same(here: Any, there: Any, allowed: float) -> bool:
    if isinstance(there, tuple) or allowed == 0.0:
        return bool(here == there)
    return (isnan(here) and isnan(there)) or isclose(here, there, rel_tol=0.0, abs_tol=allowed)


def _allowed(name: str, said: Said, rounding: Rounding, has_permuted: bool) -> float:
    """By how much two numbers of this name may differ; what is counted and what is true or false may not."""
    if name in ("n", "dimensions") or name.startswith("is "):
        return 0.0
    if name == "log p":
        # Of a correlation of 1 the rest to 1 is all rounding: log p goes with its logarithm, n/2 times.
        rest = max(1.0 - said["coefficient"] ** 2, LEAST_REST)
        magnified = 0.5 * said["n"] * log1p(rounding.root / rest)
        if not rounding.in_halves:
            magnified = min(magnified, said["n"] * rounding.root / (rest + rounding.root))
        drawn = rounding.permuted if said.get("is permuted") else 0.0
        return max(rounding.log_p * max(1.0, abs(said["log p"])) + magnified, drawn)
    if name == "q":
        return max(rounding.log_p, rounding.permuted if has_permuted else 0.0)
    if name == "lower":
        # It is rounded itself, and functions turn by the rounding of products over the distance of their roots.
        return 2e-6 + 100.0 * _allowed("strength", said, rounding, has_permuted)
    if name in ("debiased", "strength"):
        # Just above the level of chance it is a square root of what is left. A strength may also come from log p, of
        # which Fisher's correlation has one over the root of n and of the quantile, at least that of p = 1/2.
        apart = rounding.coefficient
        if name == "strength" and "log p" in said:
            apart += _allowed("log p", said, rounding, has_permuted) / (0.67 * max(said["n"] - 3, 1) ** 0.5)
        return apart / max(min(abs(said[name]), 1.0), apart**0.5)
    return rounding.coefficient
