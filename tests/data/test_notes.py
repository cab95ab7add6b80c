"""Sentences about reading."""

from renyi.data.notes import Notes
from renyi.errors import cut, some


def test_sentences_are_short_whatever_names_are():
    assert cut("a") == "'a'"
    assert len(cut("x" * 1000)) == 42
    assert some(["a", "b"]) == "'a', 'b'"
    assert some(list("abcde"), " or ") == "'a' or 'b' or 'c' and 2 more"
    notes = Notes(["first"])
    for k in range(1000):
        notes.hold(f"{'x' * 1000}{k}", "blanks", "read as missing", 2)
    said = notes.sentences()
    assert said[0] == "first"
    assert "and 997 more) hold blanks (2,000 times)" in said[1]
    assert len(said[1]) < 300
