"""Pairs of tensors, beside the same pairs of arrays."""

import numpy as np
import pytest

import renyi

torch = pytest.importorskip("torch")

from renyi.data.reader import as_column  # noqa: E402
from renyi.pair.bases import columns_on  # noqa: E402
from tensor_tables import N, OnCard, of_tensors, said  # noqa: E402

# Tensors wherever a column is taken.


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a card", "gradients", "bfloat16", "whole numbers"])
def test_functions_of_pairs_read_tensors_wherever_they_are(kind, rng):
    tensors, arrays = of_tensors(kind, rng)
    (x, y, z), (a, b, c) = tensors.T, arrays.T
    assert renyi.rdc(x, y) == pytest.approx(renyi.rdc(a, b), rel=1e-9)
    for own, known in ((tensors[:, :2], arrays[:, :2]), (x > 0, a > 0)):
        assert renyi.rdc(own, z, debias=True) == pytest.approx(renyi.rdc(known, c, debias=True), rel=1e-9)
    assert renyi.transformations(x, y).correlation == renyi.transformations(a, b).correlation
    assert renyi.transformations(x, y).f(x[:9]) == pytest.approx(renyi.transformations(a, b).f(a[:9]))
    for given, known in ((z, c), ([z, z > 0], [c, c > 0]), ({"z": z}, {"z": c})):
        assert renyi.conditional_test(x, y, given).pvalue == renyi.conditional_test(a, b, known).pvalue
    assert renyi.measure("dcor")(x, y) == renyi.measure("dcor")(a, b)
    groups = np.arange(N) // 30
    found = renyi.independence_test(a, b, groups=torch.tensor(groups).as_subclass(OnCard))
    assert found.pvalue == renyi.independence_test(a, b, groups=groups).pvalue
    assert renyi.independence_test(x, y).log_pvalue == pytest.approx(renyi.independence_test(a, b).log_pvalue)
    labels = (x > 0).long() + (x > 1).long()
    assert renyi.categorical(labels).levels == (0, 1, 2)


def sides(n, rng):
    """Columns of every kind as arrays, and as tensors where torch has the type."""
    x = rng.standard_normal(n)
    label, level = rng.integers(0, 4, n) + (x > 0), rng.integers(0, 60, n)
    with_gaps, vector = np.where(rng.random(n) < 0.1, np.nan, x), np.column_stack((x, rng.standard_normal(n)))
    return {
        "numbers": (x, torch.tensor(x)),
        "single precision": (x.astype(np.float32), torch.tensor(x.astype(np.float32))),
        "ties": (np.round(x), torch.tensor(np.round(x))),
        "whole numbers": ((99 * x).astype(int), torch.tensor((99 * x).astype(int))),
        "unsigned": (2**63 + level.astype(np.uint64), torch.tensor(2**63 + level.astype(np.uint64))),
        "gaps": (with_gaps, torch.tensor(with_gaps)),
        "vector": (vector, torch.tensor(vector)),
        "vector with gaps": (np.c_[with_gaps, x], torch.tensor(np.c_[with_gaps, x])),
        "flags": (x > 0.3, torch.tensor(x > 0.3)),
        "labels": (renyi.categorical(label), renyi.categorical(torch.tensor(label))),
        "many levels": (renyi.categorical(level), renyi.categorical(level)),
        "dates": (np.datetime64("2020-01-01") + level, np.datetime64("2020-01-01") + level),
    }


KINDS = tuple(sides(50, np.random.default_rng(0)))


@pytest.mark.filterwarnings("ignore:single rows weigh heavily")
@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_every_kind_beside_tensors_have_the_numbers_of_arrays(kind, missing, rng):
    array, tensor = sides(400, rng)[kind]
    other = rng.standard_normal(400)
    other[:200] += np.arange(200) / 60
    other[rng.random(400) < 0.05] = np.nan
    for settings in ({}, {"debias": True}, {"s": "median"}, {"repeats": 2, "rng": 3}, {"k": 5}):
        found, expected = (
            renyi.rdc(*pair, missing=missing, **settings) for pair in ((tensor, torch.tensor(other)), (array, other))
        )
        assert found == pytest.approx(expected, rel=1e-9)
    for method in ("auto", "roy", "bartlett", "spectral"):
        found, expected = (
            renyi.independence_test(*pair, missing=missing, method=method)
            for pair in ((torch.tensor(other), tensor), (other, array))
        )
        assert found.log_pvalue == pytest.approx(expected.log_pvalue, rel=1e-7, abs=1e-9)
        assert found.coefficient == pytest.approx(expected.coefficient, rel=1e-9)
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_ranked_on_the_device_and_all_else_in_memory(kind, rng):
    array, tensor = sides(100, rng)[kind]
    column, other = columns_on(torch.device("cpu"), tensor, array)
    is_scalar = kind in {"numbers", "single precision", "ties", "whole numbers", "unsigned", "gaps", "dates"}
    for one in (column, other):
        assert isinstance(one.values, torch.Tensor) == is_scalar
    expected = as_column(array, "x")
    assert (column.kind, len(column)) == (expected.kind, len(expected))
    assert (column.missing is None) == (expected.missing is None)


def test_a_device_is_asked_for_by_its_name(rng):
    x, y = rng.standard_normal((2, 200))
    assert renyi.rdc(torch.tensor(x), torch.tensor(y), device="cpu") == pytest.approx(renyi.rdc(x, y), rel=1e-9)
    assert renyi.rdc(x, y, device="cpu") == renyi.rdc(x, y)
    assert said(lambda: renyi.rdc(x, y, device="gpu")).startswith("device='gpu' is unknown: pass 'cuda'")


SPOILED = {
    "an infinite value": lambda x: np.where(np.arange(len(x)) == 7, np.inf, x),
    "nothing observed": lambda x: np.full(len(x), np.nan),
    "constant": np.ones_like,
    "empty": lambda x: x[:0],
    "complex": lambda x: x + 1j,
    "an infinite coordinate": lambda x: np.column_stack((x, np.full(len(x), np.inf))),
    "gaps": lambda x: np.where(x > 0, np.nan, x),
    "other length": lambda x: x[1:],
}


@pytest.mark.parametrize("name", SPOILED)
@pytest.mark.parametrize("call", [renyi.rdc, renyi.independence_test])
def test_what_is_refused_of_arrays_is_refused_of_tensors_with_the_same_words(call, name, rng):
    x, y = rng.standard_normal((2, 60))
    spoiled = SPOILED[name](x)
    assert said(lambda: call(torch.tensor(spoiled), torch.tensor(y))) == said(lambda: call(spoiled, y))


def test_tensors_that_have_no_values_are_refused():
    x, y = torch.arange(9.0), np.arange(9.0)
    for call in (renyi.rdc, renyi.independence_test, renyi.transformations, renyi.measure("dcor")):
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to_sparse(), x))
    for call in (renyi.transformations, renyi.measure("dcor")):
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to("meta"), y))
    for call in (renyi.rdc, renyi.independence_test):
        assert "device 'meta' is not supported" in said(lambda call=call: call(x.to("meta"), y))


@pytest.mark.parametrize("kind", ["int64", "uint64", "M8[ns]"])
def test_a_pair_of_large_whole_numbers_is_ranked_exactly_on_a_device(kind, rng):
    order = rng.permutation(N)
    # Beside 0 no float holds them, whatever is subtracted.
    x = np.where(order == 0, 0, 2**62 + order).astype(kind)
    found = renyi.independence_test(x, torch.tensor(np.cos(order / 50)))
    assert found.coefficient == pytest.approx(renyi.rdc(x, np.cos(order / 50)), rel=1e-12)
    assert found.coefficient > 0.99


# One pair.


@pytest.mark.parametrize("n", [30, 300, 5000])
def test_a_pair_of_tensors_has_the_pvalue_of_arrays(n, rng):
    x = rng.standard_normal(n)
    y = 0.3 * x**2 + rng.standard_normal(n)
    expected, found = renyi.independence_test(x, y), renyi.independence_test(torch.tensor(x), torch.tensor(y))
    assert found.log_pvalue == pytest.approx(expected.log_pvalue, rel=1e-9)
    assert found.coefficient == pytest.approx(expected.coefficient)
    assert found.confidence_interval() == pytest.approx(expected.confidence_interval(), nan_ok=True)


def test_missing_values_of_tensors_are_left_out(rng):
    x, y = rng.standard_normal((2, 200))
    x[3], y[8] = np.nan, np.nan
    expected = renyi.independence_test(x, y, missing="pairwise")
    found = renyi.independence_test(torch.tensor(x), torch.tensor(y), missing="pairwise")
    assert found.pvalue == pytest.approx(expected.pvalue)


def test_permutations_on_a_device_are_as_good_as_others(rng):
    x, y = rng.standard_normal((2, 1000))
    settings = {"method": "permutation", "n_resamples": 3000}
    y += 0.12 * x
    by_theory = renyi.independence_test(x, y, method="roy").pvalue
    found = [renyi.independence_test(torch.tensor(x), torch.tensor(y), **settings, rng=seed) for seed in (1, 1, 2)]
    assert found[0].pvalue == found[1].pvalue != found[2].pvalue
    for one in found:
        assert one.pvalue == pytest.approx(by_theory, rel=0.5, abs=0.003)
