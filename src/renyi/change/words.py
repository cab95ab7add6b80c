"""What became of the distribution of a column, in words: shifted, wider, in other units, stuck, recoded."""

import numpy as np

from renyi.change.marginals import Marginal
from renyi.compute.arrays import Array, Index
from renyi.errors import count, cut

# A column is said to be in other units where all its quantiles are the same multiple, to this share, and far from 1.
_SAME_FACTOR, _LEAST_FACTOR, _FAR_FROM_ZERO = 0.2, 5.0, 0.2
_NEAR_POWER = 0.1
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
RECODED = "recoded?"
_QUANTILES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


# Of the largest floats steps and ranges may be infinite, of which nothing is said.
@np.errstate(over="ignore", invalid="ignore")
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
    return "; ".join(filter(None, told)) or _where(column)


def more_missing(column: Marginal, /) -> str:
    """Shares of missing cells."""
    shares = [gone / (gone + known) for gone, known in zip(column.missing, column.n_known, strict=True)]
    if shares[1] == 1.0:
        return f"all missing: {shares[0]:.1%} → 100%"
    return f"{'more' if shares[1] > shares[0] else 'fewer'} missing: {_percent(shares[0])} → {_percent(shares[1])}"


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
    if (
        len(there[1]) == 1
        and len(there[0]) > 1
        and (column.frequent is None or column.frequent[2] == column.n_known[1])
    ):
        return f"constant, always {column.called(int(there[1][0]))}"
    return f"no longer constant, was always {column.called(int(there[0][0]))}" if len(there[0]) == 1 else ""


def _stuck(column: Marginal) -> str:
    """A value that many rows have, and hardly any had."""
    shares = _shares_of(column)
    cell = int((shares[1] - shares[0]).argmax())
    if column.frequent is not None:
        cell = column.frequent[0]
        shares[1, cell] = column.frequent[2] / column.n_known[1]
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
    return f"{number:,.0f}" if abs(number) >= 1e3 else f"{number:.3g}"


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
        f"{count(rows, 'row')} {where} {column.called(int(end))}, the old {limit}"
        for rows, where, end, limit in zip(
            outside, ("above", "below"), (old[-1], old[0]), ("maximum", "minimum"), strict=True
        )
        if rows and share**rows < _RARE
    ]
    return " and ".join(told)


def _where(column: Marginal) -> str:
    """The tenth of all rows, by their values, in which shares changed most."""
    rows = np.cumsum(column.total)
    ends = np.unique(np.searchsorted(rows, np.arange(1, 11) * rows[-1] / 10.0, side="left"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    shares = np.add.reduceat(_shares_of(column), starts, axis=1)
    part = int(np.abs(shares[1] - shares[0]).argmax())
    low, high = (_called_briefly(column, int(cell)) for cell in (starts[part], ends[part]))
    place = low if low == high else f"between {low} and {high}"
    return f"another shape: {shares[0, part]:.1%} → {shares[1, part]:.1%} {place}"


def _called_briefly(column: Marginal, cell: int) -> str:
    return column.called(cell) if column.is_time else _brief(float(column.numbers[cell]))


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
        is_finite = factor != 0.0 and bool(np.isfinite((factor, 1.0 / factor)).all())
        if not is_finite or np.abs(factors / factor - 1.0).max() > _SAME_FACTOR:
            continue
        is_far = abs(factor) >= _LEAST_FACTOR or abs(factor) <= 1 / _LEAST_FACTOR
        if (factor < 0.0) != (name == "other sign") or not (is_far or factor < 0.0):
            continue
        if factor < 0.0 and np.abs(after - before).max() < _SAME_FACTOR * spread:
            # What lies around 0 evenly is minus itself.
            continue
        size = abs(factor)
        if factor < 0.0 and abs(size - 1.0) < _SAME_FACTOR:
            return f"{name}? about minus what it was"
        return f"{name}? about {'minus ' if factor < 0 else ''}{_times(size)} what it was"
    return ""


def _times(factor: float) -> str:
    """A factor as one would guess it: a power of ten where it is near one, for it is known by a few digits alone."""
    power = 10.0 ** round(float(np.log10(factor)))
    if abs(power / factor - 1.0) < _NEAR_POWER:
        factor = power
    if factor < 1.0:
        return f"1/{_two_digits(1.0 / factor)} of"
    return f"{_two_digits(factor)} times"


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 10.0 else f"{number:.2g}"


def _step(column: Marginal) -> str:
    """Quantiles that all moved by as much and by far, as with another zero."""
    before, after = (_quantiles(column, t, _QUANTILES) for t in range(2))
    steps = after - before
    step = float(np.median(steps))
    spread = before[3] - before[1]
    if (
        not 0.0 < spread < np.inf
        or not _LEAST_STEP * spread <= abs(step) < np.inf
        or np.abs(steps - step).max() > _SAME_STEP * abs(step)
    ):
        return ""
    return f"other zero? about {_brief(abs(step))} {'more' if step > 0 else 'less'} than it was"


def _recoded(column: Marginal) -> str:
    """As many values as before, of which some are others now and have the rows of those."""
    shares = _shares_of(column)
    if np.count_nonzero(shares[0]) > _MOST_RECODED:
        return ""
    if column.is_category:
        gone, new = np.flatnonzero(shares[1] == 0.0), np.flatnonzero(shares[0] == 0.0)
        pairs = _matched(column, gone, new, shares) if shares[1, new].sum() >= _NEW_SHARE else []
    else:
        there = [np.flatnonzero(part) for part in shares]
        is_same = len(there[0]) == len(there[1]) and np.abs(shares[0, there[0]] - shares[1, there[1]]).max() <= _near(
            column
        )
        pairs = [(int(a), int(b)) for a, b in zip(*there, strict=True) if a != b] if is_same else []
    told = [f"{column.called(a)} → {column.called(b)}" for a, b in pairs]
    more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
    return f"{RECODED} {', '.join(told[:_MOST_NAMED])}{more}" if told else ""


def _near(column: Marginal) -> float:
    """How far the shares of the same rows may be apart, chance included."""
    return max(_SAME_SHARE, 1.5 * float(np.sqrt(np.sum(1.0 / np.array(column.n_known)))))


def _alike(first: str, second: str) -> int:
    """With how many equal letters two names begin."""
    ends = (k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(ends, min(len(first), len(second)))


def _matched(column: Marginal, gone: Index, new: Index, shares: Array) -> list[tuple[int, int]]:
    """Levels that are gone with those in their place: with about as many rows, of these the one called most alike."""
    if len(gone) != len(new):
        return []
    left, pairs = new.tolist(), []
    for old in gone[np.argsort(-shares[0, gone], kind="stable")].tolist():
        near = [level for level in left if abs(shares[1, level] - shares[0, old]) <= _near(column)]
        if not near:
            return []
        alike = {level: _alike(*(str(column.levels[k]).casefold() for k in (level, old))) for level in near}
        best = max(near, key=lambda k: (alike[k], -abs(shares[1, k] - shares[0, old])))
        left.remove(best)
        pairs.append((old, best))
    return pairs


def _shares(column: Marginal) -> str:
    """The level whose share changed most, beside what chance would do to it."""
    shares = _shares_of(column)
    mean = shares.mean(axis=0)
    cell = int((np.abs(shares[1] - shares[0]) / np.sqrt(np.maximum(mean * (1.0 - mean), 1e-12))).argmax())
    return f"{column.called(cell)} {_percent(shares[0, cell])} → {_percent(shares[1, cell])}"


def _percent(share: float) -> str:
    """A share, with one digit at least where it is small."""
    return f"{share:.1%}" if share == 0.0 or share >= 5e-4 else f"{100.0 * share:.1g}%"
