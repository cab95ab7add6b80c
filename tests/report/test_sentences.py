"""Results in plain words."""

import numpy as np

import renyi
from renyi.report.sentences import drawn_from, missed, sentences
from sample_tables import mixed, parabola


def test_what_was_looked_at_is_counted_by_kind(rng):
    frame = mixed(100, rng)[["plain", "curve", "flag", "five", "twelve"]]
    first, *_ = sentences(renyi.matrix(frame), q=0.05)
    assert first == "5 columns (2 numbers, 2 categories, 1 yes-or-no column) were compared over 100 rows."
    both, *_ = sentences(renyi.matrix(frame[["plain", "five"]], frame[["flag"]]), q=0.05)
    assert both.startswith("2 columns with 1 others (")
    one, *_ = sentences(renyi.screen(frame, "plain", given=["curve"]), q=0.05)
    assert "of a table of 100 rows" in one
    assert one.endswith("were compared with plain, holding curve fixed.")


def test_findings_that_linear_coefficients_miss_are_counted(rng):
    found = renyi.matrix(parabola(rng))
    is_missed = missed(found, q=0.05)
    assert [found.edges.x[i].column.name for i in found.edges.found.i[is_missed]] == ["x", "line"][: is_missed.sum()]
    said = " ".join(sentences(found, q=0.05))
    assert f"{is_missed.sum()} of these would have been missed by linear coefficients" in said
    assert not missed(found, q=1e-300).any()
    x = rng.standard_normal(200)
    linear = sentences(renyi.matrix({"x": x, "y": x + rng.standard_normal(200)}), q=0.05)
    assert "1 dependence is found" in linear[1]
    assert linear[2].startswith("Where linear coefficients exist, they show at least half")


def test_nothing_found_and_nothing_tested_are_told_apart(rng):
    noise = {name: rng.random(80) for name in "ab"}
    assert "Of 1 pair tested, none shows a dependence at a false discovery rate of 1 %." in sentences(
        renyi.matrix(noise), q=0.01
    )
    by_mic = sentences(renyi.matrix(noise, measure="mic"), q=0.01)
    assert "1 pair is ranked by mic, which has no test." in by_mic
    assert not any("tested, none" in sentence for sentence in by_mic)


def test_the_strongest_are_named_once_for_columns_that_are_the_same(rng):
    x = rng.standard_normal(200)
    found = renyi.matrix({"x": x, "twice": 2 * x, "y": x + rng.standard_normal(200), "same": np.ones(200)})
    said = sentences(found, q=0.05)
    strongest = next(sentence for sentence in said if sentence.startswith("Strongest (strength): "))
    assert strongest.count("twice") == 1
    assert "Columns that are nearly the same are listed once. Pairs are ranked by a lower bound" in strongest
    assert said[-1] == "Left out: same: constant (always 1.0)."


def test_says_what_pictures_are_drawn_from(rng, monkeypatch):
    found = renyi.matrix({"x": rng.random(300), "y": rng.random(300)})
    assert drawn_from(found) == []
    monkeypatch.setattr("renyi.allpairs.column_group.SAMPLE", 100)
    found = renyi.matrix({"x": rng.random(300), "y": rng.random(300)})
    assert drawn_from(found) == [
        "Pictures are drawn from 100 rows, a random sample of all 300; numbers are from all rows."
    ]
