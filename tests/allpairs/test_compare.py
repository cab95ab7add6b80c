import numpy as np
import pytest

import renyi
from renyi.allpairs.compare import InMemory, compare
from renyi.allpairs.tiles import groups
from renyi.pair.independence import Permutations
from sample_tables import SEED, number

PERMUTATIONS = Permutations(999, SEED, None)


def pairs_of(found):
    return [(min(i, j), max(i, j)) for i, j in zip(found.i.tolist(), found.j.tolist(), strict=True)]


def test_a_tile_of_a_group_with_itself_has_the_pairs_above_the_diagonal(rng):
    (group,) = groups([number(rng.standard_normal(80)) for _ in range(4)])
    found = compare(group, group, InMemory(), PERMUTATIONS)
    assert sorted(pairs_of(found)) == [(i, j) for i in range(4) for j in range(i + 1, 4)]
    assert (found.n == 80).all()
    assert (found.dimensions == group.coefficient.dimension).all()


def test_without_a_coefficient_there_is_no_test(rng):
    gaps = np.arange(60) < 30
    x, y = number(rng.standard_normal(60), gaps), number(rng.standard_normal(60), np.roll(gaps, 26))
    (group,) = groups([x, y])
    found = compare(group, group, InMemory(), PERMUTATIONS)
    assert found.n.tolist() == [4]
    assert found.dimensions.tolist() == [[2, 2]]
    assert np.isnan(found.coefficient).all()
    assert np.isnan(found.log_pvalue).all()


def test_permutations_speak_where_no_block_can_be_trusted(rng):
    # One event in a hundred on both sides.
    x, y = np.zeros((2, 300))
    x[:3] = y[1:4] = 1.0
    variables = [number(x), number(y)]
    found = compare(*groups(variables), *groups(variables), InMemory(), PERMUTATIONS)
    expected = renyi.independence_test(x, y, n_resamples=999)
    assert expected.n_resamples is not None
    assert np.exp(found.log_pvalue[0]) == pytest.approx(expected.pvalue)
