"""Reports: the plain data, and the page that is made of it."""

import builtins
import datetime
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import renyi
from hostile import HOSTILE
from renyi.cli import app
from renyi.data.column import Column
from renyi.errors import InputError, MissingExtraError
from renyi.report.document import SCHEMA, ReportOptions, document_of
from renyi.report.html.page import page_of
from renyi.report.network import network_of
from renyi.report.variables import cells_of, drawable, label_of, limits_of, significant
from renyi.tables.api import matrix, screen
from sample_tables import VECTORS, mixed


@pytest.fixture(scope="module")
def table():
    columns = ["plain", "curve", "noise", "flag", "five", "date", "grade", "lat", "lon"]
    return mixed(400, np.random.default_rng(7), gaps=0.1)[columns]


@pytest.fixture(scope="module")
def found(table):
    return matrix(table, vectors=VECTORS)


@pytest.fixture(scope="module")
def document(found):
    return document_of(found, ReportOptions(pairs=[("noise", "plain")]))


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
        text = (Path(__file__).parents[2] / "docs" / "report-schema.md").read_text(encoding="utf-8")
        named = set(re.findall(r"^\| `(\w+)`", text, flags=re.MULTILINE))
        said = {*document, *document["columns"][0], *document["pairs"], *document["details"][0]}
        said |= {*document["heatmap"], *document["network"], "column"}
        assert said <= named

    def test_has_the_numbers_of_the_result(self, found, document):
        pairs = document["pairs"]
        i, j = np.array(pairs["x"]), np.array(pairs["y"])
        assert document["n_pairs"] == len(i) == len(found.edges)
        for name in ("values", "debiased", "pearson", "spearman"):
            shown = pairs["coefficient" if name == "values" else name]
            np.testing.assert_allclose(np.array(shown, dtype=float), getattr(found, name)[i, j], atol=5.1e-5)
        np.testing.assert_allclose(10 ** np.array(pairs["log10_p"], dtype=float), found.pvalues[i, j], rtol=2e-3)
        np.testing.assert_array_equal(pairs["n"], found.n_samples[i, j])
        assert sum(pairs["found"]) == document["found"] == found.n_found()
        strength = [-2 if value is None else value for value in pairs["debiased"]]
        ranked = list(zip(pairs["found"], strength, strict=True))
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

    @pytest.mark.parametrize("wishes", [{"rows": -1}, {"rows": 1.5}, {"pairs": "ab"}, {"pairs": [("a",)]}])
    def test_wishes_that_make_no_sense(self, options):
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


class TestParts:
    @pytest.mark.parametrize(
        ("name", "label"),
        [
            ("age", "age"),
            (" a ", "␣a␣"),
            ("", "(no name)"),
            ("  ", "␣␣"),
            ("a\nb", "a\\nb"),
            ("\u202ex", "\\u202ex"),
            ("\ud800", "\\ud800"),
        ],
    )
    def test_labels(self, name, label):
        assert label_of(name) == label

    def test_long_labels_are_cut(self):
        assert len(label_of("x" * 5000)) == 60

    def test_significant_digits(self):
        assert significant(np.array([1.23456789, 0.0, -1e-20])) == [1.23457, 0, -1e-20]
        # Numbers that are alike keep the digits in which they differ.
        assert significant(np.array([1e9 + 0.25, 1e9 + 0.5])) == [1e9 + 0.25, 1e9 + 0.5]
        assert significant(np.array([7.0])) == [7]
        assert significant(np.array([])) == []

    def test_axes_leave_out_what_is_far(self):
        values = np.append(np.linspace(0, 1, 999), 1e6)
        low, high, is_clipped = limits_of(Column("x", "number", values))
        assert is_clipped
        assert low == 0.0
        assert 1.0 < high < 2.0
        assert limits_of(Column("x", "number", values[:-1])) == (0.0, 1.0, False)

    def test_cells(self):
        np.testing.assert_array_equal(
            cells_of(np.array([-9.0, 0.0, 0.49, 0.5, 1.0, 9.0]), 0.0, 1.0, 2), [0, 0, 0, 1, 1, 1]
        )
        np.testing.assert_array_equal(cells_of(np.ones(2), 1.0, 1.0, 5), [0, 0])

    def test_dates_are_milliseconds(self):
        column = Column("x", "number", np.array(["1970-01-02"], dtype="datetime64[D]"))
        np.testing.assert_array_equal(drawable(column), [864e5])

    def test_network_keeps_parts_apart(self):
        network = network_of([(0, 1), (1, 2), (5, 6)])
        places = {node["column"]: (node["x"], node["y"]) for node in network["nodes"]}
        assert set(places) == {0, 1, 2, 5, 6}
        assert len(set(places.values())) == 5
        assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
        assert network["edges"] == [0, 1, 2]

    def test_network_limits_the_lines_of_a_column(self):
        network = network_of([(0, k) for k in range(1, 20)])
        assert len(network["edges"]) == 6
        assert network_of([]) is None


class Tags(HTMLParser):
    """Elements, attributes and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.handlers, self.scripts = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "data", "action", "srcset")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        if self.tags[-1:] == ["script"]:
            self.scripts.append(data)


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(5)
    common = rng.standard_normal(80)
    table = {name: common + rng.standard_normal(80) for name in HOSTILE}
    levels = np.array([HOSTILE[0], HOSTILE[2], "=1+1", "\u202ex"])[rng.integers(0, 4, 80)]
    table["<b>levels</b>"] = renyi.categorical(levels)
    table["<i>constant</i>"] = np.ones(80)
    return matrix(table)


class TestPage:
    def test_holds_all_it_needs(self, document):
        tags = Tags(page_of(document))
        assert all(address.startswith("#") for address in tags.addresses)
        assert not {"img", "iframe", "link", "object", "embed", "base", "form"} & set(tags.tags)
        assert not tags.handlers
        assert "url(" not in page_of(document).partition("</style>")[0]

    def test_policy_allows_its_own_script_alone(self, document):
        policy = re.search(r'Security-Policy" content="([^"]*)"', page_of(document))[1]
        assert policy.startswith("default-src &#39;none&#39;")
        assert "unsafe" not in policy
        assert policy.count("sha256-") == 2

    def test_hostile_names_are_text(self, hostile):
        plain = Tags(page_of(document_of(matrix({"x": np.arange(9.0), "y": np.arange(9.0)}), ReportOptions())))
        tags = Tags(page_of(document_of(hostile, ReportOptions(title=HOSTILE[1]))))
        assert set(tags.tags) == set(plain.tags) | {"h3"}
        assert tags.tags.count("script") == 2
        assert not tags.handlers
        assert json.loads(tags.scripts[0])["columns"][0]["name"] == HOSTILE[0]

    def test_hostile_names_can_be_written(self, hostile, tmp_path):
        path = hostile.report(tmp_path / "report.html", title="\ud800")
        assert path.read_bytes().decode("utf-8").startswith("<!DOCTYPE html>")

    def test_same_input_same_bytes(self, table, tmp_path):
        pages = [
            matrix(table, vectors=VECTORS).report(tmp_path / f"{k}.html", title="t").read_bytes() for k in range(2)
        ]
        assert pages[0] == pages[1]

    def test_json_by_the_name_of_the_file(self, found, document, tmp_path):
        path = found.report(str(tmp_path / "report.JSON"), pairs=[("noise", "plain")])
        assert json.loads(path.read_text(encoding="utf-8")) == document

    def test_bad_rates_and_places(self, found, tmp_path):
        with pytest.raises(InputError, match="no false discovery rate"):
            found.report(tmp_path / "x.html", q=2)
        with pytest.raises(InputError, match="folder does not exist"):
            found.report(tmp_path / "nowhere" / "x.html")

    def test_without_jinja(self, found, tmp_path, monkeypatch):
        original = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name.partition(".")[0] == "jinja2":
                raise ImportError(name)
            return original(name, *args, **kwargs)

        for name in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr("importlib.import_module", lambda name, *_: refuse(name))
        with pytest.raises(MissingExtraError, match=r"renyi\[report\]"):
            found.report(tmp_path / "x.html")
        assert not (tmp_path / "x.html").exists()


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path):
        x = np.linspace(-1, 1, 200)
        pl.DataFrame({"x": x, "square": x**2, "kind": np.where(x > 0, "up", "down")}).write_csv(tmp_path / "table.csv")
        return tmp_path / "table.csv"

    def run(self, *arguments):
        result = CliRunner().invoke(app, ["scan", *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def test_writes_a_page(self, file, tmp_path):
        result = self.run(file, "--html", tmp_path / "report.html", "--fdr", "0.01")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "table.csv" in page
        assert "rate of 1 %" in page
        assert f"Report: {tmp_path / 'report.html'}" in result.stderr
        assert "square" in result.stdout

    def test_of_one_target(self, file, tmp_path):
        self.run(file, "--target", "square", "--html", tmp_path / "report.html", "--json")
        assert 'id="ranking"' in (tmp_path / "report.html").read_text(encoding="utf-8")

    def test_refuses_what_would_be_lost(self, file):
        before = file.read_bytes()
        with pytest.raises(InputError, match="which would be lost"):
            self.run(file, "--html", file)
        with pytest.raises(InputError, match="name a file"):
            self.run(file, "--html", "-")
        assert file.read_bytes() == before


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
