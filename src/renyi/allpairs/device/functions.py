"""Functions of numbers without ties, for many numbers of rows at once, on a device.

Where cells are missing nearly every column has its own number of observed rows, and hence a table of its own. Bases of
neighbouring numbers hardly differ: what makes one orthonormal makes the others nearly so, which leaves Gram matrices
close to the identity, whose factors are accurate. So the tables of a thousand columns take a few products of matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from renyi.basis.basis import LEAST_SIZE, Basis, FeatureMap, copula_basis, feature_map_of, grid_cells
from renyi.basis.cosine import FIRST_WAVE, MOST_FUNCTIONS, Smooth, functions
from renyi.basis.nested import ORDERED_CUT, Scales, number_scales
from renyi.basis.orthonormal import ordered_whitening, principal_whitening, triangular_factor
from renyi.basis.random_features import FIXED_DRAW, Projection, sines_and_cosines
from renyi.basis.ranks import Cells, tie_free_cells
from renyi.compute.arrays import Array, Index, in_memory
from renyi.compute.devices import free_bytes
from renyi.pair.prepare import Prepared
from renyi.pair.settings import Settings

Tensor: TypeAlias = Any

# Fewer numbers of rows are made one by one.
_FEWEST = 8
# Directions of the features that are kept until the dimension is decided, far below its cut.
_SMALLEST = 1e-9
# Numbers that one row of a table takes while it is made, and the part of the free memory that these may take.
_NUMBERS_OF_ROW, _SHARE = 160, 0.2


def prepared_cells(ranks: Array, counts: Index, settings: Settings, /, *, has_ties: bool) -> Prepared:
    """A number of which every cell has so many rows."""
    n = int(counts.sum())
    projection = settings.scalar_projection(n, FIXED_DRAW)
    cells = Cells(ranks, counts, has_ties, grid_cells(n, projection.roughest))
    return Prepared(settings.of_rows(copula_basis(cells, projection)), number_scales(cells))


def tie_free(lengths: Sequence[int], settings: Settings, device: Any, /) -> "tuple[dict[int, Prepared], list[Batch]]":
    """Numbers without ties, for every number of rows, and the tables of those that were made on the device."""
    found: dict[int, Prepared] = {}
    batches: list[Batch] = []
    by_projection: dict[Projection, list[int]] = {}
    for n in sorted(lengths):
        by_projection.setdefault(settings.scalar_projection(n, FIXED_DRAW), []).append(n)
    for projection, some in by_projection.items():
        longest = len(_cells(some[-1], projection)[1])
        at_once = max(1, int(_SHARE * free_bytes(device) / (8 * _NUMBERS_OF_ROW * longest)))
        for start in range(0, len(some), at_once):
            part = some[start : start + at_once]
            if len(part) < _FEWEST:
                made = [prepared_cells(*_cells(n, projection), settings, has_ties=False) for n in part]
            else:
                batches.append(_Making(part, projection, device).made(settings))
                made = batches[-1].prepared
            found |= dict(zip(part, made, strict=True))
    return found, batches


@dataclass(frozen=True, eq=False)
class Batch:
    """Numbers without ties whose tables (numbers, cells and one of zeros, functions) are on a device.

    `middles` (numbers, cells and one) are NaN beyond the cells of each.
    """

    prepared: list[Prepared]
    coefficient: Tensor
    nested: Tensor
    middles: Tensor


class _Later(Basis):
    """A basis whose table is made in memory once somebody asks for it."""

    def __init__(
        self, make: Callable[[], Array], dimension: int, feature_map: FeatureMap | None, counts: Index, /
    ) -> None:
        own = {"codes": None, "feature_map": feature_map, "counts": counts, "_make": make, "_dimension": dimension}
        self.__dict__.update({field.name: field.default for field in fields(Basis) if field.name != "table"} | own)

    def __getattr__(self, name: str) -> Any:
        if name != "table":
            raise AttributeError(name)
        self.__dict__["table"] = self.__dict__["_make"]()
        return self.__dict__["table"]

    @property
    def dimension(self) -> int:
        return int(self.__dict__["_dimension"])

    @cached_property
    def n_samples(self) -> int:
        """Rows of the data."""
        return int(self.__dict__["counts"].sum())


def _smooth_table(smooth: Smooth) -> Array:
    return functions(smooth.middles) @ smooth.weights + smooth.intercept


def _cells(n: int, projection: Projection) -> tuple[Array, Index]:
    return tie_free_cells(n, grid_cells(n, projection.roughest))


class _Making:
    """Columns of different numbers of rows, whose cells are filled up to as many with ones that have no row."""

    def __init__(self, lengths: Sequence[int], projection: Projection, device: Any, /) -> None:
        import torch

        self._lengths, self._projection = lengths, projection
        self._cells = [_cells(n, projection) for n in lengths]
        shape = len(lengths), max(len(counts) for _, counts in self._cells)
        ranks, counts = np.ones(shape), np.zeros(shape)
        for k, (own_ranks, own_counts) in enumerate(self._cells):
            ranks[k, : len(own_ranks)], counts[k, : len(own_counts)] = own_ranks, own_counts
        self._ranks, rows = (torch.as_tensor(part, device=device) for part in (ranks, counts))
        n = rows.sum(1, keepdim=True)
        self._shares = (rows / n)[:, :, None]
        self._middles = (rows.cumsum(1) - rows / 2) / n

    def made(self, settings: Settings) -> Batch:
        """All of them."""
        import torch

        features, maps = self._features(), self._feature_maps()
        maps = self._once_more(features, maps)
        tables, sizes = self._tables(features, [(one.weights, one.intercept) for one in maps])
        smooth = self._smooth_functions()
        mixing = self._orthonormalising(smooth)
        nested, leverages = self._tables(smooth, mixing)
        middles, found = in_memory(self._middles), []
        for k, (ranks, counts) in enumerate(self._cells):
            make = partial(maps[k], ranks[:, np.newaxis])
            basis = _Later(make, len(maps[k].intercept), maps[k], counts)
            basis.__dict__ |= {"goes_by_rows": settings.k is None, "largest_leverage": float(sizes[k][-1])}
            own = Smooth(middles[k, : len(counts)], *mixing[k])
            scales = Scales(_Later(partial(_smooth_table, own), len(own.intercept), None, counts), "number", smooth=own)
            scales.__dict__["leverages"] = leverages[k]
            found.append(Prepared(basis, scales))
        pad = torch.nn.functional.pad
        there = torch.where(self._shares[:, :, 0] > 0, self._middles, torch.nan)
        return Batch(found, pad(tables, (0, 0, 0, 1)), pad(nested, (0, 0, 0, 1)), pad(there, (0, 1), value=torch.nan))

    def _features(self) -> Tensor:
        """Sines and cosines (columns, cells, features)."""
        import torch

        ends = self._projection.angles(np.array([[0.0], [1.0]]))
        slopes, phases = (self._ranks.new_tensor(part) for part in (ends[1] - ends[0], ends[0]))
        angles = self._ranks[:, :, None] * slopes + phases
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(2)

    def _feature_maps(self) -> list[FeatureMap]:
        """What makes the features of every column orthonormal, by way of those of the one in the middle."""
        ranks, counts = self._cells[len(self._cells) // 2]
        features = sines_and_cosines(self._projection, ranks[:, np.newaxis])
        weights, intercept = principal_whitening(
            triangular_factor([(features, np.sqrt(counts / counts.sum()))]), cut=_SMALLEST
        )
        here = self._features()
        means = in_memory((self._shares * here).sum(1))
        near = here @ here.new_tensor(weights) + here.new_tensor(intercept)
        factors = self._factors(near) @ np.linalg.pinv(weights)
        whole = np.zeros((len(means), factors.shape[1] + 1, factors.shape[2] + 1))
        whole[:, 0, 0], whole[:, 0, 1:], whole[:, 1:, 1:] = 1.0, means, factors
        return [feature_map_of(self._projection, factor) for factor in whole]

    def _once_more(self, features: Tensor, maps: list[FeatureMap]) -> list[FeatureMap]:
        """The same without what rounding has left of means and products, which small directions magnify."""
        tables, _ = self._tables(features, [(one.weights, one.intercept) for one in maps])
        means = in_memory((self._shares * tables).sum(1))
        centred = tables - (self._shares * tables).sum(1, keepdim=True)
        grams = in_memory((centred * self._shares).transpose(1, 2) @ centred)
        found = []
        for one, mean, gram in zip(maps, means, grams, strict=True):
            dimension = len(one.intercept)
            mixing = np.linalg.inv(np.linalg.cholesky(gram[:dimension, :dimension])).T
            intercept = (one.intercept - mean[:dimension]) @ mixing
            found.append(FeatureMap(one.projection, one.weights @ mixing, intercept))
        return found

    def _smooth_functions(self) -> Tensor:
        """As `basis.cosine.functions` has them."""
        import torch

        v = 2 * self._middles - 1
        waves = torch.arange(FIRST_WAVE, MOST_FUNCTIONS + 1, device=v.device, dtype=v.dtype)
        cosines = torch.cos(torch.pi * self._middles[:, :, None] * waves)
        return torch.cat((v[:, :, None], (v**2)[:, :, None], cosines), dim=2)

    def _orthonormalising(self, functions: Tensor) -> list[tuple[Array, Array]]:
        means = in_memory((self._shares * functions).sum(1))
        factors = self._factors(functions)
        whole = np.zeros((len(means), factors.shape[1] + 1, factors.shape[2] + 1))
        whole[:, 0, 0], whole[:, 0, 1:], whole[:, 1:, 1:] = 1.0, means, factors
        return [ordered_whitening(factor, cut=ORDERED_CUT, first=LEAST_SIZE) for factor in whole]

    def _factors(self, functions: Tensor) -> Array:
        """Upper triangular factors of centred functions (columns, functions, functions)."""
        import torch

        centred = functions - (self._shares * functions).sum(1, keepdim=True)
        gram = (centred * self._shares).transpose(1, 2) @ centred
        found: Array = in_memory(torch.linalg.cholesky(gram).transpose(1, 2))
        return found

    def _tables(self, functions: Tensor, mixing: Sequence[tuple[Array, Array]]) -> tuple[Tensor, list[Array]]:
        """Mixtures of functions at every cell, 0 where there is none, and the largest leverages of the leading ones."""
        import torch

        dimensions = [len(intercept) for _, intercept in mixing]
        weights = np.zeros((len(mixing), functions.shape[2], max(dimensions)))
        intercepts = np.zeros((len(mixing), 1, max(dimensions)))
        for k, (own, intercept) in enumerate(mixing):
            weights[k, :, : own.shape[1]], intercepts[k, 0, : len(intercept)] = own, intercept
        tables = torch.baddbmm(functions.new_tensor(intercepts), functions, functions.new_tensor(weights))
        tables *= self._shares > 0
        # Sums of leading squares by a product: scans along so short an axis take fifty times as long.
        leverages = in_memory((tables**2 @ tables.new_ones((tables.shape[2],) * 2).triu()).amax(1))
        return tables, [leverages[k, :r] / n for k, (n, r) in enumerate(zip(self._lengths, dimensions, strict=True))]
