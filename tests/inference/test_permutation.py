from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp

import renyi
from renyi.basis.basis import category_basis, scalar_basis, vector_basis
from renyi.basis.canonical import cross_products
from renyi.basis.nested import number_scales
from renyi.basis.random_features import draw, seeds
from renyi.basis.ranks import quantise
from renyi.compute.threads import ahead
from renyi.inference import permutation
from renyi.inference.permutation import ROUNDING, Groups, Permuted, permuted_pvalue, reaches, until_above

(FIXED,) = seeds(None, n_draws=1)
LINE = draw(1, 2, 3.0, kind="auto", seed=FIXED)


def corner(cross):
    """A statistic that tells x from y."""
    return np.abs(cross[:, 0, 0]) + 0.1 * cross[:, 0, -1]


def pvalue(x, y, *, statistic=corner, n_resamples=4999, seed=0, groups=None):
    observed = float(statistic(cross_products(x, y)[np.newaxis])[0])
    return permuted_pvalue(
        x, y, statistic, observed=observed, rounding=ROUNDING, n_resamples=n_resamples, seed=(seed,), groups=groups
    )


def test_pvalue_is_the_share_among_all_permutations(rng):
    x, y = rng.standard_normal(7), rng.standard_normal(7)
    a, b = scalar_basis(x, LINE), scalar_basis(y, LINE)
    observed = corner(cross_products(a, b)[np.newaxis])[0]
    everything = [corner(cross_products(a, b.take(np.array(rows)))[np.newaxis])[0] for rows in permutations(range(7))]
    exact = np.mean(np.array(everything) >= observed - 1e-9)
    found = pvalue(a, b)
    assert found.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / found.n_drawn) + 1e-3)


def test_pvalues_are_never_zero_and_say_what_they_rest_on():
    assert Permuted(n_drawn=999, n_reached=0).pvalue == 1 / 1000
    assert Permuted(n_drawn=999, n_reached=9).pvalue == 10 / 1000
    # Stopped at the hundredth: h/l.
    assert Permuted(n_drawn=400, n_reached=100).pvalue == 100 / 400


def test_drawing_stops_once_the_answer_is_clear(rng):
    x, y = scalar_basis(rng.standard_normal(50), LINE), scalar_basis(rng.standard_normal(50), LINE)
    found = pvalue(x, y, n_resamples=100_000)
    assert found.n_reached == 100
    assert found.n_drawn < 20_000
    same = scalar_basis(np.arange(50.0), LINE)
    assert pvalue(same, same, n_resamples=500) == Permuted(500, 0)


def test_equal_statistics_count_though_rounding_differs():
    x = category_basis(np.array([0, 1] * 10))
    found = pvalue(x, x, statistic=lambda cross: 1 - 1e-12 * np.arange(len(cross)))
    assert found.pvalue == 1.0


def test_statistics_reach_the_observed_one_if_they_are_equal_but_for_rounding():
    permuted = np.array([0.0, 1e-16, 1e-11, 0.5, 0.5 * (1 - 1e-7), 0.4999])
    assert reaches(permuted, 1e-15, rounding=1e-12).tolist() == [True] * 6
    assert reaches(permuted, 1e-11, rounding=1e-12).tolist() == [False, False, True, True, True, True]
    assert reaches(permuted, 0.5, rounding=1e-12).tolist() == [False, False, False, True, True, False]
    assert reaches(-permuted, -0.5, rounding=1e-12).tolist() == [True] * 6
    # What could not be measured is as good as nothing else that could not.
    assert reaches(np.array([-np.inf, 0.0]), -np.inf, rounding=1e-12).all()


@pytest.mark.parametrize("kind", ["numbers", "vector", "categories", "long"])
def test_neither_row_order_nor_sides_matter(kind, rng):
    n = 5000 if kind == "long" else 60
    numbers = [scalar_basis(np.round(rng.standard_normal(n), 1), LINE) for _ in "xy"]
    plane = draw(2, 2, 3.0, kind="auto", seed=FIXED)
    x, y = {
        "numbers": numbers,
        "vector": (vector_basis(np.round(rng.standard_normal((n, 2)), 1), plane), numbers[1]),
        "categories": (category_basis(rng.integers(0, 3, n)), category_basis(rng.integers(0, 4, n))),
        "long": (category_basis(rng.integers(0, 3, n)), category_basis(rng.integers(0, 4, n))),
    }[kind]
    rows = rng.permutation(n)
    found = pvalue(x, y, n_resamples=300)
    assert pvalue(x.take(rows), y.take(rows), n_resamples=300) == found
    turned = pvalue(y, x, statistic=lambda cross: corner(np.swapaxes(cross, 1, 2)), n_resamples=300)
    assert turned == found


def test_batches_change_nothing(monkeypatch, rng):
    x, y = scalar_basis(rng.standard_normal(80), LINE), scalar_basis(rng.standard_normal(80), LINE)
    found = pvalue(x, y)
    monkeypatch.setattr(permutation, "_MOST_IN_A_BATCH", 7)
    assert pvalue(x, y) == found
    # Single permutations are drawn by another function of NumPy, which is why they need not be the same.
    monkeypatch.setattr(permutation, "_BATCH_BYTES", 1)
    assert pvalue(x, y).pvalue == pytest.approx(found.pvalue, abs=0.05)


def test_items_made_ahead_come_in_order_and_may_be_left(rng):
    assert list(ahead(iter(range(1, 50)))) == list(range(1, 50))
    made = ahead(iter(range(1, 50)))
    assert next(made) == 1
    made.close()
    with pytest.raises(ZeroDivisionError):
        list(ahead(1 / k for k in (1, 0)))


def test_random_tables_have_the_null_distribution_of_permutations(monkeypatch, rng):
    x, y = category_basis(rng.integers(0, 3, 400)), category_basis(rng.integers(0, 4, 400))
    by_tables = np.concatenate(list(permutation._products_of_tables(x, y, 4000, rng)))
    by_rows = np.concatenate(list(permutation._products_of_rows(x, y, 4000, rng, None)))
    for a, b in np.ndindex(2, 3):
        moments = [np.mean(products[:, a, b] ** 2) * 400 for products in (by_tables, by_rows)]
        # Variance of a correlation of independent rows, (n − 1)⁻¹, to 4 Monte Carlo errors.
        assert moments == pytest.approx([1.0, 1.0], abs=4 * np.sqrt(2 / 4000) + 0.005)


def test_rows_stay_within_their_groups(rng):
    codes = rng.integers(0, 5, 40)
    permuted = Groups(codes, "within").permute(rng)
    assert sorted(permuted) == list(range(40))
    assert (codes[permuted] == codes).all()
    assert (permuted != np.arange(40)).any()


def test_whole_groups_change_places_and_keep_their_order(rng):
    codes = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3])
    for _ in range(20):
        permuted = Groups(codes, "whole").permute(rng)
        assert permuted[3:5].tolist() == [3, 4]  # the only group of its size
        for start in (0, 5, 8):
            assert permuted[start : start + 3].tolist() in ([0, 1, 2], [5, 6, 7], [8, 9, 10])
        assert sorted(permuted) == list(range(11))


def test_arrangements_of_groups():
    codes = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    assert np.exp(Groups(codes, "within").log_arrangements) == pytest.approx(6 * 2 * 6)
    assert np.exp(Groups(codes, "whole").log_arrangements) == pytest.approx(2)


def test_groups_that_cannot_be_permuted_are_refused():
    with pytest.raises(renyi.InputError, match="nothing to permute"):
        Groups(np.arange(5), "within")
    with pytest.raises(renyi.InputError, match="same number of rows"):
        Groups(np.array([0, 1, 1, 2, 2, 2]), "whole")


def rare(kind, n, rng):
    """A basis of which few rows leave one cell."""
    events = rng.permutation(n) < 12
    if kind == "rare event":
        return category_basis(events.astype(int))
    return number_scales(quantise(np.where(events, rng.exponential(size=n), 0.0))).basis


@pytest.mark.parametrize("kind", ["rare event", "mostly zeros"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_products_of_exceptional_rows_have_the_null_distribution_of_permutations(kind, is_turned, monkeypatch, rng):
    n, m = 400, 4000
    x, y = number_scales(quantise(rng.standard_normal(n))).basis.leading(3), rare(kind, n, rng).leading(2)
    x, y = (y, x) if is_turned else (x, y)
    monkeypatch.setattr(permutation, "_ROWS_PER_CELL", np.inf)
    with monkeypatch.context() as without:
        without.setattr(permutation, "_products_of_rows", lambda *_: pytest.fail("all rows were permuted"))
        by_exceptions = np.concatenate(list(permutation._permuted_products(x, y, m, (1,), None)))
    by_rows = np.concatenate(list(permutation._products_of_rows(x, y, m, rng, None)))
    assert by_exceptions.shape == by_rows.shape == (m, x.dimension, y.dimension)
    for a, b in np.ndindex(by_rows.shape[1:]):
        one, other = (products[:, a, b] * np.sqrt(n) for products in (by_exceptions, by_rows))
        assert one.mean() == pytest.approx(0, abs=4 / np.sqrt(m))
        assert ks_2samp(one, other).pvalue > 1e-3


@pytest.mark.parametrize("kind", ["rare event", "mostly zeros"])
def test_exceptional_rows_at_given_places_are_a_permute_of_all_rows(kind, monkeypatch, rng):
    n = 400
    x, y = number_scales(quantise(rng.standard_normal(n))).basis, rare(kind, n, rng)
    rows = permutation._exceptional_rows(y)
    places = np.array([rng.permutation(n)[: len(rows)] for _ in range(3)])
    monkeypatch.setattr(permutation, "_distinct_places", lambda *_: places)
    (found,) = permutation._products_of_exceptions(x, y, rows, 3, rng)
    for products, here in zip(found, places, strict=True):
        received = np.empty(n, dtype=int)
        received[here] = rows
        received[np.setdiff1d(np.arange(n), here)] = np.setdiff1d(np.arange(n), rows)
        assert products == pytest.approx(cross_products(x, y.take(received)), abs=1e-12)


@pytest.mark.parametrize("kind", ["rare event", "mostly zeros"])
def test_pvalues_by_exceptional_rows_are_those_of_all_rows(kind, monkeypatch, rng):
    n = 300
    x = number_scales(quantise(rng.standard_normal(n))).basis.leading(4)
    y = rare(kind, n, rng)
    found = pvalue(x, y, n_resamples=20_000)
    monkeypatch.setattr(permutation, "_exceptional_rows", lambda basis: np.arange(basis.n_samples))
    expected = pvalue(x, y, n_resamples=20_000)
    assert found != expected
    # Drawing stops at the hundredth, which leaves a tenth either way.
    assert found.pvalue == pytest.approx(expected.pvalue, rel=0.45)


def test_places_are_distinct_and_each_as_likely_as_another(rng):
    places = permutation._distinct_places(9, (30_000, 3), rng)
    assert places.shape == (30_000, 3)
    assert (np.diff(np.sort(places, axis=1), axis=1) > 0).all()
    assert (places.min(), places.max()) == (0, 8)
    # All 504 ordered triples of distinct places.
    counts = np.unique(places @ [81, 9, 1], return_counts=True)[1]
    assert len(counts) == 504
    assert chisquare(counts).pvalue > 1e-3


def test_all_places_at_once_are_a_permutation(rng):
    places = permutation._distinct_places(4, (200, 4), rng)
    assert (np.sort(places, axis=1) == np.arange(4)).all()


def test_exceptional_rows_are_those_outside_the_most_frequent_cell():
    basis = category_basis(np.array([1, 0, 1, 2, 1, 0]))
    assert permutation._exceptional_rows(basis).tolist() == [1, 3, 5]
    vectors = vector_basis(np.eye(4)[:, :2], draw(2, 2, 3.0, kind="auto", seed=FIXED))
    assert permutation._exceptional_rows(vectors).tolist() == [0, 1, 2, 3]


def test_drawing_stops_where_a_level_is_out_of_reach():
    drawn = []

    def batches(size, values):
        for _ in range(1000 // size):
            drawn.append(size)
            yield np.full(size, values)

    # None reaches the observed statistic, so that all are drawn.
    assert until_above(batches(10, 0.0), 1.0, level=0.01, n_resamples=999, rounding=0.0) == 1 / 1001
    assert len(drawn) == 100
    drawn.clear()
    # All do, and after 25 of them 0.025 is the least that is left.
    assert until_above(batches(10, 2.0), 1.0, level=0.01, n_resamples=999, rounding=0.0) == 1.0
    assert len(drawn) == 3
