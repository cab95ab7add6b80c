"""What changed as plain data, and by `text/change`, `html/change` and `figures/change`."""

import json

import numpy as np
import pytest

import renyi


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 400))
    level = rng.choice(["a", "b"], 400)
    before = {"<x>": x, "y": x + y, "level": level}
    return renyi.compare(before, {"<x>": x + 1, "y": y, "level": np.where(x > 0, "a", level)})


def test_data_of_a_report_have_findings_with_what_is_drawn_of_them(found, tmp_path):
    data = json.loads(found.report(tmp_path / "change.json").read_text())
    assert data["pairs"][0]["kind"] == "vanished"
    assert {len(points) for points in data["pairs"][0]["points"].values()} == {400}
    bars = next(one["bars"] for one in data["columns"] if one["column"] == "<x>")
    assert sum(bars["before"]) == pytest.approx(1, abs=1e-3)


def test_a_page_shows_names_as_text(found, tmp_path):
    page = found.report(tmp_path / "change.html").read_text()
    assert "<x>" not in page
    assert page.count("h0") == 800 * sum(1 for _ in found.ranked_pairs(0.05))


def test_text_and_picture_name_the_tables(found):
    assert "vanished" in repr(found)
    titles = [ax.get_title(loc="left") for ax in found.plot().axes[:3]]
    assert titles == ["before", "after", "moved"]
    with pytest.raises(renyi.InputError, match="one column was compared"):
        renyi.compare({"a": np.arange(99.0)}, {"a": np.arange(99.0) ** 2}).plot()
