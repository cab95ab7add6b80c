"""What becomes of the cells of text files: numbers, dates, labels, and what is said of them."""

import datetime
from decimal import Decimal

import polars as pl
import pytest

from renyi.data.files.text_types import drop_values, type_columns
from renyi.data.notes import Notes


@pytest.mark.parametrize(
    ("cells", "values", "said"),
    [
        (["1", "?", "3"], [1, None, 3], "column 'x' holds numbers and '?' (1 time): read as numbers, '?' as missing"),
        (["1.5", "NA", "n/a", "-", "2"], [1.5, None, None, None, 2.0], "numbers and '-' or 'NA' or 'n/a' (3 times)"),
        (["1.5", " ", "2 "], [1.5, None, 2.0], "numbers and blank cells (1 time)"),
        (["nan", "1"], [None, 1], "'nan' as missing"),
        (["1,5", "2", "3,25"], [1.5, 2.0, 3.25], "decimal commas: read as numbers, for example '1,5' as 1.5"),
        (["0,123", "0,5"], [0.123, 0.5], "decimal commas"),
        (["1,234", "999"], [1234, 999], "commas between thousands: read as numbers, for example '1,234' as 1234"),
        (["1,234.5", "2,000"], [1234.5, 2000.0], "commas between thousands"),
        (["1.234,5", "-2.000"], [1234.5, -2000.0], "dots between thousands"),
        (["5%", "7.5 %"], [5.0, 7.5], "numbers with '%'"),
        (["$5", "-$1,200.50"], [5.0, -1200.5], "numbers with '$'"),
        (["inf", "1", "-Infinity", "1e999"], [None, 1, None, None], "column 'x' holds infinite values (3 times)"),
        (["36893488147419103232", "2"], [2.0**65, 2.0], ""),
        (["36893488147419103233", "2"], [2**65 + 1, 2], "numbers with more digits than floats have: read with all"),
        (["9007199254740993", "0.5"], [Decimal("9007199254740993"), Decimal("0.5")], "read with all of them"),
        (["9007199254740993.00", "0.5"], [Decimal("9007199254740993"), Decimal("0.5")], "read with all of them"),
        (["12345678901234567000", "0.5", "9007199254740994.0"], [12345678901234567e3, 0.5, 2.0**53 + 2], ""),
        (["01", "2"], [1, 2], ""),
        (["5.", ".5", "+1e3"], [5.0, 0.5, 1000.0], ""),
        (["9007199254740993", "-9007199254740993"], [9007199254740993, -9007199254740993], ""),
        (["18446744073709551615", "2"], [18446744073709551615, 2], ""),
    ],
)
def test_cells_that_are_numbers(column, cells, values, said):
    x, notes = column(*cells)
    assert x.to_list() == values
    assert x.dtype.is_numeric()
    assert said in notes
    assert bool(said) == bool(notes)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["00501", "10001"], "leading zeros: kept as text"),
        (["$5", "€6"], ""),
        (["5%", "6"], ""),
        (["1,23,456", "2"], ""),
        (["12 apples", "3"], ""),
        (["(5)", "6"], ""),
        (["2020-01-01", "2020-02-30"], ""),
        (["31/12/2020", "01/01/2021"], ""),
        (["true", "1"], ""),
        (["None", "brick"], ""),
        # What text is beyond that is decided of all tables, not of files alone.
        (["?", "brick"], ""),
        ([*map(str, range(30)), "unknown"], ""),
    ],
)
def test_cells_that_stay_text(column, cells, said):
    x, notes = column(*cells)
    assert x.dtype == pl.String
    assert x.to_list() == cells
    assert said in notes
    assert bool(said) == bool(notes)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["true", "FALSE", "True"], [True, False, True]),
        (["2020-01-31", "NA"], [datetime.date(2020, 1, 31), None]),
        (
            ["2020-01-31T10:00", "2020-01-31 10:00:00.5"],
            [datetime.datetime(2020, 1, 31, 10), datetime.datetime(2020, 1, 31, 10, 0, 0, 500000)],
        ),
        (
            ["2020-01-31 10:00:00Z", "2020-01-31T12:00+02:30"],
            [datetime.datetime(2020, 1, 31, h, m, tzinfo=datetime.UTC) for h, m in ((10, 0), (9, 30))],
        ),
        (["12:30:00", "1:05"], [datetime.time(12, 30), datetime.time(1, 5)]),
    ],
)
def test_booleans_dates_and_times(column, cells, values):
    assert column(*cells)[0].to_list() == values


def test_missing_text_is_said_once_for_all_columns(read):
    source = read("a,b,c\nx,NA,1\nNA,y,2\ny,NA,3\n")
    assert source.frame.rows() == [("x", None, 1), (None, "y", 2), ("y", None, 3)]
    assert source.notes == ("2 columns ('a', 'b') hold 'NA' among text (3 times): read as missing",)


def test_types_come_from_the_last_row_too(read):
    rows = "\n".join(f"{i},{i}" for i in range(20_000))
    assert read(f"a,b\n{rows}\n0.5,late\n").frame.dtypes == [pl.Float64, pl.String]


def test_a_decimal_comma_makes_the_dots_of_its_file_thousands(read):
    source = read("a;b;c\n1,5;1.234;1.5\n2,25;999;2\n")
    assert source.frame.rows() == [(1.5, 1234, 1.5), (2.25, 999, 2.0)]
    assert any("'1.234' as 1234" in note for note in source.notes)
    assert read("a;b\n1.5;1.234\n2.25;999\n").frame["b"].to_list() == [1.234, 999.0]


def test_columns_with_the_same_fate_share_a_sentence():
    notes, more = Notes(), Notes()
    for name, times in (("a", 2), ("b", 1)):
        notes.hold(name, "blanks", "read as missing", times)
    for name, times in (("b", 4), ("c", 1), ("d", 1)):
        more.hold(name, "blanks", "read as missing", times)
    for own in (notes, more):
        own.say("not UTF-8")
    # Rows that come in batches are told as if they had come at once.
    notes.absorb(more)
    assert notes.sentences() == (
        "not UTF-8",
        "4 columns ('a', 'b', 'c' and 1 more) hold blanks (9 times): read as missing",
    )
    assert more.sentences()[1] == "3 columns ('b', 'c', 'd') hold blanks (6 times): read as missing"


def test_values_that_are_called_missing_are_so_in_every_spelling():
    frame = pl.DataFrame({"0": [" x", "y"], "1": [-9, 4], "2": [-9.0, 0.5], "3": [True, False]})
    assert drop_values(pl, frame, ("x", "-9.0")).rows() == [(None, None, None, True), ("y", 4, 0.5, False)]
    assert drop_values(pl, frame, ()) is frame


def test_columns_that_are_to_be_text_stay_so():
    frame = pl.DataFrame({"0": ["1", "NA", " 3 "], "1": ["1", "2", "3"]})
    notes = Notes()
    typed = type_columns(pl, frame, ["code", "n"], notes, decimal_comma=False, as_text=frozenset({"0"}))
    assert typed.rows() == [("1", 1), (None, 2), ("3", 3)]
    assert notes.sentences() == ("column 'code' holds 'NA' among text (1 time): read as missing",)


@pytest.mark.parametrize(
    ("beside", "values"),
    [
        (["0.25", "3"], [7655, 1234]),
        (["1,234,567", "3"], [7655, 1234]),
        (["1,234.50", "3"], [7655, 1234]),
        # A comma that is decimal for certain, and points that may part thousands.
        (["0,25", "3"], [7.655, 1.234]),
        (["1.234", "3"], [7.655, 1.234]),
        (["0.25", "0,25"], [7.655, 1.234]),
        (["17", "3"], [7.655, 1.234]),
    ],
)
@pytest.mark.parametrize("separator", ["tab", "semicolon", "pipe"])
def test_what_a_comma_is_follows_from_the_whole_file(read, beside, values, separator):
    mark = {"tab": "\t", "semicolon": ";", "pipe": "|"}[separator]
    rows = [["n", "other"], ["7,655", beside[0]], ["1,234", beside[1]]]
    source = read("\n".join(mark.join(row) for row in rows))
    assert source.frame["n"].to_list() == values
    assert any("'n'" in note and "'7,655'" in note for note in source.notes)


@pytest.mark.parametrize(("decimal_comma", "values"), [(True, [1.234, 5.678]), (False, [1234, 5678])])
def test_what_a_comma_is_where_no_cell_tells_is_for_the_caller_to_say(decimal_comma, values):
    frame = pl.DataFrame({"0": ["1,234", "5,678"]})
    assert type_columns(pl, frame, ["x"], Notes(), decimal_comma=decimal_comma)["0"].to_list() == values


def test_numbers_of_too_many_digits_are_kept_as_text(column):
    x, notes = column(f"{10**40 + 1}", "2")
    assert x.to_list() == [f"{10**40 + 1}", "2"]
    assert "numbers with more digits than floats have: kept as text" in notes
    assert column("9007199254740993", "1e-3")[0].to_list() == ["9007199254740993", "1e-3"]
