"""NumPy and torch, by the operations that they spell differently."""

import importlib.util

import numpy as np
import pytest

from command_line import python
from renyi.compute.arrays import (
    Lookup,
    as_places,
    at_least,
    by_value,
    columns_of_tensor,
    gathered,
    has_floats,
    in_memory,
    in_parts,
    is_matrix_of_floats,
    is_tensor,
    joined,
    like,
    stacked,
)

has_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@pytest.fixture(params=["numpy", pytest.param("torch", marks=has_torch)])
def made(request):
    """How an array of a library is made of NumPy's."""
    return np.asarray if request.param == "numpy" else pytest.importorskip("torch").tensor


def test_no_library_is_loaded_to_find_out():
    run = python(
        "import sys; from renyi.compute.arrays import is_tensor; print(is_tensor([1.0]), 'torch' in sys.modules)"
    )
    assert run.stdout.split() == ["False", "False"], run.stderr


def test_arrays_are_put_together_along_their_last_axis(made, rng):
    planes = rng.random((3, 4, 5))
    assert np.array_equal(in_memory(stacked([made(plane) for plane in planes])), np.moveaxis(planes, 0, -1))
    parts = [planes[..., :2], planes[..., 2:]]
    assert np.array_equal(in_memory(joined([made(part) for part in parts])), planes)


@has_torch
def test_tensors_keep_the_numbers_of_one_plane_together():
    torch = pytest.importorskip("torch")
    planes = [torch.zeros(30, 40) for _ in range(3)]
    together = stacked(planes)
    assert all(together[..., k].is_contiguous() for k in range(3))
    assert all(joined([together, together])[..., k].is_contiguous() for k in range(6))


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_pairs_are_gathered_with_all_they_have(made, share, rng):
    array = rng.random((4, 5, 2, 3))
    i, j = np.nonzero(rng.random((4, 5)) < share)
    assert np.array_equal(in_memory(gathered(made(array), made(i), made(j))), array[i, j])


def test_bounds_are_numbers_or_arrays(made, rng):
    values, bounds = rng.standard_normal((2, 50))
    assert np.array_equal(in_memory(at_least(made(values), 0.2)), np.maximum(values, 0.2))
    assert np.array_equal(in_memory(at_least(made(values), made(bounds))), np.maximum(values, bounds))


def test_numbers_keep_their_type_and_places_are_whole(made):
    array = made(np.zeros(3, dtype=np.float32))
    codes = like(np.array([1, 2], dtype=np.int32), array)
    assert is_tensor(codes) == is_tensor(array)
    assert in_memory(codes).dtype == np.int32
    assert in_memory(as_places(made(np.array([0.0, 1.99, 7.5])))).tolist() == [0, 1, 7]
    assert in_memory(as_places(array)).dtype == np.int64


def test_a_table_is_read_at_many_rows_column_by_column(made, rng):
    table, rows = rng.random((7, 3)), rng.integers(0, 7, 50)
    found = Lookup(table)
    for _ in range(2):  # the second time from what a device has kept
        assert np.array_equal(np.stack([in_memory(column) for column in found.at(made(rows))]), table[rows].T)


@pytest.mark.parametrize("values", [[], [4, 4, 4], [3, 1, 3, 2, 1]])
def test_positions_are_found_by_value(made, values):
    values = np.array(values, dtype=np.int64)
    found = {value: in_memory(made(values)[rows]).tolist() for rows, value in by_value(made(values))}
    assert found == {
        value: [value] * count for value, count in zip(*np.unique(values, return_counts=True), strict=True)
    }


def test_parts_are_all_of_the_items_in_their_order():
    assert list(map(list, in_parts(list("abcde"), 2))) == [["a", "b"], ["c", "d"], ["e"]]
    assert [part.tolist() for part in in_parts(np.arange(4), 2)] == [[0, 1], [2, 3]]


def test_floats_of_either_library_are_told(made):
    assert [has_floats(made(np.zeros(2, dtype=kind))) for kind in ("f4", "f8", "f2", "i8")] == [
        True,
        True,
        False,
        False,
    ]


def test_columns_of_a_tensor_stay_if_they_are_complete_and_vary(made):
    data = made(np.array([[1.0, 2.0, np.nan, np.inf], [1.0, 3.0, 4.0, 5.0]]))
    found = columns_of_tensor(data)
    assert (found is None) == (not is_tensor(data)) == (not is_matrix_of_floats(data))
    if found is not None:
        assert in_memory(found[0]).shape == (4, 2)
        assert found[1].tolist() == [False, True, False, False]
        assert not is_matrix_of_floats(data[0])
