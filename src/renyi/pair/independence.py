"""The tests of one pair: `independence_test`."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from renyi.basis import random_features
from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_correlations, cross_products, largest_correlation
from renyi.basis.random_features import Seed
from renyi.compute.arrays import Array, by_value, namespace
from renyi.compute.devices import as_torch, device_of
from renyi.compute.eigenvalues import most_of_root, sum_of_squares
from renyi.data.align import Missing, as_groups, as_pair, check_indexes, common_rows
from renyi.data.seasons import Adjustment, Detrend
from renyi.data.time import timeline
from renyi.errors import CalibrationWarning, InputError, check_choice, check_integer
from renyi.inference import contingency, multiscale
from renyi.inference.classical import bartlett, spectral
from renyi.inference.multiscale import Block, LogTail
from renyi.inference.permutation import (
    ROUNDING,
    ROUNDING_OF_LOGARITHMS,
    Exchange,
    Groups,
    Permuted,
    Statistic,
    are_permuted_together,
    in_own_order,
    permuted_pvalue,
)
from renyi.inference.permuted_blocks import Observed, permuted_together
from renyi.inference.roy import log_sf, log_sf_of_many
from renyi.inference.serial import check_order
from renyi.pair import series, showing
from renyi.pair.bases import columns_on, for_both, pair_of_bases
from renyi.pair.prepare import DEFAULT_SETTINGS, Prepared, prepare, together
from renyi.pair.result import TestResult
from renyi.pair.settings import Rng

Method = Literal["auto", "roy", "bartlett", "spectral", "permutation"]
_MOST_RESAMPLES = 10**8
_DRAWS_WITHOUT_TABLE = 256
# A device draws other permutations than NumPy, whose own are used as long as they take no time: less than 0.3 s.
# 9,999 permutations are drawn on the device from 16,384 rows on.
_LEAST_DRAWN_THERE = 9999 * 2**14
# The whole basis of the coefficient bears more leverage than a block, where tails to 10⁻³ are not asked for.
_TRUSTED_SHARE_OF_ROY = 0.55
# Vectors of 5 and 1,000 rows had a size of 0.076 between the two shares.
_TRUSTED_SHARE_OF_ROY_FOR_VECTORS = 0.45


def independence_test(
    x: Any,
    y: Any,
    *,
    method: Method = "auto",
    n_resamples: int = 9999,
    time: Any = None,
    groups: Any = None,
    exchange: Exchange = "within",
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
    order: Literal["check"] | None = "check",
    missing: Missing = "raise",
    device: Any = None,
    rng: Rng = None,
) -> TestResult:
    """Whether two variables depend on each other: a p-value, the strength, and an interval for it.

    The default looks at functions of x and y on every scale at once, from a monotone trend to twenty waves, and needs
    no setting. Its p-value comes from a null distribution, without permutations, wherever that holds. Rows are taken to
    be independent of one another; where they are not pass `time` or `groups`.

    Parameters
    ----------
    x, y : array-like of shape (n,) or (n, d), or a category
        As in `renyi.rdc`.
    method : {"auto", "roy", "bartlett", "spectral", "permutation"}, default "auto"
        "auto" is the test on every scale. The others test the coefficient `renyi.rdc`, or its features, as they are:
        "roy" by the null distribution of the largest canonical correlation, "bartlett" by the paper's χ² for
        all of them, "spectral" by the weighted χ² of kernel tests, "permutation" by permuting rows.
    n_resamples : int, default 9999
        Permutations at most, where permutations are needed: drawing stops once the answer is clear.
    time : True or array-like of shape (n,), optional
        Rows are a series: True where they are in order and equally far apart, or a stamp for every row. The p-value
        is then by shifts of one series against the other (docs/how-to/time-series.md), which takes no permutations.
    groups : array-like of shape (n,), optional
        Labels of rows that belong together: the p-value then comes from permutations that respect them. With `time`
        each group is a series of its own, as in a panel.
    exchange : {"within", "whole"}, default "within"
        With `groups`: permute rows within their group (units that differ), or whole groups of equal size, rows in their
        order (repeated measurements).
    detrend : {"difference", "linear"}, optional
        With `time`: compare changes from row to row, or what a straight line leaves of every series, rather than the
        values. Categories stay as they are.
    period : int or sequence of int, optional
        With `time`: take out a season of so many rows, or several. Every row is ranked among those at its place in the
        period (docs/how-to/time-series.md).
    order : {"check", None}, default "check"
        Whether to look if x and y resemble their own previous rows, which `notes` of the result then say. None where
        the order of rows means nothing.
    missing : {"raise", "pairwise", "listwise"}, default "raise"
        As in `renyi.rdc`.
    device : str or torch.device, optional
        As in `renyi.rdc`; from 16,384 rows on, or where more permutations are asked for on fewer, the device draws its
        own. It takes no `time` and no `groups` yet.
    rng : int, numpy.random.Generator or None, default None
        For the frequencies of the coefficient and for permutations. None is one fixed draw.

    Returns
    -------
    TestResult
        With `statistic`, `pvalue`, `log_pvalue`, `coefficient`, `debiased`, `scale`, `confidence_interval()`; unpacks
        as `statistic, pvalue`.

    Raises
    ------
    InputError
        As `renyi.rdc`.

    Warns
    -----
    CalibrationWarning
        If method="roy" is asked for where single rows weigh so heavily that its null distribution fails.

    Notes
    -----
    "auto": each column has a basis of functions of its ranks, smooth to rough, and every block of leading functions of
    x and y gives a p-value by Roy's distribution. The weighted harmonic mean H of these p-values has a null
    distribution that depends on the blocks through their effective number alone; docs/explanation/test.md has the
    family, the null distribution, and the studies of size and power. Blocks in which a single row weighs too much are
    left out beforehand, and if none is left the p-value comes from permutations, which `n_resamples` and `floor` of the
    result say.

    References
    ----------
    .. [1] D. Lopez-Paz, P. Hennig, B. Schölkopf, "The Randomized Dependence Coefficient", NIPS 2013,
       https://doi.org/10.48550/arXiv.1304.7717
    .. [2] M. Chiani, "Distribution of the largest root of a matrix for Roy's test in multivariate analysis of
       variance", 2016, https://doi.org/10.1016/j.jmva.2015.10.007
    .. [3] K. Zhang, J. Peters, D. Janzing, B. Schölkopf, "Kernel-based conditional independence test and application
       in causal discovery", UAI 2011, https://doi.org/10.48550/arXiv.1202.3775

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 300)
    >>> y = x**2 + rng.normal(0, 0.3, 300)
    >>> result = renyi.independence_test(x, y)
    >>> low, high = result.confidence_interval()
    >>> print(f"strength {result.strength:.2f}, {low:.2f} to {high:.2f}, p = {result.pvalue:.0e}")
    strength 0.76, 0.71 to 0.81, p = 7e-46
    >>> result = renyi.independence_test(x, rng.permutation(y))
    >>> print(f"strength {result.strength:.2f}, p = {result.pvalue:.2f}")
    strength 0.08, p = 0.56
    """
    check_choice(method, Method, "method")
    check_choice(exchange, Exchange, "exchange")
    check_resamples(n_resamples)
    x, y = as_torch(x), as_torch(y)
    place = device_of(device, x, y)
    if place is not None:
        if groups is not None or time is not None:
            raise InputError("groups are not permuted on a device yet, nor is time: pass NumPy arrays and device=None")
        x, y = columns_on(place, x, y)
    (seed,) = random_features.seeds(rng, n_draws=1)
    pair = as_pair(x, y, missing=missing)
    check_order(order)
    adjustment = Adjustment.of(detrend, period)
    if time is not None:
        _check_series(method, exchange)
        check_indexes(x, y, *(part for part in (time, groups) if part is not True))
        # A row that is left out would tear a hole into time.
        pair = as_pair(x, y, missing="pairwise") if missing == "listwise" else pair
        result = series.tested(pair, timeline(time, groups, len(pair[0])), adjustment, seed)
        return replace(result, columns=showing.kept(pair))
    if adjustment:
        raise InputError("detrend and period are for series: pass time=True, or a stamp for each row, too")
    together_rows = _groups(groups, exchange, x, y)
    if together_rows is not None and method not in ("auto", "permutation"):
        raise InputError(f"method={method!r} takes rows as independent: with groups pass 'auto' or 'permutation'")
    permutations = Permutations(int(n_resamples), seed, together_rows, device=place)
    if method == "auto":
        sides = for_both(lambda column: prepare(column, seed), pair)
        result = on_every_scale(*together(pair, sides), permutations)
        if order is not None and groups is None:
            note = series.note_on_order(pair, [side.scales for side in sides])
            result = replace(result, notes=(note,) if note else ())
    else:
        result = on_the_coefficient(pair_of_bases(pair, DEFAULT_SETTINGS, seed), method, permutations)
    # Rows are named as the user counts them, also where those with a missing cell were dropped.
    whole = as_pair(x, y, missing="pairwise") if missing == "listwise" else pair
    return replace(result, common=common_rows(*whole), columns=showing.kept(whole))


@dataclass(frozen=True)
class Permutations:
    """How rows are to be permuted, if they are, and whether many pairs are, for which tables pay."""

    n_resamples: int
    seed: Seed
    groups: Groups | None
    are_many: bool = False
    device: Any = None

    def test(self, result: TestResult, x: Basis, y: Basis, statistic: Statistic, /, *, rounding: float) -> TestResult:
        """A result with its p-value."""
        return self.tested(result, self._pvalue(x, y, statistic, result.statistic, rounding))

    def takes_one_by_one(self, n: int, /) -> bool:
        """Whether pairs of so many rows are permuted one after the other."""
        return self.groups is not None or self.device is not None or not are_permuted_together(n)

    def pvalues(self, pairs: "Sequence[Waiting]", /) -> list[Permuted]:
        """Of pairs on as many rows, or of one."""
        n = pairs[0].x.n_samples
        if self.takes_one_by_one(n):
            return [
                self._pvalue(pair.x, pair.y, _Permuted(pair, self), pair.observed, ROUNDING_OF_LOGARITHMS)
                for pair in pairs
            ]
        observed = [pair.in_own_order() for pair in pairs]
        return permuted_together(observed, n_resamples=self.n_resamples, seed=self.seed.for_rows(n))

    def _pvalue(self, x: Basis, y: Basis, statistic: Statistic, observed: float, rounding: float) -> Permuted:
        """Of one pair; the draws depend on n and the seed alone, so that one pair and a table agree."""
        is_much = x.n_samples * self.n_resamples >= _LEAST_DRAWN_THERE
        return permuted_pvalue(
            x,
            y,
            statistic,
            observed=observed,
            rounding=rounding,
            n_resamples=self.n_resamples,
            seed=self.seed.for_rows(x.n_samples),
            groups=self.groups,
            device=self.device if is_much else None,
        )

    def tested(self, result: TestResult, found: Permuted, /) -> TestResult:
        """A result with its p-value."""
        floor = 1.0 / (1 + self.n_resamples)
        if self.groups is not None:
            floor = max(floor, float(np.exp(-self.groups.log_arrangements)))
        return result.by_permutation(found.pvalue, n_drawn=found.n_drawn, floor=floor)


def check_resamples(n_resamples: Any, /) -> None:
    """Refuse what is no number of permutations."""
    check_integer(n_resamples, "n_resamples", 1, _MOST_RESAMPLES)


def _check_series(method: Method, exchange: Exchange) -> None:
    """Refuse what means nothing for rows in time."""
    if method != "auto":
        raise InputError(f"method={method!r} takes rows as independent: with time pass 'auto'")
    if exchange != "within":
        raise InputError("exchange='whole' is for groups without time: with time each group is a series of its own")


def _groups(groups: Any, exchange: Exchange, x: Any, y: Any) -> Groups | None:
    """The groups of the rows that are used."""
    if groups is None:
        if exchange != "within":
            raise InputError(f"exchange={exchange!r} says how groups change places, and there are none: pass groups")
        return None
    codes, rows = as_groups(groups, x, y)
    if rows is not None and exchange == "whole":
        raise InputError(
            "groups that change places as a whole must be complete, and rows are missing: leave out such groups"
        )
    return Groups(np.unique(codes if rows is None else codes[rows], return_inverse=True)[1], exchange)


class Crosses(NamedTuple):
    """Mean products of two columns as the coefficient and as the test see them."""

    coefficient: Array
    nested: Array

    @classmethod
    def of(cls, x: Prepared, y: Prepared, /, *, device: Any = None) -> "Crosses":
        if x.basis is x.scales.basis and y.basis is y.scales.basis:
            # Categories have one basis for both.
            cross = cross_products(x.basis, y.basis, device=device)
            return cls(cross, cross)
        if device is None:
            return cls(cross_products(x.basis, y.basis), multiscale.products(x.scales, y.scales))
        return cls(
            *(cross_products(*sides, device=device) for sides in ((x.basis, y.basis), (x.scales.basis, y.scales.basis)))
        )


def on_every_scale(
    x: Prepared, y: Prepared, permutations: Permutations, /, *, crosses: Crosses | None = None
) -> TestResult:
    """The multi-scale test: by theory if a block can be trusted, by permutation if none can or rows belong together.

    `crosses` are known already where the rows are read in batches.
    """
    result, waiting = as_observed(x, y, permutations, crosses=crosses)
    if waiting is None:
        return result
    return permutations.tested(result, permuted([waiting], permutations)[0])


def as_observed(
    x: Prepared, y: Prepared, permutations: Permutations, /, *, crosses: Crosses | None = None
) -> "tuple[TestResult, Waiting | None]":
    """The same, but where rows are to be permuted for the p-value, what is needed for that beside the rest."""
    bases, scales, n = (x.basis, y.basis), (x.scales, y.scales), x.basis.n_samples
    family = multiscale.family(*scales)
    if not family:
        raise InputError(f"{n:,} rows are too few to test independence on: pass more rows")
    trusted = multiscale.trusted(family, *scales) if permutations.groups is None else ()
    crosses = crosses or Crosses.of(x, y, device=permutations.device)
    are_tables = permutations.groups is None and all(side.has_many_levels for side in scales)
    table = contingency.widest_block(*bases) if are_tables else None
    blocks: tuple[Block, ...] = trusted if trusted or table else multiscale.bearable(family, *scales)
    roots = multiscale.block_roots(crosses.nested, blocks)
    log_p = [float(log_sf(root, *block, n)) for root, block in zip(roots, blocks, strict=True)]
    if table is not None:
        # One more block, with a null distribution of its own.
        blocks, log_p = (*blocks, table), [*log_p, contingency.log_pvalue(crosses.coefficient, table, *bases)]
    evidence = multiscale.log_weights(blocks) - np.array(log_p)
    log_mean = float(multiscale.log_harmonic_mean(evidence))
    result = TestResult(
        statistic=-log_mean,
        pvalue=1.0,
        log_pvalue=0.0,
        method="auto",
        coefficient=largest_correlation(crosses.coefficient),
        n_samples=n,
        bases=bases,
        scale=blocks[int(np.argmax(evidence))],
    )
    if trusted or table:
        return result.by_theory(float(multiscale.log_pvalue_of_pair(log_mean, blocks, *scales))), None
    if not all(side.basis.is_kept for side in scales):
        return replace(result, pvalue=np.nan, log_pvalue=np.nan), None  # there are no rows to permute
    return result, Waiting(scales[0].basis, scales[1].basis, blocks, -log_mean)


class Waiting(NamedTuple):
    """A pair whose rows are to be permuted: its nested bases, blocks, and the statistic as it was observed."""

    x: Basis
    y: Basis
    blocks: tuple[Block, ...]
    observed: float

    def in_own_order(self) -> Observed:
        """Rows and sides in an order that depends on what they hold alone."""
        x, y, is_turned = in_own_order(self.x, self.y)
        blocks = tuple((b, a) for a, b in self.blocks) if is_turned else self.blocks
        return Observed(x.rows(0, x.n_samples), y.rows(0, y.n_samples), blocks, self.observed)


def permuted(pairs: Sequence[Waiting], permutations: Permutations, /) -> list[Permuted]:
    """P-values of pairs by permutation, those on as many rows together if these are few, each as it is by itself."""
    found: dict[int, Permuted] = {}
    for places, _ in by_value(np.array([pair.x.n_samples for pair in pairs])):
        some = np.arange(len(pairs))[places].tolist()
        found |= zip(some, permutations.pvalues([pairs[k] for k in some]), strict=True)
    return [found[k] for k in range(len(pairs))]


class _Permuted:
    """Statistics of permuted rows of a pair; −∞ where far below the observed one, which alone is asked of them."""

    def __init__(self, pair: Waiting, permutations: Permutations, /) -> None:
        self._blocks, self._n, self._observed, self._permutations = (
            pair.blocks,
            pair.x.n_samples,
            pair.observed,
            permutations,
        )
        self._n_drawn = 0

    def __call__(self, cross: Array, /) -> Array:
        """Of products (m, a, b)."""
        # Many answers are clear after a few permutations; for the others tables of the null distribution pay.
        self._n_drawn += len(cross)
        if self._permutations.device is not None:
            return self._statistic(cross, log_sf_of_many)
        if not (self._permutations.are_many or self._n_drawn > _DRAWS_WITHOUT_TABLE):
            return self._statistic(cross, log_sf)
        # Where the p-value is small most fall short by far, which bounds tell, the cheapest first.
        found, places = np.full(len(cross), -np.inf), np.arange(len(cross))
        for bound in (sum_of_squares, most_of_root):
            roots = multiscale.block_roots(cross, self._blocks, root=bound)
            may_reach = np.flatnonzero((roots >= self._least).any(axis=-1))
            if len(may_reach) < len(places):
                places, cross = places[may_reach], cross[may_reach]
        found[places] = self._statistic(cross, log_sf_of_many)
        return found

    @cached_property
    def _least(self) -> Array:
        return multiscale.least_roots(np.array(self._observed), self._blocks, self._n)

    def _statistic(self, cross: Array, log_tail: LogTail) -> Array:
        roots = multiscale.block_roots(cross, self._blocks)
        return -multiscale.log_harmonic_mean(multiscale.log_evidence(roots, self._blocks, self._n, log_tail=log_tail))


def on_the_coefficient(bases: tuple[Basis, Basis], method: Method, permutations: Permutations, /) -> TestResult:
    """Tests of the canonical correlations behind the coefficient."""
    x, y = bases
    cross = cross_products(x, y, device=permutations.device)
    correlations = canonical_correlations(cross)
    largest = float(correlations[0])
    result = TestResult(
        statistic=largest,
        pvalue=1.0,
        log_pvalue=0.0,
        method=method,
        coefficient=largest,
        n_samples=x.n_samples,
        bases=bases,
    )
    if method == "permutation":
        return permutations.test(result, x, y, _largest, rounding=ROUNDING)
    if method == "roy":
        _warn_of_leverage(x, y)
        return result.by_theory(float(log_sf(np.array(largest**2), x.dimension, y.dimension, x.n_samples)))
    if method == "bartlett":
        statistic, log_pvalue = bartlett(correlations, (x.dimension, y.dimension), x.n_samples)
    else:
        statistic, log_pvalue = spectral(cross, x, y)
    return replace(result, statistic=statistic).by_theory(log_pvalue)


def _largest(cross: Array) -> Array:
    """Largest canonical correlations of a batch of products."""
    roots = multiscale.block_roots(cross, [(cross.shape[1], cross.shape[2])])[:, 0]
    found: Array = namespace(roots).sqrt(roots)
    return found


def _warn_of_leverage(x: Basis, y: Basis) -> None:
    leverages = x.largest_leverage * y.largest_leverage
    has_vector = x.codes is None or y.codes is None
    share = _TRUSTED_SHARE_OF_ROY_FOR_VECTORS if has_vector else _TRUSTED_SHARE_OF_ROY
    if not multiscale.is_trusted(leverages, (x.dimension, y.dimension), x.n_samples, share=share):
        warnings.warn(
            "single rows weigh heavily in both variables, and there method='roy' finds too much: "
            "use method='auto' or 'permutation'",
            CalibrationWarning,
            stacklevel=4,
        )
