"""Functions of columns without ties, of many numbers of rows at once, beside those that are made one by one."""

import copy
import pickle
from collections import Counter

import numpy as np
import pytest

import renyi

torch = pytest.importorskip("torch")

from renyi.allpairs.device import functions  # noqa: E402
from renyi.allpairs.device.functions import prepared_cells, tie_free  # noqa: E402
from renyi.basis.basis import grid_cells  # noqa: E402
from renyi.basis.random_features import DEFAULT_SCALE, FIXED_DRAW  # noqa: E402
from renyi.basis.ranks import tie_free_cells  # noqa: E402
from renyi.compute import devices  # noqa: E402
from renyi.pair.settings import Settings  # noqa: E402

CPU = torch.device("cpu")
DEFAULT = Settings(None, DEFAULT_SCALE, "auto")
# Few rows, on which the number of functions grows; more; and ranks on a grid.
LENGTHS = {"few": range(40, 130), "more": range(700, 740, 4), "on a grid": range(32_760, 33_000, 24)}


def one_by_one(n, settings):
    projection = settings.scalar_projection(n, FIXED_DRAW)
    return prepared_cells(*tie_free_cells(n, grid_cells(n, projection.roughest)), settings, has_ties=False)


def shares(basis):
    return np.sqrt(basis.cell_counts / basis.n_samples)[:, np.newaxis]


@pytest.mark.parametrize("settings", [DEFAULT, Settings(6, 1.0, "normal")], ids=["default", "k"])
@pytest.mark.parametrize("name", LENGTHS)
def test_functions_of_many_numbers_of_rows_span_what_single_ones_do(name, settings):
    lengths = list(LENGTHS[name])
    found, batches = tie_free(lengths, settings, CPU)
    assert list(found) == lengths
    by_draw = Counter(settings.scalar_projection(n, FIXED_DRAW) for n in lengths)
    assert [len(batch.prepared) for batch in batches] == [size for size in by_draw.values() if size >= 8]
    assert batches
    for n, one in found.items():
        expected = one_by_one(n, settings)
        assert (one.basis.dimension, one.scales.basis.dimension) == (
            expected.basis.dimension,
            expected.scales.basis.dimension,
        )
        assert (one.basis.n_samples, one.basis.n_cells) == (n, expected.basis.n_cells)
        assert (one.basis.cell_counts == expected.basis.cell_counts).all()
        assert one.basis.goes_by_rows == expected.basis.goes_by_rows
        assert one.scales.equal_pairs == expected.scales.equal_pairs == 0
        # Either may turn the functions of the coefficient; those of the test have their order.
        own, known = (side.basis.table * shares(side.basis) for side in (one, expected))
        assert np.abs(own.T @ own - np.eye(own.shape[1])).max() < 1e-8
        assert np.linalg.svd(own.T @ known, compute_uv=False) == pytest.approx(1.0, abs=1e-8)
        assert np.abs(one.scales.basis.table - expected.scales.basis.table).max() < 1e-7
        assert one.basis.largest_leverage == pytest.approx(expected.basis.largest_leverage, rel=1e-6)
        assert one.scales.leverages == pytest.approx(expected.scales.leverages, rel=1e-7)


def test_tables_on_the_device_are_those_that_are_made_in_memory_later():
    found, (batch,) = tie_free(range(200, 216), DEFAULT, CPU)
    for k, one in enumerate(batch.prepared):
        assert one is found[200 + k]
        for side, tables in ((one.basis, batch.coefficient), (one.scales.basis, batch.nested)):
            assert "table" not in side.__dict__
            dimension, cells = side.dimension, side.n_cells
            assert "table" not in side.__dict__
            assert side.table is side.table
            assert np.abs(tables[k, :cells, :dimension].numpy() - side.table).max() < 1e-9
            # Cells beyond those of a column, and the one of missing rows, have nothing.
            assert not tables[k, cells:].any()
            assert not tables[k, :, dimension:].any()
        middles = batch.middles[k].numpy()
        np.testing.assert_array_equal(middles[: one.scales.basis.n_cells], one.scales.smooth.middles)
        assert np.isnan(middles[one.scales.basis.n_cells :]).all()


def test_few_numbers_of_rows_are_made_one_by_one():
    found, batches = tie_free([50, 60, 70], DEFAULT, CPU)
    assert batches == []
    for n, one in found.items():
        np.testing.assert_array_equal(one.basis.table, one_by_one(n, DEFAULT).basis.table)


def test_a_device_of_little_room_makes_them_in_several_parts(monkeypatch):
    whole, _ = tie_free(range(300, 340), DEFAULT, CPU)
    monkeypatch.setattr(devices, "_ROOM_ON_CPU", int(12 * 8 * 160 * 340 / functions._SHARE))
    found, batches = tie_free(range(300, 340), DEFAULT, CPU)
    assert [len(batch.prepared) for batch in batches] == [12, 12, 12]
    for n, one in found.items():
        assert np.abs(one.scales.basis.table - whole[n].scales.basis.table).max() < 1e-9


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("is_made", [False, True])
def test_what_is_made_later_is_copied_as_it_is(again, is_made):
    found, _ = tie_free(range(100, 110), DEFAULT, CPU)
    basis = found[105].basis
    if is_made:
        assert basis.table.shape == (105, basis.dimension)
    other = again(basis)
    assert (other.dimension, other.n_samples, other.largest_leverage) == (basis.dimension, 105, basis.largest_leverage)
    np.testing.assert_array_equal(other.table, basis.table)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = other.nothing_of_the_kind


def test_results_that_hold_them_are_pickled_and_show_what_memory_shows(rng):
    values = rng.standard_normal((150, 14))
    values[:, 1] += values[:, 0] ** 2
    for k in range(14):
        values[: 2 * k, k] = np.nan
    found, expected = renyi.matrix(torch.tensor(values)), renyi.matrix(values)
    assert any("table" not in v.prepared.basis.__dict__ for v in found.edges.x)
    for one in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert repr(one) == repr(expected)
        assert one.top(9)["y"].tolist() == expected.top(9)["y"].tolist()
        assert one.values == pytest.approx(expected.values, abs=1e-9)
