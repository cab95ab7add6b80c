"""A table that is remembered without its rows, and what changed in others since."""

from collections.abc import Mapping
from typing import Any

from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from renyi.change.api import SAMPLE
from renyi.change.checking import checked, reference_of
from renyi.change.result import Comparison, check_correction
from renyi.change.sampling import taken
from renyi.data.types import MAX_LEVELS, check_max_levels
from renyi.inference.false_discovery import Correction
from renyi.selection.inputs import is_frame
from renyi.sklearn.arguments import as_array, checked_by
from renyi.tables.batches import is_out_of_core
from renyi.tables.budget import DEFAULT_MEMORY


class ChangeDetector(BaseEstimator):  # type: ignore[misc]
    """Watch for change: compare new tables with a reference, as `renyi.compare` does, without keeping its rows.

    The fitted reference is small and contains no rows: counts of rows in cells of every column, names of levels, and
    sums over rows of products of functions of all pairs. It can be pickled and stored with a model.

    Parameters
    ----------
    types : dict, optional
        Types of columns, where the automatic ones are not wanted, as in `renyi.matrix`.
    max_levels : int, default 2000
        Most levels of a category to keep.
    correction : {"bh", "by"}, default "bh"
        What q-values are adjusted by, as in `renyi.matrix`.
    memory : str or int, default "1GB"
        A table that has to be read and takes more is taken by a sample of its rows.
    sample : int, default 100_000
        Rows of that sample.

    Attributes
    ----------
    reference_ : Reference
        What is remembered.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, for frames alone

    Notes
    -----
    Numbers are compared on 512 cells of the reference: finer changes of a distribution are not seen. Of categories the
    seven most frequent levels of the reference have dependences of their own. Where a number has a value that more than
    a tenth of the rows have in the new table alone, these rows are ordered at random before dependences are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi.sklearn import ChangeDetector
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(1000)
    >>> detector = ChangeDetector().fit({"x": x, "y": x**2 + rng.standard_normal(1000)})
    >>> x = rng.standard_normal(1000)
    >>> found = detector.check({"x": x, "y": 2 - x**2 + rng.standard_normal(1000)})
    >>> str(found.pairs["kind"][0])
    'other form'
    """

    def __init__(
        self,
        *,
        types: Mapping[Any, Any] | None = None,
        max_levels: int = MAX_LEVELS,
        correction: Correction = "bh",
        memory: str | int = DEFAULT_MEMORY,
        sample: int = SAMPLE,
    ) -> None:
        self.types = types
        self.max_levels = max_levels
        self.correction = correction
        self.memory = memory
        self.sample = sample

    def fit(self, X: Any, y: Any = None) -> "ChangeDetector":  # noqa: N803
        """Remember a table.

        Parameters
        ----------
        X : frame, dict of columns, array, or file
            A table as in `renyi.compare`.
        y : None
            Not used.

        Returns
        -------
        ChangeDetector
            Itself.
        """
        check_correction(self.correction)
        check_max_levels(self.max_levels)
        table, sampled = self._in_memory(X, "the reference", is_first=True)
        self.reference_ = reference_of(table, types=self.types, max_levels=self.max_levels)
        self.sampled_ = sampled
        return self

    def check(self, X: Any) -> Comparison:  # noqa: N803
        """What changed between the reference and a new table.

        Parameters
        ----------
        X : frame, dict of columns, array, or file
            The new table.

        Returns
        -------
        Comparison
            As from `renyi.compare`; its report has no pictures, since the rows of the reference are gone.
        """
        check_is_fitted(self)
        table, sampled = self._in_memory(X, "the new table", is_first=False)
        said = "; ".join(filter(None, (self.sampled_, sampled)))
        return checked(self.reference_, table, types=self.types, correction=self.correction, sampled=said)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """The p-value of "nothing changed at all": near 0 where something did.

        Parameters
        ----------
        X : frame, dict of columns, array, or file
            The new table.
        y : None
            Not used.

        Returns
        -------
        float
        """
        return self.check(X).together

    def _in_memory(self, X: Any, label: str, *, is_first: bool) -> tuple[Any, str]:  # noqa: N803
        """A table in memory, if it was not, checked as scikit-learn demands it."""
        is_sparse = issparse(X)
        if not is_sparse and (isinstance(X, (dict, str)) or is_out_of_core(X)):
            table = taken(X, label, self.memory, self.sample, self.types)
            return table.rows, table.said_of_parts
        if is_frame(X) and not is_sparse:
            # Columns that are gone later, or new, are a finding and no error.
            if is_first:
                checked_by(validate_data, self, X, skip_check_array=True)
            return X, ""
        least = 2 if is_first else 1
        settings = {"reset": is_first, "ensure_all_finite": "allow-nan", "ensure_min_samples": least, "dtype": None}
        return checked_by(validate_data, self, as_array(X, "X"), **settings), ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
