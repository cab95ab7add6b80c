"""Tables for tests of what is read from tensors of torch."""

import numpy as np
import pytest

import renyi

torch = pytest.importorskip("torch")

N = 300


def columns(rng, n_columns=4, n=N):
    values = rng.standard_normal((n, n_columns))
    values[:, 1] += values[:, 0] ** 2
    return values


def said(call):
    with pytest.raises(renyi.InputError) as error:
        call()
    return str(error.value)


class OnCard(torch.Tensor):
    """A tensor that refuses to be read as one of a card does, until it is brought into memory."""

    def cpu(self):
        return self.as_subclass(torch.Tensor)

    def numpy(self):
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first")

    def __array__(self, *args, **settings):
        return self.numpy()


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


class InHost(torch.Tensor):
    """Rows that can be cut and moved where they are, and not computed with, as those that a device cannot reach."""

    moved = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            if function is torch.Tensor.to:
                InHost.moved += 1
                return function(args[0].as_subclass(torch.Tensor), *args[1:], **(kwargs or {}))
            if function.__name__ not in {"__get__", "__getitem__", "__len__", "split", "is_floating_point"}:
                raise AssertionError(f"{function.__name__} of rows that are in memory")
            found = function(*args, **(kwargs or {}))
        if function is torch.Tensor.split:
            return tuple(part.as_subclass(cls) for part in found)
        return found.as_subclass(cls) if isinstance(found, torch.Tensor) else found
