"""What results show in a notebook: static, escaped HTML."""

from html.parser import HTMLParser

import numpy as np
import pytest

import renyi

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b",
    "two\nlines",
    "שלום",
    "👩‍🔬",
    "x" * 500,
]


class Parsed(HTMLParser):
    """Tags and text of a piece of HTML, in which every tag must close."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.cells = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


@pytest.fixture
def hostile(rng):
    x = rng.standard_normal(200)
    return {name: x + 0.3 * rng.standard_normal(200) for name in HOSTILE}


@pytest.mark.slow
def test_names_are_text(hostile):
    parsed = Parsed(renyi.matrix(hostile)._repr_html_())
    assert {tag for tag, _ in parsed.tags} <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert all(set(attrs) <= {"style"} for _, attrs in parsed.tags)
    assert "<script>alert(1)</script>" in parsed.cells
    assert "two\\nlines" in parsed.cells
    assert max(map(len, parsed.cells)) <= 40


def test_skipped_names_and_targets_are_text(hostile):
    html = renyi.screen(hostile | {"<b>": np.ones(200)}, "<script>alert(1)</script>")._repr_html_()
    Parsed(html)
    assert "<script" not in html
    assert "&lt;b&gt;: constant" in html
    assert "against &lt;script&gt;" in html


def test_content_of_a_matrix(rng):
    x = rng.uniform(-1, 1, 300)
    found = renyi.matrix({"x": x, "square": x**2, "same": 2 * x, "noise": rng.random(300)})
    html = found._repr_html_()
    cells = Parsed(html).cells
    assert cells[:8] == ["x", "y", "strength", "trend", "p", "q", "n", ""]
    assert cells[8:12] == ["x", "= same", "1.000", "↑"]
    assert "3 dependences at a false discovery rate of 5 %" in html
    assert "rgba(0,114,178,0.50)" in html
    assert "nan" not in html.lower()


def test_shade_follows_the_coefficient(rng):
    x = rng.standard_normal(500)
    html = renyi.screen(
        {"x": x, "near": x + 0.5 * rng.standard_normal(500), "far": x + 2 * rng.standard_normal(500)}, "x"
    )
    shades = [float(part.split(",")[2].split(")")[0]) for part in html._repr_html_().split("rgba(0,")[1:]]
    assert len(shades) == 2
    assert shades[0] > shades[1] > 0


def test_nothing_found_has_no_table(rng):
    html = renyi.matrix({"a": rng.random(100), "b": rng.random(100)})._repr_html_()
    assert "0 dependences" in html
    assert "<table" not in html


@pytest.mark.slow
def test_html_is_small_and_the_same_twice(rng):
    table = {f"column {j}": rng.standard_normal(60) for j in range(40)}
    table |= {f"copy {j}": table["column 0"] + rng.standard_normal(60) for j in range(40)}
    first, again = (renyi.matrix(table)._repr_html_() for _ in range(2))
    assert first == again
    assert len(first) < 20_000
    assert first.count("<tr>") == 11


def test_what_reading_decided_is_text():
    rng = np.random.default_rng(0)
    found = renyi.matrix({"<b>": [*map(str, rng.random(99)), "<i>"], "y": rng.random(100)})
    shown = found._repr_html_()
    assert "column &#x27;&lt;b&gt;&#x27; holds numbers and &#x27;&lt;i&gt;&#x27; (1 time)" in shown
