"""The search for a set of columns that a target depends on, one column at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from renyi.compute.arrays import Array
from renyi.compute.progress import watched
from renyi.selection.gain import Gains


@dataclass(frozen=True)
class Step:
    """One column that was chosen.

    Attributes
    ----------
    feature : int
        Which one.
    name : str
        Its name.
    dependence : float
        Of the target on all columns chosen so far.
    pvalue : float
        Of what it adds, adjusted for having been the best of many; NaN where none was computed.
    """

    feature: int
    name: str
    dependence: float
    pvalue: float

    def at(self, place: int, /) -> "Step":
        """The same step, the column having another place."""
        return replace(self, feature=place)


@dataclass(frozen=True)
class Proposal:
    """Columns to choose next, how likely something as good is by chance, and how good the others were."""

    features: tuple[int, ...]
    log_pvalue: float
    others: Array


class Criterion(Protocol):
    """What columns add to those that were chosen."""

    @property
    def dependence(self) -> float:
        """Of the target on the chosen."""
        ...

    def best(self, which: Sequence[int], /, *, room: int, alpha: float) -> Proposal:
        """What to choose next among these, `room` columns at most."""
        ...

    def add(self, which: int, /) -> None:
        """Choose a column."""
        ...


class ByGain:
    """What is added by theory, with pairs of columns where no single one adds anything beyond chance.

    The best of m candidates has m times the p-value (Bonferroni). Candidates in which single rows weigh too much for a
    null distribution are permuted together, if no other adds anything. Each of these looks, and the one at pairs, has
    its part of the error rate.
    """

    def __init__(self, gains: Gains, /, *, pairs: bool) -> None:
        self._gains, self._pairs, self._is_exhausted = gains, pairs, False

    @property
    def dependence(self) -> float:
        """Of the target on the chosen."""
        return self._gains.dependence

    def best(self, which: Sequence[int], /, *, room: int, alpha: float) -> Proposal:
        """The single candidate or pair to choose next."""
        log_p = self._gains.of_singles(which)
        doubtful = self._gains.doubtful
        looks = 1 + self._pairs + bool(doubtful)
        first = int(np.argmin(log_p))
        least = max(float(log_p[first]), self._gains.least_log_pvalue(which[first]))
        single = Proposal((which[first],), min(0.0, least + np.log(looks * len(which))), log_p)
        if doubtful and single.log_pvalue > np.log(alpha):
            permuted = self._gains.by_permutation(doubtful, alpha=alpha / looks)
            if permuted is not None and permuted[1] + np.log(looks) <= single.log_pvalue:
                single = Proposal((permuted[0],), permuted[1] + np.log(looks), log_p)
        if not self._pairs or self._is_exhausted or room < 2 or single.log_pvalue <= np.log(alpha):
            return single
        found = self._gains.of_pairs(which)
        if found is None:
            return single
        pair, log_pvalue = found
        log_pvalue = max(log_pvalue, self._gains.least_log_pvalue(*pair))
        log_pvalue += np.log(looks * len(which) * (len(which) - 1) / 2)
        # Where neither shows anything the rest is chance, and need not be looked at in pairs again.
        self._is_exhausted = log_pvalue > np.log(alpha)
        return single if self._is_exhausted else Proposal(pair, log_pvalue, log_p)

    def add(self, which: int, /) -> None:
        """Choose a column."""
        self._gains.add(which)


def forward(
    criterion: Criterion,
    names: Sequence[str],
    which: Sequence[int],
    /,
    *,
    most: int,
    alpha: float,
    stops: bool,
    progress: bool = False,
) -> tuple[list[Step], list[int]]:
    """The steps of the search, and the columns left, most promising first.

    With `stops` the search ends when nothing adds beyond chance at the level alpha; else with `most` columns.
    """
    steps: list[Step] = []
    left = list(which)
    for found in watched(_proposals(criterion, left, steps, most, alpha), most, "Choosing features", shown=progress):
        left[:] = [left[place] for place in np.argsort(found.others, kind="stable")]
        if stops and not found.log_pvalue <= np.log(alpha):
            break
        for feature in found.features:
            criterion.add(feature)
            left.remove(feature)
            steps.append(Step(feature, names[feature], criterion.dependence, float(np.exp(found.log_pvalue))))
    return steps, left


def _proposals(criterion: Criterion, left: list[int], steps: list[Step], most: int, alpha: float) -> Iterator[Proposal]:
    """What to choose next, for as long as there is anything left."""
    while left and len(steps) < most:
        yield criterion.best(left, room=most - len(steps), alpha=alpha)
