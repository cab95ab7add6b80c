"""Reports as plain data."""

import datetime
import json
import re
from pathlib import Path

import numpy as np
import pytest

import renyi
from renyi.errors import InputError
from renyi.report.document import SCHEMA, ReportOptions, document_of
from renyi.report.html.page import page_of
from renyi.tables.api import matrix, screen
from sample_tables import VECTORS


def column_named(document, name):
    return next(k for k, column in enumerate(document["columns"]) if column["name"] == name)


def pair_named(document, a, b):
    ends = {column_named(document, a), column_named(document, b)}
    pairs = document["pairs"]
    return next(k for k in range(len(pairs["x"])) if {pairs["x"][k], pairs["y"][k]} == ends)


def detail_of(document, a, b):
    place = pair_named(document, a, b)
    return next(detail for detail in document["details"] if detail["pair"] == place)


class TestDocument:
    def test_is_plain_and_strict(self, document):
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["schema"] == SCHEMA

    def test_has_the_fields_that_the_documentation_names(self, document):
        text = (Path(__file__).parents[2] / "docs/reference/report-schema.md").read_text(encoding="utf-8")
        named = set(re.findall(r"^\| `(\w+)`", text, flags=re.MULTILINE))
        said = {*document, *document["columns"][0], *document["pairs"], *document["details"][0]}
        said |= {*document["heatmap"], *document["network"], "column"}
        assert said <= named

    def test_has_the_numbers_of_the_result(self, found, document):
        pairs = document["pairs"]
        i, j = np.array(pairs["x"]), np.array(pairs["y"])
        assert document["n_pairs"] == len(i) == len(found.edges)
        for name in ("values", "debiased", "strength", "pearson", "spearman"):
            shown = pairs["coefficient" if name == "values" else name]
            np.testing.assert_allclose(np.array(shown, dtype=float), getattr(found, name)[i, j], atol=5.1e-5)
        np.testing.assert_allclose(10 ** np.array(pairs["log10_p"], dtype=float), found.pvalues[i, j], rtol=2e-3)
        np.testing.assert_array_equal(pairs["n"], found.n_samples[i, j])
        assert sum(pairs["found"]) == document["found"] == found.n_found()
        edges = found.edges
        ends = dict(
            zip(zip(edges.found.i, edges.found.j, strict=True), np.nan_to_num(edges.lower, nan=-2), strict=True)
        )
        ranked = list(zip(pairs["found"], [ends[pair] for pair in zip(i, j, strict=True)], strict=True))
        assert ranked == sorted(ranked, reverse=True)

    def test_marks_what_linear_coefficients_miss(self, document):
        place = pair_named(document, "plain", "curve")
        assert document["pairs"]["missed"][place] == 1
        assert sum(document["pairs"]["missed"]) == document["missed"] >= 1
        assert any("missed by linear" in sentence for sentence in document["summary"])

    def test_what_is_missed_is_found(self, document):
        pairs = document["pairs"]
        assert all(f for f, m in zip(pairs["found"], pairs["missed"], strict=True) if m)

    def test_sample_is_the_data(self, table, document):
        column = document["columns"][column_named(document, "plain")]
        values = table["plain"].to_numpy()
        sample = np.array([np.nan if value is None else value for value in column["sample"]])
        np.testing.assert_allclose(sample, values, rtol=1e-5)
        assert column["missing"] == np.isnan(values).sum() > 0

    def test_levels_and_dates(self, table, document):
        column = document["columns"][column_named(document, "five")]
        assert [None if code is None else column["levels"][code] for code in column["sample"][:20]] == [
            value if isinstance(value, str) else None for value in table["five"][:20]
        ]
        date = document["columns"][column_named(document, "date")]
        stamps = [None if v is None else datetime.datetime.fromtimestamp(v / 1e3, datetime.UTC) for v in date["sample"]]
        first = next(k for k, stamp in enumerate(stamps) if stamp is not None)
        assert stamps[first].date() == table["date"].iloc[first].date()

    def test_heatmap_orders_every_column_once(self, document):
        assert sorted(document["heatmap"]["rows"]) == list(range(len(document["columns"])))

    def test_functions_reach_the_coefficient(self, document):
        detail = detail_of(document, "plain", "curve")
        pair = pair_named(document, "plain", "curve")
        assert detail["reached"] == pytest.approx(document["pairs"]["coefficient"][pair], abs=1e-4)
        f = detail["f"] if document["columns"][document["pairs"]["x"][pair]]["name"] == "plain" else detail["g"]
        assert len(f["ranks"]) == len(f["values"]) == len(f["scores"]) <= 80
        assert f["ranks"] == sorted(f["ranks"])
        assert f["values"] == sorted(f["values"])

    def test_a_category_has_scores_and_boxes(self, document):
        detail = detail_of(document, "plain", "five")
        side = "f" if document["columns"][document["pairs"]["x"][detail["pair"]]]["name"] == "five" else "g"
        assert len(detail[side]["scores"]) == len(detail["boxes"]) == 5
        assert all(box == sorted(box) for box in detail["boxes"])

    def test_a_vector_is_shown_by_its_function(self, document):
        detail = detail_of(document, "plain", "place")
        assert detail["data"] is None
        follows = detail["f"] if "follows" in detail["f"] else detail["g"]
        assert follows["coordinates"] == ["lat", "lon"]
        assert sum(detail["cloud"]["counts"]) == document["pairs"]["n"][detail["pair"]]

    def test_pairs_asked_for_are_there(self, document):
        assert detail_of(document, "noise", "plain")["f"] is not None

    def test_unknown_pairs_are_refused(self, found):
        with pytest.raises(InputError, match="was not compared"):
            document_of(found, ReportOptions(pairs=[("plain", "nothing")]))

    def test_many_rows_are_counted_and_sampled(self):
        rng = np.random.default_rng(0)
        x = rng.standard_normal(3000)
        table = {"x": x, "y": x**2, "group": renyi.categorical(np.where(x > 0, "up", "down"))}
        document = document_of(matrix(table), ReportOptions(rows=100))
        assert document["sampled"] == len(document["columns"][0]["sample"]) == 100
        detail = detail_of(document, "x", "y")
        for view in ("data", "ranks", "cloud"):
            assert sum(detail[view]["counts"]) == 3000
            assert len(detail[view]["counts"]) == np.prod(detail[view]["shape"])
        # Ranks are even, whatever the data.
        counts = np.reshape(detail["ranks"]["counts"], detail["ranks"]["shape"])
        np.testing.assert_array_equal(counts.sum(axis=0), 75)
        np.testing.assert_array_equal(counts.sum(axis=1), 75)
        assert sum(detail_of(document, "x", "group")["data"]["counts"]) == 3000

    def test_no_rows_if_none_are_wanted(self, found):
        document = document_of(found, ReportOptions(rows=0))
        assert document["sampled"] == 0
        assert all(column["sample"] is None for column in document["columns"])

    @pytest.mark.parametrize("options", [{"rows": -1}, {"rows": 1.5}, {"pairs": "ab"}, {"pairs": [("a",)]}])
    def test_invalid_options_are_refused(self, options):
        with pytest.raises(InputError):
            ReportOptions(**options)


class TestOtherResults:
    def test_screening(self, table):
        document = document_of(screen(table, "plain", vectors=VECTORS), ReportOptions())
        assert document["kind"] == "screening"
        assert document["heatmap"] is None
        assert document["network"] is None
        assert document["target"] == "plain"
        assert {document["columns"][k]["name"] for k in document["pairs"]["y"]} == {"plain"}
        assert "plain" in page_of(document)

    def test_screening_given_others(self, table):
        document = document_of(screen(table, "plain", given="date", vectors=VECTORS), ReportOptions())
        assert document["given"] == ["date"]
        assert "holding date fixed" in document["summary"][0]

    def test_two_tables(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((100, 2))
        document = document_of(matrix({"a": x[:, 0], "b": x[:, 1]}, {"a": x[:, 0] ** 2, "c": x[:, 1]}), ReportOptions())
        assert document["kind"] == "two tables"
        assert [column["name"] for column in document["columns"]] == ["a", "b", "a", "c"]
        assert document["heatmap"]["rows"] != document["heatmap"]["columns"]
        assert min(document["pairs"]["y"]) == 2

    @pytest.mark.parametrize("measure", ["pearson", "mutual_info", "hsic", "xi"])
    def test_other_measures(self, measure):
        rng = np.random.default_rng(2)
        x = rng.standard_normal(120)
        found = matrix({"x": x, "y": x**3 + rng.standard_normal(120), "z": rng.random(120)}, measure=measure)
        document = document_of(found, ReportOptions())
        assert document["pairs"]["debiased"] is None
        assert document["pairs"]["strength"] is not None
        assert (document["pairs"]["log10_p"] is not None) == document["has_tests"]
        assert document["details"][0]["reached"] > 0.5
        assert document["measure"] in page_of(document)

    def test_nothing_found(self):
        rng = np.random.default_rng(3)
        document = document_of(matrix({name: rng.random(60) for name in "abc"}), ReportOptions())
        assert document["found"] == 0
        assert document["network"] is None
        assert any("none shows a dependence" in sentence for sentence in document["summary"])
        assert page_of(document)

    @pytest.mark.parametrize(
        "x",
        [
            np.array([1e308, -1e308, 1.0] * 20),
            np.array([5e-324, 1e-310, 0.0] * 20),
            np.array([2**60, 2**60 + 1, 2**60 + 2] * 20),
            np.repeat([0.0, 1.0], 30),
            np.array(["2020-01-01", "0001-01-01", "9999-12-31"] * 20, dtype="datetime64[s]"),
            np.array([1, 2, 5] * 20, dtype="timedelta64[D]"),
        ],
    )
    def test_extreme_numbers(self, x):
        y = np.random.default_rng(4).random(len(x)) + (np.arange(len(x)) % 3)
        document = document_of(matrix({"x": x, "y": y}), ReportOptions())
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        low, high = document["columns"][0]["limits"]
        assert low <= high
        assert np.isfinite(high - low)

    def test_two_rows_more_than_nothing(self):
        document = document_of(matrix({"x": [1.0, 2.0, 4.0], "y": [1.0, 3.0, 2.0]}), ReportOptions())
        assert page_of(document)


@pytest.mark.slow
def test_findings_come_before_strong_pairs_of_few_rows(rng):
    x = rng.standard_normal(300)
    table = {"x": x, "y": x**2 + 0.3 * rng.standard_normal(300)}
    for k in range(12):
        table[f"few{k}"] = np.where(np.arange(300) < 7, rng.standard_normal(300), np.nan)
    pairs = document_of(renyi.matrix(table), ReportOptions())["pairs"]
    assert (pairs["x"][0], pairs["y"][0]) == (0, 1)
    assert pairs["found"] == sorted(pairs["found"], reverse=True)
    assert 0 < sum(pairs["found"]) < len(pairs["found"])
    others = [
        value for value, found in zip(pairs["debiased"], pairs["found"], strict=True) if not found and value is not None
    ]
    assert max(others) > pairs["debiased"][0]


def test_details_say_the_kind_of_dependence(rng):
    x = rng.uniform(-1, 1, 300)
    table = {"x": x, "square": x**2, "line": x + rng.standard_normal(300), "side": np.where(x > 0, "r", "l")}
    for measure in ("rdc", "dcor"):
        document = document_of(matrix(table, measure=measure), ReportOptions())
        assert detail_of(document, "x", "square")["words"] == "square falls, then rises, along x"
        assert detail_of(document, "x", "line")["words"] == "line rises with x"
        assert detail_of(document, "x", "side")["words"] == "the level of x differs between the groups of side"
