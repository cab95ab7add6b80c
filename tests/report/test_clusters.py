"""Orders in which neighbours are alike."""

import numpy as np
import pytest

from renyi.report.clusters import orders


def of_groups(groups, rng):
    """Strengths near 1 within groups and near 0 between them, none for some pairs."""
    alike = np.equal.outer(groups, groups)
    strength = np.where(alike, 0.9, 0.1) + 0.05 * rng.random(alike.shape)
    strength = (strength + strength.T) / 2
    np.fill_diagonal(strength, np.nan)
    return strength


def n_runs(labels):
    return 1 + int(np.count_nonzero(labels[1:] != labels[:-1]))


def test_groups_of_columns_stand_together(rng):
    groups = rng.permutation(np.repeat(np.arange(4), 6))
    order, same = orders(of_groups(groups, rng), is_square=True)
    assert sorted(order) == list(range(24))
    assert np.array_equal(order, same)
    assert n_runs(groups[order]) == 4


def test_rows_and_columns_of_two_tables_have_orders_of_their_own(rng):
    of_rows, of_columns = rng.permutation(np.repeat(np.arange(3), 4)), rng.permutation(np.repeat(np.arange(3), 7))
    strength = np.where(np.equal.outer(of_rows, of_columns), 0.8, 0.1) + 0.05 * rng.random((12, 21))
    rows, columns = orders(strength, is_square=False)
    assert sorted(rows) == list(range(12))
    assert sorted(columns) == list(range(21))
    assert n_runs(of_rows[rows]) == n_runs(of_columns[columns]) == 3


def test_what_is_unknown_counts_as_far_and_what_is_negative_as_nothing():
    strength = np.full((4, 4), np.nan)
    strength[0, 2] = strength[2, 0] = 0.9
    strength[1, 3] = strength[3, 1] = 0.9
    strength[0, 1] = strength[1, 0] = -5.0
    order = orders(strength, is_square=True)[0].tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_columns_stay_as_they_are(n):
    order, _ = orders(np.zeros((n, n)), is_square=True)
    assert order.tolist() == list(range(n))
