"""Names of columns, each once."""

import pandas as pd
import pyarrow as pa

from renyi.data.names import as_names, each_once, with_names_once
from renyi.data.notes import Notes


def test_names_are_text_and_numbered_where_they_come_again():
    notes = Notes()
    assert as_names([1, "1", None, " ", float("nan"), ("a", 2)], notes) == [
        "1",
        "1_2",
        "column 3",
        "column 4",
        "column 5",
        "('a', 2)",
    ]
    assert notes.sentences() == ("columns of the same name are numbered: the next '1' is '1_2'",)


def test_numbers_leave_other_names_alone():
    assert each_once(["a", "a_2", "a", "a"], Notes()) == ["a", "a_2", "a_3", "a_4"]
    assert each_once(["a", "b"], Notes()) == ["a", "b"]


def test_many_names_are_told_in_one_short_sentence():
    notes = Notes()
    names = each_once(["x" * 1000] * 500, notes)
    assert len(set(names)) == 500
    (said,) = notes.sentences()
    assert said.endswith("and 496 more")
    assert len(said) < 500


def test_frames_may_have_a_name_twice():
    for frame in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])):
        numbered = with_names_once(frame, Notes())
        assert list(getattr(numbered, "column_names", numbered.columns)) == ["a", "a_2"]
    plain = pd.DataFrame({"a": [1]})
    assert with_names_once(plain, Notes()) is plain
