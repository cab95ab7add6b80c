"""Tables for a device: what is read there, what is read in memory, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import renyi
from sample_tables import assert_same_table

torch = pytest.importorskip("torch")

from renyi.allpairs.device.ranking import ranked  # noqa: E402
from renyi.allpairs.device.reading import read_table, uploaded  # noqa: E402
from renyi.basis import random_features  # noqa: E402
from renyi.data.table import as_table  # noqa: E402
from renyi.pair.settings import Settings  # noqa: E402
from renyi.tables import api  # noqa: E402
from tensor_tables import N, columns, of_tensors, said, spoiled  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture
def as_on_card(monkeypatch):
    """Tables in memory go to a device, which is the processor."""
    monkeypatch.setattr(api, "device_of", lambda device, *data: torch.device("cpu"))


def test_whole_numbers_that_floats_would_round_are_ranked_in_memory_or_refused(rng, as_on_card):
    x, whole = rng.standard_normal(N), 2**62 + np.arange(N)
    spread, longer = np.append(whole, 0), np.append(x, 0.0)
    refusal = "has whole numbers that floats beside it would round: leave such columns out, or pass NumPy arrays"
    assert refusal in said(lambda: renyi.matrix({"a": torch.tensor(longer), "b": torch.tensor(spread)}))
    found = renyi.matrix({"a": longer, "b": spread})
    assert found.values[0, 1] == pytest.approx(renyi.rdc(longer, spread), rel=1e-12)
    # Those that floats hold, if need be without the smallest, are ranked on the device.
    for fine in (np.arange(N) << 54, whole):
        for found in (renyi.matrix({"a": x, "b": fine}), renyi.matrix({"a": torch.tensor(x), "b": torch.tensor(fine)})):
            assert found.values[0, 1] == pytest.approx(renyi.rdc(x, fine))


def test_numbers_of_a_frame_are_sent_to_a_device_if_floats_keep_them_apart(rng):
    steps = rng.permutation(400)
    close, far = 2**62 + steps, np.where(steps == 0, 0, 2**62 + steps)
    moments = (np.datetime64("1700-01-01") + steps).astype("M8[ns]")
    table = uploaded(as_table({"x": close, "y": steps, "far": far, "m": moments, "s": steps.astype(np.float32)}), CPU)
    assert table.places.tolist() == [0, 1, 3, 4]
    assert [len(row.unique()) for row in table.numbers] == [400] * 4
    assert table.n_rows == 400


# Columns of every kind.


def mixed_parts(rng, n=200, gaps=0.0):
    """Numbers, labels of few and of many levels, flags, dates and vectors, each with the same column as tensors."""
    x = rng.standard_normal(n)
    parts = {
        "x": x,
        "label": np.array(list("abc"))[np.digitize(x + rng.standard_normal(n), [-0.5, 0.5])].astype(object),
        "flag": x + rng.standard_normal(n) > 0,
        "date": np.datetime64("2020-01-01", "D") + rng.integers(0, 900, n).astype("m8[D]"),
        "rounded": np.round(x + rng.standard_normal(n), 1),
        "level": rng.integers(0, 40, n).astype(str).astype(object),
        "place": np.column_stack((x + rng.standard_normal(n), rng.standard_normal(n))),
        "whole": rng.integers(0, 10**6, n),
    }
    if gaps:
        for name in ("x", "rounded"):
            parts[name][rng.random(n) < gaps] = np.nan
        parts["label"][rng.random(n) < gaps] = None
        parts["date"][rng.random(n) < gaps] = np.datetime64("NaT", "D")
        parts["place"][rng.random(n) < gaps] = np.nan
    kept = {"label", "date", "level"}
    return parts, {name: part if name in kept else torch.tensor(part) for name, part in parts.items()}


@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
def test_columns_of_every_kind_beside_tensors_are_those_of_memory(gaps, missing, rng):
    arrays, tensors = mixed_parts(rng, gaps=gaps)
    found, expected = (renyi.matrix(one, missing=missing) for one in (tensors, arrays))
    assert found.names == expected.names == tuple(arrays)
    assert dict(found.types) == dict(expected.types)
    assert found.n_rows == expected.n_rows
    # On common rows whitening magnifies what rounding leaves, most for vectors.
    assert_same_table(found, expected, 1e-8 if gaps and missing == "pairwise" else 1e-9)


def test_gaps_beside_tensors_are_refused_where_they_are_to_be(rng):
    arrays, tensors = mixed_parts(rng, gaps=0.1)
    messages = [said(lambda one=one: renyi.matrix(one, missing="raise")) for one in (arrays, tensors)]
    assert messages[0] == messages[1]
    assert messages[0].startswith("5 columns with missing cells: 'x'")


def test_types_and_vectors_of_a_tensor_are_those_of_an_array(rng):
    values = np.column_stack((rng.standard_normal((150, 3)), rng.integers(0, 5, (150, 2))))
    settings = {"types": {"x3": "category", "x4": "skip"}, "vectors": {"v": ["x2", "x0"]}}
    found, expected = (renyi.matrix(one, **settings) for one in (torch.tensor(values), values))
    assert_same_table(found, expected, 1e-9)
    assert dict(found.skipped) == dict(expected.skipped)
    assert_same_table(renyi.matrix(torch.tensor(values > 0.5)), renyi.matrix(values > 0.5), 1e-9)


def test_a_frame_beside_tensors_with_gaps(rng):
    values = rng.standard_normal((150, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    frame = pd.DataFrame({"label": rng.integers(0, 3, 150).astype(str), "n": np.round(values[:, 0] + values[:, 1])})
    assert_same_table(renyi.matrix(torch.tensor(values), frame), renyi.matrix(values, frame), 1e-9)
    assert_same_table(renyi.matrix(frame, torch.tensor(values), device="cpu"), renyi.matrix(frame, values), 1e-9)


def test_columns_of_unequal_length_are_refused_wherever_they_are(rng):
    x, labels = torch.tensor(rng.random(30)), list("abc") * 9
    assert said(lambda: renyi.matrix({"a": x, "b": labels})) == (
        "'a' has 30 rows and others in the table have 27: pass as many values for each column"
    )


def test_numbers_of_several_types_are_one_table(rng):
    parts = {"a": rng.standard_normal(N), "b": rng.integers(0, 40, N), "c": rng.random(N).astype(np.float32)}
    parts["d"] = np.full(N, 5)
    found = renyi.matrix({name: torch.tensor(values) for name, values in parts.items()})
    assert_same_table(found, renyi.matrix(parts), 1e-9)
    assert found.skipped == {"d": "constant (always 5)"}


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_rows_with_gaps_are_dropped_as_in_memory(kind, rng):
    values = spoiled(rng).astype(kind)
    expected, found = (renyi.matrix(one, missing="listwise") for one in (values, torch.tensor(values)))
    assert_same_table(found, expected, 1e-9)
    assert found.n_rows == 57
    assert found.skipped["x5"] == "constant (always 1.0) on the 57 rows where nothing is missing"
    assert found.skipped["x4"] == "has 2 infinite values (first in row 7): replace by numbers or by NaN"
    assert len(found.skipped) == 5
    screened = [renyi.screen(one, "x6", missing="listwise") for one in (values, torch.tensor(values))]
    assert screened[0].names == screened[1].names
    assert screened[1].skipped == screened[0].skipped
    assert screened[1].types == screened[0].types


def test_columns_that_say_nothing_are_left_out_with_the_words_of_memory(rng):
    values = spoiled(rng)[:, :5]
    values = np.c_[values, rng.standard_normal((60, 2))]
    found, expected = renyi.matrix(torch.tensor(values)), renyi.matrix(values)
    assert found.skipped == expected.skipped
    assert len(found.skipped) == 4
    assert_same_table(found, expected, 1e-9)


REFUSED = {
    "gaps that are refused": (spoiled, {"missing": "raise"}),
    "no row without a gap": (
        lambda rng: np.where(np.eye(6, 3) > 0, np.nan, np.arange(18.0).reshape(6, 3))[:3],
        {"missing": "listwise"},
    ),
    "no such way": (columns, {"missing": "some"}),
    "no columns": (lambda rng: np.empty((30, 0)), {}),
    "one row": (lambda rng: np.ones((1, 3)), {}),
    "one column": (lambda rng: columns(rng)[:, :1], {}),
    "constants": (lambda rng: np.ones((30, 3)), {}),
    "other lengths": (lambda rng: {"a": np.arange(3.0), "b": np.arange(4.0)}, {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_in_memory_is_refused_with_the_same_words(name, rng):
    make, settings = REFUSED[name]
    values = make(rng)
    tensors = (
        {name: torch.tensor(part) for name, part in values.items()}
        if isinstance(values, dict)
        else torch.tensor(values)
    )
    assert said(lambda: renyi.matrix(tensors, **settings)) == said(lambda: renyi.matrix(values, **settings))


def test_what_no_device_compares_is_refused(rng):
    x = torch.tensor(columns(rng))
    assert "the table is a sparse tensor" in said(lambda: renyi.matrix(x.to_sparse()))
    large = torch.tensor(2**63 + np.arange(5, dtype=np.uint64)[:, np.newaxis] * np.ones(2, dtype=np.uint64))
    assert "whole numbers of 2⁶³ and more" in said(lambda: renyi.matrix(large))
    median = renyi.measure("rdc", s="median")
    assert "s='median' is not found on a device yet" in said(lambda: renyi.matrix(x, measure=median))
    assert said(lambda: renyi.screen(x, [])).startswith("target names no column")
    assert said(lambda: renyi.matrix(x, x[:9])) == "the table has 300 rows and other has 9: pass as many"


def test_tensors_that_follow_their_gradients_are_read(rng):
    x = torch.tensor(columns(rng), requires_grad=True)
    expected = renyi.matrix(columns(np.random.default_rng(20131205)))
    assert_same_table(renyi.matrix(x), expected, 1e-9)
    by_name = renyi.matrix({"a": x[:, 0], "b": x[:, 1]})
    assert by_name.values[0, 1] == pytest.approx(expected.values[0, 1])


def test_some_columns_are_taken_with_what_is_told_of_them(rng):
    whole = read_table(torch.tensor(columns(rng)), CPU)
    part = ranked(whole.take([2, 0]), Settings(None, random_features.DEFAULT_SCALE, "auto"))
    assert [variable.column.name for variable in part.variables] == ["x2", "x0"]
    assert (part.numbers == whole.numbers[[2, 0]]).all()


def test_functions_of_tables_without_a_device_read_tensors_too(rng):
    tensors, arrays = of_tensors("a card", rng)
    expected = renyi.pairs(arrays, fdr=1.0)
    assert str(renyi.pairs(tensors, fdr=1.0)) == str(expected)
    found = renyi.pairs({f"x{j}": column for j, column in enumerate(tensors.T)}, fdr=1.0)
    assert str(found) == str(expected)
    # Beside arrays a tensor is one of them.
    both = renyi.matrix({"x0": tensors[:, 0], "x1": arrays[:, 1]})
    assert both.values[0, 1] == pytest.approx(renyi.rdc(arrays[:, 0], arrays[:, 1]), rel=1e-12)
    accumulated = renyi.Accumulator()
    accumulated.update(tensors)
