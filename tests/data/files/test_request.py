import pytest

from renyi.data.files.request import Request, looks_like_a_row
from renyi.errors import InputError


def test_names_are_stripped_and_given_where_there_are_none(read):
    source = read(" a ,,^b$\n1,2,3\n")
    assert source.frame.columns == ["a", "column 2", "^b$"]
    assert source.notes == ("1 column without a name: called 'column 2'",)
    assert "read as names" in read("1.5,2\n3,4\n").notes[0]


@pytest.mark.parametrize("separator", ["tab", "\\t", "\t"])
def test_a_separator_can_be_named(read, separator):
    assert read("a,b\tc\n1\t2\n", separator=separator).frame.columns == ["a,b", "c"]


@pytest.mark.slow
def test_a_million_columns_are_refused(refusal):
    header = ",".join(f"c{i}" for i in range(1_000_000))
    assert "has 1,000,000 columns" in refusal(f"{header}\n1\n")


def test_a_request_has_the_name_that_messages_need():
    assert Request.of(None).name == "standard input"
    assert Request.of("a/B.CSV.GZ").suffixes == (".csv", ".gz")
    assert str(Request.of("a.csv").refuse("is odd: mend it")) == "a.csv is odd: mend it"


@pytest.mark.parametrize("separator", ["", "ab", "\n", '"', "é", "\0"])
def test_what_cannot_part_cells_is_refused(separator):
    with pytest.raises(InputError, match="cannot separate cells: pass one ASCII character"):
        Request.of("a.csv", separator)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("1 2 3", True),
        ("5.1 3.5 setosa", True),
        ("39 State-gov 77516 Bachelors 13", True),
        ("2021-03-12 a b", True),
        ("-3 a", True),
        ("a b", False),
        ("country 1990 1991 1992", False),
        ("country 1990 1995 2000", False),
        ("name 1", False),
        ("country 2019 2020 2022", False),
        ("country 2022 2019 2020", True),
        ("country 1/22/20 1/23/20", False),
        ("country 1/22/20 1/23/20 2/1/20", False),
        ("ann 1/23/20 1/22/20", True),
        ("ann 1/22/20 2020-03-01", True),
        ("id 2021-03-12 5", True),
        ("a nan", False),
        ("a b infinity 1 2", False),
        ("nan infinity", True),
    ],
)
def test_a_row_in_place_of_names_is_noticed(names, expected):
    assert looks_like_a_row(names.split()) is expected


def test_a_first_line_that_is_a_row(read):
    table = read("5.1,3.5,setosa\n4.9,3.0,setosa\n", has_names=False)
    assert table.frame.columns == ["column 1", "column 2", "column 3"]
    assert table.frame["column 1"].to_list() == [5.1, 4.9]
    assert table.notes == ()


def test_names_that_come_again_are_numbered(read):
    table = read("a,b,a ,a_2,a\n1,2,3,4,5\n")
    assert table.frame.columns == ["a", "b", "a_3", "a_2", "a_4"]
    assert table.notes == ("columns of the same name are numbered: the next 'a' is 'a_3', the next 'a' is 'a_4'",)
