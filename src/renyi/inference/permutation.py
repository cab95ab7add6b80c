"""P-values by permuting the rows of a basis, which is permuting the data.

Nothing is ranked or projected again. The p-value is (1 + b)/(1 + m) for b of m permutations that reach the observed
statistic, never 0 (Phipson and Smyth 2010). Once enough permutations have reached it the answer cannot become small any
more and the rest is not drawn: the p-value is then h/l for the h-th such permutation in l draws (Besag and Clifford
1991), which is as valid. Where the question is whether the best of many is beyond chance at a level, drawing stops as
soon as the answer is clearly no (`until_above`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from scipy.special import gammaln

from renyi.basis.basis import Basis
from renyi.basis.canonical import cross_products
from renyi.compute.arrays import Array, Index, Mask
from renyi.compute.devices import free_bytes, within_room
from renyi.compute.threads import ahead
from renyi.errors import InputError

Exchange = Literal["within", "whole"]
# What random numbers are made from.
Entropy: TypeAlias = tuple[int, ...]
# Orders or products.
Drawn = TypeVar("Drawn", Index, Array)
# A batch of products (m, a, b) to as many statistics, large where there is dependence.
Statistic: TypeAlias = Callable[[Array], Array]

# Permutations that must reach the observed statistic before drawing stops: the p-value is then good to a tenth.
_ENOUGH = 100
# Statistics that differ by rounding, or by this share of the observed one, are equal. Near perfect correlation the
# logarithm of a p-value magnifies rounding; `block_roots` ends at 1 − 10⁻⁹, where this is enough.
_TOLERANCE = 1e-6
# A statistic of 0 has no share, and there rounding is counted in units of the statistic. Of correlations, and of what
# else is at most about 1, it leaves up to 5·10⁻¹⁵ (tables of 4 to 10,000 rows without any association); the next larger
# value is 0.003 or more on up to 12 rows.
ROUNDING = 1e-12
# Logarithms of p-values are read from tables for many roots, but not for one: these are up to 3·10⁻⁷ apart.
ROUNDING_OF_LOGARITHMS = 1e-6
_BATCH_BYTES = 2**21
_MOST_IN_A_BATCH = 256
# Statistics are taken of as many permutations at once as there were before, up to so many and so many bytes of
# products: of 2,048 they take a third of the time that eight times 256 do.
_MOST_TOGETHER, _BYTES_TOGETHER = 2048, 2**23
# A random contingency table takes as long for a cell as a permutation for this many rows.
_ROWS_PER_CELL = 8
# Up to here the first orders are kept for other pairs: a batch of them takes 200 KiB.
_FEW_ROWS = 100
# The first batch on a device; each of the next ones is eight times as large, as far as there is room.
_FIRST_ON_DEVICE = 1024
_KEPT_DRAWS = 10_000
# Decimals of functions by which two columns are told apart: rounding, which depends on where they were made, has none.
_DECIMALS, _ROWS_COMPARED = 6, 2**12


@dataclass(frozen=True)
class Permuted:
    """A p-value by permuting: how many were drawn, how many reached the observed statistic."""

    n_drawn: int
    n_reached: int

    @property
    def pvalue(self) -> float:
        """(1 + b)/(1 + m), or h/l where drawing stopped early."""
        if self.n_reached >= _ENOUGH:
            return self.n_reached / self.n_drawn
        return (1 + self.n_reached) / (1 + self.n_drawn)


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows that belong together, and whether they are permuted within their groups or the groups as a whole."""

    codes: Index
    exchange: Exchange

    def __post_init__(self) -> None:
        sizes = np.bincount(self.codes)
        if self.exchange == "within" and sizes.max() == 1:
            raise InputError("every group has a single row, and within such groups there is nothing to permute")
        if self.exchange == "whole" and np.bincount(sizes)[1:].max() == 1:
            raise InputError("no two groups have the same number of rows, so none can change places with another")

    @property
    def log_arrangements(self) -> float:
        """Logarithm of the number of arrangements."""
        sizes = np.bincount(self.codes)
        moved = sizes if self.exchange == "within" else np.bincount(sizes)[1:]
        return float(np.sum(gammaln(moved + 1.0)))

    @cached_property
    def _members(self) -> list[Index]:
        """Rows of every group, as a matrix of groups of the same size."""
        sizes = np.bincount(self.codes)
        rows = np.split(np.argsort(self.codes, kind="stable"), np.cumsum(sizes)[:-1])
        return [np.stack([group for group in rows if len(group) == size]) for size in np.unique(sizes[sizes > 0])]

    def permute(self, rng: np.random.Generator, /) -> Index:
        """One random arrangement: for every row the one whose y it receives."""
        received = np.empty(len(self.codes), dtype=np.intp)
        for members in self._members:
            within = self.exchange == "within"
            received[members] = rng.permuted(members, axis=1) if within else rng.permutation(members, axis=0)
        return received


def permuted_pvalue(
    x: Basis,
    y: Basis,
    statistic: Statistic,
    /,
    *,
    observed: float,
    rounding: float,
    n_resamples: int,
    seed: Entropy,
    groups: Groups | None = None,
    device: Any = None,
) -> Permuted:
    """Permute the rows of y against those of x until the p-value is resolved, on a device of torch if there is one.

    `rounding` is what rounding may leave of a statistic that is 0.

    Without groups the rows of either side are put into an order of their own first, so that the order of the data does
    not matter, and the sides into one that depends on what they hold, so that theirs does not either.
    """
    is_turned = False
    if groups is None:
        x, y, is_turned = in_own_order(x, y)

    def values() -> Iterator[Array]:
        drawn = (
            _permuted_products(x, y, n_resamples, seed, groups)
            if device is None
            else _products_on_device(x, y, n_resamples, seed, device)
        )
        for cross in drawn:
            found = statistic(cross.swapaxes(1, 2) if is_turned else cross)
            yield found if device is None else found.cpu().numpy()  # type: ignore[attr-defined]  # of torch

    return until_resolved(values(), observed, rounding=rounding)


def are_permuted_together(n: int, /) -> bool:
    """Whether pairs of so many rows are permuted together: they share their orders, which depend on n alone."""
    return n <= _FEW_ROWS


def until_resolved(batches: Iterable[Array], observed: float, /, *, rounding: float) -> Permuted:
    """Count how many statistics of permuted data reach the observed one, until the p-value is resolved."""
    tally, only = Tally(1), np.zeros(1, dtype=np.intp)
    for values in batches:
        tally.add(only, reaches(values, observed, rounding=rounding)[np.newaxis])
        if len(tally.unresolved) == 0:
            break
    return tally.found[0]


class Tally:
    """How many statistics of permuted rows reach the observed ones, until every p-value is resolved."""

    def __init__(self, n_observed: int, /) -> None:
        self._n_drawn, self._n_reached = (np.zeros(n_observed, dtype=np.intp) for _ in range(2))

    def add(self, which: Index, reached: Mask, /) -> None:
        """Which of the next draws (pairs, draws) of some that are not resolved yet reach what was observed."""
        n_reached = np.cumsum(reached, axis=1, dtype=np.intp) + self._n_reached[which, np.newaxis]
        # No draw counts after the one by which enough have reached.
        is_enough = n_reached >= _ENOUGH
        drawn = np.where(is_enough[:, -1], np.argmax(is_enough, axis=1) + 1, reached.shape[1])
        self._n_drawn[which] += drawn
        self._n_reached[which] = np.minimum(n_reached[:, -1], _ENOUGH)

    @property
    def unresolved(self) -> Index:
        """Those that need more draws."""
        return np.flatnonzero(self._n_reached < _ENOUGH)

    @property
    def found(self) -> list[Permuted]:
        return [Permuted(*counts) for counts in zip(self._n_drawn.tolist(), self._n_reached.tolist(), strict=True)]


def until_above(
    batches: Iterable[Array], observed: float, /, *, level: float, n_resamples: int, rounding: float
) -> float:
    """A p-value by at most so many statistics of permuted rows, of which no more are drawn once it is above a level.

    That is so when as many reach the observed one as would make twice the level of all of them, and 5 to spare.
    """
    n_drawn = n_reached = 0
    for values in batches:
        n_drawn += len(values)
        n_reached += int(np.count_nonzero(reaches(values, observed, rounding=rounding)))
        if 1 + n_reached > 2 * level * (1 + n_resamples) + 5:
            break
    return (1 + n_reached) / (1 + n_drawn)


def reaches(permuted: Array, observed: Array | float, /, *, rounding: float) -> Mask:
    """Which statistics of permuted rows are at least the observed one, or below it by rounding alone.

    Every permutation test compares here. Rounding depends on the order of the rows: without a tolerance it would decide
    between equal statistics, and p-values would be far too small where most are equal, as on few or tied rows.
    """
    return np.asarray(permuted >= observed - np.maximum(_TOLERANCE * np.abs(observed), rounding))


def in_own_order(x: Basis, y: Basis, /) -> tuple[Basis, Basis, bool]:
    """Both with rows in an order that depends on what they hold, the sides too, and whether these are turned."""
    x, y = x.in_order(), y.in_order()
    is_turned = _comes_before(y, x)
    return (y, x, True) if is_turned else (x, y, False)


def _comes_before(x: Basis, y: Basis) -> bool:
    """Whether x has fewer functions, or the first that differ by more than rounding are smaller."""
    if x.dimension != y.dimension:
        return x.dimension < y.dimension
    n = x.n_samples
    for start in range(0, n, _ROWS_COMPARED):
        rows = slice(start, min(start + _ROWS_COMPARED, n))
        of_x, of_y = (np.round(side.rows(rows.start, rows.stop), _DECIMALS).ravel() for side in (x, y))
        if len(differ := np.flatnonzero(of_x != of_y)):
            return bool(of_x[differ[0]] < of_y[differ[0]])
    return False


def _products_of_orders(first: Array, second: Array, orders: Index) -> Array:
    """Products of functions (functions, rows) with others (rows, functions) in these orders."""
    # One product of matrices for all orders of a batch takes half the time of one for each.
    in_order = np.take(second, orders.T, axis=0).reshape(len(second), -1)
    return (first @ in_order).reshape(len(first), len(orders), -1).swapaxes(0, 1)


def _permuted_products(x: Basis, y: Basis, n_resamples: int, seed: Entropy, groups: Groups | None) -> Iterator[Array]:
    """Products of x with permuted rows of y, in batches."""
    rng = np.random.default_rng(seed)
    if groups is not None:
        return _products_of_rows(x, y, n_resamples, rng, groups)
    n_numbers = x.dimension * y.dimension
    if are_permuted_together(x.n_samples):
        return _products_in(x, y, _together(random_orders(x.n_samples, n_resamples, seed), n_numbers))
    if _n_cells(x) * _n_cells(y) <= x.n_samples // _ROWS_PER_CELL:
        return _together(_products_of_tables(x, y, n_resamples, rng), n_numbers)
    exceptions = [_exceptional_rows(basis) for basis in (x, y)]
    fewest = min(len(rows) for rows in exceptions)
    if fewest**2 > x.n_samples:
        return _products_of_rows(x, y, n_resamples, rng, groups)
    if len(exceptions[1]) == fewest:
        return _together(_products_of_exceptions(x, y, exceptions[1], n_resamples, rng), n_numbers)
    turned = _together(_products_of_exceptions(y, x, exceptions[0], n_resamples, rng), n_numbers)
    return (np.swapaxes(cross, 1, 2) for cross in turned)


def _together(batches: Iterator[Drawn], n_numbers: int) -> Iterator[Drawn]:
    """The same draws in fewer batches, which grow: most answers are clear after a few permutations.

    For products that are cheap beside their statistics; those of many rows are drawn meanwhile, one small batch ahead.
    """
    n_before = 0
    waiting: list[Drawn] = []
    for batch in batches:
        waiting.append(batch)
        n_waiting = sum(map(len, waiting))
        if n_waiting >= min(n_before, _MOST_TOGETHER) or 8 * n_waiting * n_numbers >= _BYTES_TOGETHER:
            yield np.concatenate(waiting)
            n_before += n_waiting
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _batch_size(n_numbers: int) -> int:
    """Permutations of so many numbers that are worked on together."""
    return min(_MOST_IN_A_BATCH, _BATCH_BYTES // (8 * n_numbers))


def _n_cells(basis: Basis) -> float:
    return np.inf if basis.codes is None else len(basis.table)


def _exceptional_rows(basis: Basis) -> Index:
    """Rows that are not in the most frequent cell."""
    if basis.codes is None:
        return np.arange(basis.n_samples)
    return np.flatnonzero(basis.codes != np.bincount(basis.codes).argmax())


def _products_of_exceptions(
    x: Basis, y: Basis, rows: Index, n_resamples: int, rng: np.random.Generator
) -> Iterator[Array]:
    """By the few rows of y that leave its most frequent cell: where these fall among the rows of x is all there is.

    The rows of a basis add up to 0, so that the frequent cell can be taken off all of them.
    """
    if y.codes is None:
        raise ValueError("a basis of exceptions has cells")
    n = x.n_samples
    rows_of_x = x.rows(0, n) / n
    away = y.table[y.codes[rows]] - y.table[np.bincount(y.codes).argmax()]
    size = _batch_size(len(rows) * x.dimension)
    for start in range(0, n_resamples, size):
        places = _distinct_places(n, (min(size, n_resamples - start), len(rows)), rng)
        yield np.swapaxes(np.take(rows_of_x, places, axis=0), 1, 2) @ away


def _distinct_places(n: int, shape: tuple[int, int], rng: np.random.Generator) -> Index:
    """Distinct numbers below n in every row: rows with a repetition are drawn again."""
    places = rng.integers(0, n, shape)
    while len(repeated := np.flatnonzero((np.diff(np.sort(places, axis=1), axis=1) == 0).any(axis=1))):
        places[repeated] = rng.integers(0, n, (len(repeated), shape[1]))
    return places


def _products_of_tables(x: Basis, y: Basis, n_resamples: int, rng: np.random.Generator) -> Iterator[Array]:
    """By random contingency tables with the counts of either side, whose cost does not grow with the rows."""
    from scipy.stats import random_table  # here, since scipy.stats takes a second to import

    counts = [np.bincount(basis.codes, minlength=len(basis.table)) for basis in (x, y) if basis.codes is not None]
    tables = random_table(*counts)
    size = max(1, _batch_size(len(x.table) * len(y.table)))
    for start in range(0, n_resamples, size):
        drawn = tables.rvs(size=min(size, n_resamples - start), method="patefield", random_state=rng)
        yield x.table.T @ drawn.reshape(-1, len(x.table), len(y.table)) @ y.table / x.n_samples


def _products_of_rows(
    x: Basis, y: Basis, n_resamples: int, rng: np.random.Generator, groups: Groups | None
) -> Iterator[Array]:
    n = x.n_samples
    size = _batch_size(n * y.dimension)
    if size < 2:
        for _ in range(n_resamples):
            rows = rng.permutation(n) if groups is None else groups.permute(rng)
            yield cross_products(x, y.take(rows))[np.newaxis]
        return
    # Drawing takes as long as the products, so the next batch is drawn meanwhile.
    yield from _products_in(x, y, ahead(_arrangements(n, n_resamples, size, rng, groups)))


def _products_in(x: Basis, y: Basis, batches: Iterator[Index]) -> Iterator[Array]:
    """Products with the rows of y in orders that come in batches."""
    n = x.n_samples
    first, second = np.ascontiguousarray(x.rows(0, n).T) / n, y.rows(0, n)
    return (_products_of_orders(first, second, orders) for orders in batches)


def _products_on_device(x: Basis, y: Basis, n_resamples: int, seed: Entropy, device: Any) -> Iterator[Array]:
    """By orders that a device draws for itself; batches grow, since most answers are clear after a few permutations."""
    import torch

    n = x.n_samples
    rows_of_x, rows_of_y = (torch.as_tensor(basis.rows(0, n), device=device) for basis in (x, y))
    rows_of_x = rows_of_x.T / n
    generator = torch.Generator(device).manual_seed(
        int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1)
    )
    # Keys, their order, what sorting takes beside them, and the rows that are gathered.
    most = max(1, int(free_bytes(device) / (n * (40 + 8 * y.dimension))))
    size, start = min(_FIRST_ON_DEVICE, most), 0
    while start < n_resamples:
        size = min(size, n_resamples - start)
        cross = within_room(lambda size: _drawn(rows_of_x, rows_of_y, size, generator), size, device, "one permutation")
        start, size = start + len(cross), min(8 * len(cross), most)
        yield cross


def _drawn(rows_of_x: Any, rows_of_y: Any, size: int, generator: Any) -> Any:
    """Products with the rows of y in so many random orders."""
    return rows_of_x @ rows_of_y[orders_on_device(len(rows_of_y), size, generator)]


def orders_on_device(n: int, size: int, generator: Any, /) -> Any:
    """Random orders of n rows on a device: of keys of 32 bits, so that two in 10,000 are equal in one order of 100."""
    import torch

    keys = torch.randint(-(2**31), 2**31, (size, n), dtype=torch.int32, device=generator.device, generator=generator)
    return keys.argsort(dim=1)


def random_orders(n: int, n_resamples: int, seed: Entropy, /) -> Iterator[Index]:
    """Random orders of n rows, a batch at a time; those of few rows are kept for the next pair."""
    if n > _FEW_ROWS:
        yield from _arrangements(n, n_resamples, max(1, _batch_size(n)), np.random.default_rng(seed), None)
        return
    for start in range(0, n_resamples, _MOST_IN_A_BATCH):
        # Few answers need more, and so many batches would drive one another out.
        draw = _orders if start < _KEPT_DRAWS else _orders.__wrapped__
        yield draw(n, seed, start)[: n_resamples - start]


@lru_cache(maxsize=256)
def _orders(n: int, seed: Entropy, start: int) -> Index:
    """A batch of random orders, the one that begins with the draw of this number."""
    rng = np.random.default_rng((*seed, start))
    orders = rng.permuted(np.tile(np.arange(n), (_MOST_IN_A_BATCH, 1)), axis=1)
    orders.setflags(write=False)
    return orders


def _arrangements(
    n: int, n_resamples: int, size: int, rng: np.random.Generator, groups: Groups | None
) -> Iterator[Index]:
    """Permuted rows, a batch at a time."""
    identity = np.tile(np.arange(n), (size, 1))
    for start in range(0, n_resamples, size):
        m = min(size, n_resamples - start)
        if groups is None:
            yield rng.permuted(identity[:m], axis=1)
        else:
            yield np.stack([groups.permute(rng) for _ in range(m)])
