"""Columns that may be chosen: functions of mean 0 and mean square 1 on the rows that a column has."""

import importlib.util

import numpy as np
import pytest

from renyi.data.column import Column
from renyi.selection import candidates
from renyi.selection.candidates import as_candidates

has_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def columns(rng, n=300):
    gaps = rng.random(n) < 0.3
    return [
        Column("plain", "number", rng.standard_normal(n)),
        Column("gaps", "number", rng.standard_normal(n), gaps),
        Column("other", "number", rng.standard_normal(n)),
        Column("ties", "number", np.round(rng.standard_normal(n))),
        Column("level", "category", rng.integers(0, 4, n), gaps, ("a", "b", "c", "d")),
        Column("flag", "category", rng.integers(0, 2, n), None, (False, True)),
    ]


def test_functions_are_orthonormal_on_the_rows_that_there_are(rng):
    made = columns(rng)
    for column, found in zip(made, as_candidates(made), strict=True):
        functions, observed = found.functions(), np.ones(300, bool) if column.missing is None else ~column.missing
        assert found.n_observed == observed.sum()
        assert (functions[:, ~observed] == 0).all()
        np.testing.assert_allclose(functions.sum(axis=1), 0, atol=1e-9)
        np.testing.assert_allclose(functions @ functions.T / observed.sum(), np.eye(found.width), atol=1e-9)
        np.testing.assert_array_equal(found.functions(1), functions[:1])


def test_numbers_have_six_functions_and_categories_one_less_than_levels(rng):
    found = as_candidates(columns(rng))
    assert [one.width for one in found] == [6, 6, 6, 6, 3, 1]
    assert [one.sizes for one in found[:2]] == [(1, 3, 6)] * 2
    assert found[0].signature == found[1].signature != found[4].signature
    two_values = Column("two", "number", np.repeat([0.0, 1.0], 20))
    (few,) = as_candidates([two_values])
    assert (few.width, few.sizes) == (1, (1,))


def test_columns_without_ties_share_their_table(rng):
    plain, _, other, ties, *_ = as_candidates(columns(rng))
    assert plain.table is other.table
    assert plain.table is not ties.table


def test_threads_change_nothing(rng):
    made = columns(rng)
    for one, other in zip(as_candidates(made), as_candidates(made, n_threads=3), strict=True):
        np.testing.assert_array_equal(one.functions(), other.functions())


@has_torch
@pytest.mark.parametrize("stay", [True, False])
def test_complete_floats_are_ranked_on_a_device_and_all_else_in_memory(stay, rng, monkeypatch):
    torch = pytest.importorskip("torch")
    if not stay:
        monkeypatch.setattr(candidates, "_SHARE_KEPT", 0.0)
    # Two at a time.
    monkeypatch.setattr(candidates, "_SHARE_AT_ONCE", 2.5 * 24 * 300 / 2**29)
    made = columns(rng)
    here, there = as_candidates(made), as_candidates(made, device=torch.device("cpu"))
    assert [isinstance(one.codes, torch.Tensor) for one in there] == [stay, False, stay, stay, False, False]
    for one, other in zip(here, there, strict=True):
        assert one.signature == other.signature
        np.testing.assert_allclose(other.table[np.asarray(other.codes)], one.table[one.codes], atol=1e-12)
        np.testing.assert_allclose(one.leverages, other.leverages)
