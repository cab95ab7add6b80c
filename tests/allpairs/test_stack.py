import threading

import numpy as np
import pytest

from renyi.allpairs import stack as stacks
from renyi.allpairs.stack import ROWS_FOR_FLOAT32, CellStack, Joined, Values
from renyi.allpairs.tiles import groups
from renyi.basis.basis import Basis
from sample_tables import category, number


def dense(basis, missing, n_rows):
    """The functions of a basis (dimension, rows) over all rows of the table, 0 where it is missing."""
    rows = np.zeros((n_rows, basis.dimension))
    rows[slice(None) if missing is None else ~missing] = basis.rows(0, basis.n_samples)
    return rows.T


def numbers(n, n_columns, rng, *, gaps=0.3):
    """Nested bases of columns with gaps, one of them complete, one without ties."""
    missing = [None, *(rng.random(n) < gaps for _ in range(n_columns - 1))]
    values = [rng.standard_normal(n), *(np.round(rng.standard_normal(n), 1) for _ in range(n_columns - 1))]
    bases = [number(column, gap).scales.basis for column, gap in zip(values, missing, strict=True)]
    return bases, missing


@pytest.mark.parametrize("columns", [slice(None), slice(8), slice(8, None)])
def test_rows_of_a_stack_are_the_bases_one_after_the_other(columns, rng):
    bases, missing = numbers(200, 3, rng)
    stack = CellStack.of(bases, missing, 200, columns=columns)
    expected = np.concatenate([dense(*pair, 200)[columns] for pair in zip(bases, missing, strict=True)])
    np.testing.assert_array_equal(stack.rows(slice(0, 200)), expected)
    np.testing.assert_array_equal(stack.rows(slice(30, 77)), expected[:, 30:77])
    assert (len(stack), stack.dimension) == (3, len(range(20)[columns]))
    np.testing.assert_array_equal(stack.part(slice(1, 3)).rows(slice(0, 200)), expected[stack.dimension :])
    leading = stack.leading(2).rows(slice(0, 200)).reshape(3, 2, 200)
    np.testing.assert_array_equal(leading, expected.reshape(3, -1, 200)[:, :2])


def test_columns_without_ties_share_one_table(rng):
    bases = [number(rng.standard_normal(100)).scales.basis for _ in range(3)]
    stack = CellStack.of(bases, [None] * 3, 100, columns=slice(None))
    assert stack.packed.shape == (101, 20)
    assert stack.starts == (0, 0, 0)


def test_a_basis_without_codes_has_a_cell_for_every_row(rng):
    table, gaps = rng.standard_normal((50, 2)), rng.random(80) < 0.5
    gaps[np.flatnonzero(gaps)[: gaps.sum() - 30]] = False
    stack = CellStack.of([Basis(table, None, None)], [gaps], 80, columns=slice(None))
    np.testing.assert_array_equal(stack.rows(slice(0, 80))[:, ~gaps].T, table)
    assert (stack.rows(slice(0, 80))[:, gaps] == 0).all()
    whole = CellStack.of([Basis(table, None, None)], [None], 50, columns=slice(None))
    np.testing.assert_array_equal(whole.rows(slice(10, 20)).T, table[10:20])


def test_two_stacks_are_joined_function_by_function(rng):
    bases, missing = numbers(90, 3, rng)
    whole = CellStack.of(bases, missing, 90, columns=slice(None))
    parts = [CellStack.of(bases, missing, 90, columns=columns) for columns in (slice(8), slice(8, None))]
    joined = Joined(*parts)
    assert (len(joined), joined.dimension, joined.n_rows) == (3, 20, 90)
    np.testing.assert_array_equal(joined.rows(slice(5, 60)), whole.rows(slice(5, 60)))
    np.testing.assert_allclose(joined.products(parts[0]), whole.products(parts[0]), atol=1e-10)


def test_values_are_their_own_stack(rng):
    numbers = rng.standard_normal((6, 40))
    values = Values(numbers, dimension=2)
    assert (len(values), values.n_rows) == (3, 40)
    np.testing.assert_array_equal(values.part(slice(1, 3)).rows(slice(3, 9)), numbers[2:, 3:9])


@pytest.mark.parametrize("n", [300, 2 * ROWS_FOR_FLOAT32 + 100])
def test_products_are_sums_over_the_rows(n, rng):
    (x, gaps_x), (y, gaps_y) = numbers(n, 3, rng), numbers(n, 2, rng)
    left, right = CellStack.of(x, gaps_x, n, columns=slice(8)), CellStack.of(y, gaps_y, n, columns=slice(5))
    found = left.products(right)
    assert found.shape == (3, 2, 8, 5)
    assert found.dtype == np.float64
    # Products of float32 have a relative error of 10⁻⁷ each, which averages out over different values.
    error = 1e-9 if n < ROWS_FOR_FLOAT32 else 1e-6
    for i, j in np.ndindex(3, 2):
        expected = dense(x[i], gaps_x[i], n)[:8] @ dense(y[j], gaps_y[j], n)[:5].T
        np.testing.assert_allclose(found[i, j] / n, expected / n, atol=error)
    with_itself = left.products(left)
    np.testing.assert_allclose(with_itself, with_itself.transpose(1, 0, 3, 2), atol=error * n)


def test_columns_of_few_values_lose_nothing_to_float32(rng):
    n = 8 * ROWS_FOR_FLOAT32
    codes = rng.integers(0, 5, n)
    x, y = category(codes).scales.basis, number(rng.standard_normal(n)).scales.basis
    left, right = (CellStack.of([basis], [None], n, columns=slice(None)) for basis in (x, y))
    assert left.rows(slice(0, 1)).dtype == np.float64
    assert right.rows(slice(0, 1)).dtype == np.float32
    # What float32 rounds in a table of few cells repeats: a category and its copy would be 10⁻⁵ apart.
    np.testing.assert_allclose(left.products(left)[0, 0] / n, np.eye(4), atol=1e-12)
    expected = x.rows(0, n).T @ y.rows(0, n) / n
    np.testing.assert_allclose(left.products(right)[0, 0] / n, expected, atol=1e-6)


def test_few_products_are_as_exact_as_many(rng):
    n = ROWS_FOR_FLOAT32
    values = np.where(np.arange(n) < n // 2, 0.0, rng.standard_normal((3, n)))
    bases = [number(column).scales.basis for column in values]
    stack = CellStack.of(bases, [None] * 3, n, columns=slice(8))
    assert stack.packed.dtype == np.float32
    expected = np.concatenate([dense(basis, None, n)[:8] for basis in bases])
    one = stack.part(slice(0, 1))
    np.testing.assert_allclose(one.products(one)[0, 0] / n, expected[:8] @ expected[:8].T / n, atol=2e-7)


def test_long_tables_are_summed_in_chunks_that_cover_all_rows():
    for n in (1, 4095, 4096, 4097, 10_000):
        rows = np.concatenate([np.arange(n)[chunk] for chunk in stacks.fine_chunks(n, 1)])
        assert rows.tolist() == list(range(n))


def test_what_was_found_stays_when_memory_is_used_again(rng):
    bases, missing = numbers(100, 3, rng)
    stack = CellStack.of(bases, missing, 100, columns=slice(None))
    first = stack.products(stack)
    kept = first.copy()
    other = CellStack.of(bases[::-1], missing[::-1], 100, columns=slice(None))
    other.products(other)
    np.testing.assert_array_equal(first, kept)
    # A place of its own for every stack that is looked at together with another, and for every thread.
    left, right = stack.rows(slice(0, 100), place="left"), other.rows(slice(0, 100), place="right")
    assert not np.shares_memory(left, right)
    of_batches = []
    thread = threading.Thread(target=lambda: of_batches.append(other.rows(slice(0, 100), place="left")))
    thread.start()
    thread.join()
    assert not np.shares_memory(left, of_batches[0])


def test_vectors_are_never_multiplied_by_cells_which_are_their_rows(rng):
    """Two of them would have a table of as many cells as there are pairs of rows."""
    missing = [rng.random(300) < 0.6, None]
    bases = [
        Basis(rng.standard_normal((300 if gap is None else np.count_nonzero(~gap), 60)), None, None) for gap in missing
    ]
    stack = CellStack.of(bases[:1], missing[:1], 300, columns=slice(None))
    assert not stack.is_wide
    assert not stack.part(slice(1)).is_wide
    expected = dense(bases[0], missing[0], 300)
    np.testing.assert_allclose(stack.products(stack)[0, 0], expected @ expected.T, atol=1e-9)


def test_one_function_of_few_columns_is_added_up_over_the_cells_of_others(monkeypatch, rng):
    n = 4 * ROWS_FOR_FLOAT32
    (group,) = groups([number(np.round(rng.standard_normal(n), 2)) for _ in range(3)])
    first, rest = group.corner.leading(1), group.rest
    assert rest.has_few_cells
    monkeypatch.setattr(stacks, "_ROWS_OF_CELLS", 5000)
    by_cells = stacks._products_of_light_cells(first, rest)
    assert np.array_equal(first.products(rest), by_cells)
    assert np.array_equal(rest.products(first), by_cells.transpose(1, 0, 3, 2))
    monkeypatch.setattr(stacks, "_FEW_COLUMNS", 0)
    np.testing.assert_allclose(by_cells / n, first.products(rest) / n, atol=1e-7)
    # Of a value that many rows have, float32 would not add up so well.
    monkeypatch.setattr(stacks, "_CHUNK_ROWS", 10)
    assert stacks._products_of_light_cells(first, rest) is None
