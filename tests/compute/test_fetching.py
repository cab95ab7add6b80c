"""Matrices that are filled block by block, where the processor is the device."""

import copy
import pickle
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.compute import fetching  # noqa: E402
from renyi.compute.fetching import Fetching  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(params=["on the device", "in memory", "in small pieces"])
def _way(request, monkeypatch):
    if request.param == "in memory":
        monkeypatch.setattr(fetching, "_SHARE_OF_MATRICES", 0.0)
    if request.param == "in small pieces":
        monkeypatch.setattr(fetching, "_PIECE", 7)
        monkeypatch.setattr(fetching, "_SMALL", 0)


@pytest.mark.usefixtures("_way")
def test_rows_that_were_fetched_are_in_memory(rng):
    expected = {name: rng.random((9, 6)) for name in ("one", "two")}
    with Fetching(["one", "two"], (9, 6), CPU) as matrices:
        for rows in (np.array([0, 1, 2, 5]), np.array([3, 4, 6, 7, 8])):
            for columns in (np.array([0, 3]), np.array([1, 2, 4, 5])):
                for name, whole in expected.items():
                    block = torch.tensor(whole[np.ix_(rows, columns)])
                    matrices.put(name, rows, columns, block)
            matrices.fetch(rows)
    for name, whole in expected.items():
        assert np.array_equal(matrices.matrices[name], whole)


@pytest.mark.usefixtures("_way")
def test_blocks_may_be_turned_and_end_where_others_begin(rng):
    whole = rng.random((7, 7))
    whole += whole.T
    parts = [np.array([0, 1, 2]), np.array([3, 5]), np.array([4, 6])]
    with Fetching(["m"], (7, 7), CPU) as matrices:
        for k, rows in enumerate(parts):
            for columns in parts[k:]:
                block = torch.tensor(whole[np.ix_(rows, columns)])
                matrices.put("m", rows, columns, block)
                matrices.put("m", columns, rows, block.T)
        matrices.fetch(np.arange(7))
    assert np.array_equal(matrices.matrices["m"], whole)


def test_an_error_comes_out_as_itself_and_ends_the_threads():
    before, matrices = threading.active_count(), Fetching(["m"], (100, 100), CPU)

    def fail():
        with matrices:
            matrices.fetch(np.arange(100))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert threading.active_count() == before


def test_what_fails_while_rows_are_brought_is_heard(monkeypatch):
    def fail(*_):
        raise OSError("no bus")

    monkeypatch.setattr(fetching, "_SMALL", 0)
    monkeypatch.setattr(fetching.Bringing, "_bring", fail)
    with pytest.raises(OSError, match="no bus"), Fetching(["m"], (4, 4), CPU) as matrices:
        matrices.fetch(np.arange(4))


def test_large_matrices_wait_on_the_device_until_they_are_asked_for(rng, monkeypatch):
    monkeypatch.setattr(fetching, "_LARGE", 50)
    whole = {name: rng.random((9, 6)) for name in ("now", "later")}

    def filled():
        with Fetching(["now", "later"], (9, 6), CPU, later=["later"]) as matrices:
            for name, matrix in whole.items():
                matrices.put(name, np.arange(9), np.arange(6), torch.tensor(matrix))
            matrices.fetch(np.arange(9))
        return matrices.matrices

    found = filled()
    assert list(found) == ["now"]
    assert np.array_equal(found["later"], whole["later"])
    assert list(found) == ["now", "later"]
    for again in (pickle.loads(pickle.dumps(filled())), copy.deepcopy(filled())):
        assert all(np.array_equal(again[name], matrix) for name, matrix in whole.items())
    with pytest.raises(KeyError):
        filled()["none"]


def test_rows_between_others_come_with_them_in_the_end(rng, monkeypatch):
    monkeypatch.setattr(fetching, "_FEWEST_TOGETHER", 4)
    whole, brought = rng.random((9, 6)), []
    started = fetching.Bringing.start

    def start(self, source, target, **named):
        brought.append(len(target))
        started(self, source, target, **named)

    monkeypatch.setattr(fetching.Bringing, "start", start)
    with Fetching(["m"], (9, 6), CPU) as matrices:
        matrices.put("m", np.arange(9), np.arange(6), torch.tensor(whole))
        matrices.fetch(np.arange(0, 9, 2))
        assert brought == []
        matrices.fetch(np.array([1, 3]))
        assert brought == [5]
        matrices.fetch(np.array([7]))
    assert brought == [5, 3]
    assert np.array_equal(matrices.matrices["m"][[0, 1, 2, 3, 4, 6, 7, 8]], whole[[0, 1, 2, 3, 4, 6, 7, 8]])
