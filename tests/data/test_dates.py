"""Dates as people write them: read by one way, which all cells of a column fit."""

import datetime

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.data.dates import CLOCK, chosen, dates, fitting

DAY = datetime.date(2021, 3, 25)


@pytest.mark.parametrize(
    ("cell", "way"),
    [
        ("2021-03-25", "year-month-day"),
        ("2021-3-25", "year-month-day"),
        ("2021/03/25", "year/month/day"),
        ("03/25/2021", "month/day/year"),
        ("3/25/2021", "month/day/year"),
        ("25/03/2021", "day/month/year"),
        ("25.03.2021", "day.month.year"),
        ("25-03-2021", "day-month-year"),
        ("03/25/21", "month/day/yy"),
        ("25.03.21", "day.month.yy"),
        ("25 Mar 2021", "day month-name year"),
        ("25-MAR-21", "day month-name year"),
        ("25Mar2021", "day month-name year"),
        ("Mar 25, 2021", "month-name day year"),
        ("March 25 2021", "month-name day year"),
        ("Thu, 25 Mar 2021", "day month-name year"),
    ],
)
def test_one_day_in_many_ways(cell, way):
    assert way in fitting([cell])
    values, is_read = dates([cell, "no date"], way)
    assert is_read.tolist() == [True, False]
    assert values[0].item().date() == DAY


@pytest.mark.parametrize(
    ("cell", "time"),
    [
        ("3/25/2021 5:06", "05:06:00"),
        ("3/25/2021 17:06:07", "17:06:07"),
        ("3/25/2021 5:06 PM", "17:06:00"),
        ("3/25/2021 12:06:07.5 am", "00:06:07.500000"),
        ("3/25/2021 12:06 p.m.", "12:06:00"),
        ("3/25/2021", "00:00:00"),
    ],
)
def test_times_beside_dates(cell, time):
    values, is_read = dates([cell], "month/day/year")
    assert is_read.all()
    assert values[0].item() == datetime.datetime.combine(DAY, datetime.time.fromisoformat(time))


def test_zones_are_taken_off():
    values, _ = dates(["2021-03-25T05:06Z", "2021-03-25 05:06:00+0230"], "year-month-day with zones")
    assert [value.item().time().isoformat() for value in values] == ["05:06:00", "02:36:00"]
    assert fitting(["2021-03-25T05:06Z", "2021-03-25 05:06"]) == ()


@pytest.mark.parametrize(
    "cells",
    [
        ["30/02/2021"],
        ["13/13/2021"],
        ["25/03/2021", "03/25/2021"],
        ["3/25/2021 24:10"],
        ["3/25/2021 13:10 PM"],
        ["25/03.2021"],
        ["1.2.10"],
        ["3-1-20"],
        ["12.5"],
        ["25/03/4821"],
        ["01-01-1000"],
        ["20210325"],
        ["2001-02", "2002-03", "2099-00"],
        ["may"],
        ["03/2021x"],
        [""],
    ],
)
def test_what_is_no_date(cells):
    assert fitting(cells) == ()


def test_eight_digits_are_a_date_where_one_is_wanted():
    assert fitting(["20210325"], compact=True) == ("yyyymmdd",)
    assert fitting(["2021-03", "2021-12"]) == ("year-month",)


def test_times_of_the_day_are_nanoseconds():
    values, _ = dates(["1:02", "13:00:00.25"], CLOCK)
    assert values.tolist() == [3720 * 10**9, 46_800_250_000_000]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["03/04/2021", "03/25/2021"], ("month/day/year", False)),
        (["03/04/2021", "25/03/2021"], ("day/month/year", False)),
        (["03/04/2021", "05/06/2021"], ("month/day/year", True)),
        (["03-04-2021", "05-06-2021"], ("month-day-year", True)),
        (["03.04.2021", "05.06.2021"], ("day.month.year", True)),
        (["01/04/2021", "01/06/2021"], ("day/month/year", True)),
        (["04/01/2021", "06/01/2021"], ("month/day/year", True)),
        (["03/25/21", "03/04/21"], ("month/day/yy", False)),
        # A day or a year comes first.
        (["25/03/21", "04/03/21"], ("", False)),
        (["03/04/21"], ("", False)),
        (["03/04/98", "05/06/21"], ("month/day/yy", True)),
        (["25/04/98", "05/06/21"], ("day/month/yy", False)),
        (["98/04/25", "21/06/05"], ("yy/month/day", False)),
        (["03.04.21", "05.06.21"], ("day.month.yy", True)),
    ],
)
def test_the_order_of_day_and_month_follows_from_all_cells(cells, expected):
    assert chosen(cells, fitting(cells)) == expected
    # The order of rows, of which batches know nothing, does not.
    assert chosen(cells[::-1], fitting(cells[::-1])) == expected


def test_dates_that_are_wanted_have_their_year_last():
    cells = ["25/03/21", "04/03/21"]
    assert chosen(cells, fitting(cells), wanted=True) == ("day/month/yy", False)


def test_two_digits_of_a_year_are_of_the_century_that_posix_says():
    values, _ = dates(["01.02.68", "01.02.69"], "day.month.yy")
    assert values.astype("M8[Y]").astype(str).tolist() == ["2068", "1969"]


def test_many_cells_are_read_at_once(rng):
    days = np.datetime64("1970-01-01") + rng.integers(-40_000, 40_000, 2000)
    cells = [day.strftime("%d/%m/%Y") for day in days.tolist()]
    values, is_read = dates(cells, "day/month/year")
    assert is_read.all()
    np.testing.assert_array_equal(values, days.astype("M8[us]"))


@pytest.mark.parametrize(
    ("cell", "way", "meaning"),
    [
        ("9999-12-31", "year-month-day", "9999-12-31"),
        ("0001-01-01", "year-month-day", "0001-01-01"),
        ("0069-02-03 04:05", "year-month-day", "0069-02-03T04:05"),
        ("2024-02-29T01:02:03.123456789", "year-month-day", "2024-02-29T01:02:03.123456"),
        ("2024-02-29 01:02:03.123456789+00", "year-month-day with zones", "2024-02-29T01:02:03.123456"),
        ("2024-02-29 01:02-05", "year-month-day with zones", "2024-02-29T06:02"),
        ("1250-06-01T00:00:00Z", "year-month-day with zones", "1250-06-01"),
    ],
)
def test_iso_text_of_all_years_fractions_and_zones(cell, way, meaning):
    assert fitting([cell]) == (way,)
    values, is_read = dates([cell], way)
    assert is_read.all()
    assert values[0] == np.datetime64(meaning)


def test_codes_are_no_dates_of_other_years():
    assert fitting(["0000-01-01"]) == ()
    assert fitting(["1234-5-6"]) == ()
    assert fitting(["9999/12/31"]) == ()


def test_times_of_the_day_keep_nanoseconds():
    assert dates(["00:00:01.123456789"], CLOCK)[0].tolist() == [1_123_456_789]


@pytest.mark.parametrize("cells", [["9999-12-31"], ["0999-01-01"], ["2001-01-01 00:00:00.123456789"]])
@pytest.mark.parametrize("types", [None, {"d": "date"}])
def test_frames_read_iso_text_as_files_do(cells, types, tmp_path):
    usual = (np.datetime64("2001-01-01") + 31 * np.arange(100)).astype(str).tolist()
    table = pd.DataFrame({"d": cells * 10 + usual, "x": np.arange(110) % 17})
    table.to_csv(tmp_path / "table.csv", index=False)
    found, expected = renyi.matrix(table, types=types), renyi.matrix(tmp_path / "table.csv", types=types)
    assert found.types == expected.types == {"d": "date", "x": "number"}
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
