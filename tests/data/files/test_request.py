import pytest

from renyi.data.files.request import Request, all_numbers, some_names
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
    assert Request.of("-").name == "standard input"
    assert Request.of("a/B.CSV.GZ").suffixes == (".csv", ".gz")
    assert Request.of("a.csv").is_text
    assert not Request.of("a.PARQUET").is_text
    assert str(Request.of("a.csv").refuse("is odd: mend it")) == "a.csv is odd: mend it"


@pytest.mark.parametrize("separator", ["", "ab", "\n", '"', "é", "\0"])
def test_what_cannot_part_cells_is_refused(separator):
    with pytest.raises(InputError, match="cannot part cells: pass one ASCII character"):
        Request.of("a.csv", separator)


def test_a_few_names_stand_for_many():
    assert some_names(["a", "b"]) == "'a', 'b'"
    assert some_names(list("abcde")) == "'a', 'b', 'c' and 2 more"
    assert all_numbers(["1", "-2.5", "1e3"])
    assert not all_numbers(["1", "b"])
