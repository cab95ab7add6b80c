"""Columns that are alike, of one kind and dimension, stacked: what a tile of pairs is made of."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.masked_moments import MaskedMoments
from renyi.allpairs.row_sample import SAMPLE, sampled_rows
from renyi.allpairs.stack import CellStack, Functions, Stack, Values
from renyi.basis.basis import Basis
from renyi.basis.cosine import Smooth
from renyi.basis.nested import Scales
from renyi.basis.product_moments import Moments, moments_of, recipes_of
from renyi.basis.random_features import FIXED_DRAW
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.column import Column
from renyi.inference.multiscale import CORNER
from renyi.pair.prepare import DEFAULT_SETTINGS, Prepared, prepare
from renyi.pair.settings import Settings


@dataclass(frozen=True, eq=False)
class Variable:
    """A typed column of a table, and how it is prepared on its observed rows, once it is asked for.

    Where rows are not in memory `column` has none of them, and `sample` has some, to be shown.
    """

    column: Column
    prepare: Callable[[Column], Prepared]
    sample: Column | None = field(default=None, kw_only=True)
    settings: Settings = field(default=DEFAULT_SETTINGS, kw_only=True)

    @cached_property
    def prepared(self) -> Prepared:
        """The column as the coefficient and the test see it."""
        return self.prepare(self.column)

    @property
    def with_rows(self) -> Prepared:
        """The same with the cell of every row, for a look at single pairs."""
        return self.prepared

    @cached_property
    def shown(self) -> Column:
        """The rows that pictures are drawn of: all, or of many a uniform sample."""
        if self.sample is not None:
            return self.sample
        rows = np.zeros(len(self.column), dtype=bool)
        rows[sampled_rows(len(rows), SAMPLE)] = True
        return self.column if rows.all() else self.column.take(rows)

    @cached_property
    def shown_prepared(self) -> Prepared:
        """The column as the coefficient would see it on the rows that are shown."""
        return self.with_rows if self.shown is self.column else prepare(self.shown, FIXED_DRAW, self.settings)

    @property
    def why_no_rows(self) -> str:
        """Why no rows can be shown, and what would help, in words that follow "they"; empty where some can."""
        return "" if len(self.shown) else f"were not kept (sample=0): pass sample={SAMPLE:_}"

    def forget(self) -> None:
        """Let go of what can be prepared again."""
        self.__dict__.pop("prepared", None)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.column)

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return self.column.missing is None

    @property
    def n_samples(self) -> int:
        """Observed rows."""
        gaps = self.column.missing
        return len(self.column) - (0 if gaps is None else int(np.count_nonzero(gaps)))

    @cached_property
    def signature(self) -> Hashable:
        """What columns of one group have in common."""
        scales = self.prepared.scales
        is_plain = scales.smooth is not None and scales.smooth.is_plain
        has_ties = scales.equal_pairs > 0
        return (
            *(scales.kind, self.prepared.basis.dimension, scales.basis.dimension, scales.sizes),
            *(scales.has_levels, is_plain, is_plain and has_ties),
        )

    @property
    def scales(self) -> Scales:
        """The nested basis."""
        return self.prepared.scales

    @property
    def kind(self) -> str:
        """That of the column."""
        return self.column.kind

    @cached_property
    def heaviest(self) -> float:
        """What the heaviest row of the basis weighs: leverage times rows."""
        return self.prepared.basis.largest_leverage * self.prepared.basis.n_samples

    @cached_property
    def is_plain_number(self) -> int:
        """Whether the basis is of the ranks of one number, as 1 or 0."""
        return int(self.prepared.basis.is_of_number)

    @cached_property
    def most_frequent(self) -> int:
        """Rows of the most frequent value."""
        counts = self.scales.basis.cell_counts if self.scales.equal_pairs else None
        return 1 if counts is None else int(counts.max())

    @cached_property
    def detail(self) -> float:
        """Share of the variance of a number's ranks that lies beyond the value most rows have; 1 where none is such."""
        counts = self.scales.basis.cell_counts if self.scales.equal_pairs else None
        if counts is None or 2 * counts.max() < counts.sum():
            return 1.0
        shares = counts / counts.sum()
        place = int(counts.argmax())
        # Ranks below and above are two stretches; ties are parts of these without variance.
        beyond = sum(side.sum() ** 3 - np.sum(side**3) for side in (shares[:place], shares[place + 1 :]))
        return float(beyond / (1.0 - np.sum(shares**3)))

    @property
    def trend(self) -> float:
        """The sign that makes the first function rise with the values; NaN where they have no order."""
        if self.column.is_number:
            return 1.0
        if self.column.is_category and self.scales.basis.dimension == 1:
            return 1.0 if self.scales.basis.table[-1, 0] > self.scales.basis.table[0, 0] else -1.0
        return np.nan


def ready(prepared: Prepared, /) -> Callable[[Column], Prepared]:
    """For a `Variable` that is prepared already; unlike a closure it can be pickled."""
    return partial(_same, prepared)


def _same(prepared: Prepared, _: Column) -> Prepared:
    return prepared


@dataclass(frozen=True, eq=False)
class ColumnGroup:
    """Columns of one group: where they stand in the table, and their stacked bases.

    `values` are standardised ones, where Pearson's correlation has to be found together with the rest since the rows
    will be gone, or are on a device. `gaps` are what pairwise deletion takes of the rows, where it is found beforehand.
    `whole` is how many columns a group has of which this is a part, None where it is no part.
    """

    positions: Index
    variables: tuple[Variable, ...]
    coefficient: Stack
    corner: Stack
    rest: Stack | None
    codes: tuple[NDArray[Any], ...]
    values: Any = None
    gaps: Any = None
    whole: int | None = None

    @classmethod
    def of(cls, positions: Sequence[int], variables: Sequence[Variable], /) -> "ColumnGroup":
        missing = [variable.column.missing for variable in variables]
        return cls._of(positions, variables, missing)

    @classmethod
    def of_batches(cls, position: int, variable: Variable, /) -> "ColumnGroup":
        """A column whose rows are read in batches: `over` has them a batch at a time."""
        return cls._of([position], [variable], [None])

    @classmethod
    def joined(cls, groups: Sequence["ColumnGroup"], /) -> "ColumnGroup":
        """The columns of several groups that have the same signature, and whose rows are read in batches."""
        variables = tuple(variable for group in groups for variable in group.variables)
        rests = [group.rest for group in groups if group.rest is not None]
        return cls(
            np.concatenate([group.positions for group in groups]),
            variables,
            CellStack.joined([group.coefficient for group in groups]),
            CellStack.joined([group.corner for group in groups]),
            CellStack.joined(rests) if rests else None,
            (),
        )

    @classmethod
    def _of(
        cls,
        positions: Sequence[int],
        variables: Sequence[Variable],
        missing: Sequence[Mask | None],
    ) -> "ColumnGroup":
        n_rows = variables[0].n_rows
        bases, nested = [v.prepared.basis for v in variables], [v.scales.basis for v in variables]
        edge = CORNER if variables[0].scales.is_number else nested[0].dimension
        corner = CellStack.of(nested, missing, n_rows, columns=slice(edge))
        has_more = nested[0].dimension > edge
        return cls(
            np.array(positions, dtype=np.intp),
            tuple(variables),
            CellStack.of(bases, missing, n_rows, columns=slice(None), beside=corner),
            corner,
            CellStack.of(nested, missing, n_rows, columns=slice(edge, None), beside=corner) if has_more else None,
            corner.codes,
        )

    def over(self, codes: Sequence[NDArray[Any]], values: Values, /) -> "ColumnGroup":
        """The same columns over a batch of rows: the cell of every row, and roughly standardised values."""
        places = self.coefficient.packed_places(codes)
        return replace(
            self,
            coefficient=self.coefficient.over(codes, places),
            corner=self.corner.over(codes, places),
            rest=None if self.rest is None else self.rest.over(codes, places),
            codes=tuple(codes),
            values=values,
        )

    def over_vectors(
        self,
        tables: Sequence[tuple[Array, Array]],
        missing: Sequence[Mask | None],
        n_rows: int,
        /,
    ) -> "ColumnGroup":
        """The same vectors over a batch of rows: functions of the coefficient and of the test at those each has."""
        bases, nested = ([Basis(table, None, None) for table in side] for side in zip(*tables, strict=True))
        corner = CellStack.of(nested, missing, n_rows, columns=slice(None))
        coefficient = CellStack.of(bases, missing, n_rows, columns=slice(None), beside=corner)
        values = Values(np.full((len(tables), n_rows), np.nan))
        return replace(self, coefficient=coefficient, corner=corner, codes=corner.codes, values=values)

    @property
    def nested(self) -> Functions:
        """The nested bases as a whole."""
        return self.corner if self.rest is None else self.corner.followed_by(self.rest)

    @property
    def scales(self) -> Scales:
        """Those of the first column: kind, dimensions and sizes are those of all."""
        return self.variables[0].scales

    @cached_property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return all(variable.is_complete for variable in self.variables)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return self.variables[0].n_rows

    @property
    def n_alike(self) -> int:
        """Columns of the whole group: what pays for all of its pairs is asked of these, however tiles are cut."""
        return len(self.positions) if self.whole is None else self.whole

    @cached_property
    def smooth(self) -> tuple[Smooth, ...]:
        """How the nested bases are made of smooth functions, where those of all columns are plainly so; else empty."""
        parts = [variable.scales.smooth for variable in self.variables]
        # Columns without ties share what they have.
        are_plain = (part is not None and part.is_plain for part in {id(part): part for part in parts}.values())
        return cast("tuple[Smooth, ...]", tuple(parts)) if all(are_plain) else ()

    @cached_property
    def moments(self) -> Moments | None:
        """What means of products of functions are made of, if anything serves."""
        if self.gaps is not None:
            return cast("Moments | None", self.gaps.moments)
        feature_map = self.variables[0].prepared.basis.feature_map
        return moments_of(feature_map.projection) if self.smooth and feature_map is not None else None

    @cached_property
    def recipes(self) -> tuple[Array, ...] | None:
        """How the bases of the coefficient and their products are made of the moments, if those of all columns are."""
        if self.moments is None or any(variable.scales.equal_pairs for variable in self.variables):
            return None
        bases = [variable.prepared.basis for variable in self.variables]
        made = [recipes_of(b.feature_map, b.n_samples, self.moments) for b in bases if b.feature_map is not None]
        known = tuple(recipe for recipe in made if recipe is not None)
        return known if len(known) == len(bases) else None

    @cached_property
    def leverages(self) -> Array:
        """Largest leverages (dimension, columns) on the columns' own rows."""
        return np.array([variable.scales.leverages for variable in self.variables]).T

    @cached_property
    def ties(self) -> Array:
        """Shares of equal ones among all pairs of rows, where that is said of a number; else infinite."""
        return np.array([v.scales.ties if v.scales.is_number else np.inf for v in self.variables])

    @cached_property
    def log_arrangements(self) -> Array:
        """Logarithms of the numbers of distinct orders of the columns' own rows."""
        return np.array([variable.scales.log_arrangements for variable in self.variables])

    @cached_property
    def lengths(self) -> Index:
        """Observed rows of each column."""
        return np.array([variable.scales.basis.n_samples for variable in self.variables])

    def part(self, columns: slice, /) -> "ColumnGroup":
        """Some of the columns."""
        rest = None if self.rest is None else self.rest.part(columns)
        return ColumnGroup(
            self.positions[columns],
            self.variables[columns],
            self.coefficient.part(columns),
            self.corner.part(columns),
            rest,
            self.codes[columns],
            None if self.values is None else self.values.part(columns),
            None if self.gaps is None else self.gaps.part(columns),
            self.n_alike,
        )

    def averaged(self, masks: tuple[Mask, Index] | None, /) -> "ColumnGroup":
        """The same, with means over the rows of all columns of the table at hand, where these serve.

        Given are the distinct masks (rows, masks) of the table and which one a column has; None if no cell is missing.
        """
        if masks is None or self.moments is None:
            return self
        missing = [variable.column.missing for variable in self.variables]
        return replace(self, gaps=MaskedMoments.of(self.moments, self.smooth, self.codes, missing, masks))
