"""What became of the distribution of a column, in words: shifted, wider, in other units, stuck, recoded."""

import numpy as np

from renyi.change.marginals import Marginal
from renyi.compute.arrays import Array, Index
from renyi.errors import count, cut

# A column is said to be in other units where all its quantiles are the same multiple, to this share, and far from 1.
_SAME_FACTOR, _LEAST_FACTOR, _FAR_FROM_ZERO = 0.2, 5.0, 0.2
# And to have another zero where all quantiles moved by so many interquartile ranges, all by as much to this share.
_LEAST_STEP, _SAME_STEP = 3.0, 0.1
# Below these, words would tell of what nobody sees: a twentieth of the rows' order, a fifth of the spread.
_LEAST_SHIFT, _LEAST_SPREAD = 0.05, 1.2
# Rows beyond the old range are told where chance has them with less than this.
_RARE = 1e-3
# A sensor is stuck at a value for part of the time: a share of the rows that no value of a number had before.
_STUCK, _NOT_STUCK = 0.05, 0.2
# Levels are called recoded where at most so many are gone, as many are new with shares that differ by no more than
# this, and these have at least half of the rows.
_MOST_RECODED, _SAME_SHARE, _NEW_SHARE = 20, 0.05, 0.5
_MOST_NAMED = 3
_QUANTILES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def words_of(column: Marginal, /) -> str:
    """What became of the values of a column, given that something did."""
    constant = _constant(column)
    if constant:
        return constant
    if column.is_category:
        return _recoded(column) or _shares(column)
    if column.levels:
        return _shift(column) or _shares(column)
    if column.is_time:
        return "; ".join(filter(None, (_shift(column), _range(column)))) or "another shape"
    recoded = _recoded(column) or _units(column) or _step(column)
    if recoded:
        return recoded
    told = (_stuck(column), _shift(column), _spread(column), _range(column))
    return "; ".join(filter(None, told)) or "another shape"


def more_missing(column: Marginal, /) -> str:
    """Shares of missing cells."""
    shares = [gone / (gone + known) for gone, known in zip(column.missing, column.n_known, strict=True)]
    if shares[1] == 1.0:
        return f"all missing: {shares[0]:.1%} → 100%"
    return f"{'more' if shares[1] > shares[0] else 'less'} missing: {shares[0]:.1%} → {shares[1]:.1%}"


def new_levels(column: Marginal, new: Index, rows: int, /) -> str:
    """Levels that the first table never had."""
    named = ", ".join(cut(column.levels[level]) for level in new[:_MOST_NAMED])
    more = f" and {len(new) - _MOST_NAMED:,} more" if len(new) > _MOST_NAMED else ""
    return f"new {'level' if len(new) == 1 else 'levels'}: {named}{more} ({count(rows, 'row')})"


def _shares_of(column: Marginal) -> Array:
    return np.asarray(column.counts / np.array(column.n_known)[:, np.newaxis])


def _constant(column: Marginal) -> str:
    """A sensor that is stuck."""
    there = [np.flatnonzero(part) for part in column.counts]
    if len(there[1]) == 1 and len(there[0]) > 1:
        return f"constant, always {column.called(int(there[1][0]))}"
    return f"no longer constant, was always {column.called(int(there[0][0]))}" if len(there[0]) == 1 else ""


def _stuck(column: Marginal) -> str:
    """A value that many rows have, and hardly any had."""
    shares = _shares_of(column)
    cell = int((shares[1] - shares[0]).argmax())
    if shares[1, cell] < _STUCK or shares[0].max() > _NOT_STUCK * shares[1, cell]:
        return ""
    return f"stuck? {shares[1, cell]:.1%} of the rows are {column.called(cell)}, {shares[0, cell]:.1%} before"


def _shift(column: Marginal) -> str:
    """Up or down, by the order of two rows of either table."""
    before, after = _shares_of(column)
    higher = float(after @ (np.cumsum(before) - before / 2))
    if abs(higher - 0.5) < _LEAST_SHIFT:
        return ""
    direction = "up" if higher > 0.5 else "down"
    if column.is_time or column.levels:
        return f"shifted {direction}"
    middles = [_quantiles(column, t, np.array([0.5]))[0] for t in range(2)]
    # A median that stays, as 0 where most rows are 0, would contradict the word.
    shown = f" (median {_brief(middles[0])} → {_brief(middles[1])})" if middles[0] != middles[1] else ""
    return f"shifted {direction}{shown}"


def _brief(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1e4 else f"{number:.3g}"


def _quantiles(column: Marginal, table: int, shares: Array) -> Array:
    rows = np.cumsum(column.counts[table])
    return np.asarray(column.numbers[np.searchsorted(rows, shares * rows[-1], side="left")])


def _spread(column: Marginal) -> str:
    spreads = [float(np.subtract(*_quantiles(column, t, np.array([0.75, 0.25])))) for t in range(2)]
    if min(spreads) <= 0.0:
        return ""
    factor = spreads[1] / spreads[0]
    if factor >= _LEAST_SPREAD:
        return f"spread {factor:.2g} times as wide"
    return f"narrower, {factor:.2g} of the spread" if factor <= 1 / _LEAST_SPREAD else ""


def _range(column: Marginal) -> str:
    """Rows beyond the old range, where chance would hardly have so many."""
    old = np.flatnonzero(column.counts[0])
    outside = int(column.counts[1, old[-1] + 1 :].sum()), int(column.counts[1, : old[0]].sum())
    share = column.n_known[1] / sum(column.n_known)
    told = [
        f"{count(rows, 'row')} {where} {column.called(int(end))}"
        for rows, where, end in zip(outside, ("above", "below"), (old[-1], old[0]), strict=True)
        if rows and share**rows < _RARE
    ]
    return f"new range: {' and '.join(told)}, which none was before" if told else ""


def _units(column: Marginal) -> str:
    """Quantiles that are all the same multiple of what they were, as with other units, or another sign."""
    before, after = (_quantiles(column, t, _QUANTILES) for t in range(2))
    spread = before[-1] - before[0]
    if spread == 0.0:
        return ""
    for turned, name in ((after, "other units"), (after[::-1], "other sign")):
        # Near 0 a multiple says nothing.
        kept = np.abs(before) > _FAR_FROM_ZERO * spread
        if np.count_nonzero(kept) < 2:
            return ""
        factors = turned[kept] / before[kept]
        factor = float(np.median(factors))
        if factor == 0.0 or np.abs(factors / factor - 1.0).max() > _SAME_FACTOR:
            continue
        is_far = abs(factor) >= _LEAST_FACTOR or abs(factor) <= 1 / _LEAST_FACTOR
        if (factor < 0.0) != (name == "other sign") or not (is_far or factor < 0.0):
            continue
        size = abs(factor)
        if factor < 0.0 and abs(size - 1.0) < _SAME_FACTOR:
            return f"{name}? about minus what it was"
        shown = f"{size:,.3g} times" if size >= 1 else f"1/{1 / size:,.3g} of"
        # Three digits, without an exponent.
        shown = f"{float(f'{size:.3g}'):,.0f} times" if size >= 100 else shown
        return f"{name}? about {'minus ' if factor < 0 else ''}{shown} what it was"
    return ""


def _step(column: Marginal) -> str:
    """Quantiles that all moved by as much and by far, as with another zero."""
    before, after = (_quantiles(column, t, _QUANTILES) for t in range(2))
    steps = after - before
    step = float(np.median(steps))
    spread = before[3] - before[1]
    if spread == 0.0 or abs(step) < _LEAST_STEP * spread or np.abs(steps - step).max() > _SAME_STEP * abs(step):
        return ""
    return f"other zero? about {_brief(abs(step))} {'more' if step > 0 else 'less'} than it was"


def _recoded(column: Marginal) -> str:
    """As many values that are gone as are new, which have the rows of those."""
    shares = _shares_of(column)
    if np.count_nonzero(shares[0]) > _MOST_RECODED:
        return ""
    gone, new = np.flatnonzero(shares[1] == 0.0), np.flatnonzero(shares[0] == 0.0)
    if len(gone) == 0 or len(gone) != len(new) or shares[1, new].sum() < _NEW_SHARE:
        return ""
    gone, new = gone[np.argsort(-shares[0, gone])], new[np.argsort(-shares[1, new])]
    if not column.is_category:
        gone, new = np.sort(gone), np.sort(new)
    if np.abs(shares[0, gone] - shares[1, new]).max() > _SAME_SHARE:
        return ""
    pairs = [f"{column.called(int(a))} → {column.called(int(b))}" for a, b in zip(gone, new, strict=True)]
    more = f" and {len(pairs) - _MOST_NAMED:,} more" if len(pairs) > _MOST_NAMED else ""
    return f"recoded? {', '.join(pairs[:_MOST_NAMED])}{more}"


def _shares(column: Marginal) -> str:
    """The level whose share changed most."""
    shares = _shares_of(column)
    cell = int(np.abs(shares[1] - shares[0]).argmax())
    return f"{column.called(cell)} {shares[0, cell]:.1%} → {shares[1, cell]:.1%}"
