"""A column of any length to counts of neighbouring values: summaries that add up, whatever the order of the parts.

Floats sort as the integers that their bits spell, once those of negative numbers are turned. A summary counts the rows
of every distinct value, and when these become too many, of every distinct leading part of the bits: just as many bits
as keep the parts within the capacity. More rows only ever add parts, so how many bits those are depends on all values
together and not on the order in which they came: however the rows are cut and merged, the summary is the same. Its
counts are exact. What is lost is the order within a part; the heaviest part that holds different values bounds the
error of a rank.

Whole numbers of 64 bits lie between floats. They have the bits of the nearest one, followed by those of their tail,
which are the first to go.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.basis.ranks import Cells, cells_of_groups
from renyi.compute.arrays import Array, Index, Mask, in_parts
from renyi.data.exact import SMALLEST_TAIL, TAIL_BITS, Tails, beyond, remainders, with_tails

Bits: TypeAlias = NDArray[np.uint64]

# Sign, exponent and no more take 12 bits: with room for all of these, parts never lose a bit of the exponent.
LEAST_CAPACITY = 2**12
_SIGN = np.uint64(2**63)
# Values that wait to be counted, for every part that there is room for; the first are sorted, which takes longer.
_WAITING, _FIRST_WAITING = 4, 2
# Bins of a line of values, and the share of rows at either end that share one.
_BINS = 2**16
_OUTSIDE = 0.005
# A counter finds the place of a part by so many upper bits, and has room for so many times the parts of a summary.
_RUN_BITS, _ROOM = 18, 4
# Values of which the places are looked for together, so that what is in between stays in the cache.
_AT_ONCE = 2**13
# A counter that does not know values of a share 1/8 of the capacity gives way to one that does.
_NEW_SHARE = 8


def _bits(values: Array) -> Bits:
    """Integers that sort as the values do; both zeros are one value."""
    bits = (values + 0.0).view(np.int64)
    # All ones below zero, the sign alone above.
    return np.asarray((bits ^ ((bits >> 63) | np.int64(-(2**63)))).view(np.uint64))


def _values(bits: Bits) -> Array:
    return np.asarray(np.where(bits >= _SIGN, bits & ~_SIGN, ~bits).view(np.float64))


def _bit_lengths(bits: Bits) -> Index:
    """Bits up to the highest one that is set."""
    # Halves are exact as floats.
    high, low = bits >> np.uint64(32), bits & np.uint64(2**32 - 1)
    lengths = np.where(high > 0, np.frexp(high.astype(np.float64))[1] + 32, np.frexp(low.astype(np.float64))[1])
    return lengths.astype(np.intp)


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in as few bytes as hold the largest."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


@dataclass(eq=False)
class RankSketch:
    """Rows of every distinct leading part of the bits of values, in the order of the values.

    A part is mixed if its values differ; `first` is some value of each, and `tails` has what that is beyond a float,
    None where no value has any. Parts have all bits of floats but `shift` of them, and as many of tails as are `kept`.
    """

    capacity: int
    shift: int = 0
    parts: Bits = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    first: Bits = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    is_mixed: Mask = field(default_factory=lambda: np.empty(0, dtype=bool))
    tails: Tails | None = None
    fine: int = TAIL_BITS
    _waiting: list[tuple[Array, Tails | None]] = field(default_factory=list)
    _counter: "_Counter | None" = None
    _layout: "Layout | None" = None

    @classmethod
    def beginning(cls, capacity: int, layout: "Layout | None", /) -> "RankSketch":
        """One that has counted nothing, and finds values without sorting where others of the same column lie.

        What else is counted of the column has to be merged with those others in the end: then all of it has as many
        bits as without them.
        """
        return cls(capacity, 0 if layout is None else layout.shift, _layout=layout)

    @property
    def layout(self) -> "Layout | None":
        """Where the values lie; None where they are scattered too widely, or few, or have tails."""
        if not len(self.parts):
            return self._layout
        return None if self.settle().tails is not None else Layout.of(self)

    @property
    def kept(self) -> int:
        """Bits of tails that parts are told by: none once a bit of the floats is gone."""
        return 0 if self.shift else self.fine

    @property
    def _ends_of_tails(self) -> Tails:
        """The smallest tails that parts may have."""
        if self.tails is None:
            return np.zeros(len(self.parts), dtype=np.int16)
        gone = TAIL_BITS - self.kept
        return (((self.tails - SMALLEST_TAIL) >> gone) << gone) + SMALLEST_TAIL

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        # A quarter of the bytes, which travel between workers. Of a part whose values differ any will do.
        return {
            "capacity": self.capacity,
            "shift": self.shift,
            "parts": _narrow(self.parts),
            "counts": _narrow(self.counts),
            "first": self.first[~self.is_mixed],
            "is_mixed": np.packbits(self.is_mixed),
            "tails": self.tails,
            "fine": self.fine,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts, counts = state["parts"].astype(np.uint64), state["counts"].astype(np.int64)
        is_mixed = np.unpackbits(state["is_mixed"], count=len(parts)).astype(bool)
        first = parts << np.uint64(state["shift"])
        first[~is_mixed] = state["first"]
        tails, fine = state["tails"], state["fine"]
        self.__init__(state["capacity"], state["shift"], parts, counts, first, is_mixed, tails, fine)  # type: ignore[misc]

    def update(self, values: Array, tails: Tails | None = None, /) -> None:
        """Count some more values, all of them finite; their tails are what they are beyond these floats."""
        if not len(values):
            return
        self._waiting.append((values, tails))
        most = _FIRST_WAITING if self._layout is None and not len(self.parts) else _WAITING
        if sum(len(some) for some, _ in self._waiting) >= most * self.capacity:
            self._count()

    def settle(self) -> "RankSketch":
        """Count what waits, and leave everything in order."""
        if self._waiting:
            self._count(is_last=True)
        self._collect()
        return self

    def copy(self) -> "RankSketch":
        """One that has counted the same; neither changes the other, since arrays are replaced and not written to."""
        self.settle()
        return RankSketch(
            self.capacity, self.shift, self.parts, self.counts, self.first, self.is_mixed, self.tails, self.fine
        )

    def _count(self, *, is_last: bool = False) -> None:
        waiting, self._waiting = self._waiting, []
        values = np.concatenate([some for some, _ in waiting])
        if self.tails is not None or any(tails is not None for _, tails in waiting):
            self._collect()
            self._sort_in(values, np.concatenate([with_tails(tails, len(some)) for some, tails in waiting]))
            return
        if self._counter is None:
            layout = Layout.of(self) if len(self.parts) else self._layout
            self._counter = None if layout is None else _Counter(layout)
        if self._counter is not None:
            values = self._counter.update(values)
            are_few = len(values) <= self.capacity // _NEW_SHARE
            if are_few and not is_last:
                # To sort in a few takes as long as many, for which they wait.
                self._waiting = [(values, None)] if len(values) else []
                return
            if not are_few:
                # There is much that it does not know: the next one will.
                self._collect()
        self._sort_in(values)

    def _collect(self) -> None:
        if self._counter is not None:
            counter, self._counter = self._counter, None
            self._add(*counter.found(), shift=counter.shift)

    def _sort_in(self, values: Array, tails: Tails | None = None) -> None:
        if not len(values):
            return
        bits = _bits(values)
        if tails is None:
            bits.sort()
            differs = bits[1:] != bits[:-1]
        else:
            order = np.lexsort((tails, bits))
            bits, tails = bits[order], tails[order]
            differs = (bits[1:] != bits[:-1]) | (tails[1:] != tails[:-1])
        starts = np.flatnonzero(np.concatenate(([True], differs)))
        distinct, counts = bits[starts], np.diff(starts, append=len(bits))
        shift = self.shift
        are_mixed = np.zeros(len(distinct), dtype=bool)
        self._add(distinct, counts, distinct, are_mixed, tails=None if tails is None else tails[starts])
        if self.shift != shift:
            self._collect()

    def merge(self, other: "RankSketch", /) -> None:
        """Count what another summary of the same capacity has counted."""
        self.settle()
        other.settle()
        if other.shift > self.shift or other.kept < self.kept:
            self._shorten(max(self.shift, other.shift), min(self.fine, other.fine))
        self._add(other.parts << np.uint64(other.shift), other.counts, other.first, other.is_mixed, tails=other.tails)

    def _add(
        self,
        bits: Bits,
        counts: NDArray[np.int64],
        first: Bits,
        is_mixed: Mask,
        *,
        shift: int = 0,
        tails: Tails | None = None,
    ) -> None:
        """Add counts of bits, of which so many are gone already, in order; `tails` are those of `first`."""
        parts = bits >> np.uint64(self.shift - shift)
        if self.tails is None and tails is None:
            # Two ordered runs, which a stable sort merges.
            order = np.argsort(np.concatenate((self.parts, parts)), kind="stable")
        else:
            self.tails = np.concatenate((with_tails(self.tails, len(self.parts)), with_tails(tails, len(parts))))
            order = np.lexsort((self.tails, np.concatenate((self.parts, parts))))
            self.tails = self.tails[order]
        self.parts = np.concatenate((self.parts, parts))[order]
        self.counts = np.concatenate((self.counts, counts))[order]
        self.first = np.concatenate((self.first, first))[order]
        self.is_mixed = np.concatenate((self.is_mixed, is_mixed))[order]
        self._join()
        if len(self.parts) > self.capacity:
            # Two neighbours become one part once all bits in which they differ are gone, those of tails first.
            kept = self.kept
            lengths = _bit_lengths(self.parts[1:] ^ self.parts[:-1])
            lengths += np.where(lengths > 0, kept, 0)
            if self.tails is not None and kept:
                ends = (self._ends_of_tails.astype(np.int64) - SMALLEST_TAIL).astype(np.uint64)
                of_tails = _bit_lengths((ends[1:] ^ ends[:-1]) >> np.uint64(TAIL_BITS - kept))
                lengths = np.where(lengths > 0, lengths, of_tails)
            numbers = np.bincount(lengths, minlength=65 + TAIL_BITS)
            gone = int(np.argmax(1 + numbers.sum() - np.cumsum(numbers) <= self.capacity))
            self._shorten(self.shift + max(0, gone - kept), max(0, kept - gone))

    def _shorten(self, shift: int, fine: int) -> None:
        self.parts = self.parts >> np.uint64(shift - self.shift)
        self.shift, self.fine = shift, fine
        self._join()

    def _join(self) -> None:
        """One entry for every part."""
        if not len(self.parts):
            return
        differs = self.parts[1:] != self.parts[:-1]
        if self.tails is not None:
            ends = self._ends_of_tails
            differs |= ends[1:] != ends[:-1]
        if differs.all():
            return
        starts = np.flatnonzero(np.concatenate(([True], differs)))
        sizes = np.diff(starts, append=len(self.parts))
        firsts = self.first[starts]
        differs = self.is_mixed | (self.first != np.repeat(firsts, sizes))
        if self.tails is not None:
            differs |= self.tails != np.repeat(self.tails[starts], sizes)
            self.tails = self.tails[starts]
        self.is_mixed = np.logical_or.reduceat(differs, starts)
        self.counts = np.add.reduceat(self.counts, starts)
        self.parts, self.first = self.parts[starts], firsts

    @property
    def n_values(self) -> int:
        """Values that were counted."""
        return int(self.settle().counts.sum())

    @property
    def is_constant(self) -> bool:
        """Whether all values are the same."""
        return len(self.settle().parts) == 1 and not self.is_mixed[0]

    @property
    def rank_error(self) -> float:
        """By how much a rank in [0, 1] may be off: half of the heaviest part whose values differ; 0 is exact."""
        self.settle()
        return float(self.counts[self.is_mixed].max(initial=0) / (2 * max(self.n_values, 1)))

    @property
    def origin(self) -> tuple[float, float]:
        """A float, and what it lacks: what is subtracted from values before they are rounded; 0 without tails."""
        if self.settle().tails is None:
            return 0.0, 0.0
        value = _values(self.parts[:1] << np.uint64(self.shift))
        return float(value[0]), float(remainders(value, self._ends_of_tails[:1])[0])

    def location_and_scale(self) -> tuple[float, float]:
        """Mean and standard deviation, less the origin, nearly: those of the ends of the parts."""
        values = _values(self.settle().parts << np.uint64(self.shift))
        if self.tails is not None:
            values = beyond(self.origin, values, self._ends_of_tails)
        largest = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
        values = values / largest
        weights = self.counts / self.counts.sum()
        location = float(weights @ values)
        scale = float(np.sqrt(weights @ (values - location) ** 2))
        return location * largest, max(scale * largest, np.finfo(np.float64).tiny)

    def cells(self, n_cells: int | None, /) -> tuple[Cells, Array, Tails | None]:
        """The column on a grid of so many cells, and the smallest value of each with its tail, if there are any."""
        self.settle()
        cells, starts = cells_of_groups(self.counts.astype(np.intp), self.is_mixed, n_cells=n_cells)
        tails = self._ends_of_tails[starts] if self.tails is not None and self.kept else None
        return cells, _values(self.parts[starts] << np.uint64(self.shift)), tails


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the parts of a summary lie: in runs of 2^`low_bits`, of which those that occur are known."""

    shift: int
    low_bits: int
    runs: Bits

    @classmethod
    def of(cls, sketch: RankSketch, /) -> "Layout | None":
        """None where the parts are scattered too widely, as a few values with all of their bits are."""
        span = int(sketch.parts[-1] - sketch.parts[0]) + 1
        low_bits = max(0, span.bit_length() - _RUN_BITS)
        runs = np.unique(sketch.parts >> np.uint64(low_bits))
        return None if len(runs) << low_bits > _ROOM * sketch.capacity else cls(sketch.shift, low_bits, runs)


class _Counter:
    """Counts values whose leading bits are known, without sorting.

    Every run of parts that occurs has room; a look at the upper bits says where.
    """

    def __init__(self, layout: Layout, /) -> None:
        runs, self.shift, self._low_bits = layout.runs, layout.shift, np.uint64(layout.low_bits)
        self._runs = runs
        places = np.full(int(runs[-1] - runs[0]) + 3, np.iinfo(np.int32).min, dtype=np.int32)
        places[(runs - runs[0]).astype(np.intp) + 1] = np.arange(len(runs), dtype=np.int32) << layout.low_bits
        self._places = places
        # The last place is of values that have none: to leave them out would copy all others.
        room = (len(runs) << layout.low_bits) + 1
        self._counts = np.zeros(room, dtype=np.int64)
        self._first = np.zeros(room, dtype=np.uint64)  # no finite number has these bits
        self._is_mixed = np.arange(room) == room - 1

    def update(self, values: Array, /) -> Array:
        """Count what is known, and give back the rest."""
        places = np.concatenate([self._find(some) for some in in_parts(values, _AT_ONCE)])
        unknown = np.flatnonzero(places < 0)
        places[unknown] = len(self._counts) - 1
        self._counts += np.bincount(places, minlength=len(self._counts))
        self._counts[-1] = 0
        plain = np.flatnonzero(~np.take(self._is_mixed, places))
        if len(plain):
            places, bits = places[plain], _bits(values[plain])
            new = self._first[places] == 0
            self._first[places[new]] = bits[new]
            self._is_mixed[places[self._first[places] != bits]] = True
        return values[unknown]

    def _find(self, values: Array) -> NDArray[np.int32]:
        """The places of values, below 0 where they have none, as parts before the first run or beyond the last do."""
        parts = _bits(values)
        parts >>= np.uint64(self.shift)
        run = parts >> self._low_bits
        run -= self._runs[0]
        run += np.uint64(1)
        # Before the first run the difference is beyond all others, or 0.
        np.minimum(run, np.uint64(len(self._places) - 1), out=run)
        parts &= (np.uint64(1) << self._low_bits) - np.uint64(1)
        return np.asarray(np.take(self._places, run.view(np.int64)) + parts.astype(np.int32))

    def found(self) -> tuple[Bits, NDArray[np.int64], Bits, Mask]:
        """The parts in their order, their counts, a value of each, and whether others are among them."""
        places = np.flatnonzero(self._counts)
        low = places.astype(np.uint64) & ((np.uint64(1) << self._low_bits) - np.uint64(1))
        parts = (self._runs[places >> int(self._low_bits)] << self._low_bits) | low
        return parts, self._counts[places], self._first[places], self._is_mixed[places]


@dataclass(frozen=True, eq=False)
class Coder:
    """The cell of any value: how many of the smallest values of the cells after the first do not exceed it.

    A search takes long. Values, or their bits where those are spread more evenly, are put into equal bins first: most
    bins have one beginning of a cell at most, and one comparison is left. A rounded map never turns the order of two
    values, so the bins are in order.
    """

    edges: Array
    by_bits: bool
    low: float
    scale: float
    codes: NDArray[np.int32]
    is_crowded: Mask

    @classmethod
    def of(cls, smallest: Array, counts: Index, /) -> "Coder":
        """From the smallest value of every cell, and its rows."""
        both = [cls._binned(smallest, counts, by_bits=by_bits) for by_bits in (False, True)]
        return min(both, key=lambda coder: int(counts[1:][coder.is_crowded[coder._bins(coder.edges[:-1])]].sum()))

    @classmethod
    def _binned(cls, smallest: Array, counts: Index, *, by_bits: bool) -> "Coder":
        line = _bits(smallest).astype(np.float64) if by_bits else smallest
        shares = np.cumsum(counts) / counts.sum()
        last = len(smallest) - 1
        low, high = (float(line[min(int(np.searchsorted(shares, q)), last)]) for q in (_OUTSIDE, 1.0 - _OUTSIDE))
        with np.errstate(over="ignore"):
            scale = (_BINS - 2) / (high - low) if high > low else 0.0
        scale = scale if np.isfinite(scale) else 0.0  # one bin for all
        # One more, beyond all values, ends the comparison in the last cell.
        edges = np.append(smallest[1:], np.inf)
        empty = cls(edges, by_bits, low, scale, np.empty(0, dtype=np.int32), np.empty(0, dtype=bool))
        bins = empty._bins(edges[:-1])
        codes = np.searchsorted(bins, np.arange(_BINS)).astype(np.int32)
        return cls(edges, by_bits, low, scale, codes, np.bincount(bins, minlength=_BINS) > 1)

    def _bins(self, values: Array) -> NDArray[np.int32]:
        if not self.scale:
            return np.zeros(len(values), dtype=np.int32)
        with np.errstate(over="ignore", invalid="ignore"):
            position = np.subtract(_bits(values) if self.by_bits else values, self.low, dtype=np.float64)
            position *= self.scale
        np.clip(position, 0, _BINS - 1, out=position)
        return position.astype(np.int32)

    def __call__(self, values: Array, tails: Tails | None = None, /) -> NDArray[Any]:
        bins = self._bins(values)
        found = np.take(self.codes, bins)
        found += values >= np.take(self.edges, found)
        crowded = np.flatnonzero(np.take(self.is_crowded, bins))
        if len(crowded):
            found[crowded] = np.searchsorted(self.edges, values[crowded], side="right")
        # One code more is for missing rows.
        return found.astype(np.min_scalar_type(len(self.edges)))
