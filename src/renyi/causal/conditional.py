"""The conditional test of a table: columns are read once, and features of what is held fixed are kept."""

import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from renyi.data.align import Missing, common_rows
from renyi.data.column import Column
from renyi.data.table import as_table, check_known, names_of, observed
from renyi.errors import (
    CalibrationWarning,
    InputError,
    are_several,
    brief,
    check_integer,
    is_integer,
    is_number,
    must_be,
)
from renyi.pair.conditional import conditional_test, told
from renyi.pair.conditioning import Fixed, Target
from renyi.pair.independence import independence_test
from renyi.pair.result import TestResult
from renyi.tables.budget import DEFAULT_MEMORY, bytes_of


class ConditionalTest:
    """Tests of pairs of a table's columns given others, made ready for the thousands that a search of a graph asks.

    Every answer is that of `renyi.conditional_test`, or of `renyi.independence_test` where nothing is held fixed, to
    the last digit. Columns are read once; features of what is held fixed are kept for the next pair, and answers for
    the next time they are asked for. It is called as tests of pgmpy are: `PC(ci_test=ConditionalTest(table))`. For
    causal-learn see `renyi.causal.register`.

    Parameters
    ----------
    table : frame of pandas, Polars or Arrow, dict of columns, or 2-D array
        As in `renyi.matrix`: numbers, dates, categories and text, each by its own type.
    types : dict, optional
        As in `renyi.matrix`, for codes that are no numbers: `{"smoker": "category"}`.
    missing : {"pairwise", "listwise", "raise"}, default "pairwise"
        "pairwise" takes the rows on which the columns of a test are known, and features are shared by tests without
        gaps alone; "listwise" takes rows without any gap, for all tests.
    memory : str or int, default "1GB"
        How much features that are kept may take; those that were used longest ago go first.

    Attributes
    ----------
    names : tuple of str
        Names of the columns that can be tested.
    skipped : dict
        The reason for every column that cannot.
    untested : dict
        Why there is no p-value, by (x, y, columns held fixed).
    statistic_, p_value_, effect_size_ : float
        Of the latest call, as pgmpy reads them: the statistic, the p-value, the strength.

    Notes
    -----
    Where no test can be made, as z determines x, or takes up all rows, `pvalue` is NaN and a call is False: a search
    keeps such an edge unless another test removes it. The first such pair is warned of. Columns that are held fixed
    count in the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.standard_normal(1000)
    >>> left, right = cause**2 + rng.standard_normal(1000), np.cos(cause) + rng.standard_normal(1000)
    >>> test = renyi.causal.ConditionalTest({"left": left, "right": right, "cause": cause})
    >>> print(f"{test.pvalue('left', 'right'):.0e}, {test.pvalue('left', 'right', ['cause']):.2f}")
    4e-25, 0.73
    """

    def __init__(
        self,
        table: Any,
        *,
        types: Mapping[Any, Any] | None = None,
        missing: Missing = "pairwise",
        memory: str | int = DEFAULT_MEMORY,
    ) -> None:
        read = observed(as_table(table, types=types), missing=missing)
        self._places = tuple(names_of(table))
        self._columns = {column.name: column for column in read.columns}
        self._targets = {name: Target(column) for name, column in self._columns.items()}
        self._kept = _Kept(bytes_of(memory))
        self._answers: dict[tuple[str, ...], _Answer] = {}
        self.names, self.skipped = tuple(self._columns), dict(read.skipped)
        self.untested: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self.statistic_ = self.p_value_ = self.effect_size_ = math.nan

    def test(self, x: Any, y: Any, given: Iterable[Any] = (), /) -> TestResult:
        """The test of two columns given others: all that its result has to tell.

        Parameters
        ----------
        x, y : str or int
            Columns, by name or by place in the table.
        given : iterable of str or int, optional
            Columns that are held fixed.

        Returns
        -------
        TestResult
            As of `renyi.conditional_test`.

        Raises
        ------
        InputError
            As `renyi.conditional_test`.
        """
        return self._test(self._asked(x, y, given))

    def pvalue(self, x: Any, y: Any, given: Iterable[Any] = (), /) -> float:
        """The p-value of two columns given others, NaN where no test can be made.

        Parameters
        ----------
        x, y : str or int
            Columns, by name or by place in the table.
        given : iterable of str or int, optional
            Columns that are held fixed.
        """
        return self._answer(x, y, given).pvalue

    # What pgmpy calls, by its names for arguments.

    def __call__(self, X: Any, Y: Any, Z: Iterable[Any] = (), significance_level: float = 0.05) -> bool:  # noqa: N803
        return self.is_independent(X, Y, Z, significance_level)

    def is_independent(self, X: Any, Y: Any, Z: Iterable[Any] = (), significance_level: float = 0.05) -> bool:  # noqa: N803
        """Whether the p-value is at least the level, as pgmpy asks; False where no test can be made."""
        if not (is_number(significance_level) and 0.0 < significance_level < 1.0):
            raise must_be("significance_level", "a number between 0 and 1", significance_level)
        _, pvalue = self.run_test(X, Y, Z)
        return pvalue >= significance_level

    def run_test(self, X: Any, Y: Any, Z: Iterable[Any] = ()) -> tuple[float, float]:  # noqa: N803
        """Statistic and p-value, as pgmpy asks; both are kept, with the strength, in `statistic_` and the others."""
        answer = self._answer(X, Y, Z)
        self.statistic_, self.p_value_, self.effect_size_ = answer
        return answer.statistic, answer.pvalue

    def _asked(self, x: Any, y: Any, given: Iterable[Any]) -> tuple[str, ...]:
        """Names of two columns, and of those held fixed, both in the order of the table."""
        places = {self._place(column): column for column in (x, y)}
        fixed = {self._place(column) for column in (given if are_several(given) else [given])}
        if len(places) < 2 or fixed & places.keys():
            raise InputError(
                f"x={brief(x)}, y={brief(y)} and what is held fixed, {brief(given)}, have a column in common: pass "
                "different ones"
            )
        return tuple(self._places[place] for place in (*sorted(places), *sorted(fixed)))

    def _place(self, column: Any) -> int:
        """The place of a column in the table, by its name, or by its place where no column has such a name."""
        if str(column) not in self._places and is_integer(column):
            return check_integer(column, "the place of a column", 0, len(self._places) - 1)
        check_known(str(column), self._places, "the table", "the test")
        return self._places.index(str(column))

    def _test(self, asked: Sequence[str]) -> TestResult:
        for name in asked:
            if name not in self._columns:
                raise InputError(f"column {brief(name)} cannot be tested: {self.skipped[name]}")
        columns = [self._columns[name] for name in asked]
        x, y, *given = columns
        if not given:
            return independence_test(x, y, missing="pairwise", order=None)
        if common_rows(*columns) is not None:
            return conditional_test(x, y, given, missing="listwise")
        pair = self._targets[x.name], self._targets[y.name]
        return told(pair, self._kept.features(given), np.arange(len(x)))

    def _answer(self, x: Any, y: Any, given: Iterable[Any]) -> "_Answer":
        asked = self._asked(x, y, given)
        if asked not in self._answers:
            try:
                result = self._test(asked)
            except InputError as error:
                self._answers[asked] = _Answer(math.nan, math.nan, math.nan)
                self._tell(asked, str(error))
            else:
                self._answers[asked] = _Answer(result.statistic, result.pvalue, result.strength or 0.0)
        return self._answers[asked]

    def _tell(self, asked: Sequence[str], reason: str) -> None:
        """Keep why there is no p-value; the first time is warned of."""
        if not self.untested:
            warnings.warn(
                f"{reason}: a search keeps such an edge; .untested has all of them", CalibrationWarning, stacklevel=4
            )
        self.untested[asked[0], asked[1], tuple(asked[2:])] = reason

    def __repr__(self) -> str:
        n_rows = len(next(iter(self._columns.values()), ()))
        untested = f", {len(self.untested):,} of them without a p-value" if self.untested else ""
        return f"<{len(self.names):,} columns, {n_rows:,} rows, {len(self._answers):,} answers{untested}>"


class _Answer(NamedTuple):
    """What is kept of a test."""

    statistic: float
    pvalue: float
    strength: float


class _Kept:
    """Features of what was held fixed, the latest last, within so many bytes; copies begin with none."""

    def __init__(self, most: int) -> None:
        self._most, self._fixed, self._lock = most, OrderedDict[tuple[str, ...], Fixed](), threading.Lock()

    def features(self, columns: Sequence[Column]) -> Fixed:
        """Features of columns, made anew where they are not kept."""
        names = tuple(column.name for column in columns)
        # Searches ask in several threads.
        with self._lock:
            if names not in self._fixed:
                size = sum(fixed.nbytes for fixed in self._fixed.values())
                while self._fixed and size > self._most:
                    size -= self._fixed.popitem(last=False)[1].nbytes
                self._fixed[names] = Fixed(columns)
            self._fixed.move_to_end(names)
            return self._fixed[names]

    def __reduce__(self) -> tuple[type["_Kept"], tuple[int]]:
        return _Kept, (self._most,)
