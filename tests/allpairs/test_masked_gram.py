import numpy as np
import pytest

from renyi.allpairs import masked_gram
from renyi.allpairs.masked_gram import (
    Whitened,
    exact_leverages,
    forward,
    leverage_bounds,
    masked_sums,
    sharp_leverage_bounds,
)
from renyi.allpairs.masked_moments import distinct_masks, means_of_moments
from renyi.allpairs.stack import ROWS_FOR_FLOAT32, CellStack
from renyi.allpairs.tiles import groups
from renyi.basis.basis import RESTRICTED_CUT
from renyi.basis.product_moments import moments_of
from sample_tables import category, number


def columns_with_gaps(n, rng):
    """Prepared columns of one dimension: without ties, rounded, complete."""
    gaps = [rng.random(n) < 0.3, rng.random(n) < 0.2, None]
    values = [rng.standard_normal(n), np.round(rng.standard_normal(n), 1), rng.standard_normal(n)]
    return [number(column, gap) for column, gap in zip(values, gaps, strict=True)]


def masks_of(n, rng):
    return np.column_stack([rng.random(n) < share for share in (0.5, 0.8)] + [np.ones(n, dtype=bool)])


def observed(variable, n):
    return np.ones(n, dtype=bool) if variable.column.missing is None else ~variable.column.missing


def counts(variables, masks):
    return np.array([[np.count_nonzero(observed(v, len(masks)) & mask) for mask in masks.T] for v in variables])


def on_common_rows(variable, mask):
    """The nested basis of a column at the rows that it and the mask have."""
    own = observed(variable, len(mask))
    return variable.scales.basis.rows(0, own.sum())[mask[own]]


def restricted(variables, masks, *, columns=slice(None)):
    n = len(masks)
    stack = CellStack.of([v.scales.basis for v in variables], [v.column.missing for v in variables], n, columns=columns)
    return Whitened.of(stack, masks, counts(variables, masks), place="test")


def test_masks_are_told_apart_once(rng):
    gaps = [None, rng.random(20) < 0.5, None, rng.random(20) < 0.5]
    gaps.append(gaps[1].copy())
    masks, which = distinct_masks(gaps, 20)
    assert masks.shape == (20, 3)
    for column, gap in enumerate(gaps):
        np.testing.assert_array_equal(masks[:, which[column]], np.ones(20, dtype=bool) if gap is None else ~gap)


@pytest.mark.parametrize("n", [150, ROWS_FOR_FLOAT32 + 500])
def test_means_and_products_are_those_of_the_common_rows(n, rng):
    variables, masks = columns_with_gaps(n, rng), masks_of(n, rng)
    found = restricted(variables, masks)
    smooth = [v.scales.smooth for v in variables]
    stack = CellStack.of(
        [v.scales.basis for v in variables], [v.column.missing for v in variables], n, columns=slice(None)
    )
    own = np.array([observed(v, n) for v in variables])
    moments = moments_of(variables[0].prepared.basis.feature_map.projection)
    means = means_of_moments(moments, smooth, stack.codes, observed=own, masks=masks, n=counts(variables, masks))
    mixing = (np.stack([getattr(part, name) for part in smooth]) for name in ("weights", "intercept"))
    by_moments = Whitened.of_smooth(moments, means, *mixing, place="moments")
    # What moments leave of a product is 1e-8 at most.
    error = 1e-8 if n < ROWS_FOR_FLOAT32 else 1e-5
    for i, variable in enumerate(variables):
        for m, mask in enumerate(masks.T):
            rows = on_common_rows(variable, mask)
            for way in (found, by_moments):
                assert way.means[:, i, m] == pytest.approx(rows.mean(axis=0), abs=error)
                assert way.gram[:, :, i, m] == pytest.approx(np.cov(rows, rowvar=False, bias=True), abs=error)


def test_the_factor_makes_bases_orthonormal_and_keeps_them_nested(rng):
    n = 200
    variables, masks = columns_with_gaps(n, rng), masks_of(n, rng)
    white = restricted(variables, masks)
    assert white.is_regular.all()
    for i, variable in enumerate(variables):
        for m, mask in enumerate(masks.T):
            rows = on_common_rows(variable, mask)
            centred = (rows - white.means[:, i, m]).T
            one = white.at(np.array([i]), np.array([m]), place="one")
            orthonormal = one.solve(centred[:, :, np.newaxis])[:, :, 0]
            assert orthonormal @ orthonormal.T / len(rows) == pytest.approx(np.eye(20), abs=1e-8)
            expected = np.linalg.cholesky(np.cov(rows, rowvar=False, bias=True))
            assert one.factor[:, :, 0] == pytest.approx(expected, abs=1e-8)
            # Leading functions alone have the leading part of the same factor.
            assert one.solve(centred[:3, :, np.newaxis])[:, :, 0] == pytest.approx(orthonormal[:3])


def test_forward_substitution_solves_every_system(rng):
    factor = np.tril(rng.standard_normal((5, 4, 4))) + 3 * np.eye(4)
    right = rng.standard_normal((5, 4, 2))
    found = forward(np.moveaxis(factor, 0, -1), np.moveaxis(right, 0, -1))
    np.testing.assert_allclose(np.moveaxis(found, -1, 0), np.linalg.solve(factor, right), atol=1e-12)


def test_a_function_that_drops_out_is_told_and_spoils_nothing(rng):
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    two = category(codes), category(rng.permutation(codes))
    # Without the rows of the last level the second function has nothing left; without any row nothing has.
    masks = np.column_stack([codes < 2, np.zeros(100, dtype=bool), np.ones(100, dtype=bool)])
    white = restricted(two, masks)
    assert white.is_regular.tolist() == [[False, False, True], [True, False, True]]
    first = white.at(np.array([0, 0, 0]), np.array([0, 1, 2]), place="first")
    assert first.is_of_full_rank().tolist() == [False, False, True]
    assert np.isfinite(white.factor).all()
    assert np.isfinite(white.means).all()
    directions, dimensions = first.principal(np.arange(3), 2)
    assert dimensions.tolist() == [1, 0, 2]
    rows = on_common_rows(two[0], masks[:, 0])
    values = (rows - rows.mean(axis=0)) @ directions[0]
    assert np.sort(np.mean(values**2, axis=0)) == pytest.approx([0, 1], abs=1e-9)


def test_full_rank_is_decided_by_the_smallest_direction(rng):
    gram = np.stack([np.eye(3), np.diag([1.0, 1.0, 0.3]), np.diag([1.0, 1.0, 0.5 * RESTRICTED_CUT**2])], axis=-1)
    # Each function leaves more than the cut of the next, but a mixture of all falls below it.
    mixed = np.full((3, 3), 1.0) + np.diag([0.0, 1.6, 1.6]) * RESTRICTED_CUT**2
    gram = np.concatenate((gram, mixed[:, :, np.newaxis]), axis=-1)[:, :, np.newaxis]
    sums = np.concatenate((np.zeros((3, 1, 4)), gram[np.tril_indices(3)]))
    all_of_them = Whitened.of_sums(sums, np.ones((1, 4)), place="test")
    white = all_of_them.at(np.zeros(4, dtype=int), np.arange(4), place="test")
    assert white.is_regular.tolist() == [True, True, False, True]
    assert white.is_of_full_rank().tolist() == [True, True, False, False]
    assert white.principal(np.arange(4), 3)[1].tolist() == [3, 3, 2, 2]
    assert white.principal(np.arange(4), 2)[1].tolist() == [2, 2, 2, 1]


KINDS = {
    "number": lambda n, rng: rng.standard_normal(n),
    "rounded": lambda n, rng: np.round(rng.standard_normal(n)),
    "mostly zeros": lambda n, rng: np.maximum(rng.standard_normal(n) - 1, 0),
}


@pytest.mark.parametrize("kind", [*KINDS, "category"])
def test_leverages_are_those_of_the_restriction_and_bounds_are_never_below(kind, rng):
    n = 250
    gaps = rng.random(n) < 0.2
    if kind == "category":
        variable = category(rng.choice(5, n, p=[0.4, 0.3, 0.2, 0.06, 0.04]), gaps)
    else:
        variable = number(KINDS[kind](n, rng), gaps)
    masks = np.column_stack([rng.random(n) < share for share in (0.97, 0.8, 0.5, 0.3)] + [np.ones(n, dtype=bool)])
    both = restricted([variable], masks)
    n_masks = masks.shape[1]
    white = both.at(np.zeros(n_masks, dtype=int), np.arange(n_masks), place="test")
    regular = np.flatnonzero(white.is_regular)
    assert len(regular) >= 3
    exact = exact_leverages(variable.scales.basis, ~gaps, masks[:, regular], white.take(regular))
    for k, m in enumerate(regular):
        expected = variable.scales.on(masks[~gaps, m]).leverages
        assert exact[:, k] == pytest.approx(expected, rel=1e-8)
    own = variable.scales.leverages * variable.scales.basis.n_samples
    rows = counts([variable], masks)[0, regular]
    bounds = leverage_bounds(white.take(regular), np.tile(own[:, np.newaxis], len(regular)), rows)
    assert (bounds >= exact * (1 - 1e-9)).all()
    # On the column's own rows the bound is what it is.
    assert bounds[:, -1] == pytest.approx(exact[:, -1], rel=1e-6)


def test_sums_of_parts_of_the_rows_add_up_to_the_gram_matrix(rng):
    n = 200
    variables, masks = columns_with_gaps(n, rng), masks_of(n, rng)
    bases, missing = [v.scales.basis for v in variables], [v.column.missing for v in variables]
    whole = CellStack.of(bases, missing, n, columns=slice(5))
    parts = [whole.over([c[rows] for c in whole.codes], whole.places[rows]) for rows in (slice(0, 7), slice(7, n))]
    sums = masked_sums(parts[0], masks[:7]) + masked_sums(parts[1], masks[7:])
    found = Whitened.of_sums(sums, counts(variables, masks), place="sums")
    expected = restricted(variables, masks, columns=slice(5))
    np.testing.assert_allclose(found.means, expected.means, atol=1e-12)
    np.testing.assert_allclose(found.gram, expected.gram, atol=1e-12)


def test_bounds_by_eigenvalues_are_sharper_and_hold(rng):
    n = 250
    variable, masks = columns_with_gaps(n, rng)[0], masks_of(n, rng)[:, :2]
    n_common = counts([variable], masks)[0]
    side = restricted([variable], masks).at(np.zeros(2, dtype=int), np.arange(2), place="one")
    own = np.repeat(variable.scales.leverages[:, np.newaxis] * observed(variable, n).sum(), 2, axis=1)
    exact = exact_leverages(variable.scales.basis, observed(variable, n), masks, side)
    sizes = [1, 4, 20]
    rows = np.array(sizes) - 1
    sharp = sharp_leverage_bounds(side, own[rows], n_common, sizes)
    assert (sharp >= exact[rows] * (1 - 1e-9)).all()
    assert (sharp <= leverage_bounds(side, own, n_common)[rows] * (1 + 1e-9)).all()
    assert (sharp[-1] < leverage_bounds(side, own, n_common)[-1]).all()


@pytest.mark.parametrize("part", ["coefficient", "nested"])
def test_sums_over_masks_are_the_same_by_rows_and_by_cells(part, monkeypatch, rng):
    # Whole numbers of few values; half of the rows are missing in a column, and in masks of others.
    gaps, masks = rng.random((3, 400)) < 0.5, rng.random((400, 5)) < 0.5
    (group,) = groups([number(rng.integers(0, 30, 400).astype(float), gap) for gap in gaps])
    stack = getattr(group, part)
    assert stack.has_few_cells
    by_cells = masked_sums(stack, masks)
    monkeypatch.setattr(masked_gram, "_DIMENSION_BY_CELLS", np.inf)
    np.testing.assert_allclose(by_cells, masked_sums(stack, masks), atol=1e-10)
