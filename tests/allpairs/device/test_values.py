"""Standardised values on a device."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.device import stack as device_stack  # noqa: E402
from renyi.allpairs.device import values as device_values  # noqa: E402
from renyi.allpairs.device.values import DeviceValues, less_smallest  # noqa: E402
from tensor_tables import InHost  # noqa: E402


def cut_up(monkeypatch):
    """Lower what decides about strips of columns, chunks of rows and columns at once."""
    monkeypatch.setattr(device_stack, "_FEWEST_OF_STRIP", 2)
    monkeypatch.setattr(device_stack, "_MOST_ROWS", 50)
    monkeypatch.setattr(device_stack, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(device_stack, "_ALIGNED", 1)
    monkeypatch.setattr(device_values, "_SHARE_AT_ONCE", 1e-9)


@pytest.mark.parametrize("n_columns", [3, 10])
def test_values_with_themselves_have_the_products_of_every_pair_both_ways(n_columns, rng, monkeypatch):
    cut_up(monkeypatch)
    numbers = rng.standard_normal((n_columns, 180)) * 10.0 ** np.arange(n_columns)[:, np.newaxis]
    values = DeviceValues.of(torch.tensor(numbers))
    found = values.products(values)[..., 0, 0].numpy() / 180
    assert np.abs(found - np.corrcoef(numbers)).max() < 1e-12


@pytest.mark.parametrize("has_gaps", [False, True])
def test_values_in_memory_are_moved_as_they_are_needed(has_gaps, rng, monkeypatch):
    cut_up(monkeypatch)
    numbers = rng.standard_normal((5, 180))
    if has_gaps:
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
    device = torch.device("cpu")
    expected = DeviceValues.of(torch.tensor(numbers), device, has_gaps=has_gaps)
    elsewhere = DeviceValues.of(torch.tensor(numbers).as_subclass(InHost), device, has_gaps=has_gaps)
    assert elsewhere.device == device
    for found, known in ((elsewhere, expected), (elsewhere.squared(), expected.squared())):
        assert torch.equal(found.products(elsewhere), known.products(expected))


def test_values_with_gaps_are_standardised_by_what_is_there(rng):
    numbers = 1e6 + rng.standard_normal((4, 200)) * np.array([[1.0], [1e3], [1e-3], [1e5]])
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    values = DeviceValues.of(torch.tensor(numbers), has_gaps=True)
    (found,) = values.operand(slice(0, 200))
    centred = numbers - np.nanmean(numbers, axis=1, keepdims=True)
    expected = np.nan_to_num(centred / np.nanstd(numbers, axis=1, keepdims=True), nan=0.0)
    assert np.abs(found[:, :, 0].T.numpy() - expected).max() < 1e-6


@pytest.mark.parametrize("kind", [torch.int8, torch.int32, torch.int64])
def test_whole_numbers_are_floats_less_the_smallest_of_their_column(kind):
    ends = torch.iinfo(kind)
    numbers = torch.tensor([[ends.min, 0, ends.max], [ends.max - 2, ends.max - 1, ends.max], [5, 5, 6]], dtype=kind)
    expected = [[0.0, -float(ends.min), float(ends.max - ends.min)], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]]
    assert less_smallest(numbers).tolist() == expected
    values = DeviceValues.of(numbers)
    (found,) = values.operand(slice(0, 3))
    assert found[:, 1, 0].tolist() == pytest.approx([-np.sqrt(1.5), 0.0, np.sqrt(1.5)])
