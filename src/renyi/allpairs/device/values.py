"""Values of columns on a device, standardised where they are multiplied: what Pearson's correlation is made of."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from renyi.allpairs.device.stack import DeviceFunctions
from renyi.compute import kernels
from renyi.compute.devices import Operand, free_bytes

Tensor: TypeAlias = Any

# The part of the free memory that columns take whose means and deviations are found at once.
_SHARE_AT_ONCE = 0.15


@dataclass(frozen=True, eq=False)
class DeviceValues(DeviceFunctions):
    """Numbers (columns, rows) that are standardised where they are multiplied, to a power.

    They are divided by their size, less their mean and what rounding has left of it, over their deviation; all of these
    are (columns, 1). Missing ones are NaN, and 0 once they are standardised.
    """

    numbers: Tensor
    traits: tuple[Tensor, ...]
    has_gaps: bool = False
    power: int = 1
    dimension: int = 1

    @classmethod
    def of(cls, numbers: Tensor, device: Any = None, /, *, has_gaps: bool = False) -> "DeviceValues":
        """Values of columns that vary."""
        import torch

        device = numbers.device if device is None else device
        at_once = max(1, int(_SHARE_AT_ONCE * free_bytes(device) / (16 * numbers.shape[1])))
        if not numbers.is_floating_point():
            floats = torch.empty(numbers.shape, dtype=torch.float64, device=numbers.device)
            for own, part in zip(floats.split(at_once), numbers.split(at_once), strict=True):
                own.copy_(less_smallest(part))
            numbers = floats
        parts = [_traits(part.to(device), has_gaps) for part in numbers.split(at_once)]
        return cls(numbers, tuple(torch.cat(every) for every in zip(*parts, strict=True)), has_gaps)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Rows of the table."""
        return int(self.numbers.shape[1])

    @property
    def device(self) -> Any:
        return self.traits[0].device

    @property
    def dtype(self) -> Any:
        import torch

        return torch.float64

    def part(self, columns: slice, /) -> "DeviceValues":
        return replace(self, numbers=self.numbers[columns], traits=tuple(trait[columns] for trait in self.traits))

    def squared(self) -> "DeviceValues":
        """Their squares."""
        return replace(self, power=2)

    def operand(self, rows: slice, /, *, short: bool = False) -> Operand:
        sizes, means, rests, deviations = self.traits
        numbers = self.numbers[:, rows].to(self.device, non_blocking=True)
        known = kernels.standardised(numbers, self.traits, power=self.power, has_gaps=self.has_gaps)
        if known is None:
            known = (numbers.double() / sizes - means - rests) / deviations
            known = known.nan_to_num(0.0) if self.has_gaps else known
            known = known**self.power if self.power > 1 else known
        return known.T[None, :, :, None]


def _traits(numbers: Tensor, has_gaps: bool) -> tuple[Tensor, ...]:
    """What numbers (columns, rows) are standardised by: sizes, means, what rounding left of these, deviations."""
    import torch

    is_there = ~torch.isnan(numbers) if has_gaps else None
    known = numbers if is_there is None else numbers.nan_to_num(0.0)
    n = numbers.shape[1] if is_there is None else is_there.sum(1, keepdim=True)
    sizes = torch.maximum(known.amax(1).double().abs(), known.amin(1).double().abs())
    sizes = sizes.clamp(min=float(np.finfo(np.float64).tiny))[:, None]
    sizes = sizes / (2.0 * torch.frexp(sizes).mantissa)  # a power of 2 costs no digits
    centred, means = known.double() / sizes, []
    # Of values far from 0 the mean is rounded by more than they differ, hence twice.
    for _ in range(2):
        means.append(centred.sum(1, keepdim=True) / n)
        centred = centred - means[-1]
        if is_there is not None:
            centred = centred * is_there
    return sizes, *means, torch.linalg.vector_norm(centred, dim=1, keepdim=True) / n**0.5


def less_smallest(numbers: Tensor, /) -> Tensor:
    """Whole numbers (columns, rows) as floats, less the smallest of their column: so large ones keep their digits."""
    import torch

    whole = numbers.long()
    apart = (whole - whole.amin(1, keepdim=True)).double()
    # What lies further apart than 64 bits reach is right again without a sign.
    return torch.where(apart < 0.0, apart + 2.0**64, apart)
