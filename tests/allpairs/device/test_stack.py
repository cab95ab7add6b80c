from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.device import stack as device_stack  # noqa: E402
from renyi.allpairs.device.stack import DeviceStack, Observed  # noqa: E402
from renyi.compute import devices  # noqa: E402
from tensor_tables import InHost  # noqa: E402


def stack_of(n_columns, dimension, rng, *, n_rows=300, dtype=torch.float64):
    """Functions of some columns on cells of two tables, and the same at all rows (rows, columns, dimension)."""
    tables = [rng.standard_normal((n_cells, dimension)) for n_cells in (40, 25)]
    codes = np.column_stack([rng.integers(40 * (k % 2), 40 + 25 * (k % 2), n_rows) for k in range(n_columns)])
    stack = DeviceStack.of(tables, torch.tensor(codes.astype(np.int32)), dtype=dtype)
    return stack, np.concatenate(tables)[codes]


def products_of(x, y):
    return np.einsum("nia,njb->ijab", x, y)


def cut_up(monkeypatch, *, strip, rows, width):
    """Lower what decides about strips of columns, chunks of rows and what is filled up."""
    monkeypatch.setattr(device_stack, "_FEWEST_OF_STRIP", strip)
    monkeypatch.setattr(device_stack, "_MOST_ROWS", rows)
    monkeypatch.setattr(device_stack, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(device_stack, "_ALIGNED", 1)
    monkeypatch.setattr(device_stack, "_EASY_WIDTH", width)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 11, 12])
@pytest.mark.parametrize("dimension", [1, 3, 8, 13])
@pytest.mark.parametrize("rows", [10**6, 97])
@pytest.mark.parametrize("width", [8, 4, 2])
def test_columns_with_themselves_have_the_products_of_every_pair_both_ways(
    n_columns, dimension, rows, width, monkeypatch
):
    rng = np.random.default_rng(n_columns)
    cut_up(monkeypatch, strip=2, rows=rows, width=width)
    stack, values = stack_of(n_columns, dimension, rng)
    assert len(stack._strips()) == -(-stack.n_places // 2)
    found = stack.products(stack).numpy()
    assert np.abs(found - products_of(values, values)).max() < 1e-10
    first = stack.leading(1)
    assert np.abs(first.products(first).numpy() - products_of(values[..., :1], values[..., :1])).max() < 1e-10


def test_columns_with_others_have_the_products_of_every_pair(rng, monkeypatch):
    cut_up(monkeypatch, strip=2, rows=97, width=4)
    (x, of_x), (y, of_y) = stack_of(9, 8, rng), stack_of(7, 13, rng)
    assert np.abs(x.products(y).numpy() - products_of(of_x, of_y)).max() < 1e-10
    parts = x.part(slice(2, 8)), slice(2, 8)
    assert np.abs(parts[0].products(x).numpy() - products_of(of_x[:, parts[1]], of_x)).max() < 1e-10


@pytest.mark.parametrize(("kinds", "tolerance"), [(("cuda",), 3e-6), (("cuda", "cpu"), 3e-6)])
def test_strips_of_single_precision_and_of_its_halves(kinds, tolerance, rng, monkeypatch):
    monkeypatch.setattr(devices, "_IN_HALVES", kinds)
    cut_up(monkeypatch, strip=3, rows=128, width=8)
    stack, values = stack_of(13, 8, rng, dtype=torch.float32)
    assert len(stack.tables) == len(kinds)
    found, expected = stack.products(stack).numpy(), products_of(values, values)
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


def test_chunks_have_few_rows_where_there_is_little_room(rng, monkeypatch):
    stack, values = stack_of(5, 8, rng)
    assert len(list(stack._chunks(stack))) == 1
    monkeypatch.setattr(devices, "_ROOM_ON_CPU", 0)
    sizes = [rows.stop - rows.start for rows in stack._chunks(stack)]
    assert sizes == [64, 64, 64, 64, 44]
    assert np.abs(stack.products(stack).numpy() - products_of(values, values)).max() < 1e-10


def test_functions_of_any_size_multiply_in_halves(rng, monkeypatch):
    monkeypatch.setattr(devices, "_IN_HALVES", ("cpu",))
    table, codes = rng.standard_normal((50, 3)), rng.integers(0, 50, (4000, 4))
    table[0] = 900.0
    functions = rng.standard_normal((5, 4000)) * np.logspace(-12, 3, 5)[:, np.newaxis]
    values = table[codes]
    stack = device_stack.DeviceStack.of([table], torch.tensor(codes.astype(np.int32)), dtype=torch.float32)
    others = device_stack.DeviceRows.of(torch.tensor(functions), dtype=torch.float32)
    found = stack.products(others)[:, :5, :, 0].numpy().swapaxes(1, 2) * others.sizes
    lengths = np.sqrt((values**2).sum(axis=0))[..., np.newaxis] * np.sqrt((functions**2).sum(axis=1))
    assert np.abs((found - np.einsum("nca,fn->caf", values, functions)) / lengths).max() < 1e-6
    weighted = device_stack.Weighted.of(stack, torch.tensor(functions[4]))
    found = weighted.products(stack).numpy() * weighted.size
    expected = np.einsum("nca,n,ndb->cdab", values, functions[4], values)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


# Rows that lie elsewhere than what works on them.


def with_gaps(n_columns, rng, *, n_rows=300, dimension=5):
    """Functions of columns on 30 cells each, after which comes one of missing rows."""
    tables = rng.standard_normal((n_columns, 31, dimension))
    tables[:, -1] = 0.0
    codes = rng.integers(0, 31, (n_rows, n_columns))
    starts = 31 * np.arange(n_columns)
    stack = DeviceStack.of_table(
        torch.tensor(tables.reshape(-1, dimension)),
        torch.tensor((codes + starts).astype(np.int32)),
        dtype=torch.float64,
        starts=starts.tolist(),
        sizes=[31] * n_columns,
    )
    return stack, codes


def test_places_in_memory_are_moved_as_they_are_needed(rng, monkeypatch):
    cut_up(monkeypatch, strip=2, rows=97, width=4)
    stack, codes = with_gaps(6, rng)
    elsewhere = replace(stack, places=stack.places.as_subclass(InHost))
    before = InHost.moved
    assert elsewhere.device == stack.device
    assert torch.equal(elsewhere.products(elsewhere), stack.products(stack))
    assert InHost.moved - before == len(list(stack._chunks(stack))) == 4
    part, leading = elsewhere.part(slice(1, 4)), elsewhere.leading(2)
    assert torch.equal(part.products(leading), stack.part(slice(1, 4)).products(stack.leading(2)))
    assert np.array_equal(elsewhere.cells(3).numpy(), codes[:, 3])
    observed = Observed(elsewhere)
    found = observed.products(elsewhere)
    assert torch.equal(found, Observed(stack).products(stack))
    is_there = codes < 30
    assert torch.equal(observed.of_column(2), torch.tensor(is_there[:, 2]))
    counts = Observed(elsewhere).products(Observed(elsewhere))[..., 0, 0].numpy()
    assert np.array_equal(counts, is_there.T.astype(float) @ is_there)


# Many functions.


@pytest.mark.parametrize("are_rows", [False, True])
def test_many_functions_are_multiplied_by_cells_unless_these_are_rows(are_rows, rng, monkeypatch):
    stack, codes = with_gaps(3, rng, dimension=60)
    stack = replace(stack, has_rows_for_cells=are_rows)
    values = np.stack([stack.tables[0][31 * k + codes[:, k], :60].numpy() for k in range(3)], axis=1)
    by_cells = []
    whole = DeviceStack._products_of_cells
    monkeypatch.setattr(DeviceStack, "_products_of_cells", lambda *sides: by_cells.append(sides) or whole(*sides))
    found = stack.products(stack).numpy()
    assert len(by_cells) == (0 if are_rows else 1)
    assert np.abs(found - products_of(values, values)).max() < 1e-9
    few = stack.leading(3)
    assert np.abs(few.products(stack).numpy() - products_of(values[..., :3], values)).max() < 1e-9


def test_functions_follow_one_another_on_the_same_cells(rng):
    stack, codes = with_gaps(3, rng)
    both = stack.leading(2).followed_by(stack)
    assert (both.dimension, len(both), both.sizes) == (7, 3, stack.sizes)
    values = np.stack([stack.tables[0][31 * k + codes[:, k], :5].numpy() for k in range(3)], axis=1)
    expected = np.concatenate((values[..., :2], values), axis=2)
    assert np.abs(both.products(both).numpy() - products_of(expected, expected)).max() < 1e-10
