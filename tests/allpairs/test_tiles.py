from collections import Counter

import numpy as np
import pytest

import renyi
from renyi.allpairs import tiles
from renyi.allpairs.compare import InMemory, compare
from renyi.allpairs.tiles import groups, shared_tiles, tiles_of
from renyi.inference.multiscale import CORNER
from renyi.pair.independence import Permutations
from sample_tables import SEED, VECTORS, mixed, number, variables_of

PERMUTATIONS = Permutations(999, SEED, None)


def pairs_of(found):
    return [(min(i, j), max(i, j)) for i, j in zip(found.i.tolist(), found.j.tolist(), strict=True)]


def pairs_of_tile(x, y):
    if y is x:
        places = [(i, j) for k, i in enumerate(x.positions) for j in x.positions[k + 1 :]]
    else:
        places = [(i, j) for i in x.positions for j in y.positions]
    return [(int(min(pair)), int(max(pair))) for pair in places]


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_tiles_cover_every_pair_once(most, monkeypatch, rng):
    monkeypatch.setattr(tiles, "_MOST_COLUMNS", most)
    variables = variables_of(mixed(200, rng), vectors=VECTORS)
    covered = Counter(pair for tile in tiles_of(groups(variables)) for pair in pairs_of_tile(*tile))
    assert set(covered.values()) == {1}
    assert len(covered) == len(variables) * (len(variables) - 1) // 2


@pytest.mark.parametrize("most", [2, 100])
def test_tiles_of_two_tables_cover_each_with_each_once(most, monkeypatch, rng):
    monkeypatch.setattr(tiles, "_MOST_COLUMNS", most)
    variables = variables_of(mixed(200, rng))
    x, y = variables[:5], variables[5:]
    covered = Counter(
        (int(i), int(j)) for a, b in tiles_of(groups(x), groups(y)) for i in a.positions for j in b.positions
    )
    assert set(covered.values()) == {1}
    assert set(covered) == {(i, j) for i in range(len(x)) for j in range(len(y))}


def test_tiles_are_of_nearly_equal_size_and_within_the_bound(rng):
    variables = [number(rng.standard_normal(60)) for _ in range(330)]
    sizes = [(len(x.positions), len(y.positions)) for x, y in tiles_of(groups(variables))]
    assert max(max(size) for size in sizes) <= 160
    assert max(map(max, sizes)) - min(map(min, sizes)) <= 1
    dimension = variables[0].prepared.basis.dimension
    assert all(a * b * max(dimension, CORNER) ** 2 <= 1.1 * 3 * 2**20 for a, b in sizes)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_how_tiles_are_cut_changes_nothing(gaps, monkeypatch, rng):
    frame = mixed(120, rng, gaps=gaps)[["plain", "curve", "noise", "rounded", "date", "two", "five"]]
    whole = renyi.matrix(frame)
    monkeypatch.setattr(tiles, "_MOST_COLUMNS", 2)
    cut = renyi.matrix(frame)
    for name in ("values", "pvalues", "pearson", "spearman"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-12, err_msg=name)


def test_one_long_tile_is_shared_by_threads_and_gives_the_same(rng):
    values = rng.standard_normal((5_000, 20))
    values[:, 1] += values[:, 0] ** 2
    variables = variables_of({f"x{j}": column for j, column in enumerate(values.T)})
    whole, shared = list(tiles_of(groups(variables))), shared_tiles(groups(variables))
    assert [len(tiles) for tiles in (whole, shared, shared_tiles(groups(variables[:9])))] == [1, 3, 1]
    expected, *parts = (compare(*tile, InMemory(), PERMUTATIONS) for tile in (*whole, *shared))
    found = {pair: value for part in parts for pair, value in zip(pairs_of(part), part.coefficient, strict=True)}
    assert found.keys() == set(pairs_of(expected))
    np.testing.assert_allclose([found[pair] for pair in pairs_of(expected)], expected.coefficient, atol=1e-7)


def test_aligned_tiles_begin_at_multiples_and_cover_every_pair_once(rng):
    variables = [number(rng.random(200)) for _ in range(23)]
    found = list(tiles_of(groups(variables), most=9, aligned=4))
    sizes = {len(side.positions) for tile in found for side in tile}
    assert sizes == {8, 7}
    covered = Counter(pair for tile in found for pair in pairs_of_tile(*tile))
    assert set(covered.values()) == {1}
    assert len(covered) == 23 * 22 // 2
    # Less room than that leaves no choice.
    assert {len(x.positions) for x, _ in tiles_of(groups(variables), most=3, aligned=4)} == {2, 3}
