"""What kind of dependence two columns have, in words: what one does along the other.

Ranks of y are fitted by smooth functions of x, and the other way round. What the fits do, and how much of the ranks
they explain beside Spearman's correlation, says whether there is a rise, a curve, or something else.
"""

from dataclasses import dataclass

import numpy as np

from renyi.allpairs.edges import MISSED
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.basis.nested import Scales, category_scales, number_scales
from renyi.basis.ranks import middles, quantise
from renyi.compute.arrays import Array
from renyi.data.align import as_pair
from renyi.data.column import Column
from renyi.inference.roy import null_median
from renyi.report.summary import short, trend_of

# A shape needs no finer ranks.
_CELLS = 1024
# Smooth functions of a fit: the fewest that explain this share of what the most of them do.
_SIZES = (3, 6, 20)
_NEARLY_ALL = 0.8
# Shares of variance beside one another. A rise explains at least half of what curves explain, and is plain from this
# share on; a curve explains at least a quarter of what any functions of both sides share. With these
# the words agree with the labels of the gallery, the paper's patterns and twenty real pairs (tests/report/test_kinds.py
# has look-alikes of them).
_RISE, _PLAIN, _CURVE = 0.5, 0.8, 0.25
# Beside a strong dependence of another kind, as of two crossing branches, a trend is not spoken of below this share.
_SEEN = 0.25
# A turn is one where a fit comes back by this share of all it covers, beyond the outermost rows, where fits are loose.
_TURN, _OUTER = 0.2, 0.02
# Functions of either side, without the first, that are compared for what no curve has.
_BEYOND = 4


def kind_of(x: Column, y: Column, /, *, strength: float, linear: float) -> str:
    """The kind of a dependence of this strength, beside the larger size of Pearson's and Spearman's correlations.

    A strength that is not known, as beside other measures, is NaN.
    """
    a, b = short(x.name), short(y.name)
    if "vector" in (x.kind, y.kind):
        return f"functions of {a} and of {b} go together"
    pair = as_pair(x, y, missing="listwise")
    if x.is_category and y.is_category:
        return f"levels of {a} and of {b} go together"
    scales = [_scales(column) for column in pair]
    cross = cross_products(scales[0].basis, scales[1].basis)
    if "category" in (x.kind, y.kind):
        return _of_groups(a, b, cross, len(pair[0])) if x.is_category else _of_groups(b, a, cross.T, len(pair[0]))
    spearman, n = float(cross[0, 0]), len(pair[0])
    over_x, over_y = _Fit.of(cross[:, 0], n, scales[0]), _Fit.of(cross[0], n, scales[1])
    fit = max(over_x, over_y, key=lambda side: side.explained)
    beyond = _beyond_means(cross, n)
    if np.isnan(strength):
        strength = float(np.sqrt(max(fit.explained, beyond, 0.0)))
    is_rise = spearman**2 >= max(_RISE * fit.explained, 4.0 / n) and abs(spearman) >= _SEEN * strength
    if is_rise or trend_of(*pair, spearman, strength):
        whole = "" if spearman**2 >= _PLAIN * fit.explained else " on the whole"
        if linear <= MISSED * strength:
            whole = " on the whole, and most of the dependence is another"
        return f"{b} {'rises' if spearman > 0 else 'falls'} with {a}{whole}"
    if fit.explained > _CURVE * max(beyond, strength * abs(strength)):
        return f"{b} {fit.shape} along {a}" if fit is over_x else f"{a} {fit.shape} along {b}"
    return f"{a} and {b} have no trend: the spread changes, or the points form a ring or branches"


def _scales(column: Column) -> Scales:
    if column.is_category:
        return category_scales(column.values)
    return number_scales(quantise(column.values, n_cells=_CELLS))


def _of_groups(groups: str, other: str, cross: Array, n: int) -> str:
    """What differs between the levels (first axis) of a category."""
    n_levels = len(cross)
    level = np.sum(cross[:, 0] ** 2) - n_levels / n
    whole = canonical_correlations(cross[:, :_BEYOND])[0] ** 2 - null_median(n_levels, min(_BEYOND, cross.shape[1]), n)
    trait = "level" if level >= _RISE * whole else "distribution"
    return f"the {trait} of {other} differs between the groups of {groups}"


def _beyond_means(cross: Array, n: int) -> float:
    """Share of variance that functions of both sides have in common, other than their ranks themselves."""
    rest = cross[1 : 1 + _BEYOND, 1 : 1 + _BEYOND]
    if not rest.size:
        return 0.0
    return float(canonical_correlations(rest)[0] ** 2 - null_median(rest.shape[0], rest.shape[1], n))


@dataclass(frozen=True, eq=False)
class _Fit:
    """The mean rank of one column as a smooth function of the other: what it explains, and where it goes."""

    explained: float
    heights: Array

    @classmethod
    def of(cls, weights: Array, n: int, scales: Scales) -> "_Fit":
        sizes = sorted({min(size, len(weights)) for size in _SIZES})
        # So many functions explain as many rows by chance.
        explained = [float(np.sum(weights[:size] ** 2) - size / n) / (1.0 - size / n) for size in sizes]
        best = next(
            k for k, share in enumerate(explained) if share >= _NEARLY_ALL * max(explained) or k == len(sizes) - 1
        )
        table, counts = scales.basis.table, scales.basis.cell_counts
        heights = table[:, : sizes[best]] @ weights[: sizes[best]]
        if counts is not None:
            places = middles(counts)
            inner = heights[(places > _OUTER) & (places < 1.0 - _OUTER)]
            heights = inner if len(inner) > 1 else heights
        return cls(explained[best], heights)

    @property
    def shape(self) -> str:
        """The course of the fit in words that follow the name of the column that is fitted."""
        turns = _turns(self.heights)
        if len(turns) == 1:
            return "rises, then falls," if turns[0] > 0 else "falls, then rises,"
        if turns:
            return "goes up and down"
        return "rises" if self.heights[-1] > self.heights[0] else "falls"


def _turns(heights: Array) -> list[int]:
    """Of a course its tops (1) and bottoms (−1), in their order."""
    least = _TURN * float(np.ptp(heights))
    turns: list[int] = []
    low = high = heights[0]
    direction = 0
    for height in heights.tolist():
        low, high = min(low, height), max(high, height)
        if direction >= 0 and high - height > least:
            if direction > 0:
                turns.append(1)
            direction, low = -1, height
        elif direction <= 0 and height - low > least:
            if direction < 0:
                turns.append(-1)
            direction, high = 1, height
        if direction > 0:
            low = height
        elif direction < 0:
            high = height
    return turns
