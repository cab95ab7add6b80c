"""Labels to codes and levels, whoever encodes them."""

from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from renyi.data.labels import encode, encode_array, encode_series, is_missing, tidy
from renyi.errors import InputError


def decoded(codes, missing, levels):
    return [None if gap else levels[code] for code, gap in zip(codes.tolist(), missing.tolist(), strict=True)]


@pytest.mark.parametrize("library", [pd.Series, pl.Series, lambda cells: pa.chunked_array([cells])])
def test_every_library_encodes_as_python_does(library, rng):
    cells = [None if k == 0 else f"level {k}" for k in rng.integers(0, 12, 300).tolist()]
    expected = encode(cells)
    found = encode_series(nw.from_native(library(cells), series_only=True))
    assert decoded(*found) == decoded(*expected) == cells
    assert found[2] == expected[2] == tuple(sorted({cell for cell in cells if cell}))


@pytest.mark.parametrize(
    "labels", [np.array([2.0, np.nan, -1.0, 2.0]), np.array(["b", "", "a"]), np.array([True, False])]
)
def test_arrays_come_back_by_their_codes(labels):
    known = [None if label != label else label for label in labels.tolist()]  # noqa: PLR0124
    assert decoded(*encode_array(labels)) == known
    assert list(encode_array(labels)[2]) == sorted({label for label in known if label is not None})


def test_levels_are_sorted_within_each_of_their_types():
    assert encode(["b", 10, 9, "a", 1.5, None])[2] == (1.5, 9, 10, "a", "b")
    # What has no order among itself goes by how it is written.
    assert encode([2j, 1j, (1, "a"), (1, 2)])[2] == (1j, 2j, (1, "a"), (1, 2))


def test_lists_are_no_labels():
    with pytest.raises(InputError, match="some labels are lists or arrays"):
        encode(["a", ["b"]])


def test_tidy_labels_are_the_same_with_the_levels_that_occur(rng):
    levels = tuple(f"level {k}" for k in rng.permutation(20))
    codes, missing = rng.choice([3, 5, 8, 13], 100), rng.random(100) < 0.2
    found = tidy(codes, missing, levels)
    assert decoded(*found) == decoded(codes, missing, levels)
    assert found[2] == tuple(sorted(levels[code] for code in (3, 5, 8, 13)))
    assert tidy(codes, np.ones(100, dtype=bool), levels)[2] == ()


def test_missing_is_what_every_library_calls_so():
    gone = [None, float("nan"), np.datetime64("NaT", "s"), pd.NaT, pd.NA, np.ma.masked, Decimal("NaN"), Decimal("sNaN")]
    assert all(map(is_missing, gone))
    assert not any(map(is_missing, [0, "", False, "nan", (), np.arange(3)]))


def test_levels_that_a_dictionary_names_twice_are_one():
    codes, missing = np.array([0, 1, 2, 2]), np.zeros(4, dtype=bool)
    found, _, levels = tidy(codes, missing, ("b", "a", "b"))
    assert levels == ("a", "b")
    assert found.tolist() == [1, 0, 1, 1]
