"""Numbers that may stand for "missing" are told, and never taken out."""

import numpy as np
import pytest

import renyi
from renyi.data.column import Column
from renyi.data.notes import Notes
from renyi.data.sentinels import Extremes, tell_sentinels


def told(values):
    notes = Notes()
    tell_sentinels(Column("x", "number", np.asarray(values)), notes)
    return notes.sentences()


@pytest.mark.parametrize("sentinel", [-99, -999, -9999.0, 99999, 999999])
def test_nines_far_from_all_others_are_told(rng, sentinel):
    said = told([*rng.random(50), *[sentinel] * 4])
    assert said == (
        f"column 'x' holds {sentinel:,.0f} far from all other values (4 times): read as a number, make it missing if "
        "it stands for that",
    )


@pytest.mark.parametrize(
    "values",
    [
        [*range(50), -999, -999],  # twice
        [*range(0, 6000, 50), *[9999] * 4],  # as far as others are from one another
        [*range(-2000, 50), *[-999] * 4],
        [*range(50), *[-1] * 4],
        [*range(50), *[-998] * 4],
        [-999] * 9,
        [*range(50)],
    ],
)
def test_other_numbers_are_not(values):
    assert told(values) == ()


def test_a_column_of_dates_has_none():
    dates = Column("d", "number", np.datetime64("2020-01-01") + np.arange(30))
    assert renyi.matrix({"d": dates, "y": np.arange(30.0) ** 2}).notes == ()


def test_two_of_them():
    assert len(told([*range(20), *[-99] * 4, *[-999] * 5])) == 2


def test_parts_of_the_rows_say_the_same_in_any_order(rng):
    values = np.concatenate((rng.random(300), np.full(9, -999.0), np.full(5, 99999.0)))
    rng.shuffle(values)
    parts = [Extremes() for _ in range(4)]
    for part, some in zip(parts, np.array_split(values, 4), strict=True):
        part.update(some)
    for part in parts[:0:-1]:
        parts[0].merge(part)
    notes = Notes()
    parts[0].tell("x", notes)
    assert notes.sentences() == told(values)
    assert len(notes.sentences()) == 2


def test_values_stay_and_a_type_that_is_asked_for_is_not_doubted(rng):
    x = np.where(rng.random(300) < 0.2, -999.0, rng.random(300))
    y = rng.random(300)
    found = renyi.matrix({"x": x, "y": y})
    assert found.values[0, 1] == pytest.approx(renyi.rdc(x, y))
    assert len(found.notes) == 1
    assert renyi.matrix({"x": x, "y": y}, types={"x": "number"}).notes == ()
