"""What text spells: dates, numbers beside a few words, or labels."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from renyi.data.notes import Notes
from renyi.data.spelled import NUMBERS, Spelling, may_spell, spelling_of
from renyi.data.table import as_table


def decided(cells):
    levels, rows = np.unique(np.array(cells, dtype=object).astype(str), return_counts=True)
    notes = Notes()
    return spelling_of("x", levels.tolist(), rows, notes), " ".join(notes.sentences())


NUMBER_CELLS = [f"{k / 4}" for k in range(200)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["unknown"] * 10, "numbers and 'unknown' (10 times): read as numbers, 'unknown' as missing"),
        (["12 kg", "(1,234)", "<5", "12kg"], "numbers and '(1,234)' or '12 kg' or '12kg' and 1 more (4 times)"),
        (["?"] * 60, "numbers and '?' (60 times): read as numbers, '?' as missing"),
        (["unknown", " ", ""], "numbers and blank cells (2 times)"),
        (["x" * 500], f"numbers and '{'x' * 39}…' (1 time)"),
    ],
)
def test_a_few_words_among_numbers_are_missing(words, said):
    spelling, notes = decided(NUMBER_CELLS + words)
    assert spelling == NUMBERS
    assert said in notes


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (NUMBER_CELLS + ["unknown"] * 11, "numbers and text such as 'unknown': kept as text, types can say 'number'"),
        (NUMBER_CELLS + ["unknown"] * 60, ""),
        (NUMBER_CELLS * 3 + [f"word {k}" for k in range(21)], "kept as text"),
        # Levels of one category, codes, and codes with letters.
        (["0", "1", "2", "3"] * 50 + ["more"], "kept as text"),
        ([f"{k:02}" for k in range(40)] * 5 + ["unknown"], ""),
        ([str(k) for k in range(1, 96)] * 5 + ["2A", "2B"], "kept as text"),
        # Somebody made text of them.
        (NUMBER_CELLS, ""),
        (["a", "b", "?"] * 20, "'?' among text (20 times): kept as a level"),
        (["a"] * 20, ""),
    ],
)
def test_text_that_stays_text(cells, said):
    spelling, notes = decided(cells)
    assert spelling is None
    assert said in notes
    assert bool(said) == bool(notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["unknown"] * 3, "dates and 'unknown' (3 times): read as dates, 'unknown' as missing"),
        (["?"] * 40 + ["-"], "dates and '?' or '-' (41 times)"),
    ],
)
def test_words_among_dates_are_missing(words, said):
    days = [f"{k % 28 + 1}/{k % 12 + 1}/2021" for k in range(100)]
    spelling, notes = decided(days + words)
    assert spelling == Spelling("date", "day/month/year")
    assert said in notes
    assert decided([*days, *["unknown"] * 20]) == (None, "")
    # Dates in another order are no words.
    assert decided([*days, "1/25/2021"]) == (None, "")


def test_words_cost_as_many_rows_and_no_more(rng):
    x = rng.standard_normal(600).round(2)
    y = x**2 + 0.2 * rng.standard_normal(600)
    spoilt = [str(value) for value in x]
    for k in range(0, 600, 30):
        spoilt[k] = "unknown"
    found = renyi.matrix({"x": spoilt, "y": y})
    kept = np.arange(600) % 30 > 0
    assert found.types == {"x": "number", "y": "number"}
    assert found.n_samples[0, 1] == 580
    assert found.values[0, 1] == pytest.approx(renyi.matrix({"x": np.where(kept, x, np.nan), "y": y}).values[0, 1])


@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, pl.Series, lambda cells: np.array(cells, object)],
    ids=["list", "array", "pandas", "polars", "objects"],
)
def test_containers_of_text_are_read_alike(make, rng):
    days = np.datetime64("2020-01-01") + rng.permutation(300)
    cells = [day.strftime("%m/%d/%Y") for day in days.tolist()]
    table = as_table({"d": make(cells), "y": rng.random(300)})
    assert table.types["d"] == "date"
    assert table.columns[0].values.astype("M8[D]").tolist() == days.tolist()
    assert table.notes.sentences() == ("column 'd' holds dates such as '01/01/2020': read as month/day/year",)


def test_iso_dates_as_text_need_no_words():
    table = as_table({"d": [f"2021-03-{day:02}" for day in range(1, 29)], "t": [f"{k % 24}:30" for k in range(28)]})
    assert table.types == {"d": "date", "t": "time"}
    assert table.notes.sentences() == ()


def test_numbers_and_text_among_objects():
    cells = [*range(100), "n/a", "about 7", "3.5"]
    table = as_table({"x": cells, "y": np.arange(103.0)})
    assert table.types["x"] == "number"
    assert table.columns[0].missing.nonzero()[0].tolist() == [100, 101]
    assert table.columns[0].values[102] == 3.5


def test_a_category_is_asked_for_and_stays_one():
    days = [f"{k % 5 + 1}/25/2021" for k in range(60)]
    words = [*map(str, range(60)), "unknown"] * 2
    table = as_table({"d": days * 2 + days[:2], "w": words}, types={"d": "category", "w": "category"})
    assert table.types["d"] == "category"
    assert table.notes.sentences() == ()
    assert as_table({"d": pd.Series(days, dtype="category")}).types == {"d": "category"}


@pytest.mark.parametrize("cells", [[20210325, 20210401, 20210402] * 9, [20210325.0, None, 20210402.0] * 9])
def test_whole_numbers_are_dates_where_these_are_wanted(cells):
    table = as_table({"d": pd.Series(cells)}, types={"d": "date"})
    assert table.types == {"d": "date"}
    assert table.columns[0].values[0].item().date() == datetime.date(2021, 3, 25)
    assert as_table({"d": pd.Series(cells)}).types == {"d": "number"}


@pytest.mark.parametrize("kind", ["M", "D", "Q"])
def test_periods_are_dates(kind):
    periods = pd.period_range("2020-01", periods=20, freq=kind)
    gap = pd.Series(periods).where(np.arange(20) != 3)
    for held in (periods, pd.Series(periods), list(periods), pd.DataFrame({"p": periods})["p"]):
        table = as_table({"p": held})
        assert table.types == {"p": "date"}
        assert table.columns[0].values.astype("M8[D]").tolist() == [period.start_time.date() for period in periods]
        assert renyi.rdc(held, np.arange(20.0)) == pytest.approx(1.0)
    assert as_table({"p": gap}).columns[0].missing.nonzero()[0].tolist() == [3]


def test_a_few_cells_show_that_a_column_is_free_text():
    assert not may_spell(["a letter", "to", "somebody", "12"] * 300)
    assert may_spell(["12", "n/a", "3.5"] * 400)
    assert may_spell(["25 Mar 2021", "1 Apr 2021"] * 600)


@pytest.mark.parametrize("kind", ["number", "date"])
def test_words_are_weighed_by_their_rows_and_not_by_how_different_they_are(kind):
    known = [f"{k}.5" if kind == "number" else f"2021-03-{k + 10}" for k in range(12)]
    cells = [known[k % 12] for k in range(982)] + [f"word {chr(97 + k)}" for k in range(18)]
    spelling, notes = decided(cells)
    assert spelling.kind == kind
    assert "and 15 more (18 times)" in notes
    # Too many rows of words.
    assert decided(cells + ["other"] * 40)[0] is None


def test_long_numbers_beside_words_keep_their_digits():
    values, is_read, is_rounded = NUMBERS.values([str(2**62 + 1), "x", str(2**62 + 3)])
    assert values[is_read].tolist() == [2**62 + 1, 2**62 + 3]
    assert not is_rounded
    assert Spelling("date", "day.month.year").values(["25.03.2021", "x"])[1].tolist() == [True, False]
