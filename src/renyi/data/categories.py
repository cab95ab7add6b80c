"""Labels that a user declares to be a category: `categorical`."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from renyi.compute.arrays import Index, Mask, in_memory
from renyi.data.column import Column
from renyi.data.frames import as_narwhals, has_python_dates, read_categories
from renyi.data.labels import Encoded, encode, encode_array, tidy
from renyi.errors import InputError, check_text

# A category has a table of levels × levels numbers.
_MOST_LEVELS = 5000


def categorical(x: Any, /, *, name: str = "") -> Column:
    """Declare a column to be a category, whatever its type.

    Text is refused by the functions for pairs, and numbers are taken as quantities; this says that the values are
    labels without order or distance.

    Parameters
    ----------
    x : array-like of shape (n,)
        Labels: text, numbers, booleans or a mixture. None and NaN are missing.
    name : str, optional
        The name used in messages and plots; by default the column's own.

    Returns
    -------
    Column
        Accepted wherever a column is.

    Raises
    ------
    InputError
        If `x` is empty, is not one-dimensional, or has more than 5,000 levels.

    Examples
    --------
    >>> import renyi
    >>> species = renyi.categorical(["cat", "dog", "cat", "owl"])
    >>> species.levels
    ('cat', 'dog', 'owl')
    """
    check_text(name, "name")
    if isinstance(x, Column):
        if not x.is_category:
            raise InputError(f"{x!r} is not a column of labels: pass the labels themselves")
        return replace(x, name=name or x.name)
    encoded, own_name = encode_labels(x)
    # Lists have a method of that name.
    index = getattr(x, "index", None)
    return replace(_category(*encoded, name or own_name), index=index if hasattr(index, "equals") else None)


def encode_labels(x: Any, /) -> tuple[Encoded, str]:
    """Labels as codes, missing mask and levels, however many; and the name of their column."""
    x = in_memory(x)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "iufbUS" and not isinstance(x, np.ma.MaskedArray):
        return encode_array(x), ""
    labels, name = _labels(x)
    return encode(labels), name


def _category(codes: Index, missing: Mask, levels: tuple[Hashable, ...], name: str) -> Column:
    if len(codes) == 0:
        raise InputError("there are no labels: pass at least one")
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"{name or 'the category'} has {len(levels):,} levels, and more than {_MOST_LEVELS:,} cannot be compared: "
            "merge rare ones, or leave it out if it names the rows"
        )
    return Column(name, "category", codes, missing if missing.any() else None, levels)


def from_categories(series: Any) -> Column:
    """A categorical column; an ordered one as numbers that rise with its levels."""
    (codes, missing, levels), ordered = read_categories(series)
    if ordered:
        return Column("", "number", codes, missing if missing.any() else None, levels)
    return _category(*tidy(codes, missing, levels), series.name or "")


def _labels(x: Any) -> tuple[list[Any], str]:
    """The labels of a column as Python values, and its name."""
    if isinstance(x, (list, tuple)):
        return list(x), ""
    series = None if isinstance(x, np.ndarray) else as_narwhals(x, "the category")
    if series is not None and not hasattr(series, "columns"):
        if not has_python_dates(series):
            raise InputError(
                "the labels cannot be read (Python does not have such dates or durations): pass them as text"
            )
        try:
            return series.to_list(), "" if series.name is None else str(series.name)
        except Exception as error:  # of whatever library has them
            raise InputError(f"the labels cannot be read ({error}): pass them as text") from error
    shape = series.shape if series is not None else np.shape(x) if isinstance(x, np.ndarray) else ()
    if len(shape) != 1:
        arrived = f"has the shape {shape}" if shape else f"is a {type(x).__name__}"
        raise InputError(f"what was passed as a category {arrived}, but a category is one column: pass n labels")
    return x.tolist(), ""
