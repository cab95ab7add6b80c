"""One variable: what it says of itself, and its numbers as floats."""

import numpy as np
import pytest

from renyi.data.column import Column, as_floats, as_floats_apart, as_seconds
from renyi.errors import InputError


def test_a_column_is_named_by_the_user_and_by_the_argument():
    values = np.arange(3.0)
    assert Column("age", "number", values).label == "age"
    assert Column("", "number", values).label == "the column"
    assert Column("age", "number", values, argument="x").label == "column 'age'"
    assert Column("x", "number", values, argument="x").label == "x"


def test_rows_are_taken_with_what_is_missing_of_them():
    missing = np.array([False, True, False, True])
    column = Column("c", "category", np.array([1, 0, 2, 0]), missing, ("a", "b", "c"), index="kept")
    taken = column.take(np.array([True, True, False, False]))
    assert taken.values.tolist() == [1, 0]
    assert taken.missing.tolist() == [False, True]
    assert taken.levels == column.levels
    assert taken.index is None
    assert column.complete().values.tolist() == [1, 2]
    assert column.complete().missing is None
    whole = Column("x", "number", np.arange(3.0))
    assert whole.complete() is whole


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**62, 2**62 + 1, 2**62 + 7]),
        np.array([2**64 - 3, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array(["2026-01-01T00:00:00.000000001", "2026-01-01", "2026-01-02"], dtype="M8[ns]"),
        np.array([3, 1, 2], dtype="m8[s]"),
        np.array([[2**61, 5], [2**61 + 3, 4]]),
    ],
)
def test_differences_of_whole_numbers_and_times_are_exact(values):
    whole = values.astype(np.int64) if values.dtype.kind in "Mm" else values
    exact = [[int(cell) for cell in row] for row in whole.reshape(len(whole), -1)]
    lowest = [min(column) for column in zip(*exact, strict=True)]
    expected = [[float(cell - low) for cell, low in zip(row, lowest, strict=True)] for row in exact]
    assert as_floats(values).reshape(len(values), -1).tolist() == expected


def test_floats_and_flags_stay_as_they_are():
    values = np.array([0.1, -3.5])
    assert as_floats(values) is values
    assert as_floats(np.array([True, False])).tolist() == [1.0, 0.0]
    assert as_floats(np.array([1.5], dtype=np.float32)).dtype == np.float64


def test_numbers_that_floats_cannot_keep_apart_are_refused_for_a_device():
    far = np.array([0, 2**62, 2**62 + 1])
    with pytest.raises(InputError, match="x has numbers that 64-bit floats cannot keep apart"):
        as_floats_apart(Column("x", "number", far))
    near = np.array([2**62, 2**62 + 1, 2**62 + 7])
    assert as_floats_apart(Column("x", "number", near)).tolist() == [0.0, 1.0, 7.0]
    # Equal ones are the same in any case.
    assert as_floats_apart(Column("x", "number", np.array([0, 2**62, 2**62]))).tolist() == [0.0, 2.0**62, 2.0**62]


def test_gaps_and_known_values_are_those_of_the_mask():
    missing = np.array([False, True, False])
    column = Column("x", "number", np.array([1.0, 0.0, 3.0]), missing)
    assert column.gaps.tolist() == missing.tolist()
    assert column.known.tolist() == [1.0, 3.0]
    whole = Column("x", "number", np.array([1.0, 2.0]))
    assert not whole.gaps.any()
    assert whole.known is whole.values


@pytest.mark.parametrize("kind", ["number", "category", "vector"])
def test_a_column_is_of_one_kind(kind):
    column = Column("x", kind, np.zeros((2, 2)))
    assert [column.is_number, column.is_category, column.is_vector] == [
        kind == one for one in ("number", "category", "vector")
    ]


def test_durations_in_seconds_do_not_overflow():
    for unit, seconds in (("Y", 31_556_952.0), ("M", 2_629_746.0), ("D", 86_400.0), ("3h", 10_800.0), ("ms", 1e-3)):
        durations = np.array([2**62, -3, "NaT"], dtype=f"m8[{unit}]")
        np.testing.assert_allclose(as_seconds(durations), [2.0**62 * seconds, -3 * seconds, np.nan], rtol=1e-15)
