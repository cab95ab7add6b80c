"""Pairs of columns with what was found on them: the effect beside the p-value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.allpairs.column_group import Variable
from renyi.allpairs.compare import Found, FoundPairs, pair_of_rows
from renyi.allpairs.pearson import pearson_of
from renyi.allpairs.same import SAME, are_same_levels, are_same_numbers, share_a_level
from renyi.basis.basis import Basis
from renyi.basis.canonical import cross_products
from renyi.compute.arrays import Array, Index, Mask
from renyi.data.align import common_rows
from renyi.inference.debias import (
    FEW_ROWS,
    LIGHT,
    debias_all,
    effective_rows,
    largest_leverage,
    lower_end,
    most_of_categories,
    null_level,
    plain_rows,
    strengths,
)
from renyi.inference.roy import null_median
from renyi.pair.independence import Crosses
from renyi.pair.prepare import Prepared, together
from renyi.pair.result import remark_on

# Positions of two columns.
Pair: TypeAlias = tuple[int, int]

# A dependence is marked as nonlinear where no linear coefficient is more than this share of the strength.
MISSED = 0.5
SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)
# Pairs in which single rows weigh much are looked at one by one, 0.2 ms each: the strongest of them, which are those
# that people see.
MOST_LOOKED_AT = 1000
# Pairs that nobody takes for a finding are not.
LARGEST_PVALUE = 0.05


@dataclass(frozen=True, eq=False)
class Looked:
    """What only the rows of two columns tell of them, by their positions, asked while the rows were there.

    `levels` are what independent data would show where no null distribution says it, `carrying` how many rows carry a
    pair, `aliases` which columns are nearly the same, `agreeing` which categories agree in a level.
    """

    levels: Mapping[Pair, float] = field(default_factory=dict)
    carrying: Mapping[Pair, float] = field(default_factory=dict)
    aliases: frozenset[Pair] = frozenset()
    agreeing: frozenset[Pair] = frozenset()

    @classmethod
    def joined(cls, parts: "Sequence[Looked]", /, *, is_square: bool) -> "Looked":
        """Of several tiles; pairs of one table have their columns in its order."""

        def pair(of: Pair) -> Pair:
            return (min(of), max(of)) if is_square else of

        return cls(
            {pair(key): value for part in parts for key, value in part.levels.items()},
            {pair(key): value for part in parts for key, value in part.carrying.items()},
            frozenset(pair(key) for part in parts for key in part.aliases),
            frozenset(pair(key) for part in parts for key in part.agreeing),
        )


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of variables of x and y, with what was found; `y` is `x` where a table is compared with itself.

    `known` are debiased coefficients where the test that was made has said them. `rows` are how many rows carry every
    pair, NaN where single ones weigh much and nobody has looked yet. A look at the rows of a pair is a look at `pair`,
    by the positions of its columns, by default in memory; where these are gone, `looked` has what they told.
    """

    x: Sequence[Variable]
    y: Sequence[Variable]
    found: Found
    known: Array | None = None
    rows: Array | None = None
    looked: Looked | None = None
    pair: Callable[[int, int], tuple[Prepared, Prepared, Crosses | None]] | None = None

    @classmethod
    def of(cls, x: Sequence[Variable], y: Sequence[Variable], parts: Sequence[FoundPairs], /) -> "Edges":
        """From what the tiles have found; pairs of one table have their columns in its order."""
        whole = FoundPairs.joined(parts)
        if y is x:
            is_turned = (whole.i > whole.j)[:, np.newaxis]
            whole = replace(
                whole,
                dimensions=np.where(is_turned, whole.dimensions[:, ::-1], whole.dimensions),
                i=np.minimum(whole.i, whole.j),
                j=np.maximum(whole.i, whole.j),
            )
        return cls(x, y, whole)

    @classmethod
    def joined(cls, parts: "Sequence[Edges]", /) -> "Edges":
        """Those of several tiles, with their debiased coefficients."""
        # Rows are drawn with one of them.
        first = next((part for part in parts if part.x[0].sample is not None), parts[0])
        x, y = first.x, first.y
        whole = cls.of(x, y, [FoundPairs.of(part.found) for part in parts])
        known, rows = np.concatenate([part.debiased for part in parts]), None
        looked = [part.looked for part in parts if part.looked is not None]
        if looked:
            rows = np.concatenate([part.rows_carrying for part in parts])
        return replace(
            whole, known=known, rows=rows, looked=Looked.joined(looked, is_square=y is x) if looked else None
        )

    def settled(self) -> "Edges":
        """The same with all that rows tell found out, so that they can go."""
        looked = self.look()
        return replace(self, known=self.debiased, rows=self.rows_carrying, looked=looked, pair=None)

    def __len__(self) -> int:
        return len(self.found.i)

    def take(self, which: NDArray[Any], /) -> "Edges":
        """Some of the pairs, in the order given; what was not asked of all of them yet is not asked here either."""
        kept = [self.__dict__.get(name, own) for name, own in (("debiased", self.known), ("rows_carrying", self.rows))]
        known, rows = (None if values is None else values[which] for values in kept)
        return replace(self, found=FoundPairs.of(self.found, which), known=known, rows=rows)

    def spread(self, name: str, /) -> Array | None:
        """What was found as a matrix of all pairs and of columns with themselves, if that is how it is kept."""
        return self.found.matrix(name)

    def look(self) -> Looked:
        """Look at the rows of all pairs that need it."""
        every = np.arange(len(self))
        keys = list(zip(self.found.i.tolist(), self.found.j.tolist(), strict=True))
        heavy = np.flatnonzero(np.isfinite(self.found.coefficient) & ~self._has_null)
        before = self.rows_carrying.copy()
        self.look_at(every)
        seen = np.flatnonzero(before != self.rows_carrying)
        has_levels = (self._kinds(every) == "category").any(axis=0)
        return Looked(
            {keys[k]: null_level(*self._bases(k)) for k in heavy.tolist()},
            {keys[k]: float(self.rows_carrying[k]) for k in seen.tolist()},
            frozenset(
                keys[k] for k in np.flatnonzero(self.may_be_alias(every) & has_levels).tolist() if self.is_alias(k)
            ),
            frozenset(keys[k] for k in np.flatnonzero(self.may_agree(every)).tolist() if self.agrees(k)),
        )

    @property
    def measure(self) -> str:
        """What the coefficient is called."""
        return "rdc"

    @property
    def largest(self) -> float:
        """The largest coefficient there can be, NaN where there is no upper end."""
        return 1.0

    @property
    def own(self) -> Array | float:
        """What every column of x has with itself."""
        return 1.0

    @cached_property
    def pearson(self) -> Array:
        """Pearson's correlation, NaN where one of the two has no order or is constant on the rows of both."""
        known = self.found.pearson
        found = pearson_of(self.x, self.y, self.found.i, self.found.j) if known is None else known
        # What rounding leaves of the variance of a constant is no variance.
        return np.where((self.found.dimensions > 0).all(axis=1), found, np.nan)

    @property
    def spearman(self) -> Array:
        """Spearman's correlation, NaN where one of the two has no order."""
        return self.found.spearman

    @property
    def has_null(self) -> bool:
        """Whether p-values come with the measure."""
        return True

    @property
    def smallest_permuted(self) -> float:
        """The smallest p-value that permutations can show."""
        return 1e-4

    @property
    def log_pvalues(self) -> Array:
        """Logarithms of the p-values."""
        return self.found.log_pvalue

    @property
    def is_permuted(self) -> Mask:
        """Which p-values come from permutations."""
        return self.found.is_permuted

    @cached_property
    def strength(self) -> Array:
        """How strong the dependence is: never below 0, and above it for whatever the test finds."""
        are_categories = (self._kinds(np.arange(len(self))) == "category").all(axis=0)
        of_categories = most_of_categories(self.found.coefficient, self.debiased, self.found.dimensions)
        most = np.where(are_categories, of_categories, 1.0)
        return strengths(self.debiased, self.log_pvalues, self.found.n, most=most)

    @property
    def lower(self) -> Array:
        """What pairs are ranked by: the lower end of the strength, for the rows that carry it."""
        # No pair has more rows than those that nobody looks at. Rounding errors are not to decide an order.
        return np.round(lower_end(self.strength, np.minimum(np.abs(self.rows_carrying), plain_rows(self.found.n))), 6)

    def look_at(self, which: Index, /) -> None:
        """Find how many rows carry the strongest of some pairs, in which single ones weigh much."""
        if self.looked is not None:  # that was done while the rows were there
            return
        doubtful = which[self.rows_carrying[which] < 0.0]
        if len(doubtful) > MOST_LOOKED_AT:
            highest = lower_end(self.strength[doubtful], plain_rows(self.found.n[doubtful]))
            doubtful = doubtful[np.argsort(-highest, kind="stable")[:MOST_LOOKED_AT]]
        for edge in doubtful.tolist():
            self.rows_carrying[edge] = effective_rows(*self._bases(edge), self._cross(edge))

    @cached_property
    def rows_carrying(self) -> Array:
        """How many rows carry every pair; negative where few may and nobody looked yet: how many must, at least.

        A row has no larger share in a function than its leverage. Pairs that are no findings are not looked at.
        """
        if self.rows is not None:
            return self.rows
        n = self.found.n.astype(np.float64)
        rows = plain_rows(self.found.n)
        if self._is_light(LIGHT * n**2):
            return rows
        weights = self._weights
        is_finding = np.isfinite(self.found.coefficient) & (self.log_pvalues <= np.log(LARGEST_PVALUE))
        rows = np.where(is_finding & (weights > LIGHT * n**2), -np.maximum(n / np.sqrt(weights), 1.0), rows)
        if self.looked is not None:
            rows[self.found.places(list(self.looked.carrying))] = list(self.looked.carrying.values())
        return rows

    @property
    def _weights(self) -> Array:
        """What the heaviest row weighs in both bases of every pair, at most."""
        weights_x, weights_y = self._traits("heaviest")
        heavier = 1.0 if self.found.heavier is None else self.found.heavier
        # What a row weighs among a column's own rows it weighs among those that are left, which are fewer, or more.
        return np.asarray(weights_x[self.found.i] * weights_y[self.found.j] * heavier)

    def _is_light(self, limits: Array | float) -> bool:
        """Whether no pair of all has more than its limit, however columns are paired."""
        heaviest = np.prod([weights.max(initial=0.0) for weights in self._traits("heaviest")])
        heavier = 1.0 if self.found.heavier is None else np.max(self.found.heavier, initial=1.0)
        return bool(heaviest * heavier <= np.min(limits, initial=np.inf))

    @property
    def trend(self) -> Array:
        """A number whose sign says whether y rises with x, NaN where nobody knows."""
        return self.found.spearman

    @cached_property
    def pvalues(self) -> Array:
        """P-values, NaN where no test was made; none is 0."""
        log_p = self.log_pvalues
        return np.where(np.isnan(log_p), np.nan, np.maximum(np.exp(log_p), SMALLEST_PVALUE))

    @cached_property
    def debiased(self) -> Array:
        """Coefficients, less what independent data would show."""
        if self.known is not None:
            return self.known
        return debias_all(self.found.coefficient, self._levels())

    def _levels(self) -> Array:
        """What independent data would show: by theory, or by random pairings where single rows weigh too much."""
        levels = np.full(len(self), np.nan)
        is_known = np.isfinite(self.found.coefficient)
        has_null = is_known & self._has_null
        dimensions = np.sort(self.found.dimensions, axis=1)[has_null].astype(np.int64)
        if len(dimensions):
            base = int(dimensions.max()) + 1
            keys = (self.found.n[has_null] * base + dimensions[:, 0]) * base + dimensions[:, 1]
            distinct, which = (keys[:1], 0) if (keys == keys[0]).all() else np.unique(keys, return_inverse=True)
            medians = [null_median(key // base % base, key % base, key // base**2) for key in distinct.tolist()]
            levels[has_null] = np.array(medians)[which]
        for k in np.flatnonzero(is_known & ~has_null).tolist():
            levels[k] = self._level(k)
        return levels

    @cached_property
    def _has_null(self) -> Mask:
        """Where no single row weighs too much for the null distribution."""
        n = np.maximum(self.found.n, 1).astype(np.float64)
        if self._is_light(largest_leverage(0, self.found.n) * n**2):  # of no number the limit is lowest
            return np.ones(len(self), dtype=bool)
        numbers_x, numbers_y = self._traits("is_plain_number")
        limit = largest_leverage(numbers_x[self.found.i] + numbers_y[self.found.j], self.found.n)
        return np.asarray(self._weights <= limit * n**2)

    def _level(self, edge: int) -> float:
        if self.looked is None:
            return null_level(*self._bases(edge))
        return self.looked.levels.get((int(self.found.i[edge]), int(self.found.j[edge])), np.nan)

    def _of_rows(self, edge: int) -> tuple[Prepared, Prepared, Crosses | None]:
        """Both columns on the rows they have in common, and their mean products where these are known."""
        i, j = int(self.found.i[edge]), int(self.found.j[edge])
        return self.pair(i, j) if self.pair is not None else pair_of_rows(self.x[i], self.y[j])

    def _bases(self, edge: int, /) -> tuple[Basis, Basis]:
        """Both columns on the rows they have in common."""
        x, y, _ = self._of_rows(edge)
        return x.basis, y.basis

    def _cross(self, edge: int, /) -> Array:
        """Mean products of the two."""
        x, y, crosses = self._of_rows(edge)
        return cross_products(x.basis, y.basis) if crosses is None else crosses.coefficient

    @cached_property
    def is_nonlinear(self) -> Mask:
        """Where Pearson's and Spearman's coefficients would have missed what is there."""
        linear = np.fmax(np.abs(self.pearson), np.abs(self.found.spearman))
        return np.asarray((self.strength > 0.0) & (linear <= MISSED * self.strength))

    def may_be_alias(self, which: NDArray[Any], /) -> Mask:
        """Which of some pairs are to be looked at more closely: whether the two are nearly the same column."""
        kinds = self._kinds(which)
        has_levels = (kinds == "category").any(axis=0)
        close = np.where(has_levels, self._closeness(which), np.abs(self.spearman[which]))
        return np.asarray((close >= SAME) & self._has_rows(which) & (kinds != "vector").all(axis=0))

    def may_agree(self, which: NDArray[Any], /) -> Mask:
        """Which of some pairs are to be looked at more closely: whether the two, both categories, agree in a level."""
        are_close = self._closeness(which) >= SAME
        return np.asarray(are_close & self._has_rows(which) & (self._kinds(which) == "category").all(axis=0))

    def _kinds(self, which: NDArray[Any]) -> NDArray[np.str_]:
        """Those of both columns of some pairs."""
        kinds_x, kinds_y = self._traits("kind")
        return np.stack((kinds_x[self.found.i[which]], kinds_y[self.found.j[which]]))

    def _has_rows(self, which: NDArray[Any]) -> Mask:
        """Whether the columns of some pairs have most rows in common: one that lacks most rows of another is not it."""
        rows_x, rows_y = self._traits("n_samples")
        most = np.maximum(rows_x[self.found.i[which]], rows_y[self.found.j[which]])
        return np.asarray(2 * self.found.n[which] > most)

    def _traits(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """What the columns of x and those of y have, as far as they are in a pair; tiles have few of very many."""
        found = []
        for side, index in ((self.x, self.found.i), (self.y, self.found.j)):
            is_here = np.zeros(len(side), dtype=bool)
            is_here[index] = True
            here = np.flatnonzero(is_here)
            values = np.array([getattr(side[k], name) for k in here.tolist()])
            found.append(np.zeros(len(side), dtype=values.dtype))
            found[-1][here] = values
        return found[0], found[1]

    def _closeness(self, which: NDArray[Any]) -> Array:
        """Correlations that no function of a category's levels, among some pairs, is beyond."""
        return np.asarray(self.found.coefficient[which])

    def is_alias(self, edge: int, /) -> bool:
        """Whether two columns are nearly the same; the strength of their dependence does not say."""
        if not self.may_be_alias(np.array([edge]))[0]:
            return False
        x, y = self.x[self.found.i[edge]], self.y[self.found.j[edge]]
        if x.column.is_number and y.column.is_number:
            return are_same_numbers(x, y, float(self.spearman[edge]))
        if self.looked is not None:
            return (int(self.found.i[edge]), int(self.found.j[edge])) in self.looked.aliases
        return are_same_levels(*self._bases(edge), self._cross(edge))

    def agrees(self, edge: int, /) -> bool:
        """Whether a level of one category is one of the other on nearly all rows."""
        if self.looked is not None:
            return (int(self.found.i[edge]), int(self.found.j[edge])) in self.looked.agreeing
        return bool(self.may_agree(np.array([edge]))[0]) and share_a_level(*self._bases(edge), self._cross(edge))

    def remark(self, edge: int, /) -> str:
        """What the strength is without the one or two rows that carry it; empty where more do."""
        carrying = float(self.rows_carrying[edge])
        if not 0.0 <= carrying < FEW_ROWS or np.isnan(self.found.coefficient[edge]):
            return ""
        x, y = self.x[self.found.i[edge]], self.y[self.found.j[edge]]
        if not (len(x.column) and len(y.column)):
            return remark_on(x.prepared.basis, y.prepared.basis, carrying, None)
        pair = together((x.column, y.column), (x.with_rows, y.with_rows))
        common, places = common_rows(x.column, y.column), x.column.places
        return remark_on(pair[0].basis, pair[1].basis, carrying, common, places)

    def reason(self, edge: int, /) -> str:
        """Why a pair has no coefficient or no p-value."""
        is_of_vector = "vector" in self._kinds(np.array([edge]))
        if is_of_vector and self.looked is not None and np.isfinite(self.found.coefficient[edge]):
            return "no null distribution holds for it, and rows of a vector in batches cannot be permuted"
        return "too little to go by"

    def columns(self, qvalues: Array, /) -> dict[str, Any]:
        """What a frame of the pairs has."""
        return {
            "x": np.array([self.x[i].column.name for i in self.found.i.tolist()], dtype=str),
            "y": np.array([self.y[j].column.name for j in self.found.j.tolist()], dtype=str),
            "strength": self.strength,
            "coefficient": self.found.coefficient,
            "debiased": self.debiased,
            "pearson": self.pearson,
            "spearman": self.found.spearman,
            "nonlinear": self.is_nonlinear,
            "p": self.pvalues,
            "q": qvalues,
            "n": self.found.n,
            "remark": np.array([self.remark(edge) for edge in range(len(self))], dtype=str),
        }

    def to_frame(self, new_frame: Callable[[dict[str, Any]], Any], /, *, qvalues: Array) -> Any:
        """The pairs as rows of a frame."""
        return new_frame(self.columns(qvalues))
