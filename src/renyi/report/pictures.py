"""Which pairs a page opens with, and which pairs are told as one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from renyi.compute.arrays import Index, Mask
from renyi.report.summary import Result

_MOST, _MOST_OF_A_KIND, _FEWEST_MISSED = 12, 6, 2


class Lines(NamedTuple):
    """Pairs that are told as one: for every pair the place of the one that speaks for it, and the sign of its line.

    The sign is "=" for columns that are nearly the same, "~" for categories that all agree in some level, else "".
    """

    speaker: Index
    signs: list[str]

    @property
    def speaks(self) -> Mask:
        """Which pairs speak for their lines."""
        return np.asarray(self.speaker == np.arange(len(self.speaker)))


def lines_of_pairs(result: Result, kept: Index, is_found: Mask, /) -> Lines:
    """The lines of pairs that are ranked, findings first."""
    lines = Lines(np.arange(len(kept)), [""] * len(kept))
    place_of = {edge: place for place, edge in enumerate(kept.tolist())}
    for fold in result.folded(kept):
        places = [place_of[edge] for edge in fold.edges]
        # A finding is not told by a pair that is none.
        speaker = place_of[fold.edge] if is_found[place_of[fold.edge]] else min(places)
        for place in places:
            lines.speaker[place] = speaker
            lines.signs[place] = fold.sign
    return lines


def pictures_of(
    ends: Sequence[tuple[int, int]], lines: Lines, is_found: Mask, is_missed: Mask, /
) -> dict[str, list[int]]:
    """Pairs to open a page with, strongest first: findings of any kind, and others that linear coefficients miss.

    A line has one picture, columns that are nearly the same have none, and a column is in a second picture of either
    kind, or a third, only where there is no other.
    """
    speaks = lines.speaks & is_found & np.array([sign == "" for sign in lines.signs], dtype=bool)
    every = np.flatnonzero(speaks).tolist()
    missed = [place for place in every if is_missed[place]]
    n_first = _MOST_OF_A_KIND if len(missed) >= _FEWEST_MISSED else _MOST
    strongest = _varied(every, ends, n_first)
    rest = _varied((place for place in missed if place not in strongest), ends, _MOST - len(strongest))
    return {"strongest": strongest, "missed": rest}


def _varied(places: Iterable[int], ends: Sequence[tuple[int, int]], most: int) -> list[int]:
    """The first of some pairs, in which no column comes up more often than there is need."""
    seen: Counter[int] = Counter()
    chosen: list[int] = []
    left = list(places)
    for most_of_a_column in (0, 1, len(ends)):
        rest = []
        for place in left:
            if len(chosen) == most or any(seen[end] > most_of_a_column for end in ends[place]):
                rest.append(place)
            else:
                seen.update(set(ends[place]))
                chosen.append(place)
        left = rest
    return sorted(chosen)
