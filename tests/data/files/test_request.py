import pytest


def test_names_are_stripped_and_given_where_there_are_none(read):
    source = read(" a ,,^b$\n1,2,3\n")
    assert source.frame.columns == ["a", "column 2", "^b$"]
    assert source.notes == ("1 column without a name: called 'column 2'",)
    assert "read as names" in read("1.5,2\n3,4\n").notes[0]


@pytest.mark.parametrize("separator", ["tab", "\\t", "\t"])
def test_a_separator_can_be_named(read, separator):
    assert read("a,b\tc\n1\t2\n", separator=separator).frame.columns == ["a,b", "c"]


def test_a_million_columns_are_refused(refusal):
    header = ",".join(f"c{i}" for i in range(1_000_000))
    assert "has 1,000,000 columns" in refusal(f"{header}\n1\n")
