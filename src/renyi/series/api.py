"""The function of many lags: `lags`."""

from collections.abc import Sequence
from typing import Any

from renyi.data.seasons import Adjustment, Detrend
from renyi.data.types import MAX_LEVELS, check_max_levels
from renyi.errors import check_choice, must_be
from renyi.inference.false_discovery import Correction
from renyi.series.in_memory import lagged
from renyi.series.reading import Asked, read
from renyi.series.result import Lags
from renyi.tables.arguments import Types, Vectors
from renyi.tables.budget import DEFAULT_MEMORY
from renyi.tables.dependent_rows import Design


def lags(
    table: Any,
    target: Any = None,
    *,
    max_lag: int,
    time: Any = True,
    groups: Any = None,
    detrend: Detrend | None = None,
    period: int | Sequence[int] | None = None,
    types: Types = None,
    vectors: Vectors = None,
    max_levels: int = MAX_LEVELS,
    correction: Correction = "bh",
    memory: str | int = DEFAULT_MEMORY,
    progress: bool = False,
) -> Lags:
    """Dependence of time series at every lag: which column leads which, by how many rows, and how certain that is.

    All pairs of columns, or every column against a target, or two columns. P-values take into account what series
    remember of their own past, and that the strongest of many lags is looked at.

    Parameters
    ----------
    table : frame, dict of columns, list of dicts, array of shape (n, d), file, or one column
        Rows in time. A column with another one as `target` is one pair.
    target : str, array-like of shape (n,), or list of str, optional
        Compare every column with this one: its name, several as a vector, or its values. By default all pairs.
    max_lag : int
        The longest lag, in rows: at most a quarter of the rows of a series.
    time : True, str or array-like of shape (n,), default True
        True where rows are in order and equally far apart; or the name of the column of stamps, or a stamp for every
        row, by which rows are ordered.
    groups : str or array-like of shape (n,), optional
        The column, or labels, that say which series a row is in, as in a panel.
    detrend : {"difference", "linear"}, optional
        Compare changes from row to row, or what a straight line leaves of every series, rather than the values.
    period : int or sequence of int, optional
        Take out a season of so many rows, or several.
    types, vectors, max_levels, correction, memory, progress
        As in `renyi.matrix`. A table is read as a whole.

    Returns
    -------
    Lags
        With `top()`, `to_frame()` for the strongest lag of every pair, `to_long()` for all lags, `plot()`, `report()`.

    Raises
    ------
    InputError
        For fewer than 50 rows, a `max_lag` beyond a quarter of the shortest series, stamps that are missing, repeated
        or irregular, and what `renyi.matrix` refuses.

    Notes
    -----
    At a lag of l rows x at t is compared with y at t + l: where l is above 0, x leads. The coefficient is that of
    `renyi.rdc`, with ranks over the whole series and products over the rows that both have. P-values are by random
    phases (docs/how-to/time-series.md); the one of the strongest lag is that of the smallest among all lags of the
    window. A lag is no cause: a third series that both follow at different distances looks the same.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.standard_normal(500)
    >>> river = np.roll(rain, 3) ** 2 + 0.3 * rng.standard_normal(500)
    >>> found = renyi.lags({"rain": rain, "river": river}, max_lag=10)
    >>> str(found.top()["direction"][0])
    'rain leads river by 3'
    """
    check_choice(correction, Correction, "correction")
    check_max_levels(max_levels)
    if time is None:
        raise must_be("time", "True for rows in order, the name of a column, or a stamp for each row", time)
    design = Design(time=time, groups=groups, adjustment=Adjustment.of(detrend, period))
    asked = Asked(max_lag, design, types, vectors, max_levels, memory)
    return lagged(read(table, target, asked), int(max_lag), correction, progress=progress)
