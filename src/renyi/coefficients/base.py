"""What a measure of dependence is: prepare a column once, combine pairs cheaply, and say what it promises."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.basis import random_features
from renyi.basis.nested import FEW_TIES
from renyi.basis.random_features import FIXED_DRAW, Seed
from renyi.coefficients.rows import Rows, log_pvalue_of_flags
from renyi.compute.arrays import Array, Index, in_parts
from renyi.data.align import Missing, as_pair
from renyi.data.column import Column, as_floats
from renyi.data.exact import EXACT
from renyi.errors import InputError, check_choice, count
from renyi.inference.multiscale import FEW_ROWS
from renyi.inference.permutation import ROUNDING, Entropy, Permuted, random_orders, until_resolved
from renyi.pair import showing
from renyi.pair.independence import check_resamples
from renyi.pair.result import TestResult
from renyi.pair.settings import Rng, Settings

Prepared = TypeVar("Prepared")

# What a measure without a null distribution says of its p-values.
PERMUTATIONS = "permutations"
# What a measure may take before it refuses: a laptop has this much to spare.
MOST_BYTES = 4 * 2**30
# Permutations where a null distribution fails, and where there is none, which takes longer.
N_RESAMPLES, _N_RESAMPLES_WITHOUT_NULL = 9999, 999
# Permutations that are taken together; few of what takes long, since 100 may be enough.
_PERMUTATIONS_IN_A_BATCH, _PERMUTATIONS_WITHOUT_NULL = 250, 20


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the paper's table 1 states of a coefficient, and what a reader wants to know besides.

    Attributes
    ----------
    title : str
        Its full name.
    is_nonlinear : bool
        Whether it sees dependence beyond a straight line (or, for rank correlations, beyond a monotone trend).
    takes_vectors : bool
        Whether a side may have several coordinates, or be a category of several levels (as indicators).
    is_invariant : bool
        Whether strictly increasing maps of either side leave it as it is.
    range : tuple of float
        Smallest and largest value.
    parameters : str
        What has to be chosen, in a few words; "none" where nothing has.
    cost : str
        Growth of its time with the number of rows, for scalars.
    null : str
        Where the p-value of `.test` comes from: the null distribution by its name, or "permutations".
    reference : str
        Where it is from, with a DOI.
    is_symmetric : bool
        Whether the sides may change places.
    has_sign : bool
        Whether its sign says which way a trend goes.
    """

    title: str
    is_nonlinear: bool = True
    takes_vectors: bool = False
    is_invariant: bool = False
    range: tuple[float, float] = (0.0, 1.0)
    parameters: str = "none"
    cost: str
    null: str = PERMUTATIONS
    reference: str
    is_symmetric: bool = True
    has_sign: bool = False


class Tail(NamedTuple):
    """A statistic and the logarithm of its p-value."""

    statistic: float
    log_pvalue: float


@dataclass(frozen=True, eq=False)
class Side(Generic[Prepared]):
    """One side of a pair as a measure wants it, and what its rows hold."""

    prepared: Prepared
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


class Measure(ABC, Generic[Prepared]):
    """A coefficient of dependence with its settings, from `renyi.measure`: `m(x, y)` and `m.test(x, y)`.

    A measure is a frozen dataclass whose fields are its settings. `prepare` does all that one side needs once;
    `combine` is what is left for a pair; `reordered` permutes a prepared side without preparing it again.
    """

    name: ClassVar[str]
    statement: ClassVar[Statement]
    # What tables can do by it: take off what chance shows (`.debiased`), add up rows in batches, work on a device.
    has_bias: ClassVar[bool] = False
    in_batches: ClassVar[bool] = False
    on_device: ClassVar[bool] = False
    # What a row of one permutation takes, roughly.
    nanoseconds_per_row: ClassVar[int] = 100
    # Cells of columns that are prepared in less time than it takes to begin threads.
    cells_at_once: ClassVar[int] = 2**15

    @abstractmethod
    def prepare(self, values: Array, /) -> Prepared:
        """One side, from finite numbers (n,) or (n, d) that are not all equal; n is at least 2."""

    @abstractmethod
    def combine(self, x: Prepared, y: Prepared, /) -> float:
        """The coefficient of two prepared sides."""

    @abstractmethod
    def reordered(self, side: Prepared, order: Index, /) -> Prepared:
        """A prepared side whose row i is row order[i] of the given one."""

    def permuted(self, x: Prepared, y: Prepared, orders: Index, /) -> Array:
        """The coefficients of x with y in each of several orders (m, n)."""
        return np.array([self.combine(x, self.reordered(y, order)) for order in orders])

    def null_tail(self, x: Prepared, y: Prepared, value: float, /) -> Tail | None:
        """The statistic and its p-value by theory; None where no theory holds for this pair."""
        return None

    def every_pair(self, x: Sequence[Prepared], y: Sequence[Prepared], /) -> Array | None:
        """The coefficients (x, y) of all pairs at once, where that is one product of matrices; None where it is not."""
        return None

    def null_tails(
        self, x: "Sequence[Side[Prepared]]", y: "Sequence[Side[Prepared]]", pairs: tuple[Index, Index], values: Array, /
    ) -> Array | None:
        """What `by_theory` says of many pairs, as logarithms; NaN, or None for all, where it has to be asked."""
        return None

    def bytes_needed(self, n: int, n_coordinates: int, /) -> int:
        """An upper estimate of the memory for a pair of n rows, beyond the data."""
        return 0

    def undirected(self) -> "Measure[Prepared]":
        """The symmetric version, which is what a table holds."""
        return self

    def strength(self, values: Any, /) -> Any:
        """What grows with dependence: the size of a coefficient that has a sign."""
        return np.abs(values) if self.statement.has_sign else values

    def rounding(self, x: Prepared, y: Prepared, value: float, /) -> float:
        """What rounding may change this coefficient of two sides by, beside a millionth of it."""
        return ROUNDING

    def __call__(self, x: Any, y: Any, /, *, missing: Missing = "raise") -> float:
        """The coefficient of two variables; with missing values, on the rows that both have."""
        return self.combine(*self._sides(x, y, missing))

    def test(
        self, x: Any, y: Any, /, *, n_resamples: int | None = None, missing: Missing = "raise", rng: Rng = None
    ) -> TestResult:
        """Test independence by this measure: by theory where it holds, else by permuting a prepared side.

        Parameters
        ----------
        x, y : array-like
            As in `renyi.rdc`.
        n_resamples : int, optional
            Permutations at most, where they are needed: 9999, or 999 for a measure without a null distribution.
        missing : {"raise", "pairwise", "listwise"}, default "raise"
            Either of the last two leaves the rows that both have.
        rng : int, numpy.random.Generator or None, default None
            For the permutations; None is one fixed draw.

        Returns
        -------
        TestResult
            With `coefficient` the measure, and `method` its name with the settings that are not the default.
        """
        if n_resamples is None:
            n_resamples = N_RESAMPLES if self.has_null else _N_RESAMPLES_WITHOUT_NULL
        check_resamples(n_resamples)
        (seed,) = random_features.seeds(rng, n_draws=1)
        pair = self._columns(x, y, missing)
        sides = [self.side(column) for column in pair]
        value = self.combine(sides[0].prepared, sides[1].prepared)
        result = TestResult(
            float(self.strength(value)), 1.0, 0.0, str(self), value, n_samples=len(sides[0]), columns=showing.kept(pair)
        )
        tail = self.by_theory(sides[0], sides[1], value)
        if tail is not None:
            return replace(result, statistic=tail.statistic).by_theory(tail.log_pvalue)
        found = self.by_permutation(sides[0], sides[1], value, n_resamples=n_resamples, seed=seed)
        return result.by_permutation(found.pvalue, n_drawn=found.n_drawn, floor=1.0 / (1 + n_resamples))

    @property
    def has_null(self) -> bool:
        """Whether p-values come without permutations, for most data."""
        return self.statement.null != PERMUTATIONS

    @property
    def features(self) -> Settings | None:
        """How random features are drawn, for a measure of such functions, which tables keep; None for all others."""
        return None

    @property
    def is_phi_of_flags(self) -> bool:
        """Whether columns of two values each have a coefficient that grows with the size of their correlation."""
        return False

    def side(self, column: Column, /) -> Side[Prepared]:
        """A complete column as this measure takes it."""
        values = self.numbers_of(column)
        return Side(self.prepare(values), Rows(values))

    def by_theory(self, x: Side[Prepared], y: Side[Prepared], value: float, /) -> Tail | None:
        """The statistic and its p-value without permutations; None where that takes permutations.

        Columns of two values each have few arrangements, which are counted. Ties on few rows leave too few different
        values for a null distribution. And no p-value is below one over the number of arrangements of the rows.
        """
        if self.is_phi_of_flags and x.rows.flagged is not None and y.rows.flagged is not None:
            return Tail(float(self.strength(value)), log_pvalue_of_flags(x.rows.flagged, y.rows.flagged))
        if not self.has_null or (len(x) < FEW_ROWS and max(x.rows.ties, y.rows.ties) > FEW_TIES):
            return None
        tail = self.null_tail(x.prepared, y.prepared, value)
        # Rows that are not all equal have n arrangements at least, and need not be counted for a larger p-value.
        if tail is None or tail.log_pvalue >= -np.log(len(x)):
            return tail
        floor = -min(x.rows.log_arrangements, y.rows.log_arrangements)
        return tail._replace(log_pvalue=max(tail.log_pvalue, floor))

    def by_permutation(
        self, x: Side[Prepared], y: Side[Prepared], value: float, /, *, n_resamples: int, seed: Seed = FIXED_DRAW
    ) -> Permuted:
        """The p-value of a coefficient by permuting a side; the draws depend on n and the seed alone.

        The rows of either side are put into an order of their own first, so that the order of the data does not matter,
        and the sides of a symmetric measure into one that depends on what they hold, so that theirs does not either.
        """
        if self.statement.is_symmetric:
            by_ranks = self.statement.is_invariant
            x, y = sorted((x, y), key=lambda side: side.rows.content(by_ranks=by_ranks))
        ordered = tuple(self.reordered(side.prepared, side.rows.order) for side in (x, y))
        strengths = self._permuted_strengths((ordered[0], ordered[1]), len(x), n_resamples, seed.for_rows(len(x)))
        rounding = self.rounding(ordered[0], ordered[1], value)
        return until_resolved(strengths, float(self.strength(value)), rounding=rounding)

    def numbers_of(self, column: Column, /) -> Array:
        """A complete column as this measure takes it: (n,), or (n, d) for vectors and indicators of levels."""
        refusal = self.refusal(column)
        if refusal:
            raise InputError(f"{column.label} is {refusal}")
        n_coordinates = _coordinates_of(column)
        # Indicators of levels are new; what else is beyond the data is the measure's own.
        indicators = 9 * len(column) * n_coordinates if column.is_category else 0
        needed = indicators + self.bytes_needed(len(column), n_coordinates)
        if needed > MOST_BYTES:
            raise InputError(
                f"{self.name} on {len(column):,} rows would take {needed / 2**30:,.1f} GiB, and more than "
                f"{MOST_BYTES / 2**30:.0f} are refused: pass fewer rows (a random sample), or measure by 'rdc'"
            )
        if column.is_category:
            return _indicators(column.values)
        return _places(column.values) if self.statement.is_invariant else _numbers(column)

    def refusal(self, column: Column, /) -> str:
        """Why this measure cannot take a column, in words that follow "it is"; empty where it can."""
        if self.statement.takes_vectors:
            return ""
        if column.is_category and len(column.levels) <= 2:
            return ""
        if column.is_number or (column.is_vector and column.values.shape[1] == 1):
            return ""
        what = (
            f"a vector of {column.values.shape[1]} coordinates"
            if column.is_vector
            else f"a category of {count(len(column.levels), 'level')}"
        )
        return f"{what}, and {self.name} takes numbers alone ('rdc' and 'dcor' take it)"

    def __str__(self) -> str:
        settings = fields(self)  # type: ignore[arg-type]  # every measure is a dataclass
        values = ((setting, getattr(self, setting.name)) for setting in settings)
        changed = [f"{setting.name}={value!r}" for setting, value in values if value != setting.default]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    def _columns(self, x: Any, y: Any, missing: Missing) -> tuple[Column, Column]:
        check_choice(missing, Missing, "missing")
        return as_pair(x, y, missing="listwise" if missing == "pairwise" else missing)

    def _sides(self, x: Any, y: Any, missing: Missing) -> tuple[Prepared, Prepared]:
        a, b = self._columns(x, y, missing)
        return self.prepare(self.numbers_of(a)), self.prepare(self.numbers_of(b))

    def _permuted_strengths(
        self, prepared: tuple[Prepared, Prepared], n: int, n_resamples: int, entropy: Entropy
    ) -> Iterator[Array]:
        size = _PERMUTATIONS_IN_A_BATCH if self.has_null else _PERMUTATIONS_WITHOUT_NULL
        for orders in random_orders(n, n_resamples, entropy):
            for some in in_parts(orders, size):
                yield np.asarray(self.strength(self.permuted(*prepared, some)))


def _coordinates_of(column: Column) -> int:
    """Numbers a row that a measure sees; a category of more than two levels has an indicator for each."""
    if column.is_category:
        n_levels = len(np.unique(column.values))
        return n_levels if n_levels > 2 else 1
    return 1 if column.values.ndim == 1 else int(column.values.shape[1])


def _numbers(column: Column) -> Array:
    """Values as floats, if these hold them."""
    numbers = as_floats(column.values)
    if column.values.dtype.kind == "f" and column.values.dtype.itemsize > 8:
        if not np.isfinite(numbers).all():
            raise InputError(f"{column.label} has numbers beyond the range of 64-bit floats: rescale it")
        if (numbers == numbers[0]).all():
            raise InputError(f"{column.label} varies by less than 64-bit floats can hold: rescale it")
    return numbers


def _places(values: NDArray[Any]) -> Array:
    """Values as floats, for measures of their order: where floats would make ties, places among distinct values."""
    numbers = as_floats(values)
    is_exact = values.dtype.itemsize <= 8 if values.dtype.kind == "f" else numbers.max() < EXACT
    if is_exact:
        return numbers
    columns = values.reshape(len(values), -1).T
    places = [np.unique(column, return_inverse=True)[1].ravel() for column in columns]
    return np.stack(places, axis=-1).reshape(values.shape).astype(np.float64)


def _indicators(codes: Index) -> Array:
    """A column for every level that occurs; for two levels one will do."""
    levels = np.unique(codes)
    indicators: Array = (codes[:, None] == levels).astype(np.float64)
    return indicators[:, 1] if len(levels) == 2 else indicators
