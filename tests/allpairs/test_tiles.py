from collections import Counter

import numpy as np
import pytest

import renyi
from renyi.allpairs import tiles
from renyi.allpairs.tiles import groups, shared_tiles, tiles_of
from renyi.inference.multiscale import CORNER
from sample_tables import VECTORS, mixed, number, variables_of


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


def test_tiles_are_of_whole_blocks_of_nearly_equal_size_and_within_the_bound(rng):
    variables = [number(rng.standard_normal(60)) for _ in range(330)]
    sizes = [(len(x.positions), len(y.positions)) for x, y in tiles_of(groups(variables))]
    assert max(max(size) for size in sizes) <= 160
    assert {size for pair in sizes for size in pair} == {120, 90}
    rank = variables[0].prepared.basis.rank
    assert all(a * b * max(rank, CORNER) ** 2 <= 1.1 * 3 * 2**20 for a, b in sizes)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_how_tiles_are_cut_changes_nothing(gaps, monkeypatch, rng):
    frame = mixed(120, rng, gaps=gaps)[["plain", "curve", "noise", "rounded", "date", "two", "five"]]
    whole = renyi.matrix(frame)
    monkeypatch.setattr(tiles, "_MOST_COLUMNS", 2)
    cut = renyi.matrix(frame)
    for name in ("values", "pvalues", "pearson", "spearman"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_tiles"),
    # On 1, 2, 4, 8 and 16 cores.
    [(5_000, 20, [1, 3, 3, 3, 3]), (5_000, 90, [1, 3, 10, 10, 10]), (60, 330, [6, 6, 6, 6, 6])],
)
def test_more_cores_have_more_tiles(n_rows, n_columns, n_tiles, monkeypatch, rng):
    variables = [number(rng.standard_normal(n_rows)) for _ in range(n_columns)]
    found = []
    for n_cores in (1, 2, 4, 8, 16):
        monkeypatch.setattr(tiles, "available_cores", lambda n_cores=n_cores: n_cores)
        found.append(len(shared_tiles(groups(variables))))
    assert found == n_tiles


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_products_are_the_same_to_the_last_bit_however_many_cores_share_them(gaps, monkeypatch, rng):
    values = rng.standard_normal((5_000, 45))
    values[:, 1] += values[:, 0] ** 2
    values[rng.random(values.shape) < gaps] = np.nan
    found = []
    for n_cores in (1, 16):
        monkeypatch.setattr(tiles, "available_cores", lambda n_cores=n_cores: n_cores)
        found.append(renyi.matrix(values))
    assert (found[0].spearman == found[1].spearman).all()
    for name in ("values", "pvalues"):
        np.testing.assert_allclose(getattr(found[0], name), getattr(found[1], name), rtol=1e-9)


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
