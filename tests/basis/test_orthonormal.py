import numpy as np
import pytest

from renyi.basis.orthonormal import (
    merged_factor,
    ordered_whitening,
    orthonormalised,
    principal_whitening,
    standardised,
    triangular_factor,
)


def whitened(features, whiten, cut=1e-2):
    weights, intercept = whiten(triangular_factor([(features, np.full(len(features), len(features) ** -0.5))]), cut=cut)
    return features @ weights + intercept


@pytest.mark.parametrize("whiten", [ordered_whitening, principal_whitening])
def test_whitened_features_are_centred_and_orthonormal(whiten, rng):
    features = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 5)) + 3
    basis = whitened(features, whiten)
    assert basis.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert basis.T @ basis / 300 == pytest.approx(np.eye(5), abs=1e-11)


def test_leading_columns_span_leading_features(rng):
    features = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    whole = whitened(features, ordered_whitening)
    for size in (1, 2, 3):
        assert np.abs(whole[:, :size]) == pytest.approx(np.abs(whitened(features[:, :size], ordered_whitening)))


def test_features_that_add_nothing_are_passed_over(rng):
    first, second = rng.standard_normal((2, 150))
    features = np.column_stack([first, np.ones(150), 2 * first - 1, first + 1e-3 * second, second])
    basis = whitened(features, ordered_whitening)
    assert basis.shape == (150, 2)
    assert np.abs(basis) == pytest.approx(np.abs(whitened(features[:, [0, 4]], ordered_whitening)))


def test_more_features_than_rows_give_a_basis_of_the_rows(rng):
    assert whitened(rng.standard_normal((4, 9)), ordered_whitening, cut=1e-9).shape == (4, 3)


def test_factors_of_parts_merge_to_that_of_all_rows(rng):
    features = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 3)) + 1
    parts = [triangular_factor([(part, np.ones(len(part)))]) for part in (features[:2], features[2:50], features[50:])]
    found = merged_factor(parts[2], np.empty((0, 4)), merged_factor(parts[0], parts[1]))
    columns = np.column_stack([np.ones(90), features])
    assert found.T @ found == pytest.approx(columns.T @ columns)
    assert np.tril(found, -1) == pytest.approx(0)


def test_factor_does_not_depend_on_chunks(rng):
    features, weights = rng.standard_normal((90, 3)), np.full(90, 90**-0.5)
    whole = triangular_factor([(features, weights)])
    parts = triangular_factor((features[i : i + 30], weights[i : i + 30]) for i in (0, 30, 60))
    assert whole.T @ whole == pytest.approx(parts.T @ parts, abs=1e-13)


def test_functions_are_orthonormal_over_rows_that_count(rng):
    features, counts = rng.standard_normal((40, 3)), rng.integers(1, 5, 40)
    features[:, 2] = features[:, 0] + features[:, 1]
    for whiten in (None, principal_whitening):
        table, weights, intercept = orthonormalised(features, cut=1e-6, whiten=whiten, counts=counts)
        assert (table.T * counts) @ table / counts.sum() == pytest.approx(np.eye(2), abs=1e-12)
        assert counts @ table == pytest.approx(0.0, abs=1e-9)
        assert np.array_equal(features @ weights + intercept, table)


def test_standardised_values_have_mean_0_and_length_1(rng):
    for values in (rng.random(50), 1e9 + rng.random(50), np.array([1.7e308, -1.7e308, 0.0]), np.array([0.0, 5e-324])):
        found = standardised(values)
        assert np.sum(found) == pytest.approx(0.0, abs=1e-14)
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-15)
