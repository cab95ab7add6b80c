"""Columns on a device to groups of one kind and dimension, and what pairwise deletion takes of their rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.compare import has_wide_categories
from renyi.allpairs.device.ranking import DeviceVariable, Ranked, rows_at
from renyi.allpairs.device.stack import DeviceStack
from renyi.allpairs.device.values import DeviceValues
from renyi.allpairs.stack import is_exact
from renyi.basis.basis import Basis
from renyi.basis.product_moments import Moments, recipes_of_many, recipes_of_smooth
from renyi.inference.multiscale import CORNER
from renyi.pair.prepare import Prepared

Tensor: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Gaps:
    """The columns of a group, as pairwise deletion looks at them: functions to be summed over the rows of others.

    Smooth functions of numbers without many ties have `moments`, and from the means of these everything follows by
    recipes (columns, sums, 1 + moments), `nested` ones and those of the coefficient, `recipes`. Of other columns the
    functions and all products of two are summed themselves. The `coefficient` has functions of its own where it has no
    recipes.
    """

    functions: DeviceStack
    coefficient: DeviceStack | None
    moments: Moments | None
    nested: Tensor = None
    recipes: Tensor = None

    def part(self, columns: slice, /) -> "Gaps":
        """Some of the columns."""
        return replace(
            self,
            functions=self.functions.part(columns),
            coefficient=None if self.coefficient is None else self.coefficient.part(columns),
            nested=None if self.nested is None else self.nested[columns],
            recipes=None if self.recipes is None else self.recipes[columns],
        )


def groups_on_device(ranks: Ranked, /, *, has_gaps: bool) -> list[ColumnGroup]:
    """Columns that are alike, stacked; they have what deletion needs where any column of the table has gaps."""
    by_signature: dict[Any, list[int]] = {}
    # Most columns share what was prepared.
    signatures: dict[int, Any] = {}
    for place, variable in enumerate(ranks.variables):
        key = id(variable.prepared)
        if key not in signatures:
            signatures[key] = variable.signature
        by_signature.setdefault(signatures[key], []).append(place)
    return [_Group(ranks, places).made(has_gaps) for places in by_signature.values()]


class _Group:
    """Columns of one signature; those that share what was prepared share tables."""

    def __init__(self, ranks: Ranked, places: Sequence[int], /) -> None:
        self._ranks, self._places = ranks, np.array(places, dtype=np.intp)
        self._variables: tuple[DeviceVariable, ...] = tuple(ranks.variables[k] for k in places)
        own = [variable.prepared for variable in self._variables]
        needed = {id(one) for one in own}
        self._batches = [batch for batch in ranks.batches if any(id(one) in needed for one in batch.prepared)]
        within = {id(one) for batch in self._batches for one in batch.prepared}
        self._others: list[Prepared] = list({id(one): one for one in own if id(one) not in within}.values())
        # Where tables begin when they lie one after the other; after its cells each has zeros, for missing rows.
        start = 0
        starts: dict[int, int] = {}
        for batch in self._batches:
            length = batch.nested.shape[1]
            starts |= {id(one): start + k * length for k, one in enumerate(batch.prepared)}
            start += length * len(batch.prepared)
        for one in self._others:
            starts[id(one)] = start
            start += one.scales.basis.n_cells + 1
        self._starts = np.array([starts[id(one)] for one in own])
        self._sizes = np.array([one.scales.basis.n_cells + 1 for one in own])

    def made(self, has_gaps: bool) -> ColumnGroup:
        """The group with its stacks."""
        import torch

        codes = rows_at(self._ranks.codes, self._places)
        starts = torch.as_tensor(self._starts, dtype=torch.int32, device=codes.device)
        places = (codes + starts[:, None] if self._starts.any() else codes).T.contiguous()
        scales, n_rows = self._variables[0].scales, int(codes.shape[1])
        kinds = [
            torch.float64 if is_exact([side(v.prepared) for v in self._variables], n_rows) else torch.float32
            for side in (_basis, _nested)
        ]
        edge = CORNER if scales.is_number else scales.basis.dimension
        nested = self._packed(_nested, "nested", scales.basis.dimension)
        basis = self._packed(_basis, "coefficient", self._variables[0].prepared.basis.dimension)
        is_complete = all(variable.is_complete for variable in self._variables)
        group = ColumnGroup(
            self._places,
            self._variables,
            self._stack(basis, places, kinds[0]),
            self._stack(nested[:, :edge], places, kinds[1]),
            self._stack(nested[:, edge:], places, kinds[1]) if scales.basis.dimension > edge else None,
            (),
            DeviceValues.of(rows_at(self._ranks.numbers, self._places), self._ranks.device, has_gaps=not is_complete),
        )
        # Products of every two of many functions would be a table as large as the square of the levels.
        if not has_gaps or has_wide_categories(group):
            return group
        moments = group.moments
        recipes = None if moments is None else self._recipes(moments)
        coefficient = None if recipes is not None else self._stack(_with_products(basis), places, kinds[0])
        if moments is None:
            return replace(group, gaps=Gaps(self._stack(_with_products(nested), places, kinds[1]), coefficient, None))
        functions = self._stack(self._moments(moments), places, kinds[1])
        return replace(group, gaps=Gaps(functions, coefficient, moments, self._nested_recipes(moments), recipes))

    def _packed(self, side: Callable[[Prepared], Basis], name: str, dimension: int) -> Tensor:
        """All tables (cells, functions), one after the other, on the device."""
        import torch

        parts = [getattr(batch, name)[:, :, :dimension].reshape(-1, dimension) for batch in self._batches]
        tables = [np.vstack((side(one).table, np.zeros((1, dimension)))) for one in self._others]
        if tables:
            parts.append(torch.as_tensor(np.concatenate(tables), device=self._ranks.device))
        return torch.cat(parts)

    def _moments(self, moments: Moments) -> Tensor:
        """The moments at all cells, 0 where there is none."""
        import torch

        parts = [batch.middles.reshape(-1) for batch in self._batches]
        for one in self._others:
            own = np.full(one.scales.basis.n_cells + 1, np.nan)
            own[:-1] = np.nan if one.scales.smooth is None else one.scales.smooth.middles
            parts.append(torch.as_tensor(own, device=self._ranks.device))
        return moments.at(torch.cat(parts))[:, 1:].nan_to_num(0.0)

    def _recipes(self, moments: Moments) -> Tensor | None:
        """How bases of the coefficient are made of the moments (columns, sums, 1 + moments), if those of all are."""
        import torch

        if any(variable.scales.equal_pairs for variable in self._variables):
            return None
        distinct = {id(v.prepared): v.prepared.basis for v in self._variables}
        maps = [basis.feature_map for basis in distinct.values()]
        if len({id(one.projection) for one in maps if one is not None}) > 1 or None in maps:
            return None
        lengths, array = [basis.n_samples for basis in distinct.values()], torch.empty(0, device=self._ranks.device)
        made = recipes_of_many([one for one in maps if one is not None], lengths, moments, array)
        return None if made is None else made[self._rows_of(list(distinct))]

    def _nested_recipes(self, moments: Moments) -> Tensor:
        """The same for nested bases, which are mixtures of smooth functions."""
        import torch

        distinct = {id(v.prepared): v.scales.smooth for v in self._variables}
        weights, intercepts = (
            torch.as_tensor(
                np.stack([part[k] for part in distinct.values() if part is not None]), device=self._ranks.device
            )
            for k in (1, 2)
        )
        return _of_mixtures(weights.new_tensor(recipes_of_smooth(moments)), weights, intercepts)[
            self._rows_of(list(distinct))
        ]

    def _rows_of(self, distinct: list[int]) -> Tensor:
        """For every column the place of what was prepared for it."""
        import torch

        row = {key: k for k, key in enumerate(distinct)}
        return torch.as_tensor([row[id(v.prepared)] for v in self._variables], device=self._ranks.device)

    def _stack(self, table: Tensor, places: Tensor, kind: Any) -> DeviceStack:
        starts, sizes = self._starts.tolist(), self._sizes.tolist()
        stack = DeviceStack.of_table(table, places, dtype=kind, starts=starts, sizes=sizes)
        return replace(stack, has_rows_for_cells=self._variables[0].column.is_vector)


def _basis(prepared: Prepared) -> Basis:
    return prepared.basis


def _nested(prepared: Prepared) -> Basis:
    return prepared.scales.basis


def _of_mixtures(recipes: Tensor, weights: Tensor, intercepts: Tensor) -> Tensor:
    """Recipes (columns, sums, 1 + moments) of mixtures, and of their products, by those of the functions (sums, …).

    With the constant as one more function a mixture is a product of matrices, and so are all products of two.
    """
    import torch

    n_functions, n_mixtures = weights.shape[1:]
    products = recipes.new_zeros((1 + n_functions, 1 + n_functions, recipes.shape[1]))
    i, j = (1 + part for part in np.tril_indices(n_functions))
    products[0, 0, 0] = 1.0
    products[0, 1:] = products[1:, 0] = recipes[:n_functions]
    products[i, j] = products[j, i] = recipes[n_functions:]
    mixing = weights.new_zeros((len(weights), 1 + n_functions, 1 + n_mixtures))
    mixing[:, 0, 0], mixing[:, 0, 1:], mixing[:, 1:, 1:] = 1.0, intercepts, weights
    mixed = torch.einsum("cip,ijm->cpjm", mixing, products)
    mixed = torch.einsum("cjq,cpjm->cpqm", mixing, mixed)
    i, j = (1 + part for part in np.tril_indices(n_mixtures))
    return torch.cat((mixed[:, 0, 1:], mixed[:, i, j]), dim=1)


def _with_products(table: Tensor) -> Tensor:
    """Functions, and their products on and below the diagonal."""
    import torch

    i, j = np.tril_indices(table.shape[1])
    return torch.cat((table, table[:, i] * table[:, j]), dim=1)
