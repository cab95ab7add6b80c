"""The test of one pair given others: `conditional_test`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from renyi.basis.basis import Basis
from renyi.basis.canonical import canonical_correlations
from renyi.basis.orthonormal import orthonormalised
from renyi.compute.arrays import Array, Index
from renyi.data.align import Missing, as_conditional, check_indexes, with_given
from renyi.data.column import labels_of
from renyi.data.seasons import Adjustment, Detrend
from renyi.data.time import timeline
from renyi.errors import InputError, check_choice
from renyi.inference import multiscale
from renyi.inference.multiscale import Block
from renyi.pair import conditional_series, showing
from renyi.pair.conditioning import Explained, Fixed, Target, products
from renyi.pair.residuals import CUT, Left, measured, relative_errors, residuals
from renyi.pair.result import TestResult

Method = Literal["auto"]

# Levels of roughness of x and y that are looked at together; a scalar has one function a level.
_FAMILY: tuple[Block, ...] = ((1, 1), (3, 1), (1, 3), (2, 2), (6, 1), (1, 6), (4, 4))
# Products of functions of x with coordinates of z, while these are few: dependence whose sign changes with z.
_MOST_PRODUCTS, _ROWS_PER_PRODUCT = 10, 20

# Where single rows weigh too much, so many are left out at most; docs/how-to/conditional.md, "Single rows".
_MOST_LEFT_OUT = 3


def conditional_test(
    x: Any,
    y: Any,
    z: Any,
    *,
    method: Method = "auto",
    missing: Missing = "raise",
    time: Any = None,
    groups: Any = None,
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
) -> TestResult:
    """Whether x and y still depend on each other when z is held fixed: a p-value and the remaining strength.

    Asks whether x and y still depend on one another once everything that smooth functions of z explain has been taken
    out of both. No test of this kind holds for every way in which x and y may depend on z: where the effect of z is
    too rough for the rows at hand, what is left of it looks like dependence (Notes).

    Parameters
    ----------
    x, y : array-like of shape (n,) or (n, d), or a category
        As in `renyi.rdc`.
    z : array-like of shape (n,) or (n, d), a category, a frame, or a list or dict of such columns
        What is held fixed. Every column of a frame counts by its own type.
    method : {"auto"}, default "auto"
        The multi-scale test on what z leaves.
    missing : {"raise", "listwise"}, default "raise"
        "listwise" drops rows where anything is missing.
    time : True or array-like of shape (n,), optional
        For rows in time, as in `renyi.independence_test`: the p-value then takes into account what x and y remember of
        their own past. z is held fixed as it is now; where its past counts, pass that as a part of z.
    groups : array-like of shape (n,), optional
        With `time`: which series each row belongs to. What sets whole series apart is held fixed, too.
    detrend, period
        With `time`: what to take out of x, y and z first, as in `renyi.independence_test`.

    Returns
    -------
    TestResult
        `coefficient` and `debiased` measure what is left: the largest correlation of smooth functions of the two
        residuals. `left_out` has the rows that were left out because each would decide alone.

    Raises
    ------
    InputError
        As `renyi.rdc`; also if z determines x or y, so that nothing is left to test, if z takes up all rows, and if
        more than three single rows weigh too much.

    Notes
    -----
    z becomes about n/4 features, 400 at most: its values, smooth functions of each coordinate, products of pairs,
    smooth functions of the direction that explains x best and of the one that explains y best, and random cosines. x
    and y are regressed on them, their residuals ranked, expanded from smooth to rough and regressed once more; entries
    of their cross products are divided by their standard errors, so that noise which varies with z does not count; and
    blocks of them are combined as in `renyi.independence_test`, with as many degrees of freedom less as z takes.
    Everything is deterministic.

    The size is near 5 % where effects of z are additive, of single variables, or a smooth function of one projection,
    for one and for five variables from n = 500 on. It is far above where x and y follow a fast wave along a projection
    of five variables, or rough functions of several projections: docs/validation/conditional.md has the numbers. Rows
    are taken to be independent of one another; with `time` products of what z leaves are compared with those of shifts
    instead (docs/how-to/time-series.md).

    References
    ----------
    .. [1] E. V. Strobl, K. Zhang, S. Visweswaran, "Approximate kernel-based conditional independence tests for fast
       non-parametric causal discovery", J. Causal Inference 7, 2019, https://doi.org/10.48550/arXiv.1702.03877
    .. [2] R. D. Shah, J. Peters, "The hardness of conditional independence testing and the generalised covariance
       measure", Ann. Statist. 48, 2020, https://doi.org/10.48550/arXiv.1804.07203

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(500)
    >>> x, y = z**2 + rng.standard_normal(500), np.sin(z) + z**2 + rng.standard_normal(500)
    >>> print(f"{renyi.independence_test(x, y).pvalue:.0e}")  # z causes both
    2e-50
    >>> print(f"{renyi.conditional_test(x, y, z).pvalue:.2f}")
    0.63
    """
    check_choice(method, Method, "method")
    check_choice(missing, Missing, "missing")
    if time is not None:
        check_indexes(x, y, *(part for part in (time, groups) if part is not None and part is not True))
        pair, given = with_given(x, y, z, missing=missing)
        return conditional_series.tested(
            pair, given, timeline(time, groups, len(pair[0])), Adjustment.of(detrend, period)
        )
    if groups is not None or detrend is not None or period is not None:
        raise InputError(
            "groups, detrend and period of a conditional test are for series: pass time=True, or a stamp for each row"
        )
    pair, given, rows = as_conditional(x, y, z, missing=missing)
    return told((Target(pair[0]), Target(pair[1])), Fixed(given), rows)


def told(pair: tuple[Target, Target], given: Fixed, rows: Index, /) -> TestResult:
    """The test of two variables with all that its result tells; `rows` are the places of theirs in what came in."""
    found = given_fixed(pair, given)
    left_out = tuple(sorted(int(rows[place]) for place in found.left_out))
    names = tuple(column.name for column in given.columns)
    return replace(found, left_out=left_out, columns=showing.kept([side.column for side in pair]), given=names)


def given_fixed(pair: tuple[Target, Target], given: Fixed, /) -> TestResult:
    """The test of two variables given what is held fixed; `left_out` has places among their rows."""
    rows = np.arange(len(pair[0].column))
    left_out: list[int] = []
    while True:
        try:
            x_left, y_left, explained = residuals(pair, given)
        except InputError:
            if not left_out:
                raise
            break
        blocks = _trusted(x_left, y_left, len(rows) - explained.freedom + 1)
        if blocks:
            return replace(_test(x_left, y_left, given.coordinates, explained, blocks), left_out=tuple(left_out))
        heaviest = _heaviest_row(x_left, y_left)
        others = np.arange(len(rows)) != heaviest
        pair = Target(pair[0].column.take(others)), Target(pair[1].column.take(others))
        given = Fixed([column.take(others) for column in given.columns])
        is_constant = any((side.column.values == side.column.values[0]).all() for side in pair)
        if len(left_out) == _MOST_LEFT_OUT or is_constant:
            break
        left_out.append(int(rows[heaviest]))
        rows = rows[others]
    raise InputError(
        f"single rows weigh too heavily in what {labels_of(given.columns)} leaves of "
        f"{labels_of([side.column for side in pair])} on {len(rows) + len(left_out):,} rows: pass more rows, or fewer "
        "rare levels"
    )


def _test(x: Left, y: Left, z: Array, explained: Explained, blocks: list[Block]) -> TestResult:
    """Blocks of what is left, by Roy's distribution with the rows that z leaves."""
    n = len(z)
    cross = x.basis.T @ y.basis / n
    roots = list(multiscale.block_roots(cross / relative_errors(x.basis, y.basis, explained), blocks))
    leading = x.basis[:, : x.size(1)], y.basis[:, : y.size(1)]
    if max(part.shape[1] for part in leading) * z.shape[1] <= min(_MOST_PRODUCTS, n // _ROWS_PER_PRODUCT):
        for own, other, is_turned in ((*leading, False), (*leading[::-1], True)):
            size, root = _root_of_products(own, other, z, explained)
            blocks.append((other.shape[1], size) if is_turned else (size, other.shape[1]))
            roots.append(root)
    rows = n - explained.freedom + 1
    evidence = multiscale.log_evidence(np.array(roots), blocks, rows)
    log_mean = float(multiscale.log_harmonic_mean(evidence))
    a, b = measured(x, y, rows)
    result = TestResult(
        statistic=-log_mean,
        pvalue=1.0,
        log_pvalue=0.0,
        method="auto",
        coefficient=float(canonical_correlations(cross[:a, :b])[0]),
        n_samples=n,
        bases=(Basis(x.basis[:, :a], None, None), Basis(y.basis[:, :b], None, None)),
        scale=blocks[int(np.argmax(evidence))],
        n_explained=explained.freedom - 1,
    )
    return result.by_theory(float(multiscale.log_pvalue_of_many_rows(log_mean, blocks)))


def _trusted(x: Left, y: Left, n: int) -> list[Block]:
    """Blocks in which no single row weighs too much, as in `renyi.independence_test`."""
    blocks = multiscale.within_reach(((x.size(a), y.size(b)) for a, b in _FAMILY), n)
    of_x, of_y = (np.cumsum(left.basis**2, axis=1).max(axis=0) / len(left.basis) for left in (x, y))
    return list(multiscale.light(blocks, (of_x, of_y), n, share=multiscale.TRUSTED_SHARE))


def _heaviest_row(x: Left, y: Left) -> int:
    """The row that weighs most in the smoothest functions of one side.

    One side alone decides: what is left out by x is independent of y given z where x is, so that the others still are.
    """
    weights = [np.sum(left.basis[:, : left.size(1)] ** 2, axis=1) for left in (x, y)]
    return int(np.argmax(max(weights, key=np.max)))


def _root_of_products(own: Array, other: Array, z: Array, explained: Explained) -> tuple[int, float]:
    """Functions of one side and their products with z: how many there are, and their largest root with the other."""
    crossed = explained.residuals(products(own, z))
    basis, *_ = orthonormalised(np.concatenate((own, crossed), axis=1), cut=CUT)
    cross = basis.T @ other / len(z) / relative_errors(basis, other, explained)
    return len(cross), float(multiscale.block_roots(cross, [(cross.shape[0], cross.shape[1])])[0])
