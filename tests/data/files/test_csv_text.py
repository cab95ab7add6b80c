import csv

import pytest

from renyi.data.files.csv_text import separator_of
from renyi.data.files.request import Request


def test_quotes_keep_separators_lines_and_lone_marks(read):
    assert read('a,b\n"x,\ny",1\n"say ""so""",2\n').frame["a"].to_list() == ["x,\ny", 'say "so"']
    assert read('a,b\n5" pipe,1\n6" pipe,2\n7,8\n').frame["a"].to_list() == ['5" pipe', '6" pipe', "7"]


def test_empty_lines_and_columns_are_said(read):
    source = read("a,b,c\n1,,2\n\n3,,4\n\n")
    assert source.frame.rows() == [(1, None, 2), (3, None, 4)]
    assert source.notes == ("2 rows without any value: left out",)


@pytest.mark.parametrize(
    ("text", "name", "separator"),
    [
        ("a,b;c\n1,2;3\n4,5;6\n", "t.csv", ","),
        ("a;b;c\n1,5;2;3\n1,5;2,5;6\n", "t.csv", ";"),
        ("a b\tc\n1,2\t3\n", "t.txt", "\t"),
        ("x|y\n1|2\n", "t.csv", "|"),
        ("last, first, middle;n\nx;1\ny;2\n", "t.csv", ";"),
        ("a\tb,c\n1\t2,3\n", "t.csv", ","),
        ("a\tb,c\n1\t2,3\n", "t.tsv", "\t"),
        ("one\n1\n", "t.csv", "\x1f"),
    ],
)
def test_the_separator_parts_all_lines_alike(text, name, separator):
    request = Request.of(name)
    assert separator_of(text.encode(), request) == separator
    # What is decided of a file in parts is said once, when it is read.
    assert request.notes.sentences() == ()
    assert separator_of(text.encode(), Request.of(name, ";")) == ";"


def test_rows_that_polars_takes_amiss_are_read_by_python(read):
    rows = read('a,b\n"x" y,1\nz,2\n').frame.rows()
    assert rows == [("x y", 1), ("z", 2)]


def test_cells_of_any_width_are_cells(read):
    before = csv.field_size_limit()
    rows = [f'{row},"{"x" * (140_000 if row == 1 else 2)}",{row}' for row in range(4)]
    frame = read("\n".join(["a,text,b", *rows])).frame
    assert frame.columns == ["a", "text", "b"]
    assert frame["text"].str.len_chars().to_list() == [2, 140_000, 2, 2]
    assert csv.field_size_limit() == before
