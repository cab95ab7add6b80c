"""What a column adds to those already chosen: functions of it that go with what the chosen leave of the target.

A random feature of a set that grows by one column is cos(A + w·u), with A the angle of the set so far. By the addition
theorem that is cos A·cos w·u − sin A·sin w·u: what a candidate adds to a set is spanned by functions of the candidate,
and by their products with functions of the set. So nothing is drawn here. Every column is ranked once and its smooth
functions are read from a table. The target's functions are residualised on the span of all functions and products of
the chosen. A candidate's functions q, residualised as well, are then compared with the residuals r, and, for
interactions, with the products r·z, z being functions of the chosen: q·z goes with r just as q goes with z·r. If the
candidate has nothing to do with target and chosen, both largest canonical correlations have Roy's distribution, also
where the spread of r depends on z. All candidates go through one product of matrices, a step needs only the new
dimensions of the span, and nothing is ranked or projected twice.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from renyi.compute.arrays import Array, Index, Mask, in_memory, like, namespace
from renyi.compute.eigenvalues import largest_root
from renyi.data.column import Column
from renyi.inference import multiscale
from renyi.inference.many_pairs import within_critical
from renyi.inference.multiscale import Block
from renyi.inference.permutation import ROUNDING_OF_LOGARITHMS, until_above
from renyi.inference.roy import are_many, log_sf, log_sf_of_many
from renyi.selection.candidates import Candidate, scales_of
from renyi.selection.products import Products, ProductsInMemory, ProductsOnDevice, Rows

# Sizes of the blocks of functions of a target that is a number.
_TARGET_SIZES = (1, 2, 6)
# Functions of a column that are multiplied with those of another one, and the chosen columns whose functions are.
FACTORS, _MOST_PARTNERS = 2, 8
# A function of which the chosen leave a smaller share of its variance says nothing new.
CUT = 1e-2
# A target of which the chosen leave a smaller share is explained.
EXPLAINED = 1e-10
# The span of the chosen takes a quarter of the rows at most.
_ROWS_PER_DIMENSION = 4
# Where no null distribution holds: permutations of the rows, and multiplications and additions that these may take.
_N_PERMUTATIONS, _PERMUTATIONS_AT_ONCE, _MOST_WORK = 999, 64, 2e11
_NUMBERS_AT_ONCE = 2**21
# Of all pairs, those with the largest plain products of functions are tested.
_TESTED_PAIRS = 64
_MOST_COLUMNS_TO_PAIR = 2000


class Gains:
    """The search's state: the span of the chosen columns, and what it leaves of the target.

    Parameters
    ----------
    candidates : sequence of Candidate
        Columns that vary.
    target : Column
        Complete: a number, a category or a vector.
    n_threads : int
        Batches of candidates worked on at a time, in memory.
    device : torch.device, optional
        Where functions are kept and multiplied, if not in memory.
    """

    def __init__(
        self, candidates: Sequence[Candidate], target: Column, /, *, n_threads: int = 1, device: Any = None
    ) -> None:
        self._candidates, self._n = candidates, len(target)
        self._functions: Products = (
            ProductsInMemory(candidates, self._n, n_threads=n_threads)
            if device is None
            else ProductsOnDevice(candidates, self._n, device)
        )
        scales = scales_of(target)
        sizes = _TARGET_SIZES if scales.is_number else scales.sizes
        self._sizes = tuple(dict.fromkeys(min(size, scales.basis.dimension) for size in sizes))
        self._target = self._functions.placed(scales.basis.rows(0, self._n).T[: self._sizes[-1]] / np.sqrt(self._n))
        self._has_levels = scales.has_levels
        self._log_arrangements = scales.log_arrangements
        self._span = self._functions.placed(np.full((1, self._n), self._n**-0.5))
        self._partners = self._target[:0]
        self._n_partners = 0
        self._residual = self._target
        self._products = self._target[:0]
        # Of every candidate, what the span leaves of the products of its functions; the span as far as they know it.
        self._grams: dict[int, Array] = {}
        self._n_projected = 0
        # Candidates of the last look in which single rows weigh too much for the null distribution of some block.
        self.doubtful: list[int] = []

    @property
    def dependence(self) -> float:
        """Largest correlation of a function of the target with one in the span of the chosen; it never falls."""
        if len(self._span) == 1:
            return 0.0
        cross = in_memory(self._span @ self._target.T)
        return float(np.sqrt(np.clip(np.linalg.eigvalsh(cross.T @ cross)[-1], 0.0, 1.0)))

    @property
    def is_explained(self) -> bool:
        """Whether nothing is left of the target."""
        return len(self._residual) == 0

    def of_singles(self, which: Sequence[int], /) -> Array:
        """Logarithm of the p-value of every candidate named, which are all that may still be chosen."""
        log_p = np.zeros(len(which))
        self.doubtful = []
        if self.is_explained:
            return log_p
        for places in self._grouped(which):
            members = [which[place] for place in places]
            cross, kept = self._whitened(members)
            self._on_own_rows(cross[np.newaxis], members)
            log_p[places], is_clear = self._by_parts(members, cross, kept, trusts_all=False)
            self.doubtful += [j for j, clear in zip(members, is_clear.tolist(), strict=True) if not clear]
        self._n_projected = len(self._span)
        return log_p

    def _grouped(self, which: Sequence[int]) -> list[list[int]]:
        """Places of candidates that have as many functions, looked at in the same parts."""
        group: dict[tuple[Any, ...], list[int]] = {}
        for place, j in enumerate(which):
            group.setdefault(self._candidates[j].signature, []).append(place)
        return list(group.values())

    def _by_parts(self, members: list[int], cross: Array, kept: Mask, *, trusts_all: bool) -> tuple[Array, Mask]:
        """Logarithms of p-values of candidates that are alike, and whether all blocks were trusted."""
        first = self._candidates[members[0]]
        leverages = np.stack([self._candidates[j].leverages for j in members])
        parts = [(slice(size), leverages[:, size - 1]) for size in first.sizes]
        n_rows = np.array([self._candidates[j].n_observed for j in members])
        return self._log_pvalues(cross, kept, parts, n_rows, first.has_levels, trusts_all=trusts_all)

    def by_permutation(self, which: Sequence[int], /, *, alpha: float) -> tuple[int, float] | None:
        """The best of doubtful candidates, and the logarithm of the p-value of being so good as the best of them.

        The rows of all of them are permuted together, target and chosen being left as they are, and the best is taken
        anew: no more often than it takes to exceed alpha. None where that would take too long.
        """
        n_functions, n_others = sum(self._candidates[j].width for j in which), len(self._span) + len(self._residual)
        if self.is_explained or 2.0 * n_functions * n_others * self._n * _N_PERMUTATIONS > _MOST_WORK:
            return None
        others = joined(self._span, self._residual, self._products)
        looks = [(places, [which[place] for place in places]) for places in self._grouped(which)]
        products = [self._functions.permuted(members, others) for _, members in looks]

        def evidence(orders: Index) -> Array:
            """Of all candidates in every order of the rows (orders, candidates)."""
            log_p = np.empty((len(orders), len(which)))
            for (places, members), of_orders in zip(looks, products, strict=True):
                found = of_orders(orders).reshape(len(orders), len(members), -1, len(others))
                log_p[:, places] = self._as_if_null(members, found, orders)
            return log_p

        (found,) = evidence(np.arange(self._n)[np.newaxis])
        best = int(np.argmin(found))
        rng = np.random.default_rng([len(self._span), self._n])
        at_once = max(1, min(_PERMUTATIONS_AT_ONCE, _NUMBERS_AT_ONCE // (n_functions * (len(others) + self._n))))
        sizes = (min(at_once, _N_PERMUTATIONS - start) for start in range(0, _N_PERMUTATIONS, at_once))
        drawn = (np.stack([rng.permutation(self._n) for _ in range(size)]) for size in sizes)
        pvalue = until_above(
            (-evidence(orders).min(axis=1) for orders in drawn),
            -found[best],
            level=alpha,
            n_resamples=_N_PERMUTATIONS,
            rounding=ROUNDING_OF_LOGARITHMS,
        )
        return which[best], float(np.log(pvalue))

    def _as_if_null(self, members: list[int], found: Array, orders: Index) -> Array:
        """Logarithms of p-values (orders, candidates), from products with span and residuals in orders of the rows.

        All blocks count, trusted or not: what such a value is worth is told by other orders.
        """
        shape, found = found.shape[:2], found.reshape(-1, *found.shape[2:])
        inner, cross = found[:, :, : len(self._span)], np.ascontiguousarray(found[:, :, len(self._span) :])
        lengths = np.tile([float(self._candidates[j].n_observed) for j in members], len(orders))
        grams = lengths[:, np.newaxis, np.newaxis] * np.eye(found.shape[1]) - inner @ inner.swapaxes(1, 2)
        kept = _eliminate(grams, cross, np.broadcast_to(CUT * lengths[:, np.newaxis], grams.shape[:2]))
        self._on_own_rows(cross.reshape(*shape, *cross.shape[1:]), members, orders)
        every = [j for _ in orders for j in members]
        return self._by_parts(every, cross, kept, trusts_all=True)[0].reshape(shape)

    def least_log_pvalue(self, *which: int) -> float:
        """What the p-value of a candidate or a pair is at least: no p-value of permuted rows could be smaller."""
        return -min(self._log_arrangements, sum(self._candidates[j].log_arrangements for j in which))

    def of_pairs(self, which: Sequence[int], /) -> tuple[tuple[int, int], float] | None:
        """The pair of candidates whose product adds most, and the logarithm of its p-value, not adjusted."""
        if self.is_explained or not 2 <= len(which) <= _MOST_COLUMNS_TO_PAIR:
            return None
        pairs = self._promising(which)
        log_p = np.array([self._pair(*pair) for pair in pairs])
        return pairs[int(log_p.argmin())], float(log_p.min())

    def add(self, which: int, /) -> None:
        """Choose a candidate: its functions and products widen the span, and the target's residual shrinks."""
        own = self._functions.functions(which)
        self._grams.pop(which, None)
        self._functions.forget(which)
        factors = own[:FACTORS]
        products = (factors[:, np.newaxis] * self._partners).reshape(-1, self._n)
        room = max(self._n // _ROWS_PER_DIMENSION - len(self._span), 0)
        added = orthonormal(joined(own, products), self._span, cut=CUT)[:room]
        self._span = joined(self._span, added)
        self._residual = orthonormal(self._target, self._span, cut=EXPLAINED)
        if self._n_partners < _MOST_PARTNERS:
            self._partners = joined(self._partners, factors)
            self._n_partners += 1
        # Nothing is left to interact with once the target is explained.
        partners = self._partners[:0] if self.is_explained else self._partners * self._residual[0]
        self._products = orthonormal(partners, self._span, cut=CUT)

    def _whitened(self, members: list[int]) -> tuple[Array, Mask]:
        """Products of candidates with as many functions with residuals and products, as in `_log_pvalues`."""
        new = self._span[self._n_projected :]
        found = self._functions.products(members, joined(new, self._residual, self._products))
        inner, cross = found[:, :, : len(new)], np.ascontiguousarray(found[:, :, len(new) :])
        lengths = np.array([float(self._candidates[j].n_observed) for j in members])
        grams = np.stack(
            [self._grams.get(j, length * np.eye(found.shape[1])) for j, length in zip(members, lengths, strict=True)]
        )
        grams -= inner @ inner.swapaxes(1, 2)
        self._grams.update(zip(members, grams, strict=True))
        return cross, _eliminate(grams.copy(), cross, np.broadcast_to(CUT * lengths[:, np.newaxis], grams.shape[:2]))

    def _pair(self, i: int, j: int) -> float:
        """Logarithm of the p-value of the products of two candidates' functions, beyond those of either."""
        first, second = self._candidates[i], self._candidates[j]
        gaps = either(first.gaps, second.gaps)
        n_rows = self._n - (0 if gaps is None else len(gaps))
        own, products = self._products_of(i, j, gaps)
        width, own = len(own), joined(own, products)
        inner, cross, gram = (in_memory(own @ others.T) for others in (self._span, self._residual, own))
        lengths = np.diagonal(gram).copy()
        gram, cross = (gram - inner @ inner.T)[np.newaxis], cross[np.newaxis]
        kept = _eliminate(gram, cross, CUT * lengths[np.newaxis])
        products /= like(np.sqrt(np.where(lengths[width:] > 0.0, lengths[width:], 1.0)), products)[:, np.newaxis]
        leverage = np.array([_height(products)])
        has_levels = first.has_levels or second.has_levels
        part = slice(width, len(own)), leverage
        if gaps is not None:
            self._whiten_without(gaps[np.newaxis], cross)
        return float(self._log_pvalues(cross, kept, [part], np.array([n_rows]), has_levels, trusts_all=False)[0][0])

    def _products_of(self, i: int, j: int, gaps: Index | None) -> tuple[Rows, Rows]:
        """The functions of two candidates, and products of the leading ones, 0 where one of them is missing."""
        own = joined(self._functions.functions(i), self._functions.functions(j))
        width = self._candidates[i].width
        factors = own[:FACTORS][:width], own[width:][:FACTORS]
        products = (factors[0][:, np.newaxis] * factors[1]).reshape(-1, self._n)
        if gaps is not None:
            products -= products.sum(axis=1)[:, None] / (self._n - len(gaps))
            products[:, like(gaps, products)] = 0.0
        return own, products

    def _promising(self, which: Sequence[int]) -> list[tuple[int, int]]:
        """The pairs whose products of functions correlate most with the residual, as if these were orthonormal."""
        if len(which) * (len(which) - 1) // 2 <= _TESTED_PAIRS:
            return list(combinations(which, 2))
        scores = self._functions.pair_scores(which, self._residual[:FACTORS], FACTORS)
        rows, columns = np.triu_indices(len(which), 1)
        best = np.argsort(-scores[rows, columns], kind="stable")[:_TESTED_PAIRS]
        return [(which[rows[k]], which[columns[k]]) for k in best]

    def _log_pvalues(
        self,
        cross: Array,
        kept: Mask,
        parts: Sequence[tuple[slice, Array]],
        n_rows: Index,
        has_levels: bool,
        *,
        trusts_all: bool,
    ) -> tuple[Array, Mask]:
        """Logarithms of p-values, by parts of the functions with their leverages, against residuals and products.

        And whether all blocks were trusted.

        `cross` (candidates, functions, residuals) are products of functions that are orthonormal in their order, those
        that were not kept being 0.
        """
        residuals, products = np.split(cross, [len(self._residual)], axis=2)
        sizes = dict.fromkeys(min(size, len(self._residual)) for size in self._sizes)
        freedom = n_rows - len(self._span) + 1
        heights = {size: _height(self._residual[:size]) for size in sizes}
        looks = [
            # Functions before a part that does not begin with the first one are residualised upon as well.
            (residuals[:, part, :size], kept[:, part], freedom - (part.start or 0), heavy * heights[size])
            for part, heavy in parts
            for size in sizes
        ]
        if products.shape[2]:
            part, heavy = parts[min(1, len(parts) - 1)]
            looks.append((products[:, part], kept[:, part], freedom, heavy * _height(self._products)))
        # As in the tests of pairs: rare levels on both sides must not decide.
        most = 1.0 / self._n if has_levels and self._has_levels else np.inf
        has_levels = has_levels or self._has_levels
        share = multiscale.share_of_levels(has_levels)
        if trusts_all:
            share = most = np.inf
        nominal: list[Block] = [(look[0].shape[1], look[0].shape[2]) for look in looks]
        log_p = np.stack([_by_dimension(*look, share=share, most=most) for look in looks], axis=-1)
        log_mean = multiscale.log_harmonic_mean(multiscale.log_weights(nominal) - log_p)
        found = multiscale.log_pvalue(
            log_mean, nominal, n=np.maximum(freedom, 1), are_numbers=not has_levels, log_arrangements=np.inf
        )
        return np.asarray(np.minimum(found, 0.0)), np.asarray((log_p < 0.0).all(axis=-1))

    def _on_own_rows(self, cross: Array, members: list[int], orders: Index | None = None) -> None:
        """Where a candidate is missing its functions are 0: residuals are then whitened on the rows it has, in place.

        `cross` is (orders of the rows, candidates, functions, residuals), in the order that the rows have by default.
        """
        for place, j in enumerate(members):
            gaps = self._candidates[j].gaps
            if gaps is not None:
                self._whiten_without(gaps[np.newaxis] if orders is None else orders[:, gaps], cross[:, place])

    def _whiten_without(self, gaps: Index, cross: Array) -> None:
        """Whiten residuals on all rows but some (orders, rows), given products (orders, functions, residuals)."""
        start = 0
        for residuals in (self._residual, self._products)[: 1 + (cross.shape[2] > len(self._residual))]:
            found = cross[:, :, start : start + len(residuals)]
            found[:] = np.linalg.solve(_spread(residuals, gaps), found.swapaxes(1, 2)).swapaxes(1, 2)
            start += len(residuals)


def either(first: Index | None, second: Index | None) -> Index | None:
    """Rows that one of two lacks."""
    if first is None or second is None:
        return second if first is None else first
    return np.union1d(first, second)


def _spread(residuals: Rows, gaps: Index) -> Array:
    """Triangular factors of how residuals vary on all rows but some (orders, rows); on all rows it is the identity."""
    n_rows = residuals.shape[1] - gaps.shape[1]
    part = residuals[:, like(gaps, residuals)].swapaxes(0, 1)
    # Over all rows they are orthonormal and add up to 0.
    sums = in_memory(part.sum(axis=2))
    outer = sums[:, :, np.newaxis] * sums[:, np.newaxis] / n_rows
    return np.linalg.cholesky((1.0 + 1e-9) * np.eye(len(residuals)) - in_memory(part @ part.swapaxes(1, 2)) - outer)


def _eliminate(gram: Array, cross: Array, least: Array) -> Mask:
    """Ordered Cholesky of a batch of Gram matrices, applied to their cross products in place.

    Rows of functions that keep no more than `least` of their squared length are set to 0.
    """
    width = gram.shape[1]
    kept = np.zeros(gram.shape[:2], dtype=bool)
    for i in range(width):
        pivot = gram[:, i, i]
        kept[:, i] = (pivot > least[:, i]) & (pivot > 0.0)
        scale = np.where(kept[:, i], 1.0 / np.sqrt(np.where(kept[:, i], pivot, 1.0)), 0.0)
        row = gram[:, i, i + 1 :] * scale[:, np.newaxis]
        cross[:, i] *= scale[:, np.newaxis]
        gram[:, i + 1 :, i + 1 :] -= row[:, :, np.newaxis] * row[:, np.newaxis]
        cross[:, i + 1 :] -= row[:, :, np.newaxis] * cross[:, i, np.newaxis]
    return kept


def _by_dimension(cross: Array, kept: Mask, freedom: Index, leverages: Array, *, share: float, most: float) -> Array:
    """Logarithms of Roy's p-values, by the dimensions that were kept; 0 where single rows weigh too much."""
    roots = np.clip(largest_root(np.ascontiguousarray(cross)), 0.0, multiscale.LARGEST_ROOT)
    dimensions, size = np.count_nonzero(kept, axis=1), cross.shape[2]
    log_p = np.zeros(len(roots))
    for dimension in np.unique(dimensions[(dimensions > 0) & (dimensions + size < freedom - 1)]).tolist():
        those = np.flatnonzero((dimensions == dimension) & (dimension + size < freedom - 1))
        bounds, tabulated = leverages[those] / share**2, are_many(len(those))
        is_light = within_critical(bounds, (dimension, size), freedom[those], tabulated=tabulated)
        trusted = those[is_light & (leverages[those] <= most)]
        log_p[trusted] = _log_sf(roots[trusted], dimension, size, freedom[trusted])
    return log_p


def _log_sf(roots: Array, dimension: int, size: int, freedom: Index) -> Array:
    if len(roots) == 0 or freedom.min() == freedom.max():
        return log_sf(roots, dimension, size, int(freedom.min(initial=np.iinfo(np.int32).max)))
    return log_sf_of_many(roots, dimension, size, freedom)


def _height(residuals: Rows) -> float:
    """Largest leverage of a row."""
    return float((residuals**2).sum(axis=0).max())


def joined(*parts: Rows) -> Rows:
    """Functions (functions, rows), one after the other."""
    return namespace(parts[0]).concatenate(parts)


def orthonormal(functions: Rows, span: Rows, *, cut: float) -> Rows:
    """What functions (functions, rows) add to an orthonormal span, in their order."""
    found = functions[:0]
    lengths = (functions**2).sum(axis=1).tolist()
    # Once more removes what rounding left of functions that are nearly explained.
    for _ in range(2 if cut < CUT else 1):
        functions = functions - (functions @ span.T) @ span
    for function, length in zip(functions, lengths, strict=True):
        rest = function
        for _ in range(2):
            rest = rest - (found @ rest) @ found
        square = float(rest @ rest)
        if square > cut * length and square > 0.0:
            found = joined(found, rest[np.newaxis] / np.sqrt(square))
    return found
