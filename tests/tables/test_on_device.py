"""Tables on a device, by what is read and refused there; numbers are in `allpairs/device` and in the contracts."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import renyi  # noqa: E402
from renyi.errors import InputError  # noqa: E402
from renyi.tables.on_device import TableOnDevice  # noqa: E402


def on_device(measure="rdc", missing="pairwise", types=None):
    return TableOnDevice(torch.device("cpu"), renyi.measure(measure), types, None, missing)


def test_both_sides_of_a_screening_lose_the_same_rows(rng):
    values = rng.standard_normal((60, 3))
    values[:9, 0], values[50:, 2], values[20:26, 1] = np.nan, np.nan, np.nan
    name, table, edges = on_device(missing="listwise").screen(torch.tensor(values), "x1", None, progress=False)
    assert name == "x1"
    assert [column.name for column in table.columns] == ["x0", "x2"]
    assert edges.found.n.tolist() == [35, 35]


def test_two_tables_of_unequal_rows_are_refused(rng):
    x, y = torch.tensor(rng.random((30, 2))), torch.tensor(rng.random((29, 2)))
    with pytest.raises(InputError, match="the table has 30 rows and other has 29"):
        on_device().matrix(x, y, progress=False)
    with pytest.raises(InputError, match="'listwise' would drop different rows of two tables"):
        on_device(missing="listwise").matrix(x, x, progress=False)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([], "target names no column"),
        (["x0", "x1"], "a target of several columns is a vector"),
        ("x9", "target names 'x9'"),
    ],
)
def test_targets_are_one_column(target, message, rng):
    with pytest.raises(InputError, match=message):
        on_device().screen(torch.tensor(rng.random((30, 3))), target, None, progress=False)


def test_a_target_that_says_nothing_is_told(rng):
    values = torch.tensor(rng.random((30, 3)))
    values[:, 1] = 2.5
    with pytest.raises(InputError, match=r"target 'x1' cannot be measured, it was left out: constant \(always 2\.5\)"):
        on_device().screen(values, "x1", None, progress=False)


def test_frames_are_read_with_their_types_and_tensors_have_none(rng):
    frame = {"a": rng.random(30), "b": rng.random(30), "n": rng.integers(0, 3, 30)}
    table, other, edges = on_device(types={"n": "skip"}).matrix(frame, None, progress=False)
    assert [column.name for column in table.columns] == ["a", "b"]
    assert other is None
    assert len(edges) == 1
    with pytest.raises(InputError, match="types and vectors are for columns that have types"):
        on_device(types={"x0": "skip"}).matrix(torch.tensor(rng.random((30, 3))), None, progress=False)
