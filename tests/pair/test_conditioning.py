import numpy as np
import pytest

import renyi
from renyi.data.reader import as_column
from renyi.pair.conditioning import Fixed, Target, indicators, soften


def explained(z, *targets):
    columns = [as_column(part, "z") for part in (z if isinstance(z, list) else [z])]
    return Fixed(columns).explain([Target(as_column(target, "target")) for target in targets])


def test_span_is_orthonormal_and_holds_the_constant_and_z(rng):
    z = rng.standard_normal((400, 3))
    found = explained(z, z[:, 0], z[:, 1])
    assert found.span.T @ found.span == pytest.approx(np.eye(found.freedom), abs=1e-9)
    for inside in (np.ones((400, 1)), z, z[:, :1] * z[:, 1:2]):
        assert np.abs(found.residuals(inside)).max() < 0.1 * np.abs(inside).max()
    # What is left of z lies in directions below the cut, 10⁻³ of a standard deviation.
    assert np.abs(found.residuals(np.column_stack([np.ones(400), z]))).max() < 1e-3


@pytest.mark.slow
def test_features_are_a_quarter_of_the_rows_and_four_hundred_at_most(rng):
    for n in (100, 500, 4000):
        z, target = rng.standard_normal((n, 5)), rng.standard_normal(n)
        assert explained(z, target, target).freedom <= min(n // 4, 400) + 1


def test_smooth_functions_of_a_coordinate_are_explained(rng):
    z = rng.standard_normal((1000, 2))
    found = explained(z, z[:, 0], z[:, 1])
    for function in (np.tanh, np.sin, lambda v: np.exp(-(v**2)), lambda v: v**3):
        assert found.share_left(function(z[:, :1]))[0] < 0.01
    assert found.share_left(rng.standard_normal((1000, 1)))[0] == pytest.approx(1, abs=0.1)


def test_the_direction_that_explains_a_target_is_found(rng):
    z = rng.standard_normal((800, 5))
    along = z @ np.array([1.0, -1.0, 1.0, -1.0, 1.0]) / np.sqrt(5)
    wave = np.sin(2 * along) + 0.1 * rng.standard_normal(800)
    noise = rng.standard_normal(800)
    assert explained(z, wave, noise).share_left(wave[:, np.newaxis])[0] < 0.1
    assert explained(z, noise, noise).share_left(wave[:, np.newaxis])[0] > 0.3


def test_levels_and_collinear_columns(rng):
    labels = rng.integers(0, 4, 300)
    z = rng.standard_normal(300)
    found = explained([renyi.categorical(labels), z, 2 * z + 1, np.full(300, 7.0)], z, z)
    assert np.abs(found.residuals(np.eye(4)[labels])).max() < 1e-3
    assert explained([z, np.full(300, 7.0)], z, z).freedom == explained([z], z, z).freedom
    assert explained([np.full(300, 7.0)], z, z).freedom == 1


def test_tails_are_softened(rng):
    values = rng.standard_cauchy((1000, 2)) * [1, 1e6] + [0, 5]
    soft = soften(values)
    assert np.median(soft, axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert np.abs(soft).max() < 20
    assert (np.argsort(soft, axis=0) == np.argsort(values, axis=0)).all()
    # Where most values are equal the quartiles are too, and the standard deviation stands in.
    zeros = np.where(rng.random((1000, 1)) < 0.9, 0.0, rng.standard_normal((1000, 1)))
    assert np.isfinite(soften(zeros)).all()


def test_targets_of_a_category_leave_out_its_rarest_level():
    column = renyi.categorical(list("aabbbcaab"))
    targets = indicators(column)
    assert targets.shape == (9, 2)
    assert targets.sum(axis=0).tolist() == [4, 4]
