from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from renyi.basis.basis import RowlessBasis
from renyi.basis.canonical import cross_products
from renyi.basis.cosine import MOST_FUNCTIONS
from renyi.basis.nested import category_scales
from sample_scales import number, vector


def dense(scales):
    return scales.basis.rows(0, scales.basis.n_samples)


def examples(rng):
    return {
        "number": number(rng.standard_normal(200)),
        "tied number": number(np.round(rng.standard_normal(200))),
        "mostly zeros": number(np.maximum(rng.standard_normal(200) - 1, 0)),
        "long number": number(rng.standard_normal(40_000), n_cells=8192),
        "vector": vector(rng.standard_normal((300, 3))),
        "tied vector": vector(np.round(rng.standard_normal((300, 2)))),
        "category": category_scales(rng.integers(0, 5, 200)),
    }


def test_scales_are_centred_and_orthonormal(rng):
    for name, scales in examples(rng).items():
        rows = dense(scales)
        assert rows.mean(axis=0) == pytest.approx(0, abs=1e-9), name
        assert rows.T @ rows / len(rows) == pytest.approx(np.eye(rows.shape[1]), abs=1e-9), name


@pytest.mark.parametrize("decimals", [8, 1, 0])
def test_first_function_gives_spearmans_coefficient(decimals, rng):
    x = np.round(rng.standard_normal(150), decimals)
    y = np.round(x + rng.standard_normal(150), decimals)
    first = cross_products(number(x).basis, number(y).basis)[0, 0]
    assert first == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_functions_run_from_smooth_to_rough(rng):
    x = np.sort(rng.standard_normal(1000))
    turns = (np.diff(np.sign(dense(number(x))), axis=0) != 0).sum(axis=0)
    assert turns.tolist() == list(range(1, MOST_FUNCTIONS + 1))


def test_number_of_functions_follows_the_distinct_values(rng):
    assert number(rng.integers(0, 2, 100)).basis.dimension == 1
    assert number(rng.integers(0, 5, 100)).basis.dimension == 4
    assert number(rng.standard_normal(12)).basis.dimension == 11
    assert number(rng.standard_normal(100)).basis.dimension == MOST_FUNCTIONS


def test_a_function_that_speaks_of_one_row_in_a_hundred_thousand_is_left_out(rng):
    x = np.zeros(100_000)
    x[rng.permutation(100_000)[:50_000]] = 1.0
    x[0] = 2.0
    assert number(x).basis.dimension == 1


def test_columns_without_ties_share_their_table_and_leverages(rng):
    a, b = number(rng.standard_normal(300)), number(rng.standard_cauchy(300))
    assert a.basis.table is b.basis.table
    assert a.leverages is b.leverages


def test_numbers_with_one_value_nearly_everywhere_are_like_levels(rng):
    x = rng.standard_normal(200)
    assert not number(x).has_levels
    assert not number(np.where(rng.random(200) < 0.6, 0.0, x)).has_levels
    assert number(np.where(rng.random(200) < 0.95, 0.0, x)).has_levels
    assert category_scales(rng.integers(0, 2, 200)).has_levels


def test_ties_are_the_share_of_equal_pairs(rng):
    for values in (rng.integers(0, 5, 40), np.round(rng.standard_normal(60), 1), rng.standard_normal(30)):
        equal = [values[i] == values[j] for i in range(len(values)) for j in range(i)]
        assert number(values).ties == pytest.approx(np.mean(equal))
    levels = rng.integers(0, 3, 50)
    assert category_scales(levels).ties == pytest.approx(number(levels).ties)
    assert vector(rng.standard_normal((50, 2))).ties == 0


def test_few_ties_are_at_most_six_in_a_hundred_pairs_of_one_column_and_25_of_the_other(rng):
    free, few, some, many = (np.arange(20.0) for _ in range(4))
    few[:5] = 0.0  # 10 of 190 pairs
    some[:10] = 0.0  # 45 of 190
    many[:11] = 0.0  # 55 of 190
    for x, y in ((free, free), (few, few), (free, some), (some, few)):
        assert number(x).has_few_ties_beside(number(y))
    for x, y in ((some, some), (free, many), (many, few)):
        assert not number(x).has_few_ties_beside(number(y))
        assert not number(y).has_few_ties_beside(number(x))
    assert not number(free).has_few_ties_beside(category_scales(np.arange(20)))
    assert not vector(rng.standard_normal((50, 2))).has_few_ties_beside(number(free))


def test_a_part_of_the_rows_has_its_own_ties(rng):
    x = rng.standard_normal(200)
    rows = rng.random(200) < 0.3
    for values in (x, np.where(rng.random(200) < 0.95, 0.0, x), np.round(x, 1), np.round(x)):
        part, alone = number(values).on(rows), number(values[rows])
        assert part.ties == alone.ties
        assert part.has_few_ties_beside(part) == alone.has_few_ties_beside(alone)
        assert part.has_levels == alone.has_levels
        assert part.log_arrangements == pytest.approx(alone.log_arrangements)
    assert number(x).on(rows).log_arrangements == pytest.approx(gammaln(np.count_nonzero(rows) + 1))


def test_ties_are_counted_again_only_where_they_could_matter():
    values = np.maximum(np.arange(100.0), 20.0)  # 21 equal ones, 0.04 of the pairs
    many, few = number(values).on(np.arange(100) > 10), number(values).on(np.arange(100) < 45)
    assert not many.has_levels
    assert "ties" not in vars(many)
    assert not few.has_levels
    assert number(values).on(np.arange(100) < 22).has_levels


def test_leverages_are_those_of_the_hat_matrix(rng):
    for name, scales in examples(rng).items():
        rows = dense(scales)
        for size in (1, rows.shape[1]):
            q = np.linalg.qr(rows[:, :size])[0]
            assert scales.leverages[size - 1] == pytest.approx(np.max(np.sum(q**2, axis=1)), rel=1e-6), name


def test_vectors_have_their_linear_ranks_first(rng):
    values = rng.standard_normal((250, 3))
    scales = vector(values)
    ranks = stats.rankdata(values, axis=0)
    leading = dense(scales)[:, :3]
    residual = (ranks - ranks.mean(axis=0)) - leading @ (leading.T @ ranks) / 250
    assert scales.sizes == (3, 9, 21, scales.basis.dimension)
    assert scales.basis.dimension > 21
    assert np.abs(residual).max() < 1e-9


def test_vectors_with_equal_coordinates_have_fewer_linear_ranks(rng):
    x = rng.standard_normal(200)
    assert vector(np.column_stack([x, np.exp(x), rng.standard_normal(200)])).sizes[:2] == (2, 5)


@pytest.mark.parametrize("name", ["number", "tied number", "vector", "category"])
def test_a_restriction_stays_nested(name, rng):
    scales = examples(rng)[name]
    rows = rng.random(scales.basis.n_samples) < 0.7
    part, whole = dense(scales.on(rows)), dense(scales)[rows]
    for size in range(1, part.shape[1] + 1):
        leading = np.linalg.qr(np.column_stack([np.ones(len(whole)), whole[:, :size]]))[0]
        outside = part[:, :size] - leading @ (leading.T @ part[:, :size])
        assert np.abs(outside).max() < 1e-9


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        # 400 rows: frequent are levels of 60 rows, or of 10.
        ([200, 200], (1,)),
        ([150, 130, 120], (2,)),
        ([200, 150, 20, 15, 15], (1, 4)),
        ([200, 130, 40, 10, 10, 5, 5], (2, 5, 6)),
        # What follows the last one that counts must be frequent too, taken together.
        ([200, 150, 42, 8], (1, 2, 3)),
        ([395, 5], (1,)),
        ([300, 91, 9], (1, 2)),
    ],
)
def test_categories_are_looked_at_by_their_frequent_levels_too(counts, sizes, rng):
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    scales = category_scales(codes)
    assert len(codes) == 400
    assert scales.sizes == sizes
    assert scales.basis.dimension == len(counts) - 1


def test_leading_parts_of_a_category_tell_frequent_levels_from_the_rest(rng):
    codes = rng.permutation(np.repeat(np.arange(5), [170, 130, 50, 40, 10]))
    scales = category_scales(codes)
    leading = dense(scales)[:, : scales.sizes[0]]
    # Rows of the rare levels are one and the same, those of frequent ones differ.
    assert len(np.unique(leading[codes >= 2].round(9), axis=0)) == 1
    assert len(np.unique(leading.round(9), axis=0)) == 3
    assert scales.leverages[1] < 0.05 < scales.leverages[-1]


def test_sizes_on_a_part_of_the_rows_are_within_what_is_left(rng):
    codes = np.repeat(np.arange(5), [200, 150, 20, 15, 15])
    part = category_scales(codes).on(codes < 2)
    assert part.basis.dimension == 1
    assert set(part.sizes) == {1}


def rowless(scales):
    """The same as it is in batches: without its rows."""
    basis = scales.basis
    return replace(scales, basis=RowlessBasis.of(basis.dimension, basis.feature_map, basis.n_samples, basis.leverages))


def test_a_vector_without_rows_is_restricted_by_moments_as_it_is_by_rows(rng):
    whole = vector(rng.standard_normal((300, 2)))
    table, rows = dense(whole), rng.random(300) < 0.6
    means, gram = table[rows].mean(axis=0), np.cov(table[rows], rowvar=False, bias=True)
    part, (found, mixing) = whole.on(rows), rowless(whole).on_moments(means, gram, int(rows.sum()))
    np.testing.assert_allclose((table[rows] - means) @ mixing, dense(part), atol=1e-9)
    assert (found.basis.dimension, found.basis.n_samples, found.sizes) == (part.basis.dimension, rows.sum(), part.sizes)
    # What a row weighs at most is a bound there.
    assert (found.leverages >= part.leverages * (1 - 1e-9)).all()
    assert (found.leverages[:5] < 3 * part.leverages[:5]).all()
    assert found.basis.largest_leverage == found.leverages[-1] <= 1.0


def test_a_function_that_vanishes_on_the_rows_left_is_passed_over_by_moments_too(rng):
    x = rng.standard_normal(200)
    whole = vector(np.column_stack([x, np.where(np.arange(200) < 100, rng.standard_normal(200), 0.0)]))
    rows, table = np.arange(200) >= 100, dense(whole)
    means, gram = table[rows].mean(axis=0), np.cov(table[rows], rowvar=False, bias=True)
    found, _ = rowless(whole).on_moments(means, gram, 100)
    assert found.basis.dimension == whole.on(rows).basis.dimension < whole.basis.dimension


def test_a_basis_without_rows_says_what_is_lacking(rng):
    basis = RowlessBasis.of(3, None, 50, None)
    assert (basis.n_samples, basis.dimension, basis.has_rows, basis.is_kept, basis.is_of_number) == (
        50,
        3,
        False,
        False,
        False,
    )
    with pytest.raises(ValueError, match="not been read yet"):
        basis.leverages  # noqa: B018
    assert vector(rng.standard_normal((50, 2))).basis.is_kept
