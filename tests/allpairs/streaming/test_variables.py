"""Columns whose rows are read in batches."""

import numpy as np
import pytest

from renyi.allpairs.streaming.column_stats import ColumnStats
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.allpairs.streaming.variables import CellVariable, heaviest_of
from renyi.basis.random_features import DEFAULT_SCALE
from renyi.errors import InputError
from renyi.pair.settings import Settings

SETTINGS = Settings(None, DEFAULT_SCALE, "auto")


def variable(cells):
    stats = ColumnStats("x", None, LEAST_CAPACITY)
    stats.update(cells)
    return CellVariable.of(stats.decided(lambda _: None), SETTINGS, len(cells))


def test_rows_of_a_number_are_cells_in_the_order_of_values(rng):
    cells = np.where(rng.random(200) < 0.2, np.nan, np.round(rng.normal(size=200), 1))
    column = variable(cells)
    codes, standard = column.rows(cells)
    known = ~np.isnan(cells)
    np.testing.assert_array_equal(codes[known], np.unique(cells[known], return_inverse=True)[1])
    assert (codes[~known] == column.n_cells).all()
    assert np.corrcoef(standard[known], cells[known])[0, 1] == pytest.approx(1.0)
    np.testing.assert_array_equal(column.seen((codes, standard)), np.bincount(codes))
    assert (column.n_samples, column.n_rows, column.is_complete, column.key) == (known.sum(), 200, False, "x")


def test_rows_without_any_value_are_missing(rng):
    column = variable(rng.normal(size=50))
    codes, standard = column.rows(np.full(7, np.nan))
    assert (codes == column.n_cells).all()
    assert not standard.any()


def test_a_level_that_was_not_counted_is_refused():
    column = variable(np.array(list("aab" * 10), dtype=object))
    with pytest.raises(InputError, match="'x' does not hold the values of the first pass any more"):
        column.rows(np.array(["a", "c"], dtype=object))


def test_the_heaviest_rows_of_leading_functions(rng):
    table = rng.normal(size=(30, 4))
    (found,) = heaviest_of(table)
    np.testing.assert_allclose(found, [(table[:, :size] ** 2).sum(axis=1).max() for size in range(1, 5)])
    assert not heaviest_of(table[:0])[0].any()
