"""Results as records for other programs."""

import json
import math

import numpy as np
import polars as pl
import pytest

import renyi
from renyi.report.records import csv_of, json_of, record_of
from sample_tables import parabola


def test_pairs_are_the_findings_at_the_rate_strongest_first(rng):
    found = renyi.matrix(parabola(rng))
    record = record_of(found, q=0.05)
    edges = found.to_long()
    expected = edges[edges["q"] <= 0.05]
    assert 0 < len(expected) < len(edges)
    assert [(pair["x"], pair["y"]) for pair in record["pairs"]] == list(zip(expected["x"], expected["y"], strict=True))
    for name in ("coefficient", "debiased", "strength", "pearson", "spearman", "p", "q", "n", "nonlinear"):
        assert [pair[name] for pair in record["pairs"]] == expected[name].tolist()
    assert [10 ** pair["log10_p"] for pair in record["pairs"]] == pytest.approx(expected["p"].tolist())
    assert record["found"] == len(expected)
    assert record_of(found, q=0.05, top=1)["pairs"] == record["pairs"][:1]


def test_a_screening_names_its_target_and_what_is_given(rng):
    record = record_of(renyi.screen(parabola(rng), "x", given=["noise"]), q=1.0)
    assert (record["target"], record["given"]) == ("x", ["noise"])
    assert {pair["y"] for pair in record["pairs"]} == {"x"}
    assert record_of(renyi.matrix(parabola(rng)), q=1.0)["target"] is None


def test_a_measure_without_a_null_distribution_has_no_rate_and_all_pairs(rng):
    record = record_of(renyi.matrix(parabola(rng, n=60), measure="mic"), q=0.05)
    assert record["fdr"] is None
    assert record["tests"] == 0
    assert len(record["pairs"]) == 6
    assert {pair["nonlinear"] for pair in record["pairs"]} == {None}


def test_what_is_no_number_is_null_at_any_depth():
    record = {"a": math.nan, "b": [1.5, math.inf, {"c": -math.inf}], "d": "NaN", "e": 0}
    assert json.loads(json_of(record)) == {"a": None, "b": [1.5, None, {"c": None}], "d": "NaN", "e": 0}


def test_what_is_not_known_is_an_empty_cell():
    frame = pl.DataFrame({"x": ["a", "b,c"], "p": [np.nan, 0.5], "q": [None, 1.0]})
    assert csv_of(frame) == 'x,p,q\na,,\n"b,c",0.5,1.0\n'


def test_what_a_spreadsheet_would_run_is_text_in_a_csv():
    frame = pl.DataFrame({"x": ["=cmd|' /C calc'!A0", "-1.5", "a=b", "+x", "@y"], "p": [-0.5] * 5})
    cells = [line.rsplit(",", 1)[0] for line in csv_of(frame).splitlines()]
    assert cells == ["x", "'=cmd|' /C calc'!A0", "-1.5", "a=b", "'+x", "'@y"]
