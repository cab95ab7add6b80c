import numpy as np
import pytest

from renyi.data.column import Column
from renyi.report.variables import cells_of, drawable, label_of, limits_of, significant


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("age", "age"),
        (" a ", "␣a␣"),
        ("", "(no name)"),
        ("  ", "␣␣"),
        ("a\nb", "a\\nb"),
        ("\u202ex", "\\u202ex"),
        ("\ud800", "\\ud800"),
    ],
)
def test_labels(name, label):
    assert label_of(name) == label


def test_long_labels_are_cut():
    assert len(label_of("x" * 5000)) == 60


def test_significant_digits():
    assert significant(np.array([1.23456789, 0.0, -1e-20])) == [1.23457, 0, -1e-20]
    # Numbers that are alike keep the digits in which they differ.
    assert significant(np.array([1e9 + 0.25, 1e9 + 0.5])) == [1e9 + 0.25, 1e9 + 0.5]
    assert significant(np.array([7.0])) == [7]
    assert significant(np.array([])) == []


def test_axes_leave_out_what_is_far():
    values = np.append(np.linspace(0, 1, 999), 1e6)
    low, high, is_clipped = limits_of(Column("x", "number", values))
    assert is_clipped
    assert low == 0.0
    assert 1.0 < high < 2.0
    assert limits_of(Column("x", "number", values[:-1])) == (0.0, 1.0, False)


def test_cells():
    np.testing.assert_array_equal(cells_of(np.array([-9.0, 0.0, 0.49, 0.5, 1.0, 9.0]), 0.0, 1.0, 2), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(cells_of(np.ones(2), 1.0, 1.0, 5), [0, 0])


def test_dates_are_milliseconds():
    column = Column("x", "number", np.array(["1970-01-02"], dtype="datetime64[D]"))
    np.testing.assert_array_equal(drawable(column), [864e5])
