"""Dependence of two columns over time: the same test in window after window."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index
from renyi.data.align import as_pair, check_indexes
from renyi.data.frames import as_series
from renyi.data.reader import as_column
from renyi.data.table import NewFrame, any_frame
from renyi.data.time import FEWEST_ROWS, timeline
from renyi.errors import InputError, check_integer, count
from renyi.pair import showing
from renyi.pair.independence import independence_test

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows that both columns have; a window of a series needs `FEWEST_ROWS`.
_FEWEST = 20


@dataclass(frozen=True, eq=False, repr=False)
class Rolling(showing.Record):
    """Dependence in windows of time, from `renyi.rolling`.

    Attributes
    ----------
    names : tuple of str
        The two columns.
    window, step : int
        Rows of a window, and from the beginning of one to that of the next.
    start, end : ndarray
        First and last row of every window, or their stamps where there are some.
    coefficient, strength, pvalues : ndarray
        As in `TestResult`, one for each window; NaN where a window cannot be tested.
    n_samples : ndarray
        Rows of every window that both columns have.
    """

    _internal = "new_frame", "is_series"

    names: tuple[str, str]
    window: int
    step: int
    start: NDArray[Any]
    end: NDArray[Any]
    coefficient: Array
    strength: Array
    pvalues: Array
    n_samples: Index
    is_series: bool
    new_frame: Callable[[dict[str, Any]], Any] = field(repr=False)

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        known = self.strength[np.isfinite(self.strength)]
        between = f"strength {known.min():.2f} to {known.max():.2f}" if len(known) else "none could be tested"
        return (
            f"Rolling: {self.names[0]} and {self.names[1]} in {count(len(self), 'window')} of {self.window:,} rows, "
            f"one every {self.step:,}: {between}"
        )

    def to_frame(self) -> Any:
        """One row for every window: `start`, `end`, `coefficient`, `strength`, `p`, `n`."""
        numbers = {"coefficient": self.coefficient, "strength": self.strength, "p": self.pvalues, "n": self.n_samples}
        return self.new_frame({"start": self.start, "end": self.end, **numbers})

    def plot(self) -> "Figure":
        """Draw strength over time, a dot at the end of every window, filled where p is below 0.05.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return cast("Figure", showing.report().plot_rolling(self))


def rolling(x: Any, y: Any, window: int, step: int | None = None, *, time: Any = True) -> Rolling:
    """Dependence of two columns in windows of time, one after the other.

    Every window is tested by itself, as a series unless `time=None`. Windows that overlap share rows, so that their
    p-values resemble one another and are not to be counted: twenty in a row below 0.05 may be one finding, and so many
    windows have some by chance. Whether a dependence changed is asked by `renyi.compare`.

    Parameters
    ----------
    x, y : array-like of shape (n,) or (n, d), or a category
        As in `renyi.independence_test`; a cell that is missing leaves its row out of the windows it is in. Windows of
        which both have fewer than 20 rows are not tested.
    window : int
        Rows of a window, at least 50, without time 20.
    step : int, optional
        Rows from the beginning of a window to that of the next, by default a quarter of the window.
    time : True, None or array-like of shape (n,), default True
        True where rows are in order and equally far apart, stamps to order them by, or None to take rows of a window as
        independent of one another.

    Returns
    -------
    Rolling
        With `coefficient`, `strength`, `pvalues`, `start`, `end`, `to_frame()`, `plot()`.

    Raises
    ------
    InputError
        For a window that is too short or longer than the data, and what `renyi.independence_test` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 1000))
    >>> y = np.where(np.arange(1000) < 500, 0, x) + 0.5 * noise  # y follows x from the middle on
    >>> (renyi.rolling(x, y, 250, 250).pvalues < 0.01).tolist()
    [False, False, True, True]
    """
    check_indexes(x, y, *(() if time is True or time is None else (time,)))
    pair = as_pair(x, y, missing="pairwise")
    n = len(pair[0])
    step = _checked(n, window, step, FEWEST_ROWS if time is not None else _FEWEST)
    order, stamps = np.arange(n), None
    if time is not None:
        order = timeline(time, None, n).order
        stamps = None if time is True else as_column(time, "time").values[order]
    columns = [column.take(order) for column in pair]
    starts = np.arange(0, n - window + 1, min(step, n))
    found = np.full((3, len(starts)), np.nan)
    rows = np.zeros(len(starts), dtype=np.intp)
    for k, start in enumerate(starts.tolist()):
        inside = np.arange(start, start + window)
        parts = [column.take(inside) for column in columns]
        rows[k] = np.count_nonzero(~(parts[0].gaps | parts[1].gaps))
        if rows[k] < _FEWEST:
            continue
        try:
            tested = independence_test(*parts, time=None if time is None else True, order=None, missing="pairwise")
        except InputError:  # as where a column is constant in this window
            continue
        found[:, k] = tested.coefficient, cast("float", tested.strength), tested.pvalue
    first, last = starts, starts + window - 1
    return Rolling(
        names=(str(getattr(x, "name", None) or "x"), str(getattr(y, "name", None) or "y")),
        window=window,
        step=step,
        start=first if stamps is None else stamps[first],
        end=last if stamps is None else stamps[last],
        coefficient=found[0],
        strength=found[1],
        pvalues=found[2],
        n_samples=rows,
        is_series=time is not None,
        new_frame=_frame_like(x, y),
    )


def _checked(n: int, window: Any, step: Any, fewest: int) -> int:
    """The step, once window and step make sense."""
    window = check_integer(window, "window", fewest)
    if window > n:
        raise InputError(f"window={window:,} is longer than the data, which have {n:,} rows: pass a shorter one")
    return max(1, window // 4) if step is None else check_integer(step, "step")


def _frame_like(x: Any, y: Any) -> Callable[[dict[str, Any]], Any]:
    """What makes a frame of the library that a column is of, else of what is there."""
    import narwhals.stable.v2 as nw

    for side in (x, y):
        series = nw.from_native(as_series(side), allow_series=True, pass_through=True)
        if isinstance(series, nw.Series):
            return NewFrame(series.implementation.value)
    return any_frame
