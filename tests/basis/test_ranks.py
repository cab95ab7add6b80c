import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
from renyi.basis.ranks import empirical_cdf, joint_ranks, quantise, tie_free_cells

LONG = 40_000


@pytest.mark.slow
@given(hnp.arrays(np.int64, st.integers(1, 40), elements=st.integers(-4, 4)))
def test_ranks_are_the_empirical_cdf(values):
    copula = quantise(values)
    assert copula.ranks[copula.codes] == pytest.approx(reference.empirical_ranks(values)[:, 0], abs=0)
    assert copula.has_ties == (len(set(values.tolist())) < len(values))
    assert np.array_equal(np.bincount(copula.codes), copula.counts)


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_ranks_of_any_numbers(values):
    copula = quantise(values)
    assert copula.ranks[copula.codes] == pytest.approx(reference.empirical_ranks(values)[:, 0], abs=0)


def test_zeros_of_both_signs_tie():
    copula = quantise(np.array([0.0, -0.0, 1.0]))
    assert copula.codes[0] == copula.codes[1]


def test_vectors_are_ranked_by_coordinate_and_divided_by_n(rng):
    values = rng.integers(0, 5, (30, 4))
    ranks = joint_ranks(values)
    assert ranks == pytest.approx(reference.empirical_ranks(values), abs=0)
    assert np.array_equal(ranks.max(axis=0), np.ones(4))


def columns_to_sort(n, rng):
    return {
        "one giant": np.r_[rng.random(n - 1), 1e308],
        "two giants": np.r_[-1e308 * (0.9 + 0.1 * rng.random(n - 1)), 1e308],
        "beyond float64": np.full(n, 10, dtype=np.longdouble) ** (300 + 20 * rng.random(n)),
        "uniform": rng.random(n),
        "cauchy": rng.standard_cauchy(n),
        "astronomic": np.exp(50 * rng.standard_normal(n)),
        "extreme": rng.choice([-1.7e308, 1.7e308, 0.0, 3.0], n),
        "tiny": rng.random(n) * 1e-320,
        "int64": rng.integers(-(2**63), 2**63 - 1, n),
        "uint64": rng.integers(0, 2**64 - 1, n, dtype=np.uint64),
        "close int64": 2**62 + rng.integers(0, 100, n),
        "int8": rng.integers(0, 100, n).astype(np.int8),
        "float16": rng.random(n).astype(np.float16),
        "float32": rng.standard_normal(n).astype(np.float32),
        "nearly constant": np.append(np.zeros(n - 1), 1.0),
        "sorted": np.arange(n)[::-1],
    }


# Columns are sorted in one of three ways, by their length.
@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 2**11, 10_000, 2**17])
@pytest.mark.parametrize("name", columns_to_sort(1, np.random.default_rng(0)))
def test_columns_of_every_type_are_ranked_exactly(name, n, rng):
    values = columns_to_sort(n, rng)[name]
    copula = quantise(values)
    expected = np.searchsorted(np.sort(values), values, side="right") / n
    assert np.array_equal(copula.ranks[copula.codes], expected)


@pytest.mark.parametrize("n_distinct", [LONG, 3000, 150])
def test_cells_hold_whole_ties_and_stand_for_their_mean_rank(n_distinct, rng):
    values = rng.permutation(np.arange(LONG) % n_distinct)
    exact, grid = quantise(values), quantise(values, n_cells=256)
    u = exact.ranks[exact.codes]
    assert len(grid.ranks) <= 256
    means = np.bincount(grid.codes, weights=u) / grid.counts
    assert grid.ranks == pytest.approx(means, abs=1e-12)
    assert np.all(np.diff(grid.ranks) > 0)
    # Equal values share a cell.
    assert len(set(zip(values.tolist(), grid.codes.tolist(), strict=True))) == n_distinct
    if n_distinct <= 256:
        assert np.array_equal(grid.ranks, exact.ranks)


def test_cells_of_tie_free_columns_depend_on_n_alone(rng):
    a, b = quantise(rng.random(LONG), n_cells=512), quantise(rng.standard_normal(LONG), n_cells=512)
    ranks, counts = tie_free_cells(LONG, 512)
    assert np.array_equal(a.ranks, b.ranks)
    assert np.array_equal(a.ranks, ranks)
    assert counts.sum() == LONG


def test_new_whole_numbers_of_another_sign_are_compared_exactly():
    ordered = 2**60 + np.arange(5)
    assert empirical_cdf(ordered, ordered.astype(np.uint64)).tolist() == [0.2, 0.4, 0.6, 0.8, 1]
    assert empirical_cdf(ordered.astype(np.uint64), np.array([-1, 2**60])).tolist() == [0.2, 0.2]


def test_new_values_get_the_rank_of_the_sample():
    ordered = np.array([1.0, 2.0, 2.0, 5.0])
    assert empirical_cdf(ordered, np.array([0.0, 1.0, 2.0, 3.0, 9.0])).tolist() == [0.25, 0.25, 0.75, 0.75, 1]


def test_few_ties_by_chance_share_the_cells_of_columns_without(rng):
    values = np.arange(12_000.0)
    values[[10, 11, 500]] = values[[9, 9, 501]]
    rng.shuffle(values)
    shared, own = quantise(values, may_share=True), quantise(values)
    assert own.has_ties
    assert not shared.has_ties
    assert shared.n_samples == 12_000
    # Equal values have one rank, that of the last of them, as without.
    assert np.array_equal(shared.ranks[shared.codes], own.ranks[own.codes])


@pytest.mark.parametrize(
    ("n", "n_equal", "shares"),
    [(4095, 2, False), (4096, 1, True), (4500, 2, True), (20_000, 5, True), (20_000, 6, False)],
)
def test_ties_of_few_rows_or_long_runs_are_ties(n, n_equal, shares):
    values = np.arange(float(n))
    values[:n_equal] = 0.0
    assert quantise(values, may_share=True).has_ties is not shares


def test_more_equal_pairs_than_rounding_hides_are_ties():
    values = np.arange(6000.0)
    values[0:60:2] = values[1:60:2]
    assert quantise(values, may_share=True).has_ties
