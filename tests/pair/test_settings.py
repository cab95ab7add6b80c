"""How random features are drawn."""

import numpy as np
import pytest

from renyi.basis import random_features
from renyi.basis.basis import scalar_basis
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.pair.settings import Settings, check_draws
from sample_tables import SEED

DEFAULT = Settings(None, 3.0, "auto")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0, 3.0, "auto"), "k must be .*, got 0"),
        ((2.0, 3.0, "auto"), "k must be .*, got 2.0"),
        ((True, 3.0, "auto"), "k must be .*, got True"),
        ((None, 0.0, "auto"), "s must be .*, got 0.0"),
        ((None, "mean", "auto"), "s must be .*, got 'mean'"),
        ((None, 3.0, "all"), "frequencies='all' is unknown"),
    ],
)
def test_settings_are_checked_when_they_are_made(settings, message):
    with pytest.raises(InputError, match=message):
        Settings(*settings)
    assert Settings(np.int32(7), np.float32(2.0), "auto").k == 7


def test_features_are_as_many_as_asked_for_or_as_rows_and_coordinates_allow(rng):
    vector = Column("v", "vector", rng.random((50, 3)))
    assert Settings(7, 3.0, "auto").projection(vector, SEED).n_projections == 7
    by_default = DEFAULT.projection(vector, SEED).n_projections
    assert by_default == random_features.default_projections(3, 50)


def test_a_number_read_in_batches_has_the_frequencies_of_one_in_memory(rng):
    column = Column("x", "number", rng.random(800))
    for settings in (DEFAULT, Settings(12, 0.5, "auto")):
        one, other = settings.projection(column, SEED), settings.scalar_projection(800, SEED)
        np.testing.assert_array_equal(one.angles(np.array([[0.3]])), other.angles(np.array([[0.3]])))
    with pytest.raises(InputError, match="s='median' needs all ranks at once, and the rows are read in batches"):
        Settings(None, "median", "auto").scalar_projection(800, SEED)


def test_the_median_scale_is_that_of_the_ranks(rng):
    column = Column("x", "number", rng.standard_cauchy(200))
    ranks = (np.argsort(np.argsort(column.values)) + 1.0) / 200
    scale = random_features.median_scale(ranks[:, np.newaxis])
    found, expected = (
        settings.projection(column, SEED).angles(ranks[:, np.newaxis])
        for settings in (Settings(5, "median", "auto"), Settings(5, scale, "auto"))
    )
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(InputError, match="s='median' is 0 for x, most of whose values are equal"):
        Settings(5, "median", "auto").projection(Column("x", "number", np.r_[np.zeros(99), 1.0]), SEED)


def test_how_many_functions_there_are_goes_by_the_rows_unless_k_is_named(rng):
    basis = scalar_basis(rng.random(100), DEFAULT.scalar_projection(100, SEED))
    assert DEFAULT.of_rows(basis).goes_by_rows
    assert not Settings(10, 3.0, "auto").of_rows(basis).goes_by_rows


def test_draws_are_a_number_and_debiasing_is_true_or_false():
    check_draws(np.int64(3), np.True_)
    for repeats, debias, message in (
        (0, True, "repeats must be .*, got 0"),
        (10**8, True, "repeats must be an integer from 1 to 10,000, got 100000000"),
        (1.5, True, "repeats must be .*, got 1.5"),
        (1, 1, "debias must be True or False, got 1"),
    ):
        with pytest.raises(InputError, match=message):
            check_draws(repeats, debias)
