"""Columns over the same rows; what one pair needs of that is in `test_reader.py`."""

import numpy as np
import pytest

from renyi.data.align import as_conditional, as_groups, common_rows
from renyi.data.column import Column
from renyi.errors import InputError

NAN = np.nan


def column(*values):
    values = np.array(values)
    return Column("c", "number", values, np.isnan(values) if np.isnan(values).any() else None)


def test_common_rows_are_those_that_all_have():
    assert common_rows(column(1.0, 2.0), column(2.0, 1.0)) is None
    assert common_rows(column(1.0, NAN, 3.0, 4.0), column(1.0, 2.0, 3.0, 4.0), column(1.0, 2.0, 3.0, NAN)).tolist() == [
        True, False, True, False,
    ]  # fmt: skip


def test_what_is_given_takes_its_missing_rows_along():
    x, y, z = [1.0, 2, 3, 4, 5], [5.0, NAN, 1, 2, 7], [1.0, 1, NAN, 2, 1]
    (a, b), (c,), rows = as_conditional(x, y, z, missing="listwise")
    assert [part.values.tolist() for part in (a, b, c)] == [[1, 4, 5], [5, 2, 7], [1, 2, 1]]
    assert all(part.missing is None for part in (a, b, c))
    assert rows.tolist() == [0, 3, 4]
    with pytest.raises(InputError, match=r"y has 1 missing value \(first in row 1\).*pass missing='listwise'"):
        as_conditional(x, y, z, missing="raise")


def test_what_the_rows_in_common_leave_is_checked_again():
    x, z = [1.0, 1, 1, 4], [1.0, 2, 3, NAN]
    with pytest.raises(InputError, match="x is constant on the rows where nothing is missing"):
        as_conditional(x, [1.0, 2, 5, 3], z, missing="listwise")
    with pytest.raises(InputError, match="x, y and z have 1 row in common"):
        as_conditional([1.0, 2, 3], [NAN, 2.0, 3], [1.0, NAN, 4], missing="listwise")
    with pytest.raises(InputError, match="'pairwise' has no meaning given z"):
        as_conditional(x, z, z, missing="pairwise")


def test_a_list_of_lists_is_told_to_be_rows():
    with pytest.raises(InputError, match=r"z.* has 2 rows and x has 3: pass as many \(a list of lists is read as rows"):
        as_conditional([1.0, 2, 3], [3.0, 1, 2], [[1.0, 2, 3], [4.0, 5, 6]], missing="raise")


def test_groups_are_labels_of_all_rows():
    codes, rows = as_groups(["b", "a", "b", "c"], [1.0, 2, NAN, 4], [1.0, 3, 2, 2])
    assert codes.tolist() == [1, 0, 1, 2]
    assert rows.tolist() == [True, True, False, True]
    with pytest.raises(InputError, match="groups has no label for row 2"):
        as_groups(["b", "a", None, "c"], [1.0, 2, 3, 4], [1.0, 3, 2, 2])
