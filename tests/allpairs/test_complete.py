"""Pairs of columns without missing cells, all at once beside one by one."""

import numpy as np
import pytest

import renyi
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.sums import Sums
from renyi.allpairs.tiles import groups
from sample_tables import category, number


def complete_pairs(x, y, i, j, sums=None):
    return CompletePairs(x, y, i, j, sums or Sums.of(x, y))


def every_pair(x, y):
    return (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))


@pytest.mark.parametrize("kinds", ["numbers", "ties", "levels"])
def test_all_pairs_have_what_one_pair_has(kinds, rng):
    values = rng.standard_normal((3, 200))
    values[1] += values[0] ** 2
    x = [number(np.round(column, 1) if kinds == "ties" else column) for column in values]
    y = [number(column + rng.standard_normal(200)) for column in values[:2]]
    if kinds == "levels":
        y = [category(np.digitize(column, np.quantile(column, [0.3, 0.7]))) for column in values[:2]]
    (left,), (right,) = groups(x), groups(y)
    found = complete_pairs(left, right, *every_pair(left, right))
    for k, (i, j) in enumerate(zip(*every_pair(left, right), strict=True)):
        expected = renyi.independence_test(x[i].column, y[j].column)
        assert found.coefficient[k] == pytest.approx(expected.coefficient, abs=1e-9)
        assert found.log_pvalue[k] == pytest.approx(expected.log_pvalue, rel=1e-8)
    assert found.n.tolist() == [200] * 6
    assert found.dimensions.tolist() == [[left.coefficient.dimension, right.coefficient.dimension]] * 6
    assert (found.heavier == 1).all()


def test_whether_null_distributions_are_tabulated_follows_from_the_table_and_not_from_its_tiles(rng, monkeypatch):
    (group,) = groups([number(rng.standard_normal(60)) for _ in range(6)])
    whole, i, j = complete_pairs(group, group, *every_pair(group, group)), np.array([0]), np.array([1])
    alone = complete_pairs(group.part(slice(2)), group.part(slice(2)), i, j)
    assert alone.log_pvalue == whole.log_pvalue[1]
    monkeypatch.setattr("renyi.inference.roy.MANY_ROOTS", 36)
    tabulated = complete_pairs(group, group, *every_pair(group, group))
    of_part = complete_pairs(group.part(slice(3)).part(slice(1)), group.part(slice(1, 2)), i, i)
    assert 0 < np.abs(tabulated.log_pvalue - whole.log_pvalue).max() < 1e-6
    assert of_part.log_pvalue == tabulated.log_pvalue[1]


@pytest.mark.parametrize(("n_rows", "kind"), [(20, "plain"), (40, "ties"), (200, "ties"), (200, "levels")])
def test_p_values_above_those_of_interest_alone_are_left_out(n_rows, kind, rng):
    values = rng.standard_normal((40, n_rows))
    values[1::4] += values[::4] ** 2
    values[1::2] = values[1::2] if kind == "plain" else np.round(values[1::2])
    if kind == "levels":
        values[1::2] = np.clip(values[1::2], -1.0, 1.0) + 1.0
    makes = category if kind == "levels" else number
    sides = groups([makes(column) for column in values[1::2]]), groups([number(column) for column in values[::2]])
    for x, y in ((x, y) for x in sides[0] for y in sides[1]):
        i, j = every_pair(x, y)
        every = complete_pairs(x, y, i, j)
        some = CompletePairs(x, y, i, j, Sums.of(x, y), at_most=0.05)
        is_kept = ~(every.log_pvalue > np.log(0.05))  # those without a null distribution as well
        np.testing.assert_allclose(some.log_pvalue[is_kept], every.log_pvalue[is_kept], rtol=1e-8)
        np.testing.assert_allclose(some.coefficient[is_kept], every.coefficient[is_kept], rtol=1e-8)
        assert (some.log_pvalue[~is_kept] > np.log(0.05)).all()
        assert (some.log_pvalue[~is_kept] == 0.0).mean() > 0.8 or is_kept.all()


def test_sums_that_are_there_are_not_added_up_again(rng):
    (group,) = groups([number(rng.standard_normal(100)) for _ in range(3)])
    i, j = np.triu_indices(3, 1)
    own, given = complete_pairs(group, group, i, j), complete_pairs(group, group, i, j, Sums.of(group, group))
    np.testing.assert_array_equal(own.coefficient, given.coefficient)
    # Twice as many rows with the same sums correlate half as much.
    sums = Sums.of(group, group)
    halved = Sums(200, sums.coefficient, sums.nested)
    np.testing.assert_allclose(complete_pairs(group, group, i, j, halved).coefficient, own.coefficient / 2)


def test_functions_that_fill_the_rows_have_no_coefficient(rng):
    for n_rows, is_full in ((8, False), (6, True)):
        # Four levels have three functions.
        (group,) = groups([category(rng.permutation(np.arange(n_rows) % 4)) for _ in range(2)])
        found = complete_pairs(group, group, np.array([0]), np.array([1]))
        assert np.isnan(found.coefficient).tolist() == [is_full]


def test_ties_on_few_rows_have_no_null_distribution(rng):
    tied = [number(np.round(rng.standard_normal(20))) for _ in range(2)]
    pairs = [complete_pairs(*groups(tied[:1]), *groups(tied[1:]), np.array([0]), np.array([0]))]
    plain = [number(rng.standard_normal(20)) for _ in range(2)]
    pairs.append(complete_pairs(*groups(plain[:1]), *groups(plain[1:]), np.array([0]), np.array([0])))
    assert [bool(np.isnan(one.log_pvalue[0])) for one in pairs] == [True, False]
