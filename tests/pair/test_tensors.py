"""Pairs of tensors, beside the same pairs of arrays."""

import numpy as np
import pytest

import renyi

torch = pytest.importorskip("torch")

from tensor_tables import N, OnCard, of_tensors, said  # noqa: E402

# Tensors wherever a column is taken.


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


def test_tensors_that_have_no_values_are_refused():
    x = torch.arange(9.0)
    for call in (renyi.rdc, renyi.transformations, renyi.measure("dcor")):
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to_sparse(), x))
        assert "x, a Tensor, cannot be turned into an array" in said(lambda call=call: call(x.to("meta"), x))
    assert "x is a sparse tensor" in said(lambda: renyi.independence_test(x.to_sparse(), x))


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


def test_shuffles_on_a_device_are_as_good_as_others(rng):
    x, y = rng.standard_normal((2, 1000))
    settings = {"method": "permutation", "n_resamples": 3000}
    y += 0.12 * x
    by_law = renyi.independence_test(x, y, method="roy").pvalue
    found = [renyi.independence_test(torch.tensor(x), torch.tensor(y), **settings, rng=seed) for seed in (1, 1, 2)]
    assert found[0].pvalue == found[1].pvalue != found[2].pvalue
    for one in found:
        assert one.pvalue == pytest.approx(by_law, rel=0.5, abs=0.003)
