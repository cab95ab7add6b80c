"""`RDCSelector`, which selects the features that a target depends on, and `rdc_score` for other selectors."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from renyi.coefficients.base import Measure
from renyi.coefficients.registry import measure as named
from renyi.compute.arrays import Array, Index, Mask, namespace
from renyi.compute.devices import as_torch, device_of, relieved
from renyi.data.column import Column
from renyi.data.seasons import Detrend
from renyi.errors import CalibrationWarning, InputError, check_flag, count, is_integer, is_number, must_be
from renyi.inference.serial import check_order
from renyi.pair import series
from renyi.selection.candidates import as_candidates
from renyi.selection.forward import ByGain, Criterion, Step, forward
from renyi.selection.gain import Gains
from renyi.selection.inputs import Categorical, TargetKind, is_frame, read_features, read_target, with_labels
from renyi.selection.series import GainsInTime
from renyi.selection.setwise import Setwise
from renyi.sklearn.arguments import RandomState, as_array, checked, checked_by, n_threads_of, seed_of
from renyi.sklearn.in_time import FeaturesInRows, design_of, in_time
from renyi.tables.api import matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What to do where rows resemble those before them.
_REMEDY = "pass time=True where rows are in order of time"


class RDCSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose features on which the target depends together, one after another, until none adds anything.

    Each step takes the feature that adds most to those already chosen: functions of it, alone and multiplied with
    functions of the chosen, against what functions of the chosen leave of the target. Where no single feature adds
    anything beyond chance, all pairs are looked at together, since an interaction such as XOR shows in none of its
    parts. Ranks are all that is used, so increasing maps of a feature or of the target change nothing.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default "auto"
        A number, a share of all features, or "auto": stop where nothing adds beyond chance.
    alpha : float, default 0.01
        Error rate of "auto": the probability of choosing anything at all where the target depends on nothing, and
        at each later step of choosing one more where nothing has anything to do with target and chosen.
    measure : str or Measure, optional
        Choose by this measure of the chosen features together as one vector instead, as the paper does:
        `renyi.measures()` names them, and those that take vectors will do. It may fall as the set grows.
    interactions : bool, default True
        Look at pairs of features where no single one adds anything; not with a `measure`, and with 2,000 features at
        most.
    target_type : {"auto", "number", "category"}, default "auto"
        What y is. By itself, text and booleans are classes; numbers are numbers, also where they name classes. With few
        classes that is nearly the same, since all functions of few values are looked at.
    categorical_features : "from_dtype", None, or sequence of str, int or bool, default "from_dtype"
        Which features are categories: those of such a type in a frame, none, or these, by name, place or mask. Of a
        category its 100 most frequent levels are told apart, the others are one.
    order : {"check", None}, default "check"
        Whether to look if the target and features resemble their own previous rows, as series do. The p-values take
        rows as independent, and features are then chosen on which the target does not depend: a warning says so. None
        where the order of rows means nothing. Features that are on a device are not looked at.
    time : True or str, optional
        Rows are a series in time: True where they are in order and equally far apart, or the name of the column of X
        by whose stamps they are ordered. P-values then take into account what target and features remember.
    groups : str, optional
        With `time`, the name of the column of X that says which series a row belongs to, as in a panel.
    detrend : {"difference", "linear"}, optional
        With `time`, compare changes from row to row, or what a straight line leaves of every series.
    period : int or sequence of int, optional
        With `time`, take out a season of so many rows, or several.
    device : str or torch.device, optional
        Where functions are multiplied: `"cuda"` (torch, `renyi[gpu]`) for a GPU. It takes every kind of feature and
        target, but no `measure`. None is where the data are: on the device of tensors, else on the processor by NumPy.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores.
    verbose : bool, default False
        Show a progress bar if this runs in a terminal.
    random_state : int, RandomState, Generator or None, default None
        For the permutations that "auto" needs with a `measure`; the default search draws nothing. None is one fixed
        draw.

    Attributes
    ----------
    support_ : ndarray of bool
        Which features were chosen.
    ranking_ : ndarray of int
        1 for the first that was chosen, 2 for the second, and so on; the others follow by what they would add, and
        those that cannot be measured, constants among them, come last.
    path_ : tuple of Step
        For each step `feature`, `name`, `dependence` of the target on all chosen so far, and `pvalue` of what was
        added, adjusted for having been the best of many (NaN with a `measure` and a fixed number).
    skipped_ : dict
        Why features could not be measured, by name.
    notes_ : tuple of str
        What p-values do not account for: a target and features that resemble their own previous rows; with `time`,
        that wander as random walks do, or have a trend; and what was taken out of columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for frames alone

    Notes
    -----
    Missing values of a feature are left out: its ranks are those of its observed rows, and it is compared with the
    target on these. The dependence in `path_` is the largest correlation between a function of the target and a
    function in the span of those of the chosen. The span grows, so the dependence cannot fall; with many features
    on few rows part of it is chance, which the p-values take into account.

    A feature that goes with chosen ones, and with the target only through them, may still be chosen where the target
    depends on the chosen in a way that the span does not follow: no conditional test escapes that.

    Warns
    -----
    CalibrationWarning
        Where target and features resemble their own previous rows, and there are p-values; with `time`, where they
        wander or have a trend.

    References
    ----------
    D. Lopez-Paz, P. Hennig, B. Schölkopf, "The Randomized Dependence Coefficient", NIPS 2013, section 4.2,
    https://doi.org/10.48550/arXiv.1304.7717

    Examples
    --------
    >>> import numpy as np
    >>> from renyi.sklearn import RDCSelector
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 8))
    >>> y = X[:, 2] ** 2 + 0.5 * X[:, 5] * X[:, 6]
    >>> RDCSelector().fit(X, y).get_support(indices=True)
    array([2, 5, 6])
    """

    support_: Mask
    ranking_: Index
    path_: tuple[Step, ...]
    skipped_: dict[str, str]
    notes_: tuple[str, ...]

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str = "auto",
        alpha: float = 0.01,
        measure: str | Measure[Any] | None = None,
        interactions: bool = True,
        target_type: TargetKind = "auto",
        categorical_features: Categorical = "from_dtype",
        order: Literal["check"] | None = "check",
        time: Literal[True] | str | None = None,
        groups: str | None = None,
        detrend: Detrend | None = None,
        period: int | Sequence[int] | None = None,
        device: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.measure = measure
        self.interactions = interactions
        self.target_type = target_type
        self.categorical_features = categorical_features
        self.order = order
        self.time = time
        self.groups = groups
        self.detrend = detrend
        self.period = period
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "RDCSelector":  # noqa: N803
        """Choose features.

        Parameters
        ----------
        X : array-like, tensor or frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array-like or tensor of shape (n_samples,) or (n_samples, n_outputs)
            Target.

        Returns
        -------
        RDCSelector
            Itself.
        """
        X, y = as_torch(X), as_torch(y)  # noqa: N806
        device = device_of(self.device, X, y)
        with nullcontext() if device is None else relieved(device, "the functions of the chosen features"):
            return self._fit(X, y, device)

    def _fit(self, X: Any, y: Any, device: Any) -> "RDCSelector":  # noqa: N803
        X, y = checked(self, X, as_array(y, "y"), device)  # noqa: N806
        if not is_number(self.alpha) or not 0.0 < self.alpha < 1.0:
            raise must_be("alpha", "a number between 0 and 1", self.alpha)
        check_order(self.order)
        check_flag(self.interactions, "interactions")
        if not is_integer(self.verbose):
            check_flag(self.verbose, "verbose")
        names, columns, self.skipped_ = read_features(X, self.categorical_features)
        rows = self._rows(X, names, columns, read_target(y, self.target_type), device)
        places, most = list(rows.columns), self._most(len(names), len(rows.columns))
        # The paper's search for a fixed number of features has no p-values.
        if rows.line is None and (self.measure is None or most is None):
            rows = replace(rows, warned=self._notes_on_order(list(columns.values()), rows.target))
        self.notes_ = (*rows.notes, *rows.warned)
        for note in rows.warned:
            warnings.warn(note, CalibrationWarning, stacklevel=3)
        criterion = self._criterion(rows, device)
        del X, columns, rows  # on a device their room is wanted
        steps, left = forward(
            criterion,
            [names[place] for place in places],
            range(len(places)),
            most=len(places) if most is None else most,
            alpha=float(self.alpha),
            stops=most is None,
            progress=bool(self.verbose),
        )
        self.path_ = tuple(step.at(places[step.feature]) for step in steps)
        order = [step.feature for step in self.path_] + [places[j] for j in left]
        order += sorted(set(range(len(names))).difference(places))
        self.ranking_ = np.empty(len(names), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(names) + 1)
        self.support_ = self.ranking_ <= len(steps)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The chosen features of other rows.

        Parameters
        ----------
        X : array-like, tensor or frame of shape (n_samples, n_features)
            Features; those of a tensor stay where they are.

        Returns
        -------
        ndarray, tensor or frame of shape (n_samples, n_selected_features)
        """
        if namespace(X) is np:
            return super().transform(X)
        check_is_fitted(self)
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X is a tensor of the shape {tuple(X.shape)}, and {count(self.n_features_in_, 'feature')} were "
                "fitted: pass rows of these"
            )
        return X[:, self.get_support(indices=True).tolist()]

    def plot_path(self) -> "Figure":
        """Draw the dependence at each step, with the names of the features.

        Returns
        -------
        matplotlib.figure.Figure
            Save it with `.savefig(path)`; a notebook shows it by itself.
        """
        check_is_fitted(self)
        from renyi.report.figures.selection_path import plot_path

        return plot_path(self.path_)

    def _notes_on_order(self, features: Sequence[Column], target: Column) -> tuple[str, ...]:
        """What is said where rows of the target and of features resemble the rows before them.

        Where those of one side do not, p-values hold whatever the other side remembers.
        """
        if self.order is None:
            return ()
        columns = [*(column for column in features if namespace(column.values) is np), target]
        found, _ = series.serial_columns(columns, [None] * len(columns))
        if len(found) < 2 or found[-1] != len(columns) - 1:
            return ()
        return (series.said_of_order([columns[k].name for k in found], len(columns), remedy=_REMEDY),)

    def _most(self, n_features: int, n_columns: int) -> int | None:
        """How many features to choose; None where that is for the data to say."""
        wanted = self.n_features_to_select
        if isinstance(wanted, str) and wanted == "auto":
            return None
        if is_integer(wanted):
            most = int(wanted)
        elif is_number(wanted) and 0.0 < wanted <= 1.0:
            most = max(1, int(n_features * wanted))
        else:
            most = 0
        if most < 1:
            raise must_be("n_features_to_select", "an integer of at least 1, a share up to 1.0, or 'auto'", wanted)
        if most > n_features:
            raise InputError(f"n_features_to_select={wanted!r} and X has {count(n_features, 'feature')}: pass fewer")
        if most > n_columns:
            name, reason = next(iter(self.skipped_.items()))
            raise InputError(
                f"n_features_to_select={wanted!r} and only {n_columns:,} of {count(n_features, 'feature')} can be "
                f"chosen ({name!r}: {reason}): pass fewer, or 'auto'"
            )
        return most

    def _rows(
        self,
        X: Any,  # noqa: N803
        names: list[str],
        columns: dict[int, Column],
        target: Column,
        device: Any,
    ) -> FeaturesInRows:
        """Features and target, as series if rows are in time; `skipped_` says what is no feature then."""
        design = design_of(self.time, self.groups, self.detrend, self.period)
        if design is None:
            return FeaturesInRows(columns, target)
        if self.measure is not None or device is not None:
            raise InputError("time is for the search by theory on the processor: leave measure and device out, or time")
        rows, skipped = in_time(X, names, columns, target, design)
        self.skipped_ |= skipped
        return rows

    def _criterion(self, rows: FeaturesInRows, device: Any) -> Criterion:
        n_threads, columns, target = n_threads_of(self.n_jobs), list(rows.columns.values()), rows.target
        if rows.line is not None:
            candidates = as_candidates(columns, n_threads=n_threads)
            return ByGain(GainsInTime(candidates, target, rows.line), pairs=bool(self.interactions))
        if self.measure is None:
            candidates = as_candidates(columns, n_threads=n_threads, device=device)
            return ByGain(Gains(candidates, target, n_threads=n_threads, device=device), pairs=bool(self.interactions))
        by = self.measure if isinstance(self.measure, Measure) else named(self.measure)
        if device is not None:
            raise InputError(
                f"measure={by.name!r} is not for a device: pass measure=None to search on '{device}', or NumPy arrays "
                "and device=None"
            )
        if not by.statement.takes_vectors:
            raise InputError(
                f"measure={by.name!r} takes no vectors, and a set of features is one: pass 'dcor' or 'rdc'"
            )
        return Setwise(
            columns,
            target,
            by,
            is_tested=self.n_features_to_select == "auto",
            seed=seed_of(self.random_state),
            n_threads=n_threads,
        )

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        return tags


def rdc_score(X: Any, y: Any, *, target_type: TargetKind = "auto") -> tuple[Array, Array]:  # noqa: N803
    """A score and a p-value for every single feature, for `SelectKBest`, `SelectFdr` and similar selectors.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Features; NaN is missing.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Target, a number or a class.
    target_type : {"auto", "number", "category"}, default "auto"
        As in `RDCSelector`; set it by `functools.partial(rdc_score, target_type="category")`.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Debiased coefficients, as `renyi.matrix` has them; NaN for a constant feature, which is never chosen.
    pvalues : ndarray of shape (n_features,)
        Of `renyi.independence_test`; 1 for a constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from renyi.sklearn import rdc_score
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    >>> SelectKBest(rdc_score, k=1).fit(X, X[:, 2] ** 2).get_support(indices=True)
    array([2])
    """
    y = checked_by(check_array, with_labels(y), ensure_2d=False, dtype=None, input_name="y")
    if not is_frame(X):
        X = checked_by(check_array, X, ensure_all_finite="allow-nan", ensure_min_samples=2)  # noqa: N806
    check_consistent_length(X, y)
    names, columns, _ = read_features(X, "from_dtype")
    scores, pvalues = np.full(len(names), np.nan), np.ones(len(names))
    if columns:
        places = list(columns)
        table = {str(place): column for place, column in columns.items()}
        found = matrix(table, {"y": read_target(y, target_type)})
        kept = [places.index(int(name)) for name in found.names]
        scores[np.array(places)[kept]] = found.debiased[:, 0]
        pvalues[np.array(places)[kept]] = found.pvalues[:, 0]
    return scores, np.where(np.isnan(pvalues), 1.0, pvalues)
