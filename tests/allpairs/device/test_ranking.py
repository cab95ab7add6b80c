"""Columns ranked on a device, beside the same in memory."""

import numpy as np
import pytest

import renyi
from sample_tables import assert_same_table

torch = pytest.importorskip("torch")

from tensor_tables import N, columns  # noqa: E402

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


def test_values_far_from_zero_or_of_any_size_have_their_correlation(rng):
    values = columns(rng)
    for some in (values + 1e12, values * 1e300, values * 1e-310, np.r_[values, [[1e150, 1e200, 1e308, 0.0]]]):
        assert_same_table(renyi.matrix(torch.tensor(some)), renyi.matrix(some), 1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 20])
def test_few_rows_say_as_little_as_in_memory(n, rng):
    values = rng.standard_normal((n, 4))
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-9)
