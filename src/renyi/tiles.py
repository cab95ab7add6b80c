"""Every pair of columns, a tile at a time: coefficient, p-value, and the linear coefficients beside them.

Columns that are alike, of one kind and rank, make a group; a tile is some columns of one group against some of another,
and all of its pairs go through the same few products of matrices. What a batch cannot answer, because a function has
dropped out on the common rows or no block can be trusted, goes the way of a single pair.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from renyi.columns import Column
from renyi.errors import InputError
from renyi.independence import Prepared, Shuffles, on_every_scale, together
from renyi.inference import blocks as scale_blocks
from renyi.inference.batches import NestedProducts, log_pvalues, roots_of
from renyi.inference.blocks import CORNER, Block, largest_root
from renyi.restricted import Restricted, Whitened, distinct_masks, exact_leverages, forward, leverage_bounds
from renyi.scales import Scales
from renyi.stacks import Stack, Values, products

__all__ = ["Alike", "Found", "Variable", "groups", "measure", "tiles_of"]

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

# Products of a tile, and columns of one side: enough for BLAS, little enough to run several at once.
_TILE_PRODUCTS, _MOST_COLUMNS = 2**20, 128
# Stacks are laid out row by row where all of them together take no more than this.
_DENSE_BYTES = 2**29


@dataclass(frozen=True, eq=False)
class Variable:
    """A typed column of a table, prepared on its observed rows."""

    column: Column
    prepared: Prepared

    @cached_property
    def signature(self) -> Hashable:
        """What columns of one group have in common."""
        scales = self.prepared.scales
        return scales.kind, self.prepared.basis.rank, scales.basis.rank, scales.sizes, scales.has_levels

    @property
    def scales(self) -> Scales:
        """The nested basis."""
        return self.prepared.scales

    @property
    def trend(self) -> float:
        """The sign that makes the first function rise with the values; NaN where they have no order."""
        if self.column.kind == "number":
            return 1.0
        if self.column.kind == "category" and self.scales.basis.rank == 1:
            return 1.0 if self.scales.basis.table[-1, 0] > self.scales.basis.table[0, 0] else -1.0
        return np.nan


@dataclass(frozen=True, eq=False)
class Found:
    """What was found on pairs of columns, by their positions in the table."""

    i: Index
    j: Index
    n: Index
    coefficient: Array
    log_pvalue: Array
    pearson: Array
    spearman: Array


@dataclass(frozen=True, eq=False)
class Alike:
    """Columns of one group: where they stand in the table, and their stacked bases."""

    positions: Index
    variables: tuple[Variable, ...]
    coefficient: Stack | Values
    corner: Stack | Values
    rest: Stack | Values | None
    standardised: Values

    @classmethod
    def of(cls, positions: Sequence[int], variables: Sequence[Variable], /) -> "Alike":
        n_rows = len(variables[0].column)
        missing = [variable.column.missing for variable in variables]
        bases, nested = [v.prepared.basis for v in variables], [v.scales.basis for v in variables]
        edge = CORNER if variables[0].scales.kind == "number" else nested[0].rank
        rest = Stack.of(nested, missing, n_rows, columns=slice(edge, None)) if nested[0].rank > edge else None
        return cls(
            np.array(positions, dtype=np.intp),
            tuple(variables),
            Stack.of(bases, missing, n_rows, columns=slice(None)),
            Stack.of(nested, missing, n_rows, columns=slice(edge)),
            rest,
            Values(np.column_stack([_standardised(v.column) for v in variables])),
        )

    @property
    def scales(self) -> Scales:
        """Those of the first column: kind, ranks and sizes are those of all."""
        return self.variables[0].scales

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return all(variable.column.missing is None for variable in self.variables)

    @cached_property
    def leverages(self) -> Array:
        """Largest leverages (rank, columns) on the columns' own rows."""
        return np.array([variable.scales.leverages for variable in self.variables]).T

    @cached_property
    def lengths(self) -> Index:
        """Observed rows of each column."""
        return np.array([variable.scales.basis.n_samples for variable in self.variables])

    def part(self, columns: slice, /) -> "Alike":
        """Some of the columns."""
        rest = None if self.rest is None else self.rest.part(columns)
        return Alike(
            self.positions[columns],
            self.variables[columns],
            self.coefficient.part(columns),
            self.corner.part(columns),
            rest,
            self.standardised.part(columns),
        )

    def dense(self) -> "Alike":
        """The same with its stacks laid out row by row."""
        stacks = (self.coefficient, self.corner, self.rest)
        laid_out = [stack.dense() if isinstance(stack, Stack) else stack for stack in stacks]
        coefficient, corner, rest = laid_out
        if coefficient is None or corner is None:
            raise ValueError("a group has bases")
        return Alike(self.positions, self.variables, coefficient, corner, rest, self.standardised)


def _standardised(column: Column) -> Array:
    """Values with mean 0 and variance 1, 0 where missing; all NaN where they have no order."""
    if column.kind == "vector" or (column.kind == "category" and len(np.unique(column.complete().values)) > 2):
        return np.full(len(column), np.nan)
    values = column.complete().values
    values = values.view(np.int64) if values.dtype.kind in "Mm" else values
    # Large whole numbers and times keep their digits when their smallest is taken off first.
    numbers = (values - values.min()).astype(np.float64) if values.dtype.kind in "iu" else values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = numbers / max(np.abs(numbers).max(), np.finfo(np.float64).tiny)
        numbers = numbers - numbers.mean()
        numbers /= numbers.std()
    if column.missing is None:
        return numbers
    spread = np.zeros(len(column))
    spread[~column.missing] = numbers
    return spread


def groups(variables: Sequence[Variable], /) -> list[Alike]:
    """Columns by what they have in common, laid out row by row if that takes little memory."""
    by_signature: dict[Hashable, list[int]] = {}
    for position, variable in enumerate(variables):
        by_signature.setdefault(variable.signature, []).append(position)
    alike = [Alike.of(positions, [variables[p] for p in positions]) for positions in by_signature.values()]
    stacks = [stack for group in alike for stack in (group.coefficient, group.corner, group.rest) if stack is not None]
    if sum(stack.dense_bytes for stack in stacks if isinstance(stack, Stack)) <= _DENSE_BYTES:
        return [group.dense() for group in alike]
    return alike


def tiles_of(x: Sequence[Alike], y: Sequence[Alike] | None = None, /) -> Iterator[tuple[Alike, Alike]]:
    """Tiles that cover every pair once: those of x with one another, or of x with y."""
    for g, group in enumerate(x):
        for h, other in enumerate(x[g:] if y is None else y):
            size = _columns_of_tile(group, other)
            parts = [group.part(slice(start, start + size)) for start in range(0, len(group.positions), size)]
            is_same = y is None and h == 0
            others = parts if is_same else [
                other.part(slice(start, start + size)) for start in range(0, len(other.positions), size)
            ]  # fmt: skip
            for p, part in enumerate(parts):
                for with_part in others[p:] if is_same else others:
                    yield part, with_part


def _columns_of_tile(x: Alike, y: Alike) -> int:
    widest = max(x.coefficient.rank * y.coefficient.rank, x.corner.rank * y.corner.rank)
    if not (x.is_complete and y.is_complete):
        widest = max(widest, x.scales.basis.rank**2, y.scales.basis.rank**2)
    return max(1, min(_MOST_COLUMNS, int(np.sqrt(_TILE_PRODUCTS / widest))))


def measure(x: Alike, y: Alike, shuffles: Shuffles, /) -> Found:
    """All pairs of a tile; of a group with itself those above the diagonal."""
    if y is x:
        i, j = np.triu_indices(len(x.positions), 1)
    else:
        i, j = (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))
    pairs = _CompletePairs(x, y, i, j) if x.is_complete and y.is_complete else _CommonPairs(x, y, i, j)
    log_pvalue, coefficient = pairs.log_pvalue, pairs.coefficient
    for k in np.flatnonzero(np.isnan(log_pvalue) | np.isnan(coefficient)):
        coefficient[k], log_pvalue[k] = _by_itself(x.variables[i[k]], y.variables[j[k]], shuffles)
    signs = np.array([v.trend for v in x.variables])[i] * np.array([v.trend for v in y.variables])[j]
    return Found(
        x.positions[i], y.positions[j], pairs.n, coefficient, log_pvalue, pairs.pearson, signs * pairs.first
    )


def _by_itself(x: Variable, y: Variable, shuffles: Shuffles) -> tuple[float, float]:
    """Coefficient and logarithm of the p-value by the way of a single pair; NaN where there is no answer."""
    try:
        pair = together((x.column, y.column), (x.prepared, y.prepared))
        result = on_every_scale(*pair, shuffles)
    except InputError:
        return np.nan, np.nan
    return result.coefficient, result.log_pvalue


class _CompletePairs:
    """Pairs of columns without missing cells."""

    def __init__(self, x: Alike, y: Alike, i: Index, j: Index, /) -> None:
        n = x.coefficient.n_rows
        self.n = np.full(len(i), n)
        cross = products(x.coefficient, y.coefficient)[i, j] / n
        self.coefficient = np.sqrt(np.clip(largest_root(cross), 0.0, 1.0))
        if x.coefficient.rank + y.coefficient.rank >= n:
            self.coefficient[:] = np.nan
        nested = NestedProducts(*(part[i, j] / n for part in _nested_products(x, y)))
        self.first = nested.corner[:, 0, 0]
        self.pearson = products(x.standardised, y.standardised)[i, j, 0, 0] / n
        family = scale_blocks.family(x.scales, y.scales)
        self.log_pvalue = _log_pvalues(
            x.scales,
            y.scales,
            roots_of(nested, family),
            family,
            n=self.n,
            leverages=(x.leverages[:, i], y.leverages[:, j]),
            log_arrangements=np.minimum(_arrangements(x)[i], _arrangements(y)[j]),
        )
        if n < scale_blocks.FEW_ROWS:
            few = [np.array([variable.scales.has_few_ties for variable in side.variables]) for side in (x, y)]
            self.log_pvalue[~(few[0][i] & few[1][j])] = np.nan


def _nested_products(x: Alike, y: Alike) -> tuple[Array, Array, Array]:
    """Sums of products of nested bases, as `NestedProducts` wants them, for all columns of x and of y."""
    corner = products(x.corner, y.corner)
    of_x, of_y = corner[..., 0], corner[..., 0, :]
    if x.rest is not None:
        of_x = np.concatenate((of_x, products(x.rest, y.corner.leading(1))[..., 0]), axis=2)
    if y.rest is not None:
        of_y = np.concatenate((of_y, products(x.corner.leading(1), y.rest)[..., 0, :]), axis=2)
    return corner, of_x, of_y


def _arrangements(group: Alike) -> Array:
    return np.array([variable.scales.log_arrangements for variable in group.variables])


def _log_pvalues(
    x: Scales,
    y: Scales,
    roots: Array,
    family: Sequence[Block],
    *,
    n: Index,
    leverages: tuple[Array, Array],
    log_arrangements: Array,
) -> Array:
    """By the law; NaN where it does not hold."""
    return log_pvalues(
        roots,
        family,
        n=n,
        leverages=leverages,
        log_arrangements=log_arrangements,
        are_numbers=x.kind == y.kind == "number",
        share=scale_blocks.share_of(x, y),
    )


class _CommonPairs:
    """Pairs of columns with missing cells, each on the rows that both have."""

    def __init__(self, x: Alike, y: Alike, i: Index, j: Index, /) -> None:
        self._pairs = x, y, i, j
        self._masks = [distinct_masks([v.column.missing for v in side.variables], x.coefficient.n_rows) for side in (x, y)]
        (of_x, which_x), (of_y, which_y) = self._masks
        # Rows in common of every column of one side with every mask of the other.
        counts = (of_x.astype(np.float64).T @ of_y.astype(np.float64))[which_x][:, which_y]
        self.n = np.rint(counts[i, j]).astype(np.intp)
        self._n_of = [np.array([[1.0]]), np.array([[1.0]])]
        first = np.zeros(1)
        self.coefficient = self._coefficient()
        self.first = first
        self.pearson = first
        self.log_pvalue = self.coefficient
