"""What is done with results of tables that were compared on a device."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import renyi

torch = pytest.importorskip("torch")

from renyi.tables import api  # noqa: E402
from tensor_tables import N, columns, said  # noqa: E402

# What is done with a result.


@pytest.fixture(params=["matrix", "two tables", "screening"])
def result(request, rng):
    values = torch.tensor(columns(rng))
    if request.param == "screening":
        return renyi.screen(values, "x0")
    return renyi.matrix(values) if request.param == "matrix" else renyi.matrix(values[:, :2], values[:, 2:])


PARTS = ("values", "debiased", "pvalues", "qvalues", "pearson", "spearman", "n_samples")


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
def test_results_of_tensors_are_pickled_and_copied_whole(again, is_read, result):
    shown = repr(result)
    before = {part: np.array(getattr(result, part)) for part in PARTS} if is_read else {}
    other = again(result)
    for one in (other, result):
        for part in PARTS:
            found = getattr(one, part)
            assert not found.flags.writeable
            assert np.array_equal(found, before.get(part, getattr(result, part)), equal_nan=True)
        assert repr(one) == shown
        assert (one.names, dict(one.types)) == (result.names, dict(result.types))
        assert str(one.top()) == str(result.top())
    assert (other.edges.x is other.edges.y) == (result.edges.x is result.edges.y)


def test_a_report_of_rows_that_stayed_on_a_device_is_refused_with_what_helps(rng, tmp_path):
    values = torch.tensor(columns(rng))
    for result in (renyi.matrix(values, sample=0), renyi.screen(values, "x0", sample=0)):
        assert said(lambda found=result: found.report(tmp_path / "page.html")) == (
            "a report shows rows, and those of this table were not kept (sample=0): pass sample=10_000, or write the "
            "pairs by to_long()"
        )
        assert len(result.to_long()["x"]) > 2


def test_rows_that_are_fetched_are_those_of_the_table(rng):
    numbers = columns(rng)
    sides = renyi.matrix(torch.tensor(numbers[:, :2]), torch.tensor(numbers[:, 2:]), sample=100).edges
    fetched = np.column_stack([variable.shown.values for variable in (*sides.x, *sides.y)])
    assert fetched.shape == (100, 4)
    assert set(map(tuple, fetched)) <= set(map(tuple, numbers))


def test_all_else_is_shown_of_a_result_on_a_device(result):
    assert "300 rows" in result._repr_html_()
    assert len(result.to_frame())
    if isinstance(result, renyi.DependenceMatrix):
        assert result.plot().axes


def test_a_report_of_a_frame_that_was_compared_on_a_device_is_that_of_memory(rng, tmp_path, monkeypatch):
    frame = pd.DataFrame(columns(rng), columns=list("abcd"))
    frame["d"] = frame["d"].round()
    frame["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**9, N), "s")
    paths = [tmp_path / "memory.json", tmp_path / "device.json"]
    renyi.matrix(frame).report(paths[0])
    monkeypatch.setattr(api, "device_of", lambda device, *data: torch.device("cpu"))
    found = renyi.matrix(frame, device="cuda")
    pickle.loads(pickle.dumps(found)).report(paths[1])
    expected, told = (json.loads(path.read_text()) for path in paths)
    assert told["details"] == expected["details"]
    assert told["columns"] == expected["columns"]
    assert max(pair["reached"] for pair in told["details"]) == pytest.approx(found.values[0, 1], abs=1e-4)
