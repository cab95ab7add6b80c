"""What a page is made of: it holds all it needs, and every name is text."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import renyi
from hostile import HOSTILE
from renyi.errors import InputError, MissingExtraError
from renyi.report.document import ReportOptions, document_of
from renyi.report.html.page import asset, page_of
from renyi.tables.api import matrix
from sample_tables import VECTORS


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
    @pytest.mark.slow
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

    @pytest.mark.slow
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

    @pytest.mark.slow
    def test_same_input_same_bytes(self, table, tmp_path):
        pages = [
            matrix(table, vectors=VECTORS).report(tmp_path / f"{k}.html", title="t").read_bytes() for k in range(2)
        ]
        assert pages[0] == pages[1]

    def test_json_by_the_name_of_the_file(self, found, document, tmp_path):
        path = found.report(str(tmp_path / "report.JSON"), pairs=[("noise", "plain")])
        assert json.loads(path.read_text(encoding="utf-8")) == document

    def test_bad_rates_and_places(self, found, tmp_path):
        with pytest.raises(InputError, match="fdr must be a number above 0"):
            found.report(tmp_path / "x.html", fdr=2)
        with pytest.raises(InputError, match="folder does not exist"):
            found.report(tmp_path / "nowhere" / "x.html")

    def test_without_jinja(self, found, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "jinja2", None)
        with pytest.raises(MissingExtraError, match=r"renyi\[report\]"):
            found.report(tmp_path / "x.html")
        assert not (tmp_path / "x.html").exists()


def test_what_reading_decided_is_on_the_page_and_in_its_data(tmp_path):
    rng = np.random.default_rng(0)
    found = renyi.matrix({"<b>": [*map(str, rng.random(99)), "<i>"], "y": rng.random(100)})
    page = found.report(tmp_path / "page.html").read_text()
    assert "Before you read on" in page
    # Above the pictures, where it is seen first.
    assert page.index("Before you read on") < page.index('id="pictures"')
    assert "<li><bdi>column &#39;&lt;b&gt;&#39; holds numbers and &#39;&lt;i&gt;&#39; (1 time)" in page
    assert json.loads(found.report(tmp_path / "data.json").read_text())["notes"] == list(found.notes)
    plain = renyi.matrix({"x": rng.random(99), "y": rng.random(99)}).report(tmp_path / "plain.html").read_text()
    assert "Before you read on" not in plain


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.html.gz"])
def test_other_endings_are_refused(name, tmp_path, rng):
    with pytest.raises(renyi.InputError, match=r"does not name a kind of report: end it in \.html"):
        renyi.matrix(rng.standard_normal((60, 2))).report(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_colours_stand_out_in_either_theme():
    # Also those of pictures and canvases, which checkers in a browser leave out (WCAG 2.2, 1.4.3 and 1.4.11).
    def luminance(colour):
        share = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    def contrast(a, b):
        low, high = sorted((luminance(a), luminance(b)))
        return (high + 0.05) / (low + 0.05)

    themes = re.findall(r"\{([^{}]*--paper: [^{}]*)\}", asset("style.css"))
    assert len(themes) == 4
    for theme in themes:
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", theme))
        for ground in (colours["paper"], colours["panel"]):
            assert all(contrast(colours[name], ground) >= 4.5 for name in ("ink", "soft", "accent", "mark"))
            assert contrast(colours["point"], ground) >= 3
