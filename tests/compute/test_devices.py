"""Devices of torch, by what the processor can show of them; refusals are in `allpairs/device`."""

import sys

import numpy as np
import pytest

import renyi

torch = pytest.importorskip("torch")

from renyi.compute import devices  # noqa: E402
from renyi.compute.devices import (  # noqa: E402
    as_operand,
    as_torch,
    device_of,
    free_bytes,
    halves,
    home_of,
    in_digits,
    multiplied,
    paired,
    relieved,
    within_room,
)
from renyi.errors import InputError  # noqa: E402

CPU = torch.device("cpu")


class Elsewhere(torch.Tensor):
    """A tensor that says to be on another device."""

    device = torch.device("meta")


def test_data_are_worked_on_where_they_are(rng):
    values = rng.random(5)
    assert device_of(None, values, [1.0]) is None
    assert device_of(None, values, torch.tensor(values)) == CPU
    assert device_of("cpu", torch.tensor(values)) == CPU
    with pytest.raises(InputError, match="tensors are on cpu and meta, and one device is needed"):
        device_of(None, torch.tensor(values), torch.tensor(values).as_subclass(Elsewhere))


def test_devices_without_double_precision_are_refused():
    with pytest.raises(InputError, match="device 'mps' is not supported, which needs float64"):
        device_of("mps")


def test_only_lack_of_memory_is_told_as_such(monkeypatch):
    class Properties:
        total_memory = 3 * 2**30

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: Properties)
    with (
        pytest.raises(InputError, match=r"device 'cpu' \(3 GiB\) has no room for the work: free its memory"),
        relieved(CPU, "the work"),
    ):
        raise torch.OutOfMemoryError
    with pytest.raises(ZeroDivisionError), relieved(CPU, "the work"):
        raise ZeroDivisionError


def test_pieces_are_halved_until_they_fit(monkeypatch):
    class Properties:
        total_memory = 2**30

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: Properties)
    tried = []

    def full(size):
        tried.append(size)
        raise torch.OutOfMemoryError

    with pytest.raises(InputError, match="no room for one"):
        within_room(full, 13, CPU, "one")
    assert tried == [13, 6, 3, 1]
    assert within_room(lambda size: size, 13, CPU, "one") == 13


def test_rows_lie_in_memory_where_the_device_has_little_room(monkeypatch):
    card = torch.device("cuda", 0)
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1000)
    assert home_of(300, card) == card
    assert home_of(301, card) == CPU
    assert home_of(10**9, CPU) == CPU
    monkeypatch.setattr(devices, "_SHARE_OF_ROWS", 0.0)
    assert home_of(1, card) == CPU


def test_the_processor_multiplies_numbers_as_they_are(rng):
    assert free_bytes(CPU) > 0
    single = torch.tensor(rng.random((4, 3)), dtype=torch.float32)
    assert torch.equal(as_operand(single), single[None])


def test_halves_hold_22_bits_of_a_number(rng):
    numbers = torch.tensor(rng.uniform(-1000, 1000, 5000), dtype=torch.float32)
    leading, following = halves(numbers)
    rest = numbers.double() - leading.double() - following.double()
    assert {part.dtype for part in (leading, following)} == {torch.float16}
    assert float((rest / numbers.double()).abs().max()) < 2.0**-21
    assert float(((numbers.double() - leading.double()) / numbers.double()).abs().max()) > 2.0**-13


def test_the_product_of_halves_leaves_out_that_of_the_rests_alone(rng):
    x, y = (halves(torch.tensor(rng.standard_normal((50, 2)), dtype=torch.float32)) for _ in range(2))
    left, right = paired(in_digits(*x), in_digits(*y))
    expected = x[0].double().T @ y[0].double() + x[1].double().T @ y[0].double() + x[0].double().T @ y[1].double()
    assert left.shape == right.shape == (3, 50, 2)
    found = left.double().flatten(0, 1).T @ right.double().flatten(0, 1)
    assert np.abs((found - expected).numpy()).max() < 1e-12


def test_leading_digits_are_added_up_a_few_rows_at_a_time(rng, monkeypatch):
    x, y = (in_digits(*halves(torch.tensor(rng.standard_normal((50, 6, 2)), dtype=torch.float32))) for _ in range(2))
    masks = torch.tensor(rng.random((1, 50, 3, 1)) < 0.5).half()
    pairs = [paired(x, y), paired(x[:, :, 2:5], y), paired(x, masks), paired(masks, masks)]
    expected = [multiplied(*pair) for pair in pairs]
    monkeypatch.setattr(devices, "_ROWS_OF_LEADING", 16)
    for pair, known in zip(pairs, expected, strict=True):
        assert torch.allclose(multiplied(*pair), known, atol=1e-4)


# Which device.


@pytest.mark.parametrize("device", ["gpu", 3.5, "cuda:x"])
def test_an_unknown_device_is_refused(device, rng):
    with pytest.raises(renyi.InputError, match="pass 'cuda', 'cuda:1', 'cpu' or None"):
        renyi.matrix(rng.random((50, 2)), device=device)


@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="torch has CUDA")
def test_a_torch_without_cuda_is_named(rng):
    x, y = rng.random((2, 50))
    with pytest.raises(renyi.InputError, match=r"needs a torch with CUDA, and .* has none: install another build"):
        renyi.independence_test(x, y, device="cuda")


def test_a_device_that_is_not_there_is_named(rng, monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(renyi.InputError, match=r"'cuda:2' is not there .torch sees 2 of them.: pass device=None"):
        renyi.screen({"a": rng.random(50), "b": rng.random(50)}, "a", device="cuda:2")


def test_a_torch_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.1.0+cu118")
    with pytest.raises(renyi.InputError, match=r"torch is 2.1.0\+cu118, and this needs 2.8 or later"):
        device_of("cuda")


def test_without_torch_the_extra_is_named(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(renyi.MissingExtraError, match=r"pip install 'renyi\[gpu\]'"):
        renyi.matrix(rng.random((50, 2)), device="cuda")


def test_arrays_stay_with_numpy_where_the_processor_is_asked_for(rng):
    values = rng.random((100, 3))
    assert device_of("cpu", values) is None
    assert (renyi.matrix(values, device="cpu").values == renyi.matrix(values).values).all()


class OfAnother:
    """An array of another library that says it lies on a GPU, as those of CuPy and JAX do."""

    def __init__(self, tensor, kind=2):
        self._tensor, self._kind = tensor, kind

    def __dlpack__(self, **asked):
        return self._tensor.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self._kind, 0

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to NumPy is not allowed")


@pytest.fixture
def _on_the_processor(monkeypatch):
    """Take what says it lies on a GPU from memory, where it is."""

    def taken(array):
        return torch.utils.dlpack.from_dlpack(array.__dlpack__())

    monkeypatch.setattr(torch, "from_dlpack", taken)


@pytest.mark.usefixtures("_on_the_processor")
def test_arrays_of_other_libraries_on_a_gpu_are_taken_as_tensors(rng):
    values = torch.tensor(rng.standard_normal((60, 3)))
    assert torch.equal(as_torch(OfAnother(values)), values)
    mixed = as_torch({"x": OfAnother(values[:, 0]), "town": ["Ulm"] * 60})
    assert torch.equal(mixed["x"], values[:, 0])
    assert mixed["town"] == ["Ulm"] * 60
    where_it_is_unknown = OfAnother(values, kind=None)
    for own in (
        values,
        values.numpy(),
        {"x": values.numpy()},
        [1, 2],
        None,
        in_memory_of_another(values),
        where_it_is_unknown,
    ):
        assert as_torch(own) is own


def in_memory_of_another(values):
    return OfAnother(values, kind=1)


def _of_cupy(values):
    return pytest.importorskip("cupy").asarray(values)


def _of_jax(values):
    jax = pytest.importorskip("jax")
    return jax.device_put(values.astype("float32"), jax.devices("gpu")[0])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("on_card", [_of_cupy, _of_jax], ids=["cupy", "jax"])
def test_arrays_of_cupy_and_jax_give_the_answers_of_memory(rng, on_card):
    values = rng.standard_normal((500, 3)).astype("float32").astype(float)
    values[:, 1] += values[:, 0] ** 2
    table, there = renyi.matrix(values), renyi.matrix(on_card(values))
    assert np.allclose(there.values, table.values, rtol=0, atol=1e-6)
    assert np.allclose(there.pvalues, table.pvalues, rtol=1e-3, atol=0)


@pytest.mark.usefixtures("_on_the_processor")
def test_every_door_takes_them(rng):
    values = torch.tensor(rng.standard_normal((60, 3)))
    other = OfAnother(values)
    assert np.array_equal(renyi.matrix(other).values, renyi.matrix(values).values)
    found, expected = (renyi.screen(values, goal) for goal in (OfAnother(values[:, 0]), values[:, 0]))
    assert np.array_equal(found.pvalues, expected.pvalues)
    x, y = values[:, 0].clone(), values[:, 1].clone()
    pair = OfAnother(x), OfAnother(y)
    assert renyi.rdc(*pair) == renyi.rdc(x, y)
    assert renyi.independence_test(*pair).pvalue == renyi.independence_test(x, y).pvalue
