"""Columns on a device, by themselves, where the processor is one: `device/stack` and `device/ranking`."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.device import stack as resident  # noqa: E402
from renyi.allpairs.device.ranking import has_tensors, ranked, read_tensors, tensors_of, without_gaps  # noqa: E402
from renyi.allpairs.device.stack import ResidentStack, ResidentValues  # noqa: E402
from renyi.basis.random_features import DEFAULT_SCALE  # noqa: E402
from renyi.errors import InputError  # noqa: E402
from renyi.pair.rdc import Settings  # noqa: E402
from sample_tables import number  # noqa: E402

CPU = torch.device("cpu")
SETTINGS = Settings(None, DEFAULT_SCALE, "auto")


def stacked(rank, n_columns, rng, n_rows=321):
    """Functions (rows, columns, rank) of columns with two tables between them, and their stack."""
    tables = [rng.standard_normal((n_cells, rank)) for n_cells in (20, 7)]
    codes = np.concatenate([rng.integers(0, 20, (n_rows, n_columns - 1)), 20 + rng.integers(0, 7, (n_rows, 1))], axis=1)
    stack = ResidentStack.of(tables, torch.tensor(codes.astype(np.int32)), dtype=torch.float64)
    return np.concatenate(tables)[codes], stack


# Stacks.


@pytest.mark.parametrize(("rank", "other_rank"), [(3, 1), (8, 12), (20, 8)])
@pytest.mark.parametrize("most_rows", [64, 32768])
def test_products_are_sums_over_all_rows(rank, other_rank, most_rows, rng, monkeypatch):
    monkeypatch.setattr(resident, "_MOST_ROWS", most_rows)
    (x, left), (y, right) = stacked(rank, 4, rng), stacked(other_rank, 3, rng)
    np.testing.assert_allclose(left.products(right).numpy(), np.einsum("nia,njb->ijab", x, y), atol=1e-10)


@pytest.mark.parametrize("rank", [4, 12])
def test_every_pair_of_a_group_with_itself_is_there(rank, rng, monkeypatch):
    monkeypatch.setattr(resident, "_FEWEST_OF_STRIP", 2)
    x, stack = stacked(rank, 9, rng)
    expected, found = np.einsum("nia,njb->ijab", x, x), stack.products(stack).numpy()
    i, j = np.triu_indices(9)
    np.testing.assert_allclose(found[i, j], expected[i, j], atol=1e-10)


def test_parts_of_a_stack_are_some_columns_or_some_functions(rng):
    _, stack = stacked(12, 4, rng)
    whole = stack.products(stack.part(slice(3, 4))).numpy()
    assert len(stack.part(slice(1, 3))) == 2
    np.testing.assert_allclose(
        stack.part(slice(1, 3)).products(stack.part(slice(3, 4))).numpy(), whole[1:3], atol=1e-10
    )
    np.testing.assert_allclose(stack.leading(2).products(stack.part(slice(3, 4))).numpy(), whole[:, :, :2], atol=1e-10)
    # Cells are told as the column itself counts them.
    assert stack.codes_of(3).min() == 0
    assert len(np.unique(stack.codes_of(3))) == 7


@pytest.mark.parametrize("kind", ["plain", "large", "whole"])
def test_values_multiply_to_their_correlation(kind, rng):
    plain = np.round(100 * rng.standard_normal((5, 400)))
    plain[2] += plain[0]
    # Whole numbers of neighbours that no float can tell apart; floats whose squares are beyond their range.
    sizes = np.array([1e300, 1e-300, 1e200, 1.0, 1e-200])[:, None]
    values = {"plain": plain, "large": sizes * plain, "whole": 2**60 + plain.astype(np.int64)}[kind]
    expected = np.corrcoef(plain)
    stack = ResidentValues.of(torch.tensor(values))
    found = stack.part(slice(0, 2)).products(stack.part(slice(2, 5))).numpy()[..., 0, 0] / 400
    np.testing.assert_allclose(found, expected[:2, 2:], atol=1e-12)


# Ranking.


def test_tables_are_tensors_or_dicts_of_tensors(rng):
    values = torch.tensor(rng.random((9, 2)))
    columns = {"a": values[:, 0], 5: values[:, 1]}
    assert has_tensors(values)
    assert has_tensors(columns)
    assert not has_tensors({})
    assert not has_tensors({"a": values[:, 0], "b": np.arange(9)})
    assert [len(tensors_of(data)) for data in (values, columns, values.numpy())] == [1, 2, 0]
    assert [c.name for c in read_tensors(columns, CPU).table.columns] == ["a", "5"]
    assert torch.equal(read_tensors(columns, CPU).numbers, read_tensors(values, CPU).numbers)
    with pytest.raises(InputError, match=r"'b' in other has the shape \(8,\): pass tensors of one length"):
        read_tensors({"a": values[:, 0], "b": values[:8, 1]}, CPU, "other")


@pytest.mark.parametrize("n", [50, 5000])
def test_columns_are_prepared_as_in_memory(n, rng):
    columns = [rng.standard_normal(n), np.round(rng.standard_normal(n)), rng.standard_normal(n)]
    found = ranked(read_tensors(torch.tensor(np.stack(columns, axis=1)), CPU), SETTINGS, missing="pairwise")
    assert len(found.variables) == 3
    for variable, codes, values in zip(found.variables, found.codes.numpy(), columns, strict=True):
        expected = number(values).prepared
        for own, other in ((variable.prepared.basis, expected.basis), (variable.scales.basis, expected.scales.basis)):
            np.testing.assert_allclose(own.table[codes], other.rows(0, n), atol=1e-12)
    # Columns without ties share what was prepared, and one group.
    assert found.variables[0].prepared is found.variables[2].prepared
    assert sorted(len(group.positions) for group in found.groups()) == [1, 2]


def test_columns_that_say_nothing_are_left_out_with_a_reason():
    numbers = torch.tensor([[1.0, 2.0, np.nan, 0.0], [1.0, 3.0, np.nan, np.inf], [1.0, 1.0, np.nan, -np.inf]])
    found = ranked(read_tensors(numbers, CPU), SETTINGS, missing="pairwise")
    assert [variable.column.name for variable in found.variables] == ["x1"]
    assert found.table.skipped == {
        "x0": "constant (always 1.0)",
        "x2": "no observed value",
        "x3": "has 2 infinite values: replace by numbers or by NaN",
    }


def test_rows_that_lack_a_value_are_dropped_where_that_is_asked_for():
    table = read_tensors(torch.tensor([[1.0, 2.0], [np.nan, 3.0], [4.0, 1.0], [2.0, np.nan]]), CPU)
    assert without_gaps(table, "pairwise") is table
    left = without_gaps(table, "listwise")
    assert left.numbers.tolist() == [[1.0, 4.0], [2.0, 1.0]]
    assert left.table.n_rows == 2
    with pytest.raises(InputError, match="1 row of 2 have no missing cell"):
        without_gaps(read_tensors(torch.tensor([[1.0, 2.0], [np.nan, 3.0]]), CPU), "listwise")
