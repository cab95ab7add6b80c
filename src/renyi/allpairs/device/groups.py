"""Columns on a device to groups of one kind and dimension, and what pairwise deletion takes of their rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.device.ranking import DeviceVariable, Ranked, rows_at
from renyi.allpairs.device.stack import DeviceStack, DeviceValues
from renyi.allpairs.stack import is_exact
from renyi.basis.product_moments import Moments
from renyi.inference.multiscale import CORNER
from renyi.pair.prepare import Prepared

__all__ = ["Gaps", "groups_on_device"]

Array: TypeAlias = NDArray[np.float64]
Tensor: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Gaps:
    """The columns of a group, as pairwise deletion looks at them: functions to be summed over the rows of others.

    Smooth functions of numbers without many ties have `moments`, and from the means of these everything follows by
    `weights`, `intercepts` and `recipes` (columns, …). Of other columns the functions and all products of two are
    summed themselves. The `coefficient` has functions of its own where it has no recipes.
    """

    functions: DeviceStack
    coefficient: DeviceStack | None
    moments: Moments | None
    weights: Tensor | None = None
    intercepts: Tensor | None = None
    recipes: Tensor | None = None

    def part(self, columns: slice, /) -> "Gaps":
        """Some of the columns."""
        return replace(
            self,
            functions=self.functions.part(columns),
            coefficient=None if self.coefficient is None else self.coefficient.part(columns),
            weights=None if self.weights is None else self.weights[columns],
            intercepts=None if self.intercepts is None else self.intercepts[columns],
            recipes=None if self.recipes is None else self.recipes[columns],
        )


def groups_on_device(ranks: Ranked, /, *, has_gaps: bool) -> list[ColumnGroup]:
    """Columns that are alike, stacked; they have what deletion needs where any column of the table has gaps."""
    by_signature: dict[Any, list[int]] = {}
    for place, variable in enumerate(ranks.variables):
        by_signature.setdefault(variable.signature, []).append(place)
    return [_Group(ranks, places).made(has_gaps) for places in by_signature.values()]


class _Group:
    """Columns of one signature; those that share what was prepared share tables."""

    def __init__(self, ranks: Ranked, places: Sequence[int], /) -> None:
        self._ranks, self._places = ranks, np.array(places, dtype=np.intp)
        self._variables: tuple[DeviceVariable, ...] = tuple(ranks.variables[k] for k in places)
        own = [variable.prepared for variable in self._variables]
        self._prepared: list[Prepared] = list({id(one): one for one in own}.values())
        row = {id(one): k for k, one in enumerate(self._prepared)}
        # Of every column the one that it shares.
        self._which = np.array([row[id(one)] for one in own])
        # After its cells every table has zeros, for missing rows.
        self._lengths = np.array([len(one.scales.basis.table) + 1 for one in self._prepared])
        self._first = np.cumsum(self._lengths) - self._lengths

    def made(self, has_gaps: bool) -> ColumnGroup:
        """The group with its stacks."""
        import torch

        starts = torch.as_tensor(self._first[self._which], dtype=torch.int32)
        codes = rows_at(self._ranks.codes, self._places)
        places = (codes + starts.to(codes.device)[:, None] if len(self._prepared) > 1 else codes).T.contiguous()
        bases, nested = ([getattr(one, name) for one in self._prepared] for name in ("basis", "scales"))
        nested = [one.basis for one in nested]
        kinds = [self._kind(side) for side in (bases, nested)]
        edge = CORNER if self._variables[0].scales.kind == "number" else nested[0].rank
        corner = self._stack([one.table[:, :edge] for one in nested], places, kinds[1])
        rest = None
        if nested[0].rank > edge:
            rest = self._stack([one.table[:, edge:] for one in nested], places, kinds[1])
        is_complete = all(variable.is_complete for variable in self._variables)
        group = ColumnGroup(
            self._places,
            self._variables,
            self._stack([one.table for one in bases], places, kinds[0]),
            corner,
            rest,
            (),
            DeviceValues.of(rows_at(self._ranks.numbers, self._places), self._ranks.device, has_gaps=not is_complete),
        )
        return replace(group, gaps=self._gaps(group, places, kinds)) if has_gaps else group

    def _kind(self, bases: Sequence[Any]) -> Any:
        import torch

        return torch.float64 if is_exact(bases, int(self._ranks.codes.shape[1])) else torch.float32

    def _stack(self, tables: Sequence[Array], places: Tensor, kind: Any) -> DeviceStack:
        import torch

        whole = np.concatenate([np.vstack((table, np.zeros((1, table.shape[1])))) for table in tables])
        return self._of_table(torch.as_tensor(whole, device=self._ranks.device), places, kind)

    def _of_table(self, table: Tensor, places: Tensor, kind: Any) -> DeviceStack:
        starts, sizes = (values[self._which].tolist() for values in (self._first, self._lengths))
        return DeviceStack.of_table(table, places, dtype=kind, starts=starts, sizes=sizes)

    def _gaps(self, group: ColumnGroup, places: Tensor, kinds: Sequence[Any]) -> Gaps:
        import torch

        device, moments, recipes = self._ranks.device, group.moments, group.recipes
        coefficient = None
        if moments is None or recipes is None:
            coefficient = self._with_products([one.basis.table for one in self._prepared], places, kinds[0])
        if moments is None:
            nested = self._with_products([one.scales.basis.table for one in self._prepared], places, kinds[1])
            return Gaps(nested, coefficient, None)
        smooth = group.smooth
        middles = np.zeros(int(self._lengths.sum()))
        is_there = np.zeros(len(middles), dtype=bool)
        for k, one in enumerate(self._prepared):
            own = one.scales.smooth
            if own is not None:
                rows = slice(self._first[k], self._first[k] + len(own.middles))
                middles[rows], is_there[rows] = own.middles, True
        table = moments.at(torch.as_tensor(middles, device=device))[:, 1:]
        table *= torch.as_tensor(is_there, device=device)[:, None]
        return Gaps(
            self._of_table(table, places, kinds[1]),
            coefficient,
            moments,
            *(torch.as_tensor(np.stack([part[k] for part in smooth]), device=device) for k in (1, 2)),
            recipes=None if recipes is None else torch.as_tensor(np.stack(recipes), device=device),
        )

    def _with_products(self, tables: Sequence[Array], places: Tensor, kind: Any) -> DeviceStack:
        """Functions, and their products on and below the diagonal."""
        i, j = np.tril_indices(tables[0].shape[1])
        return self._stack([np.hstack((table, table[:, i] * table[:, j])) for table in tables], places, kind)
