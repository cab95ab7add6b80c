"""Vectors whose rows are read in batches: their functions are those of all rows in memory."""

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import renyi
from renyi.allpairs.streaming.column_stats import ColumnStats
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.allpairs.streaming.vectors import VectorPlan, VectorRows, VectorStats, coder_of
from renyi.basis.random_features import DEFAULT_SCALE, seeds
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.types import SkipError
from renyi.errors import InputError
from renyi.pair.prepare import prepare
from renyi.pair.settings import Settings

SETTINGS = Settings(None, DEFAULT_SCALE, "auto")
(SEED,) = seeds(None, n_draws=1)


def counted(columns, cuts=(), overrides=None):
    """A vector of some columns, counted in parts that are merged from the last to the first."""
    n = len(next(iter(columns.values())))
    edges = [0, *cuts, n]
    total = None
    for a, b in list(pairwise(edges))[::-1]:
        names = [ColumnStats(name, (overrides or {}).get(name), LEAST_CAPACITY) for name in columns]
        stats = VectorStats("v", tuple(names))
        stats.update(*(cells[a:b] for cells in columns.values()))
        stats = pickle.loads(pickle.dumps(stats))
        total = stats if total is None else total
        if stats is not total:
            total = total.copy()
            total.merge(stats)
    return total


def decided(columns, cuts=()):
    return replace(counted(columns, cuts).decided(None, Notes()), keys=tuple(columns))


def table(rng, n=700):
    x = rng.standard_normal(n)
    return {
        "a": np.where(rng.random(n) < 0.1, np.nan, x),
        "b": np.round(x + rng.standard_normal(n), 1),
        "c": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
    }


def test_functions_of_batches_are_those_of_memory(rng):
    """Up to a rotation of those of the coefficient, whose directions are told by their sizes alone."""
    columns = table(rng)
    whole = np.column_stack(list(columns.values()))
    memory = prepare(Column("v", "vector", whole, np.isnan(whole).any(axis=1)), SEED, SETTINGS)
    vector = decided(columns, cuts=(30, 30, 400))
    plan = pickle.loads(pickle.dumps(VectorPlan((vector,), SETTINGS, len(whole))))
    parts = [
        {name: cells[rows] for name, cells in columns.items()} for rows in (slice(0, 5), slice(5, 5), slice(5, 700))
    ]
    folded = [plan.fold(part) for part in parts]
    found = plan.found(folded[2] + (folded[0] + folded[1]))["a"]
    rows = VectorRows.of(found, [coder_of(part) for part in found.coordinates], list(columns.values()))
    coefficient, nested = found.functions(rows.ranks, rows.middles)
    np.testing.assert_allclose(nested, memory.scales.basis.table, atol=1e-7)
    assert found.functions.sizes == memory.scales.sizes
    cross = coefficient.T @ memory.basis.table / len(coefficient)
    np.testing.assert_allclose(cross @ cross.T, np.eye(len(cross)), atol=1e-7)
    assert np.array_equal(rows.missing, np.isnan(whole).any(axis=1))


def test_ranks_are_those_of_rows_that_have_all_coordinates(rng):
    columns = table(rng)
    vector = decided(columns, cuts=(100,))
    is_there = ~np.isnan(np.column_stack(list(columns.values()))).any(axis=1)
    assert vector.n_observed == is_there.sum()
    assert vector.n_missing == 700 - is_there.sum()
    for part in vector.coordinates:
        np.testing.assert_array_equal(part.counts, np.unique(columns[part.name][is_there], return_counts=True)[1])


def test_other_rows_than_those_that_were_counted_are_refused(rng):
    columns = table(rng)
    plan = VectorPlan((decided(columns),), SETTINGS, 700)
    with pytest.raises(InputError, match="saw 700 rows and the second 10"):
        plan.found(plan.fold({name: cells[:10] for name, cells in columns.items()}))
    with pytest.raises(InputError, match="does not hold the values of the first pass"):
        plan.found(plan.fold(columns | {"b": columns["b"][::-1]}))


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"a": [1.0, np.inf, 2.0, 3.0]}, "its part 'a': has 1 infinite value: replace by numbers or by NaN"),
        ({"a": [np.nan] * 4}, "no observed value"),
        ({"a": [np.nan, 1.0, np.nan, np.nan]}, "a single observed value"),
        ({"a": [2.5] * 4, "b": [3] * 4}, r"constant \(always \[3.  2.5\]\)"),
        ({"a": [7] * 4, "b": [3] * 4}, r"constant \(always \[3 7\]\)"),
        ({"a": [2**60, 2**60 + 1, 4, 5]}, "its part 'a': has whole numbers that floats beside it would round"),
    ],
)
def test_vectors_that_say_nothing_are_left_out_as_in_memory(columns, reason):
    columns = {name: np.array(cells) for name, cells in ({"b": [0.5, 1.5, 2.5, 3.5]} | columns).items()}
    for cuts in ((), (1, 3)):
        with pytest.raises(SkipError, match=reason):
            counted(columns, cuts).decided(None, Notes())
    beside = {"x": [3.0, 1.0, 2.0, 5.0], "y": [1.0, 5.0, 2.0, 0.0]}
    skipped = renyi.matrix(columns | beside, vectors={"v": list(columns)}).skipped["v"]
    with pytest.raises(SkipError) as caught:
        counted(columns).decided(None, Notes())
    assert str(caught.value) == skipped.replace(" (first in row 1)", "")


def test_wide_whole_numbers_are_exact_beside_one_another(rng):
    steps = rng.permutation(300)
    columns = {"a": 2**62 + steps, "b": -(2**61) + steps[::-1]}
    vector = decided(columns, cuts=(90,))
    assert [len(part.counts) for part in vector.coordinates] == [300, 300]
    assert [part.rank_error for part in vector.coordinates] == [0.0, 0.0]


def test_text_is_a_coordinate_where_it_is_said_to_be_numbers():
    words = np.array(["1.5", "2", "n/a", "4"] * 10, dtype=object)
    columns = {"a": words, "b": np.arange(40.0)}
    with pytest.raises(InputError, match=r"'a', numbers that are written as text.*types=\{'a': 'number'\}"):
        counted(columns).decided(None, Notes())
    assert counted(columns, overrides={"a": "number"}).decided(None, Notes()).n_observed == 30
    with pytest.raises(InputError, match=r"vectors\['v'\] has 'a', a category, and the parts of a vector are numbers"):
        counted(columns | {"a": np.array(list("uvwx" * 10), dtype=object)}).decided(None, Notes())
