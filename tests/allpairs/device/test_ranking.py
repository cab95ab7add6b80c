import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

import renyi
from sample_tables import assert_same_table

torch = pytest.importorskip("torch")

from renyi.allpairs.device.ranking import ranked, read_tensors  # noqa: E402
from renyi.basis import random_features  # noqa: E402
from renyi.pair.settings import Settings  # noqa: E402
from renyi.tables import api  # noqa: E402

N = 300


def columns(rng, n_columns=4, n=N):
    values = rng.standard_normal((n, n_columns))
    values[:, 1] += values[:, 0] ** 2
    return values


def said(call):
    with pytest.raises(renyi.InputError) as error:
        call()
    return str(error.value)


@pytest.fixture
def as_on_card(monkeypatch):
    """Tables in memory go to a device, which is the processor."""
    monkeypatch.setattr(api, "device_of", lambda device, *data: torch.device("cpu"))


class OnCard(torch.Tensor):
    """A tensor that refuses to be read as one of a card does, until it is brought into memory."""

    def cpu(self):
        return self.as_subclass(torch.Tensor)

    def numpy(self):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")

    def __array__(self, *args, **settings):
        return self.numpy()


# What a table of tensors has.

WIDE = {"int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**62, "uint8": 2**7, "uint16": 2**15, "uint32": 2**31}


@pytest.mark.parametrize("kind", WIDE)
def test_whole_numbers_over_the_whole_range_of_their_type(kind, rng):
    low = -WIDE[kind] if kind.startswith("i") else 0
    values = rng.integers(low, low + 2 * WIDE[kind] - 1, (N, 4)).astype(kind)
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-9)


def test_whole_numbers_beyond_floats_are_ranked_exactly(rng):
    values = 2**62 + rng.permuted(np.tile(np.arange(N), (3, 1)), axis=1).T
    values[:, 1] = values[::-1, 0]
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-9)
    apart = rng.integers(-(2**63), 2**63 - 1, (N, 3))
    assert_same_table(renyi.matrix(torch.tensor(apart)), renyi.matrix(apart), 1e-9)


def test_whole_numbers_that_floats_would_round_are_refused_beside_floats(rng, as_on_card):
    x, whole = rng.standard_normal(N), 2**62 + np.arange(N)
    spread, longer = np.append(whole, 0), np.append(x, 0.0)
    refusal = "has whole numbers that floats beside it would round: leave such columns out, or pass NumPy arrays"
    assert refusal in said(lambda: renyi.matrix({"a": torch.tensor(longer), "b": torch.tensor(spread)}))
    refusal = "has numbers that 64-bit floats cannot keep apart, and these are ranked on a device: pass device=None"
    assert refusal in said(lambda: renyi.matrix({"a": longer, "b": spread}))
    # Those that floats hold, if need be without the smallest, are not.
    for fine in (np.arange(N) << 54, whole):
        for found in (renyi.matrix({"a": x, "b": fine}), renyi.matrix({"a": torch.tensor(x), "b": torch.tensor(fine)})):
            assert found.values[0, 1] == pytest.approx(renyi.rdc(x, fine))


def test_numbers_of_several_types_are_one_table(rng):
    parts = {"a": rng.standard_normal(N), "b": rng.integers(0, 40, N), "c": rng.random(N).astype(np.float32)}
    parts["d"] = np.full(N, 5)
    found = renyi.matrix({name: torch.tensor(values) for name, values in parts.items()})
    assert_same_table(found, renyi.matrix(parts), 1e-9)
    assert found.skipped == {"d": "constant (always 5)"}


def test_values_far_from_zero_or_of_any_size_have_their_correlation(rng):
    values = columns(rng)
    for some in (values + 1e12, values * 1e300, values * 1e-310, np.r_[values, [[1e150, 1e200, 1e308, 0.0]]]):
        assert_same_table(renyi.matrix(torch.tensor(some)), renyi.matrix(some), 1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 20])
def test_few_rows_say_as_little_as_in_memory(n, rng):
    values = rng.standard_normal((n, 4))
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-9)


def spoiled(rng):
    """A column that varies, others that do not or hold what is no number, and one with gaps."""
    values = rng.standard_normal((60, 9))
    values[:, 1] = np.nan
    values[1:, 2] = np.nan
    values[:, 3], values[4, 3] = 2.5, np.nan
    values[7:9, 4] = -np.inf, np.inf
    values[:, 5], values[8, 5], values[9, 5] = 1.0, 0.0, np.nan
    values[[8, 30], 6] = np.nan
    return values


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
    assert "'b' in the table holds torch.bool" in said(lambda: renyi.matrix({"a": x[:, 0], "b": x[:, 1] > 0}))
    assert "'b' in the table has the shape (300, 2)" in said(lambda: renyi.matrix({"a": x[:, 0], "b": x[:, :2]}))
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
    whole = read_tensors(torch.tensor(columns(rng)), torch.device("cpu"))
    part = ranked(whole.take([2, 0]), Settings(None, random_features.DEFAULT_SCALE, "auto"), missing="pairwise")
    assert [variable.column.name for variable in part.variables] == ["x2", "x0"]
    assert (part.numbers == whole.numbers[[2, 0]]).all()


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
    for result, by in (
        (renyi.matrix(values, sample=0), "to_edges"),
        (renyi.screen(values, "x0", sample=0), "to_frame"),
    ):
        assert said(lambda found=result: found.report(tmp_path / "page.html")) == (
            "a report shows rows, and those of this table were not kept (sample=0): pass sample=10_000, or write the "
            f"pairs by {by}()"
        )
        assert len(getattr(result, by)()["x"]) > 2


def test_rows_that_are_fetched_are_those_of_the_table(rng):
    numbers = columns(rng)
    sides = renyi.matrix(torch.tensor(numbers[:, :2]), torch.tensor(numbers[:, 2:]), sample=100).edges
    fetched = np.column_stack([variable.shown.values for variable in (*sides.x, *sides.y)])
    assert fetched.shape == (100, 4)
    assert set(map(tuple, fetched)) <= set(map(tuple, numbers))


def test_all_else_is_shown_of_a_result_on_a_device(result):
    assert "300 rows" in result._repr_html_()
    assert result.to_frame()
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


# Tensors wherever a column is taken.


def of_tensors(kind, rng):
    """Columns as tensors of some kind, and as arrays that hold the same."""
    x = torch.tensor(columns(rng, 3))
    if kind == "a card":
        return x.as_subclass(OnCard), x.numpy()
    if kind == "gradients":
        return x.clone().requires_grad_(True), x.numpy()
    if kind == "bfloat16":
        return x.bfloat16().as_subclass(OnCard), x.bfloat16().float().numpy()
    return (20 * x).long().as_subclass(OnCard), (20 * x).long().numpy()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a card", "gradients", "bfloat16", "whole numbers"])
def test_functions_of_pairs_read_tensors_wherever_they_are(kind, rng):
    tensors, arrays = of_tensors(kind, rng)
    (x, y, z), (a, b, c) = tensors.T, arrays.T
    assert renyi.rdc(x, y) == renyi.rdc(a, b)
    assert renyi.rdc(tensors[:, :2], z, debias=True) == renyi.rdc(arrays[:, :2], c, debias=True)
    assert renyi.rdc(x > 0, y) == renyi.rdc(a > 0, b)
    assert renyi.transformations(x, y).correlation == renyi.transformations(a, b).correlation
    assert renyi.transformations(x, y).f(x[:9]) == pytest.approx(renyi.transformations(a, b).f(a[:9]))
    for given, known in ((z, c), ([z, z > 0], [c, c > 0]), ({"z": z}, {"z": c})):
        assert renyi.conditional_test(x, y, given).pvalue == renyi.conditional_test(a, b, known).pvalue
    assert renyi.measure("dcor")(x, y) == renyi.measure("dcor")(a, b)
    blocks = np.arange(N) // 30
    found = renyi.independence_test(a, b, blocks=torch.tensor(blocks).as_subclass(OnCard))
    assert found.pvalue == renyi.independence_test(a, b, blocks=blocks).pvalue
    assert renyi.independence_test(x, y).log_pvalue == pytest.approx(renyi.independence_test(a, b).log_pvalue)
    labels = (x > 0).long() + (x > 1).long()
    assert renyi.categorical(labels).levels == (0, 1, 2)


def test_functions_of_tables_without_a_device_read_tensors_too(rng):
    tensors, arrays = of_tensors("a card", rng)
    expected = renyi.pairs(arrays, q=1.0)
    assert str(renyi.pairs(tensors, q=1.0)) == str(expected)
    found = renyi.pairs({f"x{j}": column for j, column in enumerate(tensors.T)}, q=1.0)
    assert str(found) == str(expected)
    # Beside arrays a tensor is one of them.
    both = renyi.matrix({"x0": tensors[:, 0], "x1": arrays[:, 1]})
    assert both.values[0, 1] == pytest.approx(renyi.rdc(arrays[:, 0], arrays[:, 1]), rel=1e-12)
    accumulated = renyi.Accumulator()
    accumulated.update(tensors)


def test_tensors_that_have_no_values_are_refused():
    x = torch.arange(9.0)
    for call in (renyi.rdc, renyi.transformations, renyi.measure("dcor")):
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to_sparse(), x))
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to("meta"), x))
    assert "x is a sparse tensor" in said(lambda: renyi.independence_test(x.to_sparse(), x))
    assert "pass NumPy arrays and device=None" in said(
        lambda: renyi.independence_test(x, renyi.categorical(list("abcabcabc")))
    )


@pytest.mark.parametrize("kind", ["int64", "uint64", "M8[ns]"])
def test_a_pair_of_large_whole_numbers_is_ranked_exactly_on_a_device(kind, rng):
    order = rng.permutation(N)
    # Beside 0 no float holds them, whatever is subtracted.
    x = np.where(order == 0, 0, 2**62 + order).astype(kind)
    found = renyi.independence_test(x, torch.tensor(np.cos(order / 50)))
    assert found.coefficient == pytest.approx(renyi.rdc(x, np.cos(order / 50)), rel=1e-12)
    assert found.coefficient > 0.99
