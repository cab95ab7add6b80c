"""Devices of torch: which one is meant, what it has room for, and products of matrices on it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from renyi.compute.arrays import has_floats, is_tensor
from renyi.errors import InputError, brief, load

EXTRA = "gpu"
# What DLPack calls a GPU of NVIDIA.
_CUDA = 2
# Products of halves in full precision.
_OLDEST = (2, 8)
# Of the processor's memory, which nobody counts, this is used at a time.
_ROOM_ON_CPU = 2**29
# A part of what is free, since what is asked for is not all that is allocated.
_SHARE = 0.6
# Of the free memory of a device rows take this part, so that their codes and functions have room as well.
_SHARE_OF_ROWS = 0.3
# The part of what is free that an array takes if it goes there whole.
_SHARE_OF_ARRAY = 0.2
# Kinds of devices that multiply single precision as two halves of its digits.
_IN_HALVES: tuple[str, ...] = ("cuda",)
# So many rows of leading digits are added up by units for products, which cut off what is below 2⁻²² of the sum so far:
# sums of squares are too small by 1·10⁻⁵ for 2,048 rows, 2·10⁻⁵ for 4,096 and 2·10⁻⁴ for 32,768. Products of 2,048 rows
# take 1.14 times as long as those of 32,768, and they are a third of all.
_ROWS_OF_LEADING = 2048

Outcome = TypeVar("Outcome")
# Numbers (1, rows, …) as they are multiplied, or their half digits (4, rows, …): leading, following, and leading twice.
Operand: TypeAlias = Any


def device_of(device: Any, /, *data: Any) -> Any:
    """The device of torch on which to work, or None where NumPy does.

    Tensors are worked on where they are, if nothing else is asked for; all other data by NumPy.
    """
    tensors = [part for part in data if is_tensor(part)]
    if device is None:
        places = {tensor.device for tensor in tensors}
        if len(places) > 1:
            said = " and ".join(sorted(map(str, places)))
            raise InputError(f"tensors are on {said}, and one device is needed: move them, or pass device='cuda'")
        return _checked(places.pop()) if places else None
    if str(device) == "cpu" and not tensors:
        return None
    torch = load("torch", extra=EXTRA)
    try:
        wanted = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        raise InputError(f"device={brief(device)} is unknown: pass 'cuda', 'cuda:1', 'cpu' or None") from None
    return _checked(wanted)


def as_torch(data: Any, /) -> Any:
    """Arrays of other libraries that lie on a GPU (CuPy, JAX), alone or in a dict, as tensors; all else as it is."""
    if isinstance(data, Mapping):
        # Once, since a Dataset of xarray makes its columns anew whenever it is asked for them.
        parts = dict(data.items())
        taken = {name: as_torch(part) for name, part in parts.items()}
        return taken if any(taken[name] is not part for name, part in parts.items()) else data
    is_array = hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__") and not isinstance(data, type)
    if is_tensor(data) or not is_array:
        return data
    try:
        is_on_gpu = int(data.__dlpack_device__()[0]) == _CUDA
    except TypeError:  # old versions of Arrow, of columns with gaps or of types that DLPack does not have
        is_on_gpu = False
    return load("torch", extra=EXTRA).from_dlpack(data) if is_on_gpu else data


def as_numbers(data: Any, device: Any, /) -> Any:
    """Floats on a device (rows, columns): of a tensor, and of an array if there is room; all else as it is."""
    torch = load("torch", extra=EXTRA)
    if is_tensor(data):
        kind = data.dtype if has_floats(data) else torch.float32
        return data.detach().to(device=device, dtype=kind)
    has_room = has_floats(data) and data.nbytes <= _SHARE_OF_ARRAY * free_bytes(device)
    return torch.tensor(data, device=device) if has_room else data


def _checked(device: Any) -> Any:
    """A device, if it is there and serves."""
    torch = load("torch", extra=EXTRA)
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < _OLDEST:
        wanted = ".".join(map(str, _OLDEST))
        raise InputError(f"torch is {torch.__version__}, and this needs {wanted} or later: pip install 'renyi[gpu]'")
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"device '{device}' is not supported, which needs float64: pass 'cuda', 'cpu' or None")
    if device.type == "cuda":
        if not torch.backends.cuda.is_built():
            raise InputError(
                f"device '{device}' needs a torch with CUDA, and {torch.__version__} has none: install another build, "
                "or pass device=None to run on the processor"
            )
        n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= n_devices:
            seen = f"torch sees {n_devices} of them" if n_devices else "torch sees no GPU of NVIDIA with a driver"
            raise InputError(f"device '{device}' is not there ({seen}): pass device=None to run on the processor")
    return device


def free_bytes(device: Any, /) -> int:
    """Memory that may be taken."""
    if device.type != "cuda":
        return _ROOM_ON_CPU
    torch = load("torch", extra=EXTRA)
    free, _ = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(_SHARE * (free + kept))


def home_of(n_bytes: int, device: Any, /) -> Any:
    """Where rows of so many bytes lie that are worked on by a device: there, or in memory if it has little room."""
    if n_bytes <= _SHARE_OF_ROWS * free_bytes(device):
        return device
    return load("torch", extra=EXTRA).device("cpu")


@contextmanager
def relieved(device: Any, what: str, /) -> Iterator[None]:
    """An error that says what did not fit on a device."""
    torch = load("torch", extra=EXTRA)
    try:
        yield
    except torch.OutOfMemoryError as error:
        total = torch.cuda.get_device_properties(device).total_memory / 2**30
        raise InputError(
            f"device '{device}' ({total:.0f} GiB) has no room for {what}: free its memory, pass fewer columns or rows, "
            "or pass device=None"
        ) from error


def within_room(work: Callable[[int], Outcome], size: int, device: Any, what: str, /) -> Outcome:
    """Work in pieces of a size, in smaller ones where the device is full."""
    torch = load("torch", extra=EXTRA)
    while size > 1:
        try:
            return work(size)
        except torch.OutOfMemoryError:
            size //= 2
            torch.cuda.empty_cache()
    with relieved(device, what):
        return work(1)


def as_operand(numbers: Any, /) -> Operand:
    """How a matrix is multiplied: on a GPU single precision is two halves of its digits.

    Its units for products take half precision and add up in single: 16 times as fast as they multiply single precision.
    What the leading 11 bits leave is below 2⁻¹¹ of a number, and the product of two such rests is left out.
    """
    torch = load("torch", extra=EXTRA)
    if numbers.dtype != torch.float32 or numbers.device.type not in _IN_HALVES:
        return numbers[None]
    return in_digits(*halves(numbers))


def halves(numbers: Any, /) -> tuple[Any, Any]:
    """Leading and following digits in half precision."""
    leading = numbers.half()
    return leading, (numbers - leading.float()).half()


def in_digits(leading: Any, following: Any, /) -> Operand:
    """Both as they are multiplied: with the last three of one operand against the first three of another."""
    return load("torch", extra=EXTRA).stack((leading, following, leading, leading))


def paired(left: Operand, right: Operand, /) -> tuple[Any, Any]:
    """Two tensors (digits, rows, …) whose product over both, by `multiplied`, is that of two operands."""
    if left.dtype != right.dtype:
        left, right = (side[:2].double().sum(0, keepdim=True) for side in (left, right))
    # Small parts first. The product of two following digits is left out, and what is exact in half precision has none.
    if len(left) == len(right):
        return (left[1:], right[:3]) if len(left) > 1 else (left, right)
    return _two(left), _two(right)


def _two(side: Operand) -> Operand:
    """Following and leading digits, or what has no more than one, twice."""
    if len(side) == 1:
        return side.expand(2, *side.shape[1:])
    return side if len(side) == 2 else side[1:3]


def multiplied(left: Any, right: Any, /, *, onto: Any = None) -> Any:
    """The product of (digits, rows, …) and (digits, rows, …) over both, as a matrix; halves add up in single precision.

    It is added to what there is already, which is used up.
    The units for products cut off what is below 2⁻²² of the sum so far. So products of the leading digits, the last
    ones, come a few rows at a time, on top of what there is, and are rounded in between; those before are too small.
    """
    torch = load("torch", extra=EXTRA)
    left, right = (side.reshape(*side.shape[:2], -1) for side in (left, right))
    if left.dtype != torch.float16:
        left, right = left.flatten(0, 1), right.flatten(0, 1)
        return left.T @ right if onto is None else onto.addmm_(left.T, right)
    # Where there are no units for halves, for tests, the same sums are those of single precision.
    kind = {"out_dtype": torch.float32} if left.is_cuda else {}
    left, right = (side if side.is_cuda else side.float() for side in (left, right))
    parts = [*zip(left[-1].split(_ROWS_OF_LEADING), right[-1].split(_ROWS_OF_LEADING), strict=True)]
    if len(left) > 1:
        parts.insert(0, (left[:-1].flatten(0, 1), right[:-1].flatten(0, 1)))
    for own, other in parts:
        onto = torch.mm(own.T, other, **kind) if onto is None else torch.addmm(onto, own.T, other, **kind, out=onto)
    return onto
