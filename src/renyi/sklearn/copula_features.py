"""Random features of ranks, for linear models."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from renyi.basis import random_features
from renyi.basis.random_features import DEFAULT_SCALE, Frequencies
from renyi.compute.arrays import Array
from renyi.data.column import Column
from renyi.errors import InputError, check_integer
from renyi.pair.settings import MOST_PROJECTIONS, Settings
from renyi.sklearn.arguments import RandomState, checked_by, seed_of


class RandomCopulaFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Random sines and cosines of the ranks of features, which make a linear model non-linear.

    Ranks are learned on the training rows. Increasing maps of a feature change nothing, so units do not matter.

    Parameters
    ----------
    n_components : int, default 200
        Number of columns of the output: a sine and a cosine of half as many random projections.
    s : float, default 3.0
        Standard deviation of the frequencies, as in `renyi.rdc`: the larger, the rougher.
    frequencies : {"auto", "normal", "orthogonal", "fastfood"}, default "auto"
        How they are drawn, as in `renyi.rdc`.
    random_state : int, RandomState, Generator or None, default None
        None is one fixed draw.

    Attributes
    ----------
    values_ : list of ndarray
        Distinct training values of each feature, ascending.
    ranks_ : list of ndarray
        Their share of the training rows at or below, by `sample_weight`.
    projection_ : Projection
        The frequencies.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for frames alone

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from renyi.sklearn import RandomCopulaFeatures
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> model = make_pipeline(RandomCopulaFeatures(), Ridge(1e-3)).fit(X[:400], X[:400, 0] * X[:400, 1])
    >>> model.score(X[400:], X[400:, 0] * X[400:, 1]) > 0.99
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 200,
        s: float = DEFAULT_SCALE,
        frequencies: Frequencies = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.s = s
        self.frequencies = frequencies
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "RandomCopulaFeatures":  # noqa: N803
        """Learn the empirical distribution of every feature and draw frequencies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts; a row of weight 2 counts as two.

        Returns
        -------
        RandomCopulaFeatures
            Itself.
        """
        X = checked_by(validate_data, self, X, dtype=np.float64)  # noqa: N806
        check_integer(self.n_components, "n_components", 1, 2 * MOST_PROJECTIONS)
        settings = Settings(-(-self.n_components // 2), self.s, self.frequencies)
        if isinstance(self.s, str):
            raise InputError("s='median' is for the coefficient: pass a standard deviation, such as 3.0")
        weights = np.ones(len(X))
        if sample_weight is not None:
            weights = checked_by(_check_sample_weight, sample_weight, X, dtype=np.float64)
        if weights.min() < 0.0 or not weights.sum() > 0.0:
            raise InputError("sample_weight has negative weights, or none above 0: pass what each row counts")
        X, weights = X[weights > 0.0], weights[weights > 0.0]  # noqa: N806
        learned = [_weighted_ranks(column, weights) for column in X.T]
        self.values_, self.ranks_ = ([pair[i] for pair in learned] for i in range(2))
        (seed,) = random_features.seeds(None if self.random_state is None else seed_of(self.random_state), n_draws=1)
        self.projection_ = settings.projection(Column("X", "vector", X), seed)
        self._n_features_out = int(self.n_components)
        return self

    def transform(self, X: Any) -> Array:  # noqa: N803
        """Sines and cosines of new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; values between two training values have the rank of the lower one.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = checked_by(validate_data, self, X, dtype=np.float64, reset=False)  # noqa: N806
        ranks = np.empty(X.shape)
        for j, (values, known) in enumerate(zip(self.values_, self.ranks_, strict=True)):
            ranks[:, j] = np.concatenate(([0.0], known))[np.searchsorted(values, X[:, j], side="right")]
        # Of an odd number of columns the last projection has its sine alone.
        return random_features.sines_and_cosines(self.projection_, ranks)[:, : self._n_features_out]


def _weighted_ranks(column: Array, weights: Array) -> tuple[Array, Array]:
    """Distinct values, and the share of the weight at or below each."""
    values, codes = np.unique(column, return_inverse=True)
    ranks = np.cumsum(np.bincount(codes, weights))
    return values, ranks / ranks[-1]
