"""Columns as the coefficient and the test see them."""

import numpy as np
import pytest

import renyi
from renyi.data.column import Column
from renyi.data.reader import as_column
from renyi.errors import InputError
from renyi.pair.independence import Permutations, on_every_scale
from renyi.pair.prepare import prepare, together
from renyi.pair.settings import Settings
from sample_tables import SEED


def test_prepared_columns_serve_many_pairs(parabola):
    """One pair and a table agree: what is prepared once gives the same result as a call for the pair."""
    x, y = parabola
    columns = [prepare(as_column(values, "x"), SEED) for values in (x, y)]
    permutations = Permutations(99, SEED, None)
    assert on_every_scale(*columns, permutations).log_pvalue == renyi.independence_test(x, y).log_pvalue


@pytest.mark.parametrize("kind", ["number", "category", "vector"])
def test_functions_are_orthonormal_on_the_rows_that_a_column_has(kind, rng):
    values = {"number": rng.standard_normal(90), "category": rng.integers(0, 4, 90), "vector": rng.random((90, 2))}[
        kind
    ]
    missing = rng.random(90) < 0.3
    found = prepare(Column("x", kind, values, missing, tuple("abcd") if kind == "category" else ()), SEED)
    for basis in (found.basis, found.scales.basis):
        functions = basis.rows(0, basis.n_samples)
        assert len(functions) == (~missing).sum()
        np.testing.assert_allclose(functions.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(functions.T @ functions / len(functions), np.eye(basis.dimension), atol=1e-7)


def test_settings_reach_the_coefficient_and_not_the_test(rng):
    column = Column("x", "number", rng.standard_normal(300))
    few = prepare(column, SEED, Settings(2, 1.0, "auto"))
    usual = prepare(column, SEED)
    assert few.basis.dimension < usual.basis.dimension
    assert few.scales.basis.dimension == usual.scales.basis.dimension


def test_two_columns_come_together_on_the_rows_that_both_have(rng):
    gaps = rng.random((2, 200)) < 0.3
    pair = tuple(Column(name, "number", rng.standard_normal(200), gap) for name, gap in zip("xy", gaps, strict=True))
    x, y = together(pair, [prepare(column, SEED) for column in pair])
    rows = ~gaps.any(axis=0)
    assert x.basis.n_samples == y.basis.n_samples == x.scales.basis.n_samples == rows.sum()
    # A function of x on the common rows is one of the ranks of x there.
    assert np.array_equal(np.argsort(pair[0].values[rows]), np.argsort(x.scales.basis.rows(0, rows.sum())[:, 0]))
    few = pair[0], Column("y", "number", pair[1].values, np.arange(200) > 4)
    with pytest.raises(InputError, match="pass more rows"):
        together(few, [prepare(column, SEED) for column in few])
