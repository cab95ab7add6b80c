"""Cells of text in batches: what they spell is decided in the end, also where they are too many to be kept."""

import numpy as np
import pytest

import renyi
from renyi.allpairs.streaming import text_counts
from renyi.allpairs.streaming.text_counts import TextCounts
from renyi.data.notes import Notes
from renyi.data.types import SkipError

pytestmark = pytest.mark.usefixtures("in_batches")


def counted(parts, *, wants_dates=False, merged=False):
    whole = TextCounts(4096, wants_dates)
    for part in parts:
        own = TextCounts(4096, wants_dates) if merged else whole
        levels, times = np.unique(np.array(part, dtype=object).astype(str), return_counts=True)
        own.update(levels.tolist(), times)
        if merged:
            whole.merge(own.copy())
    return whole


def days(start, n, form):
    return [day.strftime(form) for day in (np.datetime64(start) + np.arange(n)).tolist()]


PARTS = {
    "month/day/year": [days("2020-01-01", 12, "%m/%d/%Y"), days("2020-02-01", 200, "%m/%d/%Y")],
    "day/month/year": [days("2020-01-01", 12, "%d/%m/%Y"), days("2020-02-01", 200, "%d/%m/%Y")],
    "day.month.year": [["unknown", "?", *days("2020-01-01", 12, "%d.%m.%Y")], days("2020-02-01", 200, "%d.%m.%Y")],
    "": [[f"{k / 8}" for k in range(150)], [*(f"{k / 4}" for k in range(150)), "unknown", "unknown", "?"]],
}


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("way", PARTS)
def test_many_cells_spell_what_few_do(way, merged, monkeypatch):
    notes = Notes()
    spelling, sketch = counted(PARTS[way]).decided("x", notes)
    assert spelling.way == way
    monkeypatch.setattr(text_counts, "MOST_LEVELS", 20)
    for parts in (PARTS[way], PARTS[way][::-1]):
        found = counted(parts, merged=merged)
        assert found.rows == {}
        again = Notes()
        found_spelling, found_sketch = found.decided("x", again)
        assert found_spelling == spelling
        assert again.sentences() == notes.sentences()
        for one, other in zip(found_sketch.cells(None)[:2], sketch.cells(None)[:2], strict=True):
            np.testing.assert_array_equal(getattr(one, "counts", one), getattr(other, "counts", other))
    assert sum(found.words_beside(spelling).values()) == {"": 3, "day.month.year": 2}.get(way, 0)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([[f"row {k}" for k in range(60)]], "an identifier or free text"),
        ([days("2020-01-01", 60, "%m/%d/%Y"), days("2020-01-01", 60, "%d/%m/%Y")], "an identifier or free text"),
        ([[str(k) for k in range(60)]], "numbers as text, which types can say"),
        ([[str(2**60 + k) for k in range(60)]], "an identifier or free text"),
        ([days("2020-01-01", 12, "%d/%m/%y"), days("2020-02-01", 60, "%d/%m/%y")], "dates in an order that is open"),
    ],
)
def test_many_cells_that_spell_nothing_are_left_out(parts, reason, monkeypatch):
    monkeypatch.setattr(text_counts, "MOST_LEVELS", 20)
    with pytest.raises(SkipError, match=f"more than 20 distinct values: {reason}"):
        counted(parts).decided("x", Notes())


def test_dates_that_are_wanted(monkeypatch):
    parts = [days("2020-01-01", 200, "%d/%m/%y")]
    spelling, _ = counted(parts, wants_dates=True).decided("x", Notes())
    monkeypatch.setattr(text_counts, "MOST_LEVELS", 20)
    assert counted(parts, wants_dates=True).decided("x", Notes())[0] == spelling


def beside(*words):
    """Numbers as text beside words, and a number that goes with them."""
    cells = [str(k / 4) for k in range(300)]
    for k, word in enumerate(words):
        cells[20 * k + 7] = word
    return {"x": cells, "y": [float(k % 37) for k in range(300)], "z": [float(k % 41) for k in range(300)]}


def in_batches(table):
    return [{name: cells[start : start + 100] for name, cells in table.items()} for start in range(0, 300, 100)]


@pytest.mark.parametrize("most", [text_counts.MOST_LEVELS, 20])
@pytest.mark.parametrize("types", [None, {"x": "number"}])
@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "-Infinity", "1e999"])
def test_words_for_what_is_no_finite_number(word, types, most, monkeypatch):
    table = beside("unknown", word, word)
    expected = renyi.matrix(table, types=types)
    monkeypatch.setattr(text_counts, "MOST_LEVELS", most)
    found = renyi.matrix(in_batches(table), types=types)
    reasons = {name: reason.replace(" (first in row 27)", "") for name, reason in expected.skipped.items()}
    assert dict(found.skipped) == reasons
    assert found.types == expected.types
    if "nan" in word:
        assert found.types["x"] == "number"
        np.testing.assert_allclose(found.values, expected.values, atol=1e-6)
    else:
        assert reasons == {"x": "has 2 infinite values: replace by numbers or by NaN"}


@pytest.mark.parametrize("merged", [False, True])
def test_numbers_for_missing_are_told_of_text_too(merged, monkeypatch):
    table = beside("unknown", *["-999"] * 7)
    told = "-999 far from all other values (7 times)"
    assert any(told in note for note in renyi.matrix(table).notes)
    assert any(told in note for note in renyi.matrix(in_batches(table)).notes)
    parts = [batch["x"] for batch in in_batches(table)]
    for most in (1000, 20):
        monkeypatch.setattr(text_counts, "MOST_LEVELS", most)
        found = counted(parts, merged=merged)
        for _ in range(2):
            notes = Notes()
            found.decided("x", notes)
            assert told in " ".join(notes.sentences())


@pytest.mark.parametrize("merged", [False, True])
def test_long_cells_have_room_in_a_budget(merged):
    parts = [[f"{row} {'word ' * 20}" for row in range(start, start + 30)] for start in (0, 30, 0)]
    n_characters = sum(map(len, {cell for part in parts for cell in part}))

    def read(room):
        whole = TextCounts(4096, wants_dates=False, room=room)
        for part in parts:
            own = TextCounts(4096, wants_dates=False, room=room) if merged else whole
            own.update(part, np.ones(len(part), dtype=np.intp))
            if merged:
                whole.merge(own)
        return whole.rows

    assert sum(read(n_characters).values()) == 90
    with pytest.raises(SkipError, match=r"distinct values of more than 6,169 characters: .* or pass more memory"):
        read(n_characters - 1)
